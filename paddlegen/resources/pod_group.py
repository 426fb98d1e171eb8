"""The Volcano PodGroup that makes a job's pods start together or not at all.

Source: Volcano `scheduling.volcano.sh/v1beta1` (facts: volcano_argocd 2.2 to 2.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from paddlegen.resources import pod, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.resolved import Job

GROUP_NAME = "scheduling.k8s.io/group-name"
"""The pod annotation by which Volcano finds the PodGroup (facts: volcano_argocd 2.4)."""

SCHEDULER = "volcano"


def is_gang(job: Job, cluster: Cluster) -> bool:
    """Whether the job is gang-scheduled: as it says, else wherever Volcano is and gangs are on."""
    scheduling = job.body.scheduling
    if isinstance(scheduling, UnsetType) or isinstance(scheduling.gang, UnsetType):
        return cluster.has_volcano and cluster.gang != "none"
    return scheduling.gang


def build(job: Job, templates: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The PodGroup named as the job, with room for every pod of every role."""
    spec: dict[str, Any] = {"minMember": job.replicas}
    scheduling = job.body.scheduling
    if scheduling:
        if scheduling.queue:
            spec["queue"] = scheduling.queue
        if scheduling.priority_class:
            spec["priorityClassName"] = scheduling.priority_class
    if resources := _min_resources(job, templates):
        spec["minResources"] = resources
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": job.name,
            "namespace": job.namespace,
            "labels": {**job.labels, pod.JOB_LABEL: job.name},
        },
        "spec": spec,
    }


def _min_resources(job: Job, templates: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Σ over the pods, or nothing when some container asks for nothing: a sum that lacks a part misleads."""
    total: dict[str, Any] = {}
    for name, role in job.roles.items():
        asked = pod.requests(templates[name])
        if asked is None:
            return {}
        for resource, value in asked.items():
            total[resource] = total.get(resource, 0) + role.replicas * quantity.parse(value)
    return {
        name: quantity.show(value, binary=name == "memory" or "storage" in name)
        for name, value in sorted(total.items())
    }
