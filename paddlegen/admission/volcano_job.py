"""What Volcano's job webhook refuses.

The rules are those of the Go webhook, which runs in every default installation; Volcano's own
ValidatingAdmissionPolicies (`custom.vap_enable`) are coarser copies of them.  Each rule of creation
holds beside an old object too: no server holds an object that it refused.  Where the releases
differ the cluster's release decides, and a current one is taken where its profile does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddlegen.admission import _names, _versions, _volcano_policies, _volcano_updates
from paddlegen.admission._read import amount, mapping, members, name_of, sequence, text, texts, whole
from paddlegen.admission._volcano_parts import cyclic, one_tier
from paddlegen.admission._volcano_queues import queue_breaches
from paddlegen.model.admission import Admission, Kind, Rule
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.report import FieldPath

PLUGINS = ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow")
TIERS_SINCE, PARTITIONS_SINCE = (1, 12), (1, 14)
PLUGINS_SINCE_1_13 = frozenset({"hcclrank", "ray"})


@dataclass(frozen=True, slots=True)
class Task:
    """A task as the mutating webhook leaves it: named, with the minAvailable that its partitions need."""

    index: int
    name: str
    replicas: int
    min_available: int | None
    body: Mapping[str, Any]

    @property
    def path(self) -> FieldPath:
        """Where it stands in the job."""
        return ("spec", "tasks", self.index)


def check(job: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the webhook refuses at creation, and, beside an old job, every frozen field that changed."""
    spec = mapping(job.get("spec"))
    looks_away = _versions.volcano_looks_away(job, view.cluster)
    if looks_away or not isinstance(spec.get("tasks"), list | None):
        return
    if not sequence(spec.get("tasks")):
        yield Breach(
            ("spec", "tasks") if "tasks" in spec else ("spec",),
            "No task specified in job spec; add at least one",
            rule="volcano-job-has-tasks",
        )
        return
    release = _versions.volcano(view.cluster)
    tasks = [_task(index, body, release) for index, body in members(spec.get("tasks"))]
    yield from _name(job, tasks)
    yield from _numbers(spec, tasks)
    yield from _gang(spec, tasks, update=view.old is not None)
    yield from _policies(spec, tasks)
    yield from _plugins(spec, tasks, release)
    yield from _volumes(spec)
    yield from _topology(spec, tasks, release)
    yield from _dependencies(tasks)
    yield from queue_breaches(text(spec.get("queue")), ("spec", "queue"), view, "volcano-job")
    if view.old is not None:
        yield from _volcano_updates.check(job, view.old)


def _task(index: int, body: Mapping[str, Any], release: _versions.Release) -> Task:
    name = text(body.get("name")) or f"default{index}"
    least, partition = whole(body.get("minAvailable")), mapping(body.get("partitionPolicy"))
    if least is None and release >= PARTITIONS_SINCE:
        needed, size = (whole(partition.get(field)) or 0 for field in ("minPartitions", "partitionSize"))
        least = needed * size if needed > 0 else None
    return Task(index, name, whole(body.get("replicas")) or 0, least, body)


def _name(job: Mapping[str, Any], tasks: list[Task]) -> Iterator[Breach]:
    name = name_of(job)
    if name and (wrong := _names.qualified(name)):
        message = f"create job with name {name} validate failed {wrong}; give the job another name"
        yield Breach(("metadata", "name"), message, rule="volcano-job-name-qualified")
    seen: set[str] = set()
    for task in tasks:
        if task.name in seen:
            message = f"duplicated task name {task.name}; give each task a name of its own"
            yield Breach((*task.path, "name"), message, rule="volcano-job-task-names-differ")
        seen.add(task.name)
        if wrong := _names.label(task.name):
            message = f"task name {task.name!r}: {wrong}; rename the task"
            yield Breach((*task.path, "name"), message, rule="volcano-job-task-names-are-labels")
        elif name and (wrong := _names.qualified(pod := f"{name}-{task.name}-{task.index}")):
            message = (
                f"create pod with name {pod} validate failed {wrong}; shorten the job's or the task's name"
            )
            place = (*task.path, "name") if task.body.get("name") else ("metadata", "name")
            yield Breach(place, message, rule="volcano-job-pod-names-fit")


