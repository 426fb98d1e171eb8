"""The containers of a pod: names, images, ports, mounts, environment and resources."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING, Any

from paddlegen.admission import _names
from paddlegen.admission._read import amount, mapping, members, text, whole
from paddlegen.admission._values import one_of, quantities
from paddlegen.model.admission import Rule
from paddlegen.model.policy import Breach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from paddlegen.model.report import FieldPath

FIELDS = ("initContainers", "containers")
PULL, PROTOCOLS, MESSAGE = (
    ("Always", "IfNotPresent", "Never"),
    ("TCP", "UDP", "SCTP"),
    ("File", "FallbackToLogsOnError"),
)
PROPAGATION = ("None", "HostToContainer", "Bidirectional")
MAX_PORT = 65535
STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE_PAGES = "hugepages-"
RELAXED_ENV = (1, 32)
"""From here on the server takes any printable ASCII but `=` in the name of an environment variable."""

_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_RELAXED_ENV_NAME = re.compile(r"[ -<>-~]+")

RULES = (
    Rule("container-names-differ", "No two containers of a pod have one name, init containers included."),
    Rule("containers-have-images", "Each container has an image."),
    Rule("port-names-differ", "No two ports of a container have one name."),
    Rule("host-ports-differ", "No two containers of a pod ask for one port of the node."),
    Rule("host-network-ports-are-equal", "Under hostNetwork a hostPort is the containerPort."),
    Rule("volume-mounts-have-volumes", "Each volumeMount names a volume of its pod."),
    Rule("mount-paths-differ", "No two volumes of a container are mounted at one place."),
    Rule("sub-paths-stay-inside", "A subPath is relative and stays inside its volume."),
    Rule("env-vars-have-one-value", "A variable has a value or one source of it."),
    Rule(
        "resource-names-exist", "Resources are cpu, memory, ephemeral-storage, hugepages-* or have a domain."
    ),
    Rule("requests-fit-limits", "A request is at most its limit."),
    Rule(
        "gpu-requests-equal-limits",
        "Extended resources and huge pages are requested exactly up to their limit.",
    ),
    Rule("gpus-are-whole", "Extended resources are whole numbers."),
)


def check(
    pod: Mapping[str, Any], path: FieldPath, volumes: frozenset[str], kubernetes: tuple[int, int]
) -> Iterator[Breach]:
    """Everything the server refuses about a pod's containers; `volumes` are the names of its volumes."""
    names: set[str] = set()
    for field in FIELDS:
        for index, container in members(pod.get(field)):
            here = (*path, field, index)
            yield from _identity(container, here, names)
            yield from one_of(container, "imagePullPolicy", PULL, here)
            yield from one_of(container, "terminationMessagePolicy", MESSAGE, here)
            yield from _ports(container, here, host_network=pod.get("hostNetwork") is True)
            yield from _mounts(container, here, volumes)
            yield from _environment(container, here, kubernetes)
            yield from _resources(mapping(container.get("resources")), (*here, "resources"))
    yield from _host_ports(pod, path)


def _identity(container: Mapping[str, Any], path: FieldPath, names: set[str]) -> Iterator[Breach]:
    name = text(container.get("name"))
    if not name:
        yield Breach(path, "name: Required value; name the container", rule="names-are-well-formed")
    elif wrong := _names.label(name):
        yield Breach((*path, "name"), f"container {name!r}: {wrong}", rule="names-are-well-formed")
    elif name in names:
        message = f"name: Duplicate value: {name!r}; give each container a name of its own"
        yield Breach((*path, "name"), message, rule="container-names-differ")
    names.add(name)
    image = container.get("image")
    if image is None or image == "":
        place = (*path, "image") if "image" in container else path
        yield Breach(place, "image: Required value; say which image to run", rule="containers-have-images")
    elif isinstance(image, str) and image.strip() != image:
        message = f"image: must not have leading or trailing whitespace; it is {image!r}"
        yield Breach((*path, "image"), message, rule="containers-have-images")


