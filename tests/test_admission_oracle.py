"""Volcano's own policies and our admission say the same about thousands of objects, or a table why not.

The objects are drawn from Volcano's CRDs, spoilt at zero to three places, and given to the policies
as the server would: filled in by the mutating webhook.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from paddlegen import admission
from paddlegen.model.cluster import Cluster, ClusterBody
from paddlegen.model.policy import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("PADDLEGEN_CORPUS", ROOT.parent / "shared" / "corpus"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CORPUS / "volcano-admission").is_dir(), reason=f"no corpus at {CORPUS}; set PADDLEGEN_CORPUS"
    ),
]

CLUSTER = Cluster(name="test", body=ClusterBody())
Body = dict[str, Any]

# --- the oracle: CEL, with the functions that Kubernetes adds, written here a second time -----------------

_SCALE = {"": "1", "m": "0.001", "k": "1000", "Ki": "1024", "Mi": "1048576", "Gi": "1073741824"}


def _milli(value: str) -> int:
    number, suffix = re.fullmatch(r"(-?[0-9.]+)(m|k|Ki|Mi|Gi|)", value).groups()  # type: ignore[union-attr]  # raises, as CEL does
    return int(Decimal(number) * Decimal(_SCALE[suffix]) * 1000)


def _wrong_name(form: str, name: str) -> list[str]:
    patterns = {
        "label": r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
        "qualified": r"([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
    }
    return [] if re.fullmatch(patterns[form], name) else [f"no {form}"]


def _comparable(expression: str) -> str:
    # Kubernetes compares doubles with integers; this engine does so only where it does not know the types.
    return re.sub(r"(double\(\w+\) > 0)(?![.0-9])", r"\1.0", expression)


class Policies:
    """One ValidatingAdmissionPolicy, compiled."""

    def __init__(self, kind: str) -> None:
        cel = pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")
        from cel_expr_python.ext import ext_strings

        kinds = cel.Type
        declare = [
            ("format.dns1123Label", [], kinds.STRING, False, lambda: "label"),
            ("format.qualifiedName", [], kinds.STRING, False, lambda: "qualified"),
            ("validate", [kinds.STRING, kinds.STRING], kinds.LIST, True, _wrong_name),
            ("hasValue", [kinds.LIST], kinds.BOOL, True, bool),
            ("sum", [kinds.LIST], kinds.INT, True, lambda values: sum(list(values))),
            ("quantity", [kinds.STRING], kinds.INT, False, _milli),
            (
                "compareTo",
                [kinds.INT, kinds.INT],
                kinds.INT,
                True,
                lambda one, two: (one > two) - (one < two),
            ),
        ]
        functions = [
            cel.FunctionDecl(name, [cel.Overload(f"k8s_{name}", result, given, member, implementation)])
            for name, given, result, member, implementation in declare
        ]
        names = ("object", "oldObject", "request", "variables")
        self._env = cel.NewEnv(
            variables=dict.fromkeys(names, kinds.DYN),
            extensions=[ext_strings.ExtStrings()],
            functions=functions,
        )
        self._error = kinds.ERROR
        path = CORPUS / "volcano-admission" / f"{kind}-validating.yaml"
        spec = next(iter(yaml.safe_load_all(path.read_text(encoding="utf-8"))))["spec"]
        self._variables = [
            (each["name"], self._env.compile(each["expression"])) for each in spec.get("variables", ())
        ]
        self.messages = [each["message"] for each in spec["validations"]]
        self._validations = [
            (each["message"], self._env.compile(_comparable(each["expression"])))
            for each in spec["validations"]
        ]

    def denied(self, body: Body, old: Body | None) -> set[str]:
        """The messages of the validations that fail; one that cannot be evaluated fails too."""
        variables: Body = {}
        data = {
            "object": body,
            "oldObject": old,
            "request": {"operation": "CREATE" if old is None else "UPDATE"},
            "variables": variables,
        }
        for name, expression in self._variables:
            value = expression.eval(data=data)
            if value.type() != self._error:
                variables[name] = value.plain_value()
        results = ((message, expression.eval(data=data)) for message, expression in self._validations)
        return {
            message
            for message, value in results
            if value.type() == self._error or value.plain_value() is not True
        }


# --- what is compared -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An object, what it was before, and what both sides say: the rules' names."""

    body: Body
    old: Body | None
    ours: set[str] = field(default_factory=set)
    theirs: set[str] = field(default_factory=set)

    @property
    def spec(self) -> Body:
        return self.body["spec"]  # type: ignore[no-any-return]  # an object we made

    def policies(self, *, everywhere: bool = False) -> list[Body]:
        tasks = self.spec.get("tasks", []) if everywhere else []
        return [
            *self.spec.get("policies", []),
            *(each for task in tasks for each in task.get("policies", [])),
        ]


