"""Nodes to values as kubectl makes them, and the faults that show on the way."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from paddlegen.documents.composer import TooDeepError
from paddlegen.documents.positions import is_merge, key_name
from paddlegen.documents.problems import (
    CONTROL,
    LIMITS,
    MAX_DEPTH,
    MAX_EXPANSION,
    PARSES,
    TAGS,
    UNAMBIGUOUS,
    UNIQUE,
)
from paddlegen.documents.scalars import NUMERIC, WORDS, Scalar, doubt, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.report import FieldPath


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem that still needs its place."""

    kind: str
    message: str
    node: Node


def build(node: Node, faults: list[Fault], depth: int) -> object:
    """The value of a node that stands `depth` levels deep."""
    kind = node.__class__
    if kind is ScalarNode:
        return _scalar(node, faults)
    if depth >= MAX_DEPTH:
        raise TooDeepError(node)
    if kind is MappingNode:
        # isinstance is slower, and mypy does not narrow by class
        return _mapping(node, faults, depth + 1)  # type: ignore[arg-type]
    if node.tag is not None and node.tag != _SEQ:
        faults.append(_foreign_tag(node))
    return [build(item, faults, depth + 1) for item in node.value]


def _mapping(node: MappingNode, faults: list[Fault], depth: int) -> dict[str, object]:  # noqa: C901  # the hot loop
    """The value of a mapping whose values stand `depth` levels deep."""
    if node.tag is not None and node.tag != _MAP:
        faults.append(_foreign_tag(node))
    mapping: dict[str, object] = {}
    inherited: set[str] | None = None
    first_lines: dict[str, int] | None = None
    merges = 0
    for key, value in node.value:
        name = key.value
        if key.__class__ is not ScalarNode:
            faults.append(Fault(PARSES, _COMPLEX_KEY, key))
            continue
        odd = name == "<<" if key.style else name in _SPECIAL_KEYS or name[0] in NUMERIC
        if odd or key.tag is not None:
            if is_merge(key):
                merges += 1
                if merges == 2:  # noqa: PLR2004
                    faults.append(Fault(UNIQUE, _SECOND_MERGE, key))
                inherited = set() if inherited is None else inherited
                inherited.update(_merge(key, value, mapping, faults, depth))
                continue
            name = _key(key, faults)
        if name in mapping and not (inherited and name in inherited):
            first_lines = first_lines or _first_lines(node)
            faults.append(Fault(UNIQUE, _repeated(name, first_lines[name]), key))
        if inherited:
            inherited.discard(name)
        if value.__class__ is ScalarNode:
            if node.flow_style and _is_left_out(value):
                faults.append(Fault(UNAMBIGUOUS, _flow_null(name), key))
            mapping[name] = value.value if value.style and value.tag is None else _scalar(value, faults)
        else:
            mapping[name] = build(value, faults, depth)
    return mapping


def _scalar(node: Node, faults: list[Fault]) -> object:
    text: str = node.value
    if node.tag:
        return _tagged(node, faults)
    if node.style:  # type: ignore[attr-defined]  # a ScalarNode: whoever calls looked at its class
        return text
    value: Scalar = WORDS.get(text, text)
    if value is text:
        if text[0] not in NUMERIC:
            return text
        value = number(text)
        if value is not text:
            return value
    reason = doubt(text)
    if reason:
        faults.append(Fault(UNAMBIGUOUS, reason, node))
    return value


def _key(key: ScalarNode, faults: list[Fault]) -> str:
    """The name of a key that may not be a string, which kustomize refuses or reads differently."""
    name = key_name(key)
    if key.tag:
        if key.tag != _STR:
            faults.append(_foreign_tag(key))
    elif reason := _key_doubt(key, name):
        faults.append(Fault(UNAMBIGUOUS, reason, key))
    return name


def _key_doubt(key: ScalarNode, name: str) -> str | None:
    text: str = key.value
    if key.style:
        return f'kustomize merges the quoted key "{text}" and kubectl keeps it; rename it'
    if text in WORDS and WORDS[text] is None:
        return f'key {text or "(empty)"} is null, which kubectl refuses; write "{text}"'
    if name != text:
        return (
            f'key {text} is "{name}" to kubectl, and kustomize refuses or keeps it; write "{text}" in quotes'
        )
    if text in WORDS or number(text) is not text or doubt(text):
        return f'key {text} is not a string, which kustomize refuses; write "{text}" in quotes'
    return None


def _merge(key: Node, value: Node, mapping: dict[str, object], faults: list[Fault], depth: int) -> list[str]:
    """Take in what `<<` names; returns the keys that came that way and may be written again."""
    sources = value.value if isinstance(value, SequenceNode) else [value]
    if not all(isinstance(source, MappingNode) for source in sources):
        faults.append(Fault(PARSES, "<< merges a mapping or a list of mappings; this is neither", key))
        return []
    merged: dict[str, object] = {}
    for source in reversed(sources):
        if depth >= MAX_DEPTH:
            raise TooDeepError(source)
        merged.update(_mapping(source, faults, depth + 1))
    clash = next((name for name in merged if name in mapping and mapping[name] != merged[name]), None)
    if clash is not None:
        message = (
            f'"{clash}" stands above <<: kubectl takes the merged value, kustomize this one; put << first'
        )
        faults.append(Fault(UNIQUE, message, key))
    inherited = [name for name in merged if name not in mapping]
    mapping.update(merged)
    return inherited


