"""What this repository renders, before the schemas of the clusters it is rendered for."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlegen import specs
from paddlegen.documents import Document, loads
from paddlegen.foreign import check_documents
from paddlegen.model.cluster import Cluster, ClusterProfile
from paddlegen.schema import Profile, profile_of

ROOT = Path(__file__).parent.parent
CLUSTERS = sorted(path.parent.name for path in (ROOT / "overlays").glob("*/cluster.yaml"))


def read(path: Path) -> list[Document]:
    documents, problems = loads(path.read_bytes(), path.relative_to(ROOT).as_posix())
    assert problems == []
    return documents


def cluster_of(text: str, name: str = "a") -> Cluster:
    documents, _ = loads(text.encode())
    parsed = specs.parse(documents[0], ClusterProfile)
    assert parsed.value is not None, parsed.violations
    return Cluster(name=name, body=parsed.value.spec)


def profile(text: str) -> Profile:
    return profile_of(cluster_of(text))


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_rendered_manifest_is_what_its_cluster_takes(name: str) -> None:
    cluster = cluster_of((ROOT / "overlays" / name / "cluster.yaml").read_text(encoding="utf-8"), name)
    documents = [one for path in sorted((ROOT / "manifests" / name).rglob("*.yaml")) for one in read(path)]
    checked = check_documents(documents, cluster, strict=True)
    assert checked.findings == ()
    assert checked.counts["objects"] == checked.counts["validated"] > 0


def test_a_profile_takes_the_versions_of_its_cluster() -> None:
    made = profile(
        "{apiVersion: paddlegen.dev/v1, kind: Cluster, spec: {kubernetes: '1.18', crd: v1beta1, "
        "paddleOperator: {version: 0.2.1}, volcano: {version: v1.4.0-beta}, "
        "trainingOperator: {version: '1.7'}}}"
    )
    assert (made.kubernetes, made.crd) == ((1, 18), "v1beta1")
    assert made.release("paddle-operator") == (0, 2, 1)
    assert made.release("volcano") == (1, 4, 0)
    assert made.release("training-operator") == (1, 7)


def test_an_operator_that_is_not_named_has_its_newest_release() -> None:
    made = profile("{apiVersion: paddlegen.dev/v1, kind: Cluster, spec: {}}")
    assert made.release("volcano") > (1, 16)


@pytest.mark.parametrize(
    ("kubernetes", "tabled"), [((1, 7), (1, 11)), ((1, 20), (1, 20)), ((1, 40), (1, 37))]
)
def test_a_version_outside_the_tables_is_read_as_the_nearest(
    kubernetes: tuple[int, int], tabled: tuple[int, int]
) -> None:
    assert Profile(kubernetes).tabled == tabled
