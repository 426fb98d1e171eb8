"""`paddlegen doctor`: whether machine and repository are ready, and what to do where they are not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import kustomize, repository, scaffold
from paddlegen._version import __version__
from paddlegen.cache import Cache, key
from paddlegen.cli import console, options
from paddlegen.errors import ExitCode, ToolError, UsageError, WorkspaceError
from paddlegen.lock import STATE_FOLDER, lock
from paddlegen.repository import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.kustomize import Kustomize
    from paddlegen.repository import Repository


class Level(Enum):
    """How well a thing is: its mark, the one for a terminal without such letters, and its colour."""

    GOOD = ("✓", "ok", "32")
    REMARK = ("!", "!", "33")
    PROBLEM = ("✗", "x", "31")


@dataclass(frozen=True, slots=True)
class Line:
    """What was looked at; `remedy` says what to do about it."""

    level: Level
    text: str
    remedy: str = ""


def main(root: options.Root = None) -> int:
    """Say whether this machine is ready.

    Exit code 0 if it is, remarks or not; 1 if there is a problem. Outside a repository only what concerns
    the machine is looked at.
    """
    home = _root(root)
    lines = []
    for line in _lines(home):
        lines.append(line)
        console.out(_shown(line))
    problems = sum(line.level is Level.PROBLEM for line in lines)
    remarks = sum(line.level is Level.REMARK for line in lines)
    if home is None:
        console.note("no repository here: only the machine was looked at")
    if problems:
        console.note(f"not ready: {_count(problems, 'problem')}, {_count(remarks, 'remark')}")
        return ExitCode.FINDINGS
    console.note(f"ready, with {_count(remarks, 'remark')}" if remarks else "ready")
    return ExitCode.CLEAN


def _root(chosen: Path | None) -> Path | None:
    try:
        return repository.find_root(Path.cwd(), chosen)
    except UsageError:
        if chosen is not None:
            raise
        return None


def _lines(home: Path | None) -> Iterator[Line]:
    opened: Repository | None = None
    yield Line(Level.GOOD, f"Python {platform.python_version()}")
    yield Line(Level.GOOD, f"paddlegen {__version__}")
    yield _yaml()
    if home is not None:
        try:
            opened = repository.read(home)
        except WorkspaceError as error:
            yield Line(Level.PROBLEM, str(error))
    program = _kustomize(opened)
    yield _about_kustomize(program)
    yield from _git(home)
    if home is None or opened is None:
        return
    yield from _repository(opened)
    yield from _state(home)
    yield _schemas(home)
    if not isinstance(program, str):
        yield from _argocd(opened, program)


# --- the machine


def _yaml() -> Line:
    import yaml

    if yaml.__with_libyaml__:
        return Line(Level.GOOD, f"PyYAML {yaml.__version__} with libyaml")
    text = f"PyYAML {yaml.__version__} is without libyaml, and reads specs many times slower"
    return Line(
        Level.REMARK, text, "install its wheel: pip install --force-reinstall --only-binary :all: PyYAML"
    )


def _kustomize(opened: Repository | None) -> Kustomize | str:
    """The kustomize that would run here, or why there is none."""
    configured = repository.config(opened)[0].spec.kustomize if opened else None
    try:
        return kustomize.find(os.fspath(opened.root / configured) if opened and configured else None)
    except ToolError as error:
        return str(error)


def _about_kustomize(program: Kustomize | str) -> Line:
    install = (
        "install Go 1.24 or newer, or have the network at hand, and run pip install again; "
        "or name a kustomize in PADDLEGEN_KUSTOMIZE"
    )
    if isinstance(program, str):
        is_chosen = program.startswith(("PADDLEGEN_KUSTOMIZE", "paddlegen.yaml"))
        return Line(Level.PROBLEM, program, "" if is_chosen else install)
    version = kustomize.version_of(program.path)
    if version is None:
        return Line(Level.PROBLEM, f"{program.path} ({program.source}) does not run on this machine", install)
    where = "bundled" if program.source == "bundled" else f"from {program.source}, {program.path}"
    if version == kustomize.BUNDLED_VERSION:
        return Line(Level.GOOD, f"kustomize {version}, {where}")
    text = f"kustomize {version}, {where}; paddlegen is tested with {kustomize.BUNDLED_VERSION}"
    return Line(Level.REMARK, text, "let everybody who renders use the same one, or manifests may differ")


# --- the repository


def _git(home: Path | None) -> Iterator[Line]:
    program = shutil.which("git")
    if program is None:
        yield Line(
            Level.REMARK, "there is no git on PATH", "install git, to review and share what is rendered"
        )
        return
    said = _run(program, "--version")
    yield Line(Level.GOOD, said.strip() or "git")
    if home is None:
        return
    if not _run(program, "-C", str(home), "rev-parse", "--git-dir"):
        yield Line(Level.REMARK, f"{home} is no Git repository", "run git init: Argo CD syncs from Git")
        return
    file = f"{MANIFESTS}/cluster/namespace/job/file.yaml"
    attributes = _run(program, "-C", str(home), "check-attr", "linguist-generated", "eol", "--", file)
    wishes = {
        "linguist-generated: true": f"{MANIFESTS}/** linguist-generated=true",
        "eol: lf": "* text=auto eol=lf",
    }
    missing = [line for sign, line in wishes.items() if f": {sign}\n" not in attributes]
    if missing:
        text = f".gitattributes does not mark {MANIFESTS}/ as generated, with LF line ends"
        yield Line(Level.REMARK, text, f"add to it: {'; '.join(missing)}")
    else:
        yield Line(Level.GOOD, f".gitattributes marks {MANIFESTS}/ as generated, with LF line ends")


def _run(*command: str) -> str:
    """What git said; nothing if it did not like it."""
    import subprocess

    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        answer = subprocess.run(  # noqa: S603  # git, found on PATH, with arguments of ours
            command,
            capture_output=True,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""


def _repository(opened: Repository) -> Iterator[Line]:
    from paddlegen import listing

    findings = repository.config(opened)[1]
    profiles = {name: opened.overlays.get(f"overlays/{name}/cluster.yaml") for name in opened.clusters}
    jobs, clusters, _ = listing.listing(opened.jobs, profiles)
    text = f"{opened.root}: {_count(len(jobs), 'job')}, {_count(len(clusters), 'cluster')}"
    broken = sum(job.has_errors for job in jobs) + sum(cluster.has_errors for cluster in clusters)
    if findings:
        yield Line(Level.REMARK, f"{text}; {repository.CONFIG} has errors", "run paddlegen check")
    elif broken:
        yield Line(Level.REMARK, f"{text}, and {broken} of them with errors", "run paddlegen check")
    elif not clusters:
        remedy = "write overlays/<name>/cluster.yaml and kustomization.yaml (docs/clusters.md)"
        yield Line(Level.REMARK, f"{text}: nothing would be rendered", remedy)
    else:
        yield Line(Level.GOOD, text)


def _state(home: Path) -> Iterator[Line]:
    folder = home / STATE_FOLDER
    if not os.access(folder if folder.exists() else home, os.W_OK | os.X_OK):
        text = f"{home} cannot be written: check works, slowly, and render does not"
        yield Line(Level.PROBLEM, text, "give yourself permission, or work on a copy of the repository")
        return
    try:
        with lock(home):
            yield Line(Level.GOOD, "nobody else is writing the repository")
    except WorkspaceError as error:
        yield Line(Level.REMARK, str(error))
    cache, probe = Cache(home), key("doctor")
    cache.put({probe: b""})
    works = probe in cache.get([probe])
    cache.close()
    if works:
        yield Line(Level.GOOD, f"the cache in {STATE_FOLDER}/cache works")
    else:
        text = f"the cache in {STATE_FOLDER}/cache does not work, and every run starts from nothing"
        yield Line(Level.REMARK, text, f"remove {STATE_FOLDER}/cache; nothing is lost")


def _schemas(home: Path) -> Line:
    folder = scaffold.schemas_folder(home)
    files = scaffold.schemas(folder)
    there = {path for path in files if (home / path).is_file()}
    if not there:
        return Line(Level.REMARK, f"no schemas in {folder}/: editors complete nothing", _WRITE_SCHEMAS)
    if any(path not in there or (home / path).read_bytes() != data for path, data in files.items()):
        return Line(Level.REMARK, f"the schemas in {folder}/ are of another paddlegen", _WRITE_SCHEMAS)
    return Line(Level.GOOD, f"the schemas in {folder}/ are current")


_WRITE_SCHEMAS = "run paddlegen schema --write"


def _argocd(opened: Repository, program: Kustomize) -> Iterator[Line]:
    """What Argo CD would build with: of no importance as long as it only syncs what is rendered."""
    from paddlegen import catalogue

    by_version: dict[str, list[str]] = {}
    for name in opened.clusters:
        path = f"overlays/{name}/cluster.yaml"
        entry, _ = catalogue.read_cluster(name, path, opened.overlays.get(path))
        if entry is not None and entry.cluster.body.argocd.version:
            by_version.setdefault(entry.cluster.body.argocd.version, []).append(name)
    for version, names in sorted(by_version.items()):
        who = f"Argo CD {version} ({', '.join(names)})"
        theirs = kustomize.argocd_kustomize(version)
        if theirs is None:
            yield Line(Level.GOOD, f"{who}: which kustomize it has is not known here; {_NO_MATTER}")
        elif theirs == program.version.removeprefix("v"):
            yield Line(Level.GOOD, f"{who} has the same kustomize")
        else:
            text = f"{who} has kustomize {theirs}, and {program.version} renders here"
            yield Line(Level.REMARK, text, _NO_MATTER)


_NO_MATTER = f"no matter while it syncs {MANIFESTS}/, plain files; never let it build overlays/ itself"


# --- how it is shown


def _shown(line: Line) -> str:
    mark, plain, colour = line.level.value
    if not _can_print(mark):
        mark = plain
    if console.coloured(sys.stdout, os.environ, console.colour.get()):
        mark = f"\x1b[{colour}m{mark}\x1b[0m"
    remedy = f"  {line.remedy}\n" if line.remedy else ""
    return f"{mark} {line.text}\n{remedy}"


def _can_print(mark: str) -> bool:
    try:
        mark.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