def _tagged(node: Node, faults: list[Fault]) -> object:
    """A scalar with a written tag: the core tags are honoured, any other is dropped and leaves a string."""
    text: str = node.value
    if node.tag == _STR:
        return text
    if node.tag == _BINARY:
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except (binascii.Error, ValueError):
            faults.append(Fault(TAGS, "!!binary holds no base64 of UTF-8 text; write the text itself", node))
            return text
    types = _TAG_TYPES.get(node.tag)
    if types is None:
        faults.append(_foreign_tag(node))
        return text
    value: Scalar = WORDS.get(text, text)
    if value is text and text[:1] in NUMERIC:
        value = number(text)
    if type(value) not in types or (node.tag == _INT and _LOOKS_FLOAT(text)):
        faults.append(
            Fault(TAGS, f'{_short(node.tag)} "{text}" is not of that type, and kubectl refuses it', node)
        )
        return text
    if reason := doubt(text):
        faults.append(Fault(UNAMBIGUOUS, reason, node))
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
_SECOND_MERGE: Final = "<< stands here more than once, which kustomize refuses; give one list"
_COMPLEX_KEY: Final = (
    "a mapping key is itself a list or mapping, which kubectl refuses; quote it if it is text like '{{ x }}'"
)


def _short(tag: str) -> str:
    return f"!!{tag.removeprefix(_CORE)}" if tag.startswith(_CORE) else tag


def _foreign_tag(node: Node) -> Fault:
    return Fault(TAGS, f"tag {_short(node.tag)} means nothing to kubectl, which drops it; remove it", node)


def _is_left_out(value: ScalarNode) -> bool:
    return not value.value and not value.style and value.tag is None


def _flow_null(name: str) -> str:
    return (
        f'the empty value of "{name}" inside {{ }} is null to kubectl and "" to kustomize; write null or ""'
    )


def _repeated(name: str, line: int) -> str:
    return f'"{name}" is there already on line {line}: kubectl takes the last, kustomize refuses; keep one'


def _first_lines(node: MappingNode) -> dict[str, int]:
    """The line of each key where it stands first."""
    keys = [key for key, _ in node.value if isinstance(key, ScalarNode)]
    return {key_name(key): key.start_mark.line + 1 for key in reversed(keys)}


_SLASH_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\/")


def nodes(root: Node, *, keys: bool = True) -> Iterator[tuple[FieldPath, Node]]:
    """Every distinct node once, with `keys` those too, with the first path that leads to it."""
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


def escape_faults(root: Node, text: str) -> Iterator[Fault]:
    """What only an escape in a double-quoted string can bring in."""
    for _, node in nodes(root):
        if not isinstance(node, ScalarNode) or node.style != '"':
            continue
        if control := CONTROL.search(node.value):
            message = f"the string holds the control character U+{ord(control.group()):04X}; remove it"
            yield Fault(UNAMBIGUOUS, message, node)
        if _SLASH_ESCAPE.search(text, node.start_mark.index, node.end_mark.index):
            yield Fault(PARSES, r"kubectl does not know the escape \/; write / alone", node)


def expansion_faults(root: Node) -> Iterator[Fault]:
    """Why the aliases of a document cannot be copied out."""
    weights: dict[int, int] = {}
    try:
        total = _weigh(root, weights)
    except _RecursiveError as error:
        yield Fault(
            LIMITS, "an alias stands inside the very value it repeats; write the value out", error.node
        )
        return
    repeated = total - sum(
        1 if isinstance(node, CollectionNode) else _weight(node) for _, node in nodes(root)
    )
    if repeated > MAX_EXPANSION:
        yield Fault(LIMITS, f"aliases repeat {repeated} values; at most {MAX_EXPANSION} are copied out", root)


def _weigh(node: Node, weights: dict[int, int]) -> int:
    """How many nodes a node stands for; `weights` remembers, and holds 0 for one that is being weighed."""
    if isinstance(node, ScalarNode):
        return _weight(node)
    known = weights.get(id(node))
    if known is not None:
        if not known:
            raise _RecursiveError(node)
        return known
    weights[id(node)] = 0
    weight = 1
    for child in node.value:
        if isinstance(child, tuple):
            key, child = child  # noqa: PLW2901
            weight += _weigh(key, weights)
        weight += _weigh(child, weights)
    weights[id(node)] = weight
    return weight


def _weight(node: Node) -> int:
    """A long text counts as several, for its copies are written out in the end."""
    return 1 + len(node.value) // 64


class _RecursiveError(Exception):
    """An alias names a node it is part of."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node
