"""The paddle-operator itself: its account, its rights, and the Deployment with the flags of the profile.

Its own namespace and the namespace it watches are two things: with the latter set, its rights end there.
Source: paddle-operator 0.3.5 (facts: paddle_operators 1.3, 2.11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import UnsetType

from paddlegen.model.output import PLATFORM, Manifest, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.cluster import Cluster, PaddleOperator

IMAGE: Final = "registry.baidubce.com/paddlecloud/controller:v{}"
IMAGE_SINCE: Final = (0, 3, 1)
"""Where releases are published, and since when; earlier ones were elsewhere."""

NAME: Final = "paddle-controller-manager"
ACCOUNT: Final = "paddle-manager-sa"
LABELS: Final = {"control-plane": "controller-manager"}
_EVERYTHING: Final = ["create", "delete", "get", "list", "patch", "update", "watch"]
_RBAC: Final = "rbac.authorization.k8s.io"
_HEALTH_PORT: Final = 8081
_NOBODY: Final = 65532


def build(cluster: Cluster) -> Iterator[Manifest | Violation]:
    """Everything of the operator but its namespace and its CRD, as the profile says."""
    operator = cluster.body.paddle_operator
    yield from flag_violations(cluster)
    if isinstance(operator.image, UnsetType) and cluster.operator_version < IMAGE_SINCE:
        message = (
            f"paddle-operator {operator.version} was published before 0.3.1 moved the images; "
            "write paddleOperator.image, the one you run"
        )
        yield Violation(("spec", "paddleOperator"), message, "operator-image-known", in_profile=True)
        return
    for body in _objects(cluster):
        yield Manifest(body, PLATFORM)


def flavour_violation(cluster: Cluster) -> Violation | None:
    """Why the cluster cannot have the CRD of PaddleJob in the flavour of the profile."""
    at = ("spec", "crd")
    if cluster.crd == "tpr":
        message = "crd tpr is for EDL TrainingJobs; PaddleJob needs v1 or v1beta1"
        return Violation(at, message, in_profile=True)
    if isinstance(cluster.body.kubernetes, UnsetType):
        return None
    shown = cluster.body.kubernetes
    if cluster.crd == "v1beta1" and cluster.kubernetes >= (1, 22):
        message = f"crd is v1beta1, which Kubernetes {shown} no longer serves (1.21 was the last); write v1"
        return Violation(at, message, "crd-flavour-served", in_profile=True)
    if cluster.crd == "v1" and cluster.kubernetes < (1, 16):
        message = f"crd is v1, which Kubernetes {shown} does not serve yet (1.16 is the first); write v1beta1"
        return Violation(at, message, "crd-flavour-served", in_profile=True)
    return None


def scheduling_violation(cluster: Cluster) -> Violation | None:
    """Why the operator cannot make PodGroups, if the profile says that it does."""
    operator = cluster.body.paddle_operator
    if operator.scheduling != "volcano" or cluster.operator_version >= (0, 3, 0):
        return None
    message = (
        f"scheduling is volcano, a flag that paddle-operator has since 0.3.0; this one is {operator.version}"
    )
    at = ("spec", "paddleOperator", "scheduling")
    return Violation(at, message, "gang-mode-works", in_profile=True)


def flag_violations(cluster: Cluster) -> Iterator[Violation]:
    """Flags that this release does not have: its manager would print them and stop."""
    operator, version = cluster.body.paddle_operator, cluster.operator_version
    if violation := scheduling_violation(cluster):
        yield violation
    default = type(operator)()
    later = (
        ("etcdServer", "--etcd-server", operator.etcd_server, default.etcd_server, (0, 3, 0)),
        ("initImage", "--initImage", operator.init_image, default.init_image, (0, 3, 2)),
    )
    for field, flag, value, absent, since in later:
        if value != absent and version < since:
            first = ".".join(map(str, since))
            message = (
                f"{field} is {value or 'empty'}, and paddle-operator has {flag} since {first}; this one is "
                f"{operator.version}, so remove {field}"
            )
            at = ("spec", "paddleOperator", field)
            yield Violation(at, message, "operator-has-flag", in_profile=True)


def flags(operator: PaddleOperator) -> list[str]:
    """The manager's command line; what is at its built-in default is left out."""
    given = {
        "--namespace": operator.watched_namespace,
        "--scheduling": operator.scheduling,
        "--etcd-server": operator.etcd_server,
    }
    result = ["--leader-elect", *(f"{flag}={value}" for flag, value in given.items() if value)]
    if operator.init_image != type(operator)().init_image:
        result.append(f"--initImage={operator.init_image}")  # empty: no barrier
    return result


