"""`batch.paddlepaddle.org/v1` PaddleJob, for paddle-operator 0.2.0 to 0.3.5.

Upstream: PaddleFlow/paddle-operator, api/v1/paddlejob_types.go and controllers/paddlejob_helper.go at
each tag.  The operator rejects nothing: what it would break on is refused here, at the line that
asks for it, or written so that it works.  Rule names in comments (L-PO-41) are those of the
project's fact sheets; docs/facts.md lists the ones this module stands on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from paddlegen.model.output import Manifest, Violation
from paddlegen.model.report import Severity
from paddlegen.model.target import Target
from paddlegen.resources import pod, pod_group, volumes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.output import Output
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Job, RoleOfJob

API_VERSION = "batch.paddlepaddle.org/v1"
KIND = "PaddleJob"
OPERATOR_ANNOTATION = "paddlegen.dev/paddle-operator"
MODE_LABEL = "paddlegen.dev/mode"
PORT = 36000
"""The port Service endpoints carry since 0.3.3 (controllers/paddlejob_controller.go:41-44)."""

GLOO = {"none": 0, "workers": 1, "all": 2}
ROLES = ("ps", "worker", "heter")
_NAME_LIMIT = 63


def build(job: Job, cluster: Cluster) -> Iterator[Output]:
    """The PaddleJob, its PodGroup where Git owns it, and the storage described in place."""
    violations = list(_violations(job, cluster))
    yield from violations
    if any(violation.severity is Severity.ERROR for violation in violations):
        return  # what cannot be had cannot be built either
    templates = {name: _pod_template(job, role, cluster) for name, role in job.roles.items()}
    yield Manifest(_paddle_job(job, cluster, templates))
    if _gang(job, cluster) and cluster.gang == "git":
        yield Manifest(pod_group.build(job, templates))
    for _, manifest in volumes.of_job(job):
        yield manifest


def origins(kind: str, path: FieldPath) -> Iterator[FieldPath]:
    """The spec's fields a manifest's path can have been built from."""
    match kind, path:
        case "PaddleJob", ("spec", str(role), "template", *rest) if role in ROLES:
            for inner in pod.origins(tuple(rest)):
                yield ("roles", role, *inner)
        case "PaddleJob", ("spec", str(role), *rest) if role in ROLES:
            yield ("roles", role, *rest)
        case "PaddleJob", ("spec", str(field), *rest) if field in _SPEC_FIELDS:
            yield (*_SPEC_FIELDS[field], *rest)
        case "PodGroup", ("spec", "minMember" | "minResources", *_):
            yield ("roles",)
        case "PodGroup", ("spec", "queue", *_):
            yield ("scheduling", "queue")
        case "PodGroup", ("spec", "priorityClassName", *_):
            yield ("scheduling", "priorityClass")


_SPEC_FIELDS: dict[str, FieldPath] = {
    "cleanPodPolicy": ("cleanup",),
    "intranet": ("network",),
    "withGloo": ("gloo",),
    "elastic": ("elastic",),
    "schedulingPolicy": ("scheduling",),
}


def _paddle_job(job: Job, cluster: Cluster, templates: dict[str, dict[str, Any]]) -> dict[str, Any]:
    body = job.body
    spec: dict[str, Any] = {}
    if body.cleanup:
        spec["cleanPodPolicy"] = body.cleanup
    if body.network:
        spec["intranet"] = body.network
    if body.gloo:
        spec["withGloo"] = GLOO[body.gloo]
    if not isinstance(body.elastic, UnsetType):
        spec["elastic"] = 1
    if _gang(job, cluster) and cluster.gang == "operator" and (policy := _scheduling_policy(job)):
        spec["schedulingPolicy"] = policy
    for name, role in job.roles.items():
        spec[name] = {"replicas": role.replicas, "template": templates[name]}
    metadata: dict[str, Any] = {
        "name": job.name,
        "namespace": job.namespace,
        "labels": {**job.labels, pod.JOB_LABEL: job.name, MODE_LABEL: job.mode},
        # An annotation of ours also keeps 0.3.2 from writing into a nil map on Host jobs (L-PO-43).
        "annotations": {**job.annotations, OPERATOR_ANNOTATION: cluster.body.paddle_operator.version},
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def _scheduling_policy(job: Job) -> dict[str, Any]:
    scheduling = job.body.scheduling
    if isinstance(scheduling, UnsetType):
        return {}
    policy = {"queue": scheduling.queue, "priorityClass": scheduling.priority_class}
    return {name: value for name, value in policy.items() if not isinstance(value, UnsetType)}


def _pod_template(job: Job, role: RoleOfJob, cluster: Cluster) -> dict[str, Any]:
    template = pod.pod_template(job, role)
    spec = template["spec"]
    # Always written: the operator's default differs by role and intranet (L-PO-24), and forces
    # OnFailure on elastic jobs (controllers/paddlejob_helper.go:364-372).
    spec.setdefault("restartPolicy", "Never" if isinstance(job.body.elastic, UnsetType) else "OnFailure")
    if job.body.scheduling and job.body.scheduling.priority_class:
        spec["priorityClassName"] = job.body.scheduling.priority_class
    _schedule(template, job, role, cluster)
    _host_network(spec, job, cluster)
    for name, value in _environment(job, role, cluster).items():
        _set_env(spec["containers"][0], name, value)
    return pod.finish(template, role)


def _schedule(template: dict[str, Any], job: Job, role: RoleOfJob, cluster: Cluster) -> None:
    """SchedulerName and the group annotation, as each operator version wants them (facts 2.6)."""
    spec = template["spec"]
    if not _gang(job, cluster):
        if cluster.body.paddle_operator.scheduling == "volcano":
            # Otherwise this operator moves the job to Volcano by itself (L-PO-62).
            spec["schedulerName"] = "default-scheduler"
        return
    if cluster.operator_version == (0, 2, 0):
        # Needed, and only needed, on the worker: the operator annotates every pod from there.
        if role.name == "worker":
            spec["schedulerName"] = pod_group.SCHEDULER
        return
    spec["schedulerName"] = pod_group.SCHEDULER
    if cluster.gang == "git":
        annotations = template["metadata"].setdefault("annotations", {})
        template["metadata"]["annotations"] = {**annotations, pod_group.GROUP_NAME: job.name}


def _host_network(spec: dict[str, Any], job: Job, cluster: Cluster) -> None:
    if job.body.network != "Host":
        return
    if cluster.operator_version >= (0, 3, 4) and cluster.body.paddle_operator.init_image:
        # The barrier looks up pod names, which host-network pods cannot do by default (L-PO-40).
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    if job.replicas > 1:
        # Every pod of the job binds the same port: one pod a node (L-PO-44).
        term = {
            "labelSelector": {"matchLabels": {pod.JOB_LABEL: job.name}},
            "topologyKey": "kubernetes.io/hostname",
        }
        affinity = dict(spec.get("affinity") or {})
        anti = dict(affinity.get("podAntiAffinity") or {})
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        anti[required] = [*anti.get(required, []), term]
        affinity["podAntiAffinity"] = anti
        spec["affinity"] = affinity


def _environment(job: Job, role: RoleOfJob, cluster: Cluster) -> dict[str, str]:
    """Variables the operator forgets: an entry here wins over its ConfigMap."""
    env: dict[str, str] = {}
    if role.name == "ps" and job.body.network == "Service" and cluster.operator_version >= (0, 3, 3):
        # 0.3.5 exports a random PADDLE_PORT while endpoints carry 36000 (L-PO-41); 0.3.3 and 0.3.4
        # export none (L-PO-42).
        env["PADDLE_PORT"] = str(PORT)
    elastic = job.body.elastic
    if not isinstance(elastic, UnsetType) and elastic.server and role.name == "worker":
        env["PADDLE_ELASTIC_SERVER"] = elastic.server  # not injected since 0.3.3 (L-PO-81)
    return env


def _set_env(container: dict[str, Any], name: str, value: str) -> None:
    entries = container.setdefault("env", [])
    if not any(entry["name"] == name for entry in entries):
        entries.append({"name": name, "value": value})


def _gang(job: Job, cluster: Cluster) -> bool:
    """Whether the job is gang-scheduled: as it says, else wherever Volcano is and gangs are on."""
    wish = job.body.scheduling.gang if job.body.scheduling else job.body.scheduling
    return (cluster.has_volcano and cluster.gang != "none") if isinstance(wish, UnsetType) else wish


# What cannot be had, and why.


def _violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    yield from _names(job)
    if "worker" not in job.roles:
        message = "the job has no worker; a Paddle job needs one (with none, the operator reports Running and starts no trainer)"
        yield Violation(("roles",), message, "job-has-workers")
    for role in job.roles.values():
        yield from pod.violations(job, role)
        yield from _role_violations(job, role)
    yield from _gang_violations(job, cluster)
    yield from _network_violations(job, cluster)
    yield from _elastic_violations(job, cluster)
    yield from _heter_violations(job, cluster)
    if cluster.crd == "tpr":
        message = "crd tpr is for EDL TrainingJobs; PaddleJob needs v1 or v1beta1"
        yield Violation(("spec", "crd"), message, in_profile=True)


def _names(job: Job) -> Iterator[Violation]:
    """Pods are named <job>-<role>-<index>, and that is a DNS label too (L-PO-10)."""
    for role in job.roles.values():
        pod_name = f"{job.name}-{role.name}-{role.replicas - 1}"
        if len(pod_name) > _NAME_LIMIT:
            message = (
                f"the name {job.name} makes pods such as {pod_name}, {len(pod_name)} characters; "
                f"{_NAME_LIMIT} are allowed, so the name can have {_NAME_LIMIT - len(pod_name) + len(job.name)}"
            )
            yield Violation(("metadata", "name"), message, "pod-names-fit")
            return


def _role_violations(job: Job, role: RoleOfJob) -> Iterator[Violation]:
    at: FieldPath = ("roles", role.name)
    fields = role.fields
    if role.name != "heter" and not isinstance(fields.entrypoint_translates_environment, UnsetType):
        message = f"entrypointTranslatesEnvironment is for the role heter; {role.name} needs no translation"
        yield Violation((*at, "entrypointTranslatesEnvironment"), message)
    over = fields.pod_template
    if not isinstance(over, UnsetType):
        spec = over.get("spec")
        policy = spec.get("restartPolicy") if isinstance(spec, dict) else None
        if policy == "Always":
            message = "restartPolicy is Always: its pods never succeed, so the job never completes; write Never or OnFailure"
            yield Violation((*at, "podTemplate", "spec", "restartPolicy"), message)


def _gang_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    operator = cluster.body.paddle_operator
    version = cluster.operator_version
    flag = operator.scheduling == "volcano"
    if flag and version < (0, 3, 0):
        message = f"scheduling is volcano, a flag that paddle-operator has since 0.3.0; this one is {operator.version}"
        yield Violation(("spec", "paddleOperator", "scheduling"), message, "gang-mode-works", in_profile=True)
    if cluster.gang == "operator" and not flag:
        message = "gang is operator, but the operator runs without --scheduling=volcano; set paddleOperator.scheduling: volcano, or gang: git"
        yield Violation(("spec", "gang"), message, "gang-mode-works", in_profile=True)
    if cluster.gang == "git" and flag:
        message = (
            "gang is git, but this operator owns the PodGroup (--scheduling=volcano) and deletes a committed one "
            "when the job ends; write gang: operator"
        )
        yield Violation(("spec", "gang"), message, "gang-mode-works", in_profile=True)
    if not _gang(job, cluster):
        scheduling = job.body.scheduling
        if scheduling and scheduling.queue:
            message = f"queue is {scheduling.queue}, but the job is not gang-scheduled on {cluster.name}: only Volcano knows queues"
            yield Violation(("scheduling", "queue"), message)
        return
    if not cluster.has_volcano or cluster.gang == "none":
        known = (
            "gang is none"
            if cluster.has_volcano
            else "its profile names no Volcano (volcano: {version: ...})"
        )
        message = f"gang is true, but {cluster.name} cannot do it: {known}"
        yield Violation(("scheduling", "gang"), message)
    elif cluster.gang == "git" and version > (0, 2, 0) and cluster.crd == "v1beta1" and version <= (0, 3, 0):
        message = (
            f"gang scheduling needs an annotation on the pods, and the v1beta1 CRD of paddle-operator {operator.version} "
            "drops template metadata; use 0.2.0, or 0.3.1 and later, or gang: false"
        )
        yield Violation(("scheduling",), message)


def _network_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    version, network = cluster.operator_version, job.body.network or "PodIP"
    name = f"paddle-operator {cluster.body.paddle_operator.version}"
    at: FieldPath = ("network",)
    if "ps" in job.roles and version in ((0, 3, 3), (0, 3, 4)) and network != "Service":
        message = f"{name} exports no PADDLE_PORT, so servers cannot find their own address with {network}; write network: Service"
        yield Violation(at, message)
    if network == "Host":
        if "ps" in job.roles and version <= (0, 3, 2):
            message = f"{name} gives PS jobs on the host network a port that no endpoint carries; write network: Service or PodIP"
            yield Violation(at, message)
        if job.replicas > 1 and not _keeps_template_metadata(cluster):
            message = f"{name} with the {cluster.crd} CRD drops pod labels, so pods on the host network cannot be kept apart; write network: Service"
            yield Violation(at, message)
    if job.body.gloo in ("workers", "all") and "ps" not in job.roles:
        message = f"gloo is {job.body.gloo}, but the job has no ps: the operator would drop it without a word"
        yield Violation(("gloo",), message)


def _keeps_template_metadata(cluster: Cluster) -> bool:
    """Whether pod labels and annotations of the template reach the pods (facts 1.3)."""
    return cluster.operator_version >= ((0, 3, 1) if cluster.crd == "v1beta1" else (0, 2, 1))


def _elastic_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    elastic = job.body.elastic
    if isinstance(elastic, UnsetType):
        return
    operator, version = cluster.body.paddle_operator, cluster.operator_version
    at: FieldPath = ("elastic",)
    if others := [name for name in job.roles if name != "worker"]:
        yield Violation(
            at, f"elastic training is for Collective jobs; this one has {' and '.join(others)} too"
        )
    if version < (0, 3, 0):
        yield Violation(at, f"paddle-operator {operator.version} knows no elastic jobs; 0.3.0 and later do")
    elif version <= (0, 3, 2):
        if not operator.etcd_server:
            message = f"paddle-operator {operator.version} needs --etcd-server for elastic jobs, and the profile of {cluster.name} names none (paddleOperator.etcdServer)"
            yield Violation(at, message)
        if elastic.server:
            message = f"paddle-operator {operator.version} sets the server itself, from --etcd-server; remove server"
            yield Violation((*at, "server"), message)
    elif not elastic.server:
        message = f"paddle-operator {operator.version} does not tell Paddle its etcd; write elastic: {{server: HOST:PORT}}"
        yield Violation(at, message)
    worker = job.roles.get("worker")
    if worker is not None:
        if worker.replicas < 2:  # noqa: PLR2004  # one worker is mode Single, which is not elastic (L-PO-85)
            yield Violation(("roles", "worker", "replicas"), "an elastic job needs at least 2 workers")
        if worker.fields.restart_policy == "Never":
            message = "restartPolicy is Never, but the operator makes it OnFailure for elastic jobs; write OnFailure or leave it out"
            yield Violation(("roles", "worker", "restartPolicy"), message)


def _heter_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    """The operator's HETER variables are not the ones Paddle reads (L-PO-13)."""
    role = job.roles.get("heter")
    if role is None:
        return
    at: FieldPath = ("roles", "heter")
    if cluster.operator_version < (0, 3, 0):
        yield Violation(
            at,
            f"paddle-operator {cluster.body.paddle_operator.version} knows no heter role; 0.3.0 and later do",
        )
    elif role.fields.entrypoint_translates_environment is not True:
        message = (
            "the operator sets TRAINING_ROLE=HETER and PADDLE_HETER_ENDPOINTS, and Paddle reads HETER_TRAINER and "
            "PADDLE_HETER_TRAINER_IP_PORT_LIST or its successors; no manifest can mend that. If the image's entry point "
            "translates them, write entrypointTranslatesEnvironment: true"
        )
        yield Violation(at, message)


target = Target(
    name="paddle-operator",
    doc=__doc__,
    kind=KIND,
    api_version=API_VERSION,
    containers=tuple(
        ("spec", role, "template", "spec", kind, "*")
        for role in ROLES
        for kind in ("containers", "initContainers")
    ),
    build=build,
    origins=origins,
)
