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
from difflib import SequenceMatcher
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from paddlegen import catalogue, hints, kustomize, overlay, pipeline
from paddlegen.cache import key
from paddlegen.documents import span, walk
from paddlegen.errors import UsageError, WorkspaceError
from paddlegen.model.output import CLUSTER_SCOPED
from paddlegen.model.report import Finding, Location, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from paddlegen.cache import Cache
    from paddlegen.catalogue import ClusterEntry, Contents
    from paddlegen.documents import Document
    from paddlegen.kustomize import Kustomize
    from paddlegen.model.output import ObjectRef
    from paddlegen.model.report import FieldPath
    from paddlegen.overlay import Overlay, Patch
    from paddlegen.pipeline import Unit
    from paddlegen.repository import Repository
    from paddlegen.resolve import Template

SHARD = 256
"""Objects a kustomize build gets at once: the flat optimum between start-up and O(N²)."""

_AHEAD = 4096
"""Job files that are in memory as objects at a time."""


class _Made(msgspec.Struct, frozen=True, array_like=True):
    """What a unit became: enough to compare with the disk and with other units."""

    cluster: str
    namespace: str
    name: str
    is_job: bool
    at: tuple[int, int, int, int]
    files: list[tuple[str, str, str]]
    """Path below `manifests/`, sha256 of the content, and the object's name in words."""
    patches: list[str]


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
        self.total = 0

    def run(self) -> Rendering:
        """Everything, in order."""
        self._read_clusters()
        plain, parsed = self._read_jobs()
        identity = self._identity(plain)
        storage_units = [
            pipeline.storage_unit(entry, cluster)
            for entry in self.shared.storage
            for cluster in self.clusters.values()
            if pipeline.is_on(entry, cluster)
        ]
        self.total = len(plain) + len(parsed)
        self._build(storage_units, {})
        self._render_files(identity, plain, parsed)
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

    def _identity(self, plain: Mapping[str, bytes]) -> bytes:
        """The digest of everything a job's rendering depends on beside its own file."""
        parts: list[bytes | str] = [
            self.code,
            self._kustomize_identity(),
            self.openapi,
            self.repository.config or b"",
        ]
        for path, data in self.repository.overlays.items():
            parts += [path, data]
        for path, data in self.repository.jobs.items():
            if path not in plain:
                parts += [path, data]
        return key(*parts, *sorted(self.selection.clusters))

    def _kustomize_identity(self) -> bytes:
        """The binary's digest; hashing 20 MB takes longer than an unchanged check."""
        program = self.program()
        stat = Path(program.path).stat()
        mark = (program.path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev)
        remembered = key("kustomize", *map(str, mark))
        found = self.cache.get([remembered]).get(remembered)
        if found is None:
            found = kustomize.identity(program)
            self.cache.put({remembered: found})
        return found

    # --- jobs

    def _render_files(
        self, identity: bytes, plain: Mapping[str, bytes], parsed: Mapping[str, Contents]
    ) -> None:
        keys = {path: key("job-file", identity, path, data) for path, data in plain.items()}
        known = self.cache.get(list(keys.values())) if not self.selection.jobs else {}
        decoder = msgspec.msgpack.Decoder(list[_Made])
        todo: dict[str, Contents | None] = dict(parsed)
        for path in plain:
            made = decoder.decode(known[keys[path]]) if keys[path] in known else None
            if made is not None and all(
                self.on_disk.get(file) == digest for one in made for file, digest, _ in one.files
            ):
                self._take(path, made)
            else:
                todo[path] = None
        done = len(plain) + len(parsed) - len(todo)
        paths = sorted(todo)
        for start in range(0, len(paths), _AHEAD):
            part = paths[start : start + _AHEAD]
            self._build_files({path: todo[path] for path in part}, keys, done + start)

    def _take(self, path: str, made: Sequence[_Made]) -> None:
        self.result.jobs += len({(one.namespace, one.name) for one in made})
        for one in made:
            self.made.append((path, one))
            for file, digest, _ in one.files:
                self.result.files[file] = Rendered(digest, None, path)

    def _build_files(
        self, files: Mapping[str, Contents | None], keys: Mapping[str, bytes], done: int
    ) -> None:
        templates = self._templates()
        units: list[Unit] = []
        clean: dict[str, list[_Made]] = {}
        for number, (path, contents) in enumerate(files.items()):
            self.progress(done + number, self.total * 2)
            contents = contents or catalogue.read(path, self.repository.jobs[path])  # noqa: PLW2901  # read when needed
            mine = [unit for entry in contents.jobs for unit in self._units(entry, templates)]
            units += mine
            if path in keys and not any(unit.findings or unit.is_broken for unit in mine):
                clean[path] = []
        self._build(units, clean)
        encoder = msgspec.msgpack.Encoder()
        if not self.selection.jobs:
            self.cache.put({keys[path]: encoder.encode(made) for path, made in clean.items()})

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

    def _build(self, units: Sequence[Unit], clean: dict[str, list[_Made]]) -> None:
        """Take units through kustomize, those that were seen before out of the cache."""
        ready = self._first_of_each([unit for unit in units if not unit.is_broken])
        for unit in units:
            if unit.is_broken:
                self.result.findings += unit.findings
        keys = {id(unit): self._unit_key(unit) for unit in ready}
        known = self.cache.get(list(keys.values()))
        new: list[Unit] = []
        for unit in ready:
            packed = known.get(keys[id(unit)])
            if packed is None:
                new.append(unit)
            else:
                self._finish(
                    unit, msgspec.msgpack.decode(zlib.decompress(packed), type=list[str | None]), clean
                )
        for shard, texts in self._run_kustomize(new):
            values: dict[bytes, bytes] = {}
            for unit, mine in zip(shard, texts, strict=True):
                values[keys[id(unit)]] = zlib.compress(msgspec.msgpack.encode(mine), 1)
                self._finish(unit, mine, clean)
            self.cache.put(values)

    def _first_of_each(self, units: Sequence[Unit]) -> list[Unit]:
        """The units without those that have an object of an earlier one: kustomize would refuse the two.

        They are remembered, so that `_look_across` tells of them.
        """
        seen: set[tuple[str, ObjectRef]] = set()
        kept = []
        for unit in units:
            mine = {(unit.cluster.cluster.name, base.ref) for base in unit.bases}
            if seen.isdisjoint(mine):
                seen |= mine
                kept.append(unit)
            else:
                files = [(path, "", str(ref)) for path, ref in pipeline.planned(unit)]
                self.made.append((unit.path, _made(unit, files, [])))
        return kept

    def _unit_key(self, unit: Unit) -> bytes:
        used = self.overlays[unit.cluster.cluster.name]
        parts: list[bytes | str] = ["unit", self.code, self._kustomize_identity(), self.openapi, used.top]
        for path, data in used.files.items():
            parts += [path, data]
        return key(*parts, *unit.bodies)

    def _finish(self, unit: Unit, texts: Sequence[str | None], clean: dict[str, list[_Made]]) -> None:
        used = self.overlays[unit.cluster.cluster.name]
        outputs = list(pipeline.finish(unit, texts, used))
        self.result.findings += unit.findings
        files = []
        for output in outputs:
            digest = sha256(output.text.encode()).hexdigest()
            text = None if self.on_disk.get(output.path) == digest else output.text
            self.result.files.setdefault(output.path, Rendered(digest, text, unit.path))
            files.append((output.path, digest, str(output.ref)))
        hits = sorted({patch.id for base in unit.bases for patch in used.patches_for(base)})
        one = _made(unit, files, hits)
        self.made.append((unit.path, one))
        if unit.findings:
            clean.pop(unit.path, None)
        elif unit.path in clean:
            clean[unit.path].append(one)

    def _run_kustomize(self, units: Sequence[Unit]) -> Iterator[tuple[list[Unit], list[list[str | None]]]]:
        if not units:
            return
        workers = os.cpu_count() or 1
        with _temporary_folder() as folder:
            shards: dict[Path, list[Unit]] = {}

            def staged() -> Iterator[Path]:
                for number, shard in enumerate(_shards(units)):
                    home = Path(folder, str(number))
                    used = self.overlays[shard[0].cluster.cluster.name]
                    _stage(home, used, shard, self.openapi)
                    shards[home / used.top] = shard
                    yield home / used.top

            finished = 0
            for directory, result in kustomize.build_all(self.program(), staged(), workers):
                shard = shards.pop(directory)
                finished += len(shard)
                self.progress(self.total + finished * self.total // len(units), self.total * 2)
                if isinstance(result, str):
                    yield shard, list(_assigned(shard, result))
                    continue
                used = self.overlays[shard[0].cluster.cluster.name]
                self.result.findings.append(_blame(self.program(), used, shard, self.openapi, result.message))

    # --- across files

    def _look_across(self) -> None:
        """What only shows when all units are known: names given twice, patches that match nothing."""
        jobs: dict[tuple[str, str, str], tuple[str, _Made]] = {}
        files: dict[str, tuple[str, _Made]] = {}
        for path, one in sorted(self.made, key=lambda made: (made[0], made[1].at)):
            first = (
                jobs.setdefault((one.cluster, one.namespace, one.name), (path, one))
                if one.is_job
                else (path, one)
            )
            if first[1] is not one:
                message = (
                    f"there are two jobs {one.name} in the namespace {one.namespace}; rename one of them"
                )
                self.result.findings.append(_clash("job-names-unique", message, path, one, first))
                continue
            for file, _, ref in one.files:
                other = files.setdefault(file, (path, one))
                if other[1] is not one:
                    message = f"{ref} is rendered twice; describe shared storage once, in a StorageSpec, or rename one"
                    self.result.findings.append(_clash("object-names-unique", message, path, one, other))
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


def _made(unit: Unit, files: list[tuple[str, str, str]], hits: list[str]) -> _Made:
    at = span(unit.source, ("metadata", "name"))
    place = (at.line, at.column, at.end_line, at.end_column)
    is_job = unit.resolution is not None
    return _Made(unit.cluster.cluster.name, unit.namespace, unit.name, is_job, place, files, hits)


def _shards(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Units of one cluster, up to `SHARD` objects together."""
    by_cluster: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_cluster[unit.cluster.cluster.name].append(unit)
    for members in by_cluster.values():
        shard: list[Unit] = []
        size = 0
        for unit in members:
            if shard and size + len(unit.manifests) > SHARD:
                yield shard
                shard, size = [], 0
            shard.append(unit)
            size += len(unit.manifests)
        if size:
            yield shard


def _stage(home: Path, used: Overlay, shard: Sequence[Unit], openapi: bytes) -> None:
    bases = [base for unit in shard for base in unit.bases]
    text = "\n---\n".join(body for unit in shard for body in unit.bodies)
    try:
        for path, data in used.stage(bases, text, openapi):
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
    return WorkspaceError(f"{where}: {error.strerror}; let TMPDIR name a folder with room that you may write to")


def _assigned(shard: Sequence[Unit], output: str) -> Iterator[list[str | None]]:
    """The objects kustomize printed, given back to the units whose base they were.

    The order is that of the bases; what lacks was deleted by a patch, what differs in name renamed.
    """
    texts = overlay.split(output)
    expected = [base.ref for unit in shard for base in unit.bases]
    given: Sequence[str | None] = texts
    if len(texts) != len(expected):
        wanted = [(ref.kind, ref.namespace, ref.name) for ref in expected]
        given = _matched(wanted, [_head(text) for text in texts], texts)
    rest = iter(given)
    for unit in shard:
        yield [next(rest) for _ in unit.manifests]


def _matched(wanted: Sequence[_Head], heads: Sequence[_Head], texts: Sequence[str]) -> list[str | None]:
    """The texts at the place of their base, None where a base was deleted.

    Both are in one order.  Equal heads are sure; between two of them, kinds in order decide, which
    is how a patch that renames and one that deletes can stand side by side.
    """
    result: list[str | None] = [None] * len(wanted)
    matcher = SequenceMatcher(None, wanted, heads, autojunk=False)
    for tag, low, high, first, last in matcher.get_opcodes():
        if tag in {"equal", "replace"}:
            position = first
            for index in range(low, high):
                if position < last and heads[position][0] == wanted[index][0]:
                    result[index] = texts[position]
                    position += 1
    return result


_Head = tuple[str, str, str]
"""Kind, namespace and name."""


def _head(text: str) -> _Head:
    """Kind, namespace and name, read off the text: kustomize prints keys in order, two spaces deep."""
    found = {"kind": "", "namespace": "", "name": ""}
    in_metadata = False
    for line in text.splitlines():
        if line.startswith("kind: "):
            found["kind"] = line[6:].strip("\"'")
        elif not line.startswith((" ", "-")):
            in_metadata = line == "metadata:"
        elif in_metadata and line.startswith(("  name: ", "  namespace: ")):
            key, _, value = line.strip().partition(": ")
            found[key] = value.strip("\"'")
    namespace = "" if found["kind"] in CLUSTER_SCOPED else found["namespace"] or "default"
    return found["kind"], namespace, found["name"]


def _blame(
    program: Kustomize, used: Overlay, shard: Sequence[Unit], openapi: bytes, message: str
) -> Finding:
    """The finding of a failed build, at the field or patch entry without which it would not fail."""

    def complaint(overlay: Overlay) -> str:
        with _temporary_folder() as folder:
            _stage(Path(folder), overlay, shard, openapi)
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
    return Finding("overlay-builds", Severity.ERROR, f"kustomize: {message}", Location(top), cluster=used.cluster)


def _field_finding(used: Overlay, said: str, complaint: Callable[[Overlay], str]) -> Finding:
    """The finding of a build that fails without any patch."""
    for path, document in reversed(list(used.kustomizations.items())):
        at = _unknown_field(document, said)
        for key_ in document.value if isinstance(document.value, dict) else ():
            if at is None and key_ != "components" and not complaint(used.without(path, key_)):
                at = span(document, (key_,), key=True)
        if at is not None:
            return Finding(
                "overlay-builds", Severity.ERROR, f"kustomize: {said}", Location(path, at), cluster=used.cluster
            )
    return Finding("overlay-builds", Severity.ERROR, f"kustomize: {said}", Location(path), cluster=used.cluster)


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
        named = [i for i, target in enumerate(operations) if isinstance(target, str) and _mentions(message, target)]
        path = (named[0], "path") if named else path
    at = at or span(document, path)
    return Finding(
        "overlay-builds", Severity.ERROR, f"kustomize: {message}", Location(document.path, at), cluster=used.cluster
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
    return Finding(rule, Severity.ERROR, message, Location(document.path, span(document, path)), cluster=cluster)


def _near(wanted: Mapping[str, Any], known: Sequence[tuple[str, str, str]]) -> str:
    """`; did you mean ...?` for the part of a target that no object has."""
    for position, part in enumerate(("kind", "namespace", "name")):
        word = str(wanted.get(part) or "")
        values = sorted({one[position] for one in known})
        if word and word not in values and (hint := hints.closest(word, values)):
            return hint
    return ""


def _clash(rule: str, message: str, path: str, one: _Made, other: tuple[str, _Made]) -> Finding:
    related = (Location(other[0], Span(*other[1].at), "the first one"),)
    return Finding(rule, Severity.ERROR, message, Location(path, Span(*one.at)), related, cluster=one.cluster)


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that several clusters share, told once with all their names."""
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.rule, finding.message, finding.location, finding.object].append(finding)
    return [
        replace(group[0], cluster=", ".join(sorted({finding.cluster for finding in group} - {""})))
        for group in groups.values()
    ]
