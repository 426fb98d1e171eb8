"""A rendering: which part is wanted, what each unit became, what came of it all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from paddlegen.model.report import Severity

if TYPE_CHECKING:
    from collections.abc import Collection

    from paddlegen.model.report import Finding


@dataclass(frozen=True, slots=True)
class Rendered:
    """A file of the rendered tree.  `text` is None where the disk is known to hold it already."""

    digest: str
    text: str | None
    source: str


@dataclass(slots=True)
class Rendering:
    """What the repository's specs mean now.

    `files` are all files of `manifests/` by path below it, `folders` the folders they own; with an
    error among the findings they are incomplete and must not be written.
    """

    files: dict[str, Rendered] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    jobs: int = 0
    clusters: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """The names of the jobs that were looked at, filled where only some were wanted."""
    selected: set[str] = field(default_factory=set)
    """What of a selection stood for a job."""
    coverage: Counter[str] = field(default_factory=Counter)
    """How many objects the schemas know, and how well (`schema.coverage`)."""
    platforms: list[str] = field(default_factory=list)
    """The clusters whose profile lists what they need before any job."""

    @property
    def counts(self) -> dict[str, int]:
        """What was looked at, every object accounted for."""
        return {
            "jobs": self.jobs,
            "clusters": len(self.clusters),
            "objects": len(self.files),
            "validated": self.coverage["validated"],
            "policy-only": self.coverage["policy-only"],
            "without schema": self.coverage["no-schema"],
        }

    @property
    def is_complete(self) -> bool:
        """Whether the tree can be written."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the repository is wanted; empty means all of it."""

    clusters: Collection[str] = ()
    jobs: Collection[str] = ()
    """Names, namespace/names, or paths of job specs."""
    only_platform: bool = False
    """Leave out all that is not in `_platform`."""

    def has_job(self, path: str, namespace: str, name: str) -> bool:
        """Whether a job is wanted."""
        return not self.jobs or bool(self.matching(path, namespace, name))

    def matching(self, path: str, namespace: str, name: str) -> set[str]:
        """What of it stands for a job."""
        return {path, name, f"{namespace}/{name}"} & set(self.jobs)


class Made(msgspec.Struct, frozen=True, array_like=True):
    """What a unit became: enough to compare with the disk and with other units."""

    cluster: str
    namespace: str
    name: str
    is_job: bool
    document: int
    files: list[tuple[str, str, str]]
    """Path below `manifests/`, sha256 of the content, and the object's name in words."""
    patches: list[str]
    coverage: dict[str, int] = {}
    """How many of its objects the schemas know, and how well (`schema.coverage`)."""


class Known(msgspec.Struct, array_like=True):
    """What a job file led to: complete once all its units are made."""

    jobs: int
    units: int
    made: list[Made] = []
