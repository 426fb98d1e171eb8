"""What is said of a fault: the thing, the value and the wish; for a field, where it belongs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from paddlegen.schema import Profile, validate

V1 = Profile(
    (1, 33), "v1", (("paddle-operator", (0, 3, 5)), ("volcano", (1, 11)), ("training-operator", (1, 6)))
)
V1BETA1 = Profile((1, 15), "v1beta1", (("paddle-operator", (0, 2, 0)),))

PADDLE = """
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: a}}
spec:
  worker:
    replicas: 2
    {role}
    template:
      {template}
      spec:
        {pod}
        containers:
        - name: paddle
          image: a
          {container}
  {spec}
"""
PARTS = {"role": "", "template": "", "pod": "", "container": "", "spec": ""}
TEMPLATE = "spec.worker.template.spec"
WORD = "at most 63 of letters, digits, - _ . with a letter or digit at both ends"


def said(body: Any, profile: Profile = V1) -> list[str]:
    return [violation.message for violation in validate(body, profile)]


def paddle(**parts: str) -> Any:
    return yaml.safe_load(PADDLE.format(**PARTS | parts))


def pod(**spec: Any) -> dict[str, Any]:
    container = {"name": "a"} | spec.pop("container", {})
    spec = {"containers": [container]} | spec
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}


def test_a_sound_job_has_nothing_to_be_said_of() -> None:
    assert said(paddle()) == []


@pytest.mark.parametrize(
    ("part", "line", "message"),
    [
        ("spec", "cleanPolicy: Never", "cleanPolicy is no field of spec; did you mean cleanPodPolicy?"),
        (
            "spec",
            "clean_pod_policy: Never",
            "clean_pod_policy is no field of spec; did you mean cleanPodPolicy?",
        ),
        (
            "spec",
            "schedulerName: volcano",
            f"schedulerName is no field of spec; it belongs at {TEMPLATE}.schedulerName",
        ),
        (
            "role",
            "nodeSelector: {a: b}",
            f"nodeSelector is no field of spec.worker; it belongs at {TEMPLATE}.nodeSelector",
        ),
        (
            "role",
            "restartPolicy: Never",
            f"restartPolicy is no field of spec.worker; it belongs at {TEMPLATE}.restartPolicy",
        ),
        (
            "role",
            "resources: {limits: {cpu: 1}}",
            f"resources is no field of spec.worker; it belongs at {TEMPLATE}.containers[0].resources",
        ),
        (
            "role",
            "image: a",
            f"image is no field of spec.worker; it belongs at {TEMPLATE}.containers[0].image",
        ),
        (
            "container",
            "volumes: []",
            f"volumes is no field of {TEMPLATE}.containers[0]; it belongs at {TEMPLATE}.volumes",
        ),
        (
            "pod",
            "volumeMounts: []",
            f"volumeMounts is no field of {TEMPLATE}; it belongs at {TEMPLATE}.containers[0].volumeMounts",
        ),
        (
            "template",
            "metadata: {ownerReferences: []}",
            (
                "ownerReferences is no field of spec.worker.template.metadata; "
                "it belongs at metadata.ownerReferences"
            ),
        ),
        ("container", "imagee: a", f"imagee is no field of {TEMPLATE}.containers[0]; did you mean image?"),
        (
            "container",
            "resizePolicy: []",
            (
                "resizePolicy came with Kubernetes 1.27; "
                "the CRD of paddle-operator 0.3.5 has pods of Kubernetes 1.23"
            ),
        ),
        ("role", "replicaz: 1", "replicaz is no field of spec.worker; did you mean replicas?"),
        ("spec", "ps: {}", "spec.ps has no replicas; it needs one"),
        ("spec", "ps: 3", "spec.ps is 3; write a mapping"),
        ("spec", 'elastic: "1"', 'spec.elastic is "1"; write a whole number'),
        (
            "pod",
            "restartPolicy: never",
            f'{TEMPLATE}.restartPolicy is "never"; write Always, OnFailure or Never; did you mean Never?',
        ),
        (
            "container",
            "resources: {limits: {memory: 8Gib}}",
            (
                f'{TEMPLATE}.containers[0].resources.limits.memory is "8Gib"; write a number with one of '
                "m k M G T P E Ki Mi Gi Ti Pi Ei, such as 500m or 16Gi"
            ),
        ),
        (
            "container",
            "resources: {limits: {cpu: 0.5}}",
            (
                f"{TEMPLATE}.containers[0].resources.limits.cpu is 0.5; "
                'the CRD takes a whole number or a text: write "0.5"'
            ),
        ),
        (
            "container",
            "ports: [{containerPort: 70000}]",
            f"{TEMPLATE}.containers[0].ports[0].containerPort is 70000; write a port from 1 to 65535",
        ),
        (
            "container",
            "ports: [{containerPort: 1, protocol: tcp}]",
            f'{TEMPLATE}.containers[0].ports[0].protocol is "tcp"; write TCP, UDP or SCTP; did you mean TCP?',
        ),
    ],
)
def test_a_fault_in_a_job(part: str, line: str, message: str) -> None:
    assert said(paddle(**{part: line})) == [message]


def test_a_place_that_the_text_does_not_have_yet_is_named_too() -> None:
    body = paddle()
    body["spec"]["worker"] = {"replicas": 1, "image": "a", "env": [{"name": "A"}]}
    containers = "spec.worker.template.spec.containers[0]"
    assert said(body) == [
        f"image is no field of spec.worker; it belongs at {containers}.image",
        f"env is no field of spec.worker; it belongs at {containers}.env",
    ]


def test_no_place_is_named_where_many_would_do() -> None:
    (message,) = said(paddle(container="path: /x"))
    assert message == f"path is no field of {TEMPLATE}.containers[0]"


def test_what_a_job_and_its_pod_group_call_differently_is_known() -> None:
    body = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "a"}}
    assert said(body | {"spec": {"minAvailable": 3}}) == [
        "minAvailable is no field of spec; did you mean minMember?"
    ]


def test_a_field_of_every_role_is_told_the_roles_there_are() -> None:
    body = paddle(spec="schedulerName: volcano")
    body["spec"]["ps"] = body["spec"]["worker"]
    (message,) = said(body)
    assert message.endswith(
        "at spec.ps.template.spec.schedulerName and spec.worker.template.spec.schedulerName"
    )


@pytest.mark.parametrize(
    ("body", "profile", "message"),
    [
        (
            paddle(spec="elastic: 1"),
            V1BETA1,
            "elastic came with paddle-operator 0.3.0; this cluster has 0.2.0",
        ),
        (
            paddle(template="metadata: {labels: {a: b}}"),
            V1BETA1,
            "labels came with paddle-operator 0.3.1; this cluster has 0.2.0",
        ),
        (
            paddle(template="metadata: {labels: {a: b}}"),
            Profile((1, 18), "v1beta1", (("paddle-operator", (0, 3, 0)),)),
            "labels came with paddle-operator 0.3.1; this cluster has 0.3.0",
        ),
        (
            paddle(template="metadata: {labels: {a: b}}"),
            Profile((1, 18), "v1", (("paddle-operator", (0, 2, 0)),)),
            "labels came with paddle-operator 0.2.1; this cluster has 0.2.0",
        ),
        (
            pod(container={"resizePolicy": []}),
            Profile((1, 26)),
            "resizePolicy came with Kubernetes 1.27; this cluster has 1.26",
        ),
        (
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"topologyKeys": []}},
            V1,
            "topologyKeys was last known to Kubernetes 1.21; this cluster has 1.33",
        ),
        (
            {"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": {"name": "a"}},
            V1,
            "apps/v1beta1 Deployment was last served by Kubernetes 1.15; this cluster has 1.33",
        ),
        (
            {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "a"}},
            V1BETA1,
            "batch/v1 CronJob came with Kubernetes 1.21; this cluster has 1.15",
        ),
        (
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": "a"},
                "spec": {"networkTopology": {}},
            },
            V1,
            "networkTopology came with volcano 1.12; this cluster has 1.11",
        ),
        (
            {
                "apiVersion": "kubeflow.org/v1",
                "kind": "PaddleJob",
                "metadata": {"name": "a"},
                "spec": {"paddleReplicaSpecs": {}, "runPolicy": {"suspend": True}},
            },
            V1,
            "suspend came with training-operator 1.7; this cluster has 1.6",
        ),
    ],
)
def test_a_field_or_kind_of_another_version(body: Any, profile: Profile, message: str) -> None:
    assert said(body, profile) == [message]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (pod() | {"metadata": {}}, "metadata has no name; it needs one"),
        (pod() | {"metadata": None}, "the object has no metadata; it needs a mapping with a name"),
        (
            pod() | {"metadata": {"name": "A_b"}},
            'metadata.name is "A_b"; write at most 253 of a-z, 0-9, hyphens and dots inside',
        ),
        (pod(hostNetwork="yes"), 'spec.hostNetwork is "yes"; write true or false'),
        (pod(container={"args": [1]}), "spec.containers[0].args[0] is 1; write a text"),
        (pod(container={"env": {"A": "b"}}), "spec.containers[0].env is a mapping; write a list"),
        (
            pod(container={"env": [{"name": "A", "value": True}]}),
            "spec.containers[0].env[0].value is true; write a text",
        ),
        (
            pod(container={"livenessProbe": {"tcpSocket": {"port": "80"}}}),
            (
                'spec.containers[0].livenessProbe.tcpSocket.port is "80"; '
                "write a port from 1 to 65535 without quotes, or the name of a port"
            ),
        ),
        (
            pod() | {"metadata": {"name": "a", "labels": {"team": "a b"}}},
            f'metadata.labels.team is "a b"; write {WORD}',
        ),
        (
            pod() | {"metadata": {"name": "a", "labels": {"a b": "c"}}},
            (f'metadata.labels has the key "a b"; write {WORD}, after an optional prefix/'),
        ),
        (pod(priority=2**40), "spec.priority is 1099511627776; write a number of fewer digits"),
    ],
)
def test_a_fault_in_a_pod(body: Any, message: str) -> None:
    assert said(body) == [message]


@pytest.mark.parametrize(
    "body",
    [
        pod() | {"metadata": {"generateName": "a-"}},
        pod(nodeSelector=None, container={"image": None, "resources": {"limits": {"cpu": 0.5}}}),
        pod(restartPolicy="", container={"imagePullPolicy": ""}),
        pod(terminationGracePeriodSeconds=30.0),
        pod() | {"status": {"phase": "Running", "whatever": 1}},
        paddle(template="metadata: {creationTimestamp: null}"),
        paddle(spec="cleanPodPolicy: OnFailed"),  # the CRD takes any text; a policy has the last word
    ],
)
def test_what_the_server_takes_is_no_fault(body: Any) -> None:
    assert said(body) == []


def test_what_becomes_of_an_unknown_field_depends_on_the_crd() -> None:
    body = paddle(spec="cleanPolicy: Never")
    (v1,) = validate(body, V1)
    (v1beta1,) = validate(body, V1BETA1)
    assert "drops it" in v1.remediation
    assert "keeps it" in v1beta1.remediation


def test_faults_come_in_the_order_of_the_text() -> None:
    body = paddle(role="b: 1", pod="a: 1", container="c: 1", spec="d: 1")
    assert [violation.path[-1] for violation in validate(body, V1)] == ["b", "a", "c", "d"]