def _ports(container: Mapping[str, Any], path: FieldPath, *, host_network: bool) -> Iterator[Breach]:
    seen: set[str] = set()
    for index, port in members(container.get("ports")):
        here = (*path, "ports", index)
        name = text(port.get("name"))
        if name and (wrong := _names.port_name(name)):
            yield Breach((*here, "name"), f"port {name!r}: {wrong}", rule="names-are-well-formed")
        elif name in seen:
            message = f"name: Duplicate value: {name!r}; give each port a name of its own"
            yield Breach((*here, "name"), message, rule="port-names-differ")
        seen.update({name} - {""})
        yield from one_of(port, "protocol", PROTOCOLS, here)
        yield from _port_numbers(port, here, host_network=host_network)


def _port_numbers(port: Mapping[str, Any], path: FieldPath, *, host_network: bool) -> Iterator[Breach]:
    if port.get("containerPort") in (None, 0):
        place = (*path, "containerPort") if "containerPort" in port else path
        yield Breach(place, "containerPort: Required value; 1 to 65535", rule="numbers-are-in-range")
    for field in ("containerPort", "hostPort"):
        number = whole(port.get(field))
        if number and not 1 <= number <= MAX_PORT:
            message = f"{field}: must be between 1 and {MAX_PORT}, inclusive; it is {number}"
            yield Breach((*path, field), message, rule="numbers-are-in-range")
    wanted, given = whole(port.get("containerPort")), whole(port.get("hostPort"))
    if host_network and given and wanted and given != wanted:
        message = f"hostPort: must match `containerPort` when `hostNetwork` is true; {given} is not {wanted}"
        yield Breach((*path, "hostPort"), message, rule="host-network-ports-are-equal")


