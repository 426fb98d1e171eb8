"""The custom kinds we know: what their CRD is called, which table has their fields, whose release counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from paddlegen.schema.table import Version


Flavour = Literal["v1", "v1beta1", "tpr"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; a priority above 0 shows with `-o wide` only."""

    name: str
    type: str
    path: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale subresource of a kind."""

    replicas: str
    status: str
    selector: str


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind that a CRD defines.

    `table` and `type` say where its fields are, `operator` whose release their versions are.  `pods` is the
    version of Kubernetes whose pod template the CRD of each release has, as far as that is known: the server
    drops what is newer.  `capped` is the release at which the v1beta1 copy of the CRD stopped.
    `schemaless` is a kind whose server takes any field, so that only the operator's own types decide.
    """

    api_version: str
    kind: str
    plural: str
    table: str
    type: str
    operator: str
    short_names: tuple[str, ...] = ()
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    columns: tuple[Column, ...] = ()
    status: bool = False
    scale: Scale | None = None
    pods: tuple[tuple[Version, Version], ...] = ()
    capped: Version | None = None
    schemaless: bool = False

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]

    @property
    def version(self) -> str:
        """The version inside the group."""
        return self.api_version.partition("/")[2]

    @property
    def crd_name(self) -> str:
        """The name of the CRD object."""
        return f"{self.plural}.{self.group}"

    def pods_at(self, release: Version) -> Version | None:
        """The Kubernetes version of the pod template in the CRD of a release; None where nobody knows."""
        known = [kubernetes for since, kubernetes in self.pods if release >= since]
        return known[-1] if known else None


_AGE: Final = Column("Age", "date", ".metadata.creationTimestamp")
_AGE_IN_CAPITALS: Final = Column("AGE", "date", ".metadata.creationTimestamp")
_ARGO: Final = "argoproj.io/v1alpha1"

CUSTOM_KINDS: Final = (
    CustomKind(
        "batch.paddlepaddle.org/v1",
        "PaddleJob",
        "paddlejobs",
        "paddle-operator",
        "PaddleJob",
        "paddle-operator",
        short_names=("pdj",),
        columns=(
            Column("Status", "string", ".status.phase"),
            Column("Mode", "string", ".status.mode"),
            _AGE,
        ),
        status=True,
        pods=(((0, 3, 2), (1, 23)),),
    ),
    CustomKind(
        "kubeflow.org/v1",
        "PaddleJob",
        "paddlejobs",
        "training-operator",
        "PaddleJob",
        "training-operator",
        columns=(Column("State", "string", ".status.conditions[-1:].type"), _AGE),
        status=True,
        scale=Scale(
            ".spec.paddleReplicaSpecs.Worker.replicas",
            ".status.replicaStatuses.Worker.active",
            ".status.replicaStatuses.Worker.selector",
        ),
        pods=(((1, 9), (1, 31)),),
    ),
    CustomKind(
        "batch.volcano.sh/v1alpha1",
        "Job",
        "jobs",
        "volcano",
        "Job",
        "volcano",
        short_names=("vcjob", "vj"),
        columns=(
            Column("STATUS", "string", ".status.state.phase"),
            Column("minAvailable", "integer", ".status.minAvailable"),
            Column("RUNNINGS", "integer", ".status.running"),
            _AGE_IN_CAPITALS,
            Column("QUEUE", "string", ".spec.queue", priority=1),
        ),
        status=True,
        pods=(((1, 16), (1, 36)),),
        capped=(1, 9),
    ),
    CustomKind(
        "scheduling.volcano.sh/v1beta1",
        "PodGroup",
        "podgroups",
        "volcano",
        "PodGroup",
        "volcano",
        short_names=("pg", "podgroup-v1beta1"),
        columns=(
            Column("STATUS", "string", ".status.phase"),
            Column("minMember", "integer", ".spec.minMember"),
            Column("RUNNINGS", "integer", ".status.running"),
            _AGE_IN_CAPITALS,
            Column("QUEUE", "string", ".spec.queue", priority=1),
        ),
        capped=(1, 9),
    ),
    CustomKind(
        "scheduling.volcano.sh/v1beta1",
        "Queue",
        "queues",
        "volcano",
        "Queue",
        "volcano",
        short_names=("q", "queue-v1beta1"),
        scope="Cluster",
        columns=(Column("PARENT", "string", ".spec.parent"),),
        status=True,
        capped=(1, 9),
    ),
    CustomKind(
        "paddlepaddle.org/v1",
        "TrainingJob",
        "trainingjobs",
        "edl",
        "v1.TrainingJob",
        "edl",
        short_names=("tj",),
        schemaless=True,
    ),
    CustomKind(
        "paddlepaddle.org/v1alpha1",
        "TrainingJob",
        "trainingjobs",
        "edl",
        "v1alpha1.TrainingJob",
        "edl",
        short_names=("tj",),
        schemaless=True,
    ),
    CustomKind(
        _ARGO,
        "Application",
        "applications",
        "argocd",
        "Application",
        "argocd",
        short_names=("app", "apps"),
        columns=(
            Column("Sync Status", "string", ".status.sync.status"),
            Column("Health Status", "string", ".status.health.status"),
            Column("Revision", "string", ".status.sync.revision", priority=10),
            Column("Project", "string", ".spec.project", priority=10),
        ),
    ),
    CustomKind(
        _ARGO,
        "AppProject",
        "appprojects",
        "argocd",
        "AppProject",
        "argocd",
        short_names=("appproj", "appprojs"),
    ),
    CustomKind(
        _ARGO,
        "ApplicationSet",
        "applicationsets",
        "argocd",
        "ApplicationSet",
        "argocd",
        short_names=("appset", "appsets"),
        status=True,
    ),
    CustomKind("kueue.x-k8s.io/v1beta1", "LocalQueue", "localqueues", "kueue", "v1beta1.LocalQueue", "kueue"),
    CustomKind("kueue.x-k8s.io/v1beta2", "LocalQueue", "localqueues", "kueue", "v1beta2.LocalQueue", "kueue"),
)
"""Facts: paddle_operators 1.1 and 4.1, volcano_argocd 1.1, 2 and 4, edl_paddlecloud 1.1."""

BY_NAME: Final = {(kind.api_version, kind.kind): kind for kind in CUSTOM_KINDS}
"""The custom kinds by apiVersion and kind."""

POLICY_ONLY: Final = frozenset(
    {
        ("bus.volcano.sh/v1alpha1", "Command"),
        ("extensions/v1beta1", "ThirdPartyResource"),
        ("flow.volcano.sh/v1alpha1", "JobFlow"),
        ("flow.volcano.sh/v1alpha1", "JobTemplate"),
    }
)
"""Kinds that rules and policies know while no table lists their fields."""
