"""A field of a document by its path: its place in the file, its text, and the YAML inside it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from yaml.nodes import ScalarNode

from paddlegen.documents.composer import source
from paddlegen.documents.constructor import nodes
from paddlegen.documents.loading import Document, load
from paddlegen.documents.positions import Lines, block_lines, find, found_span
from paddlegen.documents.problems import MAX_DEPTH, START, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.report import FieldPath, Span


def span(document: Document, path: FieldPath, *, key: bool = False) -> Span:
    """Where the field at a path is: its value, or with `key` the key it stands under.

    Of a field that is not there, the key of the deepest one that is; of a value left empty, its key;
    of an item of a list, its head.  The text is composed again for this, once for a handful of files.
    """
    composed = source(document.text)
    root = composed.roots.get(document.index)
    inner = START if root is None else found_span(composed.lines, find(root, path), key=key)
    return _outward(document.host, inner, composed.lines)


def scalar_text(document: Document, path: FieldPath) -> str | None:
    """The plain scalar at a path as written (`0777`, `on`), None where it is quoted or missing."""
    root = source(document.text).roots.get(document.index)
    found = find(root, path) if root is not None else None
    if found is None or not found.complete or not isinstance(found.node, ScalarNode) or found.node.style:
        return None
    return str(found.node.value)


def plain_scalars(document: Document) -> dict[FieldPath, str]:
    """`scalar_text` of every path at once, but for what only an alias or a merge brings there."""
    root = source(document.text).roots.get(document.index)
    return {
        path: str(node.value)
        for path, node in (nodes(root, keys=False) if root is not None else ())
        if isinstance(node, ScalarNode) and not node.style
    }


def embedded(document: Document, path: FieldPath) -> Document | None:
    """The first document inside the string at a path (`patch: |-`), with spans in the file around it."""
    documents, _ = embedded_all(document, path)
    return documents[0] if documents else None


def embedded_all(document: Document, path: FieldPath) -> tuple[list[Document], list[Problem]]:
    """All documents inside the string at a path and what is wrong with them.

    Lines of literal and folded strings are found exactly; in a quoted or plain string every span is the
    whole string.  Problems carry the path inside the embedded document.
    """
    text = at(document.value, path)
    if not isinstance(text, str):
        return [], []
    host = (document, path)
    documents, problems = load(text, document.path, max_bytes=None)
    lines = Lines(text.removeprefix("\ufeff"))
    return (
        [replace(inner, host=host) for inner in documents],
        [replace(problem, span=_outward(host, problem.span, lines)) for problem in problems],
    )


def at(value: object, path: FieldPath) -> object:
    """The value at a path, None where it is missing."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value


def walk(value: object) -> Iterator[tuple[FieldPath, object]]:
    """Every value with its path, outside in and in document order, no deeper than a loaded document goes."""
    stack: list[tuple[FieldPath, object]] = [((), value)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if len(path) > MAX_DEPTH:
            continue
        if isinstance(value, dict):
            stack.extend([((*path, key), item) for key, item in value.items()][::-1])
        elif isinstance(value, list):
            stack.extend([((*path, index), item) for index, item in enumerate(value)][::-1])


def _outward(host: tuple[Document, FieldPath] | None, span: Span, lines: Lines) -> Span:
    """A span of an embedded document in the lines of the file around it."""
    if host is None:
        return span
    outer, path = host
    composed = source(outer.text)
    root = composed.roots.get(outer.index)
    if root is None:
        return span
    found = find(root, path)
    mapped = found_span(composed.lines, found, key=False)
    if isinstance(found.node, ScalarNode) and found.node.style in {"|", ">"}:
        pieces = block_lines(outer.text, found.node)
        if pieces:
            start = _moved(pieces, lines.offset(span.line, span.column))
            end = _moved(pieces, lines.offset(span.end_line, span.end_column))
            mapped = composed.lines.span(start, end)
    return _outward(outer.host, mapped, composed.lines)


def _moved(pieces: list[tuple[int, int, int]], offset: int) -> int:
    """An offset in a block scalar's value as an offset in the text."""
    begin, start, length = pieces[max(0, bisect_right(pieces, offset, key=_begin) - 1)]
    return start + max(0, min(offset - begin, length))


def _begin(piece: tuple[int, int, int]) -> int:
    return piece[0]
