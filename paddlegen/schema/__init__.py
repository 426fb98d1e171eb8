"""What a cluster's schemas say about an object: which fields it knows, which values fit, offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from paddlegen.model.output import Violation
from paddlegen.schema.profile import CURRENT, Profile, profile_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Coverage = Literal["validated", "policy-only", "no-schema"]

__all__ = ["CURRENT", "Coverage", "Profile", "coverage", "profile_of", "validate"]


def coverage(api_version: str, kind: str) -> Coverage:
    """How well a kind is known: field by field, to rules and policies only, or not at all."""
    from paddlegen.schema.kinds import POLICY_ONLY
    from paddlegen.schema.view import is_listed

    if is_listed(api_version, kind):
        return "validated"
    return "policy-only" if (api_version, kind) in POLICY_ONLY else "no-schema"


def validate(body: Any, profile: Profile) -> Iterator[Violation]:
    """Yield every fault the cluster's schemas find in an object; none in a kind without schema.

    Null stands for "not there", as the API server takes it.
    """
    api_version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    from paddlegen.schema.compiled import is_valid
    from paddlegen.schema.view import view

    seen = view(profile, api_version, kind)
    if seen is None:
        return
    if seen.absent:
        yield Violation(("apiVersion",), seen.absent, "kind-served-by-cluster")
        return
    if not is_valid(profile, api_version, kind, body):
        from paddlegen.schema.explain import explain

        yield from explain(seen, body)
