"""`paddlegen schema`: the published schemas are current, draft-07, and agree with what paddlegen reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from paddlegen import documents, published, scaffold, specs
from paddlegen.catalogue import read
from paddlegen.cli import shell
from paddlegen.model.job import JobSpec

ROOT = Path(__file__).parent.parent
COMMITTED = ROOT / "paddlegen" / "schemas"
BY_KIND = {
    "JobSpec": "job",
    "JobTemplate": "template",
    "StorageSpec": "storage",
    "Cluster": "cluster",
    "Config": "config",
}
JOB = "apiVersion: paddlegen.dev/v1\nkind: JobSpec\nmetadata: {name: a}\nspec:\n"
TEMPLATE = "apiVersion: paddlegen.dev/v1\nkind: JobTemplate\nmetadata: {name: a}\nspec:\n"


def own_files() -> list[Path]:
    """Every spec and profile of this repository."""
    found = [ROOT / "paddlegen.yaml", *ROOT.glob("jobs/**/*.yaml"), *ROOT.glob("overlays/*/cluster.yaml")]
    return sorted(found)


def faults(value: Any) -> list[str]:
    """What the published schema of a document's kind says against it."""
    schema = published.schema(BY_KIND[value["kind"]])
    return sorted(error.message for error in jsonschema.Draft7Validator(schema).iter_errors(value))


def load(text: str) -> Any:
    return documents.loads(text.encode(), "jobs/a.yaml")[0][0].value


# --- what is published


@pytest.mark.parametrize("name", published.names())
def test_the_committed_schema_is_current(name: str, request: pytest.FixtureRequest) -> None:
    """`paddlegen schema --write` in this repository, or `pytest --update-golden`, brings it up to date."""
    file = COMMITTED / published.file_name(name)
    if request.config.getoption("--update-golden"):
        file.write_text(published.text(name))
    assert file.read_text() == published.text(name)


@pytest.mark.parametrize("name", published.names())
def test_a_schema_is_draft_07_and_its_examples_hold(name: str) -> None:
    schema = published.schema(name)
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$id"] == f"https://paddlegen.dev/schemas/{name}.v1.json"
    for example in schema["examples"]:
        assert faults(example) == []


@pytest.mark.parametrize("name", published.names())
def test_every_field_is_described_for_both_kinds_of_editor(name: str) -> None:
    schema = published.schema(name)
    fields = [
        field
        for definition in (schema, *schema["definitions"].values())
        for field in definition["properties"].values()
    ]
    assert all(field["description"] and field["markdownDescription"] for field in fields)
    assert not any("`" in field["description"] for field in fields)


@pytest.mark.parametrize("name", published.names())
def test_every_reference_leads_somewhere_and_every_definition_is_used(name: str) -> None:
    schema = published.schema(name)
    text = json.dumps(schema)
    used = {key for key in schema["definitions"] if f'"#/definitions/{key}"' in text}
    assert used == set(schema["definitions"])
    assert "$defs" not in text


@pytest.mark.parametrize("name", published.names())
def test_an_examples_value_is_allowed_where_it_stands(name: str) -> None:
    schema = published.schema(name)
    for definition in (schema, *schema["definitions"].values()):
        for field, node in definition["properties"].items():
            validator = jsonschema.Draft7Validator({**node, "definitions": schema["definitions"]})
            for example in node.get("examples", []):
                assert validator.is_valid(example), f"{field}: {example}"


# --- against files


