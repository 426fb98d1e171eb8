"""`paddlegen init`: a small GitOps repository that passes `paddlegen check` from the first minute."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paddlegen import engine, kustomize, scaffold
from paddlegen.cache import Cache
from paddlegen.cli import console
from paddlegen.errors import ExitCode, UsageError
from paddlegen.lock import explained
from paddlegen.repository import COMPONENTS, CONFIG, JOBS, MANIFESTS, OVERLAYS, Repository

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def main(
    directory: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where; made if it is not there.", show_default=False)
    ] = Path(),
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster", metavar="NAME", help="A cluster; can be repeated. One called prod if absent."
        ),
    ] = None,
) -> int:
    """Write a GitOps repository that passes check.

    It has one example job, the overlays v1 and v1beta1, a folder for each cluster, the schemas for
    editors, and the manifests, rendered. A file that exists is never overwritten.
    """
    clusters = list(dict.fromkeys(cluster or ["prod"]))
    _refuse_names(clusters)
    files = scaffold.repository(clusters)
    files |= _manifests(files)
    _refuse_existing(directory, files)
    _write(directory, files)
    _tell(directory, files, clusters)
    return ExitCode.CLEAN


def _refuse_names(clusters: Collection[str]) -> None:
    for name in clusters:
        if name in COMPONENTS:
            wish = f"overlays/{name} is what clusters share; choose another name"
        elif not _NAME.fullmatch(name):
            wish = "lower-case letters, digits and '-' are allowed, a letter first"
        else:
            continue
        message = f"--cluster is {name!r}; {wish}"
        raise UsageError(message)


def _manifests(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """What the specs among the files mean, rendered in memory."""
    jobs = {path: data for path, data in files.items() if path.startswith(f"{JOBS}/")}
    overlays = {path: data for path, data in files.items() if path.startswith(f"{OVERLAYS}/")}
    repository = Repository(Path(), files[CONFIG], jobs, overlays)
    result = engine.render(engine.Inputs(repository, kustomize.find, Cache(None), {}, b""))
    assert not result.findings, result.findings  # noqa: S101  # tests hold the scaffold to it
    return {f"{MANIFESTS}/{path}": (one.text or "").encode() for path, one in result.files.items()}


def _refuse_existing(directory: Path, files: Mapping[str, bytes]) -> None:
    taken = {path for path in files if os.path.lexists(directory / path)}
    folders = {parent.as_posix() for path in files for parent in Path(path).parents}
    taken |= {path for path in folders if _is_no_folder(directory / path, above=path == ".")}
    if taken:
        lines = "".join(f"\n  {directory / path}" for path in sorted(taken))
        message = (
            f"nothing was written, because these exist:{lines}\nmove them away, or name another directory"
        )
        raise UsageError(message)


def _is_no_folder(path: Path, *, above: bool) -> bool:
    """A symlink below the directory is no folder of ours: what it leads to may be anywhere."""
    return os.path.lexists(path) and (not path.is_dir() or (path.is_symlink() and not above))


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write all files, or, where the system says no, leave nothing of ours behind."""
    made: list[Path] = []
    try:
        for path, data in files.items():
            _make_folders((directory / path).parent, made)
            with (directory / path).open("xb") as file:
                made.append(directory / path)
                file.write(data)
    except BaseException as problem:
        for mine in reversed(made):
            mine.rmdir() if mine.is_dir() else mine.unlink()
        if isinstance(problem, OSError):
            raise explained(problem, str(directory)) from problem
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir()
        made.append(parent)


def _tell(directory: Path, files: Mapping[str, bytes], clusters: list[str]) -> None:
    where = "here" if directory == Path() else f"in {directory}"
    named = f"the cluster {clusters[0]}" if len(clusters) == 1 else f"the clusters {', '.join(clusters)}"
    console.out(f"{len(files)} files are {where}: one job for {named}\n")
    first = f"overlays/{clusters[0]}/cluster.yaml"
    enter = "" if directory == Path() else f"  cd {directory}\n"
    console.note(
        f"\nNext, correct the versions in {directory / first}, and then:\n\n{enter}"
        "  paddlegen new my-job     # a job spec of your own\n"
        "  paddlegen render         # write manifests/\n"
        "  paddlegen check          # what CI runs"
    )
