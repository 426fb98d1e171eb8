"""What paddlegen has to say: places, findings and the report that every format reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import builtins  # `object` is a field of Finding
    from collections.abc import Callable, Mapping

FieldPath = tuple[str | int, ...]
"""Where a value sits in a document: `("spec", "containers", 0, "image")`."""


class Severity(Enum):
    """How bad a finding is, in the words SARIF and GitHub share."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst, so that sorting by rank puts errors first."""
        return _RANK[self]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text, lines and columns counted from 1 in code points, `end_column` exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A span in a file.

    `path` is relative to the repository with `/` separators; `-` is standard input.  A span of
    None means the file as a whole (it is missing, or has no text).
    """

    path: str
    span: Span | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, at the line a person can edit first.

    `rule` is the kebab-case name of the good state (`manifest-current`, `gang-size-matches-replicas`).
    `message` names the thing, the value and the wish.  `related` holds other lines that take part,
    such as the rendered line.  `object` is `<kind> <namespace>/<name>` of the manifest, if any.
    """

    rule: str
    severity: Severity
    message: str
    location: Location
    related: tuple[Location, ...] = ()
    remediation: str = ""
    cluster: str = ""
    object: str = ""
    field: FieldPath = ()

    @property
    def sort_key(self) -> tuple[builtins.object, ...]:
        """A total order: file, line, column, rule, then everything that can still differ."""
        span = self.location.span or Span(0, 0, 0, 0)
        path = tuple(str(part) for part in self.field)
        return (self.location.path, span, self.rule, self.cluster, self.object, path, self.message)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a run found: the only input of a report format.

    `findings` are sorted by `Finding.sort_key`.  `counts` are what was looked at, in the order
    they are to be shown (`{"jobs": 6, "clusters": 3, "objects": 41}`).
    """

    findings: tuple[Finding, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def count(self, severity: Severity) -> int:
        """How many findings have exactly this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def fails_at(self, threshold: Severity | None) -> bool:
        """True if a finding is at least as bad as the threshold; None means nothing fails."""
        if threshold is None:
            return False
        return any(finding.severity.rank <= threshold.rank for finding in self.findings)


def report(findings: list[Finding], counts: Mapping[str, int]) -> Report:
    """A report with its findings in order and told once."""
    unique = {finding.sort_key: finding for finding in findings}
    return Report(tuple(unique[key] for key in sorted(unique)), counts)


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A way to print a report.

    `render(report, sources)` returns the text.  `sources(path)` gives the lines of a file of the
    repository, or None where it cannot be read; only formats that quote lines call it.
    """

    name: str
    doc: str
    render: Callable[[Report, Callable[[str], list[str] | None]], str]
