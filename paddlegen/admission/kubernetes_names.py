"""What the API server refuses about the names, labels and annotations of any object.

A kind whose form of names is not known here is passed over: built-in groups have forms of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _metadata, _names
from paddlegen.admission._read import mapping, text
from paddlegen.model.admission import ANY, Admission, Kind, Rule
from paddlegen.model.policy import Breach, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

CRON_JOB_SIZE = 52
RELAXED_SERVICES = (1, 34)
"""From here on a cluster may let a Service's name start with a digit (feature gate)."""

RBAC = frozenset({"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"})
BUILT_IN = frozenset({"", "apps", "batch", "extensions", "autoscaling", "policy"})

_LOCAL = ("config.k8s.io", "kustomize.config.k8s.io", "paddlegen.dev")
"""Groups of files that no server is sent."""


def check(body: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the server would refuse about an object's metadata."""
    kind = Kind.of(body)
    if not kind.name or not body.get("apiVersion") or kind.group in _LOCAL or kind.name.endswith("List"):
        return
    yield from _metadata.metadata_breaches(body, ())
    metadata, rule = mapping(body.get("metadata")), "object-names-are-well-formed"
    name, prefix = text(metadata.get("name")), text(metadata.get("generateName"))
    wish = _wish(kind, view.cluster.kubernetes)
    if not name and not prefix and wish is not _anything:
        place = ("metadata",) if "metadata" in body else ()
        yield Breach(place, "name: Required value: name or generateName is required", rule=rule)
    if name and (wrong := wish(name)):
        yield Breach(("metadata", "name"), f"name {name!r}: {wrong}", rule=rule)
    # The server puts five letters and digits behind the prefix.
    if prefix and not name and (wrong := wish(prefix + "x" if prefix.endswith("-") else prefix)):
        yield Breach(("metadata", "generateName"), f"generateName {prefix!r}: {wrong}", rule=rule)
    if (namespace := text(metadata.get("namespace"))) and (wrong := _names.label(namespace)):
        yield Breach(("metadata", "namespace"), f"namespace {namespace!r}: {wrong}", rule=rule)


def _wish(kind: Kind, kubernetes: tuple[int, int]) -> Callable[[str], str]:
    match kind:
        case Kind("", "Namespace"):
            return _names.label
        case Kind("", "Service"):
            return _names.label if kubernetes >= RELAXED_SERVICES else _names.label_1035
        case Kind("batch", "CronJob"):
            return _cron_job
        case Kind("rbac.authorization.k8s.io", name) if name in RBAC:
            return _names.path_segment
        case Kind(group, _) if group in BUILT_IN or not _is_built_in(group):
            return _names.subdomain
    return _anything


def _is_built_in(group: str) -> bool:
    return "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))


def _cron_job(name: str) -> str:
    if len(name) > CRON_JOB_SIZE:
        return f"must be no more than {CRON_JOB_SIZE} characters, it has {len(name)}"
    return _names.subdomain(name)


def _anything(_name: str) -> str:
    return ""


admission = Admission(
    name="kubernetes-names",
    doc=__doc__,
    kinds=(ANY,),
    rules=(
        Rule(
            "object-names-are-well-formed",
            "Objects are named as their kind wants it, namespaces by a DNS label.",
        ),
        *_metadata.RULES,
    ),
    check=check,
    source=(
        "Kubernetes 1.11 to 1.37 staging/src/k8s.io/apimachinery/pkg/api/validation/{objectmeta,generic}.go, "
        "pkg/apis/{core,batch,rbac}/validation/validation.go"
    ),
)
