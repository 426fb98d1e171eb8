"""What a person may write: JobSpec, JobTemplate and StorageSpec, the one source of the published schemas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

API_VERSION = "paddlegen.dev/v1"

Quantity = str | int | float
"""A Kubernetes quantity as written: `4`, `0.5`, `16Gi`."""

Name = Annotated[
    str,
    Meta(
        pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        max_length=63,
        description="A DNS label: lower-case letters, digits and '-', a letter first.",
    ),
]
ObjectName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        max_length=200,
        description="A DNS subdomain, as Kubernetes wants object names, of at most 200 characters.",
    ),
]
Count = Annotated[int, Meta(ge=1, le=10_000)]
NonEmpty = Annotated[str, Meta(min_length=1)]
PortName = Annotated[str, Meta(pattern=r"^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$")]
Gpus = Annotated[int, Meta(ge=0)]
Seconds = Annotated[int, Meta(ge=1)]
MountPath = Annotated[str, Meta(pattern=r"^/[^:]*$", description="An absolute path in the container.")]
Labels = dict[str, str]
AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]
Network = Literal["PodIP", "Service", "Host"]
Gloo = Literal["none", "workers", "all"]
Cleanup = Literal["Always", "Never", "OnFailure", "OnCompletion"]
RestartPolicy = Literal["Never", "OnFailure"]
TargetName = Literal["paddle-operator"]


class _Part(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """A part of a spec: every field may be absent, an absent field is UNSET."""


class Metadata(_Part, kw_only=True):
    """Who the job is."""

    name: Annotated[
        Name,
        Meta(
            description="The job's name. Pods are called `<name>-<role>-<index>`.", examples=["wide-and-deep"]
        ),
    ]
    namespace: Annotated[
        Name | UnsetType, Meta(description="The namespace of every object of the job; `default` if absent.")
    ] = UNSET
    labels: Annotated[
        Labels | UnsetType, Meta(description="Labels of the job object.", examples=[{"team": "ads"}])
    ] = UNSET
    annotations: Annotated[Labels | UnsetType, Meta(description="Annotations of the job object.")] = UNSET


class SecretKey(_Part, kw_only=True):
    """One key of a Secret."""

    name: ObjectName
    key: str


class EnvSource(_Part):
    """An environment value that the cluster supplies."""

    secret: Annotated[SecretKey | UnsetType, Meta(description="One key of a Secret.")] = UNSET
    value_from: Annotated[
        dict[str, Any] | UnsetType, Meta(description="A Kubernetes `valueFrom`, as in a container's env.")
    ] = UNSET


class Port(_Part, kw_only=True):
    """A port the container listens on."""

    port: Annotated[int, Meta(ge=1, le=65535)]
    name: PortName | UnsetType = UNSET
    protocol: Literal["TCP", "UDP", "SCTP"] | UnsetType = UNSET


class Nfs(_Part, kw_only=True):
    """An NFS export."""

    server: NonEmpty
    path: MountPath
    read_only: bool | UnsetType = UNSET


class HostPath(_Part, kw_only=True):
    """A directory of the node."""

    path: MountPath
    type: (
        Literal[
            "",
            "DirectoryOrCreate",
            "Directory",
            "FileOrCreate",
            "File",
            "Socket",
            "CharDevice",
            "BlockDevice",
        ]
        | UnsetType
    ) = UNSET


class Csi(_Part, kw_only=True):
    """A volume of a CSI driver."""

    driver: str
    volume_handle: str
    fs_type: str | UnsetType = UNSET
    read_only: bool | UnsetType = UNSET
    volume_attributes: Labels | UnsetType = UNSET
    node_stage_secret_ref: dict[str, str] | UnsetType = UNSET
    node_publish_secret_ref: dict[str, str] | UnsetType = UNSET
    controller_publish_secret_ref: dict[str, str] | UnsetType = UNSET


class _Volume(_Part, kw_only=True):
    """Where data lives, and the claim through which pods reach it."""

    nfs: Annotated[
        Nfs | UnsetType, Meta(description="An NFS export, as a PersistentVolume and its claim.")
    ] = UNSET
    host_path: Annotated[HostPath | UnsetType, Meta(description="A directory of the node.")] = UNSET
    csi: Annotated[Csi | UnsetType, Meta(description="A volume of a CSI driver that exists already.")] = UNSET
    claim: Annotated[
        ObjectName | UnsetType,
        Meta(description="A PersistentVolumeClaim that exists already: nothing is rendered for it."),
    ] = UNSET
    storage_class: Annotated[
        str | UnsetType,
        Meta(description="The storageClassName. Alone, it asks that class for a new volume."),
    ] = UNSET
    size: Annotated[Quantity | UnsetType, Meta(description="Capacity and request.", examples=["10Gi"])] = (
        UNSET
    )
    access_modes: Annotated[
        list[AccessMode] | UnsetType, Meta(description="Access modes; [ReadWriteMany] if absent.")
    ] = UNSET
    volume_mode: Literal["Filesystem", "Block"] | UnsetType = UNSET
    reclaim_policy: Annotated[
        Literal["Retain", "Delete", "Recycle"] | UnsetType,
        Meta(description="What happens to the data when the claim goes; Retain if absent."),
    ] = UNSET
    mount_options: list[str] | UnsetType = UNSET
    volume_name: Annotated[
        ObjectName | UnsetType,
        Meta(description="The PersistentVolume's name; `<namespace>-<claim>` if absent."),
    ] = UNSET
    claim_name: Annotated[
        ObjectName | UnsetType, Meta(description="The PersistentVolumeClaim's name; derived if absent.")
    ] = UNSET


class Mount(_Volume, kw_only=True):
    """Storage a role mounts: a StorageSpec by name (`use`), or a volume described in place."""

    mount_path: MountPath
    use: Annotated[
        Name | UnsetType, Meta(description="The name of a StorageSpec in the job's namespace.")
    ] = UNSET
    name: Annotated[
        Name | UnsetType,
        Meta(description="The volume's name in the pod; needed when the volume is described in place."),
    ] = UNSET
    sub_path: str | UnsetType = UNSET
    read_only: bool | UnsetType = UNSET


class RoleFields(_Part, kw_only=True):
    """Everything a role may say, and the job for all its roles."""

    image: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="The container image.",
            examples=["registry.example.com/demo/wide-and-deep:v1"],
        ),
    ] = UNSET
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | UnsetType = UNSET
    image_pull_secrets: Annotated[
        list[ObjectName] | UnsetType, Meta(description="Names of Secrets.", examples=[["registry"]])
    ] = UNSET
    container_name: Annotated[
        Name | UnsetType, Meta(description="The container's name; `paddle` if absent.")
    ] = UNSET
    command: Annotated[list[str] | UnsetType, Meta(examples=[["python"]])] = UNSET
    args: Annotated[
        list[str] | UnsetType, Meta(examples=[["-m", "paddle.distributed.launch", "train.py"]])
    ] = UNSET
    working_dir: str | UnsetType = UNSET
    env: Annotated[
        dict[str, str | EnvSource] | UnsetType,
        Meta(
            description="Environment variables. Plain values are the text that was written.",
            examples=[{"GLOG_v": "0"}],
        ),
    ] = UNSET
    env_from: Annotated[
        list[dict[str, Any]] | UnsetType, Meta(description="As in a Kubernetes container.")
    ] = UNSET
    ports: list[Port] | UnsetType = UNSET
    cpu: Annotated[Quantity | UnsetType, Meta(description="CPU, as request and limit.", examples=[4])] = UNSET
    memory: Annotated[
        Quantity | UnsetType, Meta(description="Memory, as request and limit.", examples=["16Gi"])
    ] = UNSET
    ephemeral_storage: Annotated[
        Quantity | UnsetType, Meta(description="Local disk, as request and limit.", examples=["10Gi"])
    ] = UNSET
    gpu: Annotated[Gpus | UnsetType, Meta(description="NVIDIA GPUs of one pod.", examples=[1])] = UNSET
    requests: Annotated[
        dict[str, Quantity] | UnsetType,
        Meta(description="Requests that differ from limits; wins over `cpu`, `memory`."),
    ] = UNSET
    limits: Annotated[
        dict[str, Quantity] | UnsetType,
        Meta(description="Limits that differ from requests; wins over `cpu`, `memory`."),
    ] = UNSET
    shared_memory: Annotated[
        Quantity | UnsetType,
        Meta(
            description="/dev/shm: `auto` (a memory volume for GPU roles), `memory` (always), `none`, or a size limit.",
            examples=["auto", "none", "8Gi"],
        ),
    ] = UNSET
    node_selector: Annotated[Labels | UnsetType, Meta(examples=[{"accelerator": "nvidia-tesla-p100"}])] = (
        UNSET
    )
    tolerations: list[dict[str, Any]] | UnsetType = UNSET
    affinity: dict[str, Any] | UnsetType = UNSET
    restart_policy: Annotated[
        RestartPolicy | UnsetType,
        Meta(description="Never if absent (OnFailure for elastic jobs, as the operator forces)."),
    ] = UNSET
    service_account: ObjectName | UnsetType = UNSET
    deadline_seconds: Annotated[
        Seconds | UnsetType,
        Meta(description="activeDeadlineSeconds of each pod: the API knows no other deadline."),
    ] = UNSET
    pod_labels: Labels | UnsetType = UNSET
    pod_annotations: Labels | UnsetType = UNSET
    storage: Annotated[
        list[Mount] | UnsetType,
        Meta(description="What is mounted where.", examples=[[{"use": "nas", "mountPath": "/nas"}]]),
    ] = UNSET
    pod_template: Annotated[
        dict[str, Any] | UnsetType,
        Meta(
            description="A Kubernetes pod template merged last, strategically: nothing Kubernetes has is out of reach."
        ),
    ] = UNSET


class Role(RoleFields, kw_only=True):
    """One role of the job."""

    replicas: Annotated[Count | UnsetType, Meta(description="How many pods; 1 if absent.", examples=[2])] = (
        UNSET
    )
    entrypoint_translates_environment: Annotated[
        bool | UnsetType,
        Meta(
            description="For `heter` only: your entry point turns the operator's HETER variables into the ones Paddle reads."
        ),
    ] = UNSET


class Roles(_Part, kw_only=True):
    """The roles of a Paddle job."""

    ps: Annotated[Role | UnsetType, Meta(description="Parameter servers.")] = UNSET
    worker: Annotated[Role | UnsetType, Meta(description="Trainers.")] = UNSET
    heter: Annotated[Role | UnsetType, Meta(description="Heterogeneous trainers.")] = UNSET


class Scheduling(_Part, kw_only=True):
    """How the pods get onto nodes together."""

    gang: Annotated[
        bool | UnsetType,
        Meta(description="All pods or none, by Volcano; true if absent and the cluster has Volcano."),
    ] = UNSET
    queue: Annotated[ObjectName | UnsetType, Meta(description="The Volcano queue.")] = UNSET
    priority_class: Annotated[
        ObjectName | UnsetType, Meta(description="The PriorityClass of pods and gang.")
    ] = UNSET


class Elastic(_Part, kw_only=True):
    """Elastic training of a Collective job."""

    server: Annotated[
        str | UnsetType,
        Meta(
            description="The etcd that Paddle registers with (operator >= 0.3.3).",
            examples=["etcd-service:2379"],
        ),
    ] = UNSET


class JobFields(RoleFields, kw_only=True):
    """A job, whole or in part: what JobSpec, JobTemplate and `overrides` share."""

    roles: Annotated[
        Roles | UnsetType, Meta(description="`worker` alone: Collective or Single; with `ps`: PS.")
    ] = UNSET
    scheduling: Scheduling | UnsetType = UNSET
    network: Annotated[
        Network | UnsetType, Meta(description="How pods reach each other; the operator's PodIP if absent.")
    ] = UNSET
    gloo: Annotated[
        Gloo | UnsetType, Meta(description="Gloo rendezvous of a PS job: for nobody, workers, or all.")
    ] = UNSET
    elastic: Elastic | UnsetType = UNSET
    cleanup: Annotated[
        Cleanup | UnsetType,
        Meta(description="When finished pods are deleted; the operator's OnCompletion if absent."),
    ] = UNSET


class JobBody(JobFields, kw_only=True):
    """The `spec` of a JobSpec."""

    clusters: Annotated[
        list[Name] | UnsetType, Meta(description="Where the job runs; every cluster if absent.")
    ] = UNSET
    target: Annotated[
        TargetName | UnsetType, Meta(description="The API to render for; the cluster's if absent.")
    ] = UNSET
    extends: Annotated[
        list[Name] | UnsetType,
        Meta(description="Job templates, in order, later wins.", examples=[["parameter-server"]]),
    ] = UNSET
    params: Annotated[
        dict[str, str | int | float | bool] | UnsetType,
        Meta(description="Values of the templates' parameters."),
    ] = UNSET
    overrides: Annotated[
        dict[str, JobFields] | UnsetType,
        Meta(
            description="Per cluster, merged last; every count derived from replicas follows.",
            examples=[{"legacy": {"roles": {"worker": {"replicas": 1}}}}],
        ),
    ] = UNSET


class JobSpec(_Part, kw_only=True):
    """A PaddlePaddle training job."""

    api_version: Literal["paddlegen.dev/v1"]
    kind: Literal["JobSpec"]
    metadata: Metadata
    spec: JobBody


class Param(_Part, kw_only=True):
    """A declared parameter of a template."""

    type: Annotated[
        Literal["string", "integer", "number", "boolean"] | UnsetType, Meta(description="string if absent.")
    ] = UNSET
    default: Annotated[
        str | int | float | bool | UnsetType, Meta(description="Absent: the job must give a value.")
    ] = UNSET
    description: str | UnsetType = UNSET


class TemplateBody(JobFields, kw_only=True):
    """The `spec` of a JobTemplate: any part of a job."""

    params: Annotated[
        dict[str, Param] | UnsetType, Meta(description="Parameters, written `${params.NAME}` in values.")
    ] = UNSET
    extends: list[Name] | UnsetType = UNSET


class TemplateMetadata(_Part, kw_only=True):
    """Who the template is."""

    name: Name
    annotations: Labels | UnsetType = UNSET


class JobTemplate(_Part, kw_only=True):
    """A partial job that job specs extend."""

    api_version: Literal["paddlegen.dev/v1"]
    kind: Literal["JobTemplate"]
    metadata: TemplateMetadata
    spec: TemplateBody


class StorageBody(_Volume, kw_only=True):
    """The `spec` of a StorageSpec."""

    clusters: list[Name] | UnsetType = UNSET


class StorageSpec(_Part, kw_only=True):
    """A PersistentVolume and claim that several jobs share and that outlive them."""

    api_version: Literal["paddlegen.dev/v1"]
    kind: Literal["StorageSpec"]
    metadata: Metadata
    spec: StorageBody
