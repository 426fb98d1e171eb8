"""Where the nodes of a YAML text are, in lines and columns as an editor counts them.

Works on composed nodes and knows nothing of values; asked only when somebody wants to point at a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from paddlegen.documents.scalars import key_text
from paddlegen.model.report import Span

if TYPE_CHECKING:
    from paddlegen.model.report import FieldPath

_LINE = re.compile(r"\r\n|\n|\r")
_YAML_LINE = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_HEADER_COMMENT = re.compile(r"[^\n\r]*")


class Lines:
    """The lines of a text: offsets in code points to spans and back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _LINE.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column."""
        return min(self._starts[min(line, len(self._starts)) - 1] + column - 1, len(self.text))

    def span(self, start: int, end: int) -> Span:
        """The span from one offset to another."""
        line, column = self.place(start)
        end_line, end_column = self.place(max(start, end))
        return Span(line, column, end_line, end_column)

    def line(self, number: int) -> str:
        """A line without its line break."""
        start = self._starts[number - 1]
        match = _LINE.search(self.text, start)
        return self.text[start : match.start() if match else len(self.text)]

    def line_span(self, offset: int) -> Span:
        """From an offset to the end of its line, at least one column."""
        line, column = self.place(offset)
        return Span(line, column, line, max(len(self.line(line).rstrip()) + 1, column))


@dataclass(frozen=True, slots=True)
class Found:
    """What a path leads to: a node, its key (None at the root and in a list), and whether all was there."""

    node: Node
    key: Node | None
    complete: bool


def find(root: Node, path: FieldPath) -> Found:
    """The deepest node on a path; of a key that is there twice the last, as kubectl takes it."""
    node, key = root, None
    for part in path:
        step = _step(node, part)
        if step is None:
            return Found(node, key, complete=False)
        key, node = step
    return Found(node, key, complete=True)


def _step(node: Node, part: str | int) -> tuple[Node | None, Node] | None:
    if isinstance(node, MappingNode):
        return _member(node, part) if isinstance(part, str) else None
    if isinstance(node, SequenceNode) and isinstance(part, int) and 0 <= part < len(node.value):
        return None, node.value[part]
    return None


def _member(node: MappingNode, name: str) -> tuple[Node, Node] | None:
    """A key and its value, looked for backwards: what comes later wins, merges included."""
    for key, value in reversed(node.value):
        if is_merge(key):
            merged = reversed(value.value) if isinstance(value, SequenceNode) else (value,)
            found = [hit for part in merged if isinstance(part, MappingNode) and (hit := _member(part, name))]
            if found:
                return found[-1]
        elif isinstance(key, ScalarNode) and key_name(key) == name:
            return key, value
    return None


def is_merge(key: Node) -> bool:
    """Whether a key is the plain `<<` that merges another mapping."""
    return isinstance(key, ScalarNode) and key.value == "<<" and not key.style and key.tag is None


def key_name(key: ScalarNode) -> str:
    """The object key kubectl makes of a key node."""
    text: str = key.value
    return text if key.style or key.tag is not None else key_text(text)


def node_span(lines: Lines, node: Node) -> Span:
    """All of a node, without the comments and blank lines behind it."""
    return lines.span(node.start_mark.index, _end(lines.text, node))


def head_span(lines: Lines, node: Node) -> Span:
    """Where a node begins: the first key of a mapping, the first line of anything longer."""
    if isinstance(node, MappingNode) and node.value and not node.flow_style:
        return node_span(lines, node.value[0][0])
    whole = node_span(lines, node)
    return whole if whole.line == whole.end_line else lines.line_span(node.start_mark.index)


def _end(text: str, node: Node) -> int:
    """The offset behind the last character of a node; libyaml ends a block where the next token begins."""
    end: int = node.end_mark.index
    start: int = node.start_mark.index
    while isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        if isinstance(last, tuple):
            key, last = last
            if _is_empty(last):
                last = key
        if not start <= last.start_mark.index <= end or last is node:  # an alias: its node is elsewhere
            return start + len(_without_comments(text[start:end]))
        node, start, end = last, last.start_mark.index, last.end_mark.index
    return start + len(text[start:end].rstrip())


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index


def _without_comments(text: str) -> str:
    text = text.rstrip()
    while True:
        rest, line_break, last = text.rpartition("\n")
        if not line_break or not last.lstrip().startswith("#"):
            return text
        text = rest.rstrip()


def found_span(lines: Lines, found: Found, *, key: bool) -> Span:
    """The span of what a path led to; of a value that is missing or empty, its key."""
    wants_key = key or not found.complete or _is_empty(found.node)
    if not wants_key:
        return node_span(lines, found.node)
    if found.key is not None:
        return node_span(lines, found.key)
    return head_span(lines, found.node)


def block_lines(text: str, node: ScalarNode) -> list[tuple[int, int, int]]:
    """The lines of a literal or folded scalar: where each begins in value and in text, and its length."""
    body = _HEADER_COMMENT.match(text, node.start_mark.index)
    start = body.end() if body else node.start_mark.index
    pieces: list[tuple[int, int, int]] = []
    value: str = node.value
    at = 0
    indent = _indent(text[start : node.end_mark.index], value)
    for line_start, line in _yaml_lines(text, start, node.end_mark.index):
        content = line[indent:]
        if not content.strip():
            continue
        found = value.find(content, at)
        if found < 0:
            break
        pieces.append((found, line_start + indent, len(content)))
        at = found + len(content)
    return pieces


def _indent(body: str, value: str) -> int:
    """How far the lines of a block scalar are indented, from its first line that has text."""
    first = next((line for _, line in _yaml_lines(body, 0, len(body)) if line.strip(" ")), "")
    kept = next((line for line in _YAML_LINE.split(value) if line.strip(" ")), "")
    return max(0, len(first) - len(first.lstrip(" ")) - (len(kept) - len(kept.lstrip(" "))))


def _yaml_lines(text: str, start: int, end: int) -> list[tuple[int, str]]:
    lines = []
    for match in _YAML_LINE.finditer(text, start, end):
        lines.append((start, text[start : match.start()]))
        start = match.end()
    lines.append((start, text[start:end]))
    return lines
