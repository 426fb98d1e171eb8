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
        extra_json_schema={
            "patternErrorMessage": "lower-case letters, digits and '-' are allowed, a letter first"
        },
    ),
]
ObjectName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        max_length=200,
        extra_json_schema={
            "patternErrorMessage": (
                "lower-case letters, digits, '-' and '.' are allowed, a letter or digit first and last"
            )
        },
    ),
]
Count = Annotated[int, Meta(ge=1, le=10_000)]
NonEmpty = Annotated[str, Meta(min_length=1)]
PortName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$",
        extra_json_schema={
            "patternErrorMessage": "at most 15 lower-case letters, digits and '-' are allowed"
        },
    ),
]
Gpus = Annotated[int, Meta(ge=0)]
Seconds = Annotated[int, Meta(ge=1)]
MountPath = Annotated[
    str,
    Meta(
        pattern=r"^/[^:]*$",
        extra_json_schema={"patternErrorMessage": "write an absolute path without ':', such as /data"},
    ),
]
Labels = dict[str, str]
AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]
Network = Literal["PodIP", "Service", "Host"]
Gloo = Literal["none", "workers", "all"]
Cleanup = Literal["Always", "Never", "OnFailure", "OnCompletion"]
RestartPolicy = Literal["Never", "OnFailure"]
TargetName = Literal["paddle-operator"]


class _Part(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """A part of a spec: every field may be absent, an absent field is UNSET."""


class Metadata(_Part, frozen=True, kw_only=True):
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


class SecretKey(_Part, frozen=True, kw_only=True):
    """One key of a Secret."""

    name: Annotated[ObjectName, Meta(description="The Secret, in the job's namespace.", examples=["hub"])]
    key: Annotated[str, Meta(description="The key whose value is taken.", examples=["token"])]


class EnvSource(_Part, frozen=True):
    """An environment value that the cluster supplies."""

    secret: Annotated[SecretKey | UnsetType, Meta(description="One key of a Secret.")] = UNSET
    value_from: Annotated[
        dict[str, Any] | UnsetType, Meta(description="A Kubernetes `valueFrom`, as in a container's env.")
    ] = UNSET


class Port(_Part, frozen=True, kw_only=True):
    """A port the container listens on."""

    port: Annotated[int, Meta(ge=1, le=65535, description="The port's number.", examples=[8040])]
    name: Annotated[
        PortName | UnsetType, Meta(description="The port's name, unique in the pod.", examples=["http"])
    ] = UNSET
    protocol: Annotated[Literal["TCP", "UDP", "SCTP"] | UnsetType, Meta(description="TCP if absent.")] = UNSET


class Nfs(_Part, frozen=True, kw_only=True):
    """An NFS export."""

    server: Annotated[
        NonEmpty, Meta(description="Host name or address of the server.", examples=["192.0.2.10"])
    ]
    path: Annotated[MountPath, Meta(description="The exported directory.", examples=["/nas"])]
    read_only: Annotated[bool | UnsetType, Meta(description="Whether nobody may write to the export.")] = (
        UNSET
    )


class HostPath(_Part, frozen=True, kw_only=True):
    """A directory of the node."""

    path: Annotated[MountPath, Meta(description="The directory on the node.", examples=["/data/samples"])]
    type: Annotated[
        (
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
        ),
        Meta(description="What must be there, or is made; not checked if absent."),
    ] = UNSET


class Csi(_Part, frozen=True, kw_only=True):
    """A volume of a CSI driver."""

    driver: Annotated[str, Meta(description="The driver's name.", examples=["nas.csi.example.com"])]
    volume_handle: Annotated[
        str, Meta(description="What the driver calls the volume.", examples=["vol-0123"])
    ]
    fs_type: Annotated[str | UnsetType, Meta(description="File system of the volume.", examples=["ext4"])] = (
        UNSET
    )
    read_only: Annotated[bool | UnsetType, Meta(description="Whether nobody may write to the volume.")] = (
        UNSET
    )
    volume_attributes: Annotated[
        Labels | UnsetType, Meta(description="What else the driver wants to know of the volume.")
    ] = UNSET
    node_stage_secret_ref: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="The Secret (`name`, `namespace`) for staging the volume on a node."),
    ] = UNSET
    node_publish_secret_ref: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="The Secret (`name`, `namespace`) for mounting the volume into a pod."),
    ] = UNSET
    controller_publish_secret_ref: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="The Secret (`name`, `namespace`) for attaching the volume to a node."),
    ] = UNSET


