"""What Volcano's podgroup webhook refuses: at creation only, so a change is never an error.

Whether minMember fits anything is no question of the webhook's; `gang-size-matches-replicas` asks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _versions
from paddlegen.admission._read import mapping, members, text
from paddlegen.admission._volcano_parts import one_tier
from paddlegen.admission._volcano_queues import queue_breaches
from paddlegen.model.admission import Admission, Kind, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.policy import Breach, View

TIER = "volcano-podgroup-names-one-tier"
TIERS_SINCE, SUB_GROUPS_SINCE = (1, 12), (1, 14)


def check(group: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the webhook refuses; beside an old object only what kept that from being created."""
    if view.old is None:
        yield from _created(group, view)
        return
    before = {(breach.rule, breach.path) for breach in _created(view.old, view)}
    yield from (breach for breach in _created(group, view) if (breach.rule, breach.path) in before)


def _created(group: Mapping[str, Any], view: View) -> Iterator[Breach]:
    if _versions.volcano_looks_away(group, view.cluster):
        return
    spec = mapping(group.get("spec"))
    if queue := text(spec.get("queue")):
        yield from queue_breaches(queue, ("spec", "queue"), view, "volcano-podgroup")
    release = _versions.volcano(view.cluster)
    if release >= TIERS_SINCE:
        yield from one_tier(spec, ("spec",), TIER)
    if release >= SUB_GROUPS_SINCE:
        for index, policy in members(spec.get("subGroupPolicy")):
            yield from one_tier(policy, ("spec", "subGroupPolicy", index), TIER)


admission = Admission(
    name="volcano-podgroup",
    doc=__doc__,
    kinds=(Kind("scheduling.volcano.sh", "PodGroup"),),
    rules=(
        Rule(
            "volcano-podgroup-queue-exists",
            "The queue is one of the cluster's, where its profile lists them.",
        ),
        Rule(TIER, "networkTopology has highestTierAllowed or highestTierName, not both (from 1.12)."),
    ),
    check=check,
    source=(
        "volcano-sh/volcano ed72c7c8 pkg/webhooks/admission/podgroups/validate/validate_podgroup.go:92-136 "
        "(facts: volcano_argocd 2.3)"
    ),
)
