"""Volumes, claims and mounts, and what is wrong with their descriptions."""

from __future__ import annotations

import pytest
from units import cluster, units

from paddlegen import catalogue

JOB = """
apiVersion: paddlegen.dev/v1
kind: JobSpec
metadata: {{name: job, namespace: ml}}
spec:
  image: registry.example.com/r:v1
  roles: {{ps: {{}}, worker: {{}}}}
  storage:
  - {}
"""
STORAGE = """
apiVersion: paddlegen.dev/v1
kind: StorageSpec
metadata: {{name: nas, namespace: ml}}
spec: {}
"""


def refs(text: str) -> list[str]:
    found = units(text, cluster({}))
    assert [finding for unit in found for finding in unit.findings] == []
    return [f"{manifest.folder} {manifest.ref}" for unit in found for manifest in unit.manifests]


def messages(text: str) -> list[str]:
    return [finding.message for unit in units(text, cluster({})) for finding in unit.findings]


@pytest.mark.parametrize(
    ("entry", "objects"),
    [
        ("{claim: there, mountPath: /x}", []),
        ("{name: d, hostPath: {path: /d}, mountPath: /x}", []),
        (
            "{name: d, storageClass: fast, size: 1Gi, mountPath: /x}",
            ["storage PersistentVolumeClaim ml/job-d"],
        ),
        (
            "{name: d, nfs: {server: s, path: /p}, size: 1Gi, mountPath: /x}",
            ["storage PersistentVolume ml-job-d", "storage PersistentVolumeClaim ml/job-d"],
        ),
        (
            (
                "{name: d, csi: {driver: d, volumeHandle: h}, size: 1Gi, volumeName: v, "
                "claimName: c, mountPath: /x}"
            ),
            ["storage PersistentVolume v", "storage PersistentVolumeClaim ml/c"],
        ),
    ],
)
def test_storage_in_place_is_rendered_once_for_all_roles_and_outlives_the_job(
    entry: str, objects: list[str]
) -> None:
    assert refs(JOB.format(entry)) == ["job PaddleJob ml/job", *objects]


def test_a_storage_spec_is_its_own_and_its_job_only_names_the_claim() -> None:
    text = STORAGE.format("{nfs: {server: s, path: /p}, size: 1Gi, claimName: shared}") + "---"
    text += JOB.format("{use: nas, mountPath: /x}")

    assert refs(text) == [
        "storage PersistentVolume ml-shared",
        "storage PersistentVolumeClaim ml/shared",
        "job PaddleJob ml/job",
    ]
    body = units(text, cluster({}))[1].manifests[0].body
    spec = body["spec"]["worker"]["template"]["spec"]
    assert spec["volumes"] == [{"name": "nas", "persistentVolumeClaim": {"claimName": "shared"}}]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{mountPath: /x, nfs: {server: s, path: /p}, size: 1Gi}", "has no name"),
        ("{name: d, mountPath: /x}", "nothing says where the data lives"),
        ("{name: d, mountPath: /x, claim: c, nfs: {server: s, path: /p}}", "nfs and claim are given"),
        ("{name: d, mountPath: /x, claim: c, size: 1Gi}", "size means nothing beside claim"),
        ("{name: d, mountPath: /x, claim: c, claimName: e}", "claimName means nothing beside claim"),
        ("{use: nas, mountPath: /x}", "there is no StorageSpec nas"),
        ("{name: d, mountPath: /x, storageClass: fast}", "has no size"),
        ("{name: d, mountPath: /x, storageClass: fast, size: 1GB}", "no Kubernetes quantity"),
    ],
)
def test_a_mount_that_cannot_be_is_told(entry: str, words: str) -> None:
    found = messages(JOB.format(entry))

    assert any(words in message for message in found), found


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{}", "name one of nfs, hostPath, csi, claim, storageClass"),
        ("{hostPath: {path: /d}}", "has no size"),
        ("{claim: c, reclaimPolicy: Delete}", "reclaimPolicy means nothing beside claim"),
    ],
)
def test_a_storage_spec_that_cannot_be_is_told(body: str, words: str) -> None:
    found = [
        finding.message for finding in catalogue.read("jobs/s.yaml", STORAGE.format(body).encode()).findings
    ]

    assert any(words in message for message in found), found
