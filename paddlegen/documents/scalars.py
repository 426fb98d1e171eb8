"""What a plain YAML scalar is worth to kubectl, and where kustomize reads it differently.

Read off kubectl 1.32 and `kubectl kustomize` (kustomize 5.5), with which tests/documents compares it again.
"""

from __future__ import annotations

import re
import struct
from datetime import datetime
from decimal import Decimal
from typing import Final

Scalar = str | int | float | bool | None

_TRUE: Final = ("true", "True", "TRUE")
_FALSE: Final = ("false", "False", "FALSE")
_NULL: Final = ("", "~", "null", "Null", "NULL")
_SWITCHES: Final[dict[str, bool]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}

WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
    **dict.fromkeys(_NULL, None),
    **_SWITCHES,
}
"""The plain words that are not strings to kubectl."""

NUMERIC: Final = frozenset("0123456789+-.")
"""The first characters of everything else that is not a string to kubectl."""

_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z").match
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([0-9]+))\Z").match
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z").match
_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:([Tt ])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(Z|[-+]\d\d:\d\d)?)?\Z",
    re.ASCII,
).match
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d*[1-9])?(?:Z|[-+](?!00:00)\d\d:\d\d)\Z", re.ASCII
).match
_NOT_FINITE: Final = frozenset(
    sign + word for word in (".inf", ".Inf", ".INF") for sign in ("", "+", "-")
) | {".nan", ".NaN", ".NAN"}

_INT64: Final = range(-(2**63), 2**63)
_UINT64_MAX: Final = 2**64 - 1
_LONGEST_INTEGER: Final = 70  # 64 binary digits, a sign and a prefix, and some leading zeros


def number(text: str) -> Scalar:
    """The number kubectl reads in a plain scalar that begins like one, or the text itself.

    An integer that does not fit 64 bits is a float, as it is in an API server.
    """
    if _DECIMAL(text):
        return int(text)
    value = _parsed(text)
    if value is None:
        return text
    if isinstance(value, int):
        return value if value in _INT64 else float(value)
    return _settled(value)


def _parsed(text: str) -> int | float | None:
    """The number before JSON has a say."""
    digits = text.replace("_", "")
    if len(digits) <= _LONGEST_INTEGER:
        integer = _integer(digits)
        if integer is not None:
            return integer
    if not _FLOAT(digits):
        return None
    value = float(digits)
    return value if value - value == 0 else None  # overflow: kubectl keeps the string


def _integer(digits: str) -> int | None:
    """The integer Go's ParseInt and ParseUint read with base 0, None where both refuse."""
    match = _INTEGER(digits)
    if not match:
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if decimal and decimal != "0" and decimal[0] == "0":
        return None  # 08: no octal number, so a float
    base = 16 if hexadecimal else 2 if binary else 8 if octal else 10
    value = int(hexadecimal or binary or octal or decimal, base)
    value = -value if sign == "-" else value
    limit = _UINT64_MAX if not sign else _INT64[-1]
    return value if _INT64[0] <= value <= limit else None


def _settled(value: float) -> int | float:
    """The value after its way through JSON, where 1e3 is written 1000 and read as an integer.

    Go writes the shortest digits that mean the same float and fills up with zeros.
    """
    if not value.is_integer() or abs(value) >= 2**63:
        return value
    written = int(Decimal(repr(value)))
    return written if written in _INT64 else value


def doubt(text: str) -> str | None:
    """Why a plain scalar is not the same to everybody who reads it, or None.

    To be asked for words that are in WORDS and for texts that begin like a number and are none.
    """
    if text in _SWITCHES:
        word = str(_SWITCHES[text]).lower()
        wish = f'write {word} or "{text}"'
        return f'plain {text} is {word} to kubectl and the string "{text}" to kustomize; {wish}'
    if text in _NOT_FINITE:
        return f'plain {text} is no number to JSON, and kubectl refuses it; write "{text}" for the string'
    if _is_rewritten_time(text):
        return f'plain {text} is a time that kustomize writes in another form; write "{text}"'
    return None


def _is_rewritten_time(text: str) -> bool:
    match = _TIME(text)
    if not match:
        return False
    year, month, day, separator, hour, minute, second, zone = match.groups()
    if (separator in {"T", "t"}) != (zone is not None) or _RFC3339(text):
        return False
    try:
        datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001
    except ValueError:
        return False
    return True


def key_text(text: str) -> str:
    """The object key kubectl makes of a plain mapping key."""
    word = WORDS.get(text)
    if word is not None:
        return str(word).lower()
    value = _parsed(text) if text[:1] in NUMERIC else None
    if value is None:
        return text
    return str(value) if isinstance(value, int) else _short_float(value)


def _short_float(value: float) -> str:
    """The value as Go's FormatFloat(value, 'g', -1, 32) writes it."""
    try:
        target = struct.pack("f", value)
    except OverflowError:
        return "-.inf" if value < 0 else ".inf"
    shortest = next(
        text for digits in range(17) if struct.pack("f", float(text := f"{value:.{digits}e}")) == target
    )
    mantissa, _, exponent = shortest.partition("e")
    if _SMALLEST_EXPONENT <= int(exponent) <= _LARGEST_EXPONENT:
        return format(Decimal(shortest).normalize(), "f")
    return f"{mantissa}e{exponent}"


_SMALLEST_EXPONENT: Final = -4
_LARGEST_EXPONENT: Final = 5
