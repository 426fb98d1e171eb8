"""Annotations on a pull request: GitHub Actions workflow commands, the worst findings first.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlegen.model.report import ReportFormat, Severity
from paddlegen.reports._line import closing, counted, one_line, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paddlegen.model.report import Finding, Location, Report, Span

_SHOWN = 10
"""GitHub shows this many annotations of each level per step, and drops the others without a word."""

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, _sources: Callable[[str], list[str] | None]) -> str:
    """One command per annotation GitHub will show, then the other findings as text, then the counts."""
    annotated: list[Finding] = []
    rest: list[Finding] = []
    for severity in Severity:
        found = [finding for finding in report.findings if finding.severity is severity]
        annotated += found[:_SHOWN]
        rest += found[_SHOWN:]
    return "".join(f"{line}\n" for line in _lines(annotated, rest, closing(report)))


def _lines(annotated: list[Finding], rest: list[Finding], last: str) -> Iterator[str]:
    yield from map(_command, annotated)
    if rest:
        yield (
            f"GitHub shows {_SHOWN} annotations of each level per step; "
            f"here {'is' if len(rest) == 1 else 'are'} {counted(len(rest), 'more findings')}:"
        )
        # A line that starts with `::` or holds `##[` is a command to the runner, whoever wrote it.
        yield from (f"- {one_line(finding)}".replace("##[", "## [") for finding in rest)
    yield last.replace("##[", "## [")


def _command(finding: Finding) -> str:
    cluster = f" (cluster {finding.cluster})" if finding.cluster else ""
    properties = {"title": f"{finding.rule}{cluster}"} | _position(finding.location)
    listed = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_escape(_message(finding))}"


def _position(location: Location) -> dict[str, str]:
    if location.path == "-":
        return {}
    return {"file": location.path} | (_range(location.span) if location.span else {})


def _range(span: Span) -> dict[str, str]:
    """The lines of the span, and its columns when it stays on one line.

    The checks API takes columns only when both lines are the same; the runner drops them otherwise:
    https://github.com/actions/runner/pull/2082.  Whether its end column is inclusive is not documented;
    ours is exclusive as in SARIF, and never smaller than the start, which the runner would refuse.
    """
    lines = {"line": str(span.line)}
    if span.end_line > span.line:
        # A span that ends before the first character of a line does not touch that line.
        return lines | {"endLine": str(span.end_line - (span.end_column <= 1))}
    end_column = max(span.column, span.end_column)
    return lines | {"col": str(span.column), "endLine": str(span.line), "endColumn": str(end_column)}


def _message(finding: Finding) -> str:
    """What the annotation says: GitHub shows no second place, so the related ones are told as text."""
    notes = [finding.location.note, *(f"{place(other)}: {other.note}" for other in finding.related)]
    return "\n".join(filter(None, (finding.message, *notes, finding.remediation)))


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


report_format = ReportFormat(name="github", doc="for GitHub Actions: annotations", render=render)
