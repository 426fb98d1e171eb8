"""What is found in foreign files, by file, line and rule, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddlegen.documents import Document, loads
from paddlegen.foreign import check_documents
from paddlegen.model.cluster import Cluster, ClusterBody, PaddleOperator
from paddlegen.model.report import Severity
from paddlegen.schema import coverage

CORPUS = Path(os.environ.get("PADDLEGEN_CORPUS", Path(__file__).parent.parent.parent / "shared" / "corpus"))
FOLDERS = ("edl", "kubeflow", "operator", "paddle-operator", "paddlerec", "seeds", "volcano")
CURRENT = Cluster(name="current", body=ClusterBody())
LEGACY = Cluster(
    name="legacy",
    body=ClusterBody(kubernetes="1.15", crd="v1beta1", paddle_operator=PaddleOperator(version="0.2.0")),
)

EXPECTED = {
    ("edl/examplejob.yaml", 14, "fields-known-to-cluster"),  # trainer.passes: spec.passes is meant
    ("seeds/002-6-PaddleJob.yaml", 6, "fields-known-to-cluster"),  # cleanPolicy: cleanPodPolicy is meant
    ("volcano/invalid-minAvailable.yaml", 7, "volcano-job-min-available-fits"),  # 5 of 4
}
"""Everything the schemas and servers find in the corpus on a current cluster."""

EXPECTED_ON_LEGACY = EXPECTED | {
    (
        "paddle-operator/wide_and_deep_volcano.yaml",
        8,
        "fields-known-to-cluster",
    ),  # schedulingPolicy is of 0.3.0
}

needs_corpus = pytest.mark.skipif(not (CORPUS / "seeds").is_dir(), reason=f"no corpus in {CORPUS}")


def corpus() -> list[Document]:
    files = sorted(path for folder in FOLDERS for path in (CORPUS / folder).glob("*.yaml"))
    return [
        document
        for path in files
        for document in loads(path.read_bytes(), path.relative_to(CORPUS).as_posix())[0]
    ]


@needs_corpus
@pytest.mark.parametrize(("cluster", "expected"), [(CURRENT, EXPECTED), (LEGACY, EXPECTED_ON_LEGACY)])
def test_the_corpus_has_exactly_these_findings(cluster: Cluster, expected: set[tuple[str, int, str]]) -> None:
    found = check_documents(corpus(), cluster).findings
    assert {
        (one.location.path, one.location.span.line, one.rule) for one in found if one.location.span
    } == expected
    assert len(found) == len(expected)


@needs_corpus
def test_every_object_of_the_corpus_is_accounted_for() -> None:
    counts = check_documents(corpus(), CURRENT).counts
    assert counts["objects"] == counts["validated"] + counts["policy-only"] + counts["without schema"]
    assert (counts["policy-only"], counts["without schema"]) == (1, 0)  # the ThirdPartyResource


@needs_corpus
def test_nothing_of_the_plain_documents_is_skipped() -> None:
    wanted = ("seeds/002-1", "seeds/002-2", "paddle-operator/resnet")
    counts = check_documents([one for one in corpus() if one.path.startswith(wanted)], CURRENT).counts
    assert counts == {"objects": 3, "validated": 3, "policy-only": 0, "without schema": 0, "no objects": 0}


def text(text: str) -> list[Document]:
    documents, problems = loads(text.encode(), "a.yaml")
    assert problems == []
    return documents


def test_a_kind_without_schema_is_named_once_for_each_object() -> None:
    documents = text("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n")
    (finding,) = check_documents(documents, CURRENT).findings
    assert (finding.rule, finding.severity) == ("kind-has-schema", Severity.WARNING)
    assert "example.com/v1 Thing" in finding.message
    (finding,) = check_documents(documents, CURRENT, strict=True).findings
    assert finding.severity is Severity.ERROR
    listed = frozenset({("example.com/v1", "Thing")})
    checked = check_documents(documents, CURRENT, strict=True, without_schema=listed)
    assert (checked.findings, checked.counts["without schema"]) == ((), 1)


def test_a_kind_of_another_api_version_is_told_the_ones_we_know() -> None:
    documents = text("apiVersion: batch.paddlepaddle.org/v1beta1\nkind: PaddleJob\nmetadata: {name: a}\n")
    (finding,) = check_documents(documents, CURRENT).findings
    assert finding.message.endswith("; PaddleJob is known as batch.paddlepaddle.org/v1 and kubeflow.org/v1")


def test_the_items_of_a_list_are_objects() -> None:
    documents = text(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n  dataa: {}\n"
        "- kind: ConfigMap\n- 3\n"
    )
    checked = check_documents(documents, CURRENT)
    assert checked.counts["validated"] == 2
    found = [(one.location.span.line, one.rule) for one in checked.findings if one.location.span]
    assert found == [
        (8, "fields-known-to-cluster"),
        (9, "object-says-what-it-is"),
        (10, "object-says-what-it-is"),
    ]


def test_a_document_that_is_no_object_is_counted_and_left_alone() -> None:
    checked = check_documents(text("workspace: /a\n---\n- 1\n"), CURRENT)
    assert checked.findings == ()
    assert checked.counts["no objects"] == 2


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        ("batch.paddlepaddle.org/v1", "PaddleJob", "validated"),
        ("v1", "PersistentVolumeClaim", "validated"),
        ("flow.volcano.sh/v1alpha1", "JobFlow", "policy-only"),
        ("example.com/v1", "Thing", "no-schema"),
        ("v1", "PaddleJob", "no-schema"),
    ],
)
def test_how_well_a_kind_is_known(api_version: str, kind: str, expected: str) -> None:
    assert coverage(api_version, kind) == expected
