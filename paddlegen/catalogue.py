"""Everything people wrote, read and checked by itself: specs, templates, storage, cluster profiles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UnsetType

from paddlegen import documents, hints, specs
from paddlegen.documents import UNAMBIGUOUS, Document
from paddlegen.model.cluster import Cluster, ClusterProfile
from paddlegen.model.job import API_VERSION, JobSpec, JobTemplate, StorageSpec
from paddlegen.model.report import Finding, Location, Severity
from paddlegen.resolve import Place, Source, Template, bad_defaults, fill_in, params_in, through_params
from paddlegen.resources import volumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlegen.model.output import Violation
    from paddlegen.model.report import FieldPath

T = TypeVar("T")
_ABOUT_KEYS = frozenset({specs.FIELDS_KNOWN, "params-declared"})
"""Rules that are broken by the key, not by the value under it."""

KINDS: Mapping[str, type] = {"JobSpec": JobSpec, "JobTemplate": JobTemplate, "StorageSpec": StorageSpec}


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A JobSpec and where it stands."""

    value: JobSpec
    source: Source

    @property
    def path(self) -> str:
        """The file."""
        return self.source.document.path


@dataclass(frozen=True, slots=True)
class StorageEntry:
    """A StorageSpec and where it stands."""

    value: StorageSpec
    source: Source


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """A cluster and its profile; `document` is None where there is no profile to point at."""

    cluster: Cluster
    document: Document | None


