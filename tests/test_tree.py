"""The rendered tree: what is written, what is refused, and what a failing system leaves."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddlegen import swap, tree
from paddlegen.errors import WorkspaceError
from paddlegen.lock import lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

HEAD = tree.header("jobs/a.yaml").encode()
# A disk in memory, where there is one, for the tests that write hundreds of trees.
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
ROOT_USER = hasattr(os, "geteuid") and os.geteuid() == 0


def owned(text: str) -> bytes:
    return HEAD + text.encode()


def snapshot(root: Path) -> dict[str, bytes | str | None]:
    """Everything below a directory but our own folder: bytes, the goal of a symlink, None for a directory."""
    found: dict[str, bytes | str | None] = {}
    for folder, folders, files in os.walk(root):
        if ".paddlegen" in folders:
            folders.remove(".paddlegen")
        for name in [*folders, *files]:
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[key] = str(path.readlink())
            else:
                found[key] = None if path.is_dir() else path.read_bytes()
    return found


def put(root: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def leftovers(root: Path) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if "stage-" in path.name or path.name.startswith("journal")
    )


def no_exchange(one: str, other: str) -> None:  # noqa: ARG001
    raise OSError(errno.ENOSYS, "Function not implemented")


# --- what is written

names = st.sampled_from(["a", "b", "c.yaml", "é"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
contents = st.sampled_from(["1", "2", "3"]).map(owned)


def without_clashes(files: dict[str, bytes]) -> dict[str, bytes]:
    """Drop each path that needs a directory where another one is a file."""
    kept: dict[str, bytes] = {}
    for path, data in sorted(files.items()):
        if not any(path.startswith(f"{other}/") for other in kept):
            kept[path] = data
    return kept


@st.composite
def changes(draw: st.DrawFn) -> tuple[dict[str, bytes], dict[str, bytes], dict[str, bytes], set[str]]:
    """Draw an old tree (rendered and foreign files), files to write and files to delete that fit together."""
    old = without_clashes(draw(st.dictionaries(paths, contents, max_size=8)))
    foreign = {
        f"{path}.txt": b"mine"
        for path in draw(st.sets(paths, max_size=3))
        if not any(path.startswith(f"{other}/") or f"{path}.txt".startswith(f"{other}/") for other in old)
    }
    foreign = without_clashes(foreign)
    delete = draw(st.sets(st.sampled_from(sorted(old)))) if old else set()
    stay = {path for path in old if path not in delete} | set(foreign)
    files = {
        path: data
        for path, data in without_clashes(draw(st.dictionaries(paths, contents, max_size=6))).items()
        if path not in delete
        and not any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in stay)
    }
    return old, foreign, files, delete


@pytest.mark.parametrize("way", ["exchange", "two renames", "beside", "no links"])
@settings(max_examples=60, deadline=None)
@given(change=changes())
def test_the_new_tree_is_the_old_one_plus_files_minus_deletions(
    way: str, change: tuple[dict[str, bytes], dict[str, bytes], dict[str, bytes], set[str]]
) -> None:
    old, foreign, files, delete = change
    with tempfile.TemporaryDirectory(dir=QUICK) as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder)
        put(root / "out", {**old, **foreign})
        if way == "two renames":
            patch.setattr(swap, "exchange", no_exchange)
        elif way == "beside":
            patch.setattr(tree, "_is_other_disk", lambda *_: True)
        elif way == "no links":
            patch.setattr(os, "link", fail_with(errno.EPERM))
        before = snapshot(root)
        with lock(root):
            tree.write(root, "out", files, delete)
        expected = {path: data for path, data in {**old, **foreign, **files}.items() if path not in delete}
        assert files_of(snapshot(root)) == {f"out/{path}": data for path, data in expected.items()}
        gone = set(before) - set(snapshot(root))
        assert folders_of(snapshot(root)) == folders_above(expected) | (
            {"out"} if (before or expected) else set()
        )
        assert not gone & {f"out/{path}" for path in foreign}
        assert leftovers(root) == []
        assert not (root / ".paddlegen/rescued").exists()


def files_of(found: Mapping[str, bytes | str | None]) -> dict[str, bytes | str]:
    return {path: data for path, data in found.items() if data is not None}


def folders_of(found: Mapping[str, bytes | str | None]) -> set[str]:
    return {path for path, data in found.items() if data is None}


def folders_above(files: Mapping[str, bytes]) -> set[str]:
    return {f"out/{parent}" for path in files for parent in map(str, Path(path).parents) if parent != "."}


def test_one_changed_file_leaves_every_other_file_and_directory_alone(tmp_path: Path) -> None:
    put(tmp_path, {"out/x/a": owned("1"), "out/x/b": owned("1")})
    before = [(tmp_path / path).stat().st_ino for path in ("out", "out/x", "out/x/b")]
    tree.write(tmp_path, "out", {"x/a": owned("2"), "x/b": owned("1")}, [])
    assert (tmp_path / "out/x/a").read_bytes() == owned("2")
    assert [(tmp_path / path).stat().st_ino for path in ("out", "out/x", "out/x/b")] == before


def test_nothing_is_touched_when_nothing_differs(tmp_path: Path) -> None:
    put(tmp_path, {"out/a": owned("1")})
    before = (tmp_path / "out/a").stat()
    tree.write(tmp_path, "out", {"a": owned("1")}, ["gone", "gone/too"])
    assert (tmp_path / "out/a").stat() == before
    assert not (tmp_path / ".paddlegen").exists()


def test_only_the_smallest_directory_with_changes_is_replaced(tmp_path: Path) -> None:
    put(tmp_path, {"out/x/a": owned("1"), "out/x/b": owned("1"), "out/y/c": owned("1")})
    before = (tmp_path / "out").stat().st_ino
    tree.write(tmp_path, "out", {"x/a": owned("2"), "x/b": owned("2")}, [])
    assert (tmp_path / "out").stat().st_ino == before


def test_the_first_render_makes_every_directory_it_needs(tmp_path: Path) -> None:
    tree.write(tmp_path, "deep/out", {"x/a": owned("1"), "b": owned("2")}, [])
    assert files_of(snapshot(tmp_path)) == {"deep/out/x/a": owned("1"), "deep/out/b": owned("2")}


def test_modes_symlinks_and_empty_directories_are_carried_over(tmp_path: Path) -> None:
    put(tmp_path, {"out/x/a": owned("1"), "out/x/b": owned("1"), "out/x/run.sh": b"#!/bin/sh\n"})
    (tmp_path / "out/x/a").chmod(0o640)
    (tmp_path / "out/x/run.sh").chmod(0o755)
    (tmp_path / "out/x/empty").mkdir(mode=0o700)
    (tmp_path / "out/x").chmod(0o2750)
    (tmp_path / "out/x/link").symlink_to("/nowhere")
    (tmp_path / "out/x/loop").symlink_to(".")
    tree.write(tmp_path, "out", {"x/a": owned("2"), "x/b": owned("2")}, [])
    mode = {path.name: path.lstat().st_mode & 0o7777 for path in (tmp_path / "out").rglob("*")}
    assert (mode["x"], mode["a"], mode["run.sh"], mode["empty"]) == (0o2750, 0o640, 0o755, 0o700)
    assert str((tmp_path / "out/x/link").readlink()) == "/nowhere"
    assert str((tmp_path / "out/x/loop").readlink()) == "."


def test_a_file_may_become_a_directory_and_a_directory_a_file(tmp_path: Path) -> None:
    put(tmp_path, {"out/a": owned("1"), "out/b/c/d": owned("1")})
    tree.write(tmp_path, "out", {"a/x": owned("2"), "b": owned("2")}, ["a", "b/c/d"])
    assert files_of(snapshot(tmp_path)) == {"out/a/x": owned("2"), "out/b": owned("2")}


def test_deleting_the_last_file_keeps_the_top_directory(tmp_path: Path) -> None:
    put(tmp_path, {"out/x/y/a": owned("1")})
    tree.write(tmp_path, "out", {}, ["x/y/a"])
    assert snapshot(tmp_path) == {"out": None}


def test_a_file_saved_into_the_tree_meanwhile_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Editors do not know our lock: what they save after the stage was built must survive the exchange."""
    put(tmp_path, {"out/a": owned("1"), "out/b": owned("1"), "out/note.txt": b"first"})

    def install(stage: swap.Stage) -> None:
        put(tmp_path, {"out/new/late.txt": b"late", "out/note.new": b"second"})
        (tmp_path / "out/note.new").replace(tmp_path / "out/note.txt")
        swap.install(stage)

    monkeypatch.setattr("paddlegen.tree.install", install)
    tree.write(tmp_path, "out", {"a": owned("2"), "b": owned("2")}, [])
    assert files_of(snapshot(tmp_path)) == {
        "out/a": owned("2"),
        "out/b": owned("2"),
        "out/new/late.txt": b"late",
        "out/note.txt": b"second",
    }


