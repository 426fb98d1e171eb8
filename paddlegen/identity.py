"""Digests of what a rendering depends on: the keys under which its parts are remembered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import kustomize
from paddlegen.cache import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlegen.cache import Cache
    from paddlegen.catalogue import Contents
    from paddlegen.kustomize import Kustomize
    from paddlegen.overlay import Overlay
    from paddlegen.repository import Repository


def of_kustomize(program: Kustomize, cache: Cache) -> bytes:
    """The binary's digest; hashing 20 MB takes longer than an unchanged check, so it is remembered too."""
    stat = Path(program.path).stat()
    mark = (program.path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev)
    remembered = key("kustomize", *map(str, mark))
    found = cache.get([remembered]).get(remembered)
    if found is None:
        found = kustomize.identity(program)
        cache.put({remembered: found})
    return found


def of_overlay(tools: Iterable[bytes], used: Overlay) -> bytes:
    """The digest of everything a unit's objects meet in kustomize."""
    parts: list[bytes | str] = [*tools, used.top]
    for path, data in used.files.items():
        parts += [path, data]
    return key(*parts)


def of_surroundings(
    tools: Iterable[bytes],
    repository: Repository,
    parsed: Mapping[str, Contents],
    broken: Iterable[tuple[str, str]],
    clusters: Iterable[str],
) -> bytes:
    """The digest of everything a job's rendering depends on beside its own file."""
    parts: list[bytes | str] = [*tools, repository.config or b""]
    for path, data in repository.overlays.items():
        parts += [path, data]
    for path, contents in parsed.items():
        if contents.templates or contents.storage:
            parts += [path, repository.jobs[path]]
    for kind, name in sorted(broken):
        if kind != "JobSpec":
            parts += [kind, name]
    return key(*parts, *sorted(clusters))
