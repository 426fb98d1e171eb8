"""Documents that no target of ours built: which objects they hold, how well each is known, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from paddlegen import schema
from paddlegen.documents import span
from paddlegen.model.output import Violation, object_ref
from paddlegen.model.policy import View
from paddlegen.model.report import Finding, Location, Severity
from paddlegen.schema.explain import KNOWN, PRESENT
from paddlegen.schema.view import api_versions
from paddlegen.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlegen.documents import Document
    from paddlegen.model.cluster import Cluster
    from paddlegen.model.report import FieldPath

IDENTIFIED: Final = "object-says-what-it-is"
KNOWN_KIND: Final = "kind-has-schema"


@dataclass(frozen=True, slots=True)
class Held:
    """An object inside a document, at a path: `()` unless it is an item of a List."""

    document: Document
    path: FieldPath
    body: dict[str, Any]

    @property
    def name(self) -> tuple[str, str]:
        """Its apiVersion and kind."""
        return str(self.body["apiVersion"]), str(self.body["kind"])


@dataclass(frozen=True, slots=True)
class Checked:
    """What the schemas found in documents, and how many objects were looked at and how.

    `counts` always has the keys objects, validated, policy-only, without schema, no objects, in this order.
    """

    findings: tuple[Finding, ...]
    counts: dict[str, int]


def check_documents(
    documents: Iterable[Document],
    cluster: Cluster,
    *,
    strict: bool = False,
    without_schema: frozenset[tuple[str, str]] = frozenset(),
) -> Checked:
    """What a cluster and the policies say of documents, place by place.

    A kind without schema is a warning, with `strict` an error, and nothing if the project lists it in
    `without_schema` as (apiVersion, kind).  A document that has neither apiVersion nor kind is no object and
    counted as such.  The documents see one another: a PodGroup is compared with the job beside it.
    """
    findings: list[Finding] = []
    counts = {"objects": 0, "validated": 0, "policy-only": 0, "without schema": 0, "no objects": 0}
    every: list[Held] = []
    for document in documents:
        counts["no objects"] += not _is_object(document.value)
        for held in objects(document):
            if isinstance(held, Violation):
                findings.append(_finding(document, (), held, ""))
            else:
                every.append(held)
    view = View([held.body for held in every if _ref(held.body)], cluster)
    profile = schema.profile_of(cluster)
    for held in every:
        counts["objects"] += 1
        coverage = schema.coverage(*held.name)
        counts["without schema" if coverage == "no-schema" else coverage] += 1
        if coverage == "no-schema" and held.name not in without_schema:
            findings.append(_unknown(held, Severity.ERROR if strict else Severity.WARNING))
        for verdict in verdicts(held.body, view, profile):
            violation = Violation(
                verdict.path, verdict.message, verdict.rule, verdict.severity, verdict.remediation
            )
            findings.append(_finding(held.document, held.path, violation, _ref(held.body)))
    return Checked(tuple(sorted(findings, key=lambda finding: finding.sort_key)), counts)


def objects(document: Document) -> Iterator[Held | Violation]:
    """The objects of a document, those of a List one by one; a violation for one that is half named."""
    if _is_object(document.value):
        yield from _objects(document, (), document.value)


def _objects(document: Document, path: FieldPath, body: Any) -> Iterator[Held | Violation]:
    missing = [key for key in ("apiVersion", "kind") if not isinstance(body.get(key), str) or not body[key]]
    if missing:
        yield Violation(path, f"the object has no {' and no '.join(missing)}; it needs both", IDENTIFIED)
    elif body["kind"].endswith("List") and isinstance(body.get("items"), list):
        for index, item in enumerate(body["items"]):
            inner = (*path, "items", index)
            if isinstance(item, dict):
                yield from _objects(document, inner, item)
            else:
                yield Violation(inner, "the item is no object; it needs an apiVersion and a kind", IDENTIFIED)
    else:
        yield Held(document, path, body)


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and ("apiVersion" in value or "kind" in value)


def _unknown(held: Held, severity: Severity) -> Finding:
    api_version, kind = held.name
    message = f"no schema lists the fields of {api_version} {kind}; nothing inside it was checked"
    remediation = f"List {api_version} {kind} as a kind without schema if that is all right."
    if others := api_versions(kind):
        message += f"; {kind} is known as {' and '.join(others)}"
    violation = Violation(("kind",), message, KNOWN_KIND, severity, remediation)
    return _finding(held.document, held.path, violation, _ref(held.body))


def _finding(document: Document, path: FieldPath, violation: Violation, ref: str) -> Finding:
    where = (*path, *violation.path)
    return Finding(
        rule=violation.rule,
        severity=violation.severity,
        message=violation.message,
        location=Location(document.path, span(document, where, key=violation.rule in (KNOWN, PRESENT))),
        remediation=violation.remediation,
        object=ref,
        field=where,
    )


def _ref(body: dict[str, Any]) -> str:
    try:
        return str(object_ref(body))
    except ValueError:
        return str(body.get("kind"))
