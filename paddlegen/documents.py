"""YAML text as values: kubectl's reading of every scalar, a place for every field, and faults as data.

Nothing here raises on what a file holds, and nothing reads or writes a file.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from paddlegen.model.report import FieldPath, Span
from paddlegen.positions import (
    Lines,
    block_lines,
    find,
    found_span,
    head_span,
    is_merge,
    key_name,
)
from paddlegen.scalars import NUMERIC, WORDS, doubt, number

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 1024 * 1024
"""How long a file may be unless the caller says otherwise."""

MAX_DEPTH: Final = 100
"""How deep lists and mappings may nest; the C parser recurses and would end the process far deeper."""

MAX_EXPANSION: Final = 100_000
"""How many nodes aliases may add to a file (long texts count as several)."""

PARSES: Final = "yaml-parses"
UNIQUE: Final = "yaml-keys-unique"
UNAMBIGUOUS: Final = "yaml-scalars-unambiguous"
LIMITS: Final = "yaml-within-limits"
TAGS: Final = "yaml-tags-standard"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the text itself; `kind` is the rule it breaks."""

    kind: str
    message: str
    span: Span
    path: FieldPath = ()
    document: int = 0


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
        return [], [_too_long(len(data), max_bytes)]
    text, problems = decode(data, path)
    return ([], problems) if problems else load(text, path, max_bytes=max_bytes)


def decode(data: bytes, path: str = "") -> tuple[str, list[Problem]]:  # noqa: ARG001
    """The text of a file in UTF-8, without a byte order mark; of any other file no text and the reason."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "", [Problem(PARSES, "the file is UTF-16; save it as UTF-8", _START)]
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        # error.start counts from behind a byte order mark
        body = data.removeprefix(codecs.BOM_UTF8)
        before = body[: error.start].decode("utf-8", "replace")
        message = f"byte 0x{body[error.start]:02x} is not UTF-8 (offset {len(data) - len(body) + error.start}); save the file as UTF-8"
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
            return [], [_too_long(size, max_bytes)]
    if "\x85" in text:  # the one control character that libyaml lets through
        return [], [_control(text)]
    return _compose_all(text, path)


def span(document: Document, path: FieldPath, *, key: bool = False) -> Span:
    """Where the field at a path is: its value, or with `key` the key it stands under.

    Of a field that is not there, the key of the deepest one that is; of a value left empty, its key;
    of an item of a list, its head.  The text is composed again for this, once for a handful of files.
    """
    source = _source(document.text)
    root = source.roots.get(document.index)
    if root is None:
        inner = Span(1, 1, 1, 1)
    else:
        inner = found_span(source.lines, find(root, path), key=key)
    return _outward(document.host, inner, source.lines)


def scalar_text(document: Document, path: FieldPath) -> str | None:
    """The plain scalar at a path as it is written (`0777`, `on`), None where it is quoted, missing or no scalar."""
    root = _source(document.text).roots.get(document.index)
    found = find(root, path) if root is not None else None
    if found is None or not found.complete or not isinstance(found.node, ScalarNode) or found.node.style:
        return None
    return str(found.node.value)


def plain_scalars(document: Document) -> dict[FieldPath, str]:
    """`scalar_text` of every path at once, but for what only an alias or a merge brings there."""
    root = _source(document.text).roots.get(document.index)
    return {
        path: str(node.value)
        for path, node in (_nodes(root, keys=False) if root is not None else ())
        if isinstance(node, ScalarNode) and not node.style
    }


def embedded(document: Document, path: FieldPath) -> Document | None:
    """The YAML inside the string at a path (`patch: |-`), its spans in the file around it; None where there is none."""
    documents, _ = embedded_all(document, path)
    return documents[0] if documents else None


def embedded_all(document: Document, path: FieldPath) -> tuple[list[Document], list[Problem]]:
    """All documents inside the string at a path and what is wrong with them.

    Lines of literal and folded strings are found exactly; in a quoted or plain string every span is the whole string.
    Problems carry the path inside the embedded document.
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
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value)
        ):
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


# Composing: text to nodes, with libyaml where PyYAML has it.


