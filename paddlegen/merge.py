"""How partial specs combine: maps merge, null deletes, lists replace, named lists merge by name.

Pod templates combine the way Kubernetes' strategic merge patch does, with the merge keys of the
core/v1 types (Kubernetes API, `x-kubernetes-patch-merge-key`), so that `podTemplate` behaves like
the patches people already know.
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
    return _merge_maps(base, over, _merge_spec_field)


def merge_pod_templates(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `base` as a strategic merge patch of a pod template; neither is changed."""
    return _merge_maps(base, over, _merge_pod_field)


def _merge_maps(
    base: Mapping[str, Any], over: Mapping[str, Any], field: Callable[[str, Any, Any], Any]
) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        elif key in merged:
            merged[key] = field(key, merged[key], value)
        else:
            merged[key] = value
    return merged


def _merge_spec_field(key: str, base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return merge_pod_templates(base, over) if key == "podTemplate" else merge_specs(base, over)
    if key == "storage" and isinstance(base, list) and isinstance(over, list):
        named = all(len({mount_name(e) for e in es if isinstance(e, dict)}) == len(es) for es in (base, over))
        return _merge_lists(base, over, mount_name if named else mount_path, merge_specs)
    return over


def _merge_pod_field(key: str, base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        if over.get("$patch") == "replace":
            return {name: value for name, value in over.items() if name != "$patch"}
        return merge_pod_templates(base, over)
    if key in POD_KEYS and isinstance(base, list) and isinstance(over, list):
        return _merge_lists(base, over, lambda entry: pod_name(key, entry), merge_pod_templates)
    return over


def pod_name(key: str, entry: Mapping[str, Any]) -> tuple[object, ...]:
    """The identity of an entry of the pod template list `key`."""
    return tuple(entry.get(part, _DEFAULTS.get(part)) for part in POD_KEYS[key])


def _merge_lists(
    base: list[Any],
    over: list[Any],
    name: Callable[[Mapping[str, Any]], object],
    merge: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]],
) -> list[Any]:
    if not all(isinstance(entry, dict) for entry in (*base, *over)):
        return over
    if any(entry.get("$patch") == "replace" for entry in over):
        return [entry for entry in over if "$patch" not in entry]
    merged = {name(entry): entry for entry in base}
    for entry in over:
        key = name(entry)
        if entry.get("$patch") == "delete":
            merged.pop(key, None)
        else:
            merged[key] = merge(merged[key], entry) if key in merged else entry
    return list(merged.values())
