"""A cluster's kustomize overlay, cut so that it can be built shard by shard.

A kustomization of N resources costs O(N²), so jobs are built in shards.  That is only right if a
shard's result does not depend on what else is in it: fields that look beyond one object are refused
here, and a patch that names an object is routed to the shard that has it.  The strategic merge
patches of PaddleJob need our `openapi`, which kustomize reads in the top kustomization only.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from paddlegen import documents
from paddlegen.model.output import CLUSTER_SCOPED, ObjectRef
from paddlegen.model.report import Finding, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlegen.documents import Document
    from paddlegen.model.report import FieldPath

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
BASE = "paddlegen-base.yaml"
OPENAPI = "paddlegen-openapi.json"

_BEYOND = "looks beyond one job, and jobs are built apart"
REFUSED: Mapping[str, str] = {
    "resources": "would be repeated for every job; commit those objects on their own",
    "bases": "would be repeated for every job; commit those objects on their own",
    "configMapGenerator": "would be repeated for every job; commit those objects on their own",
    "secretGenerator": "would be repeated for every job; commit those objects on their own",
    "generators": "would be repeated for every job; commit those objects on their own",
    "helmCharts": "would be repeated for every job; commit those objects on their own",
    "helmChartInflationGenerator": "would be repeated for every job; commit those objects on their own",
    "namePrefix": "would part a job from its PodGroup and claims; name the job in its spec",
    "nameSuffix": "would part a job from its PodGroup and claims; name the job in its spec",
    "replacements": _BEYOND,
    "vars": _BEYOND,
    "transformers": _BEYOND,
    "validators": f"{_BEYOND}; write a policy",
    "openapi": "is supplied by paddlegen, with the merge keys of PaddleJob",
    "sortOptions": "has no effect: every object is a file of its own",
    "buildMetadata": "would write build details into every manifest",
}
"""Fields of a kustomization that cannot be built shard by shard, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Base:
    """An object that goes into kustomize, as far as routing needs it."""

    ref: ObjectRef
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Patch:
    """One thing a patch entry addresses: a selector, or an object by its name.

    `place` is the document and path where it stands; `entry` numbers the entry it belongs to in its
    kustomization.  `document` is the patch itself, for finding which patch wrote a value.
    """

    id: str
    kustomization: str
    field: str
    entry: int
    at: Document
    path: FieldPath
    document: Document | None
    target: Mapping[str, Any] | None
    written: frozenset[str] = frozenset()
    """Labels and annotations that the overlay itself writes: what a selector says of them is open."""

    def matches(self, base: Base) -> bool:
        """Whether kustomize would apply it to the object, or may."""
        if self.target is not None:
            return _selects(self.target, base, self.written)
        return self.document is not None and _same_object(self.document.value, base.ref)


@dataclass(frozen=True, slots=True)
class Overlay:
    """The kustomizations a cluster uses, its own last, and every file beside them."""

    cluster: str
    top: str
    kustomizations: Mapping[str, Document]
    files: Mapping[str, bytes]
    patches: tuple[Patch, ...]
    findings: tuple[Finding, ...]

    @property
    def entries(self) -> list[list[Patch]]:
        """The patches entry by entry, in the order kustomize applies them."""
        grouped: dict[tuple[str, str, int], list[Patch]] = {}
        for patch in self.patches:
            grouped.setdefault((patch.kustomization, patch.field, patch.entry), []).append(patch)
        return list(grouped.values())

    def limited(self, count: int) -> Overlay:
        """The overlay with its first patch entries only: to find the one that fails."""
        kept = {(e[0].kustomization, e[0].field, e[0].entry) for e in self.entries[:count]}
        kustomizations = {}
        for path, document in self.kustomizations.items():
            value = dict(document.value) if isinstance(document.value, dict) else {}
            for field in ("patchesStrategicMerge", "patchesJson6902", "patches"):
                if isinstance(value.get(field), list):
                    value[field] = [
                        entry for i, entry in enumerate(_list(value, field)) if (path, field, i) in kept
                    ]
            kustomizations[path] = replace(document, value=value)
        return replace(self, kustomizations=kustomizations, patches=tuple(_renumbered(self.entries[:count])))

    def without(self, path: str, field: str) -> Overlay:
        """The overlay without a field of a kustomization: to find the one that fails."""
        document = self.kustomizations[path]
        value = {key: item for key, item in dict(document.value).items() if key != field}  # type: ignore[call-overload]
        return replace(self, kustomizations={**self.kustomizations, path: replace(document, value=value)})

    def patches_for(self, base: Base) -> list[Patch]:
        """The patches that apply to an object, in the order kustomize applies them."""
        return [patch for patch in self.patches if patch.matches(base)]

    def stage(self, bases: Sequence[Base], base_yaml: str, openapi: bytes) -> Iterator[tuple[str, bytes]]:
        """The files of one shard's build, paths relative to its staging directory."""
        for path, document in self.kustomizations.items():
            value = _routed(path, document.value, self.patches, bases)
            if posixpath.dirname(path) == self.top:
                value |= {"resources": [BASE], "openapi": {"path": OPENAPI}, "sortOptions": {"order": "fifo"}}
            yield path, json.dumps(value, ensure_ascii=False).encode()
        for path, data in self.files.items():
            if path not in self.kustomizations:
                yield path, data
        yield f"{self.top}/{BASE}", base_yaml.encode()
        yield f"{self.top}/{OPENAPI}", openapi


