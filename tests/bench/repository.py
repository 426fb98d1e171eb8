"""A GitOps repository of any size, and the kustomize trees somebody would write for it by hand."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import catalogue, overlay, pipeline, repository

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlegen.pipeline import Unit

CLUSTERS = ("legacy", "prod")
TEMPLATE = "jobs/templates/ps-cpu.yaml"
_OVERLAYS = Path(__file__).parents[2] / "overlays"
_TEMPLATE = """\
apiVersion: paddlegen.dev/v1
kind: JobTemplate
metadata: {name: ps-cpu}
spec:
  params:
    trainers: {type: integer, default: 2}
  command: [python]
  env: {GLOG_v: "0", CPU_NUM: "4"}
  gloo: workers
  roles:
    ps: {replicas: 2, requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 8Gi}}
    worker: {replicas: "${params.trainers}", cpu: 4, memory: 16Gi}
"""
_JOB = """\
apiVersion: paddlegen.dev/v1
kind: JobSpec
metadata: {{name: job-{number}, namespace: paddle-system, labels: {{team: team-{team}}}}}
spec:
  extends: [ps-cpu]
  params: {{trainers: {trainers}}}
  image: registry.example.com/team-{team}/model-{number}:v1
  args: [train.py, --config, configs/job-{number}.yaml]
  cleanup: Never
  storage:
  - name: data
    mountPath: /data
    size: 100Gi
    nfs: {{server: nfs.example.com, path: /export/job-{number}}}
  scheduling: {{gang: true, queue: default}}
"""


def job_path(number: int) -> str:
    """Where the spec of a job is."""
    return f"jobs/team-{number % 10}/job-{number}.yaml"


def write(root: Path, jobs: int) -> None:
    """Write a repository: two clusters, one template, and jobs of four objects each."""
    for name in (*CLUSTERS, "v1", "v1beta1"):
        shutil.copytree(_OVERLAYS / name, root / "overlays" / name)
    for name in CLUSTERS:
        profile = root / "overlays" / name / "cluster.yaml"
        lines = profile.read_text().splitlines(keepends=True)
        profile.write_text("".join(line for line in lines if not line.startswith("  platform:")))
    config = "apiVersion: paddlegen.dev/v1\nkind: Config\n"
    texts = {"paddlegen.yaml": config, TEMPLATE: _TEMPLATE}
    for number in range(jobs):
        text = _JOB.format(number=number, team=number % 10, trainers=2 + number % 7)
        texts[job_path(number)] = text
    for path, text in texts.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def units(root: Path, cluster: str) -> list[Unit]:
    """The base objects of every job on a cluster."""
    read = repository.read(root)
    profile = f"overlays/{cluster}/cluster.yaml"
    entry, _ = catalogue.read_cluster(cluster, profile, read.overlays[profile])
    assert entry
    contents = [catalogue.read(path, data) for path, data in read.jobs.items()]
    templates = {t.value.metadata.name: t for c in contents for t in c.templates}
    nothing = catalogue.Contents()
    return [pipeline.job_unit(job, entry, templates, nothing) for c in contents for job in c.jobs]


def write_plain(root: Path, cluster: str, bases: Sequence[Unit], home: Path) -> Path:
    """Write the bases and the overlay as one kustomization; returns the directory to build."""
    used = overlay.load(cluster, repository.read(root).overlays)
    openapi = resources.files("paddlegen").joinpath("schemas/openapi.json").read_bytes()
    text = "\n---\n".join(body for unit in bases for body in unit.bodies)
    for path, data in used.stage([base for unit in bases for base in unit.bases], text, openapi):
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return home / used.top
