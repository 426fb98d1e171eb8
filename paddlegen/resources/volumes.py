"""PersistentVolumes, their claims, and how a pod mounts them.

Objects made here belong to `_storage/`, never to a job's folder: deleting a job never deletes data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UnsetType

from paddlegen.model.output import STORAGE, Manifest, Violation
from paddlegen.resources import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.job import Mount, StorageBody
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Job, Storage

    Volume = Mount | StorageBody

STORAGE_LABEL = "paddlegen.dev/storage"
SOURCES = ("use", "nfs", "host_path", "csi", "claim")
_NAMES = {"host_path": "hostPath", "storage_class": "storageClass"}


def mount(entry: Mount) -> dict[str, Any]:
    """An entry of a container's `volumeMounts`."""
    result: dict[str, Any] = {"name": volume_name(entry), "mountPath": entry.mount_path}
    if not isinstance(entry.sub_path, UnsetType):
        result["subPath"] = entry.sub_path
    if not isinstance(entry.read_only, UnsetType):
        result["readOnly"] = entry.read_only
    return result


def volume_name(entry: Mount) -> str:
    """The name of the pod's volume: the mount's own, or that of what it uses."""
    name = entry.name or entry.use or entry.claim or "data"
    return str(name).replace(".", "-")[:63]


def pod_volume(job: Job, entry: Mount) -> dict[str, Any]:
    """An entry of a pod's `volumes`; a directory of the node is mounted directly."""
    name = volume_name(entry)
    if not isinstance(entry.host_path, UnsetType):
        host: dict[str, Any] = {"path": entry.host_path.path}
        if not isinstance(entry.host_path.type, UnsetType):
            host["type"] = entry.host_path.type
        return {"name": name, "hostPath": host}
    return {"name": name, "persistentVolumeClaim": {"claimName": claim_of_mount(job, entry)}}


def claim_of_mount(job: Job, entry: Mount) -> str:
    """The claim a mount reaches its data through."""
    if entry.use:
        return claim_name(job.storage[entry.use].body, entry.use)
    return claim_name(entry, f"{job.name}-{volume_name(entry)}")


def claim_name(volume: Volume, default: str) -> str:
    """The PersistentVolumeClaim's name."""
    return str(volume.claim or volume.claim_name or default)


def of_storage(storage: Storage) -> Iterator[Manifest]:
    """The objects of a StorageSpec."""
    labels = {**storage.labels, STORAGE_LABEL: storage.name}
    yield from _objects(storage.body, storage.name, storage.namespace, labels, storage.annotations)


def of_job(job: Job) -> Iterator[tuple[FieldPath, Manifest]]:
    """The objects of storage that a job describes in place, each once, with the mount it comes from."""
    seen: set[str] = set()
    for role in job.roles.values():
        for index, entry in enumerate(role.mounts):
            if entry.use or not isinstance(entry.host_path, UnsetType):
                continue
            name = claim_of_mount(job, entry)
            if name in seen:
                continue
            seen.add(name)
            for manifest in _objects(entry, name, job.namespace, {STORAGE_LABEL: name}, {}):
                yield ("roles", role.name, "storage", index), manifest


