"""The JSON Schemas that editors read: the kinds of `model`, as people write them.

msgspec derives a schema of the values paddlegen works with.  A person writes more than that: plain
scalars where text is wanted (`DEBUG: on`), null to delete what a template gave, `${params.x}` in a
template.  All of it is allowed here exactly where `specs` and `resolve` take it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from paddlegen import specs
from paddlegen.model.cluster import ClusterProfile
from paddlegen.model.config import Config
from paddlegen.model.job import JobSpec, JobTemplate, StorageSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The newest one that yaml-language-server reads whole."""

_Schema = dict[str, Any]

_KINDS: dict[str, tuple[type, str]] = {
    "job": (JobSpec, "paddlegen job spec"),
    "template": (JobTemplate, "paddlegen job template"),
    "storage": (StorageSpec, "paddlegen storage spec"),
    "cluster": (ClusterProfile, "paddlegen cluster profile"),
    "config": (Config, "paddlegen.yaml"),
}
_EXAMPLES: dict[str, list[_Schema]] = {
    "job": [
        {
            "apiVersion": "paddlegen.dev/v1",
            "kind": "JobSpec",
            "metadata": {"name": "wide-and-deep", "namespace": "ads"},
            "spec": {
                "image": "registry.example.com/demo/wide-and-deep:v1",
                "roles": {"worker": {"replicas": 2, "cpu": 4, "memory": "16Gi", "gpu": 1}},
            },
        }
    ],
    "template": [
        {
            "apiVersion": "paddlegen.dev/v1",
            "kind": "JobTemplate",
            "metadata": {"name": "ps-cpu"},
            "spec": {
                "params": {"trainers": {"type": "integer", "default": 2}},
                "roles": {"ps": {"replicas": 2}, "worker": {"replicas": "${params.trainers}"}},
            },
        }
    ],
    "storage": [
        {
            "apiVersion": "paddlegen.dev/v1",
            "kind": "StorageSpec",
            "metadata": {"name": "nas", "namespace": "ads"},
            "spec": {"nfs": {"server": "192.0.2.10", "path": "/nas"}, "size": "10Gi"},
        }
    ],
    "cluster": [
        {
            "apiVersion": "paddlegen.dev/v1",
            "kind": "Cluster",
            "spec": {"kubernetes": "1.33", "paddleOperator": {"version": "0.3.5"}},
        }
    ],
    "config": [{"apiVersion": "paddlegen.dev/v1", "kind": "Config"}],
}

_MERGED = ("JobBody", "TemplateBody", "JobFields")
"""Definitions whose values are merged: null in them, or below, deletes what was inherited."""
_NOT_MERGED = ("clusters", "target", "extends", "params", "overrides")
"""Their fields that are not."""
_PARAM = r"\$\{params\.[^}]+\}"


def names() -> list[str]:
    """The names of the schemas."""
    return list(_KINDS)


def about(name: str) -> str:
    """What a schema describes, in one line."""
    return str(schema(name)["description"])


def file_name(name: str) -> str:
    """The file a schema is published in: `job.v1.json`."""
    return f"{name}.v1.json"


def text(name: str) -> str:
    """A schema as the text of its file."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def schema(name: str) -> _Schema:
    """A schema by its name, one of `names()`."""
    kind, title = _KINDS[name]
    raw = specs.json_schema(kind)["$defs"]
    definitions: dict[str, _Schema] = {key: _node(value) for key, value in raw.items()}
    if name == "template":
        _allow_params(definitions)
    _allow_nulls(definitions)
    root = definitions.pop(kind.__name__)
    return {
        "$schema": DIALECT,
        "$id": f"https://paddlegen.dev/schemas/{file_name(name)}",
        **root,
        "title": title,
        "examples": _EXAMPLES[name],
        "definitions": dict(sorted(definitions.items())),
    }


# --- from msgspec's dialect to ours


def _node(node: _Schema) -> _Schema:
    """A node of msgspec's schema in draft-07, with the text that editors show in front."""
    result = {key: node[key] for key in ("title",) if key in node}
    if "description" in node:
        result["description"] = node["description"].replace("`", "")
        result["markdownDescription"] = node["description"]
    if "$ref" in node:
        result["$ref"] = node["$ref"].replace("#/$defs/", "#/definitions/")
    if "enum" in node:
        result |= {"const": node["enum"][0]} if len(node["enum"]) == 1 else {"enum": node["enum"]}
    if "type" in node:
        result["type"] = _as_people_write(node)
    if "anyOf" in node:
        result |= _alternatives(node["anyOf"])
    if "properties" in node:
        result["properties"] = {key: _node(value) for key, value in node["properties"].items()}
    if "items" in node:
        result["items"] = _member(node["items"])
    if "additionalProperties" in node:
        rest = node["additionalProperties"]
        result["additionalProperties"] = rest if isinstance(rest, bool) else _member(rest)
    if isinstance(node.get("default"), str | int | float | bool):
        result["default"] = node["default"]
    return result | {key: node[key] for key in _AS_THEY_ARE if node.get(key) is not None and node[key] != []}