class _Volume(_Part, frozen=True, kw_only=True):
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
    volume_mode: Annotated[
        Literal["Filesystem", "Block"] | UnsetType, Meta(description="Filesystem if absent.")
    ] = UNSET
    reclaim_policy: Annotated[
        Literal["Retain", "Delete", "Recycle"] | UnsetType,
        Meta(description="What happens to the data when the claim goes; Retain if absent."),
    ] = UNSET
    mount_options: Annotated[
        list[str] | UnsetType,
        Meta(description="Options the volume is mounted with.", examples=[["nolock", "vers=3"]]),
    ] = UNSET
    volume_name: Annotated[
        ObjectName | UnsetType,
        Meta(description="The PersistentVolume's name; `<namespace>-<claim>` if absent."),
    ] = UNSET
    claim_name: Annotated[
        ObjectName | UnsetType, Meta(description="The PersistentVolumeClaim's name; derived if absent.")
    ] = UNSET


class Mount(_Volume, frozen=True, kw_only=True):
    """Storage a role mounts: a StorageSpec by name (`use`), or a volume described in place."""

    mount_path: Annotated[MountPath, Meta(description="Where the container sees it.", examples=["/nas"])]
    use: Annotated[
        Name | UnsetType, Meta(description="The name of a StorageSpec in the job's namespace.")
    ] = UNSET
    name: Annotated[
        Name | UnsetType,
        Meta(description="The volume's name in the pod; needed when the volume is described in place."),
    ] = UNSET
    sub_path: Annotated[
        str | UnsetType,
        Meta(
            description="A directory inside the volume that is mounted instead of all of it.",
            examples=["models/ctr"],
        ),
    ] = UNSET
    read_only: Annotated[bool | UnsetType, Meta(description="Whether the container may only read.")] = UNSET