def _objects(cluster: Cluster) -> Iterator[dict[str, Any]]:
    operator = cluster.body.paddle_operator
    home = operator.namespace
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": home},
    }
    yield from _rights("paddle-leader-election", _leader_election(), home, home)
    yield from _rights("paddle-manager", _manager(), operator.watched_namespace, home)
    yield _deployment(operator)


def _rights(name: str, rules: list[dict[str, Any]], namespace: str, home: str) -> Iterator[dict[str, Any]]:
    """A role and its binding: in one namespace, or with an empty one in the whole cluster."""
    scope = "" if namespace else "Cluster"
    where = {"namespace": namespace} if namespace else {}
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{scope}Role",
        "metadata": {"name": f"{name}-role", **where},
        "rules": rules,
    }
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{scope}RoleBinding",
        "metadata": {"name": f"{name}-rolebinding", **where},
        "roleRef": {"apiGroup": _RBAC, "kind": f"{scope}Role", "name": f"{name}-role"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": home}],
    }


def _leader_election() -> list[dict[str, Any]]:
    return [
        _rule(["", "coordination.k8s.io"], ["configmaps", "leases"], _EVERYTHING),
        _rule([""], ["events"], ["create", "patch"]),
    ]


def _manager() -> list[dict[str, Any]]:
    paddle, volcano = ["batch.paddlepaddle.org"], ["scheduling.volcano.sh"]
    return [
        _rule([""], ["configmaps", "pods", "services"], _EVERYTHING),
        _rule([""], ["configmaps/status", "pods/status", "services/status"], ["get"]),
        _rule([""], ["pods/exec"], ["create", "get"]),
        _rule([""], ["events"], ["create", "patch"]),
        _rule(paddle, ["paddlejobs"], _EVERYTHING),
        _rule(paddle, ["paddlejobs/finalizers"], ["update"]),
        _rule(paddle, ["paddlejobs/status"], ["get", "patch", "update"]),
        _rule(volcano, ["podgroups"], _EVERYTHING),
        _rule(volcano, ["podgroups/status"], ["get", "patch", "update"]),
    ]


def _rule(groups: list[str], resources: list[str], verbs: list[str]) -> dict[str, Any]:
    return {"apiGroups": groups, "resources": resources, "verbs": verbs}


def _deployment(operator: PaddleOperator) -> dict[str, Any]:
    image = operator.image
    container = {
        "name": "manager",
        "image": IMAGE.format(operator.version) if isinstance(image, UnsetType) else image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/manager"],
        "args": flags(operator),
        "livenessProbe": _probe("/healthz", 15, 20),
        "readinessProbe": _probe("/readyz", 5, 10),
        "resources": {
            "limits": {"cpu": "100m", "memory": "300Mi"},
            "requests": {"cpu": "100m", "memory": "20Mi"},
        },
        "securityContext": {"allowPrivilegeEscalation": False},
    }
    pod = {
        "containers": [container],
        "securityContext": {"runAsUser": _NOBODY},
        "serviceAccountName": ACCOUNT,
        "terminationGracePeriodSeconds": 10,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": operator.namespace, "labels": LABELS},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def _probe(path: str, delay: int, period: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": _HEALTH_PORT},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
    }