# --- what is found


def test_digests_name_the_content_the_owner_and_the_kind(tmp_path: Path) -> None:
    put(tmp_path, {"out/x/a": b"", "out/b": owned("1"), "out/job.sh": b"#!/bin/sh\n" + HEAD})
    put(tmp_path, {"out/.x.paddlegen-stage-1/new/a": owned("1"), "out/large": b"x" * (1 << 19)})
    (tmp_path / "out/link").symlink_to("x")
    found = tree.digests(tmp_path, "out")
    assert {path: (entry.kind, entry.owned) for path, entry in found.items()} == {
        "x/a": ("file", False),
        "b": ("file", True),
        "job.sh": ("file", True),
        "large": ("file", False),
        "link": ("symlink", False),
    }
    assert found["x/a"].digest == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_no_tree_is_an_empty_tree(tmp_path: Path) -> None:
    assert tree.digests(tmp_path, "out") == {}


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        (tree.header("jobs/a.yaml"), True),
        ("#!/bin/bash\n" + tree.header("jobs/a.yaml"), True),
        ("kind: Job\n" + tree.header("jobs/a.yaml"), False),
        ("# rendered by paddlegen from x", False),
        ("", False),
    ],
)
def test_the_header_is_the_proof_of_ownership(text: str, is_ours: bool) -> None:
    assert tree.is_owned(text) is is_ours
    assert tree.is_owned(text.encode()) is is_ours