class _TooDeep(Exception):
    """Lists and mappings nest deeper than MAX_DEPTH at this node."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node


class _Hooks:
    """What the composer asks its resolver for each node: no tag (we read scalars ourselves, which is what makes it
    fast), and a count of the depth, because the C composer recurses on the C stack and ends the process at about
    40,000 levels, or at a few hundred in a thread with a small stack.
    """

    depth = 0

    def resolve(self, kind: object, value: object, implicit: object) -> None:
        """No tag but those that are written."""

    def descend_resolver(self, parent: Node | None, index: object) -> None:  # noqa: ARG002
        """One level down."""
        self.depth = depth = self.depth + 1
        if depth > MAX_DEPTH and parent is not None:
            raise _TooDeep(parent)

    def ascend_resolver(self) -> None:
        """One level up."""
        self.depth -= 1


if yaml.__with_libyaml__:
    from yaml._yaml import CParser

    class _Composer(_Hooks, CParser):
        """Composes with libyaml."""

else:  # pragma: no cover  # tests/documents runs it in a process of its own

    class _Composer(_Hooks, yaml.SafeLoader):  # type: ignore[no-redef]
        """Composes in Python: the same nodes, slower."""


@dataclass(frozen=True, slots=True)
class _Source:
    """The nodes of a text by document number."""

    lines: Lines
    roots: dict[int, Node]


@lru_cache(maxsize=8)
def _source(text: str) -> _Source:
    roots: dict[int, Node] = {}
    try:
        composer = _Composer(text)
        while composer.check_node():
            roots[len(roots)] = composer.get_node()
    except (yaml.YAMLError, UnicodeEncodeError, _TooDeep, RecursionError):
        pass  # load has said so; what came before it has its place
    return _Source(Lines(text), roots)


def _outward(host: tuple[Document, FieldPath] | None, span: Span, lines: Lines) -> Span:
    """A span of an embedded document in the lines of the file around it."""
    if host is None:
        return span
    outer, path = host
    source = _source(outer.text)
    root = source.roots.get(outer.index)
    if root is None:
        return span
    found = find(root, path)
    mapped = found_span(source.lines, found, key=False)
    if isinstance(found.node, ScalarNode) and found.node.style in {"|", ">"}:
        pieces = block_lines(outer.text, found.node)
        if pieces:
            start = _moved(pieces, lines.offset(span.line, span.column))
            end = _moved(pieces, lines.offset(span.end_line, span.end_column))
            mapped = source.lines.span(start, end)
    return _outward(outer.host, mapped, source.lines)


def _moved(pieces: list[tuple[int, int, int]], offset: int) -> int:
    """An offset in a block scalar's value as an offset in the text."""
    begin, start, length = pieces[max(0, bisect_right(pieces, offset, key=_begin) - 1)]
    return start + max(0, min(offset - begin, length))


def _begin(piece: tuple[int, int, int]) -> int:
    return piece[0]


# Constructing: nodes to values.


@dataclass(frozen=True, slots=True)
class _Fault:
    """A problem that still needs its place."""

    kind: str
    message: str
    node: Node


def _compose_all(text: str, path: str) -> tuple[list[Document], list[Problem]]:
    documents: list[Document] = []
    problems: list[Problem] = []
    has_aliases = "&" in text and "*" in text
    has_escapes = "\\" in text and _SUSPECT_ESCAPE.search(text) is not None
    index = 0
    try:
        composer = _Composer(text)
        while composer.check_node():
            root = composer.get_node()
            faults: list[_Fault] = []
            if has_escapes:
                faults += _escape_faults(root, text)
            if has_aliases and (fault := _expansion_fault(root)):
                problems += _placed(root, [fault], text, index)
                return documents, problems
            value = _build(root, faults)
            if faults:
                problems += _placed(root, faults, text, index)
            if value is not None:
                documents.append(Document(path, index, value, text))
            index += 1
    except _TooDeep as error:
        problems.append(_too_deep(Lines(text).line_span(error.node.start_mark.index), index))
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        problems.append(_syntax(error, text, index))
    except RecursionError:  # the caller's own stack was nearly full
        problems.append(_too_deep(_START, index))
    return documents, problems


