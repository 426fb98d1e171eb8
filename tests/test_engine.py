"""Shards of kustomize builds are one build, and every object finds its way back to its job."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
import small
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddlegen import kustomize, pipeline, shards
from paddlegen.cli import session
from paddlegen.model.output import header
from paddlegen.rendering import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from paddlegen.pipeline import Unit

PADDLE = "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\n"
VOLCANO = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
_FIELDS = {
    "labels": "labels: [{pairs: {team: ads}}]\n",
    "annotations": "commonAnnotations: {owner: ads}\n",
    "images": "images: [{name: r.example.com/a, newTag: v9}]\n",
}
_PATCHES = {
    "named": ("- path: named.yaml\n", PADDLE + "metadata: {name: b}\nspec: {cleanPodPolicy: Always}\n"),
    "target": (
        "- path: target.yaml\n  target: {kind: PaddleJob}\n",
        PADDLE + "metadata: {name: any}\nspec: {cleanPodPolicy: Never}\n",
    ),
    "json": (
        "- path: json.yaml\n  target: {kind: PaddleJob, name: 'a|d'}\n",
        "- {op: replace, path: /spec/worker/replicas, value: 2}\n",
    ),
    "several": (
        "- path: several.yaml\n",
        PADDLE
        + "metadata: {name: a}\nspec: {worker: {template: {spec: {hostNetwork: true}}}}\n---\n"
        + PADDLE
        + "metadata: {name: e}\nspec: {worker: {template: {spec: {hostIPC: true}}}}\n",
    ),
    "delete": ("- path: delete.yaml\n", VOLCANO + "metadata: {name: c}\n$patch: delete\n"),
}


def repository(root: Path, names: list[str], fields: list[str], patches: list[str]) -> Path:
    """Jobs in files whose order is that of the names given."""
    files = {path: text for path, text in small.FILES.items() if path.startswith(("jobs/t", "paddlegen"))}
    for number, name in enumerate(names):
        files[f"jobs/{number}.yaml"] = (
            f"{small.HEAD}JobSpec\nmetadata: {{name: {name}}}\nspec: {{extends: [ps]}}\n"
        )
    entries = "".join(_PATCHES[name][0] for name in patches)
    text = "".join(_FIELDS[name] for name in fields) + (f"patches:\n{entries}" if patches else "")
    files["overlays/prod/cluster.yaml"] = small.FILES["overlays/prod/cluster.yaml"]
    files["overlays/prod/kustomization.yaml"] = text or "{}\n"
    files |= {f"overlays/prod/{name}.yaml": _PATCHES[name][1] for name in patches}
    return small.write(root, files)


def whole(root: Path, home: Path) -> set[str]:
    """Every object of one plain `kustomize build` of all bases and the overlay as it is written."""
    captured: list[str] = []
    top = home / "overlay"
    top.mkdir(parents=True)
    for file in (root / "overlays/prod").iterdir():
        (top / file.name).write_bytes(file.read_bytes())
    (top / "cluster.yaml").unlink()
    original = pipeline.job_unit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "job_unit", lambda *args: _caught(captured, original(*args)))
        small.outcome(root, cache=False)
    (top / "bases.yaml").write_text("\n---\n".join(captured))
    (top / "openapi.json").write_bytes(kustomize.OPENAPI.read_bytes())
    value = yaml.safe_load((top / "kustomization.yaml").read_text()) or {}
    value |= {"resources": ["bases.yaml"], "openapi": {"path": "openapi.json"}}
    (top / "kustomization.yaml").write_text(json.dumps(value))
    built = subprocess.run(
        [small.real_kustomize(), "build", str(top)], check=True, capture_output=True, text=True
    )
    return {text.rstrip("\n") for text in built.stdout.split("\n---\n")}


def _caught(captured: list[str], unit: Unit) -> Unit:
    captured += unit.bodies
    return unit


@pytest.mark.needs_kustomize
@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=st.permutations(list("abcdef")),
    fields=st.lists(st.sampled_from(sorted(_FIELDS)), unique=True),
    patches=st.lists(st.sampled_from(sorted(_PATCHES)), unique=True),
    shard=st.integers(1, 13),
)
def test_shards_are_one_whole_build(
    tmp_path_factory: pytest.TempPathFactory,
    names: list[str],
    fields: list[str],
    patches: list[str],
    shard: int,
) -> None:
    small.real_kustomize()
    home = tmp_path_factory.mktemp("shards").resolve()
    root = repository(home / "repository", names, fields, patches)
    expected = whole(root, home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", shard)
        opened = session.open_session(root)
        result = session.render(opened, {}, Selection(), label="", use_cache=False)
    texts = {one.text.split("\n", 1)[1].rstrip("\n") for one in result.files.values() if one.text}
    assert texts == expected
    for path, one in result.files.items():
        assert one.text is not None
        assert one.text.startswith(header(one.source))
        assert f"name: {path.split('/')[2]}" in one.text


@pytest.mark.needs_kustomize
def test_of_two_namesakes_the_one_that_is_left_keeps_its_spec(tmp_path: Path) -> None:
    small.real_kustomize()
    root = repository(tmp_path.resolve(), ["a", "b"], [], [])
    text = f"{small.HEAD}JobSpec\nmetadata: {{name: a, namespace: other}}\nspec: {{extends: [ps]}}\n"
    delete = PADDLE + "metadata: {name: a}\n$patch: delete\n"
    kustomization = "patches: [{path: delete.yaml}]\n"
    overlay = {"overlays/prod/kustomization.yaml": kustomization, "overlays/prod/delete.yaml": delete}
    small.write(root, {"jobs/9.yaml": text, **overlay})
    result = small.outcome(root, cache=False)
    assert "prod/default/a/paddlejob-a.yaml" not in result.files
    assert result.files["prod/other/a/paddlejob-a.yaml"][1] == "jobs/9.yaml"
    assert result.files["prod/default/a/podgroup-a.yaml"][1] == "jobs/0.yaml"
