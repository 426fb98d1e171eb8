"""What a target makes of a job: manifests, text files, and the reasons why it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddlegen.model.report import FieldPath, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

JOB, STORAGE, PLATFORM = "job", "storage", "platform"
"""The folders a manifest can belong to: the job's own, `_storage`, which outlives it, or `_platform`."""


HEADER_PREFIX = "# Rendered by paddlegen from "
"""How the first line of every rendered file begins: the proof that we may replace or delete it."""


def header(source: str) -> str:
    """The first line of a file rendered from `source`."""
    return f"{HEADER_PREFIX}{source}; edit that file.\n"


@dataclass(frozen=True, slots=True, order=True)
class ObjectRef:
    """Which object of a cluster this is; its order is the order of all output."""

    kind: str
    namespace: str
    name: str
    api_version: str

    def __str__(self) -> str:
        """`PaddleJob paddle-system/wide-and-deep`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


CLUSTER_SCOPED = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "Namespace",
        "PersistentVolume",
        "PriorityClass",
        "Queue",
        "StorageClass",
    }
)
"""Kinds we render or meet that have no namespace."""


def object_ref(body: Mapping[str, Any]) -> ObjectRef:
    """The reference of an object's body.

    Raises:
        ValueError: the body has no apiVersion, kind or name.
    """
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    values = (body.get("kind"), metadata.get("name"), body.get("apiVersion"))
    if not all(isinstance(value, str) and value for value in values):
        message = "an object needs apiVersion, kind and metadata.name"
        raise ValueError(message)
    kind, name, api_version = values
    namespace = "" if kind in CLUSTER_SCOPED else str(metadata.get("namespace") or "default")
    return ObjectRef(str(kind), namespace, str(name), str(api_version))


@dataclass(frozen=True, slots=True)
class Manifest:
    """One Kubernetes object that a target built.

    `folder` is JOB, STORAGE or PLATFORM.  `owner` is the spec path it comes from when that is not the whole
    job (`("storage", 0)`), so that storage shared by several jobs can be told once.
    """

    body: dict[str, Any]
    folder: str = JOB

    @property
    def ref(self) -> ObjectRef:
        """Which object this is."""
        return object_ref(self.body)


@dataclass(frozen=True, slots=True)
class Violation:
    """Something the job asks for that cannot be had: where in the resolved spec, and why.

    `path` is a path of the resolved spec, such as `("roles", "worker", "image")`; the engine turns
    it into the line of the job, template or override that the value came from.  With `field` set it
    is a path of the cluster's profile instead.
    """

    path: FieldPath
    message: str
    rule: str = "target-can-express-job"
    severity: Severity = Severity.ERROR
    remediation: str = ""
    in_profile: bool = False


Output = Manifest | Violation
"""What a target yields."""
