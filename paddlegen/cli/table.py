"""Plain tables: columns under headings, wide as a terminal shows them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_GAP = "  "


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int] = ()) -> str:
    """The rows as aligned lines; `numbers` are the columns that align at the right."""
    lines = [heading, *rows] if any(heading) else list(rows)
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "".join(f"{_line(cells, widths, numbers)}\n" for cells in lines)


def width(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide character, none for a combining one."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _line(cells: Sequence[str], widths: Sequence[int], numbers: Collection[int]) -> str:
    padded = []
    for column, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (wide - width(cell))
        padded.append(space + cell if column in numbers else cell + space)
    return _GAP.join(padded).rstrip()
