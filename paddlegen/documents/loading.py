"""The documents of a file: its bytes to text, its text to values and problems."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from paddlegen.documents.composer import TooDeepError, compose
from paddlegen.documents.constructor import Fault, build, escape_faults, expansion_faults, nodes
from paddlegen.documents.positions import Lines, head_span
from paddlegen.documents.problems import (
    MAX_BYTES,
    PARSES,
    START,
    Problem,
    control,
    syntax,
    too_deep,
    too_long,
)
from paddlegen.model.report import FieldPath, Span

if TYPE_CHECKING:
    from yaml.nodes import Node


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document of a file.

    `value` holds dict, list, str, int, float, bool and None only, with string keys, and is a tree:
    what an alias repeats is copied.  `index` counts the documents of the file from 0, empty ones too.
    `text` is all of the file.  `host` is the document and the path a document embedded in a string came from.
    """

    path: str
    index: int
    value: object
    text: str
    host: tuple[Document, FieldPath] | None = None


def loads(
    data: bytes, path: str = "", *, max_bytes: int | None = MAX_BYTES
) -> tuple[list[Document], list[Problem]]:
    """The documents of a file's bytes, and what is wrong with them."""
    if max_bytes is not None and len(data) > max_bytes:
        return [], [too_long(len(data), max_bytes)]
    text, problems = decode(data)
    return ([], problems) if problems else load(text, path, max_bytes=max_bytes)


def decode(data: bytes) -> tuple[str, list[Problem]]:
    """The text of a file in UTF-8, without a byte order mark; of any other file no text and the reason."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "", [Problem(PARSES, "the file is UTF-16; save it as UTF-8", START)]
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        # error.start counts from behind a byte order mark
        body = data.removeprefix(codecs.BOM_UTF8)
        before = body[: error.start].decode("utf-8", "replace")
        offset = len(data) - len(body) + error.start
        message = f"byte 0x{body[error.start]:02x} is not UTF-8 (offset {offset}); save the file as UTF-8"
        lines = Lines(before)
        line, column = lines.place(len(before))
        return "", [Problem(PARSES, message, Span(line, column, line, column + 1))]


def load(
    text: str, path: str = "", *, max_bytes: int | None = MAX_BYTES
) -> tuple[list[Document], list[Problem]]:
    """The documents of a text, in order and without the empty ones, and what is wrong with the text.

    A fault of the syntax ends the file; the documents before it are returned.
    """
    text = text.removeprefix("\ufeff")
    if max_bytes is not None and len(text) * 4 > max_bytes:
        size = len(text.encode("utf-8", "replace"))
        if size > max_bytes:
            return [], [too_long(size, max_bytes)]
    if "\x85" in text:  # the one control character that libyaml lets through
        return [], [control(text)]
    return _documents(text, path)


_SUSPECT_ESCAPE = re.compile(r"\\[0abevfNxuU/]")


def _documents(text: str, path: str) -> tuple[list[Document], list[Problem]]:
    documents: list[Document] = []
    faulty: list[tuple[int, Node, list[Fault]]] = []
    stop: list[Problem] = []
    has_aliases = "&" in text and "*" in text
    has_escapes = "\\" in text and _SUSPECT_ESCAPE.search(text) is not None
    index = 0
    try:
        for root in compose(text):
            faults: list[Fault] = []
            value = None
            if has_aliases:
                faults += expansion_faults(root)
            if not faults:
                value = build(root, faults, 0)
                if has_escapes:
                    faults += escape_faults(root, text)
            if faults:
                faulty.append((index, root, faults))
            if value is not None:
                documents.append(Document(path, index, value, text))
            index += 1
    except TooDeepError as error:
        stop = [too_deep(Lines(text).line_span(error.node.start_mark.index), index)]
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        stop = [syntax(error, text, index)]
    except RecursionError:  # the caller's own stack was nearly full
        stop = [too_deep(START, index)]
    return documents, [*_placed(faulty, text), *stop]


def _placed(faulty: list[tuple[int, Node, list[Fault]]], text: str) -> list[Problem]:
    """The faults of documents with path and span, in the order of the text, each told once."""
    if not faulty:
        return []
    lines = Lines(text)
    problems = []
    for document, root, faults in faulty:
        unique = {(id(fault.node), fault.kind): fault for fault in faults}
        wanted = {id(fault.node) for fault in faults}
        paths = {id(node): path for path, node in nodes(root) if id(node) in wanted}
        problems += [
            Problem(
                fault.kind,
                fault.message,
                head_span(lines, fault.node),
                paths.get(id(fault.node), ()),
                document,
            )
            for fault in unique.values()
        ]
    return sorted(problems, key=lambda problem: problem.span)
