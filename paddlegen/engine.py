"""Render a repository: read, resolve, run kustomize shard by shard, remember.

Two things are remembered.  What kustomize made of a unit, by the unit's base objects, the overlay
and the binary: a changed template costs only the jobs whose objects it changed.  And what a whole
job file led to, when that was clean: an unchanged repository costs reading and hashing its files.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib import resources
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from paddlegen import across, catalogue, hints, identity, installation, overlay, pipeline, schema
from paddlegen.blame import blame
from paddlegen.cache import key
from paddlegen.documents import span
from paddlegen.errors import UsageError
from paddlegen.kustomize import BuildError
from paddlegen.model.report import Finding, Location, Severity
from paddlegen.rendering import Known, Made, Rendered, Rendering, Selection
from paddlegen.shards import Builder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from paddlegen.cache import Cache
    from paddlegen.catalogue import ClusterEntry, Contents
    from paddlegen.documents import Document
    from paddlegen.kustomize import Kustomize
    from paddlegen.model.report import FieldPath
    from paddlegen.overlay import Overlay
    from paddlegen.pipeline import Unit
    from paddlegen.repository import Repository
    from paddlegen.resolve import Template
    from paddlegen.shards import Texts

_FRESH = 2048
"""Files that are kept as read until their turn comes, so that they are read once; the rest are read twice."""

_BATCH = 128
"""Units that are looked up in the cache at once."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a rendering is made from, and whom to tell how far it is."""

    repository: Repository
    program: Callable[[], Kustomize]
    """Finds kustomize, once it is needed."""
    cache: Cache
    on_disk: Mapping[str, str]
    """The digest of what is there, by path below `manifests/`: only where it differs is the text needed."""
    code: bytes
    """Identifies paddlegen itself."""
    selection: Selection = field(default_factory=Selection)
    progress: Callable[[int, int], None] = lambda _done, _total: None
    base: Mapping[str, bytes] = field(default_factory=dict)
    """The tree of another revision: what servers would refuse about the change from there is told."""


def render(inputs: Inputs) -> Rendering:
    """Render the repository, or a selection of it."""
    return _Run(inputs).run()


