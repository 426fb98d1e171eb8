"""The API server's rules for a structural schema, as far as a CRD of ours could break them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FORBIDDEN = {
    "$ref",
    "$schema",
    "additionalItems",
    "definitions",
    "dependencies",
    "deprecated",
    "discriminator",
    "id",
    "patternProperties",
    "readOnly",
    "uniqueItems",
    "writeOnly",
    "xml",
}
_LOGIC = ("allOf", "anyOf", "oneOf", "not")
_NOT_IN_LOGIC = {"type", "additionalProperties", "default", "nullable", "title", "description"}
_EITHER = [{"type": "integer"}, {"type": "string"}]


def faults(node: Any, at: str = "", *, defaults: bool = True) -> Iterator[str]:
    """Every rule a schema breaks, as `<where>: <what>`; without `defaults` there may be none."""
    yield from (f"{at}: {key} is forbidden" for key in sorted(FORBIDDEN & node.keys()))
    either = node.get("x-kubernetes-int-or-string")
    if either and "type" in node:
        yield f"{at}: int-or-string has a type"
    if not either and "type" not in node and not node.get("x-kubernetes-preserve-unknown-fields"):
        yield f"{at}: has no type"
    if "properties" in node and "additionalProperties" in node:
        yield f"{at}: has both properties and additionalProperties"
    if ("properties" in node or "additionalProperties" in node) and node.get("type") != "object":
        yield f"{at}: has properties and is no object"
    if node.get("type") == "array" and "items" not in node:
        yield f"{at}: a list without items"
    if "default" in node and not defaults:
        yield f"{at}: has a default"
    for word in _LOGIC:
        if word in node and not (either and word == "anyOf" and node[word] == _EITHER):
            parts = node[word] if isinstance(node[word], list) else [node[word]]
            yield from (f"{at}: {key} inside {word}" for part in parts for key in _NOT_IN_LOGIC & part.keys())
    yield from (f"{at}: {key} is required and no property" for key in _required(node))
    yield from _list(node, at)
    if node.get("x-kubernetes-map-type") and node.get("type") != "object":
        yield f"{at}: map-type of what is no object"
    for key, value in node.get("properties", {}).items():
        yield from faults(value, f"{at}.{key}", defaults=defaults)
    for key, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(key), dict):
            yield from faults(node[key], at + suffix, defaults=defaults)


def root_faults(node: dict[str, Any]) -> Iterator[str]:
    """What is asked of the outermost object beyond that."""
    if node.get("type") != "object":
        yield ": the root is no object"
    metadata = node.get("properties", {}).get("metadata", {})
    if set(metadata.get("properties", {})) - {"name", "generateName"}:
        yield ".metadata: only name and generateName may be restricted"


def _required(node: dict[str, Any]) -> list[str]:
    return [key for key in node.get("required", ()) if key not in node.get("properties", {})]


def _list(node: dict[str, Any], at: str) -> Iterator[str]:
    keys, kind = node.get("x-kubernetes-list-map-keys"), node.get("x-kubernetes-list-type")
    if (keys is not None) != (kind == "map"):
        yield f"{at}: list-map-keys go with list-type map"
    if kind is not None and node.get("type") != "array":
        yield f"{at}: list-type of what is no list"
    item = node.get("items", {})
    for key in keys or ():
        field = item.get("properties", {}).get(key)
        if field is None or field.get("type") not in {"string", "integer", "number", "boolean"}:
            yield f"{at}: the key {key} is no scalar property"
        elif key not in item.get("required", ()) and "default" not in field:
            yield f"{at}: the key {key} is neither required nor has a default"
