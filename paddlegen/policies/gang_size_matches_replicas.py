"""A PodGroup has room for exactly the pods of its job.

With a larger minMember the gang never starts; with a smaller one part of the pods start, wait for
addresses that never come, and hold their GPUs while they wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.model.output import object_ref
from paddlegen.model.policy import Breach, Policy, View
from paddlegen.model.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROLES = ("ps", "worker", "heter")


def check(podgroup: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Compare a PodGroup with the PaddleJob of its name."""
    if podgroup["kind"] != "PodGroup":
        return
    ref = object_ref(podgroup)
    for job in view.objects:
        other = object_ref(job)
        if other.kind != "PaddleJob" or (other.namespace, other.name) != (ref.namespace, ref.name):
            continue
        counts = _counts(job)
        if counts is None:
            continue
        total, size = sum(counts.values()), _mapping(podgroup.get("spec")).get("minMember")
        if size != total:
            shown = " + ".join(f"{role} {count}" for role, count in counts.items())
            related = tuple((other, ("spec", role, "replicas")) for role in counts)
            yield Breach(
                ("spec", "minMember"), f"minMember is {size}; the job has {total} pods ({shown})", related
            )


def _counts(job: Mapping[str, Any]) -> dict[str, int] | None:
    """The pods of each role; None where a patch wrote something else: that is for the schema to say."""
    spec = _mapping(job.get("spec"))
    counts = {role: _mapping(spec[role]).get("replicas") for role in ROLES if role in spec}
    known = {role: count for role, count in counts.items() if isinstance(count, int)}
    return known if known and len(known) == len(counts) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


policy = Policy(
    name="gang-size-matches-replicas",
    doc=__doc__,
    severity=Severity.ERROR,
    remediation="Change replicas under overrides in the job spec, so that every count follows.",
    source="PaddleFlow/paddle-operator 0.3.5 controllers/paddlejob_helper.go:500-505 (L-PO-64, L-PO-65)",
    check=check,
)
