"""Render a repository: read, resolve, run kustomize shard by shard, remember.

Two things are remembered.  What kustomize made of a unit, by the unit's base objects, the overlay
and the binary: a changed template costs only the jobs whose objects it changed.  And what a whole
job file led to, when that was clean: an unchanged repository costs reading and hashing its files.
"""

from __future__ import annotations

import os
import re
import tempfile
import zlib
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from importlib import resources
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from paddlegen import catalogue, documents, hints, kustomize, overlay, pipeline
from paddlegen.cache import key
from paddlegen.documents import span, walk
from paddlegen.errors import UsageError, WorkspaceError
from paddlegen.model.report import Finding, Location, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from paddlegen.cache import Cache
    from paddlegen.catalogue import ClusterEntry, Contents
    from paddlegen.documents import Document
    from paddlegen.kustomize import Kustomize
    from paddlegen.model.output import ObjectRef
    from paddlegen.model.report import FieldPath
    from paddlegen.overlay import Base, Overlay, Patch
    from paddlegen.pipeline import Unit
    from paddlegen.repository import Repository
    from paddlegen.resolve import Template

SHARD = 256
"""Objects a kustomize build gets at once: the flat optimum between start-up and O(N²)."""

_BATCH = 128
"""Units that are looked up in the cache at once."""


class _Made(msgspec.Struct, frozen=True, array_like=True):
    """What a unit became: enough to compare with the disk and with other units."""

    cluster: str
    namespace: str
    name: str
    is_job: bool
    document: int
    files: list[tuple[str, str, str]]
    """Path below `manifests/`, sha256 of the content, and the object's name in words."""
    patches: list[str]


class _Known(msgspec.Struct, array_like=True):
    """What a job file led to: complete once all its units are made."""

    jobs: int
    units: int
    made: list[_Made] = []


@dataclass(frozen=True, slots=True)
class Rendered:
    """A file of the rendered tree.  `text` is None where the disk is known to hold it already."""

    digest: str
    text: str | None
    source: str


@dataclass(slots=True)
class Rendering:
    """What the repository's specs mean now.

    `files` are all files of `manifests/` by path below it, `folders` the folders they own; with an
    error among the findings they are incomplete and must not be written.
    """

    files: dict[str, Rendered] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    jobs: int = 0
    clusters: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """The names of the jobs that were looked at, filled where only some were wanted."""
    selected: set[str] = field(default_factory=set)
    """What of a selection stood for a job."""

    @property
    def is_complete(self) -> bool:
        """Whether the tree can be written."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the repository is wanted; empty means all of it."""

    clusters: Collection[str] = ()
    jobs: Collection[str] = ()
    """Names, namespace/names, or paths of job specs."""

    def has_job(self, path: str, namespace: str, name: str) -> bool:
        """Whether a job is wanted."""
        return not self.jobs or bool(self.matching(path, namespace, name))

    def matching(self, path: str, namespace: str, name: str) -> set[str]:
        """What of it stands for a job."""
        return {path, name, f"{namespace}/{name}"} & set(self.jobs)


