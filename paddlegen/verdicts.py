"""Everything there is to say about one finished object: its schemas, its servers, the policies.

One mistake is told once: what a schema refuses at a place, a server need not refuse again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddlegen import admission, schema
from paddlegen.policies import policies
from paddlegen.schema.explain import KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.output import ObjectRef
    from paddlegen.model.policy import View
    from paddlegen.model.report import FieldPath, Severity
    from paddlegen.schema import Profile


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule that an object breaks, and where; `related` as in `Breach`."""

    rule: str
    severity: Severity
    path: FieldPath
    message: str
    related: tuple[tuple[ObjectRef, FieldPath], ...] = ()
    remediation: str = ""


def verdicts(body: Mapping[str, Any], view: View, profile: Profile) -> Iterator[Verdict]:
    """What a cluster would say about an object, and what the policies say beyond that.

    Policies expect an object of the right shape: they are asked only about one whose schema finds
    no worse than fields it does not know.
    """
    faults = list(schema.validate(body, profile))
    for fault in faults:
        yield Verdict(fault.rule, fault.severity, fault.path, fault.message, (), fault.remediation)
    told = {fault.path for fault in faults}
    for rule, severity, breach in admission.check(body, view):
        if breach.path not in told:
            yield Verdict(rule, severity, breach.path, breach.message, breach.related)
    if any(fault.rule != KNOWN for fault in faults):
        return
    for policy in policies().values():
        for breach in policy.check(body, view):
            yield Verdict(
                policy.name, policy.severity, breach.path, breach.message, breach.related, policy.remediation
            )