@dataclass(frozen=True)
class Difference:
    """Rules that only one side may tell, when it happens, and why."""

    rules: set[str]
    only: str
    when: Callable[[Case], bool]
    reason: str


MESSAGES = {
    "job 'minAvailable' must be >= 0": "volcano-job-numbers-not-negative",
    "'maxRetry' cannot be less than zero": "volcano-job-numbers-not-negative",
    "'ttlSecondsAfterFinished' cannot be less than zero": "volcano-job-numbers-not-negative",
    "'replicas' < 0 in task": "volcano-job-numbers-not-negative",
    "'minAvailable' < 0 in task": "volcano-job-numbers-not-negative",
    "No task specified in job spec": "volcano-job-has-tasks",
    "duplicated task name found": "volcano-job-task-names-differ",
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters": (
        "volcano-job-task-names-are-labels"
    ),
    "'minAvailable' is greater than 'replicas' in task": "volcano-job-task-min-available-fits",
    "job 'minAvailable' should not be greater than total replicas in tasks": "volcano-job-min-available-fits",
    "job 'minAvailable' must not be greater than total replicas": "volcano-job-min-available-fits",
    "invalid policy event": "volcano-policy-events-exist",
    "invalid policy action": "volcano-policy-actions-exist",
    "must not specify event and exitCode simultaneously": "volcano-policy-has-one-trigger",
    "either event and exitCode should be specified": "volcano-policy-has-one-trigger",
    "0 is not a valid error code": "volcano-policy-exit-codes-are-failures",
    "duplicate policy event found": "volcano-policy-events-differ",
    "duplicate exitCode found": "volcano-policy-exit-codes-differ",
    "if there's * here, no other policy should be here": "volcano-policy-any-event-is-alone",
    "mountPath is required": "volcano-job-mount-paths-given",
    "duplicated mountPath found": "volcano-job-mount-paths-differ",
    "either VolumeClaim or VolumeClaimName must be specified": "volcano-job-volumes-name-one-claim",
    "job updates may not add or remove tasks": "volcano-job-tasks-stay",
    "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
    "`PriorityClassName`": "volcano-job-fields-stay",
    "job name must be a valid qualified name": "volcano-job-name-qualified",
    "queue state must be in [Open, Closed]": "volcano-queue-state-exists",
    "capability resource values must not be empty": "quantities-are-well-formed",
    "deserved resource values must not be empty": "quantities-are-well-formed",
    "guarantee resource values must not be empty": "quantities-are-well-formed",
    "must be <= capability": "volcano-queue-shares-fit",
    "must be >= guarantee": "volcano-queue-shares-fit",
    "volcano.sh/hierarchy must have the same length with volcano.sh/hierarchy-weights": (
        "volcano-queue-hierarchy-is-weighed"
    ),
    "weights in volcano.sh/hierarchy-weights must be larger than 0": "volcano-queue-hierarchy-is-weighed",
    "jobflow Flow is not DAG: vertex is not defined": "volcano-jobflow-is-acyclic",
    "jobflow Flow is not DAG": "volcano-jobflow-is-acyclic",
}
"""The rule of ours that each of their messages belongs to."""

