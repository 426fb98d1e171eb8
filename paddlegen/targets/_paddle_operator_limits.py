"""What a release of the paddle-operator cannot do for a job: refused at the line that asks for it.

Apart from `paddle_operator`, which writes what can be done.  Rule names in comments (L-PO-41) are
those of the project's fact sheets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from paddlegen.model.output import Violation
from paddlegen.resources import pod, pod_group
from paddlegen.resources.operator import flavour_violation, scheduling_violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Job, RoleOfJob

PORT = 36000
"""The port Service endpoints carry since 0.3.3 (controllers/paddlejob_controller.go:41-44)."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ELASTIC_SERVER = "PADDLE_ELASTIC_SERVER"
_NAME_LIMIT = 63


def of_job(job: Job, cluster: Cluster) -> Iterator[Violation]:
    """What the job asks for in vain; with an error among these its objects cannot be built."""
    yield from _profile_violations(cluster)
    yield from _name_violations(job, cluster)
    if "worker" not in job.roles:
        message = (
            "the job has no worker; a Paddle job needs one (with none, the operator reports Running and "
            "starts no trainer)"
        )
        yield Violation(("roles",), message, "job-has-workers")
    for role in job.roles.values():
        yield from pod.violations(job, role)
        yield from _role_violations(role, cluster)
    yield from _gang_violations(job, cluster)
    yield from _network_violations(job, cluster)
    yield from _elastic_violations(job, cluster)
    yield from _heter_violations(job, cluster)


def of_template(
    job: Job, role: RoleOfJob, cluster: Cluster, template: Mapping[str, Any]
) -> Iterator[Violation]:
    """What a role's finished pod template, its `podTemplate` included, does against the operator."""
    at: FieldPath = ("roles", role.name)
    over: FieldPath = (*at, "podTemplate", "spec")
    spec = template.get("spec") or {}
    main = role.fields.container_name or "paddle"
    if not spec.get("containers") or spec["containers"][0].get("name") != main:
        message = (
            f"podTemplate leaves {role.name} without {main} as its first container; the operator sets the "
            "environment of the first one only"
        )
        yield Violation((*over, "containers"), message, "trainer-is-first-container")  # L-PO-03, L-PO-20
        return
    policy = spec.get("restartPolicy")
    if not isinstance(job.body.elastic, UnsetType):
        if policy != "OnFailure":
            message = (
                f"restartPolicy is {policy}, but the operator makes it OnFailure for elastic jobs; write "
                "OnFailure or leave it out"
            )
            where = over if role.fields.restart_policy != policy else at
            yield Violation((*where, "restartPolicy"), message)
    elif policy == "Always":
        message = (
            "restartPolicy is Always: its pods never succeed, so the job never completes; write Never or "
            "OnFailure"
        )
        yield Violation((*over, "restartPolicy"), message)
    yield from _scheduler_violations(job, role, cluster, template)
    if needs_cluster_dns(job, cluster) and spec.get("dnsPolicy") != "ClusterFirstWithHostNet":
        message = (
            f"dnsPolicy is {spec.get('dnsPolicy')}, with which pods on the host network cannot find each "
            "other's names; leave it out"
        )
        yield Violation((*over, "dnsPolicy"), message)
    if job.body.network == "Host" and job.replicas > 1 and not _is_one_a_node(job, spec):
        message = (
            "podTemplate takes away the podAntiAffinity that keeps the job's pods on nodes of their own; "
            "the host network needs it, write the rest under affinity"
        )
        yield Violation((*over, "affinity"), message)  # L-PO-44
    yield from _environment_violations(job, role, cluster, spec["containers"][0])


def apart(job: Job) -> dict[str, Any]:
    """The term of a podAntiAffinity that lets every node have one pod of the job (L-PO-44)."""
    labels = {"matchLabels": {pod.JOB_LABEL: job.name}}
    return {"labelSelector": labels, "topologyKey": "kubernetes.io/hostname"}


def needs_cluster_dns(job: Job, cluster: Cluster) -> bool:
    """Whether the barrier at start looks up names that host-network pods cannot resolve (L-PO-40)."""
    has_barrier = cluster.operator_version >= (0, 3, 4) and bool(cluster.body.paddle_operator.init_image)
    return job.body.network == "Host" and has_barrier


