"""From a resolved job to the files of one cluster: base objects, then finished objects, then findings.

A unit is one job, or one StorageSpec, on one cluster.  Everything here is a pure function; kustomize
runs between `base` and `finish`, in `engine`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from paddlegen import catalogue, documents, hints, installation, schema
from paddlegen.errors import ToolError
from paddlegen.model.output import JOB, PLATFORM, STORAGE, Manifest, ObjectRef, Violation, header, object_ref
from paddlegen.model.policy import View
from paddlegen.model.report import Finding, Location, Severity
from paddlegen.model.resolved import Storage
from paddlegen.overlay import Base
from paddlegen.printed import printed
from paddlegen.resolve import TOLD_ELSEWHERE, Place, Resolution, resolve
from paddlegen.resources import volumes
from paddlegen.targets import targets
from paddlegen.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlegen.catalogue import ClusterEntry, Contents, JobEntry, StorageEntry
    from paddlegen.documents import Document
    from paddlegen.model.report import FieldPath
    from paddlegen.overlay import Overlay, Patch
    from paddlegen.resolve import Template
    from paddlegen.verdicts import Verdict

MANIFESTS = "manifests"


@dataclass  # no slots: they leave no room for what is computed once
class Unit:
    """One job or StorageSpec on one cluster, on its way through kustomize."""

    cluster: ClusterEntry
    source: Document
    namespace: str
    name: str
    resolution: Resolution | None = None
    manifests: list[Manifest] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    is_broken: bool = False
    key: bytes = b""
    """What the cache knows it by."""

    @property
    def path(self) -> str:
        """The file a person edits."""
        return self.source.path

    @cached_property
    def bases(self) -> list[Base]:
        """Its objects as routing needs them."""
        return [_base(manifest.body) for manifest in self.manifests]

    @cached_property
    def bodies(self) -> list[str]:
        """Its objects as JSON, which is YAML that no reader can misread."""
        return [json.dumps(manifest.body, ensure_ascii=False) for manifest in self.manifests]


@dataclass(frozen=True, slots=True)
class Output:
    """A finished file below `manifests/`."""

    path: str
    text: str
    ref: ObjectRef


def job_unit(
    entry: JobEntry,
    cluster: ClusterEntry,
    templates: Mapping[str, Template | None],
    shared: Contents,
) -> Unit:
    """A job on a cluster, with its base objects or the findings that prevent them."""
    metadata = entry.value.metadata
    namespace = metadata.namespace or "default"
    unit = Unit(cluster, entry.source.document, namespace, metadata.name)
    specs = {
        s.name: s
        for s in map(_storage, shared.storage)
        if s.namespace == namespace and _is_for(s.body.clusters, cluster)
    }
    resolution = resolve(entry.value, entry.source, cluster.cluster.name, templates, specs)
    unit.resolution = resolution
    unit.is_broken = resolution.job is None
    for fault in resolution.faults:
        if fault.violation.rule != TOLD_ELSEWHERE:
            unit.findings.append(_finding(unit, fault.violation, fault.place))
    if resolution.job is None:
        return unit
    name = entry.value.spec.target or cluster.cluster.body.default_target
    for output in _built(targets()[name].build(resolution.job, cluster.cluster)):
        if isinstance(output, Violation):
            unit.is_broken |= output.severity is Severity.ERROR
            unit.findings.extend(_told(unit, output, shared))
        else:
            unit.manifests.append(output)
    return unit


def _told(unit: Unit, violation: Violation, shared: Contents) -> Iterator[Finding]:
    """The finding of a target's violation; none for storage that has findings of its own."""
    place = _place(unit, violation)
    if violation.rule == "storage-exists":
        name = str(documents.at(place.document.value, place.path))
        if shared.is_broken("StorageSpec", f"{unit.namespace}/{name}"):
            return
        violation = replace(violation, message=violation.message + _elsewhere(name, unit, shared))
    yield _finding(unit, violation, place)


def _elsewhere(name: str, unit: Unit, shared: Contents) -> str:
    """Where the storage is that a job cannot reach."""
    same = [_storage(entry) for entry in shared.storage if entry.value.metadata.name == name]
    here = next((storage for storage in same if storage.namespace == unit.namespace), None)
    if here is not None:
        return f"; that of {here.namespace} is for the clusters {', '.join(here.body.clusters or [])}"
    if same:
        return f"; it is in the namespace {same[0].namespace}, and claims cannot be shared across namespaces"
    mine = [entry.value.metadata for entry in shared.storage]
    return hints.did_you_mean(
        name, sorted(m.name for m in mine if (m.namespace or "default") == unit.namespace)
    )


def storage_unit(entry: StorageEntry, cluster: ClusterEntry) -> Unit:
    """A StorageSpec on a cluster."""
    storage = _storage(entry)
    unit = Unit(cluster, entry.source.document, storage.namespace, storage.name)
    unit.manifests = list(volumes.of_storage(storage))
    return unit