@dataclass(slots=True)
class Contents:
    """What one file, or several, hold."""

    jobs: list[JobEntry] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    storage: list[StorageEntry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    broken: set[tuple[str, str]] = field(default_factory=set)
    """Kind and name of what is there but cannot be used; its own findings say why.

    The name of a StorageSpec has its namespace in front.  A kind of "" stands for any kind.
    """

    def is_broken(self, kind: str, name: str) -> bool:
        """Whether something of this name is there that cannot be used."""
        return not self.broken.isdisjoint({(kind, name), ("", name.rpartition("/")[2])})


def read(path: str, data: bytes) -> Contents:
    """The specs of a file below `jobs/`."""
    contents = Contents()
    loaded, problems = documents.loads(data, path)
    ambiguous = [problem for problem in problems if problem.kind == UNAMBIGUOUS]
    contents.findings.extend(_problem(path, problem) for problem in problems if problem.kind != UNAMBIGUOUS)
    if contents.findings:
        contents.broken.update(("", name) for name in _names_in(data))
        return contents
    if not loaded:
        message = "the file is empty; write a job spec, or remove the file"
        if data.strip(b"\xef\xbb\xbf \t\r\n"):
            message = "the file holds comments only; write a job spec, or remove the file"
        contents.findings.append(Finding("file-holds-specs", Severity.ERROR, message, Location(path)))
    for document in loaded:
        keys = [
            problem
            for problem in ambiguous
            if problem.document == document.index and _is_of_key(problem, document)
        ]
        if keys:  # what stands under such a key would only be told twice
            contents.findings.extend(_problem(path, problem) for problem in keys)
            _is_lost(document, contents)
            continue
        taken = _read_document(document, contents)
        contents.findings.extend(
            _problem(path, problem)
            for problem in ambiguous
            if problem.document == document.index
            and problem.path not in taken
            and not _is_text(problem, document)
        )
    return contents


def read_cluster(name: str, path: str, data: bytes | None) -> tuple[ClusterEntry | None, list[Finding]]:
    """The profile of a cluster, or why it cannot be read."""
    if data is None:
        message = (
            f"the cluster {name} has no profile; write {path} (apiVersion: {API_VERSION}, kind: Cluster)"
        )
        return None, [Finding("cluster-has-profile", Severity.ERROR, message, Location(path))]
    loaded, problems = documents.loads(data, path)
    hard = [_problem(path, problem) for problem in problems if problem.kind != UNAMBIGUOUS]
    if hard:
        return None, hard
    if len(loaded) != 1:
        message = (
            f"a profile is one document; this file has {len(loaded) or 'none'}: "
            f"write apiVersion: {API_VERSION}, kind: Cluster"
        )
        return None, [Finding("cluster-has-profile", Severity.ERROR, message, Location(path))]
    document = loaded[0]
    parsed = specs.parse(document, ClusterProfile)
    findings = [_problem(path, problem) for problem in problems if problem.path not in parsed.as_written]
    findings += [finding(violation, document, violation.path) for violation in parsed.violations]
    profile = parsed.value
    if profile is None:
        return None, findings
    if not isinstance(profile.metadata.name, UnsetType) and profile.metadata.name != name:
        message = (
            f"metadata.name is {profile.metadata.name}, and the folder is {name}; "
            "the folder names the cluster"
        )
        span = documents.span(document, ("metadata", "name"))
        findings.append(Finding("cluster-has-profile", Severity.ERROR, message, Location(path, span)))
    return ClusterEntry(Cluster(name=name, body=profile.spec), document), findings


def finding(violation: Violation, document: Document, path: FieldPath, **more: Any) -> Finding:
    """A violation as a finding at a path of the document it was written in."""
    key = violation.rule in _ABOUT_KEYS
    span = documents.span(document, path, key=key)
    return Finding(
        violation.rule,
        violation.severity,
        violation.message,
        Location(document.path, span),
        remediation=violation.remediation,
        field=path,
        **more,
    )


def _is_text(problem: documents.Problem, document: Document) -> bool:
    """Whether a doubtful scalar is a string already, and text is wanted: then it stays what was written."""
    body = document.value
    kind = KINDS.get(str(body.get("kind"))) if isinstance(body, dict) else None
    value = documents.at(body, problem.path)
    return kind is not None and isinstance(value, str) and specs.takes_text(problem.path, kind)


def _is_of_key(problem: documents.Problem, document: Document) -> bool:
    key, value = (documents.span(document, problem.path, key=is_key) for is_key in (True, False))
    return problem.span == key != value


_NAME = re.compile(rb"\bname:[ \t]*[\"']?([a-z0-9][-a-z0-9]*)")


def _names_in(data: bytes) -> set[str]:
    """Every name in a text that is no YAML: whoever refers to one of them is not to blame."""
    return {name.decode() for name in _NAME.findall(data)}


def _is_lost(document: Document, contents: Contents) -> None:
    """Remember a document that has findings of its own, for those who refer to it."""
    body = document.value
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(metadata, dict):
        return
    kind, name = str(body.get("kind")), str(metadata.get("name"))
    if kind == "StorageSpec":
        name = f"{metadata.get('namespace') or 'default'}/{name}"
    contents.broken.add((kind, name))


def _problem(path: str, problem: documents.Problem) -> Finding:
    return Finding(
        problem.kind, Severity.ERROR, problem.message, Location(path, problem.span), field=problem.path
    )


def _read_document(document: Document, contents: Contents) -> frozenset[FieldPath]:
    """Sort a document in; returns the paths whose plain scalars were taken as written."""
    body = document.value
    kind = body.get("kind") if isinstance(body, dict) else None
    if (
        not isinstance(body, dict)
        or not isinstance(kind, str)
        or kind not in KINDS
        or body.get("apiVersion") != API_VERSION
    ):
        contents.findings.append(_strange(document))
        _is_lost(document, contents)
        return frozenset()
    if kind == "JobTemplate":
        return _read_template(document, contents)
    parsed: specs.Parsed[Any] = specs.parse(document, KINDS[kind])
    contents.findings.extend(finding(violation, document, violation.path) for violation in parsed.violations)
    source = Source(document, parsed.body)
    if parsed.value is None:
        _is_lost(document, contents)
    if isinstance(parsed.value, JobSpec):
        contents.jobs.append(JobEntry(parsed.value, source))
    elif isinstance(parsed.value, StorageSpec):
        violations = list(volumes.violations(parsed.value.spec, ("spec",)))
        contents.findings.extend(finding(violation, document, violation.path) for violation in violations)
        if violations:
            _is_lost(document, contents)
        else:
            contents.storage.append(StorageEntry(parsed.value, source))
    return parsed.as_written


def _read_template(document: Document, contents: Contents) -> frozenset[FieldPath]:
    """A template is checked with its parameters at their defaults, or at a sample of their type."""
    assert isinstance(document.value, dict)  # noqa: S101  # the caller looked
    sample = Document(document.path, document.index, fill_in(document), document.text, document.host)
    parsed = specs.parse(sample, JobTemplate)
    contents.findings.extend(_template_findings(document, parsed.violations))
    if parsed.value is not None and not any(bad_defaults(document)):
        body = _restore(parsed.body, document.value)
        contents.templates.append(Template(document, body, parsed.value))
    else:
        _is_lost(document, contents)
    return parsed.as_written


def _template_findings(document: Document, violations: Sequence[Violation]) -> Iterator[Finding]:
    """What is wrong with a template, a bad default at the default; a bad declaration is told once."""
    violations = (*bad_defaults(document), *violations)
    bad = {str(violation.path[2]) for violation in violations if violation.path[:2] == ("spec", "params")}
    for violation in violations:
        place = Place(document, violation.path)
        names = params_in(documents.at(document.value, violation.path))
        if violation.rule == specs.FIELDS_KNOWN or not names:
            yield finding(violation, document, violation.path)
        elif bad.isdisjoint(names):
            defaults = {name: Place(document, ("spec", "params", name, "default")) for name in names}
            yield finding_at(violation, through_params(place, defaults))


def finding_at(violation: Violation, place: Place, **more: Any) -> Finding:
    """A violation as a finding at a place; where a parameter was filled in, that line is told too."""
    used = place.used_at
    related = (
        (Location(used.document.path, documents.span(used.document, used.path), "used here"),) if used else ()
    )
    return finding(violation, place.document, place.path, related=related, **more)


def _restore(sample: Any, written: Any) -> Any:
    """The sample's scalars as taken, and `${params...}` where the author wrote it."""
    if isinstance(written, dict) and isinstance(sample, dict):
        return {key: _restore(sample.get(key), value) for key, value in written.items()}
    if isinstance(written, list) and isinstance(sample, list):
        return [_restore(s, w) for s, w in zip(sample, written, strict=True)]
    if isinstance(written, str) and "${params." in written:
        return written
    return sample


def _strange(document: Document) -> Finding:
    """Why a document below jobs/ is none of the kinds that belong there."""
    body = document.value
    kinds = "JobSpec, JobTemplate or StorageSpec"
    if not isinstance(body, dict):
        message = (
            f"this is {specs.typename(body)}; a spec is a mapping that begins with apiVersion: {API_VERSION}"
        )
        return _not_ours(document, (), message)
    for name, wish in (("apiVersion", f"apiVersion: {API_VERSION}"), ("kind", f"kind: {kinds}")):
        if name not in body:
            misspelt = next((key for key in body if key.lower() == name.lower()), None)
            if misspelt is not None:
                return _not_ours(
                    document, (misspelt,), f"{misspelt} is no field of a spec; did you mean {name}?", key=True
                )
            return _not_ours(document, (name,), f"{name} is missing; write {wish}")
    version, kind = body["apiVersion"], body["kind"]
    if version == API_VERSION or kind in KINDS:
        name, shown, wish = ("apiVersion", version, API_VERSION) if kind in KINDS else ("kind", kind, kinds)
        if kind == "Cluster":
            wish = f"{kinds}, and a cluster's profile is overlays/<cluster>/cluster.yaml"
        hint = hints.closest(str(shown), sorted(KINDS)) if name == "kind" else ""
        return _not_ours(document, (name,), f"{name} is {shown}; write {wish}{hint}")
    message = (
        f"{kind} of {version} is no job spec; jobs/ holds only {kinds} of {API_VERSION}: "
        "describe the job in a JobSpec, or move the file"
    )
    return _not_ours(document, ("kind",), message)


def _not_ours(document: Document, path: FieldPath, message: str, *, key: bool = False) -> Finding:
    span = documents.span(document, path, key=key)
    return Finding("file-holds-specs", Severity.ERROR, message, Location(document.path, span))


def without_repeated(contents: Contents) -> tuple[Contents, list[Finding]]:
    """The contents without templates and storage whose name is taken, and the findings that tell so."""
    findings: list[Finding] = []
    templates: dict[str, Template] = {}
    for template in contents.templates:
        name = template.value.metadata.name
        first = templates.setdefault(name, template)
        if first is not template:
            findings.append(_taken(name, first, template, "template", "template-names-unique"))
    storage: dict[str, list[StorageEntry]] = {}
    for entry in contents.storage:
        metadata = entry.value.metadata
        name = f"{metadata.namespace or 'default'}/{metadata.name}"
        others = storage.setdefault(name, [])
        clash = next((other for other in others if _share_a_cluster(other, entry)), None)
        if clash is None:
            others.append(entry)
        else:
            findings.append(_taken(name, clash.source, entry.source, "StorageSpec", "storage-names-unique"))
    kept = [entry for entries in storage.values() for entry in entries]
    return replace(contents, templates=list(templates.values()), storage=kept), findings


def _share_a_cluster(one: StorageEntry, other: StorageEntry) -> bool:
    mine, theirs = one.value.spec.clusters, other.value.spec.clusters
    if isinstance(mine, UnsetType) or isinstance(theirs, UnsetType):
        return True
    return not set(mine).isdisjoint(theirs)


def _taken(name: str, first: Source, second: Source, what: str, rule: str) -> Finding:
    at = Location(second.document.path, documents.span(second.document, ("metadata", "name")))
    other = Location(
        first.document.path, documents.span(first.document, ("metadata", "name")), "the first one"
    )
    message = f"there are two {what}s {name}; rename one of them"
    return Finding(rule, Severity.ERROR, message, at, (other,))
