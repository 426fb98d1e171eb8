"""The queues of a cluster, as far as its profile and the objects rendered with it tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UnsetType

from paddlegen.admission import _versions
from paddlegen.admission._read import mapping, name_of, text
from paddlegen.model.admission import Kind
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from paddlegen.model.report import FieldPath

QUEUE = Kind("scheduling.volcano.sh", "Queue")
BUILT_IN = frozenset({"default", "root"})


def rendered_queues(view: View) -> dict[str, Mapping[str, Any]]:
    """The Queue objects among the objects, by name."""
    return {name_of(body): body for body in view.objects if Kind.of(body) == QUEUE}


def queue_names(view: View) -> frozenset[str] | None:
    """Every queue there is, or None where the profile does not list them."""
    listed = view.cluster.body.queues
    if isinstance(listed, UnsetType):
        return None
    return BUILT_IN | {queue.name for queue in listed} | rendered_queues(view).keys()


def queue_breaches(queue: str, path: FieldPath, view: View, owner: str) -> Iterator[Breach]:
    """What is wrong with the queue that a `volcano-job` or `volcano-podgroup` names; "" is `default`."""
    known = queue_names(view)
    if queue and known is not None and queue not in known:
        what = "unable to find job queue" if owner == "volcano-job" else "unable to find queue"
        message = f"{what}: {queue}; {view.cluster.name} has {', '.join(sorted(known - {'root'}))}"
        yield Breach(path, message, rule=f"{owner}-queue-exists")
    if owner != "volcano-job" or _versions.volcano(view.cluster) < (1, 9, 0):
        return
    if queue == "root":
        message = "can not submit job to root queue; name one of its children"
        yield Breach(path, message, rule="volcano-job-queue-takes-jobs")
    elif children := sorted(
        name
        for name, body in rendered_queues(view).items()
        if text(mapping(body.get("spec")).get("parent")) == (queue or "default")
    ):
        message = (
            f"can only submit job to leaf queue, queue `{queue or 'default'}` has {len(children)} "
            f"child queues; name one of {', '.join(children)}"
        )
        yield Breach(path if queue else ("spec",), message, rule="volcano-job-queue-takes-jobs")