def needs_port(job: Job, role: RoleOfJob, cluster: Cluster) -> bool:
    """Whether servers have to be told the port that their endpoints carry.

    0.3.5 exports a random PADDLE_PORT while endpoints carry 36000 (L-PO-41); 0.3.3 and 0.3.4 export
    none (L-PO-42).
    """
    return role.name == "ps" and job.body.network == "Service" and cluster.operator_version >= (0, 3, 3)


def keeps_template_metadata(cluster: Cluster) -> bool:
    """Whether labels and annotations of a pod template reach the pods (facts 1.3)."""
    return cluster.operator_version >= ((0, 3, 1) if cluster.crd == "v1beta1" else (0, 2, 1))


def _is_one_a_node(job: Job, spec: Mapping[str, Any]) -> bool:
    anti = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    return apart(job) in (anti.get(REQUIRED) or [])


def _operator(cluster: Cluster) -> str:
    return f"paddle-operator {cluster.body.paddle_operator.version}"


def _profile_violations(cluster: Cluster) -> Iterator[Violation]:
    """A profile that no cluster can have, or on which the operator does nothing."""
    if violation := flavour_violation(cluster):
        yield violation
    if cluster.body.ip_family == "IPv6":
        message = (
            "ipFamily is IPv6; the paddle-operator knows IPv4 addresses only, and its jobs would wait "
            "for ever"
        )
        yield Violation(("spec", "ipFamily"), message, "pod-addresses-are-ipv4", in_profile=True)  # L-PO-12
    operator = cluster.body.paddle_operator
    has_flag = operator.scheduling == "volcano"
    rule = "gang-mode-works"
    if violation := scheduling_violation(cluster):
        yield violation
    if cluster.gang == "operator" and not has_flag:
        message = (
            "gang is operator, but the operator runs without --scheduling=volcano; set "
            "paddleOperator.scheduling: volcano, or gang: git"
        )
        yield Violation(("spec", "gang"), message, rule, in_profile=True)
    if cluster.gang == "git" and has_flag:
        message = (
            "gang is git, but this operator owns the PodGroup (--scheduling=volcano) and deletes a "
            "committed one "
            "when the job ends; write gang: operator"
        )
        yield Violation(("spec", "gang"), message, rule, in_profile=True)


def _name_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    watched = cluster.body.paddle_operator.watched_namespace
    if watched and job.namespace != watched:
        message = (
            f"the namespace is {job.namespace}, but the paddle-operator of {cluster.name} watches "
            f"{watched} only "
            f"and would never see the job; write namespace: {watched}"
        )
        yield Violation(("metadata", "namespace"), message, "namespace-watched")  # L-PO-90
    for role in job.roles.values():
        # Pods are named <job>-<role>-<index>, and that is a DNS label too (L-PO-10).
        pod_name = f"{job.name}-{role.name}-{role.replicas - 1}"
        if len(pod_name) > _NAME_LIMIT:
            message = (
                f"the name {job.name} makes pods such as {pod_name}, {len(pod_name)} characters; "
                f"{_NAME_LIMIT} are allowed, "
                f"so the name can have {_NAME_LIMIT - len(pod_name) + len(job.name)}"
            )
            yield Violation(("metadata", "name"), message, "pod-names-fit")
            return


def _role_violations(role: RoleOfJob, cluster: Cluster) -> Iterator[Violation]:
    at: FieldPath = ("roles", role.name)
    fields = role.fields
    if role.name != "heter" and not isinstance(fields.entrypoint_translates_environment, UnsetType):
        message = f"entrypointTranslatesEnvironment is for the role heter; {role.name} needs no translation"
        yield Violation((*at, "entrypointTranslatesEnvironment"), message)
    if keeps_template_metadata(cluster):
        return
    asked: dict[FieldPath, object] = {
        ("podLabels",): fields.pod_labels,
        ("podAnnotations",): fields.pod_annotations,
        ("podTemplate", "metadata"): (fields.pod_template or {}).get("metadata"),
    }
    for path, value in asked.items():
        if value:
            message = (
                f"{_operator(cluster)} with the {cluster.crd} CRD drops labels and annotations of pods; "
                f"remove {path[-1]}, or use a later operator"
            )
            yield Violation((*at, *path), message)


