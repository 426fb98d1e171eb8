"""What render, check and list do first: open the repository, render it in memory."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import engine, hints, kustomize, repository, revision, tree
from paddlegen.cache import Cache, code_identity
from paddlegen.cli import console
from paddlegen.errors import UsageError, WorkspaceError
from paddlegen.repository import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.kustomize import Kustomize
    from paddlegen.model.config import Config
    from paddlegen.model.report import Finding
    from paddlegen.rendering import Rendering, Selection
    from paddlegen.repository import Repository


@dataclass(frozen=True, slots=True)
class Session:
    """An open repository."""

    root: Path
    repository: Repository
    config: Config
    findings: tuple[Finding, ...]
    """What is wrong with paddlegen.yaml, and what cannot be read at all."""

    def kustomize(self) -> Kustomize:
        """The kustomize that builds here."""
        chosen = self.config.spec.kustomize
        return kustomize.find(os.fspath(self.root / chosen) if chosen else None)


def open_session(root: Path | None) -> Session:
    """Open the repository around the working directory, or the one that was named."""
    home = repository.find_root(Path.cwd(), root)
    opened = repository.read(home)
    config, findings = repository.config(opened)
    return Session(home, opened, config, (*opened.findings, *findings))


def on_disk(session: Session) -> dict[str, tree.Found]:
    """What is below `manifests/`."""
    return tree.digests(session.root, MANIFESTS)


def render(
    session: Session,
    disk: Mapping[str, tree.Found],
    selection: Selection,
    *,
    label: str,
    use_cache: bool = True,
    base: str | None = None,
) -> Rendering:
    """Render in memory, with progress on a terminal; `base` is a revision to compare with."""
    committed = revision.files(session.root, base, MANIFESTS) if base else {}
    # Many small objects that stay: the collector would walk them again and again.
    gc.set_threshold(50_000, 20, 50)
    cache = Cache(session.root if use_cache else None)
    try:
        with console.Progress(label) as progress:
            inputs = engine.Inputs(
                session.repository,
                session.kustomize,
                cache,
                {path: found.digest for path, found in disk.items() if found.kind == "file"},
                code_identity(),
                selection,
                progress.update,
                committed,
            )
            result = engine.render(inputs)
    finally:
        cache.close()
    result.findings += session.findings
    _refuse_unknown_jobs(selection, result)
    return result


def _refuse_unknown_jobs(selection: Selection, result: Rendering) -> None:
    """A name that matches nothing is a slip of the keyboard; where a spec is broken, it may be that one's."""
    unknown = sorted(set(selection.jobs) - result.selected)
    if unknown and not result.findings:
        hint = hints.closest(unknown[0], sorted(result.names))
        message = f"there is no job {', '.join(unknown)} below jobs/{hint}"
        raise UsageError(message)


def rendered_texts(result: Rendering) -> dict[str, str]:
    """The manifests that differ from what is committed, by path: a finding quotes what would be written."""
    return {f"{MANIFESTS}/{path}": one.text for path, one in result.files.items() if one.text is not None}


def read_manifest(session: Session, path: str) -> str | None:
    """The text of a file below `manifests/`; None if it cannot be read as text."""
    try:
        return (session.root / MANIFESTS / path).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


__all__ = ["Session", "WorkspaceError", "on_disk", "open_session", "read_manifest", "render"]
