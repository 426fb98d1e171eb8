"""A line of a file with carets under a span, aligned as a terminal will show it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from paddlegen.reports._line import visible

if TYPE_CHECKING:
    from paddlegen.model.report import Span

_TAB = "    "
_WIDEST = 160
"""Terminal columns of source that are shown; a longer line is cut around its span."""
_BEFORE = 60
"""Terminal columns kept in front of the span when a line is cut."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One source line as it is to be printed, and where the carets go."""

    number: int
    text: str
    indent: int
    carets: int
    continues: bool


def snippet(span: Span, lines: list[str]) -> Snippet | None:
    """The first line of the span, or None when the file has no such line any more."""
    if not 1 <= span.line <= len(lines):
        return None
    line = lines[span.line - 1].rstrip("\r\n")
    first = min(max(span.column - 1, 0), len(line))
    # A YAML block ends where the next line begins: that is still one line.
    continues = span.end_line > span.line and (span.end_line, span.end_column) > (span.line + 1, 1)
    after = len(line.rstrip()) if span.end_line > span.line else span.end_column - 1
    after = min(max(after, first), len(line))
    return _cut(span.line, line, first, after, continues=continues)


def _cut(number: int, line: str, first: int, after: int, *, continues: bool) -> Snippet:
    """Keep at most `_WIDEST` columns, so that the beginning of the span is among them."""
    skipped = max(0, first - _WIDEST)  # a line can be as long as a file: look only at what can be shown
    if skipped or len(line) > first + 2 * _WIDEST:
        line = line[skipped : first + 2 * _WIDEST]
        first, after = first - skipped, min(after - skipped, len(line))
    cells = [_TAB if character == "\t" else visible(character) for character in line]
    starts = [0, *accumulate(map(_width, cells))]
    begin, end = 0, len(cells)
    if starts[-1] > _WIDEST:
        begin = next(index for index in range(first + 1) if starts[first] - starts[index] <= _BEFORE)
        limit = starts[begin] + _WIDEST
        end = max(index for index in range(begin, len(cells) + 1) if starts[index] <= limit)
    before, behind = "…" if begin else "", "…" if end < len(cells) else ""
    shown_end = max(min(after, end), first)
    return Snippet(
        number=number,
        text=before + "".join(cells[begin:end]) + behind,
        indent=len(before) + starts[first] - starts[begin],
        carets=max(1, starts[shown_end] - starts[first]),
        continues=continues,
    )


def _width(text: str) -> int:
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    """How many terminal columns a character takes: 2 for 中, 0 for what joins the one before it."""
    if character.isascii() or character == "\u00ad":
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"} or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
