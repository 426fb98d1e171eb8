"""Which versions a cluster serves: all that a schema depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import UnsetType

if TYPE_CHECKING:
    from paddlegen.model.cluster import Cluster, Component
    from paddlegen.schema.kinds import Flavour
    from paddlegen.schema.table import Version

OLDEST: Final = (1, 11)
NEWEST: Final = (1, 37)
"""The Kubernetes versions our tables have; a cluster outside is read as the nearest."""

ANY_RELEASE: Final = (999,)
"""The release of an operator whose version the profile does not name: its newest."""

EDL_GENERATION: Final = {"tpr": (1,), "v1beta1": (2,), "v1": (2,)}


@dataclass(frozen=True, slots=True)
class Profile:
    """The versions of a cluster; an operator that is absent has its newest release."""

    kubernetes: tuple[int, int] = (1, 33)
    crd: Flavour = "v1"
    operators: tuple[tuple[str, Version], ...] = ()

    @property
    def tabled(self) -> tuple[int, int]:
        """The Kubernetes version whose tables are read."""
        return min(max(self.kubernetes, OLDEST), NEWEST)

    def release(self, operator: str) -> Version:
        """The release of an operator."""
        if operator == "edl":
            return dict(self.operators).get(operator, EDL_GENERATION[self.crd])
        return dict(self.operators).get(operator, ANY_RELEASE)


CURRENT: Final = Profile(operators=(("paddle-operator", (0, 3, 5)),))
"""What foreign files are checked for when no cluster is named."""


def profile_of(cluster: Cluster) -> Profile:
    """The versions that a cluster's profile names."""
    body = cluster.body
    named: list[tuple[str, Version]] = [("paddle-operator", cluster.operator_version)]
    components: dict[str, Component | UnsetType] = {
        "training-operator": body.training_operator,
        "volcano": body.volcano,
        "kueue": body.kueue,
    }
    for name, component in components.items():
        if not isinstance(component, UnsetType) and not isinstance(component.version, UnsetType):
            named.append((name, _release(component.version)))
    if not isinstance(body.argocd.version, UnsetType):
        named.append(("argocd", _release(body.argocd.version)))
    return Profile(cluster.kubernetes, cluster.crd, tuple(named))


def _release(text: str) -> Version:
    numbers = text.removeprefix("v").partition("-")[0].split(".")
    return tuple(int(number) for number in numbers)
