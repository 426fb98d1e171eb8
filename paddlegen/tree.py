"""Read and write the trees of rendered files; a tree is written all or nothing."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from paddlegen.errors import WorkspaceError
from paddlegen.lock import BINARY, NO_FOLLOW, STATE_FOLDER, explained, state_folder
from paddlegen.model.output import HEADER_PREFIX, header
from paddlegen.swap import (
    close_stage,
    flush_folder,
    install,
    is_owned,
    is_plain,
    is_stage_name,
    link_on_the_way,
    open_stage,
    read_start,
    settle,
    stages_left,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from paddlegen.swap import Stage

__all__ = ["HEADER_PREFIX", "Found", "digests", "header", "is_owned", "recover", "write"]

# What a file system without hard links answers, or one that forbids this link.
_NO_LINK = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
# From here on one flush of the whole file system is quicker than one for each file.
_MANY = 32
_CHUNK = 1 << 18


class Found(NamedTuple):
    """What stands at a path: `digest` is the sha256 in hex of a regular file, empty for anything else."""

    kind: Literal["file", "symlink", "other"]
    digest: str
    owned: bool


@dataclass(frozen=True)  # no slots: they leave no room for what is computed once
class _Change:
    """What differs: paths below the repository's root, with their bytes, and those that go."""

    top: str
    files: Mapping[str, bytes]
    delete: Collection[str]

    @property
    def paths(self) -> set[str]:
        return {*self.files, *self.delete}

    @cached_property
    def written(self) -> frozenset[str]:
        """The directories that get files."""
        return _folders_above(self.files)


def digests(root: Path, top: str) -> dict[str, Found]:
    """Return what is below `<root>/<top>`, by its POSIX path relative to `top`.

    No such directory is an empty tree. Symlinks are reported, never followed.
    """
    _refuse_path(top, top)
    _refuse_link(root, top)
    base = os.path.join(root, top)
    found: dict[str, Found] = {}
    try:
        _digest_folder(base, "", found)
    except OSError as error:
        raise explained(error, base) from error
    return found


def write(root: Path, top: str, files: Mapping[str, bytes], delete: Collection[str]) -> None:
    """Make `<root>/<top>` what it is plus `files` minus `delete`, in one step that no observer sees half of.

    The paths are POSIX and relative to `top`. Call it under `lock`, after `recover`. Raises WorkspaceError,
    and leaves the tree as it was, when a path leads outside or through a symlink, when a file to replace or
    delete lacks our header, and when the system says no (a full disk, a read-only one).
    """
    base = os.fspath(root)
    try:
        change = _what_differs(base, top, files, frozenset(delete))
        if change.paths:
            _apply(base, change)
    except OSError as error:
        message = f"{explained(error, os.path.join(base, top))} ({top} is as it was)"
        raise WorkspaceError(message) from error


def recover(root: Path) -> list[str]:
    """Repair what a killed run left; call it under `lock`. Returns what it did, in words, for a person."""
    base = os.fspath(root)
    done: list[str] = []
    try:
        for stage in stages_left(base):
            done += _repair(stage)
    except OSError as error:
        raise explained(error, os.path.join(base, STATE_FOLDER)) from error
    return done


def _repair(stage: Stage) -> Iterator[str]:
    outcome = settle(stage) if stage.place else None
    if outcome:
        yield f"{outcome} the interrupted writing of {stage.place}"
    is_left = os.path.lexists(os.path.join(stage.root, stage.folder))
    kept: list[tuple[str, str]] = []
    close_stage(stage, lambda path, below: kept.append((below, _keep(stage, path, below))))
    yield from (f"kept {below}, which is nowhere else, as {path}" for below, path in kept)
    if is_left:
        yield f"removed {stage.folder}, which an interrupted run left"


# --- reading


def _digest_folder(folder: str, prefix: str, found: dict[str, Found]) -> None:
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not is_stage_name(entry.name):
                    _digest_folder(entry.path, f"{prefix}{entry.name}/", found)
            elif entry.is_file(follow_symlinks=False):
                # A file may go between the listing and the reading, when a render ends meanwhile.
                with suppress(FileNotFoundError):
                    data = _read(entry.path)
                    digest = hashlib.sha256(data).hexdigest()
                    found[prefix + entry.name] = Found("file", digest, is_owned(data))
            else:
                kind: Literal["symlink", "other"] = "symlink" if entry.is_symlink() else "other"
                found[prefix + entry.name] = Found(kind, "", owned=False)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | NO_FOLLOW | BINARY)
    try:
        data = os.read(descriptor, _CHUNK)
        if len(data) < _CHUNK:
            return data
        chunks = [data]
        while data := os.read(descriptor, _CHUNK):
            chunks.append(data)
        return b"".join(chunks)
    finally:
        os.close(descriptor)


# --- what to do, and whether we may


