"""What is known about a cluster: the profile `overlays/<cluster>/cluster.yaml`, everything optional."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from paddlegen.model.job import Labels, Name, NonEmpty, Quantity, TargetName

CrdFlavour = Literal["v1", "v1beta1", "tpr"]
PlatformPart = Literal["crds", "operator", "namespaces"]
GangMode = Literal["git", "operator", "none"]
KubernetesVersion = Annotated[
    str,
    Meta(
        pattern=r"^1\.[0-9]{1,2}$",
        extra_json_schema={"patternErrorMessage": 'write a minor version such as "1.33"'},
    ),
]
Version = Annotated[
    str,
    Meta(
        pattern=r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[0-9A-Za-z.-]+)?$",
        extra_json_schema={"patternErrorMessage": "write a release such as v1.12.0"},
    ),
]
PaddleOperatorVersion = Literal["0.2.0", "0.2.1", "0.3.0", "0.3.1", "0.3.2", "0.3.3", "0.3.4", "0.3.5"]


class _Part(
    Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True, kw_only=True
):
    """A part of the profile; what is absent is unknown unless a default is named."""


class PaddleOperator(_Part, frozen=True):
    """The paddle-operator and the flags it runs with."""

    version: Annotated[PaddleOperatorVersion, Meta(description="Release of paddle-operator.")] = "0.3.5"
    image: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="Its image; if absent the published one, which 0.3.1 and later have.",
            examples=["registry.example.com/paddle/controller:v0.3.5"],
        ),
    ] = UNSET
    namespace: Annotated[Name, Meta(description="Where the operator itself runs.")] = "paddle-system"
    watched_namespace: Annotated[
        str, Meta(description="`--namespace`: the one namespace it watches; empty: all of them.")
    ] = ""
    scheduling: Annotated[Literal["", "volcano"], Meta(description="`--scheduling`.")] = ""
    init_image: Annotated[
        str, Meta(description="`--initImage`, the image of the start-up barrier; empty: no barrier.")
    ] = "docker.io/library/alpine:3.10"
    etcd_server: Annotated[str, Meta(description="`--etcd-server` (0.3.0 to 0.3.2).")] = ""


class Component(_Part, frozen=True):
    """Another controller of the cluster."""

    version: Annotated[Version | UnsetType, Meta(description="Its release.", examples=["v1.12.0"])] = UNSET
    namespace: Annotated[
        Name | UnsetType, Meta(description="Where it runs.", examples=["volcano-system"])
    ] = UNSET


class TrainingOperator(Component, frozen=True):
    """The Kubeflow training-operator."""

    gang_scheduler_name: Annotated[str | UnsetType, Meta(description="`--gang-scheduler-name`.")] = UNSET


class Edl(Component, frozen=True):
    """The EDL controller."""


class Argocd(_Part, frozen=True):
    """The Argo CD that syncs this cluster."""

    version: Annotated[
        Version | UnsetType,
        Meta(
            description="Release of Argo CD; `paddlegen doctor` compares its kustomize.", examples=["v3.4.0"]
        ),
    ] = UNSET
    repo_url: Annotated[
        str | UnsetType,
        Meta(
            description="The Git repository it syncs from.", examples=["https://git.example.com/ml/jobs.git"]
        ),
    ] = UNSET
    revision: Annotated[
        str | UnsetType, Meta(description="Branch, tag or commit it follows.", examples=["main"])
    ] = UNSET
    destination: Annotated[
        str | UnsetType,
        Meta(
            description="The cluster it syncs to, by the name or URL it knows it by.",
            examples=["https://kubernetes.default.svc"],
        ),
    ] = UNSET
    project: Annotated[
        str | UnsetType, Meta(description="The AppProject its applications belong to.", examples=["default"])
    ] = UNSET


class Queue(_Part, frozen=True):
    """A Volcano queue."""

    name: Annotated[str, Meta(description="The queue's name.", examples=["default"])]
    weight: Annotated[
        int | UnsetType, Meta(description="Its share of the cluster, relative to other queues.", examples=[1])
    ] = UNSET
    capability: Annotated[
        dict[str, Quantity] | UnsetType,
        Meta(description="The most it may use.", examples=[{"cpu": 64, "memory": "256Gi"}]),
    ] = UNSET


class NodePool(_Part, frozen=True):
    """Nodes that are alike."""

    name: Annotated[str, Meta(description="The pool's name.", examples=["p100"])]
    count: Annotated[int | UnsetType, Meta(description="How many nodes.", examples=[4])] = UNSET
    allocatable: Annotated[
        dict[str, Quantity] | UnsetType,
        Meta(
            description="What pods can have of one node.",
            examples=[{"cpu": 32, "memory": "120Gi", "nvidia.com/gpu": 4}],
        ),
    ] = UNSET
    labels: Annotated[
        Labels | UnsetType,
        Meta(description="Labels of the nodes.", examples=[{"accelerator": "nvidia-tesla-p100"}]),
    ] = UNSET
    taints: Annotated[
        list[dict[str, Any]] | UnsetType,
        Meta(
            description="Taints of the nodes, as in a Kubernetes node.",
            examples=[[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]],
        ),
    ] = UNSET


class Namespace(_Part, frozen=True):
    """What a namespace enforces."""

    name: Annotated[Name, Meta(description="The namespace.", examples=["ads"])]
    pod_security: Annotated[
        Literal["privileged", "baseline", "restricted"] | UnsetType,
        Meta(description="The Pod Security Standard it enforces."),
    ] = UNSET
    istio: Annotated[bool | UnsetType, Meta(description="Whether Istio puts its sidecar into pods here.")] = (
        UNSET
    )
    quota: Annotated[
        dict[str, Quantity] | UnsetType,
        Meta(description="The `hard` of its ResourceQuota.", examples=[{"requests.nvidia.com/gpu": 8}]),
    ] = UNSET
    limit_range: Annotated[
        list[dict[str, Any]] | UnsetType,
        Meta(
            description="The `limits` of its LimitRange.",
            examples=[[{"type": "Container", "max": {"memory": "64Gi"}}]],
        ),
    ] = UNSET


class ClusterBody(_Part, frozen=True):
    """The `spec` of a cluster profile."""

    kubernetes: Annotated[
        KubernetesVersion | UnsetType, Meta(description="Minor version of the API server.", examples=["1.33"])
    ] = UNSET
    crd: Annotated[
        CrdFlavour | UnsetType,
        Meta(description="Flavour of the CRDs; by the Kubernetes version if absent (v1 from 1.16)."),
    ] = UNSET
    platform: Annotated[
        list[PlatformPart] | UnsetType,
        Meta(
            description="What the cluster needs before any job and this repository keeps in `_platform/`.",
            examples=[["crds", "operator", "namespaces"]],
        ),
    ] = UNSET
    default_target: Annotated[TargetName, Meta(description="The API jobs are rendered for.")] = (
        "paddle-operator"
    )
    gang: Annotated[
        GangMode | UnsetType,
        Meta(
            description=(
                "Who owns the PodGroup: `git` (committed beside the job), `operator` (its "
                "--scheduling=volcano), `none`. If absent: `operator` with that flag, else `git` when "
                "`volcano` is given, else `none`."
            )
        ),
    ] = UNSET
    paddle_operator: Annotated[
        PaddleOperator, Meta(description="The paddle-operator and the flags it runs with.")
    ] = PaddleOperator()
    training_operator: Annotated[
        TrainingOperator | UnsetType,
        Meta(description="The Kubeflow training-operator, if the cluster has it."),
    ] = UNSET
    edl: Annotated[Edl | UnsetType, Meta(description="The EDL controller, if the cluster has it.")] = UNSET
    volcano: Annotated[Component | UnsetType, Meta(description="Volcano, if the cluster has it.")] = UNSET
    kueue: Annotated[Component | UnsetType, Meta(description="Kueue, if the cluster has it.")] = UNSET
    argocd: Annotated[Argocd, Meta(description="The Argo CD that syncs this cluster.")] = Argocd()
    queues: Annotated[list[Queue] | UnsetType, Meta(description="Volcano queues.")] = UNSET
    node_pools: Annotated[
        list[NodePool] | UnsetType, Meta(description="Nodes, by what they have in common.")
    ] = UNSET
    storage_classes: Annotated[
        list[str] | UnsetType, Meta(description="Names of the StorageClasses that exist.", examples=[["nas"]])
    ] = UNSET
    namespaces: Annotated[list[Namespace] | UnsetType, Meta(description="What namespaces enforce.")] = UNSET
    registries: Annotated[
        list[NonEmpty] | UnsetType, Meta(description="Image registries that are allowed.")
    ] = UNSET
    ip_family: Annotated[
        Literal["IPv4", "IPv6", "DualStack"] | UnsetType, Meta(description="Addresses that pods get.")
    ] = UNSET
    stage: Annotated[
        Literal["debug", "production"] | UnsetType, Meta(description="What the cluster is for.")
    ] = UNSET


class ClusterMetadata(_Part, frozen=True):
    """Who the cluster is: the folder says so, a name here must repeat it."""

    name: Annotated[Name | UnsetType, Meta(description="The folder's name, once more.")] = UNSET


class ClusterProfile(_Part, frozen=True):
    """A cluster jobs are rendered for."""

    api_version: Annotated[Literal["paddlegen.dev/v1"], Meta(description="The version of this schema.")]
    kind: Annotated[Literal["Cluster"], Meta(description="What this document is.")]
    metadata: Annotated[
        ClusterMetadata, Meta(description="Who the cluster is: the folder says so, a name here repeats it.")
    ] = ClusterMetadata()
    spec: Annotated[ClusterBody, Meta(description="What is known about the cluster.")] = ClusterBody()


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
        major, minor = _numbers(text)
        return (major, minor)

    @property
    def operator_version(self) -> tuple[int, int, int]:
        """The paddle-operator release as numbers."""
        major, minor, patch = _numbers(self.body.paddle_operator.version)
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


@lru_cache(maxsize=256)  # asked several times for every object
def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))