def _host_ports(pod: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    seen: set[tuple[str, str, int]] = set()
    # Init containers run one after the other: the server looks at the others alone.
    for index, container in members(pod.get("containers")):
        for number, port in members(container.get("ports")):
            wanted = whole(port.get("hostPort"))
            if not wanted:
                continue
            key = (text(port.get("protocol")) or "TCP", text(port.get("hostIP")), wanted)
            if key in seen:
                message = f"hostPort: Duplicate value: {wanted}; a node has each port once"
                place = (*path, "containers", index, "ports", number, "hostPort")
                yield Breach(place, message, rule="host-ports-differ")
            seen.add(key)


def _mounts(container: Mapping[str, Any], path: FieldPath, volumes: frozenset[str]) -> Iterator[Breach]:
    seen = {text(device.get("devicePath")) for _, device in members(container.get("volumeDevices"))} - {""}
    for index, mount in members(container.get("volumeMounts")):
        here = (*path, "volumeMounts", index)
        name, place = text(mount.get("name")), text(mount.get("mountPath"))
        if not name:
            yield Breach(here, "name: Required value; name the volume", rule="volume-mounts-have-volumes")
        elif name not in volumes:
            known = ", ".join(sorted(volumes - {""})) or "none"
            message = f"name: Not found: {name!r}; add the volume to the same pod template, which has {known}"
            yield Breach((*here, "name"), message, rule="volume-mounts-have-volumes")
        if not place:
            yield Breach(here, "mountPath: Required value; say where it goes", rule="mount-paths-differ")
        elif place in seen:
            message = f"mountPath: must be unique; {place} is taken, mount each volume at a place of its own"
            yield Breach((*here, "mountPath"), message, rule="mount-paths-differ")
        seen.add(place)
        yield from one_of(mount, "mountPropagation", PROPAGATION, here)
        yield from _sub_paths(mount, here)


def _sub_paths(mount: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    rule = "sub-paths-stay-inside"
    for field in ("subPath", "subPathExpr"):
        place = text(mount.get(field))
        if place.startswith("/"):
            yield Breach((*path, field), f"{field}: must be a relative path; it is {place}", rule=rule)
        if ".." in place.split("/"):
            yield Breach((*path, field), f"{field}: must not contain '..'; it is {place}", rule=rule)
    if mount.get("subPath") and mount.get("subPathExpr"):
        message = "subPathExpr and subPath are mutually exclusive; keep one of them"
        yield Breach((*path, "subPathExpr"), message, rule=rule)


def _environment(
    container: Mapping[str, Any], path: FieldPath, kubernetes: tuple[int, int]
) -> Iterator[Breach]:
    pattern = _RELAXED_ENV_NAME if kubernetes >= RELAXED_ENV else _ENV_NAME
    for index, variable in members(container.get("env")):
        here = (*path, "env", index)
        name = text(variable.get("name"))
        if not name:
            yield Breach(here, "name: Required value; name the variable", rule="names-are-well-formed")
        elif not pattern.fullmatch(name):
            message = (
                f"variable {name!r}: a valid environment variable name must consist of alphabetic "
                "characters, digits, '_', '-', or '.', and must not start with a digit"
            )
            yield Breach((*here, "name"), message, rule="names-are-well-formed")
        source = variable.get("valueFrom")
        if isinstance(source, dict):
            yield from _env_source(variable, source, (*here, "valueFrom"))


def _env_source(variable: Mapping[str, Any], source: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    rule = "env-vars-have-one-value"
    given = [field for field, value in source.items() if value is not None]
    if text(variable.get("value")):
        message = "valueFrom: may not be specified when `value` is not empty; remove one of them"
        yield Breach(path, message, rule=rule)
    elif not given:
        message = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        yield Breach(path, message, rule=rule)
    elif len(given) > 1:
        message = f"may not have more than one field specified at a time; keep one of {', '.join(given)}"
        yield Breach(path, message, rule=rule)


def _resources(resources: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    for field, amounts in (("limits", limits), ("requests", requests)):
        here = (*path, field)
        yield from quantities(amounts, here)
        for name, value in amounts.items():
            if wrong := _resource_name(name):
                yield Breach((*here, name), f"resource {name!r}: {wrong}", rule="resource-names-exist")
            parsed = amount(value)
            if parsed is not None and is_extended(name) and _milli(parsed) % 1000:
                message = f"{name}: must be an integer; it is {value}"
                yield Breach((*here, name), message, rule="gpus-are-whole")
    for name, value in requests.items():
        if (request := amount(value)) is not None:
            yield from _request(name, request, limits, (*path, "requests", name))


def _request(name: str, request: Decimal, limits: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    exact = is_extended(name) or name.startswith(HUGE_PAGES)
    limit = amount(limits.get(name))
    if limit is None:
        if exact and name not in limits:
            message = (
                f"{name}: Limit must be set for non overcommitable resources; write the same under limits"
            )
            yield Breach(path, message, rule="gpu-requests-equal-limits")
    elif exact and request != limit:
        message = f"{name}: must be equal to {name} limit of {limits[name]}; write the same or no request"
        yield Breach(path, message, rule="gpu-requests-equal-limits")
    elif request > limit:
        message = f"{name}: must be less than or equal to {name} limit of {limits[name]}; raise the limit"
        yield Breach(path, message, rule="requests-fit-limits")


def is_extended(name: str) -> bool:
    """True for what a device plugin serves, such as nvidia.com/gpu."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _resource_name(name: str) -> str:
    if wrong := _names.qualified(name):
        return wrong
    if "/" not in name and name not in STANDARD and not name.startswith(HUGE_PAGES):
        return (
            "must be a standard resource for containers; write cpu, memory, or the domain too: nvidia.com/gpu"
        )
    if name.startswith("requests.") and "kubernetes.io/" not in name:
        return "doesn't follow extended resource name standard; leave `requests.` away"
    return ""


def _milli(value: Decimal) -> int:
    # The server rounds up to thousandths before it asks whether they make a whole number.
    return int((value * 1000).to_integral_value(ROUND_CEILING))
