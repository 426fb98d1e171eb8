"""`paddlegen new`: what it writes passes check once rendered, and it never overwrites."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from paddlegen import documents, kustomize, published, scaffold
from paddlegen.cli import shell
from paddlegen.errors import ToolError

ROOT = Path(__file__).parent.parent
TEMPLATE = """\
apiVersion: paddlegen.dev/v1
kind: JobTemplate
metadata: {name: data}
spec:
  extends: [ps-cpu]
  image: registry.example.com/a:v1
  params:
    path: {description: where the samples are}
    epochs: {type: string, default: "3"}
  env: {DATA: "${params.path}"}
"""


def _has_kustomize() -> bool:
    try:
        kustomize.find()
    except ToolError:
        return False
    return True


needs_kustomize = pytest.mark.skipif(not _has_kustomize(), reason="no kustomize here")


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository with a cluster of each kind and one template."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "PADDLEGEN_KUSTOMIZE"):
        monkeypatch.delenv(name, raising=False)
    files = scaffold.repository(["prod"])
    del files["jobs/wide-and-deep.yaml"]
    files |= {
        f"overlays/{cluster}/{file}": (ROOT / "overlays" / cluster / file).read_bytes()
        for cluster in ("legacy", "gpu")
        for file in ("cluster.yaml", "kustomization.yaml")
    }
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_kustomize
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--kind", "ps"],
        ["--kind", "ps", "--gpu", "1"],
        ["--kind", "collective", "--gpu", "8"],
        ["--kind", "single", "--namespace", "paddle-system", "--image", "a/b@sha256:0123"],
        ["--kind", "storage", "--namespace", "ads"],
        ["--template", "ps-cpu"],
        ["--template", "ps-cpu", "--gpu", "1"],
        ["--template", "ps-cpu", "--kind", "ps"],
    ],
    ids=lambda options: " ".join(options) or "default",
)
def test_what_it_writes_passes_check_once_rendered(
    options: list[str], repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(["new", "first", *options]) == 0
    out, err = capsys.readouterr()
    assert out == "jobs/first.yaml\n"
    assert err == "edit it, and then: paddlegen render && paddlegen check\n"
    assert shell.run(["render"]) == 0
    capsys.readouterr()
    assert shell.run(["check", "--fail-on", "info"]) == 0
    assert capsys.readouterr().out.endswith("no findings\n")
    text = (repo / "jobs/first.yaml").read_text()
    schema = published.schema("storage" if "storage" in options else "job")
    value = documents.loads(text.encode(), "a.yaml")[0][0].value
    assert list(jsonschema.Draft7Validator(schema).iter_errors(value)) == []


def test_what_was_asked_for_stands_in_the_spec(repo: Path) -> None:
    arguments = ["--kind", "ps", "--namespace", "ads", "--image", "registry.example.com/x:v2", "--gpu", "4"]
    assert shell.run(["new", "ctr", *arguments, "--template", "ps-cpu"]) == 0
    body = documents.loads((repo / "jobs/ctr.yaml").read_bytes(), "a.yaml")[0][0].value
    assert isinstance(body, dict)
    assert body["metadata"] == {"name": "ctr", "namespace": "ads"}
    assert body["spec"]["image"] == "registry.example.com/x:v2"
    assert body["spec"]["extends"] == ["ps-cpu"]
    assert body["spec"]["roles"]["worker"]["gpu"] == 4
    assert "gpu" not in body["spec"]["roles"]["ps"]


def test_comments_stay_in_one_column(repo: Path) -> None:
    assert shell.run(["new", "ctr", "--kind", "ps", "--gpu", "1", "--image", "a"]) == 0
    lines = (repo / "jobs/ctr.yaml").read_text().splitlines()
    columns = {line.rindex("  # ") for line in lines if "  # " in line[4:] and "priorityClass" not in line}
    assert columns == {35}
    assert not [line for line in lines if line != line.rstrip()]


@needs_kustomize
def test_a_template_is_not_repeated_and_its_open_parameters_are_asked_for(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "jobs/templates/data.yaml").write_text(TEMPLATE)
    assert shell.run(["new", "ctr", "--template", "data"]) == 0
    body = documents.loads((repo / "jobs/ctr.yaml").read_bytes(), "a.yaml")[0][0].value
    assert isinstance(body, dict)
    assert body["spec"] == {
        "extends": ["data"],
        "params": {"path": "change-me"},
        "command": ["python"],
        "args": ["train.py"],
    }
    assert "path: change-me    # where the samples are\n" in (repo / "jobs/ctr.yaml").read_text()
    assert shell.run(["render"]) == 0
    assert "error" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("start", "output", "written"),
    [
        (".", "jobs/ads/a.yml", "jobs/ads/a.yml"),
        ("jobs/templates", "a.yaml", "jobs/templates/a.yaml"),
        ("overlays", "jobs/a.yaml", "jobs/a.yaml"),
    ],
)
def test_output_is_relative_to_where_one_is_or_to_the_root(
    start: str, output: str, written: str, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo / start)
    assert shell.run(["new", "a", "--output", output]) == 0
    first = (repo / written).read_text().splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert (repo / written).parent.joinpath(named).resolve() == repo / "schemas/job.v1.json"


def test_a_repository_without_schemas_gets_no_line_that_leads_nowhere(repo: Path) -> None:
    (repo / "schemas/job.v1.json").unlink()
    assert shell.run(["new", "a"]) == 0
    assert (repo / "jobs/a.yaml").read_text().startswith("apiVersion:")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Wide_Deep"], "NAME is 'Wide_Deep'; lower-case letters, digits"),
        (["Wide_Deep"], "did you mean wide-deep?"),
        (["a" * 64], "63 in all"),
        (["../../etc"], "NAME is '../../etc'; lower-case letters, digits"),
        (["a", "--namespace", "A"], "--namespace is 'A'; lower-case letters, digits"),
        (["a", "--image", ""], "--image is ''; name one"),
        (["a", "--image", "a # b"], "--image is 'a # b'; name one"),
        (["a", "--output", "a.yaml"], "--output is a.yaml, which is not below jobs/"),
        (["a", "--output", "jobs/../a.yaml"], "which is not below jobs/"),
        (["a", "--output", "jobs/a.txt"], "a spec is a file that ends in .yaml"),
        (["a", "--output", "jobs/.a.yaml"], "a spec is a file that ends in .yaml"),
        (["a", "--template", "ps-cpus"], "--template names 'ps-cpus'"),
        (["a", "--template", "ps-cpus"], "did you mean ps-cpu?"),
        (["a", "--kind", "storage", "--gpu", "0"], "--gpu is for jobs"),
        (["a", "--kind", "storage", "--template", "ps-cpu"], "--template is for jobs"),
        (["a", "--gpu", "-1"], "-1 is not in the range x>=0"),
        (["a", "--kind", "mpi"], "'mpi' is not one of"),
    ],
)
def test_what_makes_no_spec_is_refused_and_nothing_is_written(
    arguments: list[str], said: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(repo.rglob("*"))
    assert shell.run(["new", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert sorted(repo.rglob("*")) == before


def test_the_namespace_is_the_one_a_cluster_watches_else_default(repo: Path) -> None:
    assert shell.run(["new", "a"]) == 0
    assert "  namespace: paddle-system\n" in (repo / "jobs/a.yaml").read_text()
    (repo / "overlays/legacy/cluster.yaml").unlink()
    assert shell.run(["new", "b"]) == 0
    assert "  namespace: default\n" in (repo / "jobs/b.yaml").read_text()


def test_a_file_is_never_overwritten(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "jobs/a.yaml").write_text("mine")
    assert shell.run(["new", "a"]) == 2
    assert capsys.readouterr().err == (
        "error: jobs/a.yaml exists; choose another name, or another file with --output\n"
    )
    assert (repo / "jobs/a.yaml").read_text() == "mine"


def test_a_name_that_is_taken_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["new", "a", "--output", "jobs/x.yaml"]) == 0
    assert shell.run(["new", "a", "--output", "jobs/y.yaml"]) == 2
    assert "error: paddle-system/a is in jobs/x.yaml; choose another name\n" in capsys.readouterr().err
    assert shell.run(["new", "a", "--namespace", "ads", "--output", "jobs/y.yaml"]) == 0
    assert shell.run(["new", "a", "--kind", "storage", "--output", "jobs/z.yaml"]) == 0


def test_outside_a_repository_it_says_so(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / ".git").mkdir()
    monkeypatch.chdir(elsewhere)
    assert shell.run(["new", "a"]) == 2
    assert "run `paddlegen init`" in capsys.readouterr().err