_AS_THEY_ARE = (
    "required",
    "pattern",
    "patternErrorMessage",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "examples",
)


def _as_people_write(node: _Schema) -> str | list[str]:
    """The node's type, with numbers where text is wanted: they are taken as they are written."""
    kind: str = node["type"]
    takes_numbers = kind == "string" and any(
        re.search(node.get("pattern", ""), text) for text in ("1", "1.5")
    )
    return ["string", "number"] if takes_numbers else kind


def _alternatives(branches: list[_Schema]) -> _Schema:
    """Alternatives, as a list of types if they differ in nothing else."""
    if any(set(branch) - {"type"} for branch in branches):
        return {"anyOf": [_node(branch) for branch in branches]}
    types = [branch["type"] for branch in branches]
    return {"type": [kind for kind in types if kind != "integer" or "number" not in types]}


def _member(node: _Schema) -> _Schema:
    """A list's item or a map's value: where text is wanted people also write `true` there."""
    result = _node(node)
    for raw, part in ((node, result), *zip(node.get("anyOf", []), result.get("anyOf", []), strict=False)):
        if raw.get("type") == "string" and "pattern" not in raw:
            part["type"] = ["string", "number", "boolean"]
    return result


# --- parameters of a template


def _allow_params(definitions: dict[str, _Schema]) -> None:
    """Let `${params.x}` stand for every scalar of a template."""
    for name in _below(definitions, "TemplateBody"):
        fields = definitions[name]["properties"]
        for field in fields.keys() - set(_NOT_MERGED):
            fields[field] = _or_param(fields[field])


def _or_param(node: _Schema) -> _Schema:
    result = dict(node)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            result[key] = _or_param(node[key])
    if "anyOf" in node:
        result["anyOf"] = [_or_param(branch) for branch in node["anyOf"]]
    types = _types(node)
    if "pattern" in node:
        result["pattern"] = f"({node['pattern']})|{_PARAM}"
    elif "enum" in node:
        result["anyOf"] = [{"enum": result.pop("enum")}, {"type": "string", "pattern": _PARAM}]
    elif types and not {"string", "object", "array"} & set(types):
        result |= {"type": [*types, "string"], "pattern": f"^{_PARAM}$"}
    return result


# --- null deletes what was inherited


def _allow_nulls(definitions: dict[str, _Schema]) -> None:
    """Let null stand wherever it deletes what a template, or the job, gave."""
    merged = [name for name in _MERGED if name in definitions]
    reached = {name for top in merged for name in _below(definitions, top)}
    for name in sorted(reached):
        definition = definitions[name]
        required = definition.get("required", [])
        for field, node in definition["properties"].items():
            if field in required or (name in merged and field in _NOT_MERGED):
                continue
            definition["properties"][field] = _or_null(node)
            target = _target(node)
            if target and target not in merged:
                definitions[target]["type"] = ["object", "null"]
            if isinstance(values := node.get("additionalProperties"), dict):
                definition["properties"][field]["additionalProperties"] = _or_null(values)


def _or_null(node: _Schema) -> _Schema:
    if "enum" in node:
        return {**node, "enum": [*node["enum"], None]}
    if "const" in node:
        return {
            **{key: value for key, value in node.items() if key != "const"},
            "enum": [node["const"], None],
        }
    if "anyOf" in node:
        return {**node, "anyOf": [_or_null(node["anyOf"][0]), *node["anyOf"][1:]]}
    return {**node, "type": [*_types(node), "null"]} if "type" in node else node


def _below(definitions: dict[str, _Schema], name: str) -> set[str]:
    """A definition and all it refers to, without what parameters are declared with."""
    seen: set[str] = set()
    todo = [name]
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        fields = definitions[here]["properties"].items()
        todo += [to for field, node in fields if field not in _NOT_MERGED for to in _references(node)]
    return seen


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if target := _target(node):
            yield target
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _target(node: _Schema) -> str:
    reference = node.get("$ref")
    return reference.rpartition("/")[2] if isinstance(reference, str) else ""


def _types(node: _Schema) -> list[str]:
    kind = node.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)
