"""The repository on disk: its root, its settings, and every file a person writes in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import catalogue, documents, specs
from paddlegen.errors import UsageError, WorkspaceError
from paddlegen.model.config import Config
from paddlegen.model.report import Finding, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CONFIG = "paddlegen.yaml"
JOBS, OVERLAYS, MANIFESTS = "jobs", "overlays", "manifests"
SPEC_SUFFIXES = (".yaml", ".yml")
COMPONENTS = ("v1", "v1beta1")
"""Folders of `overlays/` that hold a kustomize Component and no cluster."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The files people write, by their path relative to the root, in a fixed order."""

    root: Path
    config: bytes | None
    jobs: Mapping[str, bytes]
    overlays: Mapping[str, bytes]

    @property
    def clusters(self) -> list[str]:
        """Every folder of `overlays/` that has a profile, or could only be a cluster without one."""
        folders = {path.split("/")[1] for path in self.overlays if path.count("/") > 1}
        profiled = {
            path.split("/")[1]
            for path in self.overlays
            if path.count("/") == 2 and path.endswith("/cluster.yaml")
        }  # overlays/<cluster>/cluster.yaml
        kustomized = {name for name in folders - profiled if not self._is_component(name)}
        return sorted(profiled | kustomized)

    def _is_component(self, name: str) -> bool:
        texts = [
            data
            for path, data in self.overlays.items()
            if path.startswith(f"{OVERLAYS}/{name}/kustomization.")
        ]
        return name in COMPONENTS or not texts or any(b"kind: Component" in text for text in texts)


def find_root(start: Path, chosen: Path | None = None) -> Path:
    """The repository's root: the one chosen, else the nearest parent that looks like one.

    A root has a paddlegen.yaml, or both `jobs/` and `overlays/`.  The search ends at the root of the
    version control.

    Raises:
        UsageError: there is none.
    """
    if chosen is not None:
        if not chosen.is_dir():
            message = f"--root {chosen} is no directory"
            raise UsageError(message)
        return chosen.resolve()
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / CONFIG).is_file() or ((folder / JOBS).is_dir() and (folder / OVERLAYS).is_dir()):
            return folder
        if (folder / ".git").exists():
            break
    message = f"{start} is in no paddlegen repository (no paddlegen.yaml, no jobs/ and overlays/); run `paddlegen init`, or name one with --root"
    raise UsageError(message)


def read(root: Path) -> Repository:
    """Read every file a person writes.

    Raises:
        WorkspaceError: a file cannot be read.
    """
    try:
        config = (root / CONFIG).read_bytes() if (root / CONFIG).exists() else None
        jobs = {path: data for path, data in _files(root, JOBS) if path.endswith(SPEC_SUFFIXES)}
        overlays = dict(_files(root, OVERLAYS))
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise WorkspaceError(message) from error
    return Repository(root, config, jobs, overlays)


def config(repository: Repository) -> tuple[Config, list[Finding]]:
    """The repository's settings, and what is wrong with them; defaults where there is no file."""
    default = Config(api_version="paddlegen.dev/v1", kind="Config")
    if repository.config is None:
        return default, []
    loaded, problems = documents.loads(repository.config, CONFIG)
    findings = [Finding(p.kind, Severity.ERROR, p.message, Location(CONFIG, p.span)) for p in problems]
    if not loaded or findings:
        return default, findings
    parsed = specs.parse(loaded[0], Config)
    findings += [catalogue.finding(violation, loaded[0], violation.path) for violation in parsed.violations]
    return parsed.value or default, findings


def _files(root: Path, top: str) -> Iterator[tuple[str, bytes]]:
    """Files below a folder, hidden ones left out, sorted by path; symlinks may not lead outside."""
    base = os.fspath(root)
    for path in sorted(_paths(os.path.join(base, top), top)):  # noqa: PTH118  # a hot loop
        full = os.path.join(base, path)  # noqa: PTH118
        if os.path.islink(full) and not Path(full).resolve().is_relative_to(root):  # noqa: PTH114
            message = f"{path} is a symlink that leads out of the repository; copy the file instead"
            raise WorkspaceError(message)
        with open(full, "rb") as file:  # noqa: PTH123
            yield path, file.read()


def _paths(folder: str, name: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _paths(entry.path, f"{name}/{entry.name}")
        elif entry.is_file():
            yield f"{name}/{entry.name}"
