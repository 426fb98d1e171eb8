"""What may change in a Volcano job: its size, its priority class, and nothing else of its spec.

What the CRD and the mutating webhook fill in counts as written, in both objects.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from paddlegen.admission._changes import changes
from paddlegen.admission._read import mapping, members, sequence
from paddlegen.model.admission import Rule
from paddlegen.model.policy import Breach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULES = (
    Rule("volcano-job-tasks-stay", "A job's tasks can be neither added nor removed."),
    Rule("volcano-job-fields-stay", "Only minAvailable, priorityClassName and a task's size may change."),
)
CHANGED = (
    "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
    "`PriorityClassName`; give the changed job a name of its own"
)
_DEFAULTS = {"maxRetry": 3, "queue": "default"}


def check(job: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Breach]:
    """The tasks that came or went, else every frozen place that differs."""
    before, after = (_settled(mapping(body.get("spec"))) for body in (old, job))
    had, has = len(sequence(before.get("tasks"))), len(sequence(after.get("tasks")))
    if had != has:
        message = (
            f"job updates may not add or remove tasks; it had {had}, now {has}: "
            "give the changed job a name of its own"
        )
        yield Breach(("spec", "tasks"), message, rule="volcano-job-tasks-stay")
        return
    if "schedulerName" not in before or "schedulerName" not in after:
        # The webhook fills in one of its own scheduler names, which nobody outside knows.
        before.pop("schedulerName", None)
        after.pop("schedulerName", None)
    for path in dict.fromkeys(changes(before, after, ("spec",))):
        yield Breach(_present(job, path), CHANGED, rule="volcano-job-fields-stay")


def _settled(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with the defaults of the server, without what may change."""
    settled = deepcopy(dict(spec))
    for field, value in _DEFAULTS.items():
        settled[field] = settled.get(field) or value
    for field in ("minAvailable", "priorityClassName"):
        settled.pop(field, None)
    for _, volume in members(settled.get("volumes")):
        if isinstance(volume, dict) and volume.get("volumeClaim") is not None:
            volume.pop("volumeClaimName", None)
    for index, task in members(settled.get("tasks")):
        if isinstance(task, dict):
            task.pop("replicas", None)
            task.pop("minAvailable", None)
            task["maxRetry"] = task.get("maxRetry") or 3
            task["name"] = task.get("name") or f"default{index}"
            _settle_pod(task)
    plugins = settled.get("plugins")
    if isinstance(plugins, dict):
        # An empty list of arguments and an absent plugin differ, which `changes` would pass over.
        settled["plugins"] = {
            name: ["plugin", *sequence(given)] for name, given in _with_helpers(plugins).items()
        }
    return settled


def _with_helpers(plugins: dict[str, Any]) -> dict[str, Any]:
    helped = dict(plugins)
    if helped.keys() & {"tensorflow", "mpi", "pytorch", "ray"}:
        helped.setdefault("svc", [])
    if "mpi" in helped:
        helped.setdefault("ssh", [])
    return helped


def _settle_pod(task: dict[str, Any]) -> None:
    pod = mapping(mapping(task.get("template")).get("spec"))
    if isinstance(pod, dict) and pod.get("hostNetwork"):
        pod["dnsPolicy"] = pod.get("dnsPolicy") or "ClusterFirstWithHostNet"
    for field in ("containers", "initContainers"):
        for _, container in members(pod.get(field)):
            for _, port in members(container.get("ports")):
                if isinstance(port, dict):
                    port["protocol"] = port.get("protocol") or "TCP"


def _present(job: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The path, or the nearest place above it that the job really has."""
    value: Any = job
    for depth, part in enumerate(path):
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return path[:depth]
    return path