class _Run:
    """One rendering; its methods are the paragraphs of `run`."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.repository = inputs.repository
        self.cache = inputs.cache
        self.selection = inputs.selection
        self.result = Rendering()
        self.made: list[across.Placed] = []
        self.clusters: dict[str, ClusterEntry] = {}
        self.overlays: dict[str, Overlay] = {}
        self.openapi = resources.files("paddlegen").joinpath("schemas/openapi.json").read_bytes()
        self.shared = catalogue.Contents()
        self.fresh: dict[str, Contents] = {}
        self.keys: dict[str, bytes] = {}
        self.open: dict[str, Known] = {}
        self.breaches: list[Finding] = []
        self.failed: dict[str, tuple[list[Unit], str]] = {}
        self.started = self.total = 0

    def run(self) -> Rendering:
        """Everything, in order."""
        self._read_clusters()
        if self.selection.only_platform:
            self._build(self._platform_units())
        else:
            self._render_all()
        self._leave_out_failed()
        self._look_across()
        for _, one in self.made:
            self.result.coverage.update(one.coverage)
        self.result.findings = across.merged(self.result.findings)
        self.result.clusters = sorted(self.clusters)
        return self.result

    def _render_all(self) -> None:
        plain, parsed = self._read_jobs()
        storage_units = [
            pipeline.storage_unit(entry, cluster)
            for entry in self.shared.storage
            for cluster in self.clusters.values()
            if pipeline.is_on(entry, cluster)
        ]
        self.total = len(plain) + len(parsed)
        self._build(chain(self._platform_units() if not self.selection.jobs else (), storage_units))
        self._render_files(plain, parsed)

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
        keys = {path: key("only-jobs", self.inputs.code, data) for path, data in self.repository.jobs.items()}
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
                if len(self.fresh) < _FRESH:
                    self.fresh[path] = contents
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

    @cached_property
    def _base(self) -> dict[str, str]:
        """The digests of the other revision's files."""
        return {path: sha256(data).hexdigest() for path, data in self.inputs.base.items()}

    @cached_property
    def _program(self) -> Kustomize:
        return self.inputs.program()

    @cached_property
    def _builder(self) -> Builder:
        return Builder(self._program, self.overlays, self.openapi)

    @cached_property
    def _tools(self) -> tuple[bytes, ...]:
        """The digests of what renders."""
        return self.inputs.code, identity.of_kustomize(self._program, self.cache), self.openapi

    @cached_property
    def _overlay_keys(self) -> dict[str, bytes]:
        return {name: identity.of_overlay(self._tools, used) for name, used in self.overlays.items()}

    # --- platforms

    def _platform_units(self) -> Iterator[Unit]:
        """What clusters need before any job, if the disk does not hold what their profiles led to."""
        decoder = msgspec.msgpack.Decoder(Known)
        for name, entry in self.clusters.items():
            if not installation.parts(entry.cluster):
                continue
            self.result.platforms.append(name)
            path = f"overlays/{name}/cluster.yaml"
            mark = key("platform", self._overlay_keys[name], path, self.repository.overlays[path])
            self.keys[path] = mark
            packed = self.cache.get([mark]).get(mark)
            if packed is not None and self._take(path, decoder.decode(packed)):
                continue
            unit = pipeline.platform_unit(entry)
            if not unit.findings:
                self.open[path] = Known(0, 1)
            yield unit

    # --- jobs

    def _render_files(self, plain: Mapping[str, bytes], parsed: Mapping[str, Contents]) -> None:
        clusters, broken = self.selection.clusters, self.shared.broken
        around = identity.of_surroundings(self._tools, self.repository, parsed, broken, clusters)
        keys = {path: key("job-file", around, path, data) for path, data in plain.items()}
        self.keys |= keys
        known = self.cache.get(list(keys.values())) if not self.selection.jobs else {}
        decoder = msgspec.msgpack.Decoder(Known)
        todo: dict[str, Contents | None] = dict(parsed)
        for path in plain:
            packed = known.get(keys[path])
            if packed is None or not self._take(path, decoder.decode(packed)):
                todo[path] = None
        self.started = self.total - len(todo)
        self._build(self._units_of_files({path: todo[path] for path in sorted(todo)}))

    def _take(self, path: str, known: Known) -> bool:
        """Take over what a file is known to lead to, if the disk holds exactly that."""
        for one in known.made:
            for file, digest, _ in one.files:
                if self.inputs.on_disk.get(file) != digest or self._base.get(file, digest) != digest:
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
            fresh = self.fresh.pop(path, None)
            contents = parsed or fresh or catalogue.read(path, self.repository.jobs[path])
            units = [unit for entry in contents.jobs for unit in self._units(entry, templates)]
            is_clean = len(self.result.findings) == found and not any(unit.findings for unit in units)
            if path in self.keys and is_clean and not self.selection.jobs:
                self.open[path] = Known(self.result.jobs - jobs, len(units))
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
        for shard, texts in self._builder.build(self._unseen(iter(units))):
            self.inputs.progress(self.started, self.total)
            if isinstance(texts, BuildError):
                self._note_failure(shard, texts.message)
                continue
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

    def _finish(self, unit: Unit, texts: Texts) -> None:
        used = self.overlays[unit.cluster.cluster.name]
        before = len(unit.findings)
        outputs = list(pipeline.finish(unit, texts, used, self.inputs.base))
        self.breaches += unit.findings[before:]
        files = []
        for output in outputs:
            digest = sha256(output.text.encode()).hexdigest()
            text = None if self.inputs.on_disk.get(output.path) == digest else output.text
            self.result.files.setdefault(output.path, Rendered(digest, text, unit.path))
            files.append((output.path, digest, str(output.ref)))
        hits = sorted({patch.id for base in unit.bases for patch in used.patches_for(base)})
        is_job = unit.resolution is not None
        place = unit.source.index
        coverage: Counter[str] = Counter(
            schema.coverage(output.ref.api_version, output.ref.kind) for output in outputs
        )
        cluster = unit.cluster.cluster.name
        one = Made(cluster, unit.namespace, unit.name, is_job, place, files, hits, dict(coverage))
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

    def _note_failure(self, shard: list[Unit], message: str) -> None:
        """Keep the failure of each cluster that comes first in the files, whatever came first in time."""
        name = shard[0].cluster.cluster.name
        earlier = self.failed.get(name)
        if earlier is None or _place(shard[0]) < _place(earlier[0][0]):
            self.failed[name] = (shard, message)

    def _leave_out_failed(self) -> None:
        """Say why a cluster does not build, and nothing more of its manifests.

        Which of them were built depends on what was cached and how the rest was cut into shards.
        """
        for name, (shard, message) in sorted(self.failed.items()):
            self.result.findings.append(blame(self._builder, self.overlays[name], shard, message))
        files = self.result.files.items()
        self.result.files = {path: one for path, one in files if path.split("/")[0] not in self.failed}
        self.made = [(path, one) for path, one in self.made if one.cluster not in self.failed]
        self.result.findings += [one for one in self.breaches if one.cluster not in self.failed]

    def _look_across(self) -> None:
        """What only shows when all units are known."""
        sources = {**self.repository.jobs, **self.repository.overlays}
        self.result.findings += across.clashes(self.made, sources)
        is_part = bool(self.selection.jobs) or self.selection.only_platform
        if not is_part and self.result.is_complete:
            self.result.findings += across.idle_patches(self.made, self.overlays.values())


def _place(unit: Unit) -> tuple[str, int]:
    return unit.path, unit.source.index
