"""What differs between clusters with v1 and with v1beta1 CRDs, release by release, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from units import differences, rendered

from paddlegen import kustomize

if TYPE_CHECKING:
    from collections.abc import Iterator

OVERLAYS = Path(__file__).parent.parent / "overlays"
VERSIONS = ("0.2.0", "0.2.1", "0.3.0", "0.3.1", "0.3.5")

JOBS = """
{kind: JobSpec, metadata: {name: plain}, spec: {roles: {ps: {replicas: 2}, worker: {replicas: 2}}}}
{kind: JobSpec, metadata: {name: gpu}, spec: {gpu: 1, cpu: 1, network: Service, \
roles: {worker: {replicas: 2}}}}
{kind: JobSpec, metadata: {name: single}, spec: {ports: [{port: 80}], roles: {worker: {}}}}
{kind: JobSpec, metadata: {name: sidecar}, spec: {roles: {ps: {}, worker: {}}, podTemplate: {spec: {\
initContainers: [{name: fetch, image: i, ports: [{containerPort: 1}]}], \
containers: [{name: logs, image: i, ports: [{containerPort: 2}, {containerPort: 2, protocol: UDP}]}]}}}}
"""
HETER = "{kind: JobSpec, metadata: {name: heter}, spec: {roles: {ps: {}, worker: {}, \
heter: {entrypointTranslatesEnvironment: true}}}}"
KEPT = "{kind: JobSpec, metadata: {name: labelled}, spec: {podLabels: {team: ads}, roles: {worker: {}}}}"

DROPPED = "the v1beta1 CRD up to 0.3.0 prunes template metadata (facts 1.2, 1.3): it would be drift"
EXPECTED: dict[str, dict[str, str]] = {
    "0.2.0": {},  # both CRDs prune it, so both trees are without
    "0.2.1": {"spec.*.template.metadata": DROPPED},
    "0.3.0": {"spec.*.template.metadata": DROPPED},
    "0.3.1": {},
    "0.3.5": {},
}
"""Release to the paths in which the trees differ, with the reason."""


def files(version: str) -> dict[str, str]:
    """Two clusters that differ in the CRD flavour only, and jobs that both can run."""
    found = {
        path.relative_to(OVERLAYS.parent).as_posix(): path.read_text()
        for flavour in ("v1", "v1beta1")
        for path in (OVERLAYS / flavour).iterdir()
    }
    for flavour in ("v1", "v1beta1"):
        profile = {"kubernetes": "1.18", "crd": flavour, "paddleOperator": {"version": version}}
        cluster = {"apiVersion": "paddlegen.dev/v1", "kind": "Cluster", "spec": profile}
        top = {"kind": "Kustomization", "components": [f"../{flavour}"]}
        top["apiVersion"] = "kustomize.config.k8s.io/v1beta1"
        found[f"overlays/on-{flavour}/cluster.yaml"] = json.dumps(cluster)
        found[f"overlays/on-{flavour}/kustomization.yaml"] = json.dumps(top)
    texts = JOBS.strip().splitlines()
    texts += [HETER] if version >= "0.3.0" else []
    texts += [KEPT] if version >= "0.3.1" else []
    for index, text in enumerate(texts):
        job = yaml.safe_load(text)
        job["spec"] |= {"image": "registry.example.com/r:v1"}
        found[f"jobs/{index}.yaml"] = json.dumps({"apiVersion": "paddlegen.dev/v1", **job})
    return found


def ports(value: Any) -> Iterator[dict[str, Any]]:
    """Every container port of an object."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(item, dict) and "containerPort" in item:
            yield item
        yield from ports(item)


@pytest.mark.needs_kustomize
@pytest.mark.parametrize("version", VERSIONS)
def test_the_flavours_differ_as_the_table_says_and_in_nothing_else(version: str) -> None:
    objects, findings = rendered(files(version), kustomize.find())
    assert [finding.message for finding in findings] == []
    trees: dict[str, dict[str, Any]] = {"v1": {}, "v1beta1": {}}
    for path, body in objects.items():
        cluster, _, rest = path.partition("/")
        trees[cluster.removeprefix("on-")][rest] = body

    assert set(trees["v1"]) == set(trees["v1beta1"])
    found = {
        path.replace(f".{role}.", ".*.")
        for name, body in trees["v1"].items()
        for path, _, _ in differences(body, trees["v1beta1"][name])
        for role in [path.split(".")[1]]
    }
    assert found == set(EXPECTED[version])
    every = [port for body in trees["v1beta1"].values() for port in ports(body)]
    assert len(every) >= 5
    assert all("protocol" in port for port in every)


@pytest.mark.needs_kustomize
@pytest.mark.parametrize("version", VERSIONS)
def test_template_metadata_is_where_the_crd_keeps_it_in_every_role(version: str) -> None:
    keeps = {"v1": version != "0.2.0", "v1beta1": version >= "0.3.1"}
    objects, _ = rendered(files(version), kustomize.find())

    for path, body in objects.items():
        flavour = path.partition("/")[0].removeprefix("on-")
        roles = [role for role in ("ps", "worker", "heter") if role in body["spec"]]
        assert roles
        for role in roles:
            assert ("metadata" in body["spec"][role]["template"]) is keeps[flavour], (path, role)