def load(cluster: str, files: Mapping[str, bytes]) -> Overlay:
    """The overlay of a cluster.  `files` are all files below `overlays/`, by repository path."""
    top = f"overlays/{cluster}"
    findings: list[Finding] = []
    kustomizations: dict[str, Document] = {}
    _visit(_Walk(files, kustomizations, findings), top, Location(top))
    folders = [posixpath.dirname(path) for path in kustomizations]
    used = {
        path: data
        for path, data in files.items()
        if any(path.startswith(f"{folder}/") for folder in folders) and not path.endswith("/cluster.yaml")
    }
    patches: list[Patch] = []
    for document in kustomizations.values():
        findings.extend(_refusals(document))
        patches.extend(_patches(document, files, findings))
    written = frozenset(_written(kustomizations.values(), patches))
    patches = [replace(patch, written=written) for patch in patches]
    return Overlay(cluster, top, kustomizations, used, tuple(patches), tuple(findings))


def _written(kustomizations: Iterable[Document], patches: Iterable[Patch]) -> Iterator[str]:
    """The keys of labels and annotations that an overlay gives to objects."""
    for document in kustomizations:
        for field in ("commonLabels", "commonAnnotations"):
            yield from _keys(documents.at(document.value, (field,)))
        for entry in _list(document.value, "labels"):
            yield from _keys(documents.at(entry, ("pairs",)))
    for patch in patches:
        value = patch.document.value if patch.document else None
        for field in ("labels", "annotations"):
            yield from _keys(documents.at(value, ("metadata", field)))
        for operation in value if isinstance(value, list) else []:
            path = str(documents.at(operation, ("path",)))
            if path.startswith("/metadata/"):
                yield path.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
                yield from _keys(documents.at(operation, ("value",)))


def _keys(value: object) -> Iterator[str]:
    yield from value if isinstance(value, dict) else ()


def _renumbered(entries: Sequence[Sequence[Patch]]) -> Iterator[Patch]:
    """The patches of a limited overlay: entries count from 0 again."""
    counts: dict[tuple[str, str], int] = {}
    for entry in entries:
        place = (entry[0].kustomization, entry[0].field)
        number = counts.get(place, 0)
        counts[place] = number + 1
        for patch in entry:
            yield replace(patch, entry=number)


def split(text: str) -> list[str]:
    """The objects in kustomize's output; a `---` inside a block scalar is always indented."""
    return [part if part.endswith("\n") else part + "\n" for part in text.split("\n---\n") if part.strip()]


@dataclass(frozen=True, slots=True)
class _Walk:
    """The files kustomizations are looked for in, and what was found so far."""

    files: Mapping[str, bytes]
    found: dict[str, Document]
    findings: list[Finding]


def _visit(walk: _Walk, folder: str, wanted_at: Location, above: tuple[str, ...] = ()) -> None:
    """Find kustomizations in the order kustomize applies them: components before those who use them."""
    files, found, findings = walk.files, walk.found, walk.findings
    paths = [f"{folder}/{name}" for name in NAMES if f"{folder}/{name}" in files]
    if len(paths) != 1:
        message = f"{folder} has no kustomization.yaml; kustomize needs one there"
        if paths:
            message = (
                f"{folder} has {' and '.join(map(posixpath.basename, paths))}; kustomize reads one: keep one"
            )
            wanted_at = Location(paths[1])
        findings.append(Finding("overlay-builds", Severity.ERROR, message, wanted_at))
        return
    path = paths[0]
    if folder in above:
        loop = " uses ".join((*above[above.index(folder) :], folder))
        message = f"an overlay cannot use itself as a component: {loop}"
        findings.append(Finding("overlay-builds", Severity.ERROR, message, wanted_at))
        return
    if path in found:
        return
    document = _document(path, files[path], findings)
    if document is None:
        return
    for index, name in enumerate(_list(document.value, "components")):
        at = Location(path, documents.span(document, ("components", index)))
        target = posixpath.normpath(f"{folder}/{name}")
        if "://" in str(name) or not target.startswith("overlays/"):
            message = f"component {name} is outside overlays/; a render must not depend on other places"
            findings.append(Finding("overlay-builds", Severity.ERROR, message, at))
        else:
            _visit(walk, target, at, (*above, folder))
    found[path] = document


