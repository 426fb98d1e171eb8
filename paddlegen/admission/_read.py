"""Read objects that may be malformed: a part of the wrong type is absent here, the schema reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddlegen.resources import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal


def mapping(value: object) -> Mapping[str, Any]:
    """The mapping, or an empty one."""
    # A dict is the rule, and asking for it first spares the slow question.
    return value if isinstance(value, dict) or isinstance(value, Mapping) else {}  # noqa: SIM101  # see above


def sequence(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def whole(value: object) -> int | None:
    """The integer, or None; True is no integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def members(value: object) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The mappings of a list with their index."""
    for index, member in enumerate(sequence(value)):
        if isinstance(member, dict) or isinstance(member, Mapping):  # noqa: SIM101  # as in `mapping`
            yield index, member


def texts(value: object) -> Iterator[tuple[int, str]]:
    """The strings of a list with their index."""
    for index, member in enumerate(sequence(value)):
        if isinstance(member, str):
            yield index, member


def amount(value: object) -> Decimal | None:
    """The exact value of a quantity, or None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return quantity.parse(value)
    except (ValueError, ArithmeticError):
        return None


def name_of(body: Mapping[str, Any]) -> str:
    """metadata.name."""
    return text(mapping(body.get("metadata")).get("name"))
