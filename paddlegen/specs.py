"""YAML documents to the values of `model`: what a person wrote, checked field by field.

The quick way is one `msgspec.convert`.  Only a document that does not convert is walked a second
time, to take plain scalars as written where the schema wants text (`DEBUG: on` in an env is the
string "on"), and to list every fault with its place instead of the first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from paddlegen import hints
from paddlegen.documents import plain_scalars, scalar_text
from paddlegen.model.output import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from paddlegen.documents import Document
    from paddlegen.model.report import FieldPath

T = TypeVar("T")

FIELDS_KNOWN = "spec-fields-known"
VALUES_ALLOWED = "spec-values-allowed"

_SHOWN = 80
"""Characters of a value that a message quotes."""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A document read as a `T`.

    `value` is None if there are violations.  `body` is the document's value with the scalars that
    were taken as written; nulls, which delete inherited values, are still in it.  `as_written`
    holds the paths of those scalars: no reader can misread them any more.
    """

    value: T | None
    body: dict[str, Any]
    violations: tuple[Violation, ...] = ()
    as_written: frozenset[FieldPath] = frozenset()


def parse(document: Document, kind: type[T]) -> Parsed[T]:
    """Read a document as one of the kinds of `model.job` or `model.cluster`."""
    body = document.value
    if not isinstance(body, dict):
        return Parsed(
            None, {}, (Violation((), f"this is {typename(body)}; a mapping is needed", VALUES_ALLOWED),)
        )
    try:
        return Parsed(msgspec.convert(without_nulls(body), kind), body)
    except msgspec.ValidationError:
        return _parse_slowly(document, body, kind)


def convert(body: dict[str, Any], kind: type[T]) -> T | list[Violation]:
    """Read a merged value as a `T`; the violations name paths of the merged value."""
    body = without_nulls(body)
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError:
        schema = json_schema(kind)
    # What a person wrote is text by now; what is left came out of a typed parameter.
    body = _as_written(body, schema, schema, (), lambda _, value: text(value))
    violations = sorted(_violations(body, schema), key=_order)
    return violations or msgspec.convert(body, kind)


