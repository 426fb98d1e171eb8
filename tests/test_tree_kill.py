"""All or nothing: a process that dies at any moment leaves the old tree or the new one, and no more."""

from __future__ import annotations

import errno
import functools
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest
import tree_writer
from tree_writer import generation

from paddlegen import swap, tree
from paddlegen.lock import lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")

MOMENTS = 50
FOREIGN = {"README.md": b"mine\n", "ns0/notes.txt": b"mine too\n"}


def state(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root / "out").as_posix(): path.read_bytes()
        for path in (root / "out").rglob("*")
        if path.is_file()
    }


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Give a repository in memory, where there is such a disk: a kill is no business of the disk."""
    if not os.access("/dev/shm", os.W_OK):  # noqa: S108
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@functools.cache
def expected(salt: str) -> dict[str, bytes]:
    return {**generation(salt)[0], **FOREIGN}


def begin(root: Path, salt: str) -> None:
    with lock(root):
        tree.recover(root)
        tree.write(root, "out", *generation(salt))
    for path, data in FOREIGN.items():
        (root / "out" / path).write_bytes(data)


def leftovers(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".paddlegen").iterdir())


def start(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-S", tree_writer.__file__, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(tree.__file__).parents[1])},
    )


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def let_go(child: subprocess.Popen[str], order: str) -> None:
    """Wait until the child has imported what it needs, and have it begin."""
    assert pipe(child.stdout).readline() == "ready\n"
    pipe(child.stdin).write(f"{order}\n")
    pipe(child.stdin).flush()


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


def version(root: Path) -> str:
    """Name the generation that the tree is, byte for byte; fail if it is none."""
    found = state(root)
    return next(salt for salt in "ABC" if found == expected(salt))


def seconds_of_a_write(root: Path) -> float:
    """Measure from the word "go" to the end of the writing, so that the kills fall in between."""
    taken = []
    for salt in "BAB":
        child = start(root)
        let_go(child, f"once {salt}")
        began = time.perf_counter()
        assert pipe(child.stdout).readline() == "wrote\n"
        taken.append(time.perf_counter() - began)
        end(child)
    return sorted(taken)[1]


def finish(root: Path, salt: str) -> None:
    """Do the next run, and find the new tree and nothing else."""
    with lock(root):
        tree.recover(root)
        tree.write(root, "out", *generation(salt))
    assert version(root) == salt
    assert leftovers(root) == [".gitignore", "lock"]


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_tree(root: Path) -> None:
    begin(root, "A")
    duration = seconds_of_a_write(root)
    moments = random.Random(6)
    inside, now = 0, "B"
    waiting = start(root)
    for turn in range(MOMENTS):
        child, waiting = waiting, start(root)
        before, after = now, "ABCA"["ABC".index(now) + 1]
        let_go(child, f"once {after}")
        time.sleep(moments.uniform(0, duration))
        end(child)
        now = version(root)
        assert now in {before, after}
        with lock(root):
            inside += bool(tree.recover(root))
        assert leftovers(root) == [".gitignore", "lock"]
        if turn % 5 == 0:
            assert version(root) == now
            finish(root, now := after)
    end(waiting)
    assert inside > 0, "no kill fell into a write: the test has tested nothing"


def test_a_kill_while_another_render_runs_leaves_one_whole_tree(root: Path) -> None:
    begin(root, "A")
    duration = seconds_of_a_write(root)
    moments = random.Random(7)
    other, waiting = start(root), start(root)
    let_go(other, "again CA")
    said: list[str] = []
    for _ in range(MOMENTS):
        child, waiting = waiting, start(root)
        let_go(child, "again AB")
        time.sleep(moments.uniform(0, 2 * duration))
        child.kill()
        said += child.communicate()[0].split()
        other.send_signal(signal.SIGSTOP)
        os.waitpid(other.pid, os.WUNTRACED)
        version(root)
        other.send_signal(signal.SIGCONT)
    end(waiting)
    assert other.poll() is None, "the other render met something that it could not repair"
    other.kill()
    said += other.communicate()[0].split()
    assert {"wrote", "busy"} <= set(said)
    version(root)
    finish(root, "B")


# --- every single step

CALLS = ("mkdir", "rmdir", "link", "rename", "replace", "unlink", "write", "chmod", "open", "fsync")
SMALL = {path: tree.header("a").encode() + b"old" for path in ("x/a", "x/b", "x/gone/c", "y/d")}
SMALL_NEXT = {path: tree.header("a").encode() + b"new" for path in ("x/a", "x/b", "x/fresh/e", "z/f")}


def die_at(step: int, work: Callable[[], None]) -> bool:
    """Work in a child that ends, as if killed, before its system call number `step`; tell whether it did."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    count = itertools.count()
    for owner, name in [*((os, name) for name in CALLS), (swap, "exchange")]:
        real = getattr(owner, name)

        def call(*args: object, real: Callable[..., object] = real, **kwargs: object) -> object:
            if next(count) == step:
                os._exit(9)
            return real(*args, **kwargs)

        setattr(owner, name, call)
    try:
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001
        os._exit(1)


def no_exchange(one: str, other: str) -> None:  # noqa: ARG001
    raise OSError(errno.ENOSYS, "Function not implemented")


@pytest.mark.parametrize("first", [False, True], ids=["again", "first render"])
@pytest.mark.parametrize("beside", [False, True], ids=["same disk", "other disk"])
@pytest.mark.parametrize("swaps", [True, False], ids=["exchange", "two renames"])
def test_a_death_at_every_system_call_is_repaired(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, swaps: bool, beside: bool, first: bool
) -> None:
    """Without an exchange the tree may be missing until the next run; it is never half of anything."""
    if beside:
        monkeypatch.setattr(tree, "_is_other_disk", lambda *_: True)
    if not swaps:
        monkeypatch.setattr(swap, "exchange", no_exchange)
    old = {} if first else {**SMALL, "x/mine": b"mine"}
    new = {path: data for path, data in {**old, **SMALL_NEXT}.items() if path != "x/gone/c"}
    for step in itertools.count():
        repository = root / str(step)
        for path, data in old.items():
            (repository / "out" / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / "out" / path).write_bytes(data)
        repository.mkdir(exist_ok=True)

        def work(root: Path = repository) -> None:
            with lock(root):
                tree.write(root, "out", SMALL_NEXT, ["x/gone/c"])

        died = die_at(step, work)
        with lock(repository):
            seen = whole(repository)
            assert seen in ([old, new] if swaps or (repository / "out").exists() else [{}])
            tree.recover(repository)
            assert whole(repository) in (old, new)
            assert leftovers(repository) == [".gitignore", "lock"]
            tree.write(repository, "out", SMALL_NEXT, ["x/gone/c"])
        assert whole(repository) == new
        assert not (repository / "out/x/gone").exists()
        assert sorted(path.name for path in repository.iterdir()) == [".paddlegen", "out"]
        if not died:
            break
    assert step > 20


def whole(root: Path) -> dict[str, bytes]:
    """Return the files of the tree without those of a stage in it, which no reader of ours sees either."""
    return {path: data for path, data in state(root).items() if "paddlegen-stage-" not in path}


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="there is no exchange")
def test_a_reader_never_misses_the_tree(root: Path) -> None:
    begin(root, "A")
    child = start(root)
    let_go(child, "again BA")
    answers = 0
    while answers < 20:
        for _ in range(200):
            assert (root / "out/ns1/job1/service.yaml").stat().st_size
        answers += pipe(child.stdout).readline() == "wrote\n"
    end(child)
