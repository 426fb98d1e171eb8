"""The built-in policies, discovered: one module each, the file's name is the policy's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlegen.model.policy import Policy


@cache
def policies() -> dict[str, Policy]:
    """Every built-in policy by name."""
    from paddlegen.model.policy import Policy
    from paddlegen.registry import discover

    return discover("paddlegen.policies", "policy", Policy)