ON_DELETION = {"`default` queue can not be deleted", "`root` queue can not be deleted"}
PLACEHOLDER = "PodGroup validation passed - queue validation handled elsewhere"

ANYWHERE = {"names-are-well-formed", "object-names-are-well-formed", "labels-are-well-formed"}
"""Kubernetes' rules, which Volcano's policies leave to the server."""

WEBHOOK_ONLY = {
    "volcano-job-pod-names-fit",
    "volcano-job-plugins-exist",
    "volcano-job-mpi-tasks-exist",
    "volcano-job-names-one-tier",
    "volcano-job-topology-cpus-are-whole",
    "volcano-job-partitions-add-up",
    "volcano-job-dependencies-are-acyclic",
    "volcano-job-queue-takes-jobs",
    "volcano-podgroup-names-one-tier",
}
POLICY_RULES = {name for name in MESSAGES.values() if name.startswith("volcano-policy-")}


def _both(policy: Body) -> bool:
    return bool(policy.get("event") or policy.get("events")) and "exitCode" in policy


DIFFERENCES = (
    Difference(WEBHOOK_ONLY, "ours", lambda _: True, "the Go webhook knows more; CEL has no such rule"),
    Difference(
        POLICY_RULES,
        "ours",
        lambda case: any("policies" in task for task in case.spec["tasks"]),
        "the webhook looks at the policies of tasks too, CEL at those of the job alone",
    ),
    Difference(
        POLICY_RULES,
        "ours",
        lambda case: any(policy.get("events") for policy in case.policies()),
        "the webhook looks into the list `events`, CEL only at `event`",
    ),
    Difference(
        {"volcano-policy-actions-exist"},
        "theirs",
        lambda case: any(policy.get("action") == "RestartPartition" for policy in case.policies()),
        "CEL's list of actions lacks RestartPartition",
    ),
    Difference(
        {"volcano-policy-actions-exist"},
        "theirs",
        lambda case: any("exitCode" in policy for policy in case.policies()),
        "the webhook does not look at the action of an exit code",
    ),
    Difference(
        {"volcano-policy-actions-exist"},
        "theirs",
        lambda case: "volcano-policy-has-one-trigger" in case.ours,
        "the webhook says one thing about a policy, CEL everything: both refuse",
    ),
    Difference(
        {"volcano-policy-actions-exist"},
        "ours",
        lambda case: any("action" not in policy for policy in case.policies()),
        "the webhook refuses an event without an action, CEL looks only at one that is there",
    ),
    Difference(
        {"volcano-policy-events-exist", "volcano-policy-events-differ", "volcano-policy-any-event-is-alone"},
        "theirs",
        lambda case: bool(case.ours & POLICY_RULES),
        "the webhook stops at the first fault of a policy, CEL counts it still: both refuse",
    ),
    Difference(
        {"volcano-policy-exit-codes-differ", "volcano-policy-exit-codes-are-failures"},
        "theirs",
        lambda case: any(_both(policy) for policy in case.policies()),
        "the same for exit codes: both refuse",
    ),
    Difference(
        {"volcano-policy-exit-codes-differ"},
        "theirs",
        lambda case: _codes(case).count(0) > 1,
        "two exit codes 0 are told as what they are, not as the same: both refuse",
    ),
    Difference(
        {"volcano-job-volumes-name-one-claim"},
        "ours",
        lambda case: any(volume.get("volumeClaimName") for volume in case.spec["volumes"]),
        "the webhook refuses a claim with a name beside it, and a name that is none; CEL does not look",
    ),
    Difference(
        {"volcano-job-mount-paths-differ"},
        "theirs",
        lambda case: any("mountPath" not in volume for volume in case.spec["volumes"]),
        "CEL cannot compare an absent mountPath, which is an error, which is a refusal: both refuse",
    ),
    Difference(
        {"volcano-job-task-min-available-fits"},
        "ours",
        lambda case: any(not task.get("replicas") for task in case.spec["tasks"]),
        "CEL passes over a task whose replicas are absent, which Go leaves out when they are 0",
    ),
    Difference(
        {"volcano-job-min-available-fits"},
        "theirs",
        lambda case: any(not task.get("replicas") for task in case.spec.get("tasks", [])),
        "CEL cannot add up replicas that are absent, as Go leaves them out when 0; the webhook reads 0",
    ),
    Difference(
        {"volcano-job-min-available-fits"},
        "theirs",
        lambda case: "volcano-job-task-min-available-fits" in case.ours,
        "the sum that the mutating webhook fills in is told at the task that spoils it: both refuse",
    ),
    Difference(
        {"volcano-job-fields-stay"},
        "ours",
        lambda case: case.old is not None,
        "the webhook compares the whole spec on update, CEL only the queue",
    ),
    Difference(
        set(MESSAGES.values()),
        "theirs",
        lambda case: bool(case.ours & {"volcano-job-has-tasks", "volcano-job-tasks-stay"}),
        "without tasks, or with others, the webhook looks no further: both refuse",
    ),
    Difference(
        {"volcano-queue-shares-fit"},
        "theirs",
        lambda case: "quantities-are-well-formed" in case.ours,
        "CEL cannot compare what is no quantity: both refuse",
    ),
    Difference(
        {"quantities-are-well-formed"},
        "ours",
        lambda case: "-" in str(case.spec),
        "the webhook refuses a quantity below 0, CEL only an empty one",
    ),
    Difference(
        {"volcano-queue-hierarchy-is-weighed"},
        "theirs",
        lambda case: bool(re.search(r"hierarchy-weights.*(e1|\+|\.5)", str(case.body["metadata"]))),
        "the webhook reads a weight as Go reads a float, CEL wants digits",
    ),
    Difference(
        {"volcano-queue-hierarchy-is-weighed"},
        "theirs",
        lambda case: "volcano.sh/hierarchy" not in case.body["metadata"].get("annotations", {}),
        "one weight without a hierarchy: the facts do not say that the webhook refuses it",
    ),
    Difference(
        {"volcano-jobflow-is-acyclic"},
        "ours",
        lambda case: len(case.spec["flows"]) > 1,
        "the webhook finds longer cycles, CEL only a flow that names itself",
    ),
)
"""Every difference that there is.  One that no longer happens fails the test."""