def _what_differs(root: str, top: str, files: Mapping[str, bytes], delete: Collection[str]) -> _Change:
    _refuse_path(top, top)
    _refuse_link(root, top)
    going = {f"{top}/{path}" for path in delete}
    for path in (*files, *delete):
        _refuse_path(path, f"{top}/{path}")
    for path, data in files.items():
        fault = _caller_fault(path, data, delete)
        if fault:
            message = f"{top}/{path} {fault}: a bug"
            raise ValueError(message)
    folders: set[str] = set()
    return _Change(
        top,
        {path: data for path, data in _below(top, files) if _is_new(root, path, data, going, folders)},
        {path for path in sorted(going) if _may_go(root, path, folders)},
    )


def _caller_fault(path: str, data: bytes, delete: Collection[str]) -> str | None:
    if path in delete:
        return "is to be written and to be deleted"
    if not is_owned(data):
        return f"lacks {HEADER_PREFIX!r}, so that no later run could replace it"
    return None


def _below(top: str, files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    return ((f"{top}/{path}", files[path]) for path in sorted(files))


def _is_new(root: str, path: str, data: bytes, going: Collection[str], folders: set[str]) -> bool:
    """Tell whether `path` does not hold `data` yet; refuse it if what it holds is not ours."""
    if not _folder_exists(root, _parent(path), going, folders):
        return True
    absolute = os.path.join(root, path)
    try:
        mode = os.lstat(absolute).st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        if _is_emptied(root, path, going, _folders_above(going)):
            return True
        message = f"{path} is a directory where a file is to be written; move it away"
        raise WorkspaceError(message)
    current = _read(absolute) if _is_regular(path, mode) else b""
    if not is_owned(current):
        message = f"{path} was not rendered by paddlegen; move it away"
        raise WorkspaceError(message)
    return current != data


def _may_go(root: str, path: str, folders: set[str]) -> bool:
    """Tell whether `path` is there to be deleted; refuse it if it is not ours."""
    if not _folder_exists(root, _parent(path), (), folders):
        return False
    absolute = os.path.join(root, path)
    try:
        mode = os.lstat(absolute).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        message = f"{path} is a directory; paddlegen deletes only files it has rendered"
        raise WorkspaceError(message)
    if _is_regular(path, mode) and not is_owned(read_start(absolute)):
        message = f"{path} was not rendered by paddlegen; it is not deleted"
        raise WorkspaceError(message)
    return True


def _is_regular(path: str, mode: int) -> bool:
    if stat.S_ISREG(mode):
        return True
    kind = "a symlink" if stat.S_ISLNK(mode) else "not a regular file"
    message = f"{path} is {kind}; paddlegen writes only to regular files: move it away"
    raise WorkspaceError(message)


def _folder_exists(root: str, folder: str, going: Collection[str], folders: set[str]) -> bool:
    """Tell whether a directory exists, having refused every symlink and file on the way to it."""
    if folder in folders or not folder:
        return True
    if not _folder_exists(root, _parent(folder), going, folders):
        return False
    try:
        mode = os.lstat(os.path.join(root, folder)).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(mode):
        if stat.S_ISREG(mode) and folder in going:
            return False
        _refuse_link(root, folder)
        message = f"{folder} is a file where a directory is to be; move it away"
        raise WorkspaceError(message)
    folders.add(folder)
    return True


def _refuse_path(path: str, name: str) -> None:
    if not is_plain(path):
        message = f"{name!r} is not a path inside the repository; it needs plain names joined by '/'"
        raise WorkspaceError(message)


def _refuse_link(root: Path | str, path: str) -> None:
    link = link_on_the_way(os.fspath(root), path)
    if link is not None:
        message = f"{link} is a symlink; paddlegen does not write through symlinks: put a directory there"
        raise WorkspaceError(message)


# --- doing it


def _apply(root: str, change: _Change) -> None:
    place = _place(root, change)
    if place in change.delete:
        os.unlink(os.path.join(root, place))
        flush_folder(os.path.dirname(os.path.join(root, place)))
        return
    beside = _is_other_disk(root, place)
    try:
        _replace(root, place, change, beside=beside)
    except OSError as error:
        # Two mounts of one disk look like one disk until something is moved.
        if error.errno != errno.EXDEV or beside:
            raise
        _replace(root, place, change, beside=True)


def _replace(root: str, place: str, change: _Change, *, beside: bool) -> None:
    stage = open_stage(root, place, beside=beside)
    try:
        _build(stage, change)
        install(stage)
        # The names are what they should be; that they outlive a power cut is all that is left to ask for.
        with suppress(OSError):
            flush_folder(os.path.dirname(stage.target))
    finally:
        # What cannot be cleaned up now, the next run does.
        with suppress(OSError):
            close_stage(stage, lambda path, below: _give_back(stage, path, below))


def _place(root: str, change: _Change) -> str:
    """Return the smallest thing to replace: a file, a directory, or the first directory that is missing."""
    folder = os.path.commonpath([_parent(path) for path in change.paths]).replace(os.sep, "/")
    if not os.path.isdir(os.path.join(root, folder)):
        while not os.path.isdir(os.path.join(root, _parent(folder))):
            folder = _parent(folder)
        return folder
    cut = _folders_above(change.delete) - change.written
    while folder != change.top and _is_emptied(root, folder, change.delete, cut):
        folder = _parent(folder)
    only = next(iter(change.paths))
    if len(change.paths) == 1 and _parent(only) == folder:
        return only
    return folder


def _is_emptied(root: str, folder: str, delete: Collection[str], cut: Collection[str]) -> bool:
    """Tell whether a directory ends up empty as all in it goes; `cut` are the directories that lose files."""
    if folder not in cut:
        return False
    with os.scandir(os.path.join(root, folder)) as entries:
        return all(
            _is_emptied(root, f"{folder}/{entry.name}", delete, cut)
            if entry.is_dir(follow_symlinks=False)
            else f"{folder}/{entry.name}" in delete
            for entry in entries
        )


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _folders_above(paths: Collection[str]) -> frozenset[str]:
    folders: set[str] = set()
    for path in paths:
        folder = _parent(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = _parent(folder)
    return frozenset(folders)


def _is_other_disk(root: str, place: str) -> bool:
    here = os.lstat(state_folder(root)).st_dev
    parent = os.path.dirname(os.path.join(root, place))
    return os.lstat(parent).st_dev != here


def _build(stage: Stage, change: _Change) -> None:
    """Make `stage.new` what `stage.place` is to become, with its bytes on the disk.

    The bytes go before the names: after a power cut a file may be an old one, but never an empty one.
    """
    one_flush = len(change.files) > _MANY and sys.platform == "linux"
    if stage.place in change.files:
        _write_file(stage.target, stage.new, change.files[stage.place], flush=True)
        return
    if os.path.isdir(stage.target):
        _carry_folder(stage, "", change, os.lstat(stage.target).st_dev)
    made: set[str] = set()
    for path, data in change.files.items():
        below = path[len(stage.place) + 1 :]
        new = os.path.join(stage.new, below)
        if (folder := os.path.dirname(new)) not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        _write_file(os.path.join(stage.target, below), new, data, flush=not one_flush)
    if one_flush:
        _flush_disk(os.path.join(stage.root, stage.folder))


def _carry_folder(stage: Stage, below: str, change: _Change, device: int) -> bool:
    """Carry what stays of a directory over to the stage; tell whether something in it goes."""
    former, new = os.path.join(stage.target, below), os.path.join(stage.new, below)
    found = os.lstat(former)
    if found.st_dev != device:
        raise OSError(errno.EBUSY, "a disk is mounted inside the directory to replace", former)
    os.mkdir(new)
    goes = False
    with os.scandir(former) as entries:
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            path = f"{stage.place}/{name}"
            if entry.is_dir(follow_symlinks=False):
                goes = _carry_folder(stage, name, change, device) or goes
            elif path in change.delete:
                goes = True
            elif path not in change.files:
                _carry_file(stage, entry, os.path.join(new, entry.name))
    emptied = goes and below and f"{stage.place}/{below}" not in change.written
    if emptied and not os.listdir(new):
        os.rmdir(new)
    else:
        _like(found, new)
    return goes


def _carry_file(stage: Stage, entry: os.DirEntry[str], new: str) -> None:
    try:
        os.link(entry.path, new, follow_symlinks=False)
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LINK:
            raise
        found = entry.stat(follow_symlinks=False)
        shutil.copy2(entry.path, new, follow_symlinks=False)
        stage.copied.update({(found.st_ino, found.st_mtime_ns), _identity(new)})


def _identity(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_ino, found.st_mtime_ns


def _write_file(former: str, new: str, data: bytes, *, flush: bool) -> None:
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | BINARY, 0o666)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        if flush:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    with suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(former)
        if stat.S_ISREG(found.st_mode):
            _like(found, new)


def _like(found: os.stat_result, new: str) -> None:
    """Give `new` the mode and, where we may, the owner of what it replaces."""
    current = os.lstat(new)
    if sys.platform != "win32" and (found.st_uid, found.st_gid) != (current.st_uid, current.st_gid):
        with suppress(PermissionError):
            os.chown(new, found.st_uid, found.st_gid)
    if found.st_mode != current.st_mode:
        os.chmod(new, stat.S_IMODE(found.st_mode))


def _flush_disk(folder: str) -> None:
    """Flush the disk that holds `folder` (Linux)."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if libc.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), folder)
    finally:
        os.close(descriptor)


# --- cleaning up


def _give_back(stage: Stage, path: str, below: str) -> None:
    """Put a file that somebody saved into the tree while we replaced it where they think it is."""
    home = os.path.join(stage.target, below)
    if below and (not os.path.lexists(home) or not is_owned(read_start(home))):
        os.makedirs(os.path.dirname(home), exist_ok=True)
        os.replace(path, home)
    else:
        _keep(stage, path, below)


def _keep(stage: Stage, path: str, below: str) -> str:
    """Put a file that has no place in the tree where nothing is deleted; return where."""
    name = stage.folder.rpartition("stage-")[2]
    kept = "/".join(filter(None, (STATE_FOLDER, "rescued", name, below or "file")))
    home = os.path.join(stage.root, kept)
    os.makedirs(os.path.dirname(home), exist_ok=True)
    os.replace(path, home)
    return kept