def _numbers(spec: Mapping[str, Any], tasks: list[Task]) -> Iterator[Breach]:
    rule = "volcano-job-numbers-not-negative"
    wishes = (
        ("minAvailable", "job 'minAvailable' must be >= 0"),
        ("maxRetry", "'maxRetry' cannot be less than zero"),
        ("ttlSecondsAfterFinished", "'ttlSecondsAfterFinished' cannot be less than zero"),
    )
    for field, words in wishes:
        if (value := whole(spec.get(field)) or 0) < 0:
            yield Breach(("spec", field), f"{words}; it is {value}", rule=rule)
    for task in tasks:
        for field in ("replicas", "minAvailable"):
            if (value := whole(task.body.get(field)) or 0) < 0:
                message = f"{field!r} < 0 in task: {task.name}; it is {value}, write 0 or more"
                yield Breach((*task.path, field), message, rule=rule)


def _gang(spec: Mapping[str, Any], tasks: list[Task], *, update: bool) -> Iterator[Breach]:
    for task in tasks:
        if (least := task.min_available) is not None and least > task.replicas:
            words = (
                f"'minAvailable' must be <= 'replicas' in task: {task.name}"
                if update
                else f"'minAvailable' is greater than 'replicas' in task: {task.name}"
            )
            message = (
                f"{words}; minAvailable is {least}, replicas is {task.replicas}: lower it or raise replicas"
            )
            place = ("minAvailable",) if "minAvailable" in task.body else ("partitionPolicy", "minPartitions")
            yield Breach((*task.path, *place), message, rule="volcano-job-task-min-available-fits")
    # 0 is absent: the mutating webhook writes the sum of the tasks, each of which is told above.
    least, total = whole(spec.get("minAvailable")) or 0, sum(task.replicas for task in tasks)
    if least and least > total:
        words = (
            "job 'minAvailable' must not be greater than total replicas"
            if update
            else "job 'minAvailable' should not be greater than total replicas in tasks"
        )
        message = (
            f"{words}; minAvailable is {least}, the tasks have {total} replicas: lower it or raise replicas"
        )
        yield Breach(("spec", "minAvailable"), message, rule="volcano-job-min-available-fits")


def _policies(spec: Mapping[str, Any], tasks: list[Task]) -> Iterator[Breach]:
    yield from _volcano_policies.check(spec.get("policies"), ("spec", "policies"))
    for task in tasks:
        yield from _volcano_policies.check(task.body.get("policies"), (*task.path, "policies"))


def _plugins(spec: Mapping[str, Any], tasks: list[Task], release: _versions.Release) -> Iterator[Breach]:
    plugins = mapping(spec.get("plugins"))
    for name in plugins:
        if name not in PLUGINS or (name in PLUGINS_SINCE_1_13 and (1, 12) <= release < (1, 13)):
            known = [each for each in PLUGINS if each not in PLUGINS_SINCE_1_13 or release >= (1, 13)]
            shown = ".".join(map(str, release))
            message = f"unable to find job plugin: {name}; Volcano {shown} has {', '.join(known)}"
            yield Breach(("spec", "plugins", name), message, rule="volcano-job-plugins-exist")
    # Before 1.12 nothing is documented.
    if "mpi" in plugins and release >= (1, 12):
        names = {task.name for task in tasks}
        for role in ("master", "worker") if release < (1, 15) else ("master",):
            if (wanted := _flag(plugins["mpi"], role)) not in names:
                message = (
                    f"The specified mpi {role} task was not found; "
                    f"name a task {wanted!r}, or name the {role} with --{role}=TASK"
                )
                yield Breach(("spec", "plugins", "mpi"), message, rule="volcano-job-mpi-tasks-exist")


def _flag(arguments: object, name: str) -> str:
    """The value of an argument as Go's flag package reads it; the name itself where it is absent."""
    value, given = name, [argument for _, argument in texts(arguments)]
    for index, argument in enumerate(given):
        key, equals, rest = argument.lstrip("-").partition("=")
        if argument.startswith("-") and key == name:
            value = rest if equals else (given[index + 1] if index + 1 < len(given) else value)
    return value


