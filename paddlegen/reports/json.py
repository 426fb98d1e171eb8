"""The report for programs: `paddlegen.findings/v1`, documented in docs/findings-v1.md.

Built field by field: renaming a field of the model must not rename one that somebody's script reads.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paddlegen.model.report import ReportFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlegen.model.report import FieldPath, Finding, Location, Report

SCHEMA = "paddlegen.findings/v1"


def render(report: Report, _sources: Callable[[str], list[str] | None]) -> str:
    """One JSON object, indented, with a trailing newline; findings in the report's order."""
    document = {
        "schema": SCHEMA,
        "counts": dict(report.counts),
        "findings": [_finding(finding) for finding in report.findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "location": _location(finding.location),
        "related": [_location(location) for location in finding.related],
        "remediation": finding.remediation or None,
        "cluster": finding.cluster or None,
        "object": finding.object or None,
        "field": _pointer(finding.field),
    }


def _location(location: Location) -> dict[str, Any]:
    span = location.span
    return {
        "path": location.path,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
        "note": location.note or None,
    }


def _pointer(field: FieldPath) -> str:
    """The field as a JSON pointer (RFC 6901); the empty string is the whole object."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in field)


report_format = ReportFormat(name="json", doc=f"for programs: {SCHEMA}", render=render)
