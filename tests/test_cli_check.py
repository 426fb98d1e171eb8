"""`paddlegen check` on manifests that no spec of ours renders."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import pytest

from paddlegen.cli import shell

ROOT = Path(__file__).parent.parent
JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: a, namespace: ml}
spec:
  worker:
    replicas: 2
    template: {spec: {containers: [{name: paddle, image: registry.example.com/a:v1}]}}
"""
POD_GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: a, namespace: ml}
spec: {minMember: 3}
"""


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_good_file_passes_outside_any_repository_and_is_accounted_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.yaml").write_text(JOB)
    assert shell.run(["check", "a.yaml"]) == 0
    out = capsys.readouterr().out
    assert "1 file, 1 object, 1 validated, 0 policy-only, 0 without schema" in out


def test_standard_input_is_a_file_called_dash(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = JOB.replace("replicas", "replicass").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert shell.run(["check", "-"]) == 1
    out = capsys.readouterr().out
    assert " --> -:6:5" in out
    assert "6 |     replicass: 2" in out
    assert "did you mean replicas?" in out


def test_a_folder_is_read_to_the_bottom_and_its_objects_see_one_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("d/e").mkdir(parents=True)
    Path("d/a.yaml").write_text(JOB)
    Path("d/e/b.yml").write_text(POD_GROUP)
    Path("d/e/notes.txt").write_text("{")
    assert shell.run(["check", "d", "--format", "concise"]) == 1
    assert capsys.readouterr().out == (
        "d/e/b.yml:4:19: error: minMember is 3; the job has 2 pods (worker 2) [gang-size-matches-replicas]\n"
    )


def test_a_kind_without_schema_is_a_warning_an_error_when_strict_and_nothing_when_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("w.yaml").write_text("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n")
    assert shell.run(["check", "w.yaml"]) == 0
    assert "warning[kind-has-schema]" in capsys.readouterr().out
    assert shell.run(["check", "w.yaml", "--strict"]) == 1
    shutil.copytree(ROOT / "overlays", "overlays")
    Path("jobs").mkdir()
    Path("paddlegen.yaml").write_text(
        "apiVersion: paddlegen.dev/v1\nkind: Config\n"
        "spec: {kindsWithoutSchema: [{apiVersion: example.com/v1, kind: Widget}]}\n"
    )
    assert shell.run(["check", "w.yaml", "--strict"]) == 0


def test_the_cluster_that_is_named_decides(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "overlays", "overlays")
    Path("jobs").mkdir()
    Path("a.yaml").write_text(JOB + "  schedulingPolicy: {queue: q}\n")
    assert shell.run(["check", "a.yaml", "--cluster", "prod"]) == 0
    assert shell.run(["check", "a.yaml", "--cluster", "legacy"]) == 1
    assert "schedulingPolicy" in capsys.readouterr().out


def test_jobs_and_manifests_are_not_checked_in_one_go(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(JOB)
    assert shell.run(["check", "a.yaml", "some-job"]) == 2
    assert "one after the other" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: [1\n", ":1:6: error: "),
        (JOB + "  intranet: on\n", ":8:13: error: "),
        (JOB + JOB.replace("apiVersion", "apiVersion"), ":8:1: error: "),
    ],
    ids=["broken YAML", "a scalar two readers read differently", "duplicate keys"],
)
def test_what_is_wrong_with_the_text_is_told_at_its_line(
    text: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(text)
    assert shell.run(["check", "a.yaml", "--format", "concise"]) == 1
    assert where in capsys.readouterr().out
