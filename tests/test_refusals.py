"""What the paddle-operator target refuses: the rule, the line of the spec that asks for it, and the words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from units import cluster

from paddlegen import catalogue, pipeline

if TYPE_CHECKING:
    from paddlegen.model.report import Finding

IMAGE = "image: registry.example.com/r:v1"
CANNOT = "target-can-express-job"


def operator(version: str = "0.3.5", **more: Any) -> dict[str, Any]:
    return {"paddleOperator": {"version": version, **more}}


def volcano(version: str = "0.3.5", **more: Any) -> dict[str, Any]:
    return {**operator(version), "volcano": {"version": "v1.12.0"}, **more}


@dataclass(frozen=True)
class Refusal:
    """A spec whose line that ends in `# here` is refused under `rule` with these words."""

    fact: str
    spec: str
    rule: str
    words: str
    profile: dict[str, Any] = field(default_factory=operator)
    name: str = "job"


def one(fact: str, line: str, rule: str, words: str, profile: dict[str, Any] | None = None) -> Refusal:
    """A Collective job of two workers with one more line in its spec."""
    spec = f"{IMAGE}\n{line}  # here\nroles: {{worker: {{replicas: 2}}}}"
    return Refusal(fact, spec, rule, words, profile or operator())


def ps(fact: str, line: str, rule: str, words: str, profile: dict[str, Any] | None = None) -> Refusal:
    """A PS job with one more line in its spec."""
    spec = f"{IMAGE}\n{line}  # here\nroles: {{ps: {{}}, worker: {{}}}}"
    return Refusal(fact, spec, rule, words, profile or operator())


REFUSALS = [
    Refusal(
        "L-PO-01",
        f"{IMAGE}\nroles: {{ps: {{}}}}  # here",
        "job-has-workers",
        "no worker; a Paddle job needs one",
    ),
    Refusal("L-PO-01", f"{IMAGE}  # here", "job-has-workers", "no worker"),
    Refusal(
        "L-PO-03",
        f"{IMAGE}\nroles: {{worker: {{}}}}\npodTemplate:\n  spec:\n    containers: [{{$patch: replace}}, "
        f"{{name: x}}]  # here",
        "trainer-is-first-container",
        "leaves worker without paddle as its first container",
    ),
    Refusal(
        "L-PO-04",
        f"{IMAGE}\nroles:\n  worker:\n    replicas: 0  # here",
        "spec-values-allowed",
        "replicas is 0",
    ),
    one("L-PO-06", "cleanup: Nerver", "spec-values-allowed", "did you mean Never"),
    one("L-PO-07", "network: host", "spec-values-allowed", "did you mean Host"),
    one("L-PO-08", "gloo: yes please", "spec-values-allowed", "write all, none or workers"),
    one("L-PO-08", "gloo: workers", CANNOT, "the job has no ps"),
    Refusal(
        "L-PO-10",
        f"{IMAGE}\nroles: {{worker: {{replicas: 11}}}}",
        "pod-names-fit",
        "64 characters; 63 are allowed, so the name can have 53",
        name=f"{'a' * 54}  # here",
    ),
    Refusal("L-PO-10", IMAGE, "spec-values-allowed", "1job", name="1job  # here"),
    Refusal("L-PO-10", IMAGE, "spec-values-allowed", "my.job", name="my.job  # here"),
    one(
        "L-PO-12",
        "cleanup: Never",
        "pod-addresses-are-ipv4",
        "ipFamily is IPv6",
        {**operator(), "ipFamily": "IPv6"},
    ),
    Refusal(
        "L-PO-13",
        f"{IMAGE}\nroles:\n  worker: {{}}\n  heter: {{replicas: 1}}  # here",
        CANNOT,
        "entrypointTranslatesEnvironment: true",
    ),
    Refusal(
        "1.3",
        f"{IMAGE}\nroles:\n  worker: {{}}\n  heter: {{entrypointTranslatesEnvironment: true}}  # here",
        CANNOT,
        "paddle-operator 0.2.1 knows no heter role",
        operator("0.2.1"),
    ),
    Refusal(
        "L-PO-13",
        f"{IMAGE}\nroles:\n  worker:\n    entrypointTranslatesEnvironment: true  # here",
        CANNOT,
        "is for the role heter",
    ),
    *(
        one("L-PO-21", f"env: {{{name}: x}}", "reserved-env", f"{name} is set by the operator")
        for name in ("POD_IP", "PADDLE_TRAINER_ID", "TRAINING_ROLE", "PADDLE_TRAINING_ROLE")
    ),
    *(
        one("L-PO-21", f"env: {{{name}: x}}", "reserved-env", f"{name} would hide what the operator tells")
        for name in ("PADDLE_PORT", "PADDLE_TRAINERS_NUM", "TRAINER_PORTS_NUM", "PADDLE_GLOO_RENDEZVOUS")
    ),
    ps("L-PO-21", "network: Service\nenv: {PADDLE_PORT: '7'}", "reserved-env", "PADDLE_PORT is 7, and"),
    Refusal(
        "L-PO-21",
        f"{IMAGE}\nroles: {{worker: {{}}}}\npodTemplate:\n  spec:\n    containers:\n    - name: paddle\n"
        "      env:\n      - {name: POD_IP, value: x}  # here",
        "reserved-env",
        "POD_IP is set by the operator",
    ),
    Refusal(
        "L-PO-21",
        f"{IMAGE}\nelastic: {{server: 'etcd:2379'}}\nenv: {{PADDLE_ELASTIC_NP: '2'}}  # here\nroles: "
        f"{{worker: {{replicas: 2}}}}",
        "reserved-env",
        "PADDLE_ELASTIC_NP is set by the operator",
    ),
    Refusal(
        "L-PO-22",
        f"{IMAGE}\nroles: {{worker: {{}}}}\npodTemplate:\n  spec:\n    restartPolicy: Always  # here",
        CANNOT,
        "its pods never succeed",
    ),
    one("L-PO-22", "restartPolicy: Always", "spec-values-allowed", "restartPolicy is"),
    one("L-PO-25", "requests: {nvidia.com/gpu: 1}", "gpu-requests-equal-limits", "the limit is none"),
    one("L-PO-25", "limits: {nvidia.com/gpu: 0.5}", "gpu-requests-equal-limits", "whole numbers"),
    one("L-PO-25", "gpu: 2\nlimits: {nvidia.com/gpu: 1}", "gpu-requests-equal-limits", "the limit is 2"),
    Refusal(
        "L-PO-40",
        f"{IMAGE}\nnetwork: Host\nroles: {{worker: {{}}}}\npodTemplate:\n  spec:\n    dnsPolicy: Default  "
        "# here",
        CANNOT,
        "dnsPolicy is Default",
    ),
    ps("L-PO-42", "network: PodIP", CANNOT, "exports no PADDLE_PORT", operator("0.3.3")),
    ps("L-PO-42", "network: Host", CANNOT, "exports no PADDLE_PORT", operator("0.3.4")),
    ps("L-PO-43", "network: Host", CANNOT, "a port that no endpoint carries", operator("0.3.2")),
    one("L-PO-44", "network: Host", CANNOT, "cannot be kept apart", operator("0.2.0")),
    Refusal(
        "L-PO-44",
        f"{IMAGE}\nnetwork: Host\nroles: {{worker: {{replicas: 2}}}}\npodTemplate:\n  spec:\n    "
        f"affinity: {{$patch: replace}}  # here",
        CANNOT,
        "takes away the podAntiAffinity",
    ),
    Refusal(
        "L-PO-60",
        f"{IMAGE}\nroles:\n  ps:\n    podTemplate: {{spec: {{schedulerName: mine}}}}  # here\n  worker: {{}}",
        "one-scheduler-for-all",
        "schedulerName is mine, and the job is a gang",
        volcano(),
    ),
    one(
        "L-PO-61",
        "podTemplate: {spec: {schedulerName: volcano}}",
        "one-scheduler-for-all",
        "write scheduling: {gang: true}",
    ),
    one("L-PO-61", "scheduling: {gang: true}", CANNOT, "its profile names no Volcano"),
    one("L-PO-61", "scheduling: {gang: true}", CANNOT, "gang is none", volcano(gang="none")),
    one("L-PO-61", "scheduling: {queue: ads}", CANNOT, "only Volcano knows queues"),
    one("2.6", "cleanup: Never", "gang-mode-works", "gang is operator, but", volcano(gang="operator")),
    one(
        "2.6", "cleanup: Never", "gang-mode-works", "has since 0.3.0", operator("0.2.1", scheduling="volcano")
    ),
    one(
        "L-PO-63",
        "cleanup: Never",
        "gang-mode-works",
        "gang is git, but this operator owns the PodGroup",
        {**operator(scheduling="volcano"), "gang": "git"},
    ),
    one(
        "L-PO-64",
        "scheduling: {gang: true}",
        CANNOT,
        "needs an annotation on the pods",
        volcano("0.3.0", crd="v1beta1", kubernetes="1.15"),
    ),
    one(
        "L-PO-66",
        "scheduling: {queue: adz}",
        "queue-exists",
        "queue is adz, and test has ads, default",
        volcano(queues=[{"name": "ads"}]),
    ),
    one("L-PO-80", "elastic: 0", "spec-values-allowed", "elastic is"),
    one("L-PO-81", "elastic: {}", CANNOT, "elastic: {server: HOST:PORT}"),
    one("L-PO-82", "elastic: {}", CANNOT, "needs --etcd-server", operator("0.3.1")),
    one(
        "L-PO-82",
        "elastic: {server: 'e:1'}",
        CANNOT,
        "remove server",
        operator("0.3.2", etcdServer="etcd:2379"),
    ),
    one("1.3", "elastic: {server: 'e:1'}", CANNOT, "knows no elastic jobs", operator("0.2.1")),
    ps("L-PO-83", "elastic: {server: 'e:1'}", CANNOT, "this one has ps too"),
    Refusal(
        "L-PO-85",
        f"{IMAGE}\nelastic: {{server: 'e:1'}}\nroles:\n  worker:\n    replicas: 1  # here",
        CANNOT,
        "at least 2 workers",
    ),
    Refusal(
        "L-PO-85",
        f"{IMAGE}\nelastic: {{server: 'e:1'}}\nrestartPolicy: Never  # here\n"
        "roles: {worker: {replicas: 2}}",
        CANNOT,
        "makes it OnFailure",
    ),
    Refusal(
        "L-PO-81",
        f"{IMAGE}\nelastic: {{server: 'e:1'}}\nenv: {{PADDLE_ELASTIC_SERVER: x}}  # here\nroles: "
        f"{{worker: {{replicas: 2}}}}",
        CANNOT,
        "given twice",
    ),
    Refusal(
        "L-PO-90",
        f"{IMAGE}\nroles: {{worker: {{}}}}",
        "namespace-watched",
        "watches paddle-system only",
        operator(watchedNamespace="paddle-system"),
        name="job, namespace: ml  # here",
    ),
    Refusal(
        "L-PO-90",
        f"{IMAGE}\nroles: {{worker: {{}}}}",
        "namespace-watched",
        "the namespace is default",
        operator(watchedNamespace="paddle-system"),
    ),
    one(
        "L-PO-91",
        "cleanup: Never",
        "crd-flavour-served",
        "crd is v1beta1, which Kubernetes 1.22 no longer serves",
        {"kubernetes": "1.22", "crd": "v1beta1"},
    ),
    one(
        "L-PO-91",
        "cleanup: Never",
        "crd-flavour-served",
        "crd is v1, which Kubernetes 1.15 does not serve yet",
        {"kubernetes": "1.15", "crd": "v1"},
    ),
    *(
        one("L-PO-91", line, CANNOT, f"drops labels and annotations of pods; remove {field}", profile)
        for profile in (operator("0.2.0"), {**operator("0.3.0"), "crd": "v1beta1"})
        for line, field in (
            ("podLabels: {a: b}", "podLabels"),
            ("podAnnotations: {a: b}", "podAnnotations"),
            ("podTemplate: {metadata: {labels: {a: b}}}", "metadata"),
        )
    ),
    one("EL", "crd: tpr", "spec-fields-known", "crd is no field"),
    one("EL", "cleanup: Never", CANNOT, "crd tpr is for EDL", {"crd": "tpr"}),
    one(
        "L-PO-44",
        "network: Host\npodLabels: {paddlegen.dev/job: mine}",
        "own-labels-kept",
        "paddlegen.dev/job is written by paddlegen",
    ),
    one(
        "L-PO-64",
        "podTemplate: {metadata: {annotations: {scheduling.k8s.io/group-name: x}}}",
        "one-scheduler-for-all",
        "and the job's PodGroup is job",
        volcano(),
    ),
    *(
        one("pod", f"podTemplate: {{{body}}}", rule, words, volcano())
        for body, rule, words in (
            ("spec: {$patch: delete}", "spec-values-allowed", "without $patch"),
            ("metadata: null", "spec-values-allowed", "metadata needs to be a mapping"),
            ("spec: {affinity: x}", "spec-values-allowed", "affinity needs to be a mapping"),
            (
                "spec: {containers: [{resources: x}]}",
                "spec-values-allowed",
                "resources needs to be a mapping",
            ),
            (
                "spec: {containers: [{resources: {limits: {cpu: x}}}]}",
                "quantities-parse",
                "no Kubernetes quantity",
            ),
        )
    ),
    one("pod", "podTemplate: {spec: text}", "spec-values-allowed", "spec needs to be a mapping"),
    one("pod", "podTemplate: {spec: {volumes: {}}}", "spec-values-allowed", "volumes needs to be a list"),
    one("pod", "podTemplate: {spec: {volumes: [{}]}}", "spec-values-allowed", "has no name"),
    one("storage", "storage: [{use: gone, mountPath: /x}]", "storage-exists", "no StorageSpec gone"),
    one("storage", "storage: [{name: x, mountPath: /x}]", "storage-has-one-source", "nothing says where"),
    one(
        "storage",
        "storage: [{name: x, mountPath: /x, nfs: {server: s, path: /p}}]",
        "storage-has-size",
        "has no size",
    ),
    one(
        "storage",
        "storage: [{claim: a, mountPath: /x}, {claim: b, mountPath: /x/}]",
        "mount-paths-unique",
        "mounted twice",
    ),
    one("pod", "memory: 16GB", "quantities-parse", "no Kubernetes quantity"),
    one("pod", "cpu: -1", "quantities-parse", "negative"),
]


def findings_of(refusal: Refusal) -> tuple[str, list[Finding]]:
    lines = [
        "apiVersion: paddlegen.dev/v1",
        "kind: JobSpec",
        "metadata:" if "# here" in refusal.spec + refusal.name else "metadata:  # here",
        *(f"  {'name: ' if not index else ''}{part}" for index, part in enumerate(refusal.name.split(", "))),
        "spec:",
        *(f"  {line}" for line in refusal.spec.splitlines()),
    ]
    text = "\n".join(lines) + "\n"
    contents = catalogue.read("jobs/job.yaml", text.encode())
    found = list(contents.findings)
    for entry in contents.jobs:
        unit = pipeline.job_unit(entry, cluster(refusal.profile), {}, catalogue.Contents())
        assert unit.is_broken
        assert not unit.manifests
        found += unit.findings
    return text, found


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: f"{refusal.fact}-{refusal.rule}")
def test_it_is_refused_at_the_line_that_asks_for_it(refusal: Refusal) -> None:
    text, found = findings_of(refusal)
    matching = [
        finding for finding in found if finding.rule == refusal.rule and refusal.words in finding.message
    ]

    assert matching, [(finding.rule, finding.message) for finding in found]
    for finding in matching:
        assert finding.location.span is not None
        if finding.location.path == "jobs/job.yaml":
            assert text.splitlines()[finding.location.span.line - 1].endswith("# here")
        else:
            assert finding.location.path == "overlays/test/cluster.yaml"


@pytest.mark.parametrize(
    "spec",
    [
        "network: Service\nroles: {ps: {env: {PADDLE_PORT: '36000'}}, worker: {}}",
        "env: {PADDLE_ELASTIC_NP: '2', PADDLE_ELASTIC_SERVER: x}\nroles: {worker: {}}",
        "podTemplate: {spec: {schedulerName: mine}}\nroles: {worker: {}}",
    ],
)
def test_what_harms_nothing_is_allowed(spec: str) -> None:
    body = "".join(f"  {line}\n" for line in (IMAGE, *spec.splitlines()))
    text = f"apiVersion: paddlegen.dev/v1\nkind: JobSpec\nmetadata: {{name: job}}\nspec:\n{body}"
    contents = catalogue.read("jobs/job.yaml", text.encode())
    units = [
        pipeline.job_unit(entry, cluster(operator()), {}, catalogue.Contents()) for entry in contents.jobs
    ]

    assert [*contents.findings, *(finding for unit in units for finding in unit.findings)] == []