def render(
    repository: Repository,
    program: Callable[[], Kustomize],
    cache: Cache,
    on_disk: Mapping[str, str],
    *,
    code: bytes,
    selection: Selection | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Rendering:
    """Render the repository, or a selection of it.

    `on_disk` gives the digest of what is there, by path below `manifests/`: only where it differs is
    the text needed.  `code` identifies paddlegen itself.
    """
    return _Run(repository, program, cache, on_disk, code, selection or Selection(), progress).run()


class _Run:
    """One rendering; its methods are the paragraphs of `run`."""

    def __init__(
        self,
        repository: Repository,
        program: Callable[[], Kustomize],
        cache: Cache,
        on_disk: Mapping[str, str],
        code: bytes,
        selection: Selection,
        progress: Callable[[int, int], None],
    ) -> None:
        self.repository = repository
        self.program = program
        self.cache = cache
        self.on_disk = on_disk
        self.code = code
        self.selection = selection
        self.progress = progress
        self.result = Rendering()
        self.made: list[tuple[str, _Made]] = []
        self.clusters: dict[str, ClusterEntry] = {}
        self.overlays: dict[str, Overlay] = {}
        self.openapi = resources.files("paddlegen").joinpath("schemas/openapi.json").read_bytes()
        self.shared = catalogue.Contents()
        self.keys: dict[str, bytes] = {}
        self.open: dict[str, _Known] = {}
        self.breaches: list[Finding] = []
        self.failed: dict[str, tuple[list[Unit], str]] = {}
        self.started = self.total = 0

    def run(self) -> Rendering:
        """Everything, in order."""
        self._read_clusters()
        plain, parsed = self._read_jobs()
        identity = self._identity(parsed)
        storage_units = [
            pipeline.storage_unit(entry, cluster)
            for entry in self.shared.storage
            for cluster in self.clusters.values()
            if pipeline.is_on(entry, cluster)
        ]
        self.total = len(plain) + len(parsed)
        self._build(storage_units)
        self._render_files(identity, plain, parsed)
        self._leave_out_failed()
        self._look_across()
        self.result.findings = _merged(self.result.findings)
        self.result.clusters = sorted(self.clusters)
        return self.result

    # --- reading

    def _read_clusters(self) -> None:
        names = self.repository.clusters
        for name in sorted(set(self.selection.clusters) - set(names)):
            hint = hints.did_you_mean(name, names)
            message = f"--cluster is {name}, and there is no such folder below overlays/{hint}"
            raise UsageError(message)
        for name in names:
            if self.selection.clusters and name not in self.selection.clusters:
                continue
            path = f"overlays/{name}/cluster.yaml"
            entry, findings = catalogue.read_cluster(name, path, self.repository.overlays.get(path))
            built = overlay.load(name, self.repository.overlays)
            findings += built.findings
            self.result.findings += findings
            if entry is not None and not any(finding.severity is Severity.ERROR for finding in findings):
                self.clusters[name] = entry
                self.overlays[name] = built

    def _read_jobs(self) -> tuple[dict[str, bytes], dict[str, Contents]]:
        """Job files that are known to hold nothing but job specs, and the contents of all others."""
        keys = {path: key("only-jobs", self.code, data) for path, data in self.repository.jobs.items()}
        known = self.cache.get(list(keys.values()))
        plain: dict[str, bytes] = {}
        parsed: dict[str, Contents] = {}
        learned: dict[bytes, bytes] = {}
        for path, data in self.repository.jobs.items():
            if keys[path] in known:
                plain[path] = data
                continue
            contents = catalogue.read(path, data)
            if contents.jobs and not (contents.templates or contents.storage or contents.findings):
                plain[path] = data
                learned[keys[path]] = b""
            else:
                parsed[path] = contents
        self.cache.put(learned)
        for contents in parsed.values():
            self.shared.templates += contents.templates
            self.shared.storage += contents.storage
            self.shared.broken |= contents.broken
            self.result.findings += contents.findings
        self.shared, repeated = catalogue.without_repeated(self.shared)
        self.result.findings += repeated
        for entry in self.shared.storage:
            self._find_clusters(entry.source.document, ("spec", "clusters"), entry.value.spec.clusters or [])
        return plain, parsed

    def _identity(self, parsed: Mapping[str, Contents]) -> bytes:
        """The digest of everything a job's rendering depends on beside its own file."""
        parts: list[bytes | str] = [
            self.code,
            self._kustomize,
            self.openapi,
            self.repository.config or b"",
        ]
        for path, data in self.repository.overlays.items():
            parts += [path, data]
        for path, contents in parsed.items():
            if contents.templates or contents.storage:
                parts += [path, self.repository.jobs[path]]
        for kind, name in sorted(self.shared.broken):
            if kind != "JobSpec":
                parts += [kind, name]
        return key(*parts, *sorted(self.selection.clusters))

    @cached_property
    def _program(self) -> Kustomize:
        return self.program()

    @cached_property
    def _kustomize(self) -> bytes:
        """The binary's digest; hashing 20 MB takes longer than an unchanged check."""
        program = self._program
        stat = Path(program.path).stat()
        mark = (program.path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev)
        remembered = key("kustomize", *map(str, mark))
        found = self.cache.get([remembered]).get(remembered)
        if found is None:
            found = kustomize.identity(program)
            self.cache.put({remembered: found})
        return found

    @cached_property
    def _overlay_keys(self) -> dict[str, bytes]:
        """The digest of everything a unit's objects meet in kustomize, by cluster."""
        keys = {}
        for name, used in self.overlays.items():
            parts: list[bytes | str] = [self.code, self._kustomize, self.openapi, used.top]
            for path, data in used.files.items():
                parts += [path, data]
            keys[name] = key(*parts)
        return keys

    # --- jobs

    def _render_files(
        self, identity: bytes, plain: Mapping[str, bytes], parsed: Mapping[str, Contents]
    ) -> None:
        self.keys = {path: key("job-file", identity, path, data) for path, data in plain.items()}
        known = self.cache.get(list(self.keys.values())) if not self.selection.jobs else {}
        decoder = msgspec.msgpack.Decoder(_Known)
        todo: dict[str, Contents | None] = dict(parsed)
        for path in plain:
            packed = known.get(self.keys[path])
            if packed is None or not self._take(path, decoder.decode(packed)):
                todo[path] = None
        self.started = self.total - len(todo)
        self._build(self._units_of_files({path: todo[path] for path in sorted(todo)}))

    def _take(self, path: str, known: _Known) -> bool:
        """Take over what a file is known to lead to, if the disk holds exactly that."""
        for one in known.made:
            for file, digest, _ in one.files:
                if self.on_disk.get(file) != digest:
                    return False
        self.result.jobs += known.jobs
        for one in known.made:
            self.made.append((path, one))
            for file, digest, _ in one.files:
                self.result.files[file] = Rendered(digest, None, path)
        return True

    def _units_of_files(self, files: Mapping[str, Contents | None]) -> Iterator[Unit]:
        """The units of the files, each file read when its turn comes."""
        templates = self._templates()
        for path, parsed in files.items():
            self.started += 1
            found, jobs = len(self.result.findings), self.result.jobs
            contents = parsed or catalogue.read(path, self.repository.jobs[path])
            units = [unit for entry in contents.jobs for unit in self._units(entry, templates)]
            is_clean = len(self.result.findings) == found and not any(unit.findings for unit in units)
            if path in self.keys and is_clean and not self.selection.jobs:
                self.open[path] = _Known(self.result.jobs - jobs, len(units))
            yield from units

    def _templates(self) -> dict[str, Template | None]:
        """The templates by name; None for those whose own findings say why they cannot be used."""
        templates: dict[str, Template | None] = {
            name: None for kind, name in self.shared.broken if kind in {"", "JobTemplate"}
        }
        return templates | {template.value.metadata.name: template for template in self.shared.templates}

    def _units(self, entry: catalogue.JobEntry, templates: Mapping[str, Template | None]) -> Iterator[Unit]:
        metadata = entry.value.metadata
        names = (entry.path, metadata.namespace or "default", metadata.name)
        if self.selection.jobs:
            self.result.names.add(metadata.name)
            self.result.selected |= self.selection.matching(*names)
        if not self.selection.has_job(*names):
            return
        self.result.jobs += 1
        document = entry.source.document
        self._find_clusters(document, ("spec", "clusters"), entry.value.spec.clusters or [])
        self._find_clusters(document, ("spec", "overrides"), entry.value.spec.overrides or {})
        for cluster in self.clusters.values():
            if pipeline.is_on(entry, cluster):
                yield pipeline.job_unit(entry, cluster, templates, self.shared)

    def _find_clusters(self, document: Document, path: FieldPath, names: Iterable[str]) -> None:
        """Tell of names that are no clusters."""
        for index, name in enumerate(names):
            if name not in self.repository.clusters:
                hint = hints.did_you_mean(name, self.repository.clusters)
                is_key = path[-1] == "overrides"
                at = Location(document.path, span(document, (*path, name if is_key else index), key=is_key))
                message = f"there is no cluster {name} below overlays/{hint}"
                self.result.findings.append(Finding("cluster-exists", Severity.ERROR, message, at))

    # --- kustomize

    def _build(self, units: Iterable[Unit]) -> None:
        """Take units through kustomize, those that were seen before out of the cache."""
        for shard, texts in self._run_kustomize(self._unseen(iter(units))):
            values: dict[bytes, bytes] = {}
            for unit, mine in zip(shard, texts, strict=True):
                values[unit.key] = zlib.compress(msgspec.msgpack.encode(mine), 1)
                self._finish(unit, mine)
            self.cache.put(values)
            self._remember()
        self._remember()

    def _unseen(self, units: Iterator[Unit]) -> Iterator[Unit]:
        """The units that need kustomize; the others are finished on the way."""
        while batch := list(islice(units, _BATCH)):
            ready = []
            for unit in batch:
                self.result.findings += unit.findings
                if unit.is_broken:
                    continue
                unit.key = key("unit", self._overlay_keys[unit.cluster.cluster.name], *unit.bodies)
                ready.append(unit)
            known = self.cache.get([unit.key for unit in ready])
            for unit in ready:
                packed = known.get(unit.key)
                if packed is None:
                    yield unit
                else:
                    texts = msgspec.msgpack.decode(zlib.decompress(packed), type=list[str | None])
                    self._finish(unit, texts)

    def _finish(self, unit: Unit, texts: Sequence[str | None]) -> None:
        used = self.overlays[unit.cluster.cluster.name]
        before = len(unit.findings)
        outputs = list(pipeline.finish(unit, texts, used))
        self.breaches += unit.findings[before:]
        files = []
        for output in outputs:
            digest = sha256(output.text.encode()).hexdigest()
            text = None if self.on_disk.get(output.path) == digest else output.text
            self.result.files.setdefault(output.path, Rendered(digest, text, unit.path))
            files.append((output.path, digest, str(output.ref)))
        hits = sorted({patch.id for base in unit.bases for patch in used.patches_for(base)})
        is_job = unit.resolution is not None
        place = unit.source.index
        one = _Made(unit.cluster.cluster.name, unit.namespace, unit.name, is_job, place, files, hits)
        self.made.append((unit.path, one))
        if unit.path in self.open:
            if unit.findings:
                del self.open[unit.path]
            else:
                self.open[unit.path].made.append(one)

    def _remember(self) -> None:
        """Keep what the files led to whose units are all made; a failed build leaves its files open."""
        complete = [path for path, known in self.open.items() if len(known.made) == known.units]
        self.cache.put({self.keys[path]: msgspec.msgpack.encode(self.open.pop(path)) for path in complete})

    def _run_kustomize(self, units: Iterator[Unit]) -> Iterator[tuple[list[Unit], list[list[str | None]]]]:
        first = next(units, None)
        if first is None:
            return
        workers = os.cpu_count() or 1
        with _temporary_folder() as folder:
            shards: dict[Path, list[Unit]] = {}

            def staged() -> Iterator[Path]:
                for number, shard in enumerate(_shards(chain([first], units))):
                    top = self._stage(Path(folder, str(number)), shard)
                    shards[top] = shard
                    yield top

            for directory, result in kustomize.build_all(self._program, staged(), workers):
                shard = shards.pop(directory)
                self.progress(self.started, self.total)
                if isinstance(result, str):
                    yield shard, _assigned(shard, result) or [self._one_by_one(unit) for unit in shard]
                    continue
                name = shard[0].cluster.cluster.name
                earlier = self.failed.get(name)
                if earlier is None or _place(shard[0]) < _place(earlier[0][0]):
                    self.failed[name] = (shard, result.message)

    def _leave_out_failed(self) -> None:
        """Say why a cluster does not build, and nothing more of its manifests.

        Which of them were built depends on what was cached and how the rest was cut into shards.
        """
        for name, (shard, message) in sorted(self.failed.items()):
            blamed = _blame(self._program, self.overlays[name], shard, self.openapi, message)
            self.result.findings.append(blamed)
        files = self.result.files.items()
        self.result.files = {path: one for path, one in files if path.split("/")[0] not in self.failed}
        self.made = [(path, one) for path, one in self.made if one.cluster not in self.failed]
        self.result.findings += [one for one in self.breaches if one.cluster not in self.failed]

    def _stage(self, home: Path, shard: Sequence[Unit]) -> Path:
        used = self.overlays[shard[0].cluster.cluster.name]
        bases = [base for unit in shard for base in unit.bases]
        _write(home, used, bases, [body for unit in shard for body in unit.bodies], self.openapi)
        return home / used.top

    def _one_by_one(self, unit: Unit) -> list[str | None]:
        """Build each object alone: patches deleted some, and nothing tells which of those left is which."""
        used = self.overlays[unit.cluster.cluster.name]
        texts: list[str | None] = []
        for base, body in zip(unit.bases, unit.bodies, strict=True):
            with _temporary_folder() as folder:
                _write(Path(folder), used, [base], [body], self.openapi)
                output = overlay.split(kustomize.build(self._program, Path(folder, used.top)))
            texts.append(output[0] if output else None)
        return texts

    # --- across files

    def _look_across(self) -> None:
        """What only shows when all units are known: names given twice, patches that match nothing."""
        jobs: dict[tuple[str, str, str], tuple[str, _Made]] = {}
        files: dict[str, tuple[str, _Made]] = {}
        for path, one in sorted(self.made, key=lambda made: (made[0], made[1].document, made[1].name)):
            first = (
                jobs.setdefault((one.cluster, one.namespace, one.name), (path, one))
                if one.is_job
                else (path, one)
            )
            if first[1] is not one:
                message = (
                    f"there are two jobs {one.name} in the namespace {one.namespace}; rename one of them"
                )
                self.result.findings.append(self._clash("job-names-unique", message, (path, one), first))
                continue
            for file, _, ref in one.files:
                other = files.setdefault(file, (path, one))
                if other[1] is not one:
                    message = (
                        f"{ref} is rendered twice; "
                        "describe shared storage once, in a StorageSpec, or rename one"
                    )
                    self.result.findings.append(
                        self._clash("object-names-unique", message, (path, one), other)
                    )
        if self.selection.jobs or not self.result.is_complete:
            return
        hit = {patch for _, one in self.made for patch in one.patches}
        for used in self.overlays.values():
            refs = [ref for _, one in self.made if one.cluster == used.cluster for _, _, ref in one.files]
            for patch in used.patches:
                if patch.id not in hit and not (
                    patch.target is not None and not patch.kustomization.startswith(used.top + "/")
                ):
                    self.result.findings.append(_idle(patch, used.cluster, refs))

    def _clash(self, rule: str, message: str, one: tuple[str, _Made], first: tuple[str, _Made]) -> Finding:
        related = (replace(self._name(*first), note="the first one"),)
        cluster = one[1].cluster
        return Finding(rule, Severity.ERROR, message, self._name(*one), related, cluster=cluster)

    def _name(self, path: str, one: _Made) -> Location:
        """Where the name of a job or StorageSpec stands."""
        loaded, _ = documents.loads(self.repository.jobs[path], path)
        found = next(document for document in loaded if document.index == one.document)
        return Location(path, span(found, ("metadata", "name")))


def _place(unit: Unit) -> tuple[str, int]:
    return unit.path, unit.source.index


def _shards(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Units of one cluster, up to `SHARD` objects together, none of them twice: kustomize refuses that."""
    shards: dict[str, list[Unit]] = defaultdict(list)
    refs: dict[str, set[ObjectRef]] = defaultdict(set)
    for unit in units:
        cluster = unit.cluster.cluster.name
        mine = {base.ref for base in unit.bases}
        if len(refs[cluster]) + len(mine) > SHARD or not mine.isdisjoint(refs[cluster]):
            if shards[cluster]:
                yield shards.pop(cluster)
            refs[cluster] = set()
        shards[cluster].append(unit)
        refs[cluster] |= mine
    yield from filter(None, shards.values())


def _write(home: Path, used: Overlay, bases: Sequence[Base], bodies: Sequence[str], openapi: bytes) -> None:
    try:
        for path, data in used.stage(bases, "\n---\n".join(bodies), openapi):
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    except OSError as error:
        raise _no_room(error) from error


@contextmanager
def _temporary_folder() -> Iterator[str]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="paddlegen-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _no_room(error) from error
    with folder as path:
        yield path


def _no_room(error: OSError) -> WorkspaceError:
    where = os.fsdecode(error.filename) if error.filename else "the folder for temporary files"
    return WorkspaceError(
        f"{where}: {error.strerror}; let TMPDIR name a folder with room that you may write to"
    )


def _assigned(shard: Sequence[Unit], output: str) -> list[list[str | None]] | None:
    """The objects kustomize printed, given back to the units whose base they were.

    The order is that of the bases; what lacks was deleted by a patch.  None where it is not clear
    which lacks.
    """
    rest = overlay.split(output)[::-1]
    expected = [(base.ref.kind, base.ref.name) for unit in shard for base in unit.bases]
    is_whole = len(rest) == len(expected)
    if not is_whole and len(set(expected)) < len(expected):
        return None
    result: list[list[str | None]] = []
    for unit in shard:
        mine: list[str | None] = []
        for base in unit.bases:
            is_there = is_whole or (rest and _head(rest[-1]) == (base.ref.kind, base.ref.name))
            mine.append(rest.pop() if is_there else None)
        result.append(mine)
    return None if rest else result


def _head(text: str) -> tuple[str, str]:
    """Kind and name, read off the text: kustomize prints keys in order, two spaces deep."""
    kind = name = ""
    in_metadata = False
    for line in text.splitlines():
        if line.startswith("kind: "):
            kind = line[6:].strip("\"'")
        elif not line.startswith((" ", "-")):
            in_metadata = line == "metadata:"
        elif in_metadata and line.startswith("  name: "):
            name = line[8:].strip("\"'")
    return kind, name


def _blame(program: Kustomize, used: Overlay, shard: Sequence[Unit], openapi: bytes, message: str) -> Finding:
    """The finding of a failed build, at the field or patch entry without which it would not fail."""

    def complaint(overlay: Overlay) -> str:
        with _temporary_folder() as folder:
            bases = [base for unit in shard for base in unit.bases]
            _write(Path(folder), overlay, bases, [body for unit in shard for body in unit.bodies], openapi)
            try:
                kustomize.build(program, Path(folder, overlay.top))
            except kustomize.BuildError as error:
                return error.message.replace(f"{os.path.realpath(folder)}/", "").replace(f"{folder}/", "")
        return ""

    bare = used.limited(0)
    if said := complaint(bare):
        return _field_finding(bare, said, complaint)
    for count in range(1, len(used.entries) + 1):
        if said := complaint(used.limited(count)):
            return _build_finding(used, used.entries[count - 1], said)
    top = next(reversed(list(used.kustomizations)))
    return Finding(
        "overlay-builds", Severity.ERROR, f"kustomize: {message}", Location(top), cluster=used.cluster
    )


def _field_finding(used: Overlay, said: str, complaint: Callable[[Overlay], str]) -> Finding:
    """The finding of a build that fails without any patch."""
    for path, document in reversed(list(used.kustomizations.items())):
        at = _unknown_field(document, said)
        for key_ in document.value if isinstance(document.value, dict) else ():
            if at is None and key_ != "components" and not complaint(used.without(path, key_)):
                at = span(document, (key_,), key=True)
        if at is not None:
            return Finding(
                "overlay-builds",
                Severity.ERROR,
                f"kustomize: {said}",
                Location(path, at),
                cluster=used.cluster,
            )
    return Finding(
        "overlay-builds", Severity.ERROR, f"kustomize: {said}", Location(path), cluster=used.cluster
    )


def _unknown_field(document: Document, said: str) -> Span | None:
    """Where a kustomization has the field that kustomize says it does not know."""
    named = re.search(r'unknown field "([^"]+)"', said)
    if named is None:
        return None
    paths = (path for path, _ in walk(document.value) if path and path[-1] == named[1])
    return next((span(document, path, key=True) for path in paths), None)


def _build_finding(used: Overlay, patches: Sequence[Patch], message: str) -> Finding:
    patch = patches[0]
    document = patch.document or patch.at
    path: tuple[str | int, ...] = () if patch.document else patch.path
    at = _unknown_field(patch.at, message)
    if at is not None:
        document = patch.at
    elif isinstance(document.value, list):
        operations = [o.get("path") if isinstance(o, dict) else None for o in document.value]
        named = [
            i for i, target in enumerate(operations) if isinstance(target, str) and _mentions(message, target)
        ]
        path = (named[0], "path") if named else path
    at = at or span(document, path)
    return Finding(
        "overlay-builds",
        Severity.ERROR,
        f"kustomize: {message}",
        Location(document.path, at),
        cluster=used.cluster,
    )


def _mentions(message: str, pointer: str) -> bool:
    return re.search(rf"(?<![\w/~-]){re.escape(pointer)}(?![\w/~-])", message) is not None


def _idle(patch: Patch, cluster: str, refs: Iterable[str]) -> Finding:
    """The finding of a patch that matches nothing, with the object it may have meant."""
    rule, path = "patch-matches-object", patch.path
    known = [(kind, *name.rpartition("/")[::2]) for kind, _, name in (ref.partition(" ") for ref in refs)]
    if patch.target is not None or patch.document is None:
        document, wanted = patch.at, dict(patch.target or {})
        path = (*path, "target")
        message = f"this target matches no object of {cluster}{_near(wanted, known)}"
    else:
        document, path = patch.document, ("metadata", "name")
        value: Any = document.value
        metadata = value["metadata"]
        kind, name, namespace = value.get("kind"), metadata["name"], metadata.get("namespace")
        homes = sorted({there for k, there, n in known if (k, n) == (kind, name)})
        message = f"{cluster} has no {kind} {namespace or 'default'}/{name}"
        if homes and (namespace or "default") not in homes:
            message += f"; it is in the namespace {homes[0]}: write namespace: {homes[0]} under metadata"
        elif homes:
            message += f" of {value.get('apiVersion')}; correct the apiVersion"
        else:
            message += _near({"kind": kind, "name": name}, known) or "; correct the name, or remove the patch"
    return Finding(
        rule, Severity.ERROR, message, Location(document.path, span(document, path)), cluster=cluster
    )


def _near(wanted: Mapping[str, Any], known: Sequence[tuple[str, str, str]]) -> str:
    """`; did you mean ...?` for the part of a target that no object has."""
    for position, part in enumerate(("kind", "namespace", "name")):
        word = str(wanted.get(part) or "")
        values = sorted({one[position] for one in known})
        if word and word not in values and (hint := hints.closest(word, values)):
            return hint
    return ""


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that several clusters share, told once with all their names."""
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        groups[finding.rule, finding.message, finding.location, finding.object].append(finding)
    return [
        replace(group[0], cluster=", ".join(sorted({finding.cluster for finding in group} - {""})))
        for group in groups.values()
    ]
