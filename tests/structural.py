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
    yield from (f"{at}: {fault}" for fault in _own(node, defaults=defaults))
    for key, value in node.get("properties", {}).items():
        yield from faults(value, f"{at}.{key}", defaults=defaults)
    for key, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(key), dict):
            yield from faults(node[key], at + suffix, defaults=defaults)


def _own(node: dict[str, Any], *, defaults: bool) -> Iterator[str]:
    """What is wrong with a node itself."""
    either, kind = node.get("x-kubernetes-int-or-string"), node.get("type")
    has_parts = "properties" in node or "additionalProperties" in node
    rules = {
        "int-or-string has a type": either and kind,
        "has no type": not (either or kind or node.get("x-kubernetes-preserve-unknown-fields")),
        "has both properties and additionalProperties": {"properties", "additionalProperties"} <= node.keys(),
        "has properties and is no object": has_parts and kind != "object",
        "a list without items": kind == "array" and "items" not in node,
        "has a default": "default" in node and not defaults,
        "map-type of what is no object": node.get("x-kubernetes-map-type") and kind != "object",
    }
    yield from (message for message, is_broken in rules.items() if is_broken)
    yield from (f"{key} is forbidden" for key in sorted(FORBIDDEN & node.keys()))
    yield from (f"{key} is required and no property" for key in _required(node))
    yield from _logic(node)
    yield from _list(node)


def _logic(node: dict[str, Any]) -> Iterator[str]:
    either = node.get("x-kubernetes-int-or-string")
    for word in _LOGIC:
        if word in node and not (either and word == "anyOf" and node[word] == _EITHER):
            parts = node[word] if isinstance(node[word], list) else [node[word]]
            yield from (f"{key} inside {word}" for part in parts for key in _NOT_IN_LOGIC & part.keys())


def root_faults(node: dict[str, Any]) -> Iterator[str]:
    """What is asked of the outermost object beyond that."""
    if node.get("type") != "object":
        yield ": the root is no object"
    metadata = node.get("properties", {}).get("metadata", {})
    if set(metadata.get("properties", {})) - {"name", "generateName"}:
        yield ".metadata: only name and generateName may be restricted"


def _required(node: dict[str, Any]) -> list[str]:
    return [key for key in node.get("required", ()) if key not in node.get("properties", {})]


def _list(node: dict[str, Any]) -> Iterator[str]:
    keys, kind = node.get("x-kubernetes-list-map-keys"), node.get("x-kubernetes-list-type")
    if (keys is not None) != (kind == "map"):
        yield "list-map-keys go with list-type map"
    if kind is not None and node.get("type") != "array":
        yield "list-type of what is no list"
    item = node.get("items", {})
    for key in keys or ():
        field = item.get("properties", {}).get(key)
        if field is None or field.get("type") not in {"string", "integer", "number", "boolean"}:
            yield f"the key {key} is no scalar property"
        elif key not in item.get("required", ()) and "default" not in field:
            yield f"the key {key} is neither required nor has a default"
