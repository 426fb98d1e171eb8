"""Which releases a cluster runs; a current one where its profile does not say, as for Kubernetes itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from paddlegen.admission._read import mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.model.cluster import Cluster, Component

Release = tuple[int, int, int]

CURRENT_VOLCANO: Release = (1, 15, 1)
CURRENT_TRAINING_OPERATOR: Release = (1, 9, 0)


def volcano(cluster: Cluster) -> Release:
    """Volcano's release."""
    return _release(cluster.body.volcano, CURRENT_VOLCANO)


def training_operator(cluster: Cluster) -> Release:
    """The release of the Kubeflow training-operator."""
    return _release(cluster.body.training_operator, CURRENT_TRAINING_OPERATOR)


def volcano_looks_away(body: Mapping[str, Any], cluster: Cluster) -> bool:
    """True in kube-system and in Volcano's own namespace, which the selector of its webhooks leaves out."""
    component = cluster.body.volcano
    own: str | UnsetType = UNSET if isinstance(component, UnsetType) else component.namespace
    namespace = text(mapping(body.get("metadata")).get("namespace"))
    return namespace in {"kube-system", "volcano-system" if isinstance(own, UnsetType) else own}


def _release(component: Component | UnsetType, current: Release) -> Release:
    if isinstance(component, UnsetType) or isinstance(component.version, UnsetType):
        return current
    numbers = [int(part) for part in re.findall(r"\d+", component.version.partition("-")[0])]
    major, minor, patch = (*numbers, 0, 0)[:3]
    return (major, minor, patch)
