"""The jobs of the documents and what `jobs/` makes of them: every difference stands in a file, with its reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from units import differences, rendered

from paddlegen import kustomize

ROOT = Path(__file__).parent.parent
FIXTURES = Path(__file__).parent / "data" / "document_jobs"
TABLE: list[dict[str, Any]] = yaml.safe_load(FIXTURES.with_suffix(".yaml").read_text())
CLUSTER = "legacy"
"""The cluster that the documents were written for: operator 0.2.0, v1beta1 CRDs."""

HOMES = {
    "002-1": ["paddle-system/wide-and-deep/paddlejob-wide-and-deep.yaml"],
    "002-2": ["paddle-system/resnet/paddlejob-resnet.yaml"],
    "002-3": [
        "paddle-system/wide-and-deep-gang/paddlejob-wide-and-deep-gang.yaml",
        "paddle-system/wide-and-deep-gang/podgroup-wide-and-deep-gang.yaml",
    ],
    "002-4": ["paddle-system/wide-and-deep-gpu/paddlejob-wide-and-deep-gpu.yaml"],
    "002-5": [
        "_storage/paddle-system/persistentvolume-nfs-pv.yaml",
        "_storage/paddle-system/persistentvolumeclaim-nfs-pvc.yaml",
    ],
    "002-6": ["paddle-system/wide-and-deep-nas/paddlejob-wide-and-deep-nas.yaml"],
}
"""Document to the files of its objects, in the document's order."""


def document(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FIXTURES / f"{name}.yaml").read_text()))


@pytest.fixture(scope="module")
def ours() -> dict[str, dict[str, Any]]:
    paths = [path for top in ("jobs", "overlays") for path in (ROOT / top).rglob("*.yaml")]
    files = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    objects, findings = rendered(files, kustomize.find())
    assert [finding for finding in findings if finding.severity.value == "error"] == []
    return objects


@pytest.mark.needs_kustomize
@pytest.mark.parametrize("name", HOMES)
def test_the_documents_object_and_ours_differ_as_the_table_says_and_in_nothing_else(
    name: str, ours: dict[str, dict[str, Any]]
) -> None:
    found = [
        {"object": f"{name} {theirs['kind']}", "path": path, "ours": mine, "theirs": other}
        for home, theirs in zip(HOMES[name], document(name), strict=True)
        for path, mine, other in differences(ours[f"{CLUSTER}/{home}"], theirs)
    ]
    told = [
        {key: entry.get(key) for key in ("object", "path", "ours", "theirs")}
        for entry in TABLE
        if entry["object"].startswith(f"{name} ")
    ]
    assert sorted(found, key=str) == sorted(told, key=str)


def test_every_difference_has_its_reason_and_every_entry_its_document() -> None:
    for entry in TABLE:
        assert entry["fact"], entry
        assert set(entry) <= {"object", "path", "ours", "theirs", "fact"}, entry
        assert entry["object"].split()[0] in HOMES, entry


@pytest.mark.needs_kustomize
def test_every_cluster_has_jobs(ours: dict[str, dict[str, Any]]) -> None:
    assert {path.split("/")[0] for path in ours} == {"gpu", "legacy", "prod"}


def test_no_job_needs_a_pod_template() -> None:
    assert not [path for path in (ROOT / "jobs").rglob("*.yaml") if "podTemplate" in path.read_text()]


@pytest.mark.parametrize("name", HOMES)
def test_the_fixtures_hold_the_values_of_the_documents(name: str) -> None:
    corpus = Path(os.environ.get("PADDLEGEN_CORPUS", ROOT.parent / "shared" / "corpus"))
    seeds = sorted(corpus.glob(f"seeds/{name}-*.yaml"))
    if not seeds:
        pytest.skip(f"the documents are not here ({corpus}; PADDLEGEN_CORPUS names another place)")
    assert document(name) == [body for body in yaml.safe_load_all(seeds[0].read_text()) if body]