def platform_unit(cluster: ClusterEntry) -> Unit:
    """What a cluster needs before any job, with the reasons why it cannot be had."""
    assert cluster.document is not None  # noqa: S101  # only a profile lists anything
    unit = Unit(cluster, cluster.document, "", f"_{PLATFORM}")
    for output in installation.build(cluster.cluster):
        if isinstance(output, Violation):
            unit.is_broken |= output.severity is Severity.ERROR
            unit.findings.append(_finding(unit, output, _place(unit, output)))
        else:
            unit.manifests.append(output)
    return unit


def is_on(entry: JobEntry | StorageEntry, cluster: ClusterEntry) -> bool:
    """Whether a spec is meant for a cluster."""
    return _is_for(entry.value.spec.clusters, cluster)


def finish(
    unit: Unit, texts: Sequence[str | None], overlay: Overlay, base: Mapping[str, bytes]
) -> Iterator[Output]:
    """The files of a unit: kustomize's text of each object, or None where an overlay deleted it.

    Adds what the policies find to the unit.  `base` holds the files of another revision, by their path
    below `manifests/`: an object that differs from there is looked at as a change.
    """
    old: dict[ObjectRef, dict[str, Any]] = {}
    documents_by_ref: dict[ObjectRef, tuple[Manifest, Document]] = {}
    outputs = []
    for manifest, text in zip(unit.manifests, texts, strict=True):
        if text is None:
            continue
        body, ref = _read_back(text, manifest)
        if fault := next(_bad_names(ref), None):
            unit.findings.append(_name_finding(unit, manifest, body, fault, overlay))
            continue
        path = _path(unit, manifest, ref)
        final = header(unit.path) + text
        documents_by_ref[ref] = (manifest, documents.Document(f"{MANIFESTS}/{path}", 0, body, final))
        outputs.append(Output(path, final, ref))
        if path in base and (before := base[path].decode(errors="replace")) != final:
            old.update((ref, value) for value in _objects(before))
    unit.findings.extend(_check(unit, documents_by_ref, overlay, old))
    return iter(outputs)