def _codes(case: Case) -> list[int]:
    return [policy["exitCode"] for policy in case.policies() if "exitCode" in policy]


def _explained(case: Case) -> Iterator[tuple[str, str, list[int]]]:
    """Each rule only one side tells, the side, and the differences that allow it."""
    for side, rules in (("ours", case.ours - case.theirs), ("theirs", case.theirs - case.ours)):
        for rule in sorted(rules):
            yield (
                rule,
                side,
                [
                    number
                    for number, each in enumerate(DIFFERENCES)
                    if rule in each.rules and each.only == side and _holds(each, case)
                ],
            )


def _holds(difference: Difference, case: Case) -> bool:
    try:
        return difference.when(case)
    except KeyError:  # the object has no such part, so it cannot be the reason
        return False


def _ours(body: Body, old: Body | None) -> set[str]:
    view = View(objects=(body,), cluster=CLUSTER, old=old)
    return {rule for rule, _, _ in admission.check(body, view)} - ANYWHERE


# --- the objects ------------------------------------------------------------------------------------------

POOLS: dict[str, list[Any]] = {
    "name": ["a", "b", "trainer", "ps-0", "default1", "x" * 60],
    "queue": ["default", "ai"],
    "mountPath": ["/data", "/logs", "/cache"],
    "volumeClaimName": ["claim", "data"],
    "action": ["RestartJob", "AbortJob", "TerminateJob", "CompleteJob", "RestartPartition"],
    "topologyPolicy": ["none", "best-effort"],
    "exitCode": [1, 2, 137],
    "schedulerName": ["volcano"],
    "priorityClassName": ["high"],
    "iteration": ["any", "all"],
}
SKIPPED = {
    "template",
    "runningEstimate",
    "minSuccess",
    "networkTopology",
    "timeout",
    "volumeClaim",
    "plugins",
}
TEMPLATE: Body = {
    "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "paddle:2.6.2", "resources": {"requests": {"cpu": "1"}}}],
    }
}


