"""One line per finding, in the form editors and grep understand; nothing when there is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlegen.model.report import ReportFormat
from paddlegen.reports._line import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlegen.model.report import Report


def render(report: Report, _sources: Callable[[str], list[str] | None]) -> str:
    """`path:line:col: severity: message [rule]` for each finding."""
    return "".join(f"{one_line(finding)}\n" for finding in report.findings)


report_format = ReportFormat(name="concise", doc="one line per finding", render=render)