def text(value: str | float | bool) -> str:  # noqa: FBT001  # a scalar of any type
    """A typed parameter's value inside text, spelled as YAML spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def without_nulls(value: Any) -> Any:
    """The value without the keys that are null: in a spec, null says "delete what I inherit".

    A podTemplate keeps its own: there null deletes what stands in the pod template.
    """
    if isinstance(value, dict):
        return {
            key: item if key == "podTemplate" else without_nulls(item)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def json_schema(kind: type) -> dict[str, Any]:
    """The JSON Schema of a kind, as msgspec derives it."""
    return _json_schema(kind)


@cache
def _json_schema(kind: Hashable) -> dict[str, Any]:
    return msgspec.json.schema(kind)


def takes_text(path: FieldPath, kind: type) -> bool:
    """Whether the schema of a kind wants text at a path, so that a plain scalar is what was written."""
    root = json_schema(kind)
    schemas = [root]
    for part in path:
        branches = [branch for schema in schemas for branch in _branches(schema, root)]
        schemas = []
        for branch in branches:
            rest = branch.get("additionalProperties")
            if isinstance(part, int):
                schemas += [branch["items"]] if "items" in branch else []
            elif part in branch.get("properties", {}):
                schemas.append(branch["properties"][part])
            elif isinstance(rest, dict):
                schemas.append(rest)
    return any(branch.get("type") == "string" for schema in schemas for branch in _branches(schema, root))


def _parse_slowly(document: Document, body: dict[str, Any], kind: type[T]) -> Parsed[T]:
    schema = json_schema(kind)
    taken: set[FieldPath] = set()
    plain = plain_scalars(document)

    def text_of(path: FieldPath, value: Any) -> str:
        taken.add(path)
        return plain.get(path) or scalar_text(document, path) or text(value)

    body = _as_written(body, schema, schema, (), text_of)
    bare = without_nulls(body)
    violations = tuple(sorted(_violations(bare, schema), key=_order))
    if not violations:
        return Parsed(msgspec.convert(bare, kind), body, (), frozenset(taken))
    return Parsed(None, body, violations, frozenset(taken))


def _as_written(
    value: Any,
    schema: dict[str, Any],
    root: dict[str, Any],
    path: FieldPath,
    text_of: Callable[[FieldPath, Any], str],
) -> Any:
    """The value with scalars as text where the schema wants text and nothing else fits."""
    branches = list(_branches(schema, root))
    if isinstance(value, dict):
        branch = next((b for b in branches if "properties" in b or "additionalProperties" in b), {})
        properties, rest = branch.get("properties", {}), branch.get("additionalProperties")
        rest = rest if isinstance(rest, dict) else {}
        return {
            key: _as_written(item, properties.get(key, rest), root, (*path, key), text_of)
            for key, item in value.items()
        }
    if isinstance(value, list):
        items: dict[str, Any] = next((b["items"] for b in branches if "items" in b), {})
        return [_as_written(item, items, root, (*path, i), text_of) for i, item in enumerate(value)]
    types = {b.get("type") for b in branches}
    if value is None or isinstance(value, str) or "string" not in types:
        return value
    if typename(value) in {_ARTICLES.get(t) for t in types if t}:
        return value
    return text_of(path, value)


def _branches(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The alternatives of a schema, references followed."""
    if "$ref" in schema:
        yield from _branches(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    elif "anyOf" in schema:
        for branch in schema["anyOf"]:
            yield from _branches(branch, root)
    elif "enum" in schema and "type" not in schema:
        yield {"type": "string", **schema}
    else:
        yield schema


def _violations(value: Any, schema: dict[str, Any]) -> Iterator[Violation]:
    import jsonschema_rs

    for error in jsonschema_rs.validator_for(schema).iter_errors(value):
        path = tuple(error.instance_path)
        yield from _explain(error, path, schema)


def _explain(  # noqa: C901, PLR0912  # one table: a case per keyword of JSON Schema
    error: Any, path: FieldPath, root: dict[str, Any]
) -> Iterator[Violation]:
    """The violations one schema error stands for, in words."""
    name, detail, instance = error.kind.name, error.kind.as_dict(), error.instance
    schema = _lookup(root, error.schema_path[:-1])
    field = str(path[-1]) if path else "the document"
    match name:
        case "additionalProperties":
            known = sorted(schema.get("properties", {}))
            for key in detail["unexpected"]:
                hint = hints.unknown_field(key, path, known, root)
                yield Violation((*path, key), f"{key} is no field of {_owner(path)}{hint}", FIELDS_KNOWN)
        case "required":
            missing = detail["property"]
            if not _is_misspelt(missing, instance, schema):
                message = f"{_owner(path)} has no {missing}; it needs one"
                yield Violation((*path, missing), message, VALUES_ALLOWED)
        case "enum":
            options = [str(option) for option in schema["enum"]]
            wish = f"write {_one_of(options)}"
            if len(options) > 1:
                wish += hints.closest(str(instance), options)
            yield Violation(path, f"{field} is {_show(instance)}; {wish}", VALUES_ALLOWED)
        case "anyOf":
            yield from _explain_any_of(error, path, schema, root)
        case "type":
            yield Violation(
                path, _wrong_type(field, instance, [schema.get("type", "string")]), VALUES_ALLOWED
            )
        case "pattern":
            pattern = schema["pattern"]
            wish = schema.get("patternErrorMessage", f"it needs to match {pattern}")
            hint = hints.name_like(str(instance), pattern)
            yield Violation(path, f"{field} is {_show(instance)}; {wish}{hint}", VALUES_ALLOWED)
        case "maxLength":
            most = schema["maxLength"]
            message = f"{field} is {_show(instance)}, {len(instance)} characters; at most {most} are allowed"
            yield Violation(path, message, VALUES_ALLOWED)
        case "minLength":
            yield Violation(path, f'{field} is ""; it needs a value', VALUES_ALLOWED)
        case "minimum":
            yield Violation(
                path,
                f"{field} is {_show(instance)}; it needs to be at least {schema['minimum']}",
                VALUES_ALLOWED,
            )
        case "maximum":
            yield Violation(
                path, f"{field} is {_show(instance)}; it can be at most {schema['maximum']}", VALUES_ALLOWED
            )
        case _:
            yield Violation(path, f"{field} is {_show(instance)}; {error.message}", VALUES_ALLOWED)


def _explain_any_of(
    error: Any, path: FieldPath, schema: dict[str, Any], root: dict[str, Any]
) -> Iterator[Violation]:
    import jsonschema_rs

    instance = error.instance
    branches = list(_branches(schema, root))
    fitting = [b for b in branches if b.get("type") == ("object" if isinstance(instance, dict) else None)]
    if fitting:
        part = {**fitting[0], "$defs": root.get("$defs", {})}
        for inner in jsonschema_rs.validator_for(part).iter_errors(instance):
            yield from _explain(inner, (*path, *inner.instance_path), part)
        return
    types = [str(b.get("type", "string")) for b in branches]
    yield Violation(
        path, _wrong_type(str(path[-1]) if path else "the value", instance, types), VALUES_ALLOWED
    )


def _lookup(schema: dict[str, Any], path: list[str | int]) -> dict[str, Any]:
    node: Any = schema
    for part in path:
        node = node[part]
    return node if isinstance(node, dict) else {}


def _wrong_type(field: str, instance: Any, types: list[str]) -> str:
    names = list(dict.fromkeys(_ARTICLES.get(t, t) for t in types if t != "number" or "integer" not in types))
    hint = hints.wrong_type(field, instance, types)
    return f"{field} is {typename(instance)} ({_show(instance)}); {_one_of(names)} is needed{hint}"


def _is_misspelt(missing: str, instance: Any, schema: dict[str, Any]) -> bool:
    """Whether an unknown field beside it was meant to be the missing one: that is said already."""
    unknown = [key for key in instance if key not in schema.get("properties", {})]
    return bool(hints.closest(missing, unknown))


def _owner(path: FieldPath) -> str:
    if not path:
        return "the document"
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:]


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


_ARTICLES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "null",
}


_TYPES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}


def typename(value: Any) -> str:
    """What a value is, in words: `a list`, `text`."""
    return _ARTICLES[_TYPES.get(type(value), "object")]


def _order(violation: Violation) -> tuple[str, ...]:
    return (*map(str, violation.path), violation.message)