def _draw(schema: Mapping[str, Any], name: str, rng: random.Random) -> Any:  # noqa: PLR0911  # one per type
    """A value of the schema, likely but not surely within its bounds."""
    if name in POOLS and schema.get("type") != "object":
        return [rng.choice(POOLS[name])] if schema.get("type") == "array" else rng.choice(POOLS[name])
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return rng.choice([0, 1, 1, 2, 2, 3, 4])
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [
                _draw(schema["items"], name.removesuffix("s"), rng) for _ in range(rng.choice([1, 1, 2, 3]))
            ]
        case "object":
            members = schema.get("properties", {}).items()
            needed = schema.get("required", ())
            return {
                key: _draw(value, key, rng)
                for key, value in members
                if key not in SKIPPED and (key in needed or rng.random() < 0.4)
            }
    return "word"


def _schema(kind: str) -> Mapping[str, Any]:
    name = {"jobs": "batch.volcano.sh_jobs", "queues": "scheduling.volcano.sh_queues"}.get(
        kind, "scheduling.volcano.sh_podgroups"
    )
    crd = yaml.safe_load((CORPUS / "crds" / f"{name}.v1.yaml").read_text(encoding="utf-8"))
    version = crd["spec"]["versions"][0]
    spec: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def _job(schema: Mapping[str, Any], rng: random.Random) -> Body:
    spec = _draw(schema, "spec", rng)
    spec.pop("policies", None)
    if rng.random() < 0.4:
        spec["policies"] = deepcopy(rng.sample(POLICIES, rng.choice([1, 2, 3])))
    spec["tasks"] = [
        _task(_draw(schema["properties"]["tasks"]["items"], "task", rng), index, rng)
        for index in range(rng.choice([1, 2, 2, 3]))
    ]
    for index, volume in enumerate(spec.get("volumes", [])):
        volume["mountPath"] = f"/mnt/{index}"
        volume["volumeClaimName"] = f"claim-{index}"
    if rng.random() < 0.8:
        total = sum(task["replicas"] for task in spec["tasks"])
        spec["minAvailable"] = rng.randint(0, total)
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": rng.choice(["train", "ctr-1"])},
        "spec": spec,
    }


def _task(task: Body, index: int, rng: random.Random) -> Body:
    for likely_wrong in ("dependsOn", "partitionPolicy", "topologyPolicy"):
        if rng.random() < 0.95:
            task.pop(likely_wrong, None)
    task.pop("policies", None)
    if rng.random() < 0.9:
        task["name"] = f"task-{index}"
    task["replicas"] = rng.choice([1, 1, 2, 2, 4, 4, 0]) if rng.random() < 0.3 else rng.choice([1, 2, 3])
    if "minAvailable" in task:
        task["minAvailable"] = rng.randint(0, task["replicas"])
    task["template"] = deepcopy(TEMPLATE)
    return task


