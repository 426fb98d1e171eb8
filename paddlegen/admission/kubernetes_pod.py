"""What the API server refuses about pods, wherever a kind keeps pod templates.

The server looks into the templates of its own kinds at once and Volcano's webhook into those of its
jobs; the template of a PaddleJob is accepted, and then every pod of it is refused, which
paddle-operator 0.3.5 does not try again.  Rules are those of Kubernetes 1.11 and later, except
where the cluster's version is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _containers, _metadata, _names, _pod_volumes
from paddlegen.admission._read import mapping, members, name_of, text, whole
from paddlegen.admission._templates import POD_TEMPLATES, templates
from paddlegen.admission._values import ALLOWED_VALUES, QUANTITIES, one_of
from paddlegen.model.admission import Admission, Kind, Rule
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.report import FieldPath

MAX_SECONDS = 2**31 - 1
ALWAYS_ONLY = frozenset(
    {
        Kind("", "ReplicationController"),
        Kind("apps", "DaemonSet"),
        Kind("apps", "Deployment"),
        Kind("apps", "ReplicaSet"),
        Kind("apps", "StatefulSet"),
    }
)
NEVER_ALWAYS = frozenset({Kind("batch", "CronJob"), Kind("batch", "Job")})
RESTART, DNS = (
    ("Always", "OnFailure", "Never"),
    ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
)
EFFECTS, OPERATORS = ("NoSchedule", "PreferNoSchedule", "NoExecute"), ("Exists", "Equal", "Gt", "Lt")


def check(body: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the server would refuse about the pods of an object."""
    kind = Kind.of(body)
    for path, template in templates(body):
        if path:
            yield from _metadata.metadata_breaches(template, path)
        if isinstance(template.get("spec"), dict):
            pod = template["spec"]
            yield from _pod(pod, (*path, "spec"), kind)
            volumes = yield from _pod_volumes.check(pod, (*path, "spec"))
            volumes |= _claim_templates(body)
            yield from _containers.check(pod, (*path, "spec"), volumes, view.cluster.kubernetes)


def _claim_templates(body: Mapping[str, Any]) -> frozenset[str]:
    """The volumes that a StatefulSet adds to each of its pods."""
    claims = mapping(body.get("spec")).get("volumeClaimTemplates")
    return frozenset(name_of(claim) for _, claim in members(claims))


def _pod(pod: Mapping[str, Any], path: FieldPath, kind: Kind) -> Iterator[Breach]:
    if pod.get("containers") in (None, []):
        place = (*path, "containers") if "containers" in pod else path
        yield Breach(place, "containers: Required value; a pod has at least one", rule="pods-have-containers")
    yield from _restart_policy(pod, path, kind)
    yield from one_of(pod, "dnsPolicy", DNS, path)
    yield from _names_of_pod(pod, path)
    yield from _times(pod, path)
    yield from _tolerations(pod, path)
    yield from _metadata.label_breaches(mapping(pod.get("nodeSelector")), (*path, "nodeSelector"))


def _restart_policy(pod: Mapping[str, Any], path: FieldPath, kind: Kind) -> Iterator[Breach]:
    allowed: tuple[str, ...] = RESTART
    if kind in ALWAYS_ONLY:
        allowed = ("Always",)
    elif kind in NEVER_ALWAYS:
        allowed = ("OnFailure", "Never")
        if not pod.get("restartPolicy"):
            message = "restartPolicy: Required value: valid values: OnFailure, Never; a Job's pods end"
            yield Breach(path, message, rule="field-values-are-allowed")
    yield from one_of(pod, "restartPolicy", allowed, path)


def _names_of_pod(pod: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    wishes = (
        ("hostname", _names.label),
        ("subdomain", _names.label),
        ("serviceAccountName", _names.subdomain),
        ("priorityClassName", _names.subdomain),
        ("nodeName", _names.subdomain),
    )
    for field, wish in wishes:
        if (name := text(pod.get(field))) and (wrong := wish(name)):
            yield Breach((*path, field), f"{field} {name!r}: {wrong}", rule="names-are-well-formed")


def _times(pod: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    deadline = whole(pod.get("activeDeadlineSeconds"))
    if deadline is not None and not 1 <= deadline <= MAX_SECONDS:
        message = f"activeDeadlineSeconds: must be between 1 and {MAX_SECONDS}, inclusive; it is {deadline}"
        yield Breach((*path, "activeDeadlineSeconds"), message, rule="numbers-are-in-range")


def _tolerations(pod: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    for index, toleration in members(pod.get("tolerations")):
        here = (*path, "tolerations", index)
        key, operator, value = (text(toleration.get(field)) for field in ("key", "operator", "value"))
        yield from one_of(toleration, "operator", OPERATORS, here)
        yield from one_of(toleration, "effect", EFFECTS, here)
        if key and (wrong := _names.qualified(key)):
            yield Breach((*here, "key"), f"key {key!r}: {wrong}", rule="names-are-well-formed")
        if not key and operator != "Exists":
            message = "operator must be Exists when `key` is empty, which means match all values and all keys"
            yield Breach(here, message, rule="tolerations-match-taints")
        if operator == "Exists" and value:
            message = (
                f"value must be empty when `operator` is 'Exists'; remove {value!r}, or write operator: Equal"
            )
            yield Breach((*here, "value"), message, rule="tolerations-match-taints")
        if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
            message = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield Breach((*here, "tolerationSeconds"), message, rule="tolerations-match-taints")


RULES = (
    Rule("pods-have-containers", "A pod has at least one container."),
    ALLOWED_VALUES,
    QUANTITIES,
    Rule("numbers-are-in-range", "Numbers are in the server's range."),
    Rule(
        "names-are-well-formed",
        "Names inside a pod are DNS labels, subdomains, ... as the server wants them.",
    ),
    *_metadata.RULES,
    Rule("tolerations-match-taints", "A toleration's key, operator, value and seconds go together."),
    *_pod_volumes.RULES,
    *_containers.RULES,
)

admission = Admission(
    name="kubernetes-pod",
    doc=__doc__,
    kinds=tuple(POD_TEMPLATES),
    rules=RULES,
    check=check,
    source=(
        "Kubernetes 1.11 to 1.37 pkg/apis/core/validation/validation.go, pkg/apis/core/v1/helper/helpers.go; "
        "facts: paddle_operators L-PO-25, L-PO-29, L-KF-29"
    ),
)
