"""A job as one cluster sees it: templates merged, overrides applied, every role complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.model.job import JobBody, Labels, Mount, Role, StorageBody


@dataclass(frozen=True, slots=True)
class Storage:
    """A StorageSpec that a job may `use`."""

    name: str
    namespace: str
    labels: Labels
    annotations: Labels
    body: StorageBody


@dataclass(frozen=True, slots=True)
class RoleOfJob:
    """A role with everything the job says for all roles already in it."""

    name: str
    replicas: int
    fields: Role

    @property
    def mounts(self) -> list[Mount]:
        """What the role mounts, in order."""
        return self.fields.storage or []


@dataclass(frozen=True, slots=True)
class Job:
    """A resolved job.

    `roles` keeps the order ps, worker, heter.  `storage` holds the StorageSpecs of the job's
    namespace by name.
    """

    name: str
    namespace: str
    labels: Labels
    annotations: Labels
    body: JobBody
    roles: Mapping[str, RoleOfJob]
    storage: Mapping[str, Storage]

    @property
    def replicas(self) -> int:
        """The pods of all roles together."""
        return sum(role.replicas for role in self.roles.values())

    @property
    def mode(self) -> str:
        """`ps`, `collective` or `single`, as the operator decides (facts: paddle_operators 2.1)."""
        if "ps" in self.roles:
            return "ps"
        return "collective" if self.roles["worker"].replicas > 1 else "single"
