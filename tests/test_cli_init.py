"""`paddlegen init`: what it writes passes check, and what was there stays as it was."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddlegen import kustomize, published, scaffold
from paddlegen.cli import shell
from paddlegen.errors import ToolError

ROOT = Path(__file__).parent.parent


def _has_kustomize() -> bool:
    try:
        kustomize.find()
    except ToolError:
        return False
    return True


needs_kustomize = pytest.mark.skipif(not _has_kustomize(), reason="no kustomize here")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "PADDLEGEN_KUSTOMIZE"):
        monkeypatch.delenv(name, raising=False)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".paddlegen" not in path.parts
    }


@needs_kustomize
@pytest.mark.parametrize("clusters", [[], ["prod", "staging"]], ids=["default", "two"])
def test_what_it_writes_passes_check_and_is_rendered(
    clusters: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(["init", *(f"--cluster={name}" for name in clusters)]) == 0
    before = tree(tmp_path)
    capsys.readouterr()
    assert shell.run(["check", "--fail-on", "info"]) == 0
    assert capsys.readouterr().out.endswith("no findings\n")
    assert shell.run(["render"]) == 0
    assert tree(tmp_path) == before
    assert {path.split("/")[1] for path in before if path.startswith("manifests/")} == {
        *(clusters or ["prod"])
    }


@needs_kustomize
def test_it_writes_what_a_repository_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["init"]) == 0
    assert list(tree(tmp_path)) == sorted(
        [
            ".gitattributes",
            ".gitignore",
            "README.md",
            "jobs/templates/ps-cpu.yaml",
            "jobs/wide-and-deep.yaml",
            "manifests/prod/paddle-jobs/wide-and-deep/paddlejob-wide-and-deep.yaml",
            "overlays/prod/cluster.yaml",
            "overlays/prod/kustomization.yaml",
            "overlays/v1/kustomization.yaml",
            "overlays/v1beta1/kustomization.yaml",
            "paddlegen.yaml",
            *(f"schemas/{published.file_name(name)}" for name in published.names()),
        ]
    )
    out, err = capsys.readouterr()
    assert out == "16 files are here: one job for the cluster prod\n"
    assert [line.split("#")[0].strip() for line in err.splitlines()[-3:]] == [
        "paddlegen new my-job",
        "paddlegen render",
        "paddlegen check",
    ]


@needs_kustomize
def test_git_ignores_the_cache_and_takes_everything_else(tmp_path: Path) -> None:
    assert shell.run(["init"]) == 0
    assert shell.run(["check"]) == 0
    environ = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q"], check=True, env=environ)
    added = subprocess.run(
        ["git", "add", "--dry-run", "."], check=True, capture_output=True, text=True, env=environ
    ).stdout
    assert sorted(line.split("'")[1] for line in added.splitlines()) == sorted(
        path for path in tree(tmp_path) if not path.startswith(".git/")
    )
    attribute = subprocess.run(
        ["git", "check-attr", "linguist-generated", "manifests/prod/a.yaml"],
        check=True, capture_output=True, text=True, env=environ,
    ).stdout  # fmt: skip
    assert attribute.endswith("linguist-generated: true\n")


def test_the_components_are_those_of_this_repository() -> None:
    files = scaffold.repository(["prod"])
    for name in ("v1", "v1beta1"):
        ours = tree(ROOT / "overlays" / name)
        prefix = f"overlays/{name}/"
        assert {path.removeprefix(prefix): files[path] for path in files if path.startswith(prefix)} == ours


def test_the_scaffold_has_no_mark_left() -> None:
    assert [path for path, data in scaffold.repository(["prod"]).items() if b"CLUSTER" in data] == []


@needs_kustomize
def test_it_overwrites_nothing_and_names_everything_in_its_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "jobs").write_text("a file where a folder goes")
    (tmp_path / "overlays").symlink_to(tmp_path.parent)
    before = sorted(tmp_path.iterdir())
    assert shell.run(["init"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: nothing was written, because these exist:\n  README.md\n  jobs\n  overlays\n"
        "move them away, or name another directory\n"
    )
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "README.md").read_text() == "mine"


@needs_kustomize
def test_a_second_time_it_refuses_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(["init", "repo"]) == 0
    before = tree(tmp_path)
    capsys.readouterr()
    assert shell.run(["init", "repo", "--cluster", "other"]) == 2
    assert "  repo/paddlegen.yaml\n" in capsys.readouterr().err
    assert tree(tmp_path) == before


@needs_kustomize
def test_other_files_are_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "jobs").mkdir()
    assert shell.run(["init"]) == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"


@needs_kustomize
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = Path.mkdir

    def mkdir(folder: Path, mode: int = 0o777, **how: bool) -> None:
        if folder == Path("new/repo/overlays/v1beta1"):
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))
        real(folder, mode, **how)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    assert shell.run(["init", "new/repo"]) == 2
    assert "No space left on device; free some space" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Prod", "--cluster is 'Prod'; lower-case letters, digits"),
        ("../x", "--cluster is '../x'; lower-case letters, digits"),
        ("v1", "--cluster is 'v1'; overlays/v1 is what clusters share"),
    ],
)
def test_a_cluster_needs_a_name_of_its_own(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(["init", "--cluster", name]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_kustomize_it_writes_nothing(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "paddlegen", "init"],
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "PADDLEGEN_KUSTOMIZE": "/nowhere/kustomize"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert run.stderr.startswith("error: PADDLEGEN_KUSTOMIZE names /nowhere/kustomize")
    assert list(tmp_path.iterdir()) == []
