"""`paddlegen check PATH`: manifests that no spec of ours renders, from files, folders or standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import catalogue, documents, foreign, repository
from paddlegen.errors import UsageError, WorkspaceError
from paddlegen.model.cluster import Cluster, ClusterBody
from paddlegen.model.report import Finding, Location, Report, Severity, report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlegen.cli.session import Session

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json")
CURRENT = Cluster(name="current", body=ClusterBody())
"""The cluster of manifests that are checked without one: current releases, nothing else known."""


def is_foreign(argument: str, root: Path | None) -> bool:
    """Whether an argument of check names manifests rather than a job: a path that is not below jobs/."""
    if argument == STDIN:
        return True
    path = Path(argument)
    if not path.exists():
        return False
    return root is None or not path.resolve().is_relative_to(root / repository.JOBS)


def check(
    paths: Sequence[str], clusters: Sequence[Cluster], opened: Session | None, *, strict: bool
) -> tuple[Report, dict[str, str]]:
    """The report of those manifests, and the texts it may quote."""
    texts: dict[str, str] = {}
    found: list[documents.Document] = []
    findings: list[Finding] = []
    for name, data in _files(paths):
        text, _ = documents.decode(data)
        texts[name] = text
        loaded, problems = documents.loads(data, name)
        found += loaded
        findings += (Finding(p.kind, Severity.ERROR, p.message, Location(name, p.span)) for p in problems)
    listed = opened.config.spec.kinds_without_schema if opened else []
    without = frozenset((kind.api_version, kind.kind) for kind in listed or [])
    counts: dict[str, int] = {}
    for cluster in clusters:
        checked = foreign.check_documents(found, cluster, strict=strict, without_schema=without)
        findings += checked.findings
        counts = checked.counts
    return report(findings, {"files": len(texts), **counts}), texts


def profiles(names: Iterable[str], opened: Session | None) -> list[Cluster]:
    """The clusters to check for; a built-in current one where none is named."""
    wanted = list(names)
    if not wanted:
        return [CURRENT]
    if opened is None:
        message = "--cluster needs a repository whose overlays/ describe it; name one with --root"
        raise UsageError(message)
    return [_profile(name, opened) for name in wanted]


def _profile(name: str, opened: Session) -> Cluster:
    path = f"{repository.OVERLAYS}/{name}/cluster.yaml"
    entry, findings = catalogue.read_cluster(name, path, opened.repository.overlays.get(path))
    if entry is None:
        raise UsageError(findings[0].message)
    return entry.cluster


def _files(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        if path == STDIN:
            yield STDIN, sys.stdin.buffer.read()
            continue
        for name in sorted(_below(Path(path))):
            try:
                yield name, Path(name).read_bytes()
            except OSError as error:
                message = f"{name} cannot be read: {error.strerror}"
                raise WorkspaceError(message) from error


def _below(path: Path) -> Iterator[str]:
    if not path.is_dir():
        yield os.fspath(path)
        return
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield (Path(folder) / name).as_posix()
