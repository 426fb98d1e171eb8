"""A small repository with one of everything, and what a run makes of it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from paddlegen import drift, kustomize, tree
from paddlegen.cli import session
from paddlegen.errors import ToolError
from paddlegen.lock import lock
from paddlegen.model.report import Finding, report
from paddlegen.rendering import Selection
from paddlegen.repository import MANIFESTS

HEAD = "apiVersion: paddlegen.dev/v1\nkind: "
FILES = {
    "paddlegen.yaml": HEAD + "Config\n",
    "jobs/templates/base.yaml": HEAD
    + "JobTemplate\nmetadata: {name: base}\nspec: {image: 'r.example.com/a:v1', network: Service}\n",
    "jobs/templates/ps.yaml": HEAD + "JobTemplate\nmetadata: {name: ps}\nspec:\n  extends: [base]\n"
    "  env: {GLOG_v: '0'}\n  roles: {ps: {replicas: 2}, worker: {replicas: 2}}\n",
    "jobs/nas.yaml": HEAD
    + "StorageSpec\nmetadata: {name: nas}\nspec: {size: 1Gi, nfs: {server: nfs.example.com, path: /nas}}\n",
    "jobs/a.yaml": HEAD
    + "JobSpec\nmetadata: {name: a}\nspec: {extends: [ps], storage: [{use: nas, mountPath: /nas}]}\n",
    "jobs/b.yaml": HEAD + "JobSpec\nmetadata: {name: b}\nspec: {extends: [ps], clusters: [prod]}\n",
    "jobs/c.yaml": HEAD + "JobSpec\nmetadata: {name: c}\n"
    "spec: {extends: [base], roles: {worker: {replicas: 3}}, scheduling: {gang: true}}\n",
    "overlays/common/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    "commonAnnotations: {from: component}\n",
    "overlays/common/unused.txt": "nobody reads this\n",
    "overlays/prod/cluster.yaml": HEAD
    + "Cluster\nspec: {kubernetes: '1.33', paddleOperator: {version: 0.3.5}, "
    "volcano: {version: v1.12.0}, gang: git}\n",
    "overlays/prod/kustomization.yaml": "components: [../common]\npatches: [{path: a.yaml}]\n",
    "overlays/prod/a.yaml": "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\n"
    "metadata: {name: a}\nspec: {cleanPodPolicy: Never}\n",
    "overlays/stage/cluster.yaml": HEAD
    + "Cluster\nspec: {kubernetes: '1.15', crd: v1beta1, paddleOperator: {version: 0.3.1}, "
    "volcano: {version: v1.0.1}}\n",
    "overlays/stage/kustomization.yaml": "commonLabels: {stage: debug}\n",
}


class Outcome(NamedTuple):
    """Everything a run tells, in its order."""

    files: dict[str, tuple[str, str]]
    findings: tuple[Finding, ...]
    jobs: int
    clusters: list[str]
    is_complete: bool


def write(root: Path, files: dict[str, str] | None = None) -> Path:
    """Write the repository, or these files of it."""
    for path, text in (FILES if files is None else files).items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def edit(root: Path, path: str, old: str, new: str) -> None:
    """Replace a text that is there."""
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new))


def outcome(
    root: Path, *, cache: bool = True, selection: Selection | None = None, save: bool = False
) -> Outcome:
    """What `paddlegen check` sees; with `save`, and then what `paddlegen render` writes is on disk."""
    selection = selection or Selection()
    opened = session.open_session(root)
    disk = session.on_disk(opened)
    result = session.render(opened, disk, selection, label="", use_cache=cache)
    findings = list(result.findings)
    if result.is_complete:
        present = {path: (found.digest, found.owned) for path, found in disk.items()}
        whole = not selection.jobs and not selection.clusters
        findings += drift.compare(
            MANIFESTS, result.files, present, lambda path: session.read_manifest(opened, path), whole=whole
        )
    if result.is_complete and save:
        texts = {path: one.text.encode() for path, one in result.files.items() if one.text is not None}
        with lock(root):
            tree.write(root, MANIFESTS, texts, {path for path in disk if path not in result.files})
        for path, one in result.files.items():
            assert hashlib.sha256((root / MANIFESTS / path).read_bytes()).hexdigest() == one.digest
    # Of two objects with one path, which is an error, either may be the one that is kept.
    files = {
        path: (one.digest, one.source) if result.is_complete else ("", "")
        for path, one in sorted(result.files.items())
    }
    told = report(findings, {}).findings
    return Outcome(files, told, result.jobs, result.clusters, result.is_complete)


def no_cache(root: Path) -> None:
    """Forget everything."""
    shutil.rmtree(root / ".paddlegen", ignore_errors=True)


def real_kustomize() -> str:
    """The kustomize of this machine, or a skipped test."""
    try:
        return str(Path(kustomize.find().path).absolute())
    except ToolError as error:
        pytest.skip(str(error))
