"""The pod template of one role.

Fields that a spec and a pod share one to one are a table, `FIELDS`: it builds the template and,
read the other way, tells which field of the spec a path of the template came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from paddlegen.merge import POD_KEYS, merge_pod_templates
from paddlegen.model.output import Violation
from paddlegen.resources import quantity, volumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.job import EnvSource, Port, Quantity, Role
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Job, RoleOfJob

GPU = "nvidia.com/gpu"
SHM = "/dev/shm"  # noqa: S108  # the mount point that DataLoader workers share memory through
SHM_VOLUME = "dshm"
JOB_LABEL = "paddlegen.dev/job"

_CONTAINER: FieldPath = ("spec", "containers", 0)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a role and the place of the same value in the pod template."""

    name: str
    attribute: str
    path: FieldPath


FIELDS = (
    Field("podLabels", "pod_labels", ("metadata", "labels")),
    Field("podAnnotations", "pod_annotations", ("metadata", "annotations")),
    Field("containerName", "container_name", (*_CONTAINER, "name")),
    Field("image", "image", (*_CONTAINER, "image")),
    Field("imagePullPolicy", "image_pull_policy", (*_CONTAINER, "imagePullPolicy")),
    Field("command", "command", (*_CONTAINER, "command")),
    Field("args", "args", (*_CONTAINER, "args")),
    Field("workingDir", "working_dir", (*_CONTAINER, "workingDir")),
    Field("envFrom", "env_from", (*_CONTAINER, "envFrom")),
    Field("restartPolicy", "restart_policy", ("spec", "restartPolicy")),
    Field("serviceAccount", "service_account", ("spec", "serviceAccountName")),
    Field("deadlineSeconds", "deadline_seconds", ("spec", "activeDeadlineSeconds")),
    Field("nodeSelector", "node_selector", ("spec", "nodeSelector")),
    Field("tolerations", "tolerations", ("spec", "tolerations")),
    Field("affinity", "affinity", ("spec", "affinity")),
)
"""What needs no thought.  Everything else is built below."""

_DERIVED = (
    ((*_CONTAINER, "env"), ("env",)),
    ((*_CONTAINER, "ports"), ("ports",)),
    ((*_CONTAINER, "volumeMounts"), ("storage",)),
    (("spec", "volumes"), ("storage",)),
    (("spec", "imagePullSecrets"), ("imagePullSecrets",)),
)


_SHORTHANDS = {"cpu": "cpu", "memory": "memory", "ephemeral-storage": "ephemeralStorage", GPU: "gpu"}


def pod_template(job: Job, role: RoleOfJob) -> dict[str, Any]:
    """The pod template of a role, without what only one target wants and without `podTemplate`."""
    fields = role.fields
    container: dict[str, Any] = {"name": "paddle"}
    spec: dict[str, Any] = {"containers": [container]}
    template: dict[str, Any] = {"metadata": {"labels": {JOB_LABEL: job.name}}, "spec": spec}
    for field in FIELDS:
        value = getattr(fields, field.attribute)
        if not isinstance(value, UnsetType):
            _put(template, field.path, value)
    if fields.image_pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in fields.image_pull_secrets]
    if fields.env:
        container["env"] = [env_entry(name, value) for name, value in fields.env.items()]
    if fields.ports:
        container["ports"] = [_port(port) for port in fields.ports]
    if resources := _resources(role):
        container["resources"] = resources
    mounts = [volumes.mount(mount) for mount in role.mounts]
    pod_volumes = list(
        {v["name"]: v for v in (volumes.pod_volume(job, mount) for mount in role.mounts)}.values()
    )
    if (shm := _shared_memory(role)) is not None and SHM not in {mount["mountPath"] for mount in mounts}:
        pod_volumes.append({"name": SHM_VOLUME, "emptyDir": shm})
        mounts.append({"name": SHM_VOLUME, "mountPath": SHM})
    if mounts:
        container["volumeMounts"] = mounts
    if pod_volumes:
        spec["volumes"] = pod_volumes
    return template


