"""The CustomResourceDefinition of a kind, written from our own tables for one cluster.

Upstream's pod template stops at the Kubernetes its release was built with, and so does this one.  The v1beta1
flavour goes without defaults, which that API refuses, and without keys that the cluster's own Kubernetes does
not know: for those people were told to use `kubectl --validate=false`.
Source: facts paddle_operators 1.2 and 1.3.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from paddlegen.schema.kinds import BY_NAME
from paddlegen.schema.types import (
    Anything,
    Bounds,
    Enumeration,
    ListOf,
    MapOf,
    Ref,
    Scalar,
    Type,
)
from paddlegen.schema.view import EMBEDDED_META, OBJECT_META, View, view

if TYPE_CHECKING:
    from paddlegen.schema.kinds import CustomKind
    from paddlegen.schema.profile import Profile
    from paddlegen.schema.table import Field

KIND: Final = "CustomResourceDefinition"
_GROUP: Final = "apiextensions.k8s.io"

_DEFAULTS: Final = {("core.v1.ContainerPort", "protocol"): "TCP"}
"""What the server fills in, where the key of a list needs it."""

_ATOMIC: Final = {("core.v1.PodSpec", "nodeSelector")}
"""Mappings that one owner replaces as a whole."""

_DROPS_UNKNOWN: Final = ((0, 2, 0), (0, 3, 0))
"""The first and last paddle-operator whose v1beta1 CRD drops fields it does not know."""

_FORMATS: Final = {"int32": "int32", "int64": "int64", "time": "date-time", "bytes": "byte"}
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]
_EMBEDDED: Final = ("annotations", "finalizers", "labels", "name", "namespace")
"""What is kept of the metadata of an embedded template, by the CRDs that keep any."""


def definition(profile: Profile, api_version: str, kind: str) -> dict[str, Any]:
    """The CRD of a kind in the cluster's flavour.

    Raises:
        LookupError: no table lists the kind, or the cluster has no CRDs.
    """
    custom, seen = BY_NAME.get((api_version, kind)), view(profile, api_version, kind, published=True)
    if custom is None or seen is None or profile.crd == "tpr":
        message = f"there is no CRD of {api_version} {kind} in the flavour {profile.crd}"
        raise LookupError(message)
    spec = (_spec_v1 if profile.crd == "v1" else _spec_v1beta1)(custom, _Writer(seen))
    return {
        "apiVersion": f"{_GROUP}/{profile.crd}",
        "kind": KIND,
        "metadata": {"name": custom.crd_name},
        "spec": spec,
    }


def _spec_v1(custom: CustomKind, writer: _Writer) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": custom.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": writer.root()},
    }
    version |= _subresources(custom) | _columns(custom, "jsonPath")
    return _names(custom) | {"versions": [version]}


def _spec_v1beta1(custom: CustomKind, writer: _Writer) -> dict[str, Any]:
    spec = _names(custom) | {
        "version": custom.version,
        "versions": [{"name": custom.version, "served": True, "storage": True}],
        "validation": {"openAPIV3Schema": writer.root()},
    }
    spec |= _subresources(custom) | _columns(custom, "JSONPath")
    first, last = _DROPS_UNKNOWN
    if (
        custom.operator == "paddle-operator"
        and first <= writer.seen.release <= last
        and writer.knows("CustomResourceDefinitionSpec", "preserveUnknownFields")
    ):
        spec["preserveUnknownFields"] = False
    return spec


def _names(custom: CustomKind) -> dict[str, Any]:
    names: dict[str, Any] = {
        "kind": custom.kind,
        "listKind": f"{custom.kind}List",
        "plural": custom.plural,
        "singular": custom.kind.lower(),
    }
    if custom.short_names:
        names["shortNames"] = list(custom.short_names)
    return {"group": custom.group, "names": names, "scope": custom.scope}


def _subresources(custom: CustomKind) -> dict[str, Any]:
    found: dict[str, Any] = {"status": {}} if custom.status else {}
    if custom.scale:
        found["scale"] = {
            "specReplicasPath": custom.scale.replicas,
            "statusReplicasPath": custom.scale.status,
            "labelSelectorPath": custom.scale.selector,
        }
    return {"subresources": found} if found else {}


def _columns(custom: CustomKind, path: str) -> dict[str, Any]:
    columns = [
        {"name": column.name, "type": column.type, path: column.path}
        | ({"priority": column.priority} if column.priority else {})
        for column in custom.columns
    ]
    return {"additionalPrinterColumns": columns} if columns else {}


class _Writer:
    """Types of a view as an OpenAPI schema without references, in the words the cluster knows."""

    def __init__(self, seen: View) -> None:
        self.seen = seen
        self.flavour = seen.profile.crd
        self._objects: dict[str, dict[str, Any]] = {}

    def root(self) -> dict[str, Any]:
        """The schema of the whole object; the server knows its metadata by itself."""
        fields = self.seen.fields(self.seen.root)
        properties = {
            name: {"type": "object"} if name == "metadata" else self._field(self.seen.root, name, one)
            for name, one in fields.items()
        }
        return {"type": "object", "properties": properties}

    def knows(self, type_: str, field: str) -> bool:
        """Whether the cluster's Kubernetes has a field of a CRD."""
        return field in self._crd.fields(f"apiextensions.{self.flavour}.{type_}")

    @cached_property
    def _crd(self) -> View:
        found = view(self.seen.profile, f"{_GROUP}/{self.flavour}", KIND, published=True)
        assert found is not None  # noqa: S101  # Kubernetes' own table has it
        return found

    def _known(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema without the extensions that the cluster's Kubernetes would refuse."""
        return {
            key: value
            for key, value in schema.items()
            if not key.startswith("x-") or self.knows("JSONSchemaProps", key)
        }

    def _object(self, name: str) -> dict[str, Any]:
        if name == EMBEDDED_META:
            return self._embedded()
        if name not in self._objects:
            fields = self.seen.fields(name)
            schema: dict[str, Any] = {"type": "object"}
            if fields:
                schema["properties"] = {key: self._field(name, key, one) for key, one in fields.items()}
            if required := [key for key, one in fields.items() if one.required]:
                schema["required"] = required
            self._objects[name] = schema
        return self._objects[name]

    def _embedded(self) -> dict[str, Any]:
        """Metadata inside the object: a v1beta1 CRD keeps it all or drops it all, and lists nothing."""
        fields = self.seen.fields(EMBEDDED_META)
        kept = [name for name in _EMBEDDED if name in fields and self.flavour == "v1"]
        if not kept:
            return {"type": "object"}
        properties = {name: self._field(EMBEDDED_META, name, fields[name]) for name in kept}
        return {"type": "object", "properties": properties}

    def _field(self, owner: str, name: str, field: Field) -> dict[str, Any]:
        schema = dict(self._type(field.type))
        if field.keys and isinstance(field.type, ListOf) and self._is_map(field.type, field.keys):
            schema |= self._known(
                {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(field.keys)}
            )
        if (owner, name) in _ATOMIC:
            schema |= self._known({"x-kubernetes-map-type": "atomic"})
        default = self._default(owner, name)
        return schema | ({"default": default} if default else {})

    def _default(self, owner: str, name: str) -> str:
        return _DEFAULTS.get((owner, name), "") if self.flavour == "v1" else ""

    def _is_map(self, kind: ListOf, keys: tuple[str, ...]) -> bool:
        """The server takes as a key only what is always there: required, or with a default."""
        if not isinstance(kind.item, Ref):
            return False
        owner = kind.item.name
        fields = self.seen.fields(owner)
        return all(key in fields and (fields[key].required or self._default(owner, key)) for key in keys)

    def _type(self, kind: Type) -> dict[str, Any]:
        match kind:
            case Ref(name):
                return {"type": "object"} if name == OBJECT_META else self._object(name)
            case ListOf(item, bounds):
                sizes = _sizes(bounds, "minItems", "maxItems")
                return {"type": "array", "items": self._type(item)} | sizes
            case MapOf(value):
                return {"type": "object", "additionalProperties": self._type(value)}
            case Enumeration(words):
                return {"type": "string", "enum": list(words)}
            case Anything(mapping):
                kept = self._known({"x-kubernetes-preserve-unknown-fields": True})
                return {"type": "object"} | kept if mapping else kept
            case Scalar():
                return self._scalar(kind)

    def _scalar(self, kind: Scalar) -> dict[str, Any]:
        leaf, bounds = kind.leaf, kind.bounds
        if leaf.name in ("int-or-string", "quantity"):
            pattern = {"pattern": f"^(?:{leaf.pattern})$"} if leaf.pattern else {}
            return {"anyOf": list(_EITHER)} | pattern | self._known({"x-kubernetes-int-or-string": True})
        schema: dict[str, Any] = {"type": leaf.types[0]}
        if leaf.name in _FORMATS:
            schema["format"] = _FORMATS[leaf.name]
        if leaf.types[0] != "string":
            return schema | _sizes(bounds, "minimum", "maximum")
        if leaf.pattern and leaf.name not in _FORMATS:
            schema["pattern"] = f"^(?:{leaf.pattern})$"
        return schema | _sizes(Bounds(bounds.least, bounds.most or leaf.longest), "minLength", "maxLength")


def _sizes(bounds: Bounds, least: str, most: str) -> dict[str, int]:
    pairs = ((least, bounds.least), (most, bounds.most))
    return {name: value for name, value in pairs if value is not None}