def _document(path: str, data: bytes, findings: list[Finding]) -> Document | None:
    loaded, problems = documents.loads(data, path)
    findings.extend(_problem_findings(path, problems))
    if problems:
        return None
    if len(loaded) != 1 or not isinstance(loaded[0].value, dict):
        message = "the file is empty; write apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization"
        if loaded:
            has = f"has {len(loaded)} documents" if len(loaded) > 1 else "is none"
            message = f"a kustomization is one mapping; this {has}"
        findings.append(Finding("overlay-builds", Severity.ERROR, message, Location(path)))
        return None
    return loaded[0]


def _problem_findings(path: str, problems: Iterable[documents.Problem]) -> Iterator[Finding]:
    for problem in problems:
        yield Finding(problem.kind, Severity.ERROR, problem.message, Location(path, problem.span))


def _refusals(document: Document) -> Iterator[Finding]:
    assert isinstance(document.value, dict)  # noqa: S101  # _document let only mappings through
    for field, reason in REFUSED.items():
        if field in document.value:
            at = Location(document.path, documents.span(document, (field,), key=True))
            yield Finding("overlay-is-shardable", Severity.ERROR, f"{field} {reason}", at)


def _patches(document: Document, files: Mapping[str, bytes], findings: list[Finding]) -> Iterator[Patch]:
    path = document.path
    for field in ("patchesStrategicMerge", "patchesJson6902", "patches"):
        for index, entry in enumerate(_list(document.value, field)):
            here: FieldPath = (field, index)
            target = entry.get("target") if isinstance(entry, dict) else None
            for patch in _patch_documents(document, here, entry, files, findings):
                number = 0 if patch is None else patch.index
                yield Patch(
                    f"{path}#{field}/{index}/{number}", path, field, index, document, here, patch, target
                )


def _patch_documents(
    document: Document,
    here: FieldPath,
    entry: Any,
    files: Mapping[str, bytes],
    findings: list[Finding],
) -> Iterator[Document | None]:
    """The documents of a patch, inline or in a file; a JSON patch is one document, a list."""
    folder = posixpath.dirname(document.path)
    if isinstance(entry, str):
        inline = None if f"{folder}/{entry}" in files else here
        file = entry
    elif isinstance(entry, dict) and "patch" in entry:
        inline, file = (*here, "patch"), ""
    elif isinstance(entry, dict) and isinstance(entry.get("path"), str):
        inline, file = None, entry["path"]
    else:
        return
    if inline is not None:
        loaded, problems = documents.embedded_all(document, inline)
        findings.extend(_problem_findings(document.path, problems))
        if not problems:
            findings.extend(_unusable(document.path, loaded, entry))
        yield from loaded
        return
    path = posixpath.normpath(f"{folder}/{file}")
    data = files.get(path)
    if data is None:
        at = Location(
            document.path, documents.span(document, (*here, "path") if _names_a_file(entry) else here)
        )
        message = f"there is no file {path}; write the patch there, or correct the path"
        if "://" in file:
            message = (
                f"the patch {file} is a URL; a render must not depend on other places: copy it to a file"
            )
        findings.append(Finding("overlay-builds", Severity.ERROR, message, at))
        return
    loaded, problems = documents.loads(data, path)
    findings.extend(_problem_findings(path, problems))
    if not problems:
        findings.extend(_unusable(path, loaded, entry))
        yield from loaded


def _names_a_file(entry: Any) -> bool:
    """Whether a patch entry names a file under `path`."""
    return isinstance(entry, dict) and "path" in entry