# --- what is refused


@pytest.mark.parametrize(
    "path", ["/etc/x", "../x", "a/../../x", "a//b", "", "a/", "./a", "a\0b", "a\\b", ".."]
)
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, path: str) -> None:
    for call in (
        lambda: tree.write(tmp_path, "out", {path: owned("1")}, []),
        lambda: tree.write(tmp_path, "out", {}, [path]),
        lambda: tree.write(tmp_path, path, {"a": owned("1")}, []),
        lambda: tree.digests(tmp_path, path),
    ):
        with pytest.raises(WorkspaceError, match="not a path inside the repository"):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("link", ["out", "out/x", "out/x/y", ".paddlegen"])
def test_a_symlink_never_leads_a_write_outside(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    put(outside, {"x/y/a": owned("1"), "y/a": owned("1"), "a": owned("1")})
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    before = snapshot(outside)
    for files, delete in (({"x/y/a": owned("2")}, []), ({"x/y/b": owned("2")}, []), ({}, ["x/y/a"])):
        if link == ".paddlegen" and delete:
            continue
        with pytest.raises(WorkspaceError, match=r"is a symlink|is not a directory"):
            tree.write(root, "out", files, delete)
    with pytest.raises(WorkspaceError, match=r"is a symlink|is not a directory"), lock(root):
        tree.digests(root, link)
    assert snapshot(outside) == before


def test_a_symlink_is_neither_replaced_nor_deleted(tmp_path: Path) -> None:
    put(tmp_path, {"target": owned("1")})
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a").symlink_to(tmp_path / "target")
    for files, delete in (({"a": owned("2")}, []), ({}, ["a"])):
        with pytest.raises(WorkspaceError, match="out/a is a symlink"):
            tree.write(tmp_path, "out", files, delete)
    assert (tmp_path / "target").read_bytes() == owned("1")


def test_a_foreign_file_is_neither_replaced_nor_deleted(tmp_path: Path) -> None:
    put(tmp_path, {"out/a": b"mine", "out/b": owned("1")})
    with pytest.raises(WorkspaceError, match="out/a was not rendered by paddlegen; move it away"):
        tree.write(tmp_path, "out", {"a": owned("1"), "b": owned("2")}, [])
    with pytest.raises(WorkspaceError, match="out/a was not rendered by paddlegen; it is not deleted"):
        tree.write(tmp_path, "out", {"b": owned("2")}, ["a"])
    assert files_of(snapshot(tmp_path)) == {"out/a": b"mine", "out/b": owned("1")}


def test_a_directory_in_the_way_is_refused(tmp_path: Path) -> None:
    put(tmp_path, {"out/a/foreign": b"mine", "out/a/b": owned("1"), "out/f": b"mine"})
    with pytest.raises(WorkspaceError, match="out/a is a directory where a file is to be written"):
        tree.write(tmp_path, "out", {"a": owned("1")}, ["a/b"])
    with pytest.raises(WorkspaceError, match="out/f is a file where a directory is to be"):
        tree.write(tmp_path, "out", {"f/x": owned("1")}, [])
    with pytest.raises(WorkspaceError, match="out/a is a directory"):
        tree.write(tmp_path, "out", {}, ["a"])


def test_a_file_that_could_never_be_replaced_is_a_bug_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lacks '# Rendered by paddlegen from '"):
        tree.write(tmp_path, "out", {"a": b"kind: Job\n"}, [])
    with pytest.raises(ValueError, match="to be written and to be deleted"):
        tree.write(tmp_path, "out", {"a": owned("1")}, ["a"])


# --- one writer


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    code = "import sys; from paddlegen.lock import lock\nwith lock(sys.argv[1]): pass"
    with lock(tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
        )
        message = f"another paddlegen is writing this repository (process {os.getpid()}); wait for it to end"
        assert message in done.stderr
    with lock(tmp_path):
        assert (tmp_path / ".paddlegen/.gitignore").read_text() == "*\n"


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), lock(tmp_path):
        raise KeyError
    with lock(tmp_path), pytest.raises(WorkspaceError, match="another paddlegen"), lock(tmp_path):
        pass


