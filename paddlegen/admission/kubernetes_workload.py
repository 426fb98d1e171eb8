"""What the API server refuses to change in a batch/v1 Job: its pods, its selector, its completions.

While a Job is suspended the server lets Kueue and its like change the pods, so that is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddlegen.admission._changes import changes
from paddlegen.admission._read import amount, mapping
from paddlegen.model.admission import Admission, Kind, Rule
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Iterator

ELASTIC_SINCE = (1, 27)
"""From here on an Indexed Job may change its completions together with its parallelism."""


DEFAULTS: dict[str, tuple[object, ...]] = {
    "apiVersion": ("v1",),
    "defaultMode": (420,),
    "dnsPolicy": ("ClusterFirst",),
    "failureThreshold": (3,),
    # Which one it is depends on the image's tag.
    "imagePullPolicy": ("Always", "IfNotPresent"),
    "periodSeconds": (10,),
    "protocol": ("TCP",),
    "schedulerName": ("default-scheduler",),
    "scheme": ("HTTP",),
    "successThreshold": (1,),
    "terminationGracePeriodSeconds": (30,),
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File",),
    "timeoutSeconds": (1,),
}
"""What the server fills into a pod template."""


def check(job: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Every frozen field of a Job that differs from the old one's."""
    if view.old is None:
        return
    old, new = mapping(view.old.get("spec")), mapping(job.get("spec"))
    frozen = ["selector", "completionMode", "template", "completions"]
    if old.get("suspend") is True or new.get("suspend") is True:
        frozen.remove("template")
    if new.get("completionMode") == "Indexed" and view.cluster.kubernetes >= ELASTIC_SINCE:
        frozen.remove("completions")
    for field in frozen:
        if field == "completionMode" and all(each.get(field) in (None, "NonIndexed") for each in (old, new)):
            continue
        for path in dict.fromkeys(changes(_plain(old.get(field)), _plain(new.get(field)), ("spec", field))):
            message = f"{field}: field is immutable; give the changed Job a name of its own"
            yield Breach(path if field in new else ("spec",), message, rule="job-template-stays")


def _plain(value: object) -> object:
    """Without what the server would fill in: to write it, or to leave it away, is no change."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    plain = {key: _plain(each) for key, each in value.items() if each not in DEFAULTS.get(key, ())}
    requests, limits = mapping(value.get("requests")), mapping(value.get("limits"))
    if requests and limits:
        plain["requests"] = {
            key: each for key, each in requests.items() if amount(each) != amount(limits.get(key, ""))
        }
    return plain


admission = Admission(
    name="kubernetes-workload",
    doc=__doc__,
    kinds=(Kind("batch", "Job"),),
    rules=(Rule("job-template-stays", "A Job's pods, selector and completions do not change."),),
    check=check,
    source="Kubernetes 1.11 to 1.37 pkg/apis/batch/validation/validation.go; facts: volcano_argocd 5.b.4",
)
