"""Where each kind keeps its pod templates, `*` standing for any key or index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddlegen.model.admission import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.report import FieldPath

_TEMPLATE: tuple[str, ...] = ("spec", "template")

POD_TEMPLATES: dict[Kind, tuple[tuple[str, ...], ...]] = {
    Kind("", "Pod"): ((),),
    Kind("", "PodTemplate"): (("template",),),
    Kind("", "ReplicationController"): (_TEMPLATE,),
    Kind("apps", "DaemonSet"): (_TEMPLATE,),
    Kind("apps", "Deployment"): (_TEMPLATE,),
    Kind("apps", "ReplicaSet"): (_TEMPLATE,),
    Kind("apps", "StatefulSet"): (_TEMPLATE,),
    Kind("batch", "CronJob"): (("spec", "jobTemplate", "spec", "template"),),
    Kind("batch", "Job"): (_TEMPLATE,),
    Kind("batch.paddlepaddle.org", "PaddleJob"): tuple(
        ("spec", role, "template") for role in ("ps", "worker", "heter")
    ),
    Kind("batch.volcano.sh", "CronJob"): (("spec", "jobTemplate", "spec", "tasks", "*", "template"),),
    Kind("batch.volcano.sh", "Job"): (("spec", "tasks", "*", "template"),),
    Kind("flow.volcano.sh", "JobTemplate"): (("spec", "tasks", "*", "template"),),
    Kind("kubeflow.org", "PaddleJob"): (("spec", "paddleReplicaSpecs", "*", "template"),),
}


def templates(body: Mapping[str, Any]) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    """Every pod template of an object and its path; a Pod is its own template."""
    for pattern in POD_TEMPLATES.get(Kind.of(body), ()):
        yield from _matches(body, pattern, ())


def _matches(
    value: object, pattern: tuple[str, ...], path: FieldPath
) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    if not pattern:
        if isinstance(value, Mapping):
            yield path, value
        return
    head, *rest = pattern
    if head != "*":
        if isinstance(value, Mapping) and head in value:
            yield from _matches(value[head], tuple(rest), (*path, head))
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _matches(member, tuple(rest), (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _matches(member, tuple(rest), (*path, index))
