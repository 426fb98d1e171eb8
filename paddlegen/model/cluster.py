"""What is known about a cluster: the profile `overlays/<cluster>/cluster.yaml`, everything optional."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from paddlegen.model.job import Labels, Name, NonEmpty, Quantity, TargetName

CrdFlavour = Literal["v1", "v1beta1", "tpr"]
GangMode = Literal["git", "operator", "none"]
KubernetesVersion = Annotated[
    str, Meta(pattern=r"^1\.[0-9]{1,2}$", description="Minor version of Kubernetes.", examples=["1.33"])
]
Version = Annotated[
    str,
    Meta(
        pattern=r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[0-9A-Za-z.-]+)?$",
        description="A release, as the project tags it.",
    ),
]
PaddleOperatorVersion = Literal["0.2.0", "0.2.1", "0.3.0", "0.3.1", "0.3.2", "0.3.3", "0.3.4", "0.3.5"]


class _Part(
    Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True, kw_only=True
):
    """A part of the profile; what is absent is unknown unless a default is named."""


class PaddleOperator(_Part):
    """The paddle-operator and the flags it runs with."""

    version: Annotated[PaddleOperatorVersion, Meta(description="Release of paddle-operator.")] = "0.3.5"
    namespace: Annotated[Name, Meta(description="Where the operator itself runs.")] = "paddle-system"
    watched_namespace: Annotated[
        str, Meta(description="`--namespace`: the one namespace it watches; empty: all of them.")
    ] = ""
    scheduling: Annotated[Literal["", "volcano"], Meta(description="`--scheduling`.")] = ""
    init_image: Annotated[
        str, Meta(description="`--initImage`, the image of the start-up barrier; empty: no barrier.")
    ] = "docker.io/library/alpine:3.10"
    etcd_server: Annotated[str, Meta(description="`--etcd-server` (0.3.0 to 0.3.2).")] = ""


class Component(_Part):
    """Another controller of the cluster."""

    version: Version | UnsetType = UNSET
    namespace: Name | UnsetType = UNSET


class TrainingOperator(Component):
    """The Kubeflow training-operator."""

    gang_scheduler_name: Annotated[str | UnsetType, Meta(description="`--gang-scheduler-name`.")] = UNSET


class Edl(Component):
    """The EDL controller."""


class Argocd(_Part):
    """The Argo CD that syncs this cluster."""

    version: Version | UnsetType = UNSET
    repo_url: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    destination: str | UnsetType = UNSET
    project: str | UnsetType = UNSET


class Queue(_Part):
    """A Volcano queue."""

    name: str
    weight: int | UnsetType = UNSET
    capability: dict[str, Quantity] | UnsetType = UNSET


class NodePool(_Part):
    """Nodes that are alike."""

    name: str
    count: int | UnsetType = UNSET
    allocatable: dict[str, Quantity] | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    taints: list[dict[str, Any]] | UnsetType = UNSET


class Namespace(_Part):
    """What a namespace enforces."""

    name: Name
    pod_security: Literal["privileged", "baseline", "restricted"] | UnsetType = UNSET
    istio: bool | UnsetType = UNSET
    quota: dict[str, Quantity] | UnsetType = UNSET
    limit_range: list[dict[str, Any]] | UnsetType = UNSET


class ClusterBody(_Part):
    """The `spec` of a cluster profile."""

    kubernetes: Annotated[KubernetesVersion | UnsetType, Meta(description="Version of the API server.")] = (
        UNSET
    )
    crd: Annotated[
        CrdFlavour | UnsetType,
        Meta(description="Flavour of the CRDs; by the Kubernetes version if absent (v1 from 1.16)."),
    ] = UNSET
    default_target: Annotated[TargetName, Meta(description="The API jobs are rendered for.")] = (
        "paddle-operator"
    )
    gang: Annotated[
        GangMode | UnsetType,
        Meta(
            description=(
                "Who owns the PodGroup: `git` (committed beside the job), `operator` (its --scheduling=volcano), "
                "`none`. If absent: `operator` with that flag, else `git` when `volcano` is given, else `none`."
            )
        ),
    ] = UNSET
    paddle_operator: PaddleOperator = PaddleOperator()
    training_operator: TrainingOperator | UnsetType = UNSET
    edl: Edl | UnsetType = UNSET
    volcano: Annotated[Component | UnsetType, Meta(description="Volcano, if the cluster has it.")] = UNSET
    kueue: Component | UnsetType = UNSET
    argocd: Argocd = Argocd()
    queues: list[Queue] | UnsetType = UNSET
    node_pools: list[NodePool] | UnsetType = UNSET
    storage_classes: list[str] | UnsetType = UNSET
    namespaces: list[Namespace] | UnsetType = UNSET
    registries: Annotated[
        list[NonEmpty] | UnsetType, Meta(description="Image registries that are allowed.")
    ] = UNSET
    ip_family: Literal["IPv4", "IPv6", "DualStack"] | UnsetType = UNSET
    stage: Literal["debug", "production"] | UnsetType = UNSET


class ClusterMetadata(_Part):
    """Who the cluster is: the folder says so, a name here must repeat it."""

    name: Name | UnsetType = UNSET


class ClusterProfile(_Part):
    """A cluster jobs are rendered for."""

    api_version: Literal["paddlegen.dev/v1"]
    kind: Literal["Cluster"]
    metadata: ClusterMetadata = ClusterMetadata()
    spec: ClusterBody = ClusterBody()


class Cluster(Struct, frozen=True, kw_only=True):
    """A profile with its name and the defaults that follow from other facts."""

    name: str
    body: ClusterBody

    @property
    def crd(self) -> CrdFlavour:
        """The CRD flavour: apiextensions/v1 came with Kubernetes 1.16 (facts: paddle_operators 1.2)."""
        if not isinstance(self.body.crd, UnsetType):
            return self.body.crd
        return "v1beta1" if self.kubernetes < (1, 16) else "v1"

    @property
    def kubernetes(self) -> tuple[int, int]:
        """The Kubernetes minor version; a current one where the profile does not say."""
        text = self.body.kubernetes
        if isinstance(text, UnsetType):
            return (1, 33)
        major, minor = text.split(".")
        return (int(major), int(minor))

    @property
    def operator_version(self) -> tuple[int, int, int]:
        """The paddle-operator release as numbers."""
        major, minor, patch = (int(part) for part in self.body.paddle_operator.version.split("."))
        return (major, minor, patch)

    @property
    def has_volcano(self) -> bool:
        """True if the profile names Volcano, or the operator runs with --scheduling=volcano."""
        return (
            not isinstance(self.body.volcano, UnsetType) or self.body.paddle_operator.scheduling == "volcano"
        )

    @property
    def gang(self) -> GangMode:
        """Who owns PodGroups on this cluster."""
        if not isinstance(self.body.gang, UnsetType):
            return self.body.gang
        if self.body.paddle_operator.scheduling == "volcano":
            return "operator"
        return "git" if self.has_volcano else "none"
