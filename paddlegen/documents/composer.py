"""YAML text to nodes, with libyaml where PyYAML has it, and never deeper than the stack holds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import yaml

from paddlegen.documents.positions import Lines
from paddlegen.documents.problems import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.nodes import Node


class TooDeepError(Exception):
    """Lists and mappings nest deeper than MAX_DEPTH at this node."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node


class _Hooks:
    """What the composer asks for each node: no tags but written ones, for we read scalars (twice as fast)."""

    def resolve(self, kind: object, value: object, implicit: object) -> None: ...

    def descend_resolver(self, parent: Node | None, index: object) -> None: ...

    def ascend_resolver(self) -> None: ...


if yaml.__with_libyaml__:
    from yaml._yaml import CParser

    class _Composer(_Hooks, CParser):
        """Composes with libyaml."""

else:

    class _Composer(_Hooks, yaml.SafeLoader):  # type: ignore[no-redef]
        """Composes in Python: the same nodes, slower."""


class _CountingComposer(_Composer):
    """Stops at MAX_DEPTH, a quarter slower.

    The C composer recurses on the C stack: about 40,000 levels end the process, in a thread with a small
    stack a few hundred.
    """

    depth = 0

    def descend_resolver(self, parent: Node | None, index: object) -> None:  # noqa: ARG002
        self.depth = depth = self.depth + 1
        if depth > MAX_DEPTH + 1 and parent is not None:
            raise TooDeepError(parent)

    def ascend_resolver(self) -> None:
        self.depth -= 1


_SHALLOW: Final = 400


def _composer(text: str) -> _Composer:
    """The fast composer for a text that cannot nest deep, the counting one for any other.

    Each flow collection needs a bracket, and the block collections around a node begin at rising columns,
    at most two (a mapping and the list under its key) at the same.
    """
    deepest = text.count("[") + text.count("{") + 2 * max(map(len, text.split("\n")))
    return _Composer(text) if deepest < _SHALLOW else _CountingComposer(text)


def compose(text: str) -> Iterator[Node]:
    """The root node of each document, empty ones too."""
    composer = _composer(text)
    while composer.check_node():
        root = composer.get_node()
        if root is not None:
            yield root


@dataclass(frozen=True, slots=True)
class Source:
    """The nodes of a text by document number."""

    lines: Lines
    roots: dict[int, Node]


@lru_cache(maxsize=8)
def source(text: str) -> Source:
    """The nodes of a text, kept for the few files that were asked for last."""
    roots: dict[int, Node] = {}
    with suppress(yaml.YAMLError, UnicodeEncodeError, TooDeepError, RecursionError):
        # load has said what is wrong; what comes before it has its place
        roots.update(enumerate(compose(text)))
    return Source(Lines(text), roots)
