"""How partial specs combine: maps merge, null deletes, lists replace, named lists merge by name.

A `podTemplate` is a patch: it is laid on a pod template the way Kubernetes' strategic merge patch is,
with the merge keys of the core/v1 types (Kubernetes API, `x-kubernetes-patch-merge-key`), so that it
behaves like the patches people already know.  Two of them combine to the patch that does both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

POD_KEYS: Mapping[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "env": ("name",),
    "ports": ("containerPort", "protocol"),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "resourceClaims": ("name",),
}
"""Merge keys of the lists of a pod template."""

_DEFAULTS = {"protocol": "TCP"}


def mount_name(entry: Mapping[str, Any]) -> str:
    """The name by which an entry of `storage` merges: its own, or that of what it uses."""
    return str(entry.get("name") or entry.get("use") or entry.get("claim") or entry.get("mountPath"))


def mount_path(entry: Mapping[str, Any]) -> str:
    """Where an entry of `storage` is mounted: its identity where one volume is mounted twice."""
    return str(entry.get("mountPath"))


def merge_specs(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, both in the form of a job spec; neither is changed."""
    merged = dict(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        elif key in merged:
            merged[key] = _merge_spec_field(key, merged[key], value)
        else:
            merged[key] = value
    return merged


def merge_pod_templates(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The pod template with a strategic merge patch applied; neither is changed."""
    merged = dict(base)
    for key, value in patch.items():
        if key == "$patch":
            continue
        if value is None or (isinstance(value, dict) and value.get("$patch") == "delete"):
            merged.pop(key, None)
        elif _is_replaced(value):
            merged[key] = _applied(value)
        elif isinstance(value, dict):
            old = merged.get(key)
            merged[key] = merge_pod_templates(old if isinstance(old, dict) else {}, value)
        elif key in POD_KEYS and isinstance(merged.get(key), list):
            merged[key] = _merge_pod_lists(key, merged[key], value)
        else:
            merged[key] = _applied(value)
    return merged


def combine_patches(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """One patch of a pod template that does what both do, in order; neither is changed."""
    if _is_replaced(second):
        return dict(second)
    combined = dict(first)
    for key, value in second.items():
        old = combined.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            combined[key] = combine_patches(old, value)
        elif key in POD_KEYS and isinstance(old, list) and isinstance(value, list):
            combined[key] = _combine_pod_lists(key, old, value)
        elif isinstance(value, dict) and key in combined:
            combined[key] = {**value, "$patch": "replace"}  # the first one deletes what stood there
        else:
            combined[key] = value
    return combined


def _merge_spec_field(key: str, base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return combine_patches(base, over) if key == "podTemplate" else merge_specs(base, over)
    if key == "storage" and isinstance(base, list) and isinstance(over, list):
        named = all(len({mount_name(e) for e in es if isinstance(e, dict)}) == len(es) for es in (base, over))
        return _merge_lists(base, over, mount_name if named else mount_path, merge_specs)
    return over


def pod_name(key: str, entry: Mapping[str, Any]) -> tuple[object, ...]:
    """The identity of an entry of the pod template list `key`."""
    return tuple(entry.get(part, _DEFAULTS.get(part)) for part in POD_KEYS[key])


def _is_replaced(value: Any) -> bool:
    """Whether a patch says `$patch: replace`, in a map or as an entry of a list."""
    entries = value if isinstance(value, list) else [value]
    return any(isinstance(entry, dict) and entry.get("$patch") == "replace" for entry in entries)


def _applied(value: Any) -> Any:
    """A patch as a value where there was none: nothing left to delete, no directives."""
    if isinstance(value, dict):
        return {key: _applied(item) for key, item in value.items() if item is not None and key != "$patch"}
    if isinstance(value, list):
        return [_applied(item) for item in value if not (isinstance(item, dict) and "$patch" in item)]
    return value


def _merge_pod_lists(key: str, base: list[Any], patch: list[Any]) -> list[Any]:
    merged = {pod_name(key, entry): entry for entry in base}
    for entry in patch:
        name = pod_name(key, entry)
        if entry.get("$patch") == "delete":
            merged.pop(name, None)
        else:
            merged[name] = merge_pod_templates(merged.get(name, {}), entry)
    return list(merged.values())


def _combine_pod_lists(key: str, first: list[Any], second: list[Any]) -> list[Any]:
    if _is_replaced(second):
        return second
    # A deletion is an entry of its own: what is deleted and then made anew is both, in that order.
    combined = {(pod_name(key, entry), entry.get("$patch")): entry for entry in first}
    for entry in second:
        name = pod_name(key, entry)
        if entry.get("$patch") == "delete":
            combined.pop((name, None), None)
            combined[name, "delete"] = entry
        else:
            combined[name, None] = combine_patches(combined.get((name, None), {}), entry)
    return list(combined.values())


def _merge_lists(
    base: list[Any],
    over: list[Any],
    name: Callable[[Mapping[str, Any]], object],
    merge: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]],
) -> list[Any]:
    if not all(isinstance(entry, dict) for entry in (*base, *over)):
        return over
    merged = {name(entry): entry for entry in base}
    for entry in over:
        key = name(entry)
        merged[key] = merge(merged[key], entry) if key in merged else entry
    return list(merged.values())