def _gang_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    scheduling = job.body.scheduling
    queue = scheduling.queue if scheduling else scheduling
    if not pod_group.is_gang(job, cluster):
        if queue:
            message = (
                f"queue is {queue}, but the job is not gang-scheduled on {cluster.name}: only Volcano "
                "knows queues"
            )
            yield Violation(("scheduling", "queue"), message)
        return
    if queue and queue != "default" and not isinstance(cluster.body.queues, UnsetType):
        known = sorted({"default", *(known.name for known in cluster.body.queues)})
        if queue not in known:
            message = (
                f"queue is {queue}, and {cluster.name} has {', '.join(known)}; Volcano refuses the gang "
                "of an unknown queue"
            )
            yield Violation(("scheduling", "queue"), message, "queue-exists")  # L-PO-66
    if not cluster.has_volcano or cluster.gang == "none":
        reason = (
            "gang is none"
            if cluster.has_volcano
            else "its profile names no Volcano (volcano: {version: ...})"
        )
        yield Violation(("scheduling", "gang"), f"gang is true, but {cluster.name} cannot do it: {reason}")
    elif (
        cluster.gang == "git"
        and cluster.operator_version > (0, 2, 0)
        and not keeps_template_metadata(cluster)
    ):
        message = (
            f"gang scheduling needs an annotation on the pods, and the {cluster.crd} CRD of "
            f"{_operator(cluster)} "
            "drops template metadata; use 0.2.0, or 0.3.1 and later, or gang: false"
        )
        yield Violation(("scheduling",), message)


def _network_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    version, network = cluster.operator_version, job.body.network or "PodIP"
    name = _operator(cluster)
    at: FieldPath = ("network",)
    if "ps" in job.roles and version in ((0, 3, 3), (0, 3, 4)) and network != "Service":  # L-PO-42
        message = (
            f"{name} exports no PADDLE_PORT, so servers cannot find their own address with {network}; "
            "write network: Service"
        )
        yield Violation(at, message)
    if network == "Host":
        if "ps" in job.roles and version <= (0, 3, 2):  # L-PO-43
            message = (
                f"{name} gives PS jobs on the host network a port that no endpoint carries; write "
                "network: Service or PodIP"
            )
            yield Violation(at, message)
        if job.replicas > 1 and not keeps_template_metadata(cluster):  # L-PO-44
            message = (
                f"{name} with the {cluster.crd} CRD drops pod labels, so pods on the host network cannot "
                "be kept apart; write network: Service"
            )
            yield Violation(at, message)
    if job.body.gloo in ("workers", "all") and "ps" not in job.roles:  # L-PO-08
        message = f"gloo is {job.body.gloo}, but the job has no ps: the operator would drop it without a word"
        yield Violation(("gloo",), message)


def _elastic_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    elastic = job.body.elastic
    if isinstance(elastic, UnsetType):
        return
    name, version = _operator(cluster), cluster.operator_version
    at: FieldPath = ("elastic",)
    if others := [name for name in job.roles if name != "worker"]:  # L-PO-83
        message = f"elastic training is for Collective jobs; this one has {' and '.join(others)} too"
        yield Violation(at, message)
    worker = job.roles.get("worker")
    told = worker is not None and ELASTIC_SERVER in (worker.fields.env or {})
    if version < (0, 3, 0):
        yield Violation(at, f"{name} knows no elastic jobs; 0.3.0 and later do")
    elif version <= (0, 3, 2):
        if not cluster.body.paddle_operator.etcd_server:  # L-PO-82
            message = (
                f"{name} needs --etcd-server for elastic jobs, and the profile of {cluster.name} names "
                "none (paddleOperator.etcdServer)"
            )
            yield Violation(at, message)
        if elastic.server:
            message = f"{name} sets the server itself, from --etcd-server; remove server"
            yield Violation((*at, "server"), message)
    elif not elastic.server and not told:  # L-PO-81
        message = f"{name} does not tell Paddle its etcd; write elastic: {{server: HOST:PORT}}"
        yield Violation(at, message)
    elif elastic.server and told:
        message = f"{ELASTIC_SERVER} is given twice, here and as server of elastic; remove one of them"
        yield Violation(("roles", "worker", "env", ELASTIC_SERVER), message)
    if worker is not None and worker.replicas < 2:  # noqa: PLR2004  # one worker is mode Single (L-PO-85)
        yield Violation(("roles", "worker", "replicas"), "an elastic job needs at least 2 workers")


