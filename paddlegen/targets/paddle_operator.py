"""`batch.paddlepaddle.org/v1` PaddleJob, for paddle-operator 0.2.0 to 0.3.5.

Upstream: PaddleFlow/paddle-operator, api/v1/paddlejob_types.go and controllers/paddlejob_helper.go at
each tag.  The operator rejects nothing: what it would break on is written here so that it works, or
refused in `_paddle_operator_limits`.  Numbers such as L-PO-41 in
comments and tests name the facts about the operator that this module stands on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from paddlegen.model.output import Manifest
from paddlegen.model.report import Severity
from paddlegen.model.target import Target
from paddlegen.resources import pod, pod_group, volumes
from paddlegen.targets import _paddle_operator_limits as limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.output import Output
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Job, RoleOfJob

API_VERSION = "batch.paddlepaddle.org/v1"
KIND = "PaddleJob"
OPERATOR_ANNOTATION = "paddlegen.dev/paddle-operator"
HETER_ANNOTATION = "paddlegen.dev/heter"
"""What overlays select by, with `MODE_LABEL`: they cannot ask whether a job has a role."""

MODE_LABEL = "paddlegen.dev/mode"
GLOO = {"none": 0, "workers": 1, "all": 2}
ROLES = ("ps", "worker", "heter")


def build(job: Job, cluster: Cluster) -> Iterator[Output]:
    """The PaddleJob, its PodGroup where Git owns it, and the storage described in place."""
    violations = list(limits.of_job(job, cluster))
    yield from violations
    if any(violation.severity is Severity.ERROR for violation in violations):
        return
    templates = {name: _pod_template(job, role, cluster) for name, role in job.roles.items()}
    for name, role in job.roles.items():
        yield from limits.of_template(job, role, cluster, templates[name])
    yield Manifest(_paddle_job(job, cluster, templates))
    if pod_group.is_gang(job, cluster) and cluster.gang == "git":
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
    if pod_group.is_gang(job, cluster) and cluster.gang == "operator" and (policy := _scheduling_policy(job)):
        spec["schedulingPolicy"] = policy
    for name, role in job.roles.items():
        spec[name] = {"replicas": role.replicas, "template": templates[name]}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": _metadata(job, cluster), "spec": spec}


def _metadata(job: Job, cluster: Cluster) -> dict[str, Any]:
    # An annotation of ours also keeps 0.3.2 from writing into a nil map on Host jobs (L-PO-43).
    annotations = {**job.annotations, OPERATOR_ANNOTATION: cluster.body.paddle_operator.version}
    if "heter" in job.roles:
        annotations[HETER_ANNOTATION] = "true"
    return {
        "name": job.name,
        "namespace": job.namespace,
        "labels": {**job.labels, pod.JOB_LABEL: job.name, MODE_LABEL: job.mode},
        "annotations": annotations,
    }


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
    if not pod_group.is_gang(job, cluster):
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
    if limits.needs_cluster_dns(job, cluster):
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    if job.replicas > 1:
        # Every pod of the job binds the same port: one pod a node (L-PO-44).
        affinity = dict(spec.get("affinity") or {})
        anti = dict(affinity.get("podAntiAffinity") or {})
        anti[limits.REQUIRED] = [*(anti.get(limits.REQUIRED) or []), limits.apart(job)]
        affinity["podAntiAffinity"] = anti
        spec["affinity"] = affinity


def _environment(job: Job, role: RoleOfJob, cluster: Cluster) -> dict[str, str]:
    """Variables the operator forgets: an entry here wins over its ConfigMap."""
    env: dict[str, str] = {}
    if limits.needs_port(job, role, cluster):
        env["PADDLE_PORT"] = str(limits.PORT)
    elastic = job.body.elastic
    if not isinstance(elastic, UnsetType) and elastic.server and role.name == "worker":
        env[limits.ELASTIC_SERVER] = elastic.server  # not injected since 0.3.3 (L-PO-81)
    return env


def _set_env(container: dict[str, Any], name: str, value: str) -> None:
    entries = container.setdefault("env", [])
    if not any(entry["name"] == name for entry in entries):
        entries.append({"name": name, "value": value})


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