def _unusable(path: str, loaded: Sequence[Document], entry: Any) -> Iterator[Finding]:
    """What is no patch, though it is good YAML."""
    rule = "overlay-builds"
    if not loaded:
        yield Finding(rule, Severity.ERROR, "the patch is empty; write it, or remove it", Location(path))
    has_target = isinstance(entry, dict) and entry.get("target") is not None
    for patch in loaded:
        at = Location(patch.path, documents.span(patch, ()))
        if isinstance(patch.value, list):
            if not has_target:
                message = "a JSON patch names no object; add a target: where the kustomization lists it"
                yield Finding(rule, Severity.ERROR, message, at)
        elif not isinstance(patch.value, dict):
            message = (
                "this is no patch; write an object with what changes, or a list of JSON patch operations"
            )
            yield Finding(rule, Severity.ERROR, message, at)
        elif not has_target and not (_has_name(patch.value) and {"apiVersion", "kind"} <= set(patch.value)):
            message = "a patch without a target says its object; write apiVersion, kind and metadata.name"
            yield Finding(rule, Severity.ERROR, message, at)


def _routed(path: str, value: Any, patches: Iterable[Patch], bases: Sequence[Base]) -> dict[str, Any]:
    """The kustomization without the named patches whose object is not in the shard."""
    routed: dict[str, Any] = dict(value)
    by_entry: dict[tuple[str, int], list[Patch]] = {}
    for patch in patches:
        if patch.kustomization == path:
            by_entry.setdefault((patch.field, patch.entry), []).append(patch)
    for field in ("patchesStrategicMerge", "patches"):
        if field not in routed:
            continue
        kept: list[Any] = []
        for index, entry in enumerate(routed[field]):
            parts = by_entry.get((field, index), [])
            if not parts or any(part.target is not None or not _is_named(part) for part in parts):
                kept.append(entry)
                continue
            here = [part for part in parts if any(part.matches(base) for base in bases)]
            if len(here) == len(parts):
                kept.append(entry)
                continue
            texts = [json.dumps(part.document.value, ensure_ascii=False) for part in here if part.document]
            options = {k: v for k, v in entry.items() if k == "options"} if isinstance(entry, dict) else {}
            kept.extend({"patch": text, **options} if field == "patches" else text for text in texts)
        routed[field] = kept
    return routed


def _is_named(patch: Patch) -> bool:
    return patch.document is not None and _has_name(patch.document.value)


def _has_name(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("metadata"), dict) and "name" in value["metadata"]


def _same_object(value: Any, ref: ObjectRef) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return False
    metadata = value["metadata"]
    namespace = "" if value.get("kind") in CLUSTER_SCOPED else str(metadata.get("namespace") or "default")
    return (value.get("apiVersion"), value.get("kind"), metadata.get("name"), namespace) == (
        ref.api_version,
        ref.kind,
        ref.name,
        ref.namespace,
    )


def _selects(target: Mapping[str, Any], base: Base, written: frozenset[str]) -> bool:
    """Kustomize's selector: anchored regular expressions, and label selectors (api/types/selector.go)."""
    group, _, version = base.ref.api_version.rpartition("/")
    wanted = (
        ("group", group),
        ("version", version),
        ("kind", base.ref.kind),
        ("name", base.ref.name),
        ("namespace", base.ref.namespace),
    )
    for field, actual in wanted:
        pattern = target.get(field)
        if pattern and not _full_match(str(pattern), actual):
            return False
    labels, annotations = (str(target.get(f"{what}Selector") or "") for what in ("label", "annotation"))
    return _label_selector(labels, base.labels, written) and _label_selector(
        annotations, base.annotations, written
    )


def _full_match(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return True  # kustomize will say what is wrong with it


_REQUIREMENT = re.compile(
    r"\s*(?:(!)\s*)?([^\s=!,()]+)\s*(?:(==|=|!=)\s*([^\s,()]*)|(in|notin)\s*\(([^)]*)\))?\s*(?:,|$)"
)


def _label_selector(selector: str, labels: Mapping[str, str], written: frozenset[str]) -> bool:
    for absent, key, operator, value, membership, values in _REQUIREMENT.findall(selector):
        if key in written:
            continue
        actual = labels.get(key)
        options = {item.strip() for item in values.split(",")}
        match operator or membership:
            case "=" | "==":
                holds = actual == value
            case "!=":
                holds = actual != value
            case "in":
                holds = actual in options
            case "notin":
                holds = actual not in options
            case _:
                holds = (actual is None) if absent else (actual is not None)
        if not holds:
            return False
    return True


def _list(value: Any, field: str) -> list[Any]:
    entries = value.get(field) if isinstance(value, dict) else None
    return entries if isinstance(entries, list) else []