def finish(template: dict[str, Any], role: RoleOfJob) -> dict[str, Any]:
    """The template with the role's `podTemplate` merged over it, its /dev/shm kept single."""
    over = role.fields.pod_template
    if isinstance(over, UnsetType):
        return template
    over = _for_main_container(over, template["spec"]["containers"][0]["name"])
    merged = merge_pod_templates(template, over)
    _drop_idle_shm(merged)
    for containers in ("containers", "initContainers"):
        if containers in merged["spec"]:
            merged["spec"][containers] = [_with_protocols(entry) for entry in merged["spec"][containers]]
    return merged


def violations(job: Job, role: RoleOfJob) -> Iterator[Violation]:
    """What no Kubernetes pod can be, at the role's fields."""
    at: FieldPath = ("roles", role.name)
    fields = role.fields
    over = fields.pod_template
    if not isinstance(over, UnsetType):
        wrong = list(_shape_violations(over, (*at, "podTemplate")))
        yield from wrong
        if wrong:
            return
    yield from _label_violations(role, at)
    if isinstance(fields.image, UnsetType) and not _brings_image(role):
        yield Violation(at, f"{role.name} has no image; a container needs one", "spec-values-allowed")
    yield from _resource_violations(at, fields)
    yield from _gpu_violations(at, role)
    names: dict[str, str] = {}
    for index, mount in enumerate(role.mounts):
        here = (*at, "storage", volumes.key(role.mounts, index))
        yield from volumes.mount_violations(job, mount, here)
        taken = names.setdefault(mount.mount_path.rstrip("/"), volumes.volume_name(mount))
        if taken != volumes.volume_name(mount):
            message = (
                f"{mount.mount_path} is mounted twice in {role.name}, from {taken} and "
                f"{volumes.volume_name(mount)}"
            )
            yield Violation((*here, "mountPath"), message, "mount-paths-unique")


def _resource_violations(at: FieldPath, fields: Role) -> Iterator[Violation]:
    for name in ("cpu", "memory", "ephemeral_storage"):
        value = getattr(fields, name)
        if not isinstance(value, UnsetType):
            yield from _quantity((*at, _camel(name)), value)
    for name in ("requests", "limits"):
        for resource, value in (getattr(fields, name) or {}).items():
            yield from _quantity((*at, name, resource), value)
    shm = fields.shared_memory
    if not isinstance(shm, UnsetType) and shm not in ("auto", "memory", "none"):
        yield from _quantity((*at, "sharedMemory"), shm)


def _shape_violations(value: dict[str, Any], at: FieldPath) -> Iterator[Violation]:
    """What keeps a podTemplate from being merged: mappings and lists where Kubernetes has others."""
    for key, item in value.items():
        here = (*at, key)
        if key in POD_KEYS:
            yield from _list_violations(key, item, here)
        elif key in _KEPT and (not isinstance(item, dict) or "$patch" in item):
            yield Violation(here, f"{key} needs to be a mapping, without $patch", "spec-values-allowed")
        elif key in _MAPPINGS and not isinstance(item, dict | None):
            yield Violation(here, f"{key} needs to be a mapping", "spec-values-allowed")
        elif key in ("requests", "limits"):
            for name, amount in (item or {}).items():
                if amount is not None:
                    yield from _quantity((*here, name), amount)
        elif isinstance(item, dict) and key in _KEPT + _MAPPINGS:
            yield from _shape_violations(item, here)


_KEPT = ("metadata", "spec", "labels")
"""Mappings of a pod template that a podTemplate may add to, and not take away."""

_MAPPINGS = ("annotations", "resources", "requests", "limits", "affinity", "podAntiAffinity")


def _list_violations(key: str, value: Any, at: FieldPath) -> Iterator[Violation]:
    entries = [] if value is None else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        yield Violation(at, f"{key} needs to be a list of mappings", "spec-values-allowed")
        return
    for index, entry in enumerate(entries):
        lacks = [name for name in POD_KEYS[key] if name not in entry and name != "protocol"]
        is_main = key == "containers" and len(entries) == 1
        if lacks and "$patch" not in entry and not is_main:
            message = f"an entry of {key} has no {lacks[0]}; it needs one, by which it is merged"
            yield Violation((*at, index), message, "spec-values-allowed")
        yield from _shape_violations(entry, (*at, index))


