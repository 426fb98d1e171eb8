"""A view as a compiled JSON Schema: the quick answer to "is anything wrong at all?".

The only importer of jsonschema_rs.  `explain` gives the slow answer from the same types; a test holds the two
together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from paddlegen.schema.types import (
    Anything,
    Bounds,
    Enumeration,
    ListOf,
    MapOf,
    Ref,
    Scalar,
    Type,
)
from paddlegen.schema.view import OBJECT_META, View, view

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlegen.schema.profile import Profile
    from paddlegen.schema.table import Field

_ANY: Final = ["array", "boolean", "integer", "number", "object", "string"]


def is_valid(profile: Profile, api_version: str, kind: str, body: Any) -> bool:
    """True if an object of a kind that a table lists has no fault at all."""
    try:
        return _compiled(profile, api_version, kind)(body)
    except ValueError:  # a number that no JSON reader takes
        return False


@lru_cache(maxsize=512)
def _compiled(profile: Profile, api_version: str, kind: str) -> Callable[[Any], bool]:
    from jsonschema_rs import Draft202012Validator, RegexOptions

    seen = view(profile, api_version, kind)
    if seen is None:
        message = f"no table lists {api_version} {kind}"
        raise LookupError(message)
    valid: Callable[[Any], bool] = Draft202012Validator(
        json_schema(seen),
        pattern_options=RegexOptions(),  # ours need no look-around, and this engine takes linear time
    ).is_valid
    return valid


def json_schema(seen: View) -> dict[str, Any]:
    """The JSON Schema of a kind as a cluster sees it."""
    definitions: dict[str, Any] = {}
    todo = [seen.root]
    while todo:
        name = todo.pop()
        if name not in definitions:
            fields = seen.fields(name)
            definitions[name] = _definition(fields, custom=seen.custom is not None)
            todo.extend(ref for field in fields.values() for ref in refs(field.type))
    root = definitions[seen.root] | {"type": "object", "required": [*_required(seen), "metadata"]}
    root["properties"] = root["properties"] | {"metadata": _metadata(seen)}
    return {"$defs": definitions | {seen.root: root}, "$ref": f"#/$defs/{seen.root}"}


def refs(kind: Type) -> list[str]:
    """The names of the types inside a type."""
    match kind:
        case Ref(name):
            return [name]
        case ListOf(inner) | MapOf(inner):
            return refs(inner)
        case _:
            return []


def _required(seen: View) -> list[str]:
    return [name for name, field in seen.fields(seen.root).items() if field.required and name != "metadata"]


def _metadata(seen: View) -> dict[str, Any]:
    """Every object has a name, or a stem that the server makes one of."""
    text = {"type": "string"}
    return {
        "$ref": f"#/$defs/{OBJECT_META}",
        "type": "object",
        "properties": {"name": _scalar(seen.name_leaf, custom=False) | {"type": ["string", "null"]}},
        "anyOf": [{"required": [name], "properties": {name: text}} for name in ("name", "generateName")],
    }


def _definition(fields: Any, *, custom: bool) -> dict[str, Any]:
    return {
        "type": ["object", "null"],
        "properties": {name: _property(field, custom=custom) for name, field in fields.items()},
        "required": [name for name, field in fields.items() if field.required],
        "additionalProperties": False,
    }


def _property(field: Field, *, custom: bool) -> dict[str, Any]:
    schema = _schema(field.type, custom=custom, nullable=not field.required)
    if field.empty and "enum" in schema:
        schema["enum"].append("")
    elif field.empty and "pattern" in schema:
        schema["pattern"] = f"^(?:{schema['pattern'][1:-1]})?$"
    if field.empty:
        schema.pop("minLength", None)
    return schema


def _schema(kind: Type, *, custom: bool, nullable: bool) -> dict[str, Any]:
    match kind:
        case Scalar():
            return _nullable(_scalar(kind, custom=custom), nullable=nullable)
        case Enumeration(words):
            return {"enum": [*words, *([None] if nullable else [])]}
        case ListOf(item, bounds):
            # null in a list of texts is the empty text to the server's own kinds, and refused by a CRD
            items = _schema(item, custom=custom, nullable=not custom and isinstance(item, Scalar))
            sizes = _sizes(bounds, "minItems", "maxItems")
            return _nullable({"type": ["array"], "items": items} | sizes, nullable=nullable)
        case MapOf(value, key):
            values = _schema(value, custom=custom, nullable=True)
            schema: dict[str, Any] = {"type": ["object"], "additionalProperties": values}
            if key is not None:
                schema["propertyNames"] = _scalar(key, custom=custom)
            return _nullable(schema, nullable=nullable)
        case Ref(name):
            return {"$ref": f"#/$defs/{name}"} | ({} if nullable else {"type": "object"})
        case Anything(mapping):
            return _nullable({"type": ["object"] if mapping else _ANY}, nullable=nullable)


def _scalar(kind: Scalar, *, custom: bool) -> dict[str, Any]:
    leaf, bounds = kind.leaf, kind.bounds
    # a CRD says int-or-string where the server's own kinds take a fraction
    schema: dict[str, Any] = {"type": ["integer" if custom and t == "number" else t for t in leaf.types]}
    if leaf.name == "number":
        schema["type"] = ["number"]
    if leaf.pattern:
        schema["pattern"] = f"^(?:{leaf.pattern})$"
    if "string" in leaf.types:
        return (
            schema
            | _sizes(Bounds(bounds.least, bounds.most or leaf.longest), "minLength", "maxLength")
            | (_sizes(Bounds(leaf.least, leaf.most), "minimum", "maximum"))
        )
    return schema | _sizes(_narrower(kind), "minimum", "maximum")


def _narrower(kind: Scalar) -> Bounds:
    least = kind.leaf.least if kind.bounds.least is None else kind.bounds.least
    most = kind.leaf.most if kind.bounds.most is None else kind.bounds.most
    return Bounds(least, most)


def _sizes(bounds: Bounds, least: str, most: str) -> dict[str, int]:
    pairs = ((least, bounds.least), (most, bounds.most))
    return {name: value for name, value in pairs if value is not None}


def _nullable(schema: dict[str, Any], *, nullable: bool) -> dict[str, Any]:
    return schema | {"type": [*schema["type"], "null"]} if nullable else schema