def violations(volume: Volume, at: FieldPath) -> Iterator[Violation]:
    """What is wrong with the description of a volume."""
    given = [name for name in SOURCES if getattr(volume, name, None)]
    if len(given) > 1:
        names = " and ".join(_NAMES.get(name, name) for name in given)
        yield Violation(
            (*at, _NAMES.get(given[1], given[1])),
            f"{names} are given; data lives in one place",
            "storage-has-one-source",
        )
    if not given and isinstance(volume.storage_class, UnsetType):
        wish = "name one of nfs, hostPath, csi, claim, storageClass" + (
            ", or use a StorageSpec" if hasattr(volume, "use") else ""
        )
        yield Violation(at, f"nothing says where the data lives; {wish}", "storage-has-one-source")
    if given and given[0] in ("use", "claim"):
        for name in (
            "storage_class",
            "size",
            "access_modes",
            "reclaim_policy",
            "mount_options",
            "claim_name",
            "volume_name",
        ):
            if not isinstance(getattr(volume, name), UnsetType):
                camel = name.split("_")[0] + name.split("_")[1].capitalize() if "_" in name else name
                message = f"{camel} means nothing beside {given[0]}: that volume is described elsewhere"
                yield Violation((*at, camel), message, "storage-has-one-source")
        return
    inline_host_path = hasattr(volume, "use") and given == ["host_path"]
    if isinstance(volume.size, UnsetType):
        if not inline_host_path and (given or not isinstance(volume.storage_class, UnsetType)):
            yield Violation(
                at, "the volume has no size; a claim needs one, such as size: 10Gi", "storage-has-size"
            )
    else:
        try:
            quantity.parse(volume.size)
        except ValueError as error:
            yield Violation((*at, "size"), f"size: {error}", "quantities-parse")


def mount_violations(job: Job, entry: Mount, at: FieldPath) -> Iterator[Violation]:
    """What is wrong with a mount."""
    if entry.use and entry.use not in job.storage:
        message = f"there is no StorageSpec {entry.use} in the namespace {job.namespace} for this cluster"
        yield Violation((*at, "use"), message, "storage-exists")
    elif not entry.use:
        yield from violations(entry, at)
    if not (entry.name or entry.use or entry.claim):
        yield Violation(
            at,
            "a volume described in place has no name; it needs one, such as name: data",
            "spec-values-allowed",
        )


def _objects(
    volume: Volume, name: str, namespace: str, labels: dict[str, str], annotations: dict[str, str]
) -> Iterator[Manifest]:
    if volume.claim:
        return
    claim = claim_name(volume, name)
    static = any(getattr(volume, source, None) for source in ("nfs", "host_path", "csi"))
    persistent = str(volume.volume_name or f"{namespace}-{claim}")
    common = _common(volume)
    if static:
        yield Manifest(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": _metadata(persistent, "", labels, annotations),
                "spec": {
                    "capacity": {"storage": _size(volume)},
                    **common,
                    "persistentVolumeReclaimPolicy": volume.reclaim_policy or "Retain",
                    **({"mountOptions": volume.mount_options} if volume.mount_options else {}),
                    **_source(volume),
                },
            },
            STORAGE,
        )
    yield Manifest(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": _metadata(claim, namespace, labels, annotations),
            "spec": {
                **common,
                "resources": {"requests": {"storage": _size(volume)}},
                **({"volumeName": persistent} if static else {}),
            },
        },
        STORAGE,
    )


def _common(volume: Volume) -> dict[str, Any]:
    static = any(getattr(volume, source, None) for source in ("nfs", "host_path", "csi"))
    fields: dict[str, Any] = {"accessModes": list(volume.access_modes or ["ReadWriteMany"])}
    if not isinstance(volume.storage_class, UnsetType):
        fields["storageClassName"] = volume.storage_class
    elif static:
        # Absent would mean the cluster's default class, which provisions a second volume.
        fields["storageClassName"] = ""
    if not isinstance(volume.volume_mode, UnsetType):
        fields["volumeMode"] = volume.volume_mode
    return fields


def _source(volume: Volume) -> dict[str, Any]:
    if not isinstance(volume.nfs, UnsetType):
        return {"nfs": msgspec.to_builtins(volume.nfs)}
    if not isinstance(volume.host_path, UnsetType):
        return {"hostPath": msgspec.to_builtins(volume.host_path)}
    return {"csi": msgspec.to_builtins(volume.csi)}


def _size(volume: Volume) -> str | int:
    return repr(volume.size) if isinstance(volume.size, float) else volume.size or 0


def _metadata(
    name: str, namespace: str, labels: dict[str, str], annotations: dict[str, str]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    return metadata