class RoleFields(_Part, frozen=True, kw_only=True):
    """Everything a role may say, and the job for all its roles."""

    image: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="The container image.",
            examples=["registry.example.com/demo/wide-and-deep:v1"],
        ),
    ] = UNSET
    image_pull_policy: Annotated[
        Literal["Always", "IfNotPresent", "Never"] | UnsetType,
        Meta(description="When the image is pulled; by its tag if absent, as Kubernetes decides."),
    ] = UNSET
    image_pull_secrets: Annotated[
        list[ObjectName] | UnsetType, Meta(description="Names of Secrets.", examples=[["registry"]])
    ] = UNSET
    container_name: Annotated[
        Name | UnsetType, Meta(description="The container's name; `paddle` if absent.")
    ] = UNSET
    command: Annotated[
        list[str] | UnsetType,
        Meta(description="The program, in place of the image's entry point.", examples=[["python"]]),
    ] = UNSET
    args: Annotated[
        list[str] | UnsetType,
        Meta(
            description="Its arguments; plain values are the text that was written.",
            examples=[["-m", "paddle.distributed.launch", "train.py"]],
        ),
    ] = UNSET
    working_dir: Annotated[
        str | UnsetType,
        Meta(
            description="The directory the program starts in; the image's if absent.", examples=["/workspace"]
        ),
    ] = UNSET
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
    ports: Annotated[
        list[Port] | UnsetType,
        Meta(
            description="Ports the container listens on; those of Paddle are the operator's affair.",
            examples=[[{"name": "http", "port": 8040}]],
        ),
    ] = UNSET
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
            description=(
                "/dev/shm: `auto` (a memory volume for GPU roles), "  # noqa: S108  # of the pod
                "`memory` (always), `none`, or a size limit."
            ),
            examples=["auto", "none", "8Gi"],
        ),
    ] = UNSET
    node_selector: Annotated[
        Labels | UnsetType,
        Meta(description="Labels a node must have.", examples=[{"accelerator": "nvidia-tesla-p100"}]),
    ] = UNSET
    tolerations: Annotated[
        list[dict[str, Any]] | UnsetType,
        Meta(
            description="Taints of nodes that are no obstacle, as in a Kubernetes pod.",
            examples=[[{"key": "nvidia.com/gpu", "operator": "Exists"}]],
        ),
    ] = UNSET
    affinity: Annotated[
        dict[str, Any] | UnsetType, Meta(description="Affinity to nodes and pods, as in a Kubernetes pod.")
    ] = UNSET
    restart_policy: Annotated[
        RestartPolicy | UnsetType,
        Meta(description="Never if absent (OnFailure for elastic jobs, as the operator forces)."),
    ] = UNSET
    service_account: Annotated[
        ObjectName | UnsetType,
        Meta(description="The ServiceAccount of the pods; `default` if absent, as Kubernetes decides."),
    ] = UNSET
    deadline_seconds: Annotated[
        Seconds | UnsetType,
        Meta(description="activeDeadlineSeconds of each pod: the API knows no other deadline."),
    ] = UNSET
    pod_labels: Annotated[
        Labels | UnsetType, Meta(description="Labels of the pods.", examples=[{"team": "ads"}])
    ] = UNSET
    pod_annotations: Annotated[
        Labels | UnsetType,
        Meta(description="Annotations of the pods.", examples=[{"sidecar.istio.io/inject": "false"}]),
    ] = UNSET
    storage: Annotated[
        list[Mount] | UnsetType,
        Meta(description="What is mounted where.", examples=[[{"use": "nas", "mountPath": "/nas"}]]),
    ] = UNSET
    pod_template: Annotated[
        dict[str, Any] | UnsetType,
        Meta(
            description=(
                "A Kubernetes pod template merged last, strategically: "
                "nothing Kubernetes has is out of reach."
            )
        ),
    ] = UNSET


class Role(RoleFields, frozen=True, kw_only=True):
    """One role of the job."""

    replicas: Annotated[Count | UnsetType, Meta(description="How many pods; 1 if absent.", examples=[2])] = (
        UNSET
    )
    entrypoint_translates_environment: Annotated[
        bool | UnsetType,
        Meta(
            description=(
                "For `heter` only: your entry point turns the operator's HETER variables "
                "into the ones Paddle reads."
            )
        ),
    ] = UNSET


class Roles(_Part, frozen=True, kw_only=True):
    """The roles of a Paddle job."""

    ps: Annotated[Role | UnsetType, Meta(description="Parameter servers.")] = UNSET
    worker: Annotated[Role | UnsetType, Meta(description="Trainers.")] = UNSET
    heter: Annotated[Role | UnsetType, Meta(description="Heterogeneous trainers.")] = UNSET


class Scheduling(_Part, frozen=True, kw_only=True):
    """How the pods get onto nodes together."""

    gang: Annotated[
        bool | UnsetType,
        Meta(description="All pods or none, by Volcano; true if absent and the cluster has Volcano."),
    ] = UNSET
    queue: Annotated[ObjectName | UnsetType, Meta(description="The Volcano queue.")] = UNSET
    priority_class: Annotated[
        ObjectName | UnsetType, Meta(description="The PriorityClass of pods and gang.")
    ] = UNSET


class Elastic(_Part, frozen=True, kw_only=True):
    """Elastic training of a Collective job."""

    server: Annotated[
        str | UnsetType,
        Meta(
            description="The etcd that Paddle registers with (operator >= 0.3.3).",
            examples=["etcd-service:2379"],
        ),
    ] = UNSET


