"""The same repository makes the same bytes and the same findings, wherever and however it is rendered."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest
import small

from paddlegen import shards

pytestmark = pytest.mark.needs_kustomize
PACKAGE = Path(__file__).parents[1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A repository with a warning and errors of several clusters in it."""
    small.real_kustomize()
    root = small.write(tmp_path.resolve() / "repository")
    small.edit(root, "overlays/prod/a.yaml", "{cleanPodPolicy: Never}", "{worker: {replicas: 9}}")
    small.edit(root, "overlays/stage/kustomization.yaml", "commonLabels", "commonAnnotations")
    return root


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_a_folder_does_not_matter(
    home: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    before = small.outcome(home, cache=False)
    real = os.scandir

    class Shuffled:
        def __init__(self, path: str) -> None:
            with real(path) as entries:
                self.entries = list(entries)
            random.Random(seed).shuffle(self.entries)

        def __iter__(self) -> object:
            return iter(self.entries)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", Shuffled)
    assert small.outcome(home, cache=False) == before


@pytest.mark.parametrize("shard", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_shards_and_workers_do_not_matter(
    home: Path, monkeypatch: pytest.MonkeyPatch, shard: int, workers: int
) -> None:
    before = small.outcome(home, cache=False)
    monkeypatch.setattr(shards, "SHARD", shard)
    monkeypatch.setattr(os, "cpu_count", lambda: workers)
    assert small.outcome(home, cache=False) == before


@pytest.mark.parametrize("is_good", [True, False])
def test_the_environment_does_not_matter(home: Path, tmp_path: Path, *, is_good: bool) -> None:
    if is_good:
        small.write(home, {path: small.FILES[path] for path in ("overlays/prod/a.yaml",)})
    seen = set()
    for number, variables in enumerate(
        (
            {},
            {"PYTHONHASHSEED": "0"},
            {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Shanghai"},
            {"PYTHONHASHSEED": "2", "LC_ALL": "zh_CN.UTF-8", "PYTHONUTF8": "0"},
        )
    ):
        cwd = tmp_path if number % 2 else home
        environ = {**os.environ, "PYTHONPATH": str(PACKAGE), **variables}
        told = []
        for command in ("render", "check"):
            arguments = [sys.executable, "-m", "paddlegen", command, "--root", str(home), "--format", "json"]
            run = subprocess.run(
                [*arguments, "--no-cache"], cwd=cwd, env=environ, check=False, capture_output=True
            )
            assert run.returncode in {0, 1}, run.stderr.decode()
            told.append(run.stdout if command == "check" else b"")
        files = {
            path.relative_to(home): path.read_bytes() for path in sorted(home.glob("manifests/**/*.yaml"))
        }
        assert bool(files) == is_good
        seen.add((*told, *files.items()))
        for path in files:
            (home / path).unlink()
    assert len(seen) == 1
