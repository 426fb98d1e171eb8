"""One writer at a time: the `.paddlegen` folder of a repository and the lock in it."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from paddlegen.errors import WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STATE_FOLDER = ".paddlegen"

# Absent on Windows, where os.open would also translate line ends without O_BINARY.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)

_IGNORE_ALL = b"*\n"
# Windows locks bytes, not files, and nobody can read a locked byte: lock one far behind the process id.
_LOCKED_BYTE = 1 << 30
_ADVICE = {
    errno.ENOSPC: "free some space and run again",
    errno.EDQUOT: "free some of your quota and run again",
    errno.ENOTDIR: "a file stands where a folder is to be; move it away",
    errno.EROFS: "make the disk writable or work on a copy of the repository",
    errno.EACCES: "give yourself permission to read and write there",
    errno.EPERM: "give yourself permission to read and write there",
    errno.EBUSY: "a program or a mount holds it; release it and run again",
    errno.EXDEV: "a mount or a container layer lies in between; work on a repository that is on one disk",
    errno.EMFILE: "raise the limit of open files (ulimit -n) and run again",
}


@contextmanager
def lock(root: Path) -> Iterator[None]:
    """Hold the repository's only right to write.

    Raises WorkspaceError at once when another process holds it. The operating system takes the lock back
    when its holder ends, however it ends.
    """
    path = os.path.join(root, STATE_FOLDER, "lock")
    try:
        state_folder(root)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_FOLLOW | BINARY, 0o666)
    except OSError as error:
        raise explained(error, path) from error
    try:
        _acquire(descriptor, path)
        try:
            _sign(descriptor)
            _hide_from_git(os.path.dirname(path))
        except OSError as error:
            raise explained(error, path) from error
        yield
    finally:
        os.close(descriptor)


def state_folder(root: Path | str) -> str:
    """Return the path of `<root>/.paddlegen`, which exists from now on and is a real directory."""
    path = os.path.join(root, STATE_FOLDER)
    try:
        os.mkdir(path)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            message = f"{path} is not a directory; paddlegen keeps its lock there: move it away"
            raise WorkspaceError(message) from None
    return path


def explained(error: OSError, path: str) -> WorkspaceError:
    """Say where the system stopped us, in its words, and what to do."""
    where = error.filename2 or error.filename or path
    words = error.strerror or str(error)
    advice = _ADVICE.get(error.errno or 0)
    return WorkspaceError(
        f"{os.fsdecode(where)}: {words}; {advice}" if advice else f"{os.fsdecode(where)}: {words}"
    )


def _acquire(descriptor: int, path: str) -> None:
    try:
        _lock_now(descriptor)
    except OSError as error:
        if error.errno not in {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}:
            raise explained(error, path) from error
        holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
        process = f" (process {holder})" if holder else ""
        message = f"another paddlegen is writing this repository{process}; wait for it to end"
        raise WorkspaceError(message) from error


if sys.platform == "win32":

    def _lock_now(descriptor: int) -> None:
        import msvcrt

        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
else:

    def _lock_now(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sign(descriptor: int) -> None:
    """Leave our process id for the message that the next process prints."""
    os.ftruncate(descriptor, 0)
    os.write(descriptor, b"%d\n" % os.getpid())


def _hide_from_git(folder: str) -> None:
    path = os.path.join(folder, ".gitignore")
    try:
        with open(path, "rb") as current:
            if current.read() == _IGNORE_ALL:
                return
    except FileNotFoundError:
        pass
    fresh = os.path.join(folder, "gitignore.new")
    with open(fresh, "wb") as file:
        file.write(_IGNORE_ALL)
    os.replace(fresh, path)