def _read_back(text: str, manifest: Manifest) -> tuple[dict[str, Any], ObjectRef]:
    """The object of a text kustomize printed; most overlays leave most objects as they are."""
    if text == printed(manifest.body):
        return manifest.body, manifest.ref
    return _parsed(text)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The mappings in a text that somebody committed; what is none is drift, and told as such."""
    loaded, _ = documents.load(text)
    return (document.value for document in loaded if isinstance(document.value, dict))


@lru_cache(maxsize=2048)
def _parsed(text: str) -> tuple[dict[str, Any], ObjectRef]:
    """The object of a text; many are the same on several clusters."""
    loaded, problems = documents.load(text, max_bytes=None)
    body = loaded[0].value if loaded and not problems else None
    try:
        return dict(body), object_ref(body)  # type: ignore[call-overload, arg-type]  # what is no mapping raises
    except (TypeError, ValueError) as error:
        message = "kustomize printed what is no manifest; run `paddlegen doctor`, or name another kustomize"
        raise ToolError(message) from error


_PLAIN_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]*\Z")


def _bad_names(ref: ObjectRef) -> Iterator[tuple[FieldPath, str]]:
    """What a patch made of kind and names that Kubernetes would refuse, and a file cannot be called."""
    if not _KIND.match(ref.kind):
        yield ("kind",), f"kind is {ref.kind!r}; a kind is letters and digits, a capital first"
    for path, name in ((("metadata", "name"), ref.name), (("metadata", "namespace"), ref.namespace)):
        if name and (".." in name or len(name) > 253 or not _PLAIN_NAME.match(name)):  # noqa: PLR2004  # Kubernetes' limit
            yield path, f"{path[-1]} is {name!r}; lower-case letters, digits, '-' and '.' are allowed"


def _name_finding(
    unit: Unit, manifest: Manifest, body: dict[str, Any], fault: tuple[FieldPath, str], overlay: Overlay
) -> Finding:
    path, message = fault
    written = _patched((manifest, documents.Document("", 0, body, "")), path, overlay)
    place = written or Place(unit.source, ("metadata", "name"))
    at = Location(place.document.path, documents.span(place.document, place.path))
    return Finding("object-names-valid", Severity.ERROR, message, at, cluster=unit.cluster.cluster.name)


def _built(outputs: Iterable[Manifest | Violation]) -> list[Manifest | Violation]:
    """What a target yields, up to the point where an error makes the rest impossible to build."""
    result: list[Manifest | Violation] = []
    broken = False
    iterator = iter(outputs)
    for output in iterator:
        if isinstance(output, Violation):
            broken |= output.severity is Severity.ERROR
        elif broken:
            break
        result.append(output)
    return result


def _check(
    unit: Unit,
    objects: Mapping[ObjectRef, tuple[Manifest, Document]],
    overlay: Overlay,
    old: Mapping[ObjectRef, Mapping[str, Any]],
) -> Iterator[Finding]:
    cluster = unit.cluster.cluster
    bodies = [document.value for _, document in objects.values() if isinstance(document.value, dict)]
    view, profile = View(bodies, cluster), schema.profile_of(cluster)
    for ref, body in zip(objects, bodies, strict=True):
        seen = replace(view, old=old[ref]) if ref in old else view
        for verdict in verdicts(body, seen, profile):
            yield _verdict_finding(unit, verdict, ref, objects, overlay)


def _verdict_finding(
    unit: Unit,
    verdict: Verdict,
    ref: ObjectRef,
    objects: Mapping[ObjectRef, tuple[Manifest, Document]],
    overlay: Overlay,
) -> Finding:
    """The finding of a verdict: at the overlay's patch that wrote the value, else at the spec's line."""
    document = objects[ref][1]
    rendered = Location(document.path, documents.span(document, verdict.path), "as rendered")
    place = _origin(unit, ref, verdict.path)
    for other, path in ((ref, verdict.path), *verdict.related):
        patched = _patched(objects.get(other), path, overlay)
        if patched is not None:
            place = patched
            break
    return Finding(
        verdict.rule,
        verdict.severity,
        verdict.message,
        Location(place.document.path, documents.span(place.document, place.path)),
        (rendered,),
        verdict.remediation,
        unit.cluster.cluster.name,
        str(ref),
        verdict.path,
    )


def _origin(unit: Unit, ref: ObjectRef, path: FieldPath) -> Place:
    """The place in the spec that a rendered value came from."""
    if unit.source is unit.cluster.document:
        return Place(unit.source, installation.origin(ref.kind))
    if unit.resolution is None or unit.resolution.job is None:
        return Place(unit.source, ("spec",))
    name = unit.resolution.job.body.target or unit.cluster.cluster.body.default_target
    candidates = list(targets()[name].origins(ref.kind, path))
    for candidate in candidates:
        found = unit.resolution.find(candidate)
        if found is not None:
            return found
    return unit.resolution.origin(candidates[-1] if candidates else ())


def _patched(entry: tuple[Manifest, Document] | None, path: FieldPath, overlay: Overlay) -> Place | None:
    """Where an overlay wrote the value at a path of a finished object, if one did."""
    if entry is None:
        return None
    manifest, document = entry
    if documents.at(manifest.body, path) == documents.at(document.value, path):
        return None
    for patch in reversed(overlay.patches_for(_base(manifest.body))):
        place = _place_in_patch(patch, path)
        if place is not None:
            return place
    return None


def _place_in_patch(patch: Patch, path: FieldPath) -> Place | None:
    document = patch.document
    if document is None:
        return None
    if isinstance(document.value, list):
        pointer = "/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path)
        for index, operation in enumerate(document.value):
            written = operation.get("path") if isinstance(operation, dict) else None
            if isinstance(written, str) and (pointer == written or pointer.startswith(written + "/")):
                return Place(document, (index, "value" if "value" in operation else "path"))
        return None
    return Place(document, path) if documents.at(document.value, path) is not None else None


def _place(unit: Unit, violation: Violation) -> Place:
    profile = unit.cluster.document
    if violation.in_profile and profile is not None:
        return Place(profile, violation.path)
    if violation.path[:1] == ("metadata",) or unit.resolution is None:
        return Place(unit.source, violation.path)
    return unit.resolution.origin(violation.path)


def _finding(unit: Unit, violation: Violation, place: Place) -> Finding:
    return catalogue.finding_at(violation, place, cluster=unit.cluster.cluster.name)


def _path(unit: Unit, manifest: Manifest, ref: ObjectRef) -> str:
    """Where an object is written, relative to `manifests/`."""
    file = f"{ref.kind.lower()}-{ref.name}.yaml"
    namespace = ref.namespace or unit.namespace
    folders = {
        JOB: f"{namespace}/{unit.name}",
        STORAGE: f"_storage/{namespace}",
        PLATFORM: "_platform",
    }
    return f"{unit.cluster.cluster.name}/{folders[manifest.folder]}/{file}"


def _base(body: Mapping[str, Any]) -> Base:
    metadata = body["metadata"]
    return Base(object_ref(body), metadata.get("labels") or {}, metadata.get("annotations") or {})


def _storage(entry: StorageEntry) -> Storage:
    metadata = entry.value.metadata
    return Storage(
        metadata.name,
        metadata.namespace or "default",
        metadata.labels or {},
        metadata.annotations or {},
        entry.value.spec,
    )


def _is_for(clusters: list[str] | UnsetType, cluster: ClusterEntry) -> bool:
    return isinstance(clusters, UnsetType) or cluster.cluster.name in clusters