def _label_violations(role: RoleOfJob, at: FieldPath) -> Iterator[Violation]:
    metadata = (role.fields.pod_template or {}).get("metadata") or {}
    for path, labels in (
        (("podLabels",), role.fields.pod_labels or {}),
        (("podTemplate", "metadata", "labels"), metadata.get("labels") or {}),
    ):
        if JOB_LABEL in labels:
            message = f"{JOB_LABEL} is written by paddlegen, and the job's pods are found by it; remove it"
            yield Violation((*at, *path, JOB_LABEL), message, "own-labels-kept")


def env_entry(name: str, value: str | EnvSource) -> dict[str, Any]:
    """An entry of a container's `env`."""
    if isinstance(value, str):
        return {"name": name, "value": value}
    if not isinstance(value.secret, UnsetType):
        reference = {"name": value.secret.name, "key": value.secret.key}
        return {"name": name, "valueFrom": {"secretKeyRef": reference}}
    return {"name": name, "valueFrom": {} if isinstance(value.value_from, UnsetType) else value.value_from}


def requests(template: Mapping[str, Any]) -> dict[str, str | int | float] | None:
    """What one pod asks of the scheduler, as the paddle-operator counts it; None if a container is silent.

    Sum over the containers of requests, or of limits only where requests are absent; init
    containers do not count (facts: paddle_operators 2.6, helper.go:489-560).
    """
    total: dict[str, Any] = {}
    binary: set[str] = set()
    for container in template["spec"]["containers"]:
        resources = container.get("resources") or {}
        asked = resources.get("requests") or resources.get("limits")
        if not asked:
            return None
        for name, value in asked.items():
            total[name] = total.get(name, 0) + quantity.parse(value)
            if str(value).endswith("i"):
                binary.add(name)
    return {
        name: quantity.show(value, binary=name in binary or name == "memory") for name, value in total.items()
    }


def origins(path: FieldPath) -> Iterator[FieldPath]:
    """The role's fields that a path of the pod template can have been built from, likeliest first."""
    yield ("podTemplate", *path)
    for field in FIELDS:
        if path[: len(field.path)] == field.path:
            yield (field.name, *path[len(field.path) :])
    for prefix, name in _DERIVED:
        if path[: len(prefix)] == prefix:
            yield (*name, *path[len(prefix) : len(prefix) + 1])
    resources: FieldPath = (*_CONTAINER, "resources")
    if path[: len(resources)] == resources:
        rest = path[len(resources) :]
        yield rest or ("limits",)
        if len(rest) > 1 and rest[1] in _SHORTHANDS:
            yield (_SHORTHANDS[str(rest[1])],)


def _put(body: dict[str, Any], path: FieldPath, value: Any) -> None:
    node: Any = body
    for part in path[:-1]:
        node = node[part] if isinstance(part, int) else node.setdefault(part, {})
    last = path[-1]
    if isinstance(value, dict) and isinstance(node.get(last), dict):
        node[last] = {**node[last], **value}
    else:
        node[last] = value


def _with_protocols(container: dict[str, Any]) -> dict[str, Any]:
    """The container with the protocol of each port written.

    A v1beta1 CRD cannot default it (facts: paddle_operators 1.2), and a v1 CRD does, which Argo CD
    would show as drift.
    """
    if not container.get("ports"):
        return container
    return {**container, "ports": [{"protocol": "TCP", **port} for port in container["ports"]]}


def _port(port: Port) -> dict[str, Any]:
    entry: dict[str, Any] = {"containerPort": port.port, "protocol": port.protocol or "TCP"}
    if port.name:
        entry = {"name": port.name, **entry}
    return entry


def _resources(role: RoleOfJob) -> dict[str, Any]:
    fields = role.fields
    given = {"cpu": fields.cpu, "memory": fields.memory, "ephemeral-storage": fields.ephemeral_storage}
    both: dict[str, Quantity] = {
        name: value for name, value in given.items() if not isinstance(value, UnsetType)
    }
    requested = {**both, **(fields.requests or {})}
    limits = {**both, **(fields.limits or {})}
    if fields.gpu:
        limits[GPU] = fields.gpu
    if requested:
        # Kubernetes fills in what only limits name; the operator's sum for the gang does not (L-PO-26).
        requested = {**limits, **requested}
    resources = {"limits": _written(limits), "requests": _written(requested)}
    return {name: value for name, value in resources.items() if value}


