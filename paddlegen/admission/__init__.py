"""What servers refuse although every schema accepts it: one module per gatekeeper, discovered."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from paddlegen.admission._templates import POD_TEMPLATES
from paddlegen.model.admission import ANY, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.admission import Admission
    from paddlegen.model.policy import Breach, View
    from paddlegen.model.report import Severity

INDEX: dict[str, tuple[Kind, ...]] = {
    "kubeflow-paddlejob": (Kind("kubeflow.org", "PaddleJob"),),
    "kubernetes-names": (ANY,),
    "kubernetes-pod": tuple(POD_TEMPLATES),
    "kubernetes-storage": (Kind("", "PersistentVolume"), Kind("", "PersistentVolumeClaim")),
    "kubernetes-workload": (Kind("batch", "Job"),),
    "volcano-job": (Kind("batch.volcano.sh", "Job"),),
    "volcano-jobflow": (Kind("flow.volcano.sh", "JobFlow"),),
    "volcano-podgroup": (Kind("scheduling.volcano.sh", "PodGroup"),),
    "volcano-queue": (Kind("scheduling.volcano.sh", "Queue"),),
}
"""Which kinds each admission looks at: known without importing it, and compared with it by a test."""


@cache
def admissions() -> dict[str, Admission]:
    """Every admission by name."""
    from paddlegen.model.admission import Admission
    from paddlegen.registry import discover

    return discover("paddlegen.admission", "admission", Admission)


def check(body: Mapping[str, Any], view: View) -> Iterator[tuple[str, Severity, Breach]]:
    """What the servers of the cluster would refuse about one object: rule, severity and breach.

    Only the admissions of the object's kind are imported.
    """
    for name in _concerned(Kind.of(body)):
        admission = _load(name)
        severities = _severities(name)
        for breach in admission.check(body, view):
            yield breach.rule, severities[breach.rule], breach


@cache
def _concerned(kind: Kind) -> tuple[str, ...]:
    return tuple(name for name, kinds in INDEX.items() if kind in kinds or ANY in kinds)


@cache
def _load(name: str) -> Admission:
    from paddlegen.model.admission import Admission
    from paddlegen.registry import load

    return load("paddlegen.admission", name, "admission", Admission)


@cache
def _severities(name: str) -> dict[str, Severity]:
    return {rule.name: rule.severity for rule in _load(name).rules}