POLICIES: list[Body] = [
    {"event": "PodFailed", "action": "RestartJob"},
    {"event": "PodEvicted", "action": "RestartTask"},
    {"event": "TaskFailed", "action": "AbortJob"},
    {"events": ["TaskCompleted", "Unknown"], "action": "CompleteJob"},
    {"exitCode": 1, "action": "RestartPod"},
    {"exitCode": 137, "action": "TerminateJob"},
]
ODD_POLICIES: list[Body] = [
    {"event": "PodFailed", "action": "AbortJob"},
    {"event": "*", "action": "AbortJob"},
    {"events": ["*"], "action": "AbortJob"},
    {"events": ["TaskFailed"], "action": "AbortJob"},
    {"event": "PodRunning", "action": "RestartJob"},
    {"events": ["Nonsense"], "action": "RestartJob"},
    {"event": "Unknown", "action": "SyncJob"},
    {"event": "Unknown", "action": "RestartPartition"},
    {"event": "Unknown"},
    {"exitCode": 0, "action": "RestartJob"},
    {"exitCode": 1, "action": "RestartJob"},
    {"exitCode": 7, "action": "Nonsense"},
    {"exitCode": 7},
    {"exitCode": 7, "event": "PodPending", "action": "RestartJob"},
    {"exitCode": 0, "event": "PodPending", "action": "RestartJob"},
    {"exitCode": 7, "events": ["PodPending"], "action": "RestartJob"},
    {"action": "RestartJob"},
    {"action": "Nonsense"},
]
"""Policies that are wrong, or that are wrong beside another."""


def _policies(rng: random.Random) -> list[Body]:
    """Good policies and mostly one odd one, in any order."""
    policies = rng.sample(POLICIES, rng.choice([0, 1, 2])) + rng.choices(
        ODD_POLICIES, k=rng.choice([1, 1, 1, 2])
    )
    rng.shuffle(policies)
    return deepcopy(policies)


def _volumes(last: Body) -> list[Body]:
    return [{"mountPath": "/a", "volumeClaimName": "x"}, {"mountPath": "/b", "volumeClaim": {}}, last]


FAULTS: list[tuple[str, str, list[Any]]] = [
    ("job", "minAvailable", [-1, 5, 50]),
    ("job", "maxRetry", [-1, 0, 1]),
    ("job", "ttlSecondsAfterFinished", [-1, 0]),
    ("job", "tasks", [[]]),
    ("task", "name", ["task-0", "Upper", "a_b", "-a", "a" * 64, "default0", "a" * 63]),
    ("task", "replicas", [-1, 0]),
    ("task", "minAvailable", [-1, 0, 3, 9]),
    (
        "job",
        "volumes",
        [_volumes({"mountPath": "/a", "volumeClaimName": "y"}), _volumes({"mountPath": "/c"})],
    ),
    ("job", "volumes", [_volumes({"mountPath": mount, "volumeClaimName": "y"}) for mount in ("", "/d")]),
    ("job", "volumes", [[{"mountPath": "/c", "volumeClaim": {}, "volumeClaimName": "z"}]]),
    ("job", "volumes", [[{"volumeClaimName": "Not_A_Name"}]]),
    ("job", "plugins", [{name: []} for name in ("svc", "env", "mpi", "paddle", "ray")]),
    ("job", "networkTopology", [{"highestTierAllowed": 1, "highestTierName": "rack"}]),
    ("task", "dependsOn", [{"name": [name]} for name in ("task-0", "task-1", "nobody")]),
    ("task", "policies", [[{"event": "PodFailed", "action": "RestartTask"}]]),
    ("metadata", "name", ["Upper_Case", "-x", "y" * 64, "y" * 50]),
]
"""Where a job may be spoilt, and with what."""


def _spoil_job(job: Body, rng: random.Random) -> None:
    """Break, or nearly break, one thing."""
    if rng.random() < 0.25:
        job["spec"]["policies"] = _policies(rng)
        return
    task = rng.choice(job["spec"]["tasks"] or [{}])
    if rng.random() < 0.1:
        task["policies"] = _policies(rng)
        return
    where, name, values = rng.choice(FAULTS)
    place = {"job": job["spec"], "task": task, "metadata": job["metadata"]}[where]
    place[name] = deepcopy(rng.choice(values))