def _build(node: Node, faults: list[_Fault]) -> object:
    """The value of a node."""
    kind = node.__class__
    if kind is ScalarNode:
        return _scalar(node, faults)
    if kind is SequenceNode:
        if node.tag is not None and node.tag != _SEQ:
            faults.append(_foreign_tag(node))
        return [_build(item, faults) for item in node.value]
    if node.tag is not None and node.tag != _MAP:
        faults.append(_foreign_tag(node))
    return _mapping(node, faults)


def _mapping(node: Node, faults: list[_Fault]) -> dict[str, object]:
    mapping: dict[str, object] = {}
    inherited: set[str] = set()
    for key, value in node.value:
        name = key.value
        if key.__class__ is not ScalarNode:
            faults.append(_Fault(PARSES, _COMPLEX_KEY, key))
            continue
        if (not key.style and (name in _SPECIAL_KEYS or name[0] in NUMERIC)) or key.tag is not None:
            if is_merge(key):
                inherited |= _merge(key, value, mapping, faults)
                continue
            name = _key(key, faults)
        if name in mapping and name not in inherited:
            faults.append(_Fault(UNIQUE, _repeated(node, key, name), key))
        if inherited:
            inherited.discard(name)
        if value.__class__ is ScalarNode:
            if not value.value and node.flow_style and not value.style and value.tag is None:
                faults.append(_Fault(UNAMBIGUOUS, _flow_null(name), key))
            mapping[name] = _scalar(value, faults)
        else:
            mapping[name] = _build(value, faults)
    return mapping


def _scalar(node: Node, faults: list[_Fault]) -> object:
    text: str = node.value
    if node.tag is not None:
        return _tagged(node, faults)
    if node.style:
        return text
    value = WORDS.get(text, text)
    if value is text:
        if text[0] not in NUMERIC:
            return text
        value = number(text)
        if value is not text:
            return value
    reason = doubt(text)
    if reason:
        faults.append(_Fault(UNAMBIGUOUS, reason, node))
    return value


def _key(key: ScalarNode, faults: list[_Fault]) -> str:
    """The name of a key that may not be a string, which kustomize refuses or reads differently."""
    text: str = key.value
    name = key_name(key)
    if key.tag is not None:
        if key.tag != _STR:
            faults.append(_foreign_tag(key))
    elif text in WORDS and WORDS[text] is None:
        faults.append(
            _Fault(
                UNAMBIGUOUS, f'key {text or "(empty)"} is null, which kubectl refuses; write "{text}"', key
            )
        )
    elif name != text:
        message = (
            f'key {text} is "{name}" to kubectl, and kustomize refuses or keeps it; write "{text}" in quotes'
        )
        faults.append(_Fault(UNAMBIGUOUS, message, key))
    elif text in WORDS or number(text) is not text or doubt(text):
        faults.append(
            _Fault(UNAMBIGUOUS, f'key {text} is not a string, which kustomize refuses; write "{text}"', key)
        )
    return name


def _merge(key: Node, value: Node, mapping: dict[str, object], faults: list[_Fault]) -> set[str]:
    """Take in what `<<` names; returns the keys that came that way and may be written again."""
    sources = value.value if isinstance(value, SequenceNode) else [value]
    if not all(isinstance(source, MappingNode) for source in sources):
        faults.append(_Fault(PARSES, "<< merges a mapping or a list of mappings; this is neither", key))
        return set()
    merged: dict[str, object] = {}
    for source in reversed(sources):
        merged.update(_mapping(source, faults))
    clash = next((name for name in merged if name in mapping and mapping[name] != merged[name]), None)
    if clash is not None:
        message = f'"{clash}" is written above <<: kubectl takes the merged value and kustomize the written one; put << first'
        faults.append(_Fault(UNIQUE, message, key))
    mapping.update(merged)
    return set(merged)


def _tagged(node: Node, faults: list[_Fault]) -> object:
    """A scalar with a written tag: the core tags are honoured, any other is dropped and leaves a string."""
    text: str = node.value
    if node.tag == _STR:
        return text
    if node.tag == _BINARY:
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except (binascii.Error, ValueError):
            faults.append(_Fault(TAGS, "!!binary holds no base64 of UTF-8 text; write the text itself", node))
            return text
    types = _TAG_TYPES.get(node.tag)
    if types is None:
        faults.append(_foreign_tag(node))
        return text
    value = WORDS.get(text, text)
    if value is text and text[:1] in NUMERIC:
        value = number(text)
    if type(value) not in types or (node.tag == _INT and _LOOKS_FLOAT(text)):
        faults.append(
            _Fault(TAGS, f'{_short(node.tag)} "{text}" is not of that type, and kubectl refuses it', node)
        )
        return text
    if reason := doubt(text):
        faults.append(_Fault(UNAMBIGUOUS, reason, node))
    return value


