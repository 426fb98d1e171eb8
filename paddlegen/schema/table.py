"""Read the tables of `paddlegen/schemas`: the types of one version, parsed one by one as they are asked for.

A table is text.  A block per type: its name, the versions that have it, `kind=<apiVersion>` of a kind.  Then
a line per field: name, type with `!` if required, versions, and `keys=` of a list as a map, `default=` of a
value the server fills in, `v1beta1=` the release from which a v1beta1 CRD has it.  A field stands once per
stretch of versions in which it looks the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from paddlegen.schema.types import Type, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

Version = tuple[int, ...]
"""`(1, 33)` of Kubernetes, `(0, 3, 5)` of an operator."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The versions that have something; None is open."""

    since: Version | None = None
    until: Version | None = None

    def __contains__(self, version: Version) -> bool:
        return (self.since is None or version >= self.since) and (
            self.until is None or version[: len(self.until)] <= self.until
        )


@dataclass(frozen=True, slots=True)
class Field:
    """A field as it looks for a stretch of versions.

    `since_v1beta1` is the release at which a v1beta1 CRD got it, where that was later.  `empty` says that the
    empty text counts as left out.
    """

    type: Type
    required: bool
    lifetime: Lifetime
    keys: tuple[str, ...] = ()
    default: str = ""
    since_v1beta1: Version | None = None
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line of a block says."""

    name: str
    lifetime: Lifetime
    api_version: str


_OPEN: Final = Lifetime()
_KIND: Final = re.compile(r"^([^ #\n]+)(?: [^ \n]+)? kind=([^ \n]+)$", re.MULTILINE)


class Table:
    """A table file."""

    def __init__(self, text: str) -> None:
        self._text = text
        blocks = (block for block in text.rstrip().split("\n\n") if block and not block.startswith("#"))
        self._blocks = {block[: _end(block)]: block for block in blocks}
        self._fields: dict[str, Mapping[str, tuple[Field, ...]]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._blocks

    def names(self) -> list[str]:
        """The names of all types."""
        return list(self._blocks)

    def head(self, name: str) -> Head:
        """The first line of a type."""
        lifetime, attributes = _tail(self._blocks[name].partition("\n")[0].split()[1:])
        return Head(name, lifetime, attributes.get("kind", ""))

    def kinds(self) -> dict[tuple[str, str], str]:
        """The type of every kind, by apiVersion and kind."""
        return {(one[2], one[1].rpartition(".")[2]): one[1] for one in _KIND.finditer(self._text)}

    def fields(self, name: str) -> Mapping[str, tuple[Field, ...]]:
        """The fields of a type, each with its stretches of versions in order."""
        if name not in self._fields:
            self._fields[name] = _fields(self._blocks[name])
        return self._fields[name]


@cache
def load(name: str) -> Table:
    """A table of the package by its file name."""
    path = resources.files("paddlegen") / "schemas" / f"{name}.table"
    return Table(path.read_text(encoding="utf-8"))


def shown(version: Version) -> str:
    """`1.33`."""
    return ".".join(str(part) for part in version)


def _end(block: str) -> int:
    """Where the name at the start of a block ends."""
    return min(index for index in (block.find(" "), block.find("\n"), len(block)) if index > 0)


def _fields(block: str) -> dict[str, tuple[Field, ...]]:
    found: dict[str, list[Field]] = {}
    for line in block.split("\n")[1:]:
        name, kind, *tail = line.split()
        required = kind.endswith("!")
        field = Field(parse(kind.removesuffix("!")), required, _OPEN)
        if tail:
            lifetime, attributes = _tail(tail)
            keys = attributes.get("keys", "")
            field = replace(
                field,
                lifetime=lifetime,
                keys=tuple(keys.split(",")) if keys else (),
                default=attributes.get("default", ""),
                since_v1beta1=_version(attributes.get("v1beta1", "")),
            )
        found.setdefault(name, []).append(field)
    return {name: tuple(fields) for name, fields in found.items()}


def _tail(words: list[str]) -> tuple[Lifetime, dict[str, str]]:
    attributes = dict(word.split("=", 1) for word in words if "=" in word)
    since, _, until = next((word for word in words if "=" not in word), "").partition("..")
    return Lifetime(_version(since), _version(until)), attributes


def _version(text: str) -> Version | None:
    return tuple(int(part) for part in text.split(".")) if text else None
