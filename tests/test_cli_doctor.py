"""`paddlegen doctor`: one line for each thing, what to do where it is not well, and an exit code."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paddlegen import __version__, kustomize, scaffold
from paddlegen.cli import doctor, shell
from paddlegen.lock import lock

if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[..., tuple[int, list[str], str]]


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as `init` writes it, in Git, and a kustomize that says it is the pinned one."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    root = tmp_path / "repo"
    for path, data in scaffold.repository(["prod"]).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    subprocess.run(["git", "init", "-q", root], check=True)
    use_kustomize(tmp_path, monkeypatch, kustomize.BUNDLED_VERSION)
    monkeypatch.chdir(root)
    return root


def use_kustomize(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    program = folder / "kustomize"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PADDLEGEN_KUSTOMIZE", str(program))


@pytest.fixture
def look(capsys: pytest.CaptureFixture[str]) -> Look:
    def run(*arguments: str) -> tuple[int, list[str], str]:
        code = shell.run(["doctor", *arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run


def profile(root: Path, lines: str) -> None:
    text = f"apiVersion: paddlegen.dev/v1\nkind: Cluster\nspec:\n{lines}"
    (root / "overlays/prod/cluster.yaml").write_text(text)


def test_where_all_is_well_every_line_is_ticked(repo: Path, look: Look) -> None:
    code, lines, err = look()
    assert (code, err) == (0, "ready\n")
    assert lines[1] == f"✓ paddlegen {__version__}"
    assert lines[3].startswith(f"✓ kustomize {kustomize.BUNDLED_VERSION}, from PADDLEGEN_KUSTOMIZE, ")
    assert lines[5:] == [
        "✓ .gitattributes marks manifests/ as generated, with LF line ends",
        f"✓ {repo}: 1 job, 1 cluster",
        "✓ nobody else is writing the repository",
        "✓ the cache in .paddlegen/cache works",
        "✓ the schemas in schemas/ are current",
    ]


def test_outside_a_repository_only_the_machine_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Look
) -> None:
    (tmp_path / "elsewhere/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, lines, err = look()
    assert code == 0
    assert len(lines) == 5
    assert err == "no repository here: only the machine was looked at\nready\n"
    assert [path.name for path in Path().iterdir()] == [".git"]


def test_a_missing_kustomize_is_a_problem_with_a_remedy(monkeypatch: pytest.MonkeyPatch, look: Look) -> None:
    monkeypatch.delenv("PADDLEGEN_KUSTOMIZE")
    monkeypatch.setattr(kustomize, "__file__", "/nowhere/kustomize.py")
    git = Path(subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip())
    monkeypatch.setenv("PATH", str(git.parent))
    if (git.parent / "kustomize").exists():
        pytest.skip("a kustomize beside git")
    code, lines, err = look()
    assert code == 1
    assert lines[3].startswith("✗ paddlegen has no bundled kustomize here and PATH has none")
    assert lines[4].startswith("  install Go 1.24 or newer, or have the network at hand, and run pip install")
    assert err == "not ready: 1 problem, 0 remarks\n"


def test_a_kustomize_somebody_chose_is_told_by_the_choice(
    monkeypatch: pytest.MonkeyPatch, look: Look
) -> None:
    monkeypatch.setenv("PADDLEGEN_KUSTOMIZE", "/nowhere/kustomize")
    code, lines, _ = look()
    assert code == 1
    assert lines[3].startswith("✗ PADDLEGEN_KUSTOMIZE names /nowhere/kustomize")
    assert lines[4].startswith("✓ git")


def test_another_kustomize_is_a_remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Look) -> None:
    use_kustomize(tmp_path, monkeypatch, "v5.6.0")
    code, lines, err = look()
    assert code == 0
    assert lines[3].startswith("! kustomize v5.6.0, from PADDLEGEN_KUSTOMIZE")
    assert err == "ready, with 1 remark\n"


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("v2.4.0", "! Argo CD v2.4.0 (prod) has kustomize 4.4.1, and v5.8.1 renders here"),
        ("v3.4.0", "✓ Argo CD v3.4.0 (prod) has the same kustomize"),
        ("v9.9.0", "✓ Argo CD v9.9.0 (prod): which kustomize it has is not known here"),
    ],
)
def test_the_kustomize_of_argo_cd_is_compared(version: str, said: str, repo: Path, look: Look) -> None:
    profile(repo, f"  argocd: {{version: {version}}}\n")
    code, lines, _ = look()
    assert code == 0
    assert any(line.startswith(said) for line in lines)
    assert ("no matter while it syncs manifests/" in "\n".join(lines)) == ("the same" not in said)


def test_the_slow_yaml_is_a_remark(monkeypatch: pytest.MonkeyPatch, look: Look) -> None:
    monkeypatch.setattr("yaml.__with_libyaml__", False)
    code, lines, _ = look()
    assert code == 0
    assert "without libyaml" in lines[2]
    assert lines[3].startswith("  install its wheel")


def test_no_git_is_a_remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Look) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    code, lines, _ = look()
    assert code == 0
    assert "! there is no git on PATH" in lines


def test_attributes_that_are_missing_are_named(repo: Path, look: Look) -> None:
    (repo / ".gitattributes").write_text("* text=auto eol=lf\n")
    code, lines, _ = look()
    assert code == 0
    assert "  add to it: manifests/** linguist-generated=true" in lines


def test_a_folder_outside_git_is_a_remark(repo: Path, monkeypatch: pytest.MonkeyPatch, look: Look) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repo.parent))
    (repo / ".git").rename(repo.parent / "git")
    _, lines, _ = look()
    assert f"! {repo} is no Git repository" in lines


def test_broken_specs_are_a_remark_that_leads_to_check(repo: Path, look: Look) -> None:
    (repo / "jobs/broken.yaml").write_text("a: [")
    code, lines, _ = look()
    assert code == 0
    at = lines.index(f"! {repo}: 2 jobs, 1 cluster, and 1 of them with errors")
    assert lines[at + 1] == "  run paddlegen check"


def test_another_writer_is_told(repo: Path, look: Look) -> None:
    with lock(repo):
        code, lines, _ = look()
    assert code == 0
    assert any(line.startswith("! another paddlegen is writing this repository") for line in lines)


def test_a_repository_that_cannot_be_written_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, look: Look
) -> None:
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK | os.X_OK)
    code, lines, _ = look()
    assert code == 1
    assert any(line.startswith("✗ ") and "cannot be written" in line for line in lines)


def test_a_cache_that_does_not_work_is_a_remark(repo: Path, look: Look) -> None:
    (repo / ".paddlegen").mkdir()
    (repo / ".paddlegen/cache").write_text("no folder")
    code, lines, _ = look()
    assert code == 0
    assert "  remove .paddlegen/cache; nothing is lost" in lines


def test_schemas_of_another_version_are_a_remark(repo: Path, look: Look) -> None:
    (repo / "schemas/job.v1.json").write_text("{}")
    assert "! the schemas in schemas/ are of another paddlegen" in look()[1]
    for file in (repo / "schemas").iterdir():
        file.unlink()
    assert "! no schemas in schemas/: editors complete nothing" in look()[1]
    assert shell.run(["schema", "--write"]) == 0
    assert "✓ the schemas in schemas/ are current" in look()[1]


def test_a_root_that_is_none_cannot_be_looked_at(look: Look) -> None:
    code, lines, err = look("--root", "nowhere")
    assert (code, lines) == (2, [])
    assert err == "error: --root nowhere is no directory\n"


def test_a_terminal_without_such_letters_gets_others() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "paddlegen", "doctor"],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(doctor.__file__).parents[2])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.stdout.startswith("ok Python")
    assert "\\u" not in run.stdout
