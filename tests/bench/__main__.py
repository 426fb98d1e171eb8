"""Measure paddlegen and plain kustomize side by side, and print a table."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddlegen import kustomize

from . import repository, schemas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SIZES = (33, 50, 67, 100)
_TREE = Path(__file__).parents[2]


class Sample(NamedTuple):
    """Seconds, and the greatest resident set of one process in MB."""

    seconds: float
    memory: int


def main() -> None:
    """Measure everything asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 jobs, two rounds")
    parser.add_argument("--full", action="store_true", help="10,000 jobs too, and the single builds")
    parser.add_argument("--folder", type=Path, help="where to work; /dev/shm where there is one")
    options = parser.parse_args()
    memory = Path("/dev/shm")  # noqa: S108  # a disk's own moods would be measured with us
    folder = options.folder or (memory if memory.is_dir() else None)
    with tempfile.TemporaryDirectory(prefix="paddlegen-bench-", dir=folder) as home:
        _measure(Path(home), 100 if options.quick else 1000, 2 if options.quick else 3, full=options.full)


def _measure(home: Path, jobs: int, rounds: int, *, full: bool) -> None:
    root = home / "repository"
    repository.write(root, jobs)
    units = {cluster: repository.units(root, cluster) for cluster in repository.CLUSTERS}
    objects = len(units["prod"][0].manifests)
    print(
        f"{jobs} jobs of {objects} objects, {len(units)} clusters, {os.cpu_count()} cores, "
        f"Python {sys.version.split()[0]}, kustomize {kustomize.find().version}, median of {rounds}\n"
    )
    cases: dict[str, Callable[[], Sample]] = {}
    for size in _SIZES:
        trees = [
            repository.write_plain(
                root, cluster, mine[start : start + size], home / f"{size}-{cluster}-{start}"
            )
            for cluster, mine in units.items()
            for start in range(0, len(mine), size)
        ]
        cases[f"plain kustomize, {size} jobs a build"] = lambda trees=trees: _plain(trees)  # type: ignore[misc]
    cases |= {
        "render, cold": lambda: _cold(root),
        "check, nothing changed": lambda: _paddlegen("check", root),
        "render, nothing changed": lambda: _paddlegen("render", root),
        "check, one spec changed": lambda: _changed(root, repository.job_path(jobs // 2), "v1", "v2"),
        "check, the template changed": lambda: _changed(
            root, repository.TEMPLATE, 'CPU_NUM: "4"', 'CPU_NUM: "8"'
        ),
        "--version": lambda: _run([sys.executable, "-m", "paddlegen", "--version"]),
        "python -c pass": lambda: _run([sys.executable, "-c", "pass"]),
    }
    samples: dict[str, list[Sample]] = {name: [] for name in cases}
    for _ in range(rounds):  # interleaved: what else the machine does falls on all alike
        for name, case in cases.items():
            samples[name].append(case())
    found = {name: statistics.median(sample.seconds for sample in taken) for name, taken in samples.items()}
    for name, taken in samples.items():
        _row(name, Sample(found[name], max(sample.memory for sample in taken)))
    best = min(found[name] for name in found if name.startswith("plain"))
    if full:
        single = [
            repository.write_plain(root, cluster, mine, home / f"single-{cluster}")
            for cluster, mine in units.items()
        ]
        alone = _plain(single)
        _row("plain kustomize, one build a cluster (once)", alone)
        _ratio("single builds / cold render", alone.seconds, found["render, cold"])
    _ratio("cold render / best plain builds", found["render, cold"], best)
    _ratio("--version / python -c pass", found["--version"], found["python -c pass"])
    _schemas(home, root, rounds)
    if full:
        _ten_times(home / "large", jobs * 10, found)


def _schemas(home: Path, root: Path, rounds: int) -> None:
    """Schemas alone, against kubeconform with the same schemas, one core each, start-up included."""
    program = schemas.kubeconform()
    if program is None:
        print("kubeconform is not here: `make bench-tools` builds it with Go")
        return
    schemas.write(home / "schemas")
    manifests = root / "manifests/prod"
    ours = [sys.executable, "-m", "tests.bench.schemas", str(manifests)]
    theirs = schemas.peer(program, home / "schemas", manifests)
    samples = [(_run(ours), _run(theirs, GOMAXPROCS="1")) for _ in range(rounds)]
    mine = statistics.median(one.seconds for one, _ in samples)
    peer = statistics.median(one.seconds for _, one in samples)
    _row("schema check of one cluster's objects", Sample(mine, max(one.memory for one, _ in samples)))
    _row("kubeconform -n 1, the same schemas", Sample(peer, max(one.memory for _, one in samples)))
    _ratio("kubeconform / schema check", peer, mine)


def _ten_times(root: Path, jobs: int, found: dict[str, float]) -> None:
    repository.write(root, jobs)
    cold, warm = _cold(root), _paddlegen("check", root)
    _row(f"render, cold, {jobs} jobs (once)", cold)
    _row(f"check, nothing changed, {jobs} jobs (once)", warm)
    _ratio("cold, ten times the jobs", cold.seconds, found["render, cold"])
    _ratio("unchanged check, ten times the jobs", warm.seconds, found["check, nothing changed"])


def _row(name: str, sample: Sample) -> None:
    print(f"{name:<48} {sample.seconds:8.3f} s {sample.memory:6d} MB", flush=True)


def _ratio(name: str, value: float, base: float) -> None:
    print(f"{name:<48} {value / base:8.2f} x", flush=True)


def _plain(trees: Sequence[Path]) -> Sample:
    """Build trees with two processes at a time, their output thrown away."""
    command = [kustomize.find().path, "build"]
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(lambda tree: _run([*command, str(tree)], GOGC="400"), trees))
    return Sample(time.perf_counter() - start, max(sample.memory for sample in taken))


def _cold(root: Path) -> Sample:
    for name in ("manifests", ".paddlegen"):
        shutil.rmtree(root / name, ignore_errors=True)
    return _paddlegen("render", root)


def _changed(root: Path, path: str, old: str, new: str) -> Sample:
    """Check after an edit, then take it back, in the cache too."""
    file = root / path
    before = file.read_text()
    assert old in before
    file.write_text(before.replace(old, new))
    cache = root / ".paddlegen/cache"
    kept = root / ".paddlegen/kept"
    shutil.copytree(cache, kept)
    try:
        return _paddlegen("check", root, codes=(0, 1))
    finally:
        file.write_text(before)
        shutil.rmtree(cache)
        kept.rename(cache)


def _paddlegen(command: str, root: Path, codes: Sequence[int] = (0,)) -> Sample:
    return _run([sys.executable, "-m", "paddlegen", command, "--root", str(root)], codes)


def _run(command: Sequence[str], codes: Sequence[int] = (0,), **environment: str) -> Sample:
    environ = {**os.environ, **environment, "PYTHONPATH": str(_TREE)}
    start = time.perf_counter()
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        message = f"{' '.join(command)} ended with code {process.returncode}"
        raise SystemExit(message)
    # ru_maxrss is in kilobytes on Linux and in bytes on macOS.
    return Sample(seconds, usage.ru_maxrss // (1024 if sys.platform == "linux" else 1024 * 1024))


if __name__ == "__main__":
    main()
