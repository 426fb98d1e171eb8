"""The ways to print a report: one module each, imported only when asked for."""

from __future__ import annotations

from paddlegen import registry
from paddlegen.model.report import ReportFormat


def formats() -> list[str]:
    """Return the sorted names of the formats, without importing them."""
    return registry.names(__name__)


def load(name: str) -> ReportFormat:
    """Return one format; `name` is one of `formats()`."""
    return registry.load(__name__, name, "report_format", ReportFormat)
