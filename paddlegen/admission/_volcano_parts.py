"""Checks that several of Volcano's webhooks make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission._read import mapping, text
from paddlegen.model.policy import Breach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.report import FieldPath

BOTH_TIERS = (
    "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously; "
    "keep one of them"
)


def one_tier(holder: Mapping[str, Any], path: FieldPath, rule: str) -> Iterator[Breach]:
    """The rule that a networkTopology says the highest tier by number or by name, not both."""
    topology = mapping(holder.get("networkTopology"))
    if topology.get("highestTierAllowed") is not None and text(topology.get("highestTierName")):
        yield Breach((*path, "networkTopology", "highestTierName"), BOTH_TIERS, rule=rule)


def cyclic(waits: Mapping[str, list[str]]) -> list[str]:
    """The members of cycles, in order; a name that nothing bears is no cycle."""
    left = {name: {each for each in after if each in waits} for name, after in waits.items()}
    # Away with what waits for nothing, then with what nothing waits for: cycles and what joins them stay.
    while free := [name for name, after in left.items() if not after & left.keys()]:
        for name in free:
            del left[name]
    while ends := [name for name in left if not any(name in after for after in left.values())]:
        for name in ends:
            del left[name]
    return list(left)