def test_a_lock_that_is_a_symlink_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".paddlegen").mkdir()
    (tmp_path / ".paddlegen/lock").symlink_to("../precious")
    with pytest.raises(WorkspaceError), lock(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


# --- what the system refuses


def fail_with(number: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


OLD = {f"{folder}/{name}": owned("1" * 900) for folder in "xy" for name in range(20)}
NEXT = {path: owned("2" * 3000) for path in OLD}


@pytest.mark.parametrize("call", ["write", "fsync", "link", "mkdir", "open", "rename", "replace", "chmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_whatever_fails_leaves_the_old_tree_and_no_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """Each system call of a write fails in turn, at its first, second, third… use."""
    put(tmp_path / "out", OLD)
    put(tmp_path, {"out/foreign": b"mine"})
    (tmp_path / "out/x").chmod(0o700)
    monkeypatch.setattr(swap, "exchange", no_exchange)
    before = files_of(snapshot(tmp_path))
    real = getattr(os, call)
    for nth in range(6):
        count = iter(range(10_000))

        def fail_once(
            *args: object, count: Iterator[int] = count, nth: int = nth, **kwargs: object
        ) -> object:
            if next(count) == nth:
                raise OSError(number, os.strerror(number))
            return real(*args, **kwargs)

        with lock(tmp_path):
            with monkeypatch.context() as patch:
                patch.setattr(os, call, fail_once)
                told = ""
                try:
                    tree.write(tmp_path, "out", NEXT, [])
                except WorkspaceError as error:
                    told = str(error)
            if told:
                assert os.strerror(number) in told
                assert "out is as it was" in told
                assert files_of(snapshot(tmp_path)) == before
                assert leftovers(tmp_path) == []
                continue
            assert files_of(snapshot(tmp_path)) == {**before, **{f"out/{path}": NEXT[path] for path in NEXT}}
            tree.recover(tmp_path)
            assert leftovers(tmp_path) == []
            put(tmp_path / "out", OLD)


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if not ROOT_USER or sys.platform != "linux":
        pytest.skip("only root can mount a disk to fill")
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this system does not let us mount a disk to fill")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=400k"):
        root = tmp_path / "disk"
        put(root / "out", OLD)
        before = snapshot(root)
        with lock(root):
            with pytest.raises(
                WorkspaceError, match="No space left on device; free some space and run again"
            ):
                tree.write(root, "out", {path: owned("2" * 9000) for path in OLD}, [])
            assert snapshot(root) == before
            tree.write(root, "out", {path: owned("2" * 900) for path in OLD}, [])
        assert leftovers(root) == []


def test_a_read_only_disk_is_named(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m"):
        root = tmp_path / "disk"
        put(root / "out", OLD)
        before = snapshot(root)
        subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
        with pytest.raises(WorkspaceError, match="Read-only file system; make the disk writable"), lock(root):
            pass
        with pytest.raises(WorkspaceError, match="Read-only file system"):
            tree.write(root, "out", NEXT, [])
        assert snapshot(root) == before
        subprocess.run(["mount", "-o", "remount,rw", str(root)], check=True)


def test_a_tree_on_another_disk_is_staged_there(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "size=4m"), lock(tmp_path):
        tree.write(tmp_path, "disk/out", OLD, [])
        put(tmp_path, {"disk/out/foreign": b"mine"})
        tree.write(tmp_path, "disk/out", NEXT, [])
        assert files_of(snapshot(tmp_path / "disk/out")) == {**NEXT, "foreign": b"mine"}
        assert leftovers(tmp_path) == []
        with pytest.raises(WorkspaceError, match="disk"):
            tree.write(tmp_path, "disk", {"a": owned("1"), "b": owned("1")}, [])
        assert leftovers(tmp_path) == []


def test_a_disk_mounted_inside_the_tree_is_refused_and_untouched(tmp_path: Path) -> None:
    put(tmp_path / "out", {"a": owned("1"), "b": owned("1")})
    with mounted(tmp_path / "out/disk", "size=1m"):
        put(tmp_path, {"out/disk/precious": b"mine"})
        with pytest.raises(WorkspaceError, match="a disk is mounted inside"):
            tree.write(tmp_path, "out", {"a": owned("2"), "b": owned("2")}, [])
        assert (tmp_path / "out/disk/precious").read_bytes() == b"mine"


# --- what an earlier run left


def test_a_planted_journal_moves_nothing(tmp_path: Path) -> None:
    """The repository is not trusted: a journal that names other folders than ours is thrown away."""
    put(tmp_path, {"precious/old/x": b"mine", ".paddlegen/lock": b""})
    for place, stage in (
        ("../elsewhere", ".paddlegen/stage-1"),
        ("out", "precious"),
        ("out", "../precious"),
        ("precious", ".paddlegen/stage-../../precious"),
        ("/out", "/.out.paddlegen-stage-1"),
    ):
        text = f'{{"place": "{place}", "stage": "{stage}"}}'
        (tmp_path / ".paddlegen/journal.json").write_text(text)
        assert tree.recover(tmp_path) == []
        assert files_of(snapshot(tmp_path)) == {"precious/old/x": b"mine"}
        assert leftovers(tmp_path) == []
    (tmp_path / ".paddlegen/journal.json").write_text("[1")
    assert tree.recover(tmp_path) == []


def test_a_foreign_file_found_only_in_a_stage_is_kept(tmp_path: Path) -> None:
    put(tmp_path, {".paddlegen/stage-ab/new/x/late.txt": b"late", ".paddlegen/stage-ab/new/x/a": owned("1")})
    put(tmp_path, {".paddlegen/stage-ab/new/half": HEAD[:5], ".paddlegen/stage-ab/new/none": b""})
    assert tree.recover(tmp_path) == [
        "kept x/late.txt, which is nowhere else, as .paddlegen/rescued/ab/x/late.txt",
        "removed .paddlegen/stage-ab, which an interrupted run left",
    ]
    assert (tmp_path / ".paddlegen/rescued/ab/x/late.txt").read_bytes() == b"late"
    assert tree.recover(tmp_path) == []


def test_a_stage_that_is_a_symlink_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, {"precious/new/a": owned("1"), ".paddlegen/lock": b""})
    (tmp_path / ".paddlegen/stage-1").symlink_to("../precious")
    tree.recover(tmp_path)
    assert (tmp_path / "precious/new/a").read_bytes() == owned("1")
    assert leftovers(tmp_path) == []
