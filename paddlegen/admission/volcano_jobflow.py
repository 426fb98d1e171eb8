"""What Volcano's jobflow webhook refuses: warnings, as no default installation runs it.

Without the webhook a flow that waits for itself, or for a flow that is not there, waits for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission._read import mapping, members, text, texts
from paddlegen.admission._volcano_parts import cyclic
from paddlegen.model.admission import Admission, Kind, Rule
from paddlegen.model.policy import Breach, View
from paddlegen.model.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULE = "volcano-jobflow-is-acyclic"


def check(flow: Mapping[str, Any], _view: View) -> Iterator[Breach]:
    """Targets that are no flow, and flows that wait for themselves."""
    flows = list(members(mapping(flow.get("spec")).get("flows")))
    waits = {
        text(each.get("name")): [name for _, name in texts(mapping(each.get("dependsOn")).get("targets"))]
        for _, each in flows
    }
    stuck = cyclic(waits)
    for index, each in flows:
        path = ("spec", "flows", index, "dependsOn", "targets")
        for place, target in texts(mapping(each.get("dependsOn")).get("targets")):
            if target not in waits:
                message = (
                    f"jobflow Flow is not DAG: vertex is not defined; no flow is named {target!r}, "
                    f"the flows are {', '.join(waits)}"
                )
                yield Breach((*path, place), message, rule=RULE)
        if (name := text(each.get("name"))) in stuck:
            message = f"jobflow Flow is not DAG; {name} waits for itself by way of {', '.join(stuck)}"
            yield Breach(path if waits[name] else path[:3], message, rule=RULE)


admission = Admission(
    name="volcano-jobflow",
    doc=__doc__,
    kinds=(Kind("flow.volcano.sh", "JobFlow"),),
    rules=(Rule(RULE, "Flows depend on flows that exist and never on themselves.", Severity.WARNING),),
    check=check,
    source="volcano-sh/volcano ed72c7c8 installer/helm/chart/volcano/policy (facts: volcano_argocd 1.3)",
)
