"""What the API server refuses about PersistentVolumes and PersistentVolumeClaims, new or changed.

Both are written once: of a volume the source stays, of a claim everything but a larger request.
A change that the server takes while a claim is not yet bound is taken here: Git does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _names
from paddlegen.admission._changes import changes
from paddlegen.admission._pod_volumes import source_breaches
from paddlegen.admission._read import amount, mapping, sequence, text, texts
from paddlegen.admission._values import ALLOWED_VALUES, QUANTITIES, one_of, quantities
from paddlegen.model.admission import Admission, Kind, Rule
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.report import FieldPath

SOURCES = frozenset(
    {
        "awsElasticBlockStore",
        "azureDisk",
        "azureFile",
        "cephfs",
        "cinder",
        "csi",
        "fc",
        "flexVolume",
        "flocker",
        "gcePersistentDisk",
        "glusterfs",
        "hostPath",
        "iscsi",
        "local",
        "nfs",
        "photonPersistentDisk",
        "portworxVolume",
        "quobyte",
        "rbd",
        "scaleIO",
        "storageos",
        "vsphereVolume",
    }
)
ONE_POD = "ReadWriteOncePod"
MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
ONE_POD_SINCE = (1, 22)
VOLUME_MODES, RECLAIM = ("Filesystem", "Block"), ("Retain", "Delete", "Recycle")
CLAIM_MAY_CHANGE = frozenset({"resources", "volumeAttributesClassName"})
CLAIM_MAY_BE_ADDED = frozenset({"storageClassName", "volumeName"})


def check(body: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the server would refuse about a volume or a claim."""
    spec = mapping(body.get("spec"))
    old = mapping(mapping(view.old).get("spec")) if view.old is not None else None
    yield from one_of(spec, "volumeMode", VOLUME_MODES, ("spec",))
    if (name := text(spec.get("storageClassName"))) and (wrong := _names.subdomain(name)):
        message = f"storageClassName {name!r}: {wrong}"
        yield Breach(("spec", "storageClassName"), message, rule="storage-class-names-are-well-formed")
    yield from _access_modes(spec, view.cluster.kubernetes)
    if Kind.of(body).name == "PersistentVolume":
        yield from _volume(spec)
        if old is not None:
            yield from _changed_volume(spec, old)
    else:
        yield from _claim(spec)
        if old is not None:
            yield from _changed_claim(spec, old)


def _access_modes(spec: Mapping[str, Any], kubernetes: tuple[int, int]) -> Iterator[Breach]:
    rule, path = "access-modes-are-given", ("spec", "accessModes")
    if not spec.get("accessModes"):
        place = path if "accessModes" in spec else ("spec",)
        yield Breach(place, f"accessModes: Required value; one or more of {', '.join(MODES)}", rule=rule)
    allowed = (*MODES, ONE_POD) if kubernetes >= ONE_POD_SINCE else MODES
    modes = sequence(spec.get("accessModes"))
    for index, mode in texts(modes):
        if mode not in allowed:
            message = f"accessModes: Unsupported value: {mode!r}: supported values: {', '.join(allowed)}"
            yield Breach((*path, index), message, rule=rule)
    if ONE_POD in modes and any(mode != ONE_POD for mode in modes):
        message = f"may not use {ONE_POD} with other access modes; keep it alone or leave it away"
        yield Breach((*path, modes.index(ONE_POD)), message, rule=rule)


