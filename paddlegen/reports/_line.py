"""One line of text for a finding, a count or a whole report, as several formats need it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from paddlegen.model.report import Severity

if TYPE_CHECKING:
    from paddlegen.model.report import Finding, Location, Report

_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def one_line(finding: Finding) -> str:
    """`path:line:col: severity: message (cluster c) [rule]`, the form editors jump to."""
    cluster = f" (cluster {flat(finding.cluster)})" if finding.cluster else ""
    where = place(finding.location)
    return f"{where}: {finding.severity.value}: {flat(finding.message)}{cluster} [{flat(finding.rule)}]"


def place(location: Location) -> str:
    """`path:line:col`, or the path alone when the whole file is meant."""
    path = flat(location.path)
    return f"{path}:{location.span.line}:{location.span.column}" if location.span else path


def closing(report: Report) -> str:
    """What was looked at and what came of it: `6 jobs, 41 objects: 2 errors, 1 warning`."""
    looked_at = ", ".join(counted(number, flat(noun)) for noun, number in report.counts.items())
    found = [
        counted(number, _PLURAL[severity]) for severity in Severity if (number := report.count(severity))
    ]
    result = ", ".join(found) or "no findings"
    return f"{looked_at}: {result}" if looked_at else result


_PLURAL = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFO: "infos"}


def counted(number: int, plural: str) -> str:
    """`1 job`, `2 jobs`, `1 policy`, `0 policies`."""
    if number != 1:
        return f"{number} {plural}"
    singular = f"{plural.removesuffix('ies')}y" if plural.endswith("ies") else plural.removesuffix("s")
    return f"{number} {singular}"


def flat(text: str) -> str:
    """The text on one line, with every character that could move a terminal's cursor made visible."""
    return "".join(map(visible, " ".join(text.splitlines())))


def visible(character: str) -> str:
    """The character, or the picture of it when it is a control character.

    File contents and names reach the terminal through us: an escape sequence in a job spec must not
    act on it, and a bidirectional override must not reorder what a reviewer reads.
    """
    code = ord(character)
    if code < ord(" "):
        return chr(0x2400 + code)
    if character == "\x7f":
        return "\u2421"
    if character in _BIDIRECTIONAL or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return "\ufffd"
    return character
