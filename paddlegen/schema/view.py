"""One kind as one cluster sees it: the fields that its Kubernetes, its CRD and its operators know."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from paddlegen.schema.kinds import BY_NAME, CustomKind
from paddlegen.schema.leaves import LEAVES
from paddlegen.schema.table import Field, Lifetime, load, shown
from paddlegen.schema.types import Ref, Scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.schema.profile import Profile
    from paddlegen.schema.table import Version

OBJECT_META: Final = "meta.v1.ObjectMeta"
EMBEDDED_META: Final = "EmbeddedMeta"
_EMBEDDED: Final = ("annotations", "creationTimestamp", "finalizers", "labels", "name", "namespace")
"""What a CRD keeps of the metadata of an embedded template; Go writes the time as null and nobody minds."""

_NAMES: Final = {"Namespace": "dns-label", "Service": "dns-1035"}
_UNCHECKED_NAMES: Final = "rbac.authorization.k8s.io/"


class View:
    """The types of a kind with the fields of one cluster.

    A kind that has a `custom` is defined by a CRD: it takes no fractions where the API server's own kinds do,
    and no null in a list.  `published` leaves out what the API server checks beyond its schemas, as a CRD
    must.
    """

    def __init__(
        self, profile: Profile, name: tuple[str, str], root: str, *, published: bool = False
    ) -> None:
        self.profile, self.root, self.published = profile, root, published
        self.api_version, self.kind = name
        self.custom = custom = BY_NAME.get(name)
        self._kubernetes, self._values = load("kubernetes"), load("kubernetes-values")
        self._own = load(f"kinds/{custom.table}") if custom else None
        self.release = _release(profile, custom) if custom else ()
        pods = custom.pods_at(self.release) if custom else None
        self.pods = min(profile.tabled, pods) if pods else profile.tabled
        self._fields: dict[str, dict[str, Field]] = {}
        self.absent = self._absent()
        """Why the cluster does not serve the kind; empty where it does."""

    @property
    def name_leaf(self) -> Scalar:
        """What `metadata.name` must look like."""
        if self.api_version.startswith(_UNCHECKED_NAMES):
            return Scalar(LEAVES["path-segment"])
        return Scalar(LEAVES[_NAMES.get(self.kind, "dns-subdomain") if not self.custom else "dns-subdomain"])

    def fields(self, name: str) -> Mapping[str, Field]:
        """The fields of a type that this cluster knows."""
        if name not in self._fields:
            version = self.version_of(name)
            found = {}
            for field, stretches in self.history(name).items():
                current = next((one for one in stretches if self._alive(one, version)), None)
                if current is not None:
                    found[field] = self._narrowed(name, field, current)
            self._fields[name] = found
        return self._fields[name]

    def history(self, name: str) -> Mapping[str, tuple[Field, ...]]:
        """The fields of a type that any version knows."""
        if self._own is not None and name in self._own:
            return self._own.fields(name)
        if name == EMBEDDED_META:
            fields = self._kubernetes.fields(OBJECT_META)
            return {field: fields[field] for field in _EMBEDDED}
        return self._kubernetes.fields(name)

    def since(self, field: Field) -> Version | None:
        """The first version that has a field, as a CRD of the cluster's flavour counts."""
        if self.profile.crd != "v1" and field.since_v1beta1 is not None:
            return field.since_v1beta1
        return field.lifetime.since

    def _alive(self, field: Field, version: Version) -> bool:
        since = self.since(field)
        return version in field.lifetime and (since is None or version >= since)

    def version_of(self, name: str) -> Version:
        """The version that decides which fields a type has."""
        return self.release if self._own is not None and name in self._own else self.pods

    def _absent(self) -> str:
        name = f"{self.api_version} {self.kind}"
        if self.custom:
            lifetime = self._own.head(self.root).lifetime if self._own is not None else Lifetime()
            system, version = self.custom.operator, self.release
        else:
            table = self._values if self.root in self._values else self._kubernetes
            lifetime, system, version = table.head(self.root).lifetime, "Kubernetes", self.profile.tabled
        if version in lifetime:
            return ""
        has = f"this cluster has {shown(self.profile.kubernetes if not self.custom else version)}"
        if lifetime.since is not None and version < lifetime.since:
            return f"{name} came with {system} {shown(lifetime.since)}; {has}"
        return f"{name} was last served by {system} {shown(lifetime.until or version)}; {has}"

    def _narrowed(self, name: str, field: str, current: Field) -> Field:
        """The field with what the API server checks beyond its schema; templates have little metadata."""
        if self.custom and name != self.root and current.type == Ref(OBJECT_META):
            return replace(current, type=Ref(EMBEDDED_META))
        lookup = OBJECT_META if name == EMBEDDED_META else name
        own = self._own is not None and name in self._own and name != EMBEDDED_META
        if self.published or own or lookup not in self._values:
            return current
        narrower = self._values.fields(lookup).get(field, ())
        for one in narrower:
            if self.profile.tabled in one.lifetime:
                return replace(current, type=one.type, empty=not current.required)
        return current


def is_listed(api_version: str, kind: str) -> bool:
    """True if a table lists the fields of a kind."""
    return (api_version, kind) in BY_NAME or (api_version, kind) in _builtin()


def api_versions(kind: str) -> list[str]:
    """The apiVersions under which tables list a kind, in order."""
    return sorted({name[0] for name in (*BY_NAME, *_builtin()) if name[1] == kind})


@lru_cache(maxsize=512)
def view(profile: Profile, api_version: str, kind: str, *, published: bool = False) -> View | None:
    """The kind as the cluster sees it; None where no table lists its fields."""
    custom = BY_NAME.get((api_version, kind))
    root = custom.type if custom is not None else _builtin().get((api_version, kind))
    return None if root is None else View(profile, (api_version, kind), root, published=published)


@lru_cache(maxsize=1)
def _builtin() -> dict[tuple[str, str], str]:
    return load("kubernetes").kinds()


def _release(profile: Profile, custom: CustomKind) -> Version:
    release = profile.release(custom.operator)
    if custom.version == "v1alpha1" and custom.operator == "edl":
        return (3,)
    if profile.crd != "v1" and custom.capped is not None:
        return min(release, custom.capped)
    return release