def _size(amounts: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    yield from quantities(amounts, path)
    if amount(amounts.get("storage")) == 0:
        message = "storage: must be greater than zero"
        yield Breach((*path, "storage"), message, rule="storage-has-a-size")


def _volume(spec: Mapping[str, Any]) -> Iterator[Breach]:
    rule, capacity = "storage-has-a-size", mapping(spec.get("capacity"))
    if not capacity:
        yield Breach(("spec",), "capacity: Required value; write capacity: {storage: SIZE}", rule=rule)
    elif set(capacity) != {"storage"}:
        message = (
            f"capacity: Unsupported value: {', '.join(capacity)}: supported values: storage; write it alone"
        )
        yield Breach(("spec", "capacity"), message, rule=rule)
    yield from _size(capacity, ("spec", "capacity"))
    yield from one_of(spec, "persistentVolumeReclaimPolicy", RECLAIM, ("spec",))
    rule = "volumes-have-one-source"
    sources = [field for field in spec if field in SOURCES and spec[field] is not None]
    if not sources:
        yield Breach(("spec",), "must specify a volume type; add one, such as nfs or csi", rule=rule)
    for extra in sources[1:]:
        message = f"may not specify more than 1 volume type; keep {sources[0]} or {extra}"
        yield Breach(("spec", extra), message, rule=rule)
    for source in sources[:1]:
        given = mapping(spec[source])
        yield from source_breaches(source, given, ("spec", source), of_volume=True)
    if sources[:1] == ["local"] and not spec.get("nodeAffinity"):
        message = "nodeAffinity: Required value: Local volume requires node affinity; say which node has it"
        yield Breach(("spec",), message, rule=rule)
    recycled = spec.get("persistentVolumeReclaimPolicy") == "Recycle"
    if (
        recycled
        and text(mapping(spec.get("hostPath")).get("path")).rstrip("/") == ""
        and "hostPath" in sources
    ):
        message = "may not be 'recycle' for a hostPath mount of '/'; write Retain"
        yield Breach(("spec", "persistentVolumeReclaimPolicy"), message, rule=rule)


def _claim(spec: Mapping[str, Any]) -> Iterator[Breach]:
    resources = mapping(spec.get("resources"))
    requests = mapping(resources.get("requests"))
    if "storage" not in requests:
        message = "resources.requests.storage: Required value; write the size the claim needs"
        place = ("spec", "resources") if "resources" in spec else ("spec",)
        yield Breach(place, message, rule="storage-has-a-size")
    yield from _size(requests, ("spec", "resources", "requests"))
    yield from quantities(mapping(resources.get("limits")), ("spec", "resources", "limits"))


def _changed_volume(spec: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Breach]:
    rule = "volume-source-stays"
    before, after = ({field: each[field] for field in each if field in SOURCES} for each in (old, spec))
    for path in dict.fromkeys(changes(before, after, ("spec",))):
        if "controllerExpandSecretRef" not in path:
            message = (
                "spec.persistentvolumesource is immutable after creation; "
                "give the changed volume a name of its own, and its claim too"
            )
            yield Breach(path, message, rule=rule)
    modes = [each.get("volumeMode") or "Filesystem" for each in (old, spec)]
    if modes[0] != modes[1]:
        message = (
            f"volumeMode: field is immutable; it was {modes[0]}: give the changed volume a name of its own"
        )
        yield Breach(_nearest(spec, "volumeMode"), message, rule=rule)
    if old.get("nodeAffinity"):
        for path in dict.fromkeys(
            changes(old["nodeAffinity"], spec.get("nodeAffinity"), ("spec", "nodeAffinity"))
        ):
            # A label's beta name may become its final one.
            if path[-1] != "key":
                message = "nodeAffinity: field is immutable; give the changed volume a name of its own"
                yield Breach(path if "nodeAffinity" in spec else ("spec",), message, rule=rule)


def _changed_claim(spec: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Breach]:
    rule = "claim-stays"
    before, after = ({"volumeMode": "Filesystem", **each} for each in (old, spec))
    fields = dict.fromkeys((*after, *before))
    for field in fields:
        if field in CLAIM_MAY_CHANGE or (field in CLAIM_MAY_BE_ADDED and not before.get(field)):
            continue
        differing = changes(before.get(field), after.get(field), ("spec", field))
        for path in dict.fromkeys(differing if field in spec else (("spec",) for _ in differing)):
            message = (
                "spec is immutable after creation except resources.requests for bound claims; "
                f"{field} changed: give the changed claim a name of its own"
            )
            yield Breach(path, message, rule=rule)
    had, has = (
        mapping(mapping(each.get("resources")).get("requests")).get("storage") for each in (old, spec)
    )
    larger, smaller = amount(had), amount(has)
    if larger is not None and smaller is not None and smaller < larger:
        message = f"storage: field can not be less than previous value; it was {had}, a claim can only grow"
        yield Breach(("spec", "resources", "requests", "storage"), message, rule=rule)


def _nearest(spec: Mapping[str, Any], field: str) -> FieldPath:
    return ("spec", field) if field in spec else ("spec",)


admission = Admission(
    name="kubernetes-storage",
    doc=__doc__,
    kinds=(Kind("", "PersistentVolume"), Kind("", "PersistentVolumeClaim")),
    rules=(
        Rule(
            "access-modes-are-given",
            f"There is at least one access mode, and each exists; {ONE_POD} is alone.",
        ),
        Rule("storage-has-a-size", "A volume's capacity and a claim's request of storage are more than 0."),
        Rule("storage-class-names-are-well-formed", "A storage class's name is a DNS subdomain."),
        Rule("volumes-have-one-source", "A volume has one source, with what that needs."),
        Rule("volume-source-stays", "A volume's source, mode and node affinity do not change."),
        Rule("claim-stays", "Of a claim only the requested size changes, and only upwards."),
        ALLOWED_VALUES,
        QUANTITIES,
    ),
    check=check,
    source=(
        "Kubernetes 1.11 to 1.37 pkg/apis/core/validation/validation.go (ValidatePersistentVolume, "
        "ValidatePersistentVolumeClaim and their updates)"
    ),
)
