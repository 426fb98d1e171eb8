"""What kustomize prints of an object that it leaves as it is.

Reading kustomize's output back is the dearest step of a render, and most objects pass through an
overlay untouched.  When the text equals this one, the object equals its base; where this module is
wrong or gives up, the text is parsed and nothing is lost but time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Texts that no reader takes for anything else: words, paths, images, options, releases, quantities.
_PLAIN = re.compile(
    r"(?:--?)?[A-Za-z][A-Za-z0-9_./@=-]*(?::[A-Za-z0-9_./@=-]+)*\Z"
    r"|/[A-Za-z0-9_./@=-]*\Z"
    r"|[0-9]+\.[0-9]+\.[0-9]+\Z"
    r"|[1-9][0-9]*(?:m|[KMGTP]i?)\Z"
)
_NUMBER = re.compile(r"[0-9]+\Z")
_WORDS = frozenset(
    word
    for base in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf")
    for word in (base, base.capitalize(), base.upper())
)


class _UnsureError(Exception):
    """The value needs a judgement that only kustomize's printer can make."""


def printed(body: Mapping[str, Any]) -> str | None:
    """The YAML kustomize prints of an untouched object, or None where that is not certain."""
    lines: list[str] = []
    try:
        _mapping(body, "", lines, "")
    except _UnsureError:
        return None
    return "\n".join(lines) + "\n"


def _mapping(value: Mapping[str, Any], indent: str, lines: list[str], first: str) -> None:
    """Keys in order; `first` stands before the first of them instead of the indent."""
    start = first or indent
    for key in sorted(value):
        item = value[key]
        if isinstance(item, dict) and item:
            lines.append(f"{start}{_scalar(key)}:")
            _mapping(item, f"{indent}  ", lines, "")
        elif isinstance(item, list) and item:
            lines.append(f"{start}{_scalar(key)}:")
            for member in item:
                if isinstance(member, dict) and member:
                    _mapping(member, f"{indent}  ", lines, f"{indent}- ")
                else:
                    lines.append(f"{indent}- {_scalar(member)}")
        else:
            lines.append(f"{start}{_scalar(key)}: {_scalar(item)}")
        start = indent


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise _UnsureError


@lru_cache(maxsize=8192)
def _text(value: str) -> str:
    if _PLAIN.match(value) and value not in _WORDS:
        return value
    if not value or _NUMBER.match(value):
        return f'"{value}"'
    raise _UnsureError