def _volumes(spec: Mapping[str, Any]) -> Iterator[Breach]:
    seen: set[str] = set()
    for index, volume in members(spec.get("volumes")):
        path: FieldPath = ("spec", "volumes", index)
        mount = text(volume.get("mountPath"))
        if not mount:
            message = "mountPath is required; say where in the container the volume goes"
            yield Breach(path, message, rule="volcano-job-mount-paths-given")
        elif mount in seen:
            message = f"duplicated mountPath: {mount}; mount each volume at a place of its own"
            yield Breach((*path, "mountPath"), message, rule="volcano-job-mount-paths-differ")
        seen.add(mount)
        yield from _claim(volume, path)


def _claim(volume: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    rule = "volcano-job-volumes-name-one-claim"
    name, claim = text(volume.get("volumeClaimName")), volume.get("volumeClaim")
    if claim is None and not name:
        yield Breach(path, "either VolumeClaim or VolumeClaimName must be specified; add one", rule=rule)
    elif claim is not None and name:
        message = (
            "conflict: If you want to use an existing PVC, just specify VolumeClaimName."
            "If you want to create a new PVC, you do not need to specify VolumeClaimName; remove one of them"
        )
        yield Breach((*path, "volumeClaimName"), message, rule=rule)
    elif name and (wrong := _names.subdomain(name)):
        message = f"invalid VolumeClaimName {name} : {wrong}; write the name of a PersistentVolumeClaim"
        yield Breach((*path, "volumeClaimName"), message, rule=rule)


def _topology(spec: Mapping[str, Any], tasks: list[Task], release: _versions.Release) -> Iterator[Breach]:
    if release >= TIERS_SINCE:
        yield from one_tier(spec, ("spec",), "volcano-job-names-one-tier")
    for task in tasks:
        if text(task.body.get("topologyPolicy")) not in {"", "none"}:
            yield from _whole_cpus(task)
        partition = mapping(task.body.get("partitionPolicy"))
        if partition and release >= PARTITIONS_SINCE:
            yield from _partitions(task, partition, release)
            yield from one_tier(partition, (*task.path, "partitionPolicy"), "volcano-job-names-one-tier")


def _whole_cpus(task: Task) -> Iterator[Breach]:
    pod = mapping(mapping(task.body.get("template")).get("spec"))
    for field in ("containers", "initContainers"):
        for index, container in members(pod.get(field)):
            resources = mapping(container.get("resources"))
            given = mapping(resources.get("requests")) or mapping(resources.get("limits"))
            cpu = amount(given.get("cpu", 0))
            if cpu is not None and (cpu <= 0 or cpu != cpu.to_integral_value()):
                message = (
                    f"the cpu request isn't an integer in spec.task[{task.index}] container[{index}]; "
                    f"topologyPolicy needs whole CPUs, it is {given.get('cpu', 'absent')}"
                )
                path = (*task.path, "template", "spec", field, index)
                yield Breach(path, message, rule="volcano-job-topology-cpus-are-whole")


def _partitions(task: Task, partition: Mapping[str, Any], release: _versions.Release) -> Iterator[Breach]:
    rule, path = "volcano-job-partitions-add-up", (*task.path, "partitionPolicy")
    total, size = (whole(partition.get(field)) or 0 for field in ("totalPartitions", "partitionSize"))
    for field, name, value in (
        ("totalPartitions", "TotalPartitions", total),
        ("partitionSize", "PartitionSize", size),
    ):
        if value <= 0:
            message = f"'{name}' must be greater than 0 in task: {task.name}; it is {value}"
            yield Breach((*path, field) if field in partition else path, message, rule=rule)
    if task.replicas != total * size:
        message = (
            f"'Replicas' are not equal to TotalPartitions*PartitionSize in task: {task.name}; "
            f"replicas is {task.replicas}, {total} * {size} is {total * size}"
        )
        yield Breach((*task.path, "replicas") if "replicas" in task.body else path, message, rule=rule)
    least = whole(partition.get("minPartitions")) or 0
    # 1.14.0 and 1.15.0 lack the guard; of 1.14.1 to 1.14.3 nothing is documented.
    given = whole(task.body.get("minAvailable"))
    if (least > 0 or release in {(1, 14, 0), (1, 15, 0)}) and given not in {None, least * size}:
        message = (
            f"'MinAvailable' is not equal to MinPartitions*PartitionSize in task: {task.name}; "
            f"minAvailable is {given}, {least} * {size} is {least * size}"
        )
        yield Breach((*task.path, "minAvailable"), message, rule=rule)


def _dependencies(tasks: list[Task]) -> Iterator[Breach]:
    rule = "volcano-job-dependencies-are-acyclic"
    words = "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)"
    waits = {
        task.name: [name for _, name in texts(mapping(task.body.get("dependsOn")).get("name"))]
        for task in tasks
    }
    for task in tasks:
        for index, name in texts(mapping(task.body.get("dependsOn")).get("name")):
            if name not in waits:
                message = f"{words}; no task is named {name!r}, the tasks are {', '.join(waits)}"
                yield Breach((*task.path, "dependsOn", "name", index), message, rule=rule)
    stuck = cyclic(waits)
    for task in tasks:
        if task.name in stuck:
            message = f"{words}; {task.name} waits for itself by way of {', '.join(stuck)}"
            yield Breach((*task.path, "dependsOn", "name"), message, rule=rule)


RULES = (
    Rule("volcano-job-has-tasks", "A job has at least one task."),
    Rule("volcano-job-name-qualified", "The job's name is a qualified name of at most 63 characters."),
    Rule(
        "volcano-job-task-names-differ",
        "Each task has a name of its own; an unnamed one is named default<index>.",
    ),
    Rule(
        "volcano-job-task-names-are-labels", "A task's name is a DNS label (webhook to 1.13, CRD from 1.14)."
    ),
    Rule(
        "volcano-job-pod-names-fit",
        "<job>-<task>-<index of the task> is a qualified name of at most 63 characters.",
    ),
    Rule("volcano-job-numbers-not-negative", "Counts are 0 or more (webhook to 1.13, CRD from 1.14)."),
    Rule("volcano-job-task-min-available-fits", "A task's minAvailable is at most its replicas."),
    Rule("volcano-job-min-available-fits", "The job's minAvailable is at most the replicas of all tasks."),
    *_volcano_policies.RULES,
    Rule(
        "volcano-job-plugins-exist",
        "Each plugin is registered in this release; hcclrank and ray came with 1.13.",
    ),
    Rule(
        "volcano-job-mpi-tasks-exist", "The mpi plugin's master task exists, and up to 1.14 its worker task."
    ),
    Rule("volcano-job-mount-paths-given", "Each volume of the job says where it is mounted."),
    Rule("volcano-job-mount-paths-differ", "No two volumes of the job are mounted at one place."),
    Rule("volcano-job-volumes-name-one-claim", "Each volume has either volumeClaimName or volumeClaim."),
    Rule(
        "volcano-job-names-one-tier", "networkTopology has highestTierAllowed or highestTierName (from 1.12)."
    ),
    Rule(
        "volcano-job-topology-cpus-are-whole", "Under a topologyPolicy every container asks for whole CPUs."
    ),
    Rule(
        "volcano-job-partitions-add-up",
        "replicas = totalPartitions * partitionSize, minAvailable likewise (1.14).",
    ),
    Rule("volcano-job-dependencies-are-acyclic", "dependsOn names tasks of the job and forms no cycle."),
    Rule("volcano-job-queue-exists", "The queue is one of the cluster's, where its profile lists them."),
    Rule(
        "volcano-job-queue-takes-jobs",
        "The queue is neither root nor the parent of another queue (from 1.9).",
    ),
    *_volcano_updates.RULES,
)

admission = Admission(
    name="volcano-job",
    doc=__doc__,
    kinds=(Kind("batch.volcano.sh", "Job"),),
    rules=RULES,
    check=check,
    source=(
        "volcano-sh/volcano v1.12.0 to v1.15.1 pkg/webhooks/admission/jobs/{mutate/mutate_job,"
        "validate/admit_job,validate/util}.go, pkg/controllers/job/plugins/factory.go "
        "(facts: volcano_argocd 1.2 to 1.6)"
    ),
)
