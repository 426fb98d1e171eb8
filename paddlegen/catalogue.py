"""Everything people wrote, read and checked by itself: specs, templates, storage, cluster profiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UnsetType

from paddlegen import documents, hints, specs
from paddlegen.documents import UNAMBIGUOUS, Document
from paddlegen.model.cluster import Cluster, ClusterProfile
from paddlegen.model.job import API_VERSION, JobSpec, JobTemplate, StorageSpec
from paddlegen.model.report import Finding, Location, Severity
from paddlegen.resolve import Source, Template, fill_in
from paddlegen.resources import volumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.output import Violation
    from paddlegen.model.report import FieldPath

T = TypeVar("T")
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


def read(path: str, data: bytes) -> Contents:
    """The specs of a file below `jobs/`."""
    contents = Contents()
    loaded, problems = documents.loads(data, path)
    ambiguous = [problem for problem in problems if problem.kind == UNAMBIGUOUS]
    contents.findings.extend(_problem(path, problem) for problem in problems if problem.kind != UNAMBIGUOUS)
    if contents.findings:
        return contents
    if not loaded:
        message = "the file holds no job spec; write one (paddlegen new), or remove the file"
        contents.findings.append(Finding("file-holds-specs", Severity.ERROR, message, Location(path)))
    for document in loaded:
        taken = _read_document(document, contents)
        contents.findings.extend(
            _problem(path, problem)
            for problem in ambiguous
            if problem.document == document.index and problem.path not in taken
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
        message = f"a profile is one document; this file has {len(loaded)}"
        return None, [Finding("cluster-has-profile", Severity.ERROR, message, Location(path))]
    document = loaded[0]
    parsed = specs.parse(document, ClusterProfile)
    findings = [_problem(path, problem) for problem in problems if problem.path not in parsed.as_written]
    findings += [finding(violation, document, violation.path) for violation in parsed.violations]
    profile = parsed.value
    if profile is None:
        return None, findings
    if not isinstance(profile.metadata.name, UnsetType) and profile.metadata.name != name:
        message = f"metadata.name is {profile.metadata.name}, and the folder is {name}; the folder names the cluster"
        span = documents.span(document, ("metadata", "name"))
        findings.append(Finding("cluster-has-profile", Severity.ERROR, message, Location(path, span)))
    return ClusterEntry(Cluster(name=name, body=profile.spec), document), findings


def finding(violation: Violation, document: Document, path: FieldPath, **more: Any) -> Finding:
    """A violation as a finding at a path of the document it was written in."""
    key = violation.rule == specs.FIELDS_KNOWN
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
        return frozenset()
    if kind == "JobTemplate":
        return _read_template(document, contents)
    parsed = specs.parse(document, KINDS[kind])
    contents.findings.extend(finding(violation, document, violation.path) for violation in parsed.violations)
    source = Source(document, parsed.body)
    if isinstance(parsed.value, JobSpec):
        contents.jobs.append(JobEntry(parsed.value, source))
    elif isinstance(parsed.value, StorageSpec):
        contents.storage.append(StorageEntry(parsed.value, source))
        for violation in volumes.violations(parsed.value.spec, ("spec",)):
            contents.findings.append(finding(violation, document, violation.path))
    return parsed.as_written


def _read_template(document: Document, contents: Contents) -> frozenset[FieldPath]:
    """A template is checked with its parameters at their defaults, or at a sample of their type."""
    assert isinstance(document.value, dict)  # noqa: S101  # the caller looked
    sample = Document(document.path, document.index, fill_in(document.value), document.text, document.host)
    parsed = specs.parse(sample, JobTemplate)
    contents.findings.extend(finding(violation, document, violation.path) for violation in parsed.violations)
    if parsed.value is not None:
        body = _restore(parsed.body, document.value)
        contents.templates.append(Template(document, body, parsed.value))
    return parsed.as_written


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
    body = document.value
    rule = "file-holds-specs"
    if not isinstance(body, dict):
        message = f"this is no mapping; a spec begins with apiVersion: {API_VERSION}"
        return Finding(rule, Severity.ERROR, message, Location(document.path, documents.span(document, ())))
    api_version, kind = body.get("apiVersion"), body.get("kind")
    if api_version != API_VERSION:
        field, shown, wish = "apiVersion", api_version, API_VERSION
    else:
        field, shown, wish = "kind", kind, "JobSpec, JobTemplate or StorageSpec"
    if isinstance(kind, str) and kind not in KINDS and field == "kind":
        wish += hints.did_you_mean(kind, sorted(KINDS))
    message = (
        f"{field} is {shown!r}; files in jobs/ hold {wish}"
        if field in body
        else f"{field} is missing; write {wish}"
    )
    span = documents.span(document, (field,))
    return Finding(rule, Severity.ERROR, message, Location(document.path, span))


def duplicates(contents: Contents) -> Iterator[Finding]:
    """Templates and storage that share a name, told at the second one."""
    templates: dict[str, Source] = {}
    for template in contents.templates:
        yield from _taken(
            templates, template.value.metadata.name, template, "template", "template-names-unique"
        )
    storage: dict[str, Source] = {}
    for entry in contents.storage:
        metadata = entry.value.metadata
        name = f"{metadata.namespace or 'default'}/{metadata.name}"
        yield from _taken(storage, name, entry.source, "StorageSpec", "storage-names-unique")


def _taken(seen: dict[str, Source], name: str, source: Source, what: str, rule: str) -> Iterator[Finding]:
    first = seen.setdefault(name, source)
    if first is not source:
        at = Location(source.document.path, documents.span(source.document, ("metadata", "name")))
        other = Location(
            first.document.path, documents.span(first.document, ("metadata", "name")), "the first one"
        )
        yield Finding(
            rule, Severity.ERROR, f"there are two of the name {name}; a {what} needs its own", at, (other,)
        )
