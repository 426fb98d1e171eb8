"""The volumes of a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _names
from paddlegen.admission._read import mapping, members, text
from paddlegen.admission._values import one_of, quantities
from paddlegen.model.admission import Rule
from paddlegen.model.policy import Breach

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from paddlegen.model.report import FieldPath

REQUIRED: dict[str, tuple[str, ...]] = {
    "configMap": ("name",),
    "csi": ("driver",),
    "flexVolume": ("driver",),
    "glusterfs": ("endpoints", "path"),
    "hostPath": ("path",),
    "nfs": ("server", "path"),
    "persistentVolumeClaim": ("claimName",),
    "secret": ("secretName",),
}
"""What sources need; the schema requires less, as an empty string satisfies it."""

REQUIRED_OF_VOLUMES: dict[str, tuple[str, ...]] = {
    "azureFile": ("secretName", "shareName"),
    "csi": ("driver", "volumeHandle"),
    "local": ("path",),
}
"""The same for sources that mean more in a PersistentVolume."""

HOST_PATH_TYPES = (
    "DirectoryOrCreate",
    "Directory",
    "FileOrCreate",
    "File",
    "Socket",
    "CharDevice",
    "BlockDevice",
)

RULES = (
    Rule("volume-names-differ", "No two volumes of a pod have one name."),
    Rule("volumes-have-one-source", "A volume has one source, with what that needs."),
)


def check(pod: Mapping[str, Any], path: FieldPath) -> Generator[Breach, None, frozenset[str]]:
    """Everything the server refuses about a pod's volumes; returns their names."""
    seen: set[str] = set()
    for index, volume in members(pod.get("volumes")):
        here = (*path, "volumes", index)
        name = text(volume.get("name"))
        if not name:
            yield Breach(here, "name: Required value; name the volume", rule="names-are-well-formed")
        elif wrong := _names.label(name):
            yield Breach((*here, "name"), f"volume {name!r}: {wrong}", rule="names-are-well-formed")
        elif name in seen:
            message = f"name: Duplicate value: {name!r}; give each volume a name of its own"
            yield Breach((*here, "name"), message, rule="volume-names-differ")
        seen.add(name)
        yield from _source(volume, here)
    return frozenset(seen)


def _source(volume: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    sources = [field for field, value in volume.items() if isinstance(value, dict)]
    for extra in sources[1:]:
        message = f"may not specify more than 1 volume type; keep {sources[0]} or {extra}"
        yield Breach((*path, extra), message, rule="volumes-have-one-source")
    for source in sources[:1]:
        yield from source_breaches(source, mapping(volume[source]), (*path, source))


def source_breaches(
    source: str, given: Mapping[str, Any], path: FieldPath, *, of_volume: bool = False
) -> Iterator[Breach]:
    """What a pod's volume, or a PersistentVolume, lacks in its source or has in a refused form."""
    required = REQUIRED | REQUIRED_OF_VOLUMES if of_volume else REQUIRED
    for field in required.get(source, ()):
        if given.get(field) in (None, ""):
            place = (*path, field) if field in given else path
            yield Breach(place, f"{field}: Required value; {source} needs it", rule="volumes-have-one-source")
    if source == "hostPath":
        yield from one_of(given, "type", HOST_PATH_TYPES, path)
    if source == "hostPath" and ".." in text(given.get("path")).split("/"):
        message = f"path: must not contain '..'; it is {given['path']}"
        yield Breach((*path, "path"), message, rule="volumes-have-one-source")
    if source == "nfs" and (export := text(given.get("path"))) and not export.startswith("/"):
        message = f"path: must be an absolute path; it is {export}"
        yield Breach((*path, "path"), message, rule="volumes-have-one-source")
    if source == "emptyDir" and given.get("sizeLimit") is not None:
        yield from quantities({"sizeLimit": given["sizeLimit"]}, path)