def _written(values: Mapping[str, Quantity]) -> dict[str, str | int]:
    # A float is no quantity to the CRD's int-or-string; as text it is.
    return {name: repr(value) if isinstance(value, float) else value for name, value in values.items()}


def _shared_memory(role: RoleOfJob) -> dict[str, Any] | None:
    wish = role.fields.shared_memory or "auto"
    limits = role.fields.limits or {}
    if wish == "none" or (wish == "auto" and not role.fields.gpu and not limits.get(GPU)):
        return None
    return (
        {"medium": "Memory"} if wish in ("auto", "memory") else {"medium": "Memory", "sizeLimit": str(wish)}
    )


def _for_main_container(over: dict[str, Any], name: str) -> dict[str, Any]:
    """A podTemplate whose only container has no name means the main one."""
    containers = (over.get("spec") or {}).get("containers") if isinstance(over.get("spec"), dict) else None
    if (
        isinstance(containers, list)
        and len(containers) == 1
        and isinstance(containers[0], dict)
        and "name" not in containers[0]
    ):
        return {**over, "spec": {**over["spec"], "containers": [{"name": name, **containers[0]}]}}
    return over


def _drop_idle_shm(template: dict[str, Any]) -> None:
    """A podTemplate that mounts /dev/shm itself needs no second volume."""
    spec = template["spec"]
    used = {
        m.get("name")
        for c in spec.get("containers", [])
        for m in c.get("volumeMounts", [])
        if isinstance(m, dict)
    }
    if SHM_VOLUME not in used and any(
        v == {"name": SHM_VOLUME, "emptyDir": v.get("emptyDir")} for v in spec.get("volumes", [])
    ):
        spec["volumes"] = [v for v in spec["volumes"] if v.get("name") != SHM_VOLUME]


def _brings_image(role: RoleOfJob) -> bool:
    over = role.fields.pod_template
    if isinstance(over, UnsetType):
        return False
    main = role.fields.container_name or "paddle"
    containers = over.get("spec", {}).get("containers", []) if isinstance(over.get("spec"), dict) else []
    return any(isinstance(c, dict) and c.get("name", main) == main and c.get("image") for c in containers)


def _quantity(path: FieldPath, value: Any) -> Iterator[Violation]:
    if isinstance(value, list | dict):
        what = "a list" if isinstance(value, list) else "a mapping"
        message = f"{path[-1]} is {what}; write a quantity such as 500m or 16Gi"
        yield Violation(path, message, "quantities-parse")
        return
    try:
        if quantity.parse(value) < 0:
            yield Violation(path, f"{path[-1]} is {value}; a quantity cannot be negative", "quantities-parse")
    except ValueError as error:
        yield Violation(path, f"{path[-1]}: {error}", "quantities-parse")


def _gpu_violations(at: FieldPath, role: RoleOfJob) -> Iterator[Violation]:
    """GPU requests equal limits, in whole numbers: the API server refuses the pod otherwise (L-PO-25)."""
    fields = role.fields
    requested, limits = fields.requests or {}, fields.limits or {}
    limit = fields.gpu if not isinstance(fields.gpu, UnsetType) else limits.get(GPU, UNSET)
    for name, values in (("limits", limits), ("requests", requested)):
        value = values.get(GPU)
        if value is None:
            continue
        here = (*at, name, GPU)
        if not str(value).isdigit():
            yield Violation(
                here, f"{GPU} is {value}; GPUs come in whole numbers", "gpu-requests-equal-limits"
            )
        elif isinstance(limit, UnsetType) or str(limit) != str(value):
            shown = "none" if isinstance(limit, UnsetType) else limit
            message = (
                f"{name} ask for {value} {GPU} and the limit is {shown}; they need to be equal: write "
                f"gpu: {value}"
            )
            yield Violation(here, message, "gpu-requests-equal-limits")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
