"""The repository on disk: its root, its settings, and every file a person writes in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paddlegen import catalogue, documents, specs, tree
from paddlegen.errors import UsageError, WorkspaceError
from paddlegen.model.config import Config
from paddlegen.model.report import Finding, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

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
    findings: tuple[Finding, ...] = ()
    """What is there and is no file that can be read."""

    @property
    def clusters(self) -> list[str]:
        """Every folder of `overlays/` that has a profile, or could only be a cluster without one."""
        folders = {path.split("/")[1] for path in self.overlays if path.count("/") > 1}
        profiled = {
            parts[1]
            for parts in (path.split("/") for path in self.overlays)
            if parts[2:] == ["cluster.yaml"]  # overlays/<cluster>/cluster.yaml
        }
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
    message = (
        f"{start} is in no paddlegen repository (no paddlegen.yaml, no jobs/ and overlays/); "
        "run `paddlegen init`, or name one with --root"
    )
    raise UsageError(message)


def read(root: Path) -> Repository:
    """Read every file a person writes.

    Raises:
        WorkspaceError: a file cannot be read, or a folder lacks whose manifests are there.
    """
    for folder in (JOBS, OVERLAYS):
        _refuse_lack(root, folder)
    findings: list[Finding] = []
    try:
        config = (root / CONFIG).read_bytes() if (root / CONFIG).exists() else None
        jobs = {
            path: data for path, data in _files(root, JOBS, findings) if path.lower().endswith(SPEC_SUFFIXES)
        }
        overlays = dict(_files(root, OVERLAYS, findings))
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}; give yourself permission, or remove it"
        raise WorkspaceError(message) from error
    return Repository(root, config, jobs, overlays, tuple(findings))


def _refuse_lack(root: Path, folder: str) -> None:
    """Refuse a repository that lost a folder: to read it as empty would delete every manifest."""
    if os.path.lexists(root / folder):
        return
    if any(found.owned for found in tree.digests(root, MANIFESTS).values()):
        message = (
            f"there is no {folder}/ in {root}, and {MANIFESTS}/ holds what was rendered from it; "
            f"bring {folder}/ back, or make an empty one to have them deleted"
        )
        raise WorkspaceError(message)


def config(repository: Repository) -> tuple[Config, list[Finding]]:
    """The repository's settings, and what is wrong with them; defaults where there is no file."""
    default = Config(api_version="paddlegen.dev/v1", kind="Config")
    if repository.config is None:
        return default, []
    loaded, problems = documents.loads(repository.config, CONFIG)
    findings = [Finding(p.kind, Severity.ERROR, p.message, Location(CONFIG, p.span)) for p in problems]
    if not loaded or findings:
        return default, findings
    if len(loaded) > 1:
        message = f"the settings are one document; this file has {len(loaded)}: remove the others"
        at = Location(CONFIG, documents.span(loaded[1], ()))
        return default, [Finding("settings-are-one-document", Severity.ERROR, message, at)]
    parsed = specs.parse(loaded[0], Config)
    findings += [catalogue.finding(violation, loaded[0], violation.path) for violation in parsed.violations]
    return parsed.value or default, findings


def _files(root: Path, top: str, findings: list[Finding]) -> Iterator[tuple[str, bytes]]:
    """Files below a folder, hidden ones left out, sorted by path.

    What is there and cannot be read as a file is told: to leave a job out without a word would delete
    its manifests.
    """
    base = os.fspath(root)
    if os.path.realpath(os.path.join(base, top)) != os.path.join(os.path.realpath(base), top):
        findings.append(_odd(top, f"{top} is a symlink; put the folder there"))
        return
    for path in sorted(_paths(base, os.path.join(base, top), top, findings)):
        full = os.path.join(base, path)
        if os.path.getsize(full) > documents.MAX_BYTES:
            message = (
                f"the file is {os.path.getsize(full)} bytes long; at most {documents.MAX_BYTES} are read"
            )
            findings.append(Finding(documents.LIMITS, Severity.ERROR, message, Location(path)))
            continue
        with open(full, "rb") as file:
            yield path, file.read()


def _paths(base: str, folder: str, name: str, findings: list[Finding]) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        findings.append(_odd(name, f"{name} is a file; it needs to be a folder"))
        return
    for entry in entries:
        path = f"{name}/{entry.name}"
        if entry.name.startswith("."):
            continue
        if fault := _bad_name(entry.name) or _bad_entry(base, entry):
            findings.append(_odd(path, f"{entry.name} {fault}"))
        elif entry.is_dir(follow_symlinks=False):
            yield from _paths(base, entry.path, path, findings)
        else:
            yield path


def _odd(path: str, message: str) -> Finding:
    shown = path.encode(errors="surrogateescape").decode(errors="replace")
    message = message.encode(errors="surrogateescape").decode(errors="replace")
    return Finding("files-are-plain", Severity.ERROR, message, Location(shown))


def _bad_name(name: str) -> str:
    """Why a file cannot be called so, or nothing."""
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "is a name in another encoding than UTF-8; rename it"
    if any(not character.isprintable() for character in name):
        return "has a control character in its name; rename it"
    return ""


def _bad_entry(base: str, entry: os.DirEntry[str]) -> str:
    """Why an entry is no file and no folder that can be read, or nothing."""
    if entry.is_symlink():
        try:
            target = os.path.realpath(entry.path, strict=True)
        except FileNotFoundError:
            return "is a symlink that leads nowhere; remove it, or put the file there"
        except OSError:  # ELOOP
            return "is a symlink that leads to itself; remove it"
        if not (target + os.sep).startswith(os.path.realpath(base) + os.sep):
            return "is a symlink that leads out of the repository; put a copy there"
        if os.path.isdir(target):
            return "is a symlink to a folder; put the files there, or link them one by one"
    if entry.is_dir() or entry.is_file():
        return ""
    return "is no regular file; remove it"
