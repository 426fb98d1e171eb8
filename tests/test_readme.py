"""The READMEs show what paddlegen really does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paddlegen.cli import shell

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
EDITIONS = ["README.md", "README.zh-CN.md"]
EXAMPLE = re.compile(r"(<!-- example: (\w+) -->\n```\w*\n)(.*?)(```)", re.DOTALL)

pytestmark = pytest.mark.needs_kustomize


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    # legacy watches one namespace, and it is not the example's
    shutil.copytree(ROOT / "overlays", tmp_path / "overlays", ignore=shutil.ignore_patterns("legacy"))
    shutil.copy(ROOT / "paddlegen.yaml", tmp_path)
    spec = next(text for name, text in _examples("README.md") if name == "spec")
    (tmp_path / "jobs/ads").mkdir(parents=True)
    (tmp_path / "jobs/ads/ctr.yaml").write_text(spec)
    return tmp_path


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_examples_are_what_the_spec_renders(
    edition: str,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    assert shell.run(["render", "--root", str(repository)]) == 0
    folder = repository / "manifests/prod/ads/ctr"
    assert sorted(path.name for path in folder.iterdir()) == ["paddlejob-ctr.yaml", "podgroup-ctr.yaml"]
    job = (folder / "paddlejob-ctr.yaml").read_text()
    spec = repository / "jobs/ads/ctr.yaml"
    written = spec.read_text()
    spec.write_text(written.replace("cleanup", "cleanpu"))
    capsys.readouterr()
    assert shell.run(["check", "--format", "text", "--root", str(repository)]) == 1
    real = {
        "spec": written,
        "podgroup": (folder / "podgroup-ctr.yaml").read_text(),
        "worker": job[job.index("  worker:\n") :],
        "finding": capsys.readouterr().out.partition("\n\n")[0] + "\n",
    }
    if request.config.getoption("--update-golden"):
        page = ROOT / edition
        text = EXAMPLE.sub(lambda match: match[1] + real[match[2]] + match[4], page.read_text())
        page.write_text(text)
    assert dict(_examples(edition)) == real


def _examples(edition: str) -> Iterator[tuple[str, str]]:
    for match in EXAMPLE.finditer((ROOT / edition).read_text()):
        yield match[2], match[3]
