"""Specs as text to what the pipeline makes of them, for tests that need no files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from paddlegen import catalogue, engine, pipeline
from paddlegen.cache import Cache
from paddlegen.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.catalogue import ClusterEntry
    from paddlegen.kustomize import Kustomize
    from paddlegen.model.report import Finding
    from paddlegen.pipeline import Unit


def cluster(body: dict[str, Any], name: str = "test") -> ClusterEntry:
    """A cluster whose profile has this `spec`."""
    profile = {"apiVersion": "paddlegen.dev/v1", "kind": "Cluster", "spec": body}
    path = f"overlays/{name}/cluster.yaml"
    entry, findings = catalogue.read_cluster(name, path, yaml.safe_dump(profile).encode())
    assert entry is not None, findings
    return entry


def units(text: str, where: ClusterEntry) -> list[Unit]:
    """Everything the specs of one file become on a cluster: storage first, then jobs."""
    contents = catalogue.read("jobs/case.yaml", text.encode())
    assert not contents.findings, contents.findings
    templates = {template.value.metadata.name: template for template in contents.templates}
    storage = [pipeline.storage_unit(entry, where) for entry in contents.storage]
    return storage + [pipeline.job_unit(entry, where, templates, contents) for entry in contents.jobs]


def shown(found: list[Unit]) -> str:
    """The base objects of units as YAML, in the order the pipeline hands them to kustomize.

    They are written as JSON and read again first: shared parts would become anchors.
    """
    bodies = [json.loads(body) for unit in found for body in unit.bodies]
    return yaml.safe_dump_all(bodies, sort_keys=False, default_flow_style=False, width=110)


def rendered(files: dict[str, str], program: Kustomize) -> tuple[dict[str, dict[str, Any]], list[Finding]]:
    """The finished objects of a repository that has these files, by path below `manifests/`."""
    data = {path: text.encode() for path, text in files.items()}
    jobs = {path: text for path, text in data.items() if path.startswith("jobs/")}
    overlays = {path: text for path, text in data.items() if path.startswith("overlays/")}
    made = Repository(Path(), None, jobs, overlays)
    result = engine.render(engine.Inputs(made, lambda: program, Cache(None), {}, b""))
    return {
        path: yaml.safe_load(file.text) for path, file in sorted(result.files.items()) if file.text
    }, result.findings


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every leaf in which two values differ, as path, ours, theirs; None is what is not there."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from differences(ours.get(key), theirs.get(key), f"{path}.{key}" if path else key)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif ours != theirs:
        yield path, ours, theirs
