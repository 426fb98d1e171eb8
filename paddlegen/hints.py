"""What a person who wrote an unknown field or a value of the wrong type probably meant."""

from __future__ import annotations

import json
import re
import shlex
from collections import deque
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlegen.model.report import FieldPath

ROLES = frozenset({"ps", "worker", "heter"})
_POD_FIELDS = frozenset(
    {
        "containers",
        "dnsConfig",
        "dnsPolicy",
        "hostAliases",
        "hostIPC",
        "hostNetwork",
        "hostPID",
        "initContainers",
        "nodeName",
        "runtimeClassName",
        "schedulerName",
        "securityContext",
        "terminationGracePeriodSeconds",
        "topologySpreadConstraints",
    }
)
"""Fields of a Kubernetes PodSpec for which a job spec has no shorter word."""

_WORDS: Mapping[str, str] = {
    "activeDeadlineSeconds": "write deadlineSeconds",
    "cleanPodPolicy": "write cleanup",
    "configMapKeyRef": "write valueFrom: {configMapKeyRef: ...}",
    "fieldRef": "write valueFrom: {fieldRef: ...}",
    "intranet": "write network",
    "minAvailable": "paddlegen sums it up from replicas",
    "minMember": "paddlegen sums it up from replicas",
    "priorityClassName": "write scheduling: {priorityClass: ...}",
    "resources": "write requests: and limits: here, or cpu:, memory: and gpu: where both are equal",
    "secretKeyRef": "write secret: {name: ..., key: ...}",
    "serviceAccountName": "write serviceAccount",
    "template": "write podTemplate",
    "volumeMounts": "write storage",
    "volumes": "write storage; what it cannot say belongs under podTemplate.spec",
    "withGloo": "write gloo",
}
"""Words of Kubernetes and of the operators that are called otherwise here."""


def unknown_field(key: str, at: FieldPath, known: Sequence[str], root: Mapping[str, Any]) -> str:
    """`; ...`: where a field that is unknown at a path belongs, or what it is called."""
    fields = set(known)
    if key in _WORDS and (key not in ("volumes", "volumeMounts", "resources") or "storage" in fields):
        return f"; {_WORDS[key]}"
    if key in _POD_FIELDS and "podTemplate" in fields:
        return f"; it belongs under podTemplate.spec: podTemplate: {{spec: {{{key}: ...}}}}"
    home = next((path for path in homes(key, root) if path != _shown(at)), None)
    if home is not None and not (close := _closest(key, known, cutoff=0.85)):
        return f"; {key} belongs under {home}" if home else f"; {key} belongs at the top of the document"
    close = _closest(key, known)
    return f"; did you mean {close}?" if close else _few(known)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`; did you mean ...?` for the known word that is close, or the few that exist, or nothing."""
    close = _closest(word, known)
    return f"; did you mean {close}?" if close else _few(known)


def closest(word: str, known: Sequence[str]) -> str:
    """`; did you mean ...?` for the known word that is close, or nothing."""
    close = _closest(word, known)
    return f"; did you mean {close}?" if close else ""


def wrong_type(field: str, instance: Any, types: Sequence[str]) -> str:
    """`; ...`: how to write a value that has the wrong type, or nothing where there is nothing to add."""
    if field == "env" and isinstance(instance, list):
        return f"; write NAME: value{_env_example(instance)}"
    if "array" in types and isinstance(instance, str):
        return f"; write {_flow_list(instance)}"
    if types == ["integer"] and isinstance(instance, str) and instance.isdigit():
        return f"; write {int(instance)} without quotes"
    return ""


def name_like(text: str, pattern: str) -> str:
    """`; did you mean ...?` for a name that lower case and dashes would make right."""
    better = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")[:63].rstrip("-")
    return f"; did you mean {better}?" if better != text and re.search(pattern, better) else ""


def homes(key: str, root: Mapping[str, Any]) -> Iterator[str]:
    """The places of a schema that have a field of this name, the outermost first."""
    todo: deque[tuple[tuple[str, ...], Mapping[str, Any]]] = deque([((), root)])
    while todo:
        path, schema = todo.popleft()
        for branch in _objects(schema, root):
            properties = branch.get("properties", {})
            if key in properties:
                yield _shown(path)
            if len(path) < 3:  # noqa: PLR2004  # spec.roles.<role> is as deep as the fields of a job go
                todo.extend(((*path, name), inner) for name, inner in properties.items() if name != "overrides")


def _objects(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$ref" in schema:
        yield from _objects(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    elif "anyOf" in schema:
        for branch in schema["anyOf"]:
            yield from _objects(branch, root)
    else:
        yield schema


def _shown(path: FieldPath) -> str:
    return ".".join("<role>" if part in ROLES else str(part) for part in path)


def _closest(word: str, known: Sequence[str], cutoff: float = 0.6) -> str:
    lowered = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[close[0]] if close else ""


def _few(known: Sequence[str]) -> str:
    if not 0 < len(known) <= 8:  # noqa: PLR2004  # more are no help
        return ""
    return f"; it has {' and '.join(filter(None, (', '.join(known[:-1]), known[-1])))}"


def _env_example(entries: Sequence[Any]) -> str:
    first = entries[0] if entries else None
    if not isinstance(first, dict) or not isinstance(first.get("name"), str):
        return ""
    if isinstance(first.get("value"), str):
        return f", such as {first['name']}: {json.dumps(first['value'], ensure_ascii=False)}"
    return f", such as {first['name']}: {{valueFrom: ...}}" if "valueFrom" in first else ""


def _flow_list(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        words = [text]
    plain = re.compile(r"[A-Za-z/_][\w./=-]*\Z").match
    shown = ", ".join(word if plain(word) else json.dumps(word, ensure_ascii=False) for word in words)
    return f"[{shown}]"
