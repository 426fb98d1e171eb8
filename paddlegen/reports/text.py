"""The report for a person at a terminal: each finding with the lines it is about."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from paddlegen.model.report import ReportFormat, Severity
from paddlegen.reports._line import closing, flat, place
from paddlegen.reports._snippet import snippet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paddlegen.model.report import Finding, Location, Report
    from paddlegen.reports._snippet import Snippet

    Paint = Callable[[str, str], str]
    Sources = Callable[[str], list[str] | None]


def _plain(text: str, _role: str) -> str:
    return text


def _ansi(text: str, role: str) -> str:
    return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if text else text


_CODES = {
    Severity.ERROR.value: "1;31",
    Severity.WARNING.value: "1;33",
    Severity.INFO.value: "1;36",
    "gutter": "1;34",
    "strong": "1",
    "help": "1;32",
}


def _render(report: Report, sources: Sources, *, paint: Paint) -> str:
    blocks = ["\n".join(_finding(finding, sources, paint)) for finding in report.findings]
    worst = report.findings and min((f.severity for f in report.findings), key=lambda s: s.rank).value
    last = paint(closing(report), worst or "strong")
    return "\n\n".join([*blocks, last]) + "\n"


def _finding(finding: Finding, sources: Sources, paint: Paint) -> Iterator[str]:
    severity = finding.severity.value
    yield paint(f"{severity}[{flat(finding.rule)}]", severity) + paint(f": {flat(finding.message)}", "strong")
    places = [(location, _snippet(location, sources)) for location in (finding.location, *finding.related)]
    margin = max(len(str(quote.number)) if quote else 1 for _, quote in places)
    for index, (location, quote) in enumerate(places):
        first = index == 0
        of = _belongs_to(finding) if first else ""
        yield f"{' ' * margin}{paint('-->' if first else ':::', 'gutter')} {place(location)}{of}"
        yield from _quote(flat(location.note), quote, margin, severity if first else "gutter", paint)
    if finding.remediation:
        yield f"{paint('help', 'help')}: {flat(finding.remediation)}"


def _snippet(location: Location, sources: Sources) -> Snippet | None:
    lines = sources(location.path) if location.span else None
    return snippet(location.span, lines) if location.span and lines is not None else None


def _belongs_to(finding: Finding) -> str:
    cluster = f"cluster {flat(finding.cluster)}" if finding.cluster else ""
    owners = ", ".join(filter(None, (cluster, flat(finding.object))))
    return f" ({owners})" if owners else ""


def _quote(note: str, quote: Snippet | None, margin: int, role: str, paint: Paint) -> Iterator[str]:
    """The quoted line between its gutter, with carets and the note; the note alone without a line."""
    blank = " " * margin + paint(" |", "gutter")
    if quote is None:
        if note:
            yield f"{' ' * margin}{paint(' =', 'gutter')} note: {note}"
        return
    yield blank
    yield f"{paint(f'{quote.number:>{margin}} |', 'gutter')} {quote.text}".rstrip()
    carets = "^" * quote.carets
    yield f"{blank} {' ' * quote.indent}{paint(f'{carets} {note}'.rstrip(), role)}"
    if quote.continues:
        yield paint(f"{'…':>{margin}} |", "gutter")
    yield blank


report_format = ReportFormat(
    name="text",
    doc="for people: each finding with its lines",
    render=partial(_render, paint=_plain),
    render_coloured=partial(_render, paint=_ansi),
)
