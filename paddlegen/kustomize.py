"""Find kustomize and run `kustomize build`."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen.errors import ToolError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator, Iterable, Mapping
    from concurrent.futures import Future

BUNDLED_VERSION = "v5.8.1"
"""What `kustomize/go.mod` pins."""

OPENAPI = Path(__file__).parent / "schemas" / "openapi.json"
"""The merge keys of the built-in kinds and of ours.

Its text belongs beside the top kustomization, which names it with `openapi: {path: openapi.json}`: kustomize
does not read the field in a component, nor a file above the directory it builds.
"""

_OLDEST, _NEWEST = (5, 5), (6, 0)
_KEPT_VARIABLES = ("HOME", "PATH", "TMPDIR")
_NO_PROXY = "http://127.0.0.1:9"
_ENVIRONMENT = {
    # A build lives a fraction of a second: with less garbage collection it takes a quarter less of it.
    "GOGC": "400",
    # The caller refuses URLs.  Should one slip through, it ends here and not in the network.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "HTTP_PROXY": _NO_PROXY,
    "HTTPS_PROXY": _NO_PROXY,
}
_ARGOCD = {
    "2.4": "4.4.1",
    "2.5": "4.5.7",
    "2.6": "4.5.7",
    "2.7": "5.0.1",
    "2.8": "5.1.0",
    "2.9": "5.2.1",
    "2.10": "5.2.1",
    "2.11": "5.2.1",
    "2.12": "5.4.2",
    "2.13": "5.4.3",
    "2.14": "5.4.3",
    "3.0": "5.6.0",
    "3.1": "5.7.0",
    "3.2": "5.7.0",
    "3.3": "5.8.0",
    "3.4": "5.8.1",
    "3.5": "5.8.1",
}


@dataclass(frozen=True, slots=True)
class Kustomize:
    """A kustomize that can be run; `source` says who chose it.

    `source` is `PADDLEGEN_KUSTOMIZE`, `paddlegen.yaml`, `bundled` or `PATH`.
    """

    path: str
    version: str
    source: str


@dataclass(eq=False)
class BuildError(Exception):
    """kustomize refused a directory; `message` is what it said."""

    directory: Path
    message: str

    def __str__(self) -> str:
        """The directory and what kustomize said of it."""
        return f"{self.directory}: {self.message}"


def find(configured: str | None = None, environ: Mapping[str, str] = os.environ) -> Kustomize:
    """The kustomize to use: PADDLEGEN_KUSTOMIZE, `configured`, the bundled one, one on PATH.

    The first two are somebody's choice: a `ToolError` tells when one does not run, and nothing else is tried.
    The one on PATH must be at least 5.5 and older than 6.
    """
    search_path = environ.get("PATH", os.defpath)
    for chosen, source in (
        (environ.get("PADDLEGEN_KUSTOMIZE"), "PADDLEGEN_KUSTOMIZE"),
        (configured, "paddlegen.yaml"),
    ):
        if chosen:
            return _chosen(chosen, source, search_path)
    bundled = Path(__file__).parent / "_bin" / "kustomize"
    if os.access(bundled, os.X_OK):
        return Kustomize(str(bundled), BUNDLED_VERSION, "bundled")
    return _on_path(search_path)


def version_of(path: str) -> str | None:
    """What `kustomize version` says, such as `v5.8.1`; None if this is no kustomize."""
    import subprocess  # not paid for when the bundled binary is used from the cache

    try:
        answer = subprocess.run(  # noqa: S603  # running it is the question
            [path, "version"],
            env=_environment(),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # 5: "v5.8.1".  4: "{Version:kustomize/v4.5.7 GitCommit:...}".
    found = re.match(rb"(?:\{Version:kustomize/)?(v\d+\.\d+\.\d+\S*)", answer.stdout)
    return found[1].decode() if found and answer.returncode == 0 else None


def identity(kustomize: Kustomize) -> bytes:
    """The SHA-256 digest of the binary, which takes part in every cache key."""
    stat = Path(kustomize.path).stat()
    return _digest(kustomize.path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def argocd_kustomize(argocd_version: str) -> str | None:
    """The kustomize inside an Argo CD release (`v3.4.1`: `5.8.1`); None for a release not in the table."""
    minor = re.match(r"v?(\d+\.\d+)(?!\d)", argocd_version)
    return _ARGOCD.get(minor[1]) if minor else None


def build(kustomize: Kustomize, directory: Path) -> str:
    """The output of `kustomize build directory`; raises `BuildError` where kustomize refuses it."""
    result = _Runner(kustomize).build(directory)
    if isinstance(result, BuildError):
        raise result
    return result


def build_all(
    kustomize: Kustomize, directories: Iterable[Path], workers: int
) -> Generator[tuple[Path, str | BuildError]]:
    """Build every directory, `workers` at once, and yield each as it is done: in no particular order.

    `directories` is read no further than one build ahead of every worker, so it may write the directories as
    it goes.  Closing the generator ends the builds that still run.
    """
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait  # slow to import

    runner = _Runner(kustomize)
    pool = ThreadPoolExecutor(workers)
    pending: dict[Future[str | BuildError], Path] = {}
    try:
        for directory in directories:
            pending[pool.submit(runner.build, directory)] = directory
            done = wait(
                pending, timeout=None if len(pending) >= 2 * workers else 0, return_when=FIRST_COMPLETED
            ).done
            for future in done:
                yield pending.pop(future), future.result()
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield pending.pop(future), future.result()
    finally:
        runner.stop()
        pool.shutdown(cancel_futures=True)


class _Runner:
    """Runs builds from several threads, and can end them all."""

    def __init__(self, kustomize: Kustomize) -> None:
        from threading import Lock  # not paid for when nothing is built

        self._path = kustomize.path
        self._environment = _environment()
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def build(self, directory: Path) -> str | BuildError:
        process = self._start(directory)
        if process is None:
            return BuildError(directory, "stopped before it was built")
        try:
            with process:
                output, complaint = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode == 0:
            return output.decode()
        return BuildError(directory, _message(complaint.decode(errors="replace"), process.returncode))

    def stop(self) -> None:
        """End every build that runs; those still to come end before they start."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def _start(self, directory: Path) -> subprocess.Popen[bytes] | None:
        import subprocess  # not paid for when nothing is built

        arguments = [self._path, "build", "--load-restrictor", "LoadRestrictionsRootOnly", str(directory)]
        with self._lock:
            if self._stopped:
                return None
            try:
                process = subprocess.Popen(  # noqa: S603  # find() chose it
                    arguments,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            except OSError as error:
                message = f"{self._path} does not run: {error.strerror}; run `paddlegen doctor`"
                raise ToolError(message) from error
            self._running.add(process)
            return process


def _chosen(name: str, source: str, search_path: str) -> Kustomize:
    path = shutil.which(name, path=search_path)
    if path is None:
        message = f"{source} names {name}, which is no program here; name a kustomize or nothing"
        raise ToolError(message)
    version = version_of(path)
    if version is None:
        message = (
            f"{source} names {path}, which does not answer `version` as kustomize does; name a kustomize"
        )
        raise ToolError(message)
    return Kustomize(path, version, source)


def _on_path(search_path: str) -> Kustomize:
    remedy = (
        "install paddlegen where Go or the network is at hand, so that it brings its own, "
        "or install kustomize 5.5 or later and name it in PADDLEGEN_KUSTOMIZE"
    )
    path = shutil.which("kustomize", path=search_path)
    if path is None:
        message = f"paddlegen has no bundled kustomize here and PATH has none; {remedy}"
        raise ToolError(message)
    version = version_of(path)
    if version is None or not _OLDEST <= _numbers(version) < _NEWEST:
        message = f"{path} is {version or 'no kustomize'}; paddlegen needs 5.5 or later, below 6: {remedy}"
        raise ToolError(message)
    return Kustomize(path, version, "PATH")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | _ENVIRONMENT


def _message(complaint: str, returncode: int) -> str:
    """What kustomize said, without its deprecation warnings and the word `Error:`."""
    said = complaint.strip().partition("\n\ngoroutine ")[0]  # a panic's stack is for its developers
    lines = [line for line in said.splitlines() if not line.startswith("# Warning:")]
    return (
        "\n".join(lines).removeprefix("Error: ").removeprefix("panic: ") or f"kustomize ended with code {returncode} and said nothing"
    )


@lru_cache(maxsize=8)
def _digest(path: str, *_stat: int) -> bytes:
    import hashlib  # 3 ms, needed once

    with Path(path).open("rb") as binary:
        return hashlib.file_digest(binary, "sha256").digest()