@pytest.mark.parametrize("path", own_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_our_own_specs_hold_and_name_their_schema(path: Path) -> None:
    text = path.read_text()
    value = load(text)
    assert faults(value) == []
    prefix = "# yaml-language-server: $schema="
    first = text.splitlines()[0]
    assert first.startswith(prefix)
    named = (path.parent / first.removeprefix(prefix)).resolve()
    assert named == COMMITTED / published.file_name(BY_KIND[value["kind"]])


def test_the_scaffold_holds_and_names_its_schemas(tmp_path: Path) -> None:
    files = scaffold.repository(["prod"])
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    specs_written = [
        path for path in files if path.endswith(".yaml") and "kustomize" not in files[path].decode()
    ]
    assert len(specs_written) == 4
    for path in specs_written:
        text = files[path].decode()
        value = load(text)
        assert faults(value) == []
        named = text.splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert (tmp_path / path).parent.joinpath(named).resolve() == (
            tmp_path / "schemas" / published.file_name(BY_KIND[value["kind"]])
        )


# --- as people write


@pytest.mark.parametrize(
    "written",
    [
        "  env: {DEBUG: true, LEVEL: 0, RATE: 0.5}",
        "  args: [--lr, 0.1, --verbose, true]",
        "  podLabels: {release: 1.10}",
        "  cpu: 0.5\n  memory: 16Gi",
        "  extends: [t]\n  image: null\n  env: {DEBUG: null}\n  scheduling: null\n  gpu: null",
        "  roles: {worker: {restartPolicy: null, gpu: null}, ps: null}",
        "  overrides: {prod: {gpu: null, roles: {worker: {replicas: 2}}}}",
        "  storage: [{use: nas, mountPath: /nas, nfs: null}]",
    ],
)
def test_what_paddlegen_takes_as_it_is_written_is_no_fault_in_an_editor(written: str) -> None:
    document = documents.loads((JOB + written).encode(), "jobs/a.yaml")[0][0]
    assert specs.parse(document, JobSpec).violations == ()
    assert faults(document.value) == []


@pytest.mark.parametrize(
    "written",
    [
        '  roles: {worker: {replicas: "${params.n}"}}',
        '  scheduling: {gang: "${params.gang}", queue: "${params.queue}"}',
        '  cleanup: "${params.cleanup}"',
        '  image: "registry.example.com/${params.image}"',
        '  gpu: "${params.gpus}"\n  params: {gpus: {type: integer, default: 1}}',
    ],
)
def test_a_parameter_may_stand_for_any_scalar_of_a_template(written: str) -> None:
    assert faults(load(TEMPLATE + written)) == []


def test_a_parameter_in_a_job_is_told_by_editor_and_check_alike() -> None:
    """A job's own values are known: there is nothing to fill in where a number is wanted."""
    text = JOB + '  roles: {worker: {replicas: "${params.n}"}}'
    assert faults(load(text)) != []
    assert read("jobs/a.yaml", text.encode()).findings != []


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("  imgae: a", "'imgae' was unexpected"),
        ("  roles: {worker: {replica: 2}}", "'replica' was unexpected"),
        ("  roles: {worker: {replicas: two}}", "'two' is not of type 'integer', 'null'"),
        ("  roles: {worker: {replicas: 0}}", "0 is less than the minimum of 1"),
        ("  network: Pod", "'Pod' is not one of"),
        ("  cpu: true", "True is not of type 'string', 'number', 'null'"),
        ("  clusters: null", "None is not of type 'array'"),
        ("  env: {A: [b]}", "is not valid under any of the given schemas"),
    ],
)
def test_a_slip_is_told(written: str, said: str) -> None:
    found = faults(load(JOB + written))
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("written", ["  gpu: ${params.n} of them", "  cleanup: Sometimes"])
def test_a_template_takes_no_other_text_for_a_number_or_a_choice(written: str) -> None:
    assert len(faults(load(TEMPLATE + written))) == 1


# --- the command


def test_without_a_name_it_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["schema"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == published.names()
    assert lines[0] == "job       A PaddlePaddle training job."


def test_it_prints_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["schema", "cluster"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "paddlegen cluster profile"


def test_an_unknown_name_is_answered_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["schema", "jobs"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: NAME is 'jobs'; the schemas are ")
    assert err.endswith("did you mean 'job'?\n")


def test_write_brings_the_repositorys_copies_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/job.v1.json").write_text("{}")
    (tmp_path / "schemas/storage.v1.json").write_text(published.text("storage"))
    assert shell.run(["schema", "--write", "--root", str(tmp_path)]) == 0
    written = capsys.readouterr().out.split()
    assert "schemas/job.v1.json" in written
    assert "schemas/storage.v1.json" not in written
    assert {path.name: path.read_text() for path in (tmp_path / "schemas").iterdir()} == {
        published.file_name(name): published.text(name) for name in published.names()
    }


def test_write_and_a_name_exclude_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["schema", "job", "--write", "--root", str(tmp_path)]) == 2
    assert "leave job out" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
