"""Which kustomize is used, and what running it promises."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paddlegen import kustomize
from paddlegen.errors import ToolError
from paddlegen.kustomize import BuildError, Kustomize

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent


def program(path: Path, script: str) -> Path:
    """A shell script that stands for kustomize."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def kustomize_saying(path: Path, version: str) -> Path:
    return program(path, f"echo '{version}'")


@pytest.fixture
def unbundled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation without a binary."""
    monkeypatch.setattr(kustomize, "__file__", str(tmp_path / "installed" / "kustomize.py"))


@pytest.fixture
def bundled(unbundled: None, tmp_path: Path) -> Path:  # noqa: ARG001  # it moves the installation
    return program(tmp_path / "installed" / "_bin" / "kustomize", "exit 9")


class TestFind:
    def test_the_environment_comes_before_everything(self, bundled: Path, tmp_path: Path) -> None:
        chosen = kustomize_saying(tmp_path / "chosen", "v5.7.0")
        configured = kustomize_saying(tmp_path / "configured", "v5.6.0")
        on_path = kustomize_saying(tmp_path / "bin" / "kustomize", "v5.5.0")
        environ = {"PADDLEGEN_KUSTOMIZE": str(chosen), "PATH": str(on_path.parent)}

        assert kustomize.find(str(configured), environ) == Kustomize(
            str(chosen), "v5.7.0", "PADDLEGEN_KUSTOMIZE"
        )
        del environ["PADDLEGEN_KUSTOMIZE"]
        assert kustomize.find(str(configured), environ) == Kustomize(
            str(configured), "v5.6.0", "paddlegen.yaml"
        )
        # It answers nothing: the bundled one is not run to learn what it is.
        assert kustomize.find(None, environ) == Kustomize(str(bundled), kustomize.BUNDLED_VERSION, "bundled")
        bundled.unlink()
        assert kustomize.find(None, environ) == Kustomize(str(on_path), "v5.5.0", "PATH")

    @pytest.mark.usefixtures("bundled")
    def test_a_chosen_program_that_is_missing_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(
            ToolError, match="PADDLEGEN_KUSTOMIZE names /nowhere/kustomize, which is no program"
        ):
            kustomize.find(None, {"PADDLEGEN_KUSTOMIZE": "/nowhere/kustomize", "PATH": str(tmp_path)})
        with pytest.raises(ToolError, match=r"paddlegen\.yaml names /nowhere/kustomize"):
            kustomize.find("/nowhere/kustomize", {"PATH": str(tmp_path)})

    @pytest.mark.usefixtures("bundled")
    @pytest.mark.parametrize("script", ["echo hello", "echo v5.8.1; exit 1", "true"])
    def test_a_chosen_program_that_is_no_kustomize_is_an_error(self, tmp_path: Path, script: str) -> None:
        other = program(tmp_path / "other", script)
        with pytest.raises(ToolError, match="does not answer `version` as kustomize does"):
            kustomize.find(str(other), {})

    @pytest.mark.usefixtures("bundled")
    def test_a_chosen_file_that_cannot_be_run_is_an_error(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken"
        broken.write_bytes(b"\x7fELF and no more")
        broken.chmod(0o755)
        with pytest.raises(ToolError, match="does not answer `version`"):
            kustomize.find(str(broken), {})

    @pytest.mark.usefixtures("unbundled")
    def test_without_any_kustomize_the_error_says_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(ToolError, match="PATH has none; install paddlegen where Go"):
            kustomize.find(None, {"PATH": str(tmp_path)})

    @pytest.mark.usefixtures("unbundled")
    @pytest.mark.parametrize(
        "version", ["v5.4.3", "v6.0.0", "{Version:kustomize/v4.5.7 GitCommit:56d82a8}", "?"]
    )
    def test_one_on_path_that_is_too_old_or_too_new_is_an_error(self, tmp_path: Path, version: str) -> None:
        kustomize_saying(tmp_path / "kustomize", version)
        with pytest.raises(ToolError, match=r"paddlegen needs 5\.5 or later, below 6"):
            kustomize.find(None, {"PATH": str(tmp_path)})

    @pytest.mark.usefixtures("bundled")
    def test_an_old_kustomize_may_be_chosen(self, tmp_path: Path) -> None:
        old = kustomize_saying(tmp_path / "old", "{Version:kustomize/v4.5.7 GitCommit:56d82a8}")
        assert kustomize.find(str(old), {}).version == "v4.5.7"


def test_the_bundled_version_is_the_one_go_mod_pins() -> None:
    assert (
        f"sigs.k8s.io/kustomize/kustomize/v5 {kustomize.BUNDLED_VERSION}\n"
        in (ROOT / "kustomize/go.mod").read_text()
    )


def test_the_identity_changes_with_the_content_of_the_binary(tmp_path: Path) -> None:
    binary = kustomize_saying(tmp_path / "kustomize", "v5.8.1")
    one = Kustomize(str(binary), "v5.8.1", "PATH")
    before = kustomize.identity(one)
    kustomize_saying(binary, "v5.8.2")
    after = kustomize.identity(one)

    assert len(before) == len(after) == 32
    assert before != after
    assert kustomize.identity(one) == after


@pytest.mark.parametrize(
    ("argocd", "expected"),
    [
        ("2.4", "4.4.1"),
        ("v2.14.3", "5.4.3"),
        ("3.5.0-rc1+abc", "5.8.1"),
        ("2.1", None),
        ("3.50", None),
        ("x", None),
    ],
)
def test_an_argocd_release_tells_its_kustomize(argocd: str, expected: str | None) -> None:
    assert kustomize.argocd_kustomize(argocd) == expected


class TestBuild:
    def test_the_error_is_what_kustomize_said(self, tmp_path: Path) -> None:
        said = ["# Warning: old field", "Error: no matches for Id Job", "second line"]
        script = "".join(f"echo '{line}' >&2\n" for line in said) + "exit 1"
        fake = Kustomize(str(program(tmp_path / "kustomize", script)), "v5.8.1", "PATH")
        with pytest.raises(BuildError) as caught:
            kustomize.build(fake, tmp_path)

        assert caught.value.directory == tmp_path
        assert caught.value.message == "no matches for Id Job\nsecond line"
        assert str(caught.value) == f"{tmp_path}: no matches for Id Job\nsecond line"

    def test_an_error_without_words_tells_the_exit_code(self, tmp_path: Path) -> None:
        fake = Kustomize(str(program(tmp_path / "kustomize", "exit 3")), "v5.8.1", "PATH")
        with pytest.raises(BuildError, match="ended with code 3 and said nothing"):
            kustomize.build(fake, tmp_path)

    def test_a_binary_that_is_gone_is_a_tool_error(self, tmp_path: Path) -> None:
        gone = Kustomize(str(tmp_path / "gone"), "v5.8.1", "bundled")
        with pytest.raises(ToolError, match="does not run: No such file"):
            kustomize.build(gone, tmp_path)
        with pytest.raises(ToolError, match="does not run: No such file"):
            list(kustomize.build_all(gone, [tmp_path], 2))

    def test_the_environment_of_the_caller_does_not_change_the_output(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", "/home/somebody")
        monkeypatch.setenv("KUSTOMIZE_PLUGIN_HOME", "/plugins")
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com")
        fake = Kustomize(str(program(tmp_path / "kustomize", "/usr/bin/env; echo $@")), "v5.8.1", "PATH")
        said = kustomize.build(fake, tmp_path)

        assert "KUSTOMIZE" not in said
        assert "HTTPS_PROXY=http://127.0.0.1:9\n" in said
        assert "GIT_ALLOW_PROTOCOL=none\n" in said
        assert "HOME=/home/somebody\n" in said
        assert said.endswith(f"build --load-restrictor LoadRestrictionsRootOnly {tmp_path}\n")


class TestBuildAll:
    def directories(self, root: Path, count: int) -> Iterator[Path]:
        for number in range(count):
            directory = root / f"{number:02}"
            directory.mkdir()
            yield directory

    @pytest.mark.parametrize("workers", [1, 2, 5])
    def test_every_directory_is_built_once(self, tmp_path: Path, workers: int) -> None:
        fake = Kustomize(str(program(tmp_path / "kustomize", "echo built $4")), "v5.8.1", "PATH")
        results = dict(kustomize.build_all(fake, self.directories(tmp_path, 12), workers))

        assert results == {tmp_path / f"{n:02}": f"built {tmp_path}/{n:02}\n" for n in range(12)}

    def test_nothing_to_build_is_nothing_built(self, tmp_path: Path) -> None:
        fake = Kustomize(str(tmp_path / "gone"), "v5.8.1", "PATH")
        assert list(kustomize.build_all(fake, [], 2)) == []

    def test_one_that_fails_does_not_stop_the_others(self, tmp_path: Path) -> None:
        script = 'case $4 in *01) echo "Error: bad" >&2; exit 1;; *) echo good;; esac'
        fake = Kustomize(str(program(tmp_path / "kustomize", script)), "v5.8.1", "PATH")
        results = dict(kustomize.build_all(fake, self.directories(tmp_path, 4), 2))

        refused = results.pop(tmp_path / "01")
        assert isinstance(refused, BuildError)
        assert refused.message == "bad"
        assert list(results.values()) == ["good\n"] * 3

    def test_directories_are_read_no_further_than_the_workers_need(self, tmp_path: Path) -> None:
        fake = Kustomize(str(program(tmp_path / "kustomize", "echo built")), "v5.8.1", "PATH")
        read: list[Path] = []

        def source() -> Iterator[Path]:
            for directory in self.directories(tmp_path, 30):
                read.append(directory)
                yield directory

        for done, _ in enumerate(kustomize.build_all(fake, source(), 2), start=1):
            assert len(read) <= done + 4

    def test_a_consumer_that_stops_ends_the_builds_that_run(self, tmp_path: Path) -> None:
        script = "case $4 in *00) echo quick;; *) echo $$ > $4/pid; exec /bin/sleep 600;; esac"
        fake = Kustomize(str(program(tmp_path / "kustomize", script)), "v5.8.1", "PATH")
        results = kustomize.build_all(fake, self.directories(tmp_path, 9), 2)
        assert next(results) == (tmp_path / "00", "quick\n")
        while not (pids := [text for path in tmp_path.glob("*/pid") if (text := path.read_text().strip())]):
            time.sleep(0.01)
        results.close()

        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(int(pid), 0)


@pytest.mark.needs_kustomize
class TestTheRealOne:
    @pytest.fixture
    def real(self) -> Kustomize:
        try:
            return kustomize.find()
        except ToolError as error:
            pytest.skip(str(error))

    def test_it_answers_with_the_version_find_tells(self, real: Kustomize) -> None:
        assert kustomize.version_of(real.path) == real.version

    def test_it_builds_and_refuses(self, real: Kustomize, tmp_path: Path) -> None:
        good, bad = tmp_path / "good", tmp_path / "bad"
        for directory, text in (
            (good, "namePrefix: a-\nresources: [it.yaml]\n"),
            (bad, "resources: [../good/it.yaml]\n"),
        ):
            directory.mkdir()
            (directory / "kustomization.yaml").write_text(text)
        (good / "it.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata:\n  name: it\n")
        results = dict(kustomize.build_all(real, [good, bad], 2))

        assert results[good] == "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a-it\n"
        assert "is not in or below" in str(results[bad])

    @pytest.mark.parametrize(
        "url", ["https://example.com/it.yaml", "https://example.com/org/repo//dir?ref=v1"]
    )
    def test_a_url_ends_before_the_network(self, real: Kustomize, tmp_path: Path, url: str) -> None:
        (tmp_path / "kustomization.yaml").write_text(f"resources: ['{url}']\n")
        with pytest.raises(BuildError) as caught:
            kustomize.build(real, tmp_path)
        assert re.search(r"127\.0\.0\.1:9|not allowed", caught.value.message)