def _stored(job: Body) -> Body:
    """What the policies are shown: the mutating webhook's defaults, and Go's zeros left out (facts 1.2)."""
    job = deepcopy(job)
    spec = job["spec"]
    for index, task in enumerate(spec["tasks"]):
        task.setdefault("name", f"default{index}")
        if "minAvailable" not in task:
            partition = task.get("partitionPolicy", {})
            least = partition.get("minPartitions", 0) * partition.get("partitionSize", 0)
            task["minAvailable"] = least or task.get("replicas", 0)
        task["maxRetry"] = task.get("maxRetry") or 3
        if not task.get("replicas"):
            task.pop("replicas", None)
    spec["queue"] = spec.get("queue") or "default"
    spec["maxRetry"] = spec.get("maxRetry") or 3
    if not spec.get("minAvailable"):
        spec["minAvailable"] = sum(task["minAvailable"] for task in spec["tasks"])
    return job


def _change_job(job: Body, rng: random.Random) -> Body:
    changed = deepcopy(job)
    spec, task = changed["spec"], rng.choice(changed["spec"]["tasks"])
    match rng.randrange(8):
        case 0:
            spec["minAvailable"] = rng.choice([1, 2, 30])
        case 1:
            task["replicas"] = task.get("replicas", 0) + 1
        case 2:
            spec["queue"] = rng.choice(["ai", "default", "other"])
        case 3:
            spec["tasks"].append({"name": "late", "replicas": 1, "template": deepcopy(TEMPLATE)})
        case 4:
            spec["tasks"].pop()
        case 5:
            task["template"]["spec"]["containers"][0]["image"] = "paddle:3.0.0"
        case 6:
            spec["priorityClassName"] = "low"
        case 7:
            spec["maxRetry"] = rng.choice([3, 7])
    return changed


def _jobs(count: int) -> Iterator[tuple[Body, Body | None, Body, Body | None]]:
    """Each job, what it was, and both as the policies are shown them."""
    schema, rng = _schema("jobs"), random.Random(20)  # the same objects at every run
    for _ in range(count):
        job = _job(schema, rng)
        if rng.random() < 0.65:
            for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
                _spoil_job(job, rng)
        if rng.random() < 0.3 and job["spec"]["tasks"]:
            changed = _change_job(job, rng)
            yield changed, job, _stored(changed), _stored(job)
        else:
            yield job, None, _stored(job), None


def _agree(kind: str, drawn: Iterator[tuple[Body, Body | None, Body, Body | None]]) -> Counter[int]:
    """Compare both sides over the cases; returns how often each difference was the reason."""
    policies, used = Policies(kind), Counter[int]()
    known = set(MESSAGES) | ON_DELETION | {PLACEHOLDER}
    assert set(policies.messages) <= known, "a message of theirs that no rule of ours stands for"
    cases = [
        Case(
            body, old, _ours(body, old), {MESSAGES[message] for message in policies.denied(shown, shown_old)}
        )
        for body, old, shown, shown_old in drawn
    ]
    for case in cases:
        for rule, side, reasons in _explained(case):
            shown = yaml.dump([case.body, case.old])
            assert reasons, f"only {side}: {rule}\nours {case.ours}\ntheirs {case.theirs}\n{shown}"
            used.update(reasons)
    if compared := set(policies.messages) & set(MESSAGES):
        denied = sum(bool(case.theirs) for case in cases)
        assert 0.2 < denied / len(cases) < 0.8, "too few of one verdict"
        assert _unnoticed({MESSAGES[message] for message in compared}, cases) == set()
    return used


def _unnoticed(rules: set[str], cases: list[Case]) -> set[str]:
    """The rules that could fall silent, or be told of every good object, without a failure above."""

    def noticed(case: Case, ours: set[str]) -> bool:
        return any(not reasons for _, _, reasons in _explained(replace(case, ours=ours)))

    good = [case for case in cases if not case.ours and not case.theirs]
    return {
        rule
        for rule in rules
        if not any(noticed(case, case.ours - {rule}) for case in cases if rule in case.ours)
        or not any(noticed(case, {rule}) for case in good)
    }


@pytest.fixture(scope="module")
def happened() -> Counter[int]:
    """Which differences were a reason, over all kinds."""
    return Counter()


def test_jobs_are_allowed_and_denied_as_volcano_does(happened: Counter[int]) -> None:
    happened.update(_agree("jobs", _jobs(4000)))


