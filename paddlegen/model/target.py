"""A target: the API a job is rendered for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlegen.model.cluster import Cluster
    from paddlegen.model.output import Output
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Job

ContainerPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """One controller's API.

    `build(job, cluster)` yields manifests and violations; a job with an error violation is not
    rendered.  `containers` are the places where the target's kinds keep containers, `*` standing
    for any key or index.  `origins(kind, path)` names the paths of the resolved spec that a
    manifest's path can have been built from, likeliest first.
    """

    name: str
    doc: str
    kind: str
    api_version: str
    containers: tuple[ContainerPath, ...]
    build: Callable[[Job, Cluster], Iterator[Output]]
    origins: Callable[[str, FieldPath], Iterable[FieldPath]]
