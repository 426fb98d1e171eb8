"""What a cluster needs before its first job: CRDs, the operator, namespaces, as its profile lists them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec import UnsetType

from paddlegen import schema
from paddlegen.model.output import PLATFORM, Manifest, Violation
from paddlegen.resources import namespaces, operator
from paddlegen.schema import crd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.report import FieldPath

PADDLE_JOB: Final = ("batch.paddlepaddle.org/v1", "PaddleJob")

CLIENT_SIDE_LIMIT: Final = 262_144
"""Bytes that the annotations of an object may have; `kubectl apply` puts the whole object into one."""

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"


def parts(cluster: Cluster) -> list[str]:
    """What the profile lists, in its own order."""
    listed = cluster.body.platform
    return [] if isinstance(listed, UnsetType) else list(listed)


def build(cluster: Cluster) -> Iterator[Manifest | Violation]:
    """The objects the profile lists, or why they cannot be."""
    listed = parts(cluster)
    if "crds" in listed:
        yield _crd(cluster)
    yield from _namespaces(cluster)
    if "operator" in listed:
        yield from operator.build(cluster)


def origin(kind: str) -> FieldPath:
    """The place in the profile that decides what an object of a kind looks like."""
    if kind == "Namespace":
        return ("spec", "namespaces")
    return ("spec", "platform") if kind == crd.KIND else ("spec", "paddleOperator")


def fitted(body: dict[str, Any]) -> dict[str, Any]:
    """The object, with the option that has Argo CD apply it server-side where the client side has no room."""
    if not is_large(body):
        return body
    metadata = body["metadata"]
    annotations = {**(metadata.get("annotations") or {}), SYNC_OPTIONS: "ServerSideApply=true"}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def is_large(body: dict[str, Any]) -> bool:
    """Whether `kubectl apply` would exceed the limit with the annotation it writes."""
    own = (body["metadata"].get("annotations") or {}).items()
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n"
    taken = sum(len(part.encode()) for pair in own for part in pair)
    return taken + len(_LAST_APPLIED) + len(text.encode()) > CLIENT_SIDE_LIMIT


def _crd(cluster: Cluster) -> Manifest | Violation:
    if violation := operator.flavour_violation(cluster):
        return violation
    return Manifest(fitted(crd.definition(schema.profile_of(cluster), *PADDLE_JOB)), PLATFORM)


def _namespaces(cluster: Cluster) -> Iterator[Manifest | Violation]:
    listed, body = parts(cluster), cluster.body
    named = [] if isinstance(body.namespaces, UnsetType) else body.namespaces
    known = {one.name: namespaces.labels_of(one) for one in named}
    home = body.paddle_operator.namespace
    if "namespaces" in listed and not named:
        message = (
            "platform lists namespaces, and the profile names none; "
            f"write namespaces: [{{name: {body.paddle_operator.watched_namespace or home}}}]"
        )
        at = ("spec", "platform", listed.index("namespaces"))
        yield Violation(at, message, "platform-can-be-rendered", in_profile=True)
    wanted = {name: known[name] for name in known if "namespaces" in listed}
    if "operator" in listed:
        wanted[home] = {**known.get(home, {}), **operator.LABELS}
    for name, labels in sorted(wanted.items()):
        yield Manifest(namespaces.build(name, labels), PLATFORM)