def test_queues_are_allowed_and_denied_as_volcano_does(happened: Counter[int]) -> None:
    happened.update(_agree("queues", _queues(2000)))


def test_podgroups_are_never_denied_by_what_volcano_s_policies_know(happened: Counter[int]) -> None:
    happened.update(_agree("podgroups", _podgroups(300)))


def test_jobflows_are_allowed_and_denied_as_volcano_does(happened: Counter[int]) -> None:
    happened.update(_agree("jobflows", _jobflows(1000)))


def test_every_listed_difference_happens(happened: Counter[int]) -> None:
    if not happened:
        pytest.skip("the comparisons did not run")
    unused = [each.reason for number, each in enumerate(DIFFERENCES) if not happened[number]]
    assert not unused


AMOUNTS = ["1", "2", "500m", "4Gi", "8Gi", "16"]


def _queues(count: int) -> Iterator[tuple[Body, Body | None, Body, Body | None]]:
    schema, rng = _schema("queues"), random.Random(21)
    for _ in range(count):
        spec = _draw(schema, "spec", rng)
        spec.pop("parent", None)
        for name in ("capability", "deserved"):
            spec[name] = {key: rng.choice(AMOUNTS) for key in ("cpu", "nvidia.com/gpu") if rng.random() < 0.6}
            if name == "capability" and rng.random() < 0.6:
                spec[name] = dict.fromkeys(spec[name], "32Gi")
        spec.pop("guarantee", None)
        if rng.random() < 0.4:
            spec["guarantee"] = {"resource": {rng.choice(["cpu", "memory"]): rng.choice(["0", "1", "500m"])}}
        queue: Body = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "ai"},
            "spec": spec,
        }
        if rng.random() < 0.4:
            _spoil_queue(queue, rng)
        old = deepcopy(queue) if rng.random() < 0.3 else None
        yield queue, old, queue, old


def _spoil_queue(queue: Body, rng: random.Random) -> None:
    match rng.randrange(4):
        case 0:
            queue["status"] = {"state": rng.choice(["Open", "Closed", "Closing", ""])}
        case 1:
            queue["spec"][rng.choice(["capability", "deserved"])] = {"cpu": rng.choice(["", "-1", "1"])}
        case _:
            weights = rng.choice(["1/2", "1", "0/1", "1/x", "1/1e1", "1/.5", "1/2/3", "-1/2", "1/0.25"])
            queue["metadata"]["annotations"] = {"volcano.sh/hierarchy-weights": weights}
            if rng.random() < 0.9:
                queue["metadata"]["annotations"]["volcano.sh/hierarchy"] = rng.choice(["root/ai", "root"])


def _podgroups(count: int) -> Iterator[tuple[Body, Body | None, Body, Body | None]]:
    schema, rng = _schema("podgroups"), random.Random(22)
    for _ in range(count):
        group: Body = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "train"},
            "spec": _draw(schema, "spec", rng),
        }
        if rng.random() < 0.2:
            group["spec"]["networkTopology"] = {"highestTierAllowed": 2, "highestTierName": "rack"}
        yield group, None, group, None


def _jobflows(count: int) -> Iterator[tuple[Body, Body | None, Body, Body | None]]:
    rng = random.Random(23)
    for _ in range(count):
        names = ["a", "b", "c", "d"][: rng.choice([1, 2, 3, 4])]
        flows: list[Body] = []
        for index, name in enumerate(names):
            flow: Body = {"name": name}
            if rng.random() < 0.5:
                wild = rng.random() < 0.4
                flow["dependsOn"] = {
                    "targets": [rng.choice([*names, "e"] if wild else names[:index] or names)]
                }
                if not wild and not index:
                    del flow["dependsOn"]
            flows.append(flow)
        body: Body = {
            "apiVersion": "flow.volcano.sh/v1alpha1",
            "kind": "JobFlow",
            "metadata": {"name": "flow"},
            "spec": {"flows": flows},
        }
        yield body, None, body, None
