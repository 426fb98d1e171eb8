"""Everything that is wrong with an object, in words: the slow answer, for what `compiled` refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from paddlegen.model.output import Violation
from paddlegen.schema import placement
from paddlegen.schema.leaves import FIT
from paddlegen.schema.placement import dotted
from paddlegen.schema.types import Anything, Enumeration, ListOf, MapOf, Ref, Scalar, Type
from paddlegen.schema.view import OBJECT_META

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.report import FieldPath
    from paddlegen.schema.placement import Trail
    from paddlegen.schema.table import Field
    from paddlegen.schema.view import View

KNOWN: Final = "fields-known-to-cluster"
PRESENT: Final = "fields-required-present"

_JSON: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_ARTICLES: Final = {
    bool: "true or false",
    str: "a text",
    dict: "a mapping",
    list: "a list",
    type(None): "empty",
}
_LONG: Final = 60


@dataclass(frozen=True, slots=True)
class _Walk:
    """The object and the view it is looked at through."""

    seen: View
    body: Any

    @property
    def custom(self) -> bool:
        return self.seen.custom is not None


def explain(seen: View, body: Any) -> Iterator[Violation]:
    """Yield every fault of an object, in the order of its text, what is missing last."""
    walk = _Walk(seen, body)
    if not isinstance(body, dict):
        yield Violation((), f"the object is {_show(body)}; it must be a mapping", FIT)
        return
    fields = dict(seen.fields(seen.root))
    fields.pop("metadata", None)
    rest = {key: value for key, value in body.items() if key != "metadata"}
    yield from _metadata(walk, body.get("metadata"))
    yield from _fields(walk, fields, rest, (), (((), seen.root),))


def _metadata(walk: _Walk, value: Any) -> Iterator[Violation]:
    """Every object has a name, or a stem that the server makes one of."""
    path = ("metadata",)
    if not isinstance(value, dict):
        said = "the object has no metadata" if value is None else f"metadata is {_show(value)}"
        yield Violation(() if value is None else path, f"{said}; it needs a mapping with a name", PRESENT)
        return
    seen = walk.seen
    fields = dict(seen.fields(OBJECT_META))
    fields.pop("name", None)
    rest = {key: item for key, item in value.items() if key != "name"}
    name = value.get("name")
    if name is not None:
        yield from _scalar(walk, seen.name_leaf, name, (*path, "name"))
    elif not isinstance(value.get("generateName"), str):
        yield Violation(path, "metadata has no name; it needs one", PRESENT)
    yield from _fields(walk, fields, rest, path, (((), seen.root), (path, OBJECT_META)))


def _fields(
    walk: _Walk, fields: dict[str, Field], value: dict[str, Any], path: FieldPath, trail: Trail
) -> Iterator[Violation]:
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            yield _unknown(walk, trail, path, name, item)
        elif item is None:
            continue  # as if it were not there
        elif not (field.empty and item == "" and _textual(field.type)):
            yield from _value(walk, field.type, item, (*path, name), trail)
    for name, field in fields.items():
        if field.required and value.get(name) is None:
            yield Violation(path, f"{_owner(walk, path)} has no {name}; it needs one", PRESENT)


def _unknown(walk: _Walk, trail: Trail, path: FieldPath, name: str, item: Any) -> Violation:
    seen = walk.seen
    said = placement.newer_or_older(seen, trail[-1][1], name)
    message = said or (
        f"{name} is no field of {_owner(walk, path)}" + placement.advice(seen, walk.body, trail, name, item)
    )
    return Violation((*path, name), message, KNOWN, remediation=_fate(walk, name))


def _fate(walk: _Walk, name: str) -> str:
    """What becomes of a field nobody knows."""
    if walk.seen.custom is None:
        return f"Take {name} out or put it in its place: the server refuses or drops it."
    if walk.seen.custom.schemaless:
        return (
            f"Take {name} out or put it in its place: the server keeps it and the controller never reads it."
        )
    if walk.seen.profile.crd == "v1":
        return f"Take {name} out or put it in its place: a v1 CRD drops it in silence."
    return f"Take {name} out or put it in its place: a v1beta1 CRD keeps it and nothing reads it."


def _value(walk: _Walk, kind: Type, value: Any, path: FieldPath, trail: Trail) -> Iterator[Violation]:
    match kind:
        case Scalar():
            yield from _scalar(walk, kind, value, path)
        case Enumeration(words):
            yield from _enumeration(words, value, path)
        case ListOf():
            yield from _list(walk, kind, value, path, trail)
        case MapOf():
            yield from _map(walk, kind, value, path, trail)
        case Ref(name):
            if isinstance(value, dict):
                fields = dict(walk.seen.fields(name))
                yield from _fields(walk, fields, value, path, (*trail, (path, name)))
            else:
                yield _wrong(path, value, "a mapping")
        case Anything(mapping):
            if mapping and not isinstance(value, dict):
                yield _wrong(path, value, "a mapping")


def _list(walk: _Walk, kind: ListOf, value: Any, path: FieldPath, trail: Trail) -> Iterator[Violation]:
    if not isinstance(value, list):
        yield _wrong(path, value, "a list")
        return
    least, most = kind.bounds.least, kind.bounds.most
    if least is not None and len(value) < least:
        yield Violation(path, f"{dotted(path)} has {len(value)} items; at least {least} are needed", FIT)
    if most is not None and len(value) > most:
        yield Violation(path, f"{dotted(path)} has {len(value)} items; at most {most} are allowed", FIT)
    for index, item in enumerate(value):
        if item is not None:
            yield from _value(walk, kind.item, item, (*path, index), trail)
        elif walk.custom or not isinstance(kind.item, Scalar):
            yield _wrong((*path, index), item, _wish(kind.item))


def _map(walk: _Walk, kind: MapOf, value: Any, path: FieldPath, trail: Trail) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield _wrong(path, value, "a mapping")
        return
    for key, one in value.items():
        if kind.key is not None and not _looks(kind.key, key):
            said = f"{dotted(path)} has the key {_show(key)}; write {kind.key.leaf.wish}"
            yield Violation((*path, key), said, kind.key.leaf.rule)
        if one is not None:
            yield from _value(walk, kind.value, one, (*path, key), trail)


def _enumeration(words: tuple[str, ...], value: Any, path: FieldPath) -> Iterator[Violation]:
    if not isinstance(value, str) or value not in words:
        close = placement.nearest(value, list(words), 0.6) if isinstance(value, str) else None
        meant = f"; did you mean {close}?" if close else ""
        yield Violation(path, f"{dotted(path)} is {_show(value)}; write {_one_of(words)}{meant}", FIT)


def _scalar(walk: _Walk, kind: Scalar, value: Any, path: FieldPath) -> Iterator[Violation]:
    leaf = kind.leaf
    types = leaf.types
    if walk.custom and leaf.name == "quantity":
        if isinstance(value, float) and not value.is_integer():
            said = f'{dotted(path)} is {value}; the CRD takes a whole number or a text: write "{value}"'
            yield Violation(path, said, leaf.rule)
            return
        types = ("string", "integer")
    if not _has_type(types, value):
        yield _wrong(path, value, leaf.wish, leaf.rule)
    elif isinstance(value, str):
        if not _looks(kind, value):
            yield Violation(path, f"{dotted(path)} is {_show(value)}; write {_texts(kind)}", leaf.rule)
    elif not isinstance(value, bool) and not _within(kind, value):
        yield Violation(path, f"{dotted(path)} is {value}; write {_numbers(kind)}", leaf.rule)


def _has_type(types: tuple[str, ...], value: Any) -> bool:
    for name in types:
        if name == "integer" and isinstance(value, float) and value.is_integer():
            return True
        if isinstance(value, _JSON[name]) and (name == "boolean" or not isinstance(value, bool)):
            return True
    return False


def _looks(kind: Scalar, text: Any) -> bool:
    """True if a text has the form and the length it needs."""
    leaf = kind.leaf
    longest = kind.bounds.most or leaf.longest
    return (
        isinstance(text, str)
        and (not leaf.pattern or re.fullmatch(leaf.pattern, text) is not None)
        and (longest is None or len(text) <= longest)
        and (kind.bounds.least is None or len(text) >= kind.bounds.least)
    )


def _within(kind: Scalar, number: float) -> bool:
    least, most = _range(kind)
    return (least is None or number >= least) and (most is None or number <= most)


def _range(kind: Scalar) -> tuple[int | None, int | None]:
    if "string" in kind.leaf.types:
        return kind.leaf.least, kind.leaf.most
    least = kind.leaf.least if kind.bounds.least is None else kind.bounds.least
    return least, kind.leaf.most if kind.bounds.most is None else kind.bounds.most


def _texts(kind: Scalar) -> str:
    leaf, bounds = kind.leaf, kind.bounds
    if leaf.pattern:
        return leaf.wish
    if bounds.most is not None:
        return f"at most {bounds.most} characters"
    return "a text that is not empty"


def _numbers(kind: Scalar) -> str:
    if kind.leaf.name.startswith("port"):
        return kind.leaf.wish
    least, most = _range(kind)
    if most is None or most >= 2**31 - 1:
        return f"{least} or more" if least is not None and least >= 0 else "a number of fewer digits"
    return f"{least} to {most}" if least is not None and least >= 0 else f"at most {most}"


def _wrong(path: FieldPath, value: Any, wish: str, rule: str = FIT) -> Violation:
    return Violation(path, f"{dotted(path)} is {_show(value)}; write {wish}", rule)


def _wish(kind: Type) -> str:
    match kind:
        case Scalar(leaf):
            return leaf.wish
        case Enumeration(words):
            return _one_of(words)
        case ListOf():
            return "a list"
        case _:
            return "a mapping"


def _textual(kind: Type) -> bool:
    return isinstance(kind, Enumeration) or (isinstance(kind, Scalar) and "string" in kind.leaf.types)


def _owner(walk: _Walk, path: FieldPath) -> str:
    return dotted(path) if path else f"the {walk.seen.kind}"


def _show(value: Any) -> str:
    """A value as a person would say it."""
    if isinstance(value, str):
        text = value if len(value) <= _LONG else value[: _LONG - 3] + "..."
        return f'"{text}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return _ARTICLES.get(type(value), type(value).__name__)


def _one_of(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" or {words[-1]}"
