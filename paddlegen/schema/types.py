"""What a table writes about a type, as values: `int32(0..)`, `[core.v1.Volume]`, `{label-key:any}`, `A|B`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from paddlegen.schema.leaves import LEAVES, Leaf


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest: of a number, of the length of a text, of the items of a list."""

    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts: a leaf, perhaps narrowed."""

    leaf: Leaf
    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True)
class Enumeration:
    """One of a few words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    item: Type
    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping whose keys people choose."""

    value: Type
    key: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """An object whose fields a table lists under this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Anything:
    """A value nobody looks into; `mapping` says that it must be a mapping."""

    mapping: bool = False


Type = Scalar | Enumeration | ListOf | MapOf | Ref | Anything


@cache
def parse(text: str) -> Type:
    """The type that a table writes so.

    Raises:
        ValueError: no table writes a type like this.
    """
    if text in ("any", "object"):
        return Anything(mapping=text == "object")
    if text.startswith("["):
        inner, _, rest = text[1:].rpartition("]")
        return ListOf(parse(inner), _bounds(rest))
    if text.startswith("{"):
        key, colon, value = text[1:-1].partition(":")
        return MapOf(parse(value), _scalar(key)) if colon else MapOf(parse(key))
    if "|" in text:
        return Enumeration(tuple(text.split("|")))
    if text.partition("(")[0] in LEAVES:
        return _scalar(text)
    if not text[:1].isalpha() or "(" in text:
        message = f"{text!r} is no type"
        raise ValueError(message)
    return Ref(text)


def _scalar(text: str) -> Scalar:
    name, _, rest = text.partition("(")
    return Scalar(LEAVES[name], _bounds("(" + rest if rest else ""))


def _bounds(text: str) -> Bounds:
    if not text:
        return Bounds()
    least, _, most = text[1:-1].partition("..")
    return Bounds(int(least) if least else None, int(most) if most else None)
