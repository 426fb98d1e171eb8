"""Checks of one value that several gatekeepers make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission._read import amount, text
from paddlegen.model.admission import Rule
from paddlegen.model.policy import Breach

ALLOWED_VALUES = Rule(
    "field-values-are-allowed", "Enumerations hold one of the server's values, in its spelling."
)
QUANTITIES = Rule(
    "quantities-are-well-formed", "Quantities are numbers of 0 or more with one of the known suffixes."
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlegen.model.report import FieldPath


def one_of(
    holder: Mapping[str, Any],
    field: str,
    allowed: Sequence[str],
    path: FieldPath,
) -> Iterator[Breach]:
    """The field is absent, empty (the server fills it in) or one of the values."""
    value = text(holder.get(field))
    if value and value not in allowed:
        alike = next((each for each in allowed if each.lower() == value.lower()), "")
        wish = f"; write {alike}" if alike else ""
        message = f"{field}: Unsupported value: {value!r}: supported values: {', '.join(allowed)}{wish}"
        yield Breach((*path, field), message, rule=ALLOWED_VALUES.name)


def quantities(amounts: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    """Every value is a quantity of 0 or more."""
    for name, value in amounts.items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            continue
        parsed = amount(value)
        if parsed is None:
            message = (
                f"{name}: {value!r} is no quantity; write a number with one of "
                "m k M G T P E Ki Mi Gi Ti Pi Ei, such as 500m or 16Gi"
            )
            yield Breach((*path, name), message, rule=QUANTITIES.name)
        elif parsed < 0:
            message = f"{name}: must be greater than or equal to 0; it is {value}"
            yield Breach((*path, name), message, rule=QUANTITIES.name)
