"""A policy: a fact or a decision about objects, and the finding when it does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.output import ObjectRef
    from paddlegen.model.report import FieldPath, Severity


@dataclass(frozen=True, slots=True)
class Breach:
    """A place in the object that breaks the policy, and other places that take part.

    `related` names objects and paths whose values also decide: the finding points at the one that a
    person changed.  `rule` says which rule of an admission is broken; a policy is one rule itself.
    """

    path: FieldPath
    message: str
    related: tuple[tuple[ObjectRef, FieldPath], ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What a policy may look at beside its object: the objects rendered with it, and the cluster.

    `old` is the same object before the change, None where it is new.
    """

    objects: Sequence[Mapping[str, Any]]
    cluster: Cluster
    old: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy.  `name` states what holds when all is well; `doc` says why it matters."""

    name: str
    doc: str
    severity: Severity
    remediation: str
    source: str
    check: Callable[[Mapping[str, Any], View], Iterator[Breach]]
