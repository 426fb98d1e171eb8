"""The targets, discovered: one module each, the file's name is the target's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlegen.model.target import Target


@cache
def targets() -> dict[str, Target]:
    """Every target by name."""
    from paddlegen.model.target import Target
    from paddlegen.registry import discover

    return discover("paddlegen.targets", "target", Target)
