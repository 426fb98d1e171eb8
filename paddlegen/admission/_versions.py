"""Which releases a cluster runs; a current one where its profile does not say, as for Kubernetes itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import UnsetType

if TYPE_CHECKING:
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


def _release(component: Component | UnsetType, current: Release) -> Release:
    if isinstance(component, UnsetType) or isinstance(component.version, UnsetType):
        return current
    numbers = [int(part) for part in re.findall(r"\d+", component.version.partition("-")[0])]
    major, minor, patch = (*numbers, 0, 0)[:3]
    return (major, minor, patch)