class JobFields(RoleFields, frozen=True, kw_only=True):
    """A job, whole or in part: what JobSpec, JobTemplate and `overrides` share."""

    roles: Annotated[
        Roles | UnsetType, Meta(description="`worker` alone: Collective or Single; with `ps`: PS.")
    ] = UNSET
    scheduling: Annotated[
        Scheduling | UnsetType, Meta(description="How the pods get onto nodes together.")
    ] = UNSET
    network: Annotated[
        Network | UnsetType, Meta(description="How pods reach each other; the operator's PodIP if absent.")
    ] = UNSET
    gloo: Annotated[
        Gloo | UnsetType, Meta(description="Gloo rendezvous of a PS job: for nobody, workers, or all.")
    ] = UNSET
    elastic: Annotated[
        Elastic | UnsetType,
        Meta(description="Elastic training: a Collective job that goes on with fewer or more workers."),
    ] = UNSET
    cleanup: Annotated[
        Cleanup | UnsetType,
        Meta(description="When finished pods are deleted; the operator's OnCompletion if absent."),
    ] = UNSET


class JobBody(JobFields, frozen=True, kw_only=True):
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


class JobSpec(_Part, frozen=True, kw_only=True):
    """A PaddlePaddle training job."""

    api_version: Annotated[Literal["paddlegen.dev/v1"], Meta(description="The version of this schema.")]
    kind: Annotated[Literal["JobSpec"], Meta(description="What this document is.")]
    metadata: Annotated[Metadata, Meta(description="Who the job is.")]
    spec: Annotated[JobBody, Meta(description="What the job runs, and how.")]


class Param(_Part, frozen=True, kw_only=True):
    """A declared parameter of a template."""

    type: Annotated[
        Literal["string", "integer", "number", "boolean"] | UnsetType, Meta(description="string if absent.")
    ] = UNSET
    default: Annotated[
        str | int | float | bool | UnsetType, Meta(description="Absent: the job must give a value.")
    ] = UNSET
    description: Annotated[
        str | UnsetType, Meta(description="What the parameter is for.", examples=["where the samples are"])
    ] = UNSET


class TemplateBody(JobFields, frozen=True, kw_only=True):
    """The `spec` of a JobTemplate: any part of a job."""

    params: Annotated[
        dict[str, Param] | UnsetType, Meta(description="Parameters, written `${params.NAME}` in values.")
    ] = UNSET
    extends: Annotated[
        list[Name] | UnsetType, Meta(description="Job templates this one begins with, in order, later wins.")
    ] = UNSET


class TemplateMetadata(_Part, frozen=True, kw_only=True):
    """Who the template is."""

    name: Annotated[
        Name, Meta(description="The template's name, which `extends` gives.", examples=["ps-cpu"])
    ]
    annotations: Annotated[
        Labels | UnsetType, Meta(description="Notes for people and tools; rendered nowhere.")
    ] = UNSET


class JobTemplate(_Part, frozen=True, kw_only=True):
    """A partial job that job specs extend."""

    api_version: Annotated[Literal["paddlegen.dev/v1"], Meta(description="The version of this schema.")]
    kind: Annotated[Literal["JobTemplate"], Meta(description="What this document is.")]
    metadata: Annotated[TemplateMetadata, Meta(description="Who the template is.")]
    spec: Annotated[TemplateBody, Meta(description="The part of a job that is shared.")]


class StorageBody(_Volume, frozen=True, kw_only=True):
    """The `spec` of a StorageSpec."""

    clusters: Annotated[
        list[Name] | UnsetType,
        Meta(description="Where the storage is; every cluster if absent.", examples=[["prod"]]),
    ] = UNSET


class StorageSpec(_Part, frozen=True, kw_only=True):
    """A PersistentVolume and claim that several jobs share and that outlive them."""

    api_version: Annotated[Literal["paddlegen.dev/v1"], Meta(description="The version of this schema.")]
    kind: Annotated[Literal["StorageSpec"], Meta(description="What this document is.")]
    metadata: Annotated[Metadata, Meta(description="Who the storage is.")]
    spec: Annotated[StorageBody, Meta(description="Where the data lives.")]
