"""What the Kubeflow training-operator refuses about a PaddleJob.

From 1.8 its webhook refuses the object.  1.6 and 1.7 take it, tell only by an event
(PaddleJobFailedValidation) and start nothing.  That every container has an image is told by
`containers-have-images`, which looks at all pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _names, _versions
from paddlegen.admission._read import mapping, members, name_of, text
from paddlegen.model.admission import Admission, Kind, Rule
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROLES = ("Master", "Worker")
CONTAINER = "paddle"
MANAGERS = ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")
FIRST, WEBHOOK_SINCE, MANAGED_SINCE = (1, 6), (1, 8), (1, 9)
CEL_SINCE = (1, 25)
"""The Kubernetes from which the CRD's own rules are looked at."""


def check(job: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the operator of the cluster's release refuses."""
    release = _versions.training_operator(view.cluster)
    if release < FIRST:
        return
    if (name := name_of(job)) and (wrong := _names.label_1035(name)):
        message = f"metadata.name: Invalid value: {name!r}: should be a DNS-1035 label: {wrong}"
        yield Breach(("metadata", "name"), message, rule="kubeflow-job-name-is-a-label")
    spec = mapping(job.get("spec"))
    if spec.get("paddleReplicaSpecs") is None:
        message = "spec.paddleReplicaSpecs: Required value; write the roles Master, Worker or both"
        yield Breach(("spec",) if "spec" in job else (), message, rule="kubeflow-roles-exist")
    for role, body in mapping(spec.get("paddleReplicaSpecs")).items():
        yield from _role(role, mapping(body))
    if release >= MANAGED_SINCE:
        yield from _manager(spec, view)
    if release >= WEBHOOK_SINCE and view.cluster.kubernetes >= CEL_SINCE and view.old is not None:
        yield from _queue(spec, mapping(view.old.get("spec")))


def _role(role: str, body: Mapping[str, Any]) -> Iterator[Breach]:
    path = ("spec", "paddleReplicaSpecs", role)
    if role not in ROLES:
        alike = next((each for each in ROLES if each.lower() == role.lower()), "")
        wish = f"write {alike}" if alike else f"the roles are {' and '.join(ROLES)}"
        message = f"spec.paddleReplicaSpecs: Unsupported value: {role!r}; {wish}"
        yield Breach(path, message, rule="kubeflow-roles-exist")
    template = mapping(body.get("template"))
    containers = mapping(template.get("spec")).get("containers")
    if not containers:
        # `pods-have-containers` tells it where there is a pod.
        if not isinstance(template.get("spec"), dict):
            message = (
                f"{role}: template.spec.containers: Required value; it needs a container named {CONTAINER!r}"
            )
            yield Breach(path, message, rule="kubeflow-roles-have-a-paddle-container")
    elif all(text(container.get("name")) != CONTAINER for _, container in members(containers)):
        message = (
            f"{role}: must have at least one container with name {CONTAINER!r}; rename the one that trains"
        )
        place = (*path, "template", "spec", "containers")
        yield Breach(place, message, rule="kubeflow-roles-have-a-paddle-container")


def _manager(spec: Mapping[str, Any], view: View) -> Iterator[Breach]:
    path = ("spec", "runPolicy", "managedBy")
    manager = mapping(spec.get("runPolicy")).get("managedBy")
    if manager is not None and manager not in MANAGERS:
        message = f"managedBy: Unsupported value: {manager!r}: supported values: {', '.join(MANAGERS)}"
        yield Breach(path, message, rule="kubeflow-manager-exists")
    if view.old is not None:
        before = mapping(mapping(view.old.get("spec")).get("runPolicy")).get("managedBy")
        if before != manager:
            message = (
                f"managedBy: field is immutable; it was {before}: give the changed job a name of its own"
            )
            place = path if manager is not None else ("spec",)
            yield Breach(place, message, rule="kubeflow-manager-stays")


def _queue(spec: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Breach]:
    before, after = (
        text(mapping(mapping(each.get("runPolicy")).get("schedulingPolicy")).get("queue"))
        for each in (old, spec)
    )
    # Adding one, or taking it away, is not looked at.
    if before and after and before != after:
        message = (
            f"spec.runPolicy.schedulingPolicy.queue is immutable; it was {before}: give the job a new name"
        )
        yield Breach(("spec", "runPolicy", "schedulingPolicy", "queue"), message, rule="kubeflow-queue-stays")


admission = Admission(
    name="kubeflow-paddlejob",
    doc=__doc__,
    kinds=(Kind("kubeflow.org", "PaddleJob"),),
    rules=(
        Rule("kubeflow-job-name-is-a-label", "The job's name is a DNS label that starts with a letter."),
        Rule("kubeflow-roles-exist", "The roles are Master and Worker, in this spelling."),
        Rule("kubeflow-roles-have-a-paddle-container", "Each role has a container named paddle."),
        Rule("kubeflow-manager-exists", "managedBy names the operator or MultiKueue (from 1.9)."),
        Rule("kubeflow-manager-stays", "managedBy does not change (from 1.9)."),
        Rule(
            "kubeflow-queue-stays", "The queue does not change for another (CRD from 1.8, Kubernetes 1.25)."
        ),
    ),
    check=check,
    source=(
        "kubeflow/training-operator v1.6.0 to v1.9.0 pkg/webhooks/paddlepaddle/paddlepaddle_webhook.go, "
        "pkg/apis/kubeflow.org/v1/paddlepaddle_validation.go "
        "(facts: paddle_operators 4.3, L-KF-01, 02, 12, 13, 26)"
    ),
)
