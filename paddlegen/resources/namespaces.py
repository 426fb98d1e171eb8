"""The namespaces a profile names, with the labels that say what they enforce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import UnsetType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.model.cluster import Namespace

POD_SECURITY: Final = "pod-security.kubernetes.io/enforce"
ISTIO: Final = "istio-injection"


def build(name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """A Namespace."""
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = dict(labels)
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def labels_of(namespace: Namespace) -> dict[str, str]:
    """What a namespace enforces, as the labels that make it so."""
    labels: dict[str, str] = {}
    if not isinstance(namespace.pod_security, UnsetType):
        labels[POD_SECURITY] = namespace.pod_security
    if not isinstance(namespace.istio, UnsetType):
        labels[ISTIO] = "enabled" if namespace.istio else "disabled"
    return labels