def _heter_violations(job: Job, cluster: Cluster) -> Iterator[Violation]:
    """The operator's HETER variables are not the ones Paddle reads (L-PO-13)."""
    role = job.roles.get("heter")
    if role is None:
        return
    at: FieldPath = ("roles", "heter")
    if cluster.operator_version < (0, 3, 0):
        yield Violation(at, f"{_operator(cluster)} knows no heter role; 0.3.0 and later do")
    elif role.fields.entrypoint_translates_environment is not True:
        message = (
            "the operator sets TRAINING_ROLE=HETER and PADDLE_HETER_ENDPOINTS, and Paddle reads "
            "HETER_TRAINER and "
            "PADDLE_HETER_TRAINER_IP_PORT_LIST or its successors; no manifest can mend that. If the "
            "image's entry point "
            "translates them, write entrypointTranslatesEnvironment: true"
        )
        yield Violation(at, message)


def _scheduler_violations(
    job: Job, role: RoleOfJob, cluster: Cluster, template: Mapping[str, Any]
) -> Iterator[Violation]:
    """One scheduler for all roles, and the one that makes gangs only with a gang (L-PO-60, L-PO-61)."""
    over: FieldPath = ("roles", role.name, "podTemplate")
    at = (*over, "spec", "schedulerName")
    name = template["spec"].get("schedulerName")
    if not pod_group.is_gang(job, cluster):
        if name == pod_group.SCHEDULER:
            message = (
                "schedulerName is volcano, but the job is no gang: its pods would start one by one; "
                "write scheduling: {gang: true}"
            )
            yield Violation(at, message, "one-scheduler-for-all")
    elif name not in (None, pod_group.SCHEDULER):
        message = (
            f"schedulerName is {name}, and the job is a gang, which Volcano starts as a whole; remove it, "
            f"or write scheduling: {{gang: false}}"
        )
        yield Violation(at, message, "one-scheduler-for-all")
    elif cluster.gang == "git" and cluster.operator_version > (0, 2, 0):
        group = (template["metadata"].get("annotations") or {}).get(pod_group.GROUP_NAME)
        if group != job.name:  # L-PO-64
            message = (
                f"podTemplate makes {pod_group.GROUP_NAME} {group}, and the job's PodGroup is {job.name}; "
                "leave it out"
            )
            yield Violation(
                (*over, "metadata", "annotations", pod_group.GROUP_NAME), message, "one-scheduler-for-all"
            )


_OVERRIDDEN = ("POD_IP", "PADDLE_TRAINER_ID", "TRAINING_ROLE", "PADDLE_TRAINING_ROLE")
_OVERRIDDEN_IF_ELASTIC = ("PADDLE_ELASTIC_JOB_ID", "PADDLE_ELASTIC_NP", "PADDLE_ELASTIC_TIMEOUT")
_TOPOLOGY = (
    "PADDLE_PORT",
    "PADDLE_TRAINERS_NUM",
    "PADDLE_TRAINERS",
    "PADDLE_TRAINER_ENDPOINTS",
    "PADDLE_PSERVERS_IP_PORT_LIST",
    "PADDLE_HETER_ENDPOINTS",
    "TRAINER_PORTS_NUM",
    "PADDLE_WITH_GLOO",
)


def _environment_violations(
    job: Job, role: RoleOfJob, cluster: Cluster, container: Mapping[str, Any]
) -> Iterator[Violation]:
    """Variables that are the operator's to set (L-PO-21)."""
    is_elastic = not isinstance(job.body.elastic, UnsetType)
    overridden = {*_OVERRIDDEN, *(_OVERRIDDEN_IF_ELASTIC if is_elastic else ())}
    if is_elastic and cluster.operator_version <= (0, 3, 2):
        overridden.add(ELASTIC_SERVER)
    for entry in container.get("env", []):
        name = entry["name"]
        if name in overridden:
            message = (
                f"{name} is set by the operator on every pod, and its value wins over this one; remove it"
            )
        elif name == "PADDLE_PORT" and needs_port(job, role, cluster):
            if entry.get("value") == str(PORT):
                continue
            message = (
                f"PADDLE_PORT is {entry.get('value', 'not a plain value')}, and the servers' endpoints "
                f"carry {PORT}; remove it, the right one is written for you"
            )
        elif name in _TOPOLOGY or name.startswith("PADDLE_GLOO_"):
            message = f"{name} would hide what the operator tells the pods about each other; remove it"
        else:
            continue
        own: FieldPath = ("env", name)
        over: FieldPath = ("podTemplate", "spec", "containers", container["name"], "env", name)
        here = own if name in (role.fields.env or {}) else over
        yield Violation(("roles", role.name, *here), message, "reserved-env")
