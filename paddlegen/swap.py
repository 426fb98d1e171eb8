"""Put a finished file or directory in the place of another in one step, or in two with a journal."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paddlegen.lock import BINARY, NO_FOLLOW, STATE_FOLDER, state_folder
from paddlegen.model.output import HEADER_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_PREFIX = HEADER_PREFIX.encode()
_JOURNAL = "journal.json"
_BESIDE = ".paddlegen-stage-"
# The number of the system call, for a C library that does not know it (musl before 1.2.6).
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
# EPERM is what old container sandboxes answer to a system call that they do not know.
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def is_owned(content: str | bytes) -> bool:
    """Tell whether a file was rendered by paddlegen: its first line, or the one after `#!`, is our header."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if data.startswith(b"#!"):
        data = data.partition(b"\n")[2]
    return data.startswith(_PREFIX)


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder in which the next state of `place` is built; nobody but paddlegen looks into it.

    `new` becomes `place`. `old` is where the fallback puts the former `place` meanwhile. `copied` names the
    files (inode, time of change) of `place` that could not be linked, so that their originals may go.
    """

    root: str
    place: str
    folder: str
    copied: set[tuple[int, int]] = field(default_factory=set)

    @property
    def new(self) -> str:
        """The next state of `place`."""
        return os.path.join(self.root, self.folder, "new")

    @property
    def old(self) -> str:
        """The former state of `place`, while two renames stand in for one exchange."""
        return os.path.join(self.root, self.folder, "old")

    @property
    def target(self) -> str:
        """The path of `place` in the file system."""
        return os.path.join(self.root, self.place)


def open_stage(root: str, place: str, *, beside: bool) -> Stage:
    """Make an empty stage in `.paddlegen`, or `beside` the place when that is on another disk."""
    name = secrets.token_hex(6)
    parent, _, base = place.rpartition("/")
    folder = f"{STATE_FOLDER}/stage-{name}"
    if beside:
        folder = f"{parent}/.{base}{_BESIDE}{name}" if parent else f".{base}{_BESIDE}{name}"
    stage = Stage(root, place, folder)
    state_folder(root)
    if beside:
        # Recovery looks for stages in .paddlegen only; one elsewhere has to be written down first.
        _write_journal(stage)
    os.mkdir(os.path.join(root, folder))
    return stage


def is_stage_name(name: str) -> bool:
    """Tell whether a directory entry is a stage that stands beside its place."""
    return name.startswith(".") and _BESIDE in name


def install(stage: Stage) -> None:
    """Make `new` the place; on Linux and macOS every observer sees one state or the other, never none."""
    try:
        mode = os.lstat(stage.target).st_mode
    except FileNotFoundError:
        os.rename(stage.new, stage.target)
        return
    if not stat.S_ISDIR(mode):
        os.replace(stage.new, stage.target)
        return
    try:
        exchange(stage.new, stage.target)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        _install_in_two_steps(stage)


def _install_in_two_steps(stage: Stage) -> None:
    _write_journal(stage)
    try:
        os.rename(stage.target, stage.old)
        try:
            os.rename(stage.new, stage.target)
        except OSError:
            os.rename(stage.old, stage.target)
            raise
    finally:
        settle(stage)


def settle(stage: Stage) -> str | None:
    """Finish the two renames, or take the first one back; say which, if any."""
    if os.path.lexists(stage.target) or not os.path.lexists(stage.old):
        return None
    try:
        os.rename(stage.new, stage.target)
    except OSError:
        os.rename(stage.old, stage.target)
        return "took back"
    return "finished"


def close_stage(stage: Stage, rescue: Callable[[str, str], None]) -> None:
    """Delete the stage, whatever it holds: half a next state, or a former one.

    A file that somebody put into the former state while we wrote is in no other place; it is handed to
    `rescue` with its path below `place`.
    """
    folder = os.path.join(stage.root, stage.folder)
    if os.path.islink(folder):
        os.unlink(folder)
    elif os.path.isdir(folder):
        if os.path.lexists(stage.old):
            if not os.path.lexists(stage.target):
                return
            # From here on no recovery may take it for a whole tree.
            os.rename(stage.old, os.path.join(folder, "gone"))
        for name in os.listdir(folder):
            _discard(os.path.join(folder, name), "", stage.copied, rescue)
        os.rmdir(folder)
    # Last, for it may be all that tells where the stage is.
    with suppress(FileNotFoundError):
        os.unlink(_journal_path(stage.root))


def stages_left(root: str) -> Iterator[Stage]:
    """Yield the stages that earlier runs left: the journal's first, then what lies in `.paddlegen`."""
    if not os.path.isdir(os.path.join(root, STATE_FOLDER)):
        return
    journalled = _read_journal(root)
    if journalled:
        yield journalled
    with os.scandir(os.path.join(root, STATE_FOLDER)) as entries:
        names = sorted(entry.name for entry in entries if entry.name.startswith("stage-"))
    for name in names:
        yield Stage(root, "", f"{STATE_FOLDER}/{name}")