_CORE: Final = "tag:yaml.org,2002:"
_STR: Final = _CORE + "str"
_MAP: Final = _CORE + "map"
_SEQ: Final = _CORE + "seq"
_INT: Final = _CORE + "int"
_BINARY: Final = _CORE + "binary"
_TAG_TYPES: Final[dict[str, tuple[type, ...]]] = {
    _INT: (int,),
    _CORE + "float": (int, float),
    _CORE + "bool": (bool,),
    _CORE + "null": (type(None),),
}
_LOOKS_FLOAT: Final = re.compile(r"[-+]?(?:0[0-9]*[89]|[0-9_]*\.|[0-9._]+[eE])").match
_SPECIAL_KEYS: Final = frozenset(WORDS) | {"<<"}
_COMPLEX_KEY: Final = (
    "a mapping key is itself a list or mapping, which kubectl refuses; quote it if it is text like '{{ x }}'"
)


def _short(tag: str) -> str:
    return f"!!{tag.removeprefix(_CORE)}" if tag.startswith(_CORE) else tag


def _foreign_tag(node: Node) -> _Fault:
    return _Fault(TAGS, f"tag {_short(node.tag)} means nothing to kubectl, which drops it; remove it", node)


def _flow_null(name: str) -> str:
    return (
        f'the empty value of "{name}" inside {{ }} is null to kubectl and "" to kustomize; write null or ""'
    )


def _repeated(node: Node, key: Node, name: str) -> str:
    first = next(
        other for other, _ in node.value if isinstance(other, ScalarNode) and key_name(other) == name
    )
    where = f"line {first.start_mark.line + 1}"
    return f'"{name}" is there already on {where}: kubectl takes the last without a word, kustomize refuses; keep one'


# Faults of a whole document.

_SUSPECT_ESCAPE = re.compile(r"\\[0abevfNxuU/]")
_SLASH_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_START: Final = Span(1, 1, 1, 1)


