"""Objects made at random from what a cluster knows of a kind, and the same with something wrong in them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from paddlegen.schema.types import Anything, Enumeration, ListOf, MapOf, Ref, Scalar, Type

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from paddlegen.schema.view import View

DEPTH = 7
TEXTS = {
    "annotation-key": ["a", "Example.com/B_c"],
    "bytes": ["", "YWJj"],
    "dns-label": ["a", "w-1"],
    "dns-subdomain": ["a", "w-1.x"],
    "env-name": ["A", "_B.c"],
    "env-name-relaxed": ["A", "1 b"],
    "int-or-string": ["25%", "http"],
    "label-key": ["a", "example.com/B_c"],
    "label-value": ["", "a.B_c"],
    "path-segment": ["a:b"],
    "port-name": ["http", "a-1"],
    "port-or-name": ["http", "1-a"],
    "quantity": ["1", "500m", "16Gi", "1e3", "-.5"],
    "time": ["2024-01-31T12:00:00Z"],
}
ODD = [
    "",
    "x y",
    "-a",
    "A" * 64,
    "8Gib",
    "never",
    "80",
    "a--b",
    -1,
    0,
    70000,
    2**40,
    0.5,
    1.0,
    True,
    None,
    [],
    {},
    [None],
    {"a": None},
    [{}],
]
WORDS = ["nodeSelector", "name", "imagee", "replicas", "x-y", "volumes"]


def make(random: Random, seen: View) -> dict[str, Any]:
    """An object without a fault."""
    body = _object(random, seen, seen.root, 0, skip=("metadata",))
    name = {"name": "a"} if random.random() < 0.9 else {"generateName": "a-"}
    meta = _object(random, seen, "meta.v1.ObjectMeta", 1, skip=("name", "generateName"))
    return {"apiVersion": seen.api_version, "kind": seen.kind, "metadata": meta | name} | {
        key: value for key, value in body.items() if key not in ("apiVersion", "kind")
    }


def spoil(random: Random, body: dict[str, Any], times: int) -> dict[str, Any]:
    """The object with values replaced, taken away and put in at random places."""
    body = copy.deepcopy(body)
    for _ in range(times):
        places = [place for place in _places(body) if place[1] not in ("apiVersion", "kind")]
        places = places or [(body, "metadata")]
        holder, key = random.choice(places)
        action = random.randrange(4)
        if action == 0:
            holder[key] = copy.deepcopy(random.choice(ODD))
        elif action == 1:
            holder.pop(key) if isinstance(holder, list) else holder.pop(key, None)
        elif isinstance(holder, dict):
            holder[random.choice(WORDS)] = copy.deepcopy(random.choice(ODD))
        else:
            holder.append(copy.deepcopy(random.choice(ODD)))
    return body


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield value, key
        yield from _places(item)


def _object(random: Random, seen: View, name: str, depth: int, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    fields = {key: field for key, field in seen.fields(name).items() if key not in skip}
    some = min(1.0, 6 / (len(fields) or 1)) if depth < DEPTH else 0
    return {
        key: _value(random, seen, field.type, depth + 1)
        for key, field in fields.items()
        if field.required or random.random() < some
    }


def _value(random: Random, seen: View, kind: Type, depth: int) -> Any:
    match kind:
        case Scalar():
            return _scalar(random, kind)
        case Enumeration(words):
            return random.choice(words)
        case ListOf(item, bounds):
            least = bounds.least or 0
            return [_value(random, seen, item, depth) for _ in range(max(least, random.randrange(3)))]
        case MapOf(value, key):
            keys = TEXTS[key.leaf.name] if key else ["a", "b.c/d"]
            return {one: _value(random, seen, value, depth) for one in keys if random.random() < 0.6}
        case Ref(name):
            return _object(random, seen, name, depth)
        case Anything():
            return {}


def _scalar(random: Random, kind: Scalar) -> Any:
    leaf = kind.leaf
    if leaf.types[0] == "boolean":
        return random.random() < 0.5
    if "string" in leaf.types and (len(leaf.types) == 1 or random.random() < 0.7):
        return random.choice(TEXTS.get(leaf.name, ["a", "b c"]))
    least = leaf.least if kind.bounds.least is None else kind.bounds.least
    most = leaf.most if kind.bounds.most is None else kind.bounds.most
    least = 0 if least is None else max(least, -1)
    return random.randint(least, min(100, 100 if most is None else most))
