"""Kubernetes quantities, exactly.

Source: Kubernetes apimachinery `pkg/api/resource/quantity.go`: a decimal number and a suffix from
n u m (none) k M G T P E, Ki Mi Gi Ti Pi Ei, or a decimal exponent.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from functools import lru_cache

_SUFFIX = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}
_EXACT = Context(prec=100)
"""A number of many digits times 1024⁶ has more than the 28 that Python counts on."""

_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)\Z"
)
_BINARY = ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki")


@lru_cache(maxsize=4096)
def parse(text: str | float) -> Decimal:
    """The exact value of a quantity.

    Raises:
        ValueError: it is no quantity.
    """
    match = _QUANTITY.match(str(text))
    if match is None:
        message = (
            f"{text!r} is no Kubernetes quantity; write a number with one of k M G T P E Ki Mi Gi Ti Pi "
            "Ei m, such as 500m or 16Gi"
        )
        raise ValueError(message)
    number, exponent, suffix = match.groups()
    return _EXACT.multiply(Decimal(number + (exponent or "")), _SUFFIX[suffix or ""])


def show(value: Decimal, *, binary: bool) -> str:
    """The shortest exact way to write a value: `16Gi`, `1500m`, `4`."""
    if binary:
        for suffix in _BINARY:
            scaled = value / _SUFFIX[suffix]
            if scaled >= 1 and scaled == scaled.to_integral_value():
                return f"{int(scaled)}{suffix}"
    if value == value.to_integral_value():
        return str(int(value))
    milli = value * 1000
    if milli == milli.to_integral_value():
        return f"{int(milli)}m"
    return f"{int((value * 10**9).to_integral_value())}n"