def _nodes(root: Node, *, keys: bool = True) -> Iterator[tuple[FieldPath, Node]]:
    """Every distinct node once, keys too, with the first path that leads to it."""
    seen: set[int] = set()
    stack: list[tuple[FieldPath, Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        if isinstance(node, SequenceNode):
            stack += [((*path, index), item) for index, item in enumerate(node.value)][::-1]
        elif isinstance(node, MappingNode):
            for key, value in reversed(node.value):
                named = isinstance(key, ScalarNode) and not is_merge(key)
                inside = (*path, key_name(key)) if named else path
                stack += [(inside, value), (inside, key)] if keys else [(inside, value)]


def _placed(root: Node, faults: list[_Fault], text: str, document: int) -> list[Problem]:
    """The faults with path and span, in the order of the text, each told once."""
    lines = Lines(text)
    unique = {(id(fault.node), fault.kind): fault for fault in faults}
    wanted = {id(fault.node) for fault in faults}
    paths = {id(node): path for path, node in _nodes(root) if id(node) in wanted}
    problems = [
        Problem(
            fault.kind, fault.message, head_span(lines, fault.node), paths.get(id(fault.node), ()), document
        )
        for fault in unique.values()
    ]
    return sorted(problems, key=lambda problem: problem.span)


def _escape_faults(root: Node, text: str) -> Iterator[_Fault]:
    """What only an escape in a double-quoted string can bring in."""
    for _, node in _nodes(root):
        if not isinstance(node, ScalarNode) or node.style != '"':
            continue
        if control := _CONTROL.search(node.value):
            message = f"the string holds the control character U+{ord(control.group()):04X}, which not every tool keeps; remove it"
            yield _Fault(UNAMBIGUOUS, message, node)
        if _SLASH_ESCAPE.search(text, node.start_mark.index, node.end_mark.index):
            yield _Fault(PARSES, r"kubectl does not know the escape \/; write / alone", node)


def _expansion_fault(root: Node) -> _Fault | None:
    """Why the aliases of a document cannot be copied out, or None."""
    sizes: dict[int, tuple[int, int]] = {}
    written = 0

    def measure(node: Node) -> tuple[int, int]:
        """How many nodes a node stands for, and how deep they go; 0 while it is being measured."""
        nonlocal written
        known = sizes.get(id(node))
        if known is not None:
            if known[0] == 0:
                raise _Recursive(node)
            return known
        sizes[id(node)] = (0, 0)
        weight, depth = 1, 0
        if isinstance(node, ScalarNode):
            weight += len(node.value) // 64
        else:
            children = (
                node.value
                if isinstance(node, SequenceNode)
                else [part for pair in node.value for part in pair]
            )
            for child in children:
                size, below = measure(child)
                weight, depth = weight + size, max(depth, below + 1)
        written += 1 if not isinstance(node, ScalarNode) else weight
        sizes[id(node)] = (weight, depth)
        return weight, depth

    try:
        total, depth = measure(root)
    except _Recursive as error:
        return _Fault(
            LIMITS, "an alias stands inside the very value it repeats; write the value out", error.node
        )
    if depth > MAX_DEPTH:
        return _Fault(LIMITS, f"aliases nest {depth} levels deep; at most {MAX_DEPTH} are read", root)
    if total - written > MAX_EXPANSION:
        message = f"aliases repeat {total - written} values; at most {MAX_EXPANSION} are copied out"
        return _Fault(LIMITS, message, root)
    return None


class _Recursive(Exception):
    """An alias names a node it is part of."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node


# Faults of the text.


def _too_long(size: int, limit: int) -> Problem:
    return Problem(LIMITS, f"the file is {size} bytes long; at most {limit} are read", _START)


def _too_deep(span: Span, document: int) -> Problem:
    return Problem(
        LIMITS,
        f"lists and mappings nest more than {MAX_DEPTH} deep here; at most {MAX_DEPTH} are read",
        span,
        (),
        document,
    )


def _control(text: str, document: int = 0) -> Problem:
    match = _CONTROL.search(text)
    offset = match.start() if match else 0
    code = ord(text[offset])
    message = f"control character U+{code:04X} is not allowed in YAML; remove it"
    return Problem(PARSES, message, Lines(text).span(offset, offset + 1), (), document)


def _syntax(error: yaml.YAMLError | UnicodeEncodeError, text: str, document: int) -> Problem:
    """What the parser stumbled over, in words for somebody who does not know the parser."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return _control(text, document)
    mark = error.problem_mark or error.context_mark
    lines = Lines(text)
    offset = min(mark.index if mark else 0, len(text.rstrip()))
    line, _ = lines.place(offset)
    source = lines.line(line)
    blank = source[: len(source) - len(source.lstrip())]
    if "\t" in blank:
        start = offset - (lines.place(offset)[1] - 1) + blank.index("\t")
        return Problem(
            PARSES, "tab used for indentation; use spaces", lines.span(start, start + 1), (), document
        )
    said = str(error.problem or "")
    message = next(
        (words for part, words in _WORDING if part in said), said.replace("did not find expected", "expected")
    )
    if error.context and error.context_mark and error.context_mark.line + 1 != line:
        message += f" ({error.context}, begun on line {error.context_mark.line + 1})"
    message += f": {source.strip()[:_QUOTED]}"
    return Problem(PARSES, message, lines.line_span(offset), (), document)


_QUOTED: Final = 120
_WORDING: Final = (
    (
        "cannot start any token",
        "expected a value, and plain text cannot begin with this character; quote the text",
    ),
    (
        "mapping values are not allowed",
        'a key is not expected here; quote text that holds ": ", or check the indentation',
    ),
    ("could not find expected ':'", "expected ':' behind the key"),
    ("did not find expected key", "expected a key; check the indentation and the quotes"),
    ("did not find expected '-' indicator", "expected '- '; check the indentation"),
    ("did not find expected node content", "expected a value"),
    ("unexpected end of stream", "the text ends inside quotes; close them"),
    ("undefined alias", "the alias has no anchor before it"),
)
