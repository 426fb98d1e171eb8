"""`paddlegen list`: what is in the repository, whatever state it is in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from paddlegen import scaffold
from paddlegen.cli import shell
from paddlegen.cli.table import table, width

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
HEAD = "apiVersion: paddlegen.dev/v1\nkind: JobSpec\n"
LEGACY = """\
apiVersion: paddlegen.dev/v1
kind: Cluster
spec: {kubernetes: "1.15", paddleOperator: {version: 0.2.0}, volcano: {version: v1.0.1}}
"""
JOBS = f"""\
{HEAD}metadata: {{name: ctr, namespace: ads}}
spec:
  image: a
  roles:
    ps: {{replicas: 2, cpu: 500m, memory: 1Gi}}
    worker: {{replicas: 3, requests: {{cpu: 2}}, limits: {{cpu: 4, memory: 1536Mi}}, gpu: 2}}
  overrides: {{legacy: {{roles: {{worker: {{replicas: 1}}}}}}}}
---
{HEAD}metadata: {{name: quiet}}
spec: {{image: a, clusters: [prod], roles: {{worker: {{memory: 4Gi}}}}}}
"""
BROKEN = f"""\
{HEAD}metadata: {{name: 广告, namespace: ads}}
spec: {{imgae: a}}
---
{HEAD}metadata: {{name: lost, namespace: ads}}
spec: {{image: a, clusters: [nowhere], roles: {{worker: {{}}}}}}
---
{HEAD}metadata: {{name: twice, namespace: ads}}
spec: {{image: a, extends: [nothing], roles: {{worker: {{}}}}}}
"""
TEMPLATE = """\
apiVersion: paddlegen.dev/v1
kind: JobTemplate
metadata: {name: data}
spec:
  extends: [ps-cpu]
  params: {path: {}, fast: {type: boolean, default: true}}
  env: {DATA: "${params.path}"}
"""
STORAGE = """\
apiVersion: paddlegen.dev/v1
kind: StorageSpec
metadata: {name: nas, namespace: ads}
spec: {nfs: {server: a, path: /nas}, size: 10Gi, clusters: [prod]}
"""


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two clusters with two jobs; no kustomize is needed, and none is there."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PADDLEGEN_KUSTOMIZE", "/nowhere/kustomize")
    files = scaffold.repository(["prod"])
    del files["jobs/wide-and-deep.yaml"]
    files["overlays/legacy/cluster.yaml"] = LEGACY.encode()
    files["jobs/ads/jobs.yaml"] = JOBS.encode()
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run `list` and return what it printed, JSON as a value."""

    def run(*arguments: str) -> Any:
        assert shell.run(["list", *arguments]) == 0
        out, _ = capsys.readouterr()
        return json.loads(out) if "json" in arguments else out

    return run


def test_jobs_and_clusters_are_listed_and_totals_are_over_replicas(
    listed: Callable[..., Any], golden: Callable[[str, str], None]
) -> None:
    golden("list/default.txt", listed())


def test_broken_specs_are_listed_and_are_no_failure(
    repo: Path, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "jobs/broken.yaml").write_text(BROKEN)
    (repo / "jobs/unreadable.yaml").write_text("a: [")
    (repo / "overlays/legacy/cluster.yaml").write_text("kind: Clutser\n")
    assert shell.run(["list"]) == 0
    out, err = capsys.readouterr()
    golden("list/broken.txt", out)
    assert err == "5 entries have errors; `paddlegen check` tells which\n"


def test_json_has_the_documented_shape(listed: Callable[..., Any]) -> None:
    found = listed("--format", "json")
    assert list(found) == ["schema", "jobs", "clusters"]
    assert found["schema"] == "paddlegen.list/v1"
    ctr, quiet = found["jobs"]
    assert ctr["variants"][1] == {
        "clusters": ["prod"],
        "has_errors": False,
        "target": "paddle-operator",
        "mode": "ps",
        "total": {"replicas": 5, "cpu": "7", "memory": "6656Mi", "gpu": 6},
        "roles": {
            "ps": {"replicas": 2, "cpu": "1", "memory": "2Gi", "gpu": 0},
            "worker": {"replicas": 3, "cpu": "6", "memory": "4608Mi", "gpu": 6},
        },
    }
    assert ctr["variants"][0]["clusters"] == ["legacy"]
    assert quiet["variants"][0]["total"] == {"replicas": 1, "cpu": None, "memory": "4Gi", "gpu": 0}
    assert found["clusters"][1] == {
        "name": "prod",
        "has_errors": False,
        "kubernetes": "1.33",
        "crd": "v1",
        "paddle_operator": "0.3.5",
        "gang": "none",
        "jobs": 2,
        "gpu": 6,
    }


def test_the_documented_example_has_the_fields_that_are_printed(listed: Callable[..., Any]) -> None:
    """docs/list-v1.md."""

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shape(item) for key, item in value.items() if key != "roles"}
        return shape(value[0]) if isinstance(value, list) and value else type(value).__name__

    text = (ROOT / "docs/list-v1.md").read_text()
    example = json.loads(text.split("```json\n")[1].split("```")[0])
    assert shape(example) == shape(listed("-f", "json"))


@pytest.mark.parametrize(
    ("what", "heading", "line"),
    [
        ("templates", "TEMPLATE", "data      ps-cpu   path, fast=true        jobs/templates/data.yaml"),
        ("storage", "STORAGE", "ads/nas  prod      nfs     10Gi  jobs/nas.yaml"),
        ("targets", "NAME", "paddle-operator  batch.paddlepaddle.org/v1  PaddleJob"),
        ("policies", "NAME", "gang-size-matches-replicas"),
        ("formats", "NAME", "json"),
        ("clusters", "CLUSTER", "legacy"),
        ("jobs", "JOB", "ads/ctr"),
    ],
)
def test_each_list_can_be_had_alone(
    what: str, heading: str, line: str, repo: Path, listed: Callable[..., Any]
) -> None:
    (repo / "jobs/templates/data.yaml").write_text(TEMPLATE)
    (repo / "jobs/nas.yaml").write_text(STORAGE)
    text = listed(what)
    assert text.startswith(heading)
    assert any(row.startswith(line) for row in text.splitlines())
    assert list(listed(what, "--format", "json")) == ["schema", what]


@pytest.mark.parametrize("what", ["targets", "policies", "formats"])
def test_what_is_built_in_is_listed_anywhere(
    what: str,
    listed: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / ".git").mkdir()
    monkeypatch.chdir(elsewhere)
    assert listed(what)
    assert shell.run(["list"]) == 2


def test_an_empty_repository_has_empty_lists(repo: Path, listed: Callable[..., Any]) -> None:
    (repo / "jobs/ads/jobs.yaml").unlink()
    assert listed("jobs") == "no jobs\n"
    assert listed("jobs", "--format", "json")["jobs"] == []


def test_it_writes_nothing(repo: Path, listed: Callable[..., Any]) -> None:
    before = sorted(repo.rglob("*"))
    listed()
    assert sorted(repo.rglob("*")) == before


def test_an_unknown_list_is_answered_with_those_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["list", "jobz"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "'jobs', 'clusters'" in err


# --- tables


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("广告", 4), ("ｱ", 1), ("é", 1), ("e\u0301", 1)])
def test_a_texts_width_is_what_a_terminal_shows(text: str, columns: int) -> None:
    assert width(text) == columns


def test_columns_are_aligned_and_numbers_at_the_right() -> None:
    assert table(("A", "N", "B"), [("广告", "1", "x"), ("a", "100", "y")], numbers=(1,)) == (
        "A       N  B\n广告    1  x\na     100  y\n"
    )
