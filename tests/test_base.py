"""`check --base`: what servers would refuse about a change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from paddlegen.cli import shell

ROOT = Path(__file__).parent.parent
STORAGE = """\
apiVersion: paddlegen.dev/v1
kind: StorageSpec
metadata: {name: nas, namespace: ml}
spec:
  nfs: {server: 192.0.2.10, path: /nas}
  size: 10Gi
  accessModes: [ReadWriteMany]
"""

pytestmark = pytest.mark.needs_kustomize


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(params=["", "deep/inside"], ids=["at the top", "below the top"])
def repository(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed repository, in git's root or below it."""
    root: Path = tmp_path / request.param
    shutil.copytree(ROOT / "overlays/v1", root / "overlays/v1")
    shutil.copytree(ROOT / "overlays/prod", root / "overlays/prod")
    (root / "jobs").mkdir()
    (root / "jobs/nas.yaml").write_text(STORAGE)
    monkeypatch.chdir(root)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    assert shell.run(["render"]) == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "a")
    return root


def test_nothing_changed_is_nothing_refused(repository: Path) -> None:
    assert repository.exists()
    assert shell.run(["check", "--base", "HEAD"]) == 0


def test_a_claim_that_cannot_change_is_told_at_the_line_of_the_spec(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "jobs/nas.yaml").write_text(STORAGE.replace("ReadWriteMany", "ReadWriteOnce"))
    assert shell.run(["render"]) == 0
    assert shell.run(["check"]) == 0
    capsys.readouterr()
    for _ in range(2):  # the second time with a warm cache
        assert shell.run(["check", "--base", "main", "--format", "concise"]) == 1
        out = capsys.readouterr().out
        assert "jobs/nas.yaml:" in out
        assert "immutable" in out


def test_a_claim_may_grow(repository: Path) -> None:
    (repository / "jobs/nas.yaml").write_text(STORAGE.replace("10Gi", "20Gi"))
    assert shell.run(["render"]) == 0
    assert shell.run(["check", "--base", "HEAD"]) == 0


@pytest.mark.parametrize("revision", ["gone", "--all", "HEAD:jobs"])
def test_a_revision_that_is_none_is_told(
    repository: Path, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert repository.exists()
    assert shell.run(["check", f"--base={revision}"]) == 2
    assert f"--base is {revision}" in capsys.readouterr().err


def test_a_revision_before_the_first_render_has_nothing_to_compare(repository: Path) -> None:
    (repository / "jobs/nas.yaml").write_text(STORAGE.replace("ReadWriteMany", "ReadWriteOnce"))
    git(repository, "rm", "-rq", "--cached", "manifests")
    git(repository, "commit", "-q", "-m", "b")
    assert shell.run(["render"]) == 0
    assert shell.run(["check", "--base", "HEAD"]) == 0