def _discard(path: str, below: str, copied: set[tuple[int, int]], rescue: Callable[[str, str], None]) -> None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        if found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(path, stat.S_IRWXU)
        for name in os.listdir(path):
            _discard(os.path.join(path, name), f"{below}/{name}" if below else name, copied, rescue)
        os.rmdir(path)
    elif found.st_nlink > 1 or (found.st_ino, found.st_mtime_ns) in copied or _is_ours(path, found):
        os.unlink(path)
    else:
        rescue(path, below)


def _is_ours(path: str, found: os.stat_result) -> bool:
    """Tell whether the only link to a file is one we may cut: it has our header, or was being written."""
    if not stat.S_ISREG(found.st_mode):
        return False
    start = read_start(path)
    return is_owned(start) or _PREFIX.startswith(start)


def read_start(path: str) -> bytes:
    """Return as much of a regular file as tells whose it is."""
    descriptor = os.open(path, os.O_RDONLY | NO_FOLLOW | BINARY)
    try:
        return os.read(descriptor, 512)
    finally:
        os.close(descriptor)


def _journal_path(root: str) -> str:
    return os.path.join(root, STATE_FOLDER, _JOURNAL)


def _write_journal(stage: Stage) -> None:
    path = _journal_path(stage.root)
    fresh = f"{path}.new"
    try:
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump({"place": stage.place, "stage": stage.folder}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
        flush_folder(os.path.dirname(path))
    except BaseException:
        for name in (fresh, path):
            with suppress(FileNotFoundError):
                os.unlink(name)
        raise


def _read_journal(root: str) -> Stage | None:
    """Return the stage of the journal, unless a journal that is not of our making names another folder."""
    with suppress(FileNotFoundError):
        os.unlink(_journal_path(root) + ".new")
    try:
        with open(_journal_path(root), encoding="utf-8") as file:
            journal = json.load(file)
        place, folder = str(journal["place"]), str(journal["stage"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        os.unlink(_journal_path(root))
        return None
    parent, _, base = place.rpartition("/")
    above, _, name = folder.rpartition("/")
    in_state = above == STATE_FOLDER and name.startswith("stage-")
    is_beside = above == parent and name.startswith(f".{base}{_BESIDE}")
    inside = all(is_plain(path) and link_on_the_way(root, path) is None for path in (place, folder))
    if not inside or not (in_state or is_beside):
        os.unlink(_journal_path(root))
        return None
    return Stage(root, place, folder)


def is_plain(path: str) -> bool:
    """Tell whether a POSIX relative path can only lead below the folder it starts from."""
    if "\\" in path or "\0" in path or (os.name == "nt" and ":" in path):
        return False
    return all(part not in {"", ".", ".."} for part in path.split("/"))


def link_on_the_way(root: str, path: str) -> str | None:
    """Return the first part of `path`, itself included, that is a symlink."""
    end = -1
    while end < len(path):
        end = path.find("/", end + 1)
        end = len(path) if end < 0 else end
        if os.path.islink(os.path.join(root, path[:end])):
            return path[:end]
    return None


def flush_folder(path: str) -> None:
    """Make the names in a directory survive a power cut, where the system lets us ask for it."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(one: str, other: str) -> None:
    """Let two paths swap what they name, in one step; raises OSError ENOSYS where no such call exists."""
    if sys.platform not in {"linux", "darwin"}:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), one)
    import ctypes

    first, second = os.fsencode(one), os.fsencode(other)
    libc = ctypes.CDLL(None, use_errno=True)
    here, flag = -100, ctypes.c_uint(2)  # AT_FDCWD; RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
    if sys.platform == "darwin":
        result = libc.renamex_np(first, second, flag)
    elif hasattr(libc, "renameat2"):
        result = libc.renameat2(here, first, here, second, flag)
    elif os.uname().machine in _RENAMEAT2:
        number = ctypes.c_long(_RENAMEAT2[os.uname().machine])
        paths = ctypes.c_char_p(first), ctypes.c_char_p(second)
        result = libc.syscall(number, here, paths[0], here, paths[1], flag)
    else:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), one)
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), other)
