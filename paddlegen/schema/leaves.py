"""The values without parts: what JSON type each has, what a text must look like, and how to ask for it.

Kubernetes' own schemas say `string` for nearly all of them; the server's Go code is stricter, and these are
its rules (apimachinery `pkg/util/validation`, `pkg/api/resource`).
"""

from __future__ import annotations

from dataclasses import dataclass

FIT = "values-fit-schema"
QUANTITIES = "quantities-parse"
NAMES = "names-well-formed"
LABELS = "labels-well-formed"
PORTS = "ports-in-range"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar.

    `types` are JSON types; `pattern` is for all of a text, in what the regular expressions of Python and Rust
    share; `wish` completes "<field> is <value>; write ..."; `rule` is what a value out of place breaks.
    """

    name: str
    types: tuple[str, ...]
    wish: str
    pattern: str = ""
    longest: int | None = None
    least: int | None = None
    most: int | None = None
    rule: str = FIT


_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_WORD = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_QUANTITY = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
_PORT_NAME = r"(?:[0-9]+-)*[0-9]*[a-z](?:-?[a-z0-9])*"
_ENV_FIRST, _ENV = r"[-_a-zA-Z]", r"[-._a-zA-Z0-9]*"

_ALL = (
    Leaf("string", ("string",), "a text"),
    Leaf("bool", ("boolean",), "true or false"),
    Leaf("int", ("integer",), "a whole number"),
    Leaf("int32", ("integer",), "a whole number", least=-(2**31), most=2**31 - 1),
    Leaf("int64", ("integer",), "a whole number", least=-(2**63), most=2**63 - 1),
    Leaf("number", ("number",), "a number"),
    Leaf("time", ("string",), "a time such as 2024-01-31T12:00:00Z", _TIME),
    Leaf("bytes", ("string",), "base64 (or put plain text into stringData)", r"[A-Za-z0-9+/=\r\n]*"),
    Leaf(
        "quantity",
        ("string", "number"),
        "a number with one of m k M G T P E Ki Mi Gi Ti Pi Ei, such as 500m or 16Gi",
        _QUANTITY,
        rule=QUANTITIES,
    ),
    Leaf("int-or-string", ("string", "integer"), "a whole number or a text"),
    Leaf("port", ("integer",), "a port from 1 to 65535", least=1, most=65535, rule=PORTS),
    Leaf("port-or-none", ("integer",), "a port from 1 to 65535", least=0, most=65535, rule=PORTS),
    Leaf(
        "port-name",
        ("string",),
        "at most 15 of a-z, 0-9 and single hyphens inside, one letter among them",
        f"(?:{_PORT_NAME})?",
        longest=15,
        rule=PORTS,
    ),
    Leaf(
        "port-or-name",
        ("string", "integer"),
        "a port from 1 to 65535 without quotes, or the name of a port",
        f"(?:{_PORT_NAME})?",
        longest=15,
        least=0,
        most=65535,
        rule=PORTS,
    ),
    Leaf(
        "dns-label",
        ("string",),
        "at most 63 of a-z, 0-9 and hyphens inside",
        _LABEL,
        longest=63,
        rule=NAMES,
    ),
    Leaf(
        "dns-1035",
        ("string",),
        "at most 63 of a-z, 0-9 and hyphens inside, a letter first",
        r"[a-z](?:[-a-z0-9]*[a-z0-9])?",
        longest=63,
        rule=NAMES,
    ),
    Leaf(
        "dns-subdomain",
        ("string",),
        "at most 253 of a-z, 0-9, hyphens and dots inside",
        _SUBDOMAIN,
        longest=253,
        rule=NAMES,
    ),
    Leaf("path-segment", ("string",), "a text without / and %", r"[^/%]+", rule=NAMES),
    Leaf(
        "label-key",
        ("string",),
        "at most 63 of letters, digits, - _ . with a letter or digit at both ends, after an optional prefix/",
        f"(?:{_SUBDOMAIN}/)?{_WORD}",
        longest=317,
        rule=LABELS,
    ),
    Leaf(
        "annotation-key",
        ("string",),
        "at most 63 of letters, digits, - _ . with a letter or digit at both ends, after an optional prefix/",
        f"(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?/)?{_WORD}",
        longest=317,
        rule=LABELS,
    ),
    Leaf(
        "label-value",
        ("string",),
        "at most 63 of letters, digits, - _ . with a letter or digit at both ends",
        f"(?:{_WORD})?",
        rule=LABELS,
    ),
    Leaf(
        "env-name",
        ("string",),
        "letters, digits, - _ and dots, no digit first",
        rf"(?:{_ENV_FIRST}{_ENV}|\.[-_a-zA-Z0-9]{_ENV})",
        rule=NAMES,
    ),
    Leaf("env-name-relaxed", ("string",), "printable ASCII without =", r"[ -<>-~]+", rule=NAMES),
    Leaf("inner-path", ("string",), "a folder below the root", r".{2,}|[^./]"),
    Leaf("absolute-path", ("string",), "a path without a colon", r"[^:]+", rule=FIT),
)
LEAVES = {leaf.name: leaf for leaf in _ALL}
