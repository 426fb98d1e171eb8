"""A warm cache changes how long a run takes, and nothing else."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddlegen import cache as cache_module
from paddlegen.cache import Cache, code_identity, key
from paddlegen.cli import session
from paddlegen.rendering import Selection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Edit = Callable[[Path], object]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A rendered repository with a warm cache."""
    small.real_kustomize()
    root = small.write(tmp_path.resolve() / "repository")
    assert small.outcome(root, save=True).is_complete
    assert small.outcome(root).findings == ()
    return root


def same(root: Path) -> small.Outcome:
    """Cold, warm, and warmed by this very run: one outcome."""
    cold = small.outcome(root, cache=False)
    assert small.outcome(root) == cold
    assert small.outcome(root) == cold
    return cold


def tool(root: Path, name: str, pipe: str) -> None:
    """A kustomize whose output goes through a filter."""
    real = small.real_kustomize()
    file = root / name
    file.parent.mkdir(exist_ok=True)
    text = f'#!/bin/sh\ncase $1 in version) exec "{real}" version;; esac\n"{real}" "$@" {pipe}\n'
    file.write_text(text)
    file.chmod(stat.S_IRWXU)


def swap(root: Path, one: str, other: str) -> None:
    texts = (root / one).read_text(), (root / other).read_text()
    (root / one).write_text(texts[1])
    (root / other).write_text(texts[0])


A, C = "default/a/paddlejob-a.yaml", "default/c/paddlejob-c.yaml"
PATCH = "overlays/prod/a.yaml"
EDITS: dict[str, tuple[Edit, set[str]]] = {
    "spec": (
        lambda r: small.edit(r, "jobs/c.yaml", "replicas: 3", "replicas: 4"),
        {f"prod/{C}", f"stage/{C}"},
    ),
    "template": (
        lambda r: small.edit(r, "jobs/templates/ps.yaml", "'0'", "'1'"),
        {f"prod/{A}", f"stage/{A}"},
    ),
    "template of a template": (
        lambda r: small.edit(r, "jobs/templates/base.yaml", "a:v1", "a:v2"),
        {f"prod/{A}", f"stage/{A}", f"prod/{C}", f"stage/{C}"},
    ),
    "storage spec": (
        lambda r: small.edit(r, "jobs/nas.yaml", "{name: nas}", "{name: nas, labels: {tier: hot}}"),
        {"prod/_storage/default/persistentvolumeclaim-nas.yaml"},
    ),
    "claim of a storage spec": (
        lambda r: small.edit(r, "jobs/nas.yaml", "size: 1Gi", "size: 1Gi, claimName: other"),
        {f"prod/{A}", f"stage/{A}"},
    ),
    "profile": (lambda r: small.edit(r, "overlays/prod/cluster.yaml", "0.3.5", "0.3.4"), {f"prod/{A}"}),
    "kustomization": (
        lambda r: small.edit(r, "overlays/stage/kustomization.yaml", "debug", "other"),
        {f"stage/{A}", f"stage/{C}"},
    ),
    "component": (
        lambda r: small.edit(r, "overlays/common/kustomization.yaml", "component}", "afar}"),
        {f"prod/{A}", f"prod/{C}"},
    ),
    "patch": (lambda r: small.edit(r, PATCH, "Never", "Always"), {f"prod/{A}"}),
    "rename of a spec": (
        lambda r: (r / "jobs/c.yaml").rename(r / "jobs/z.yaml"),
        {f"prod/{C}", f"stage/{C}"},
    ),
    "two specs swapped": (lambda r: swap(r, "jobs/a.yaml", "jobs/c.yaml"), {f"prod/{A}", f"prod/{C}"}),
    "two profiles swapped": (
        lambda r: swap(r, "overlays/prod/cluster.yaml", "overlays/stage/cluster.yaml"),
        {f"prod/{A}", f"stage/{A}"},
    ),
}


@pytest.mark.needs_kustomize
class TestEveryInputCounts:
    @pytest.mark.parametrize("name", EDITS)
    def test_an_edit_is_seen_and_seen_alike(self, home: Path, name: str) -> None:
        before = small.outcome(home)
        edit, changed = EDITS[name]
        edit(home)
        after = same(home)
        assert after.is_complete
        differ = {path for path in after.files if after.files[path] != before.files.get(path)}
        assert changed <= differ
        assert small.outcome(home, save=True).files == after.files
        assert same(home).findings == ()

    def test_an_edit_taken_back_is_taken_back(self, home: Path) -> None:
        before = small.outcome(home)
        small.edit(home, "jobs/templates/base.yaml", "a:v1", "a:v2")
        small.outcome(home, save=True)
        small.edit(home, "jobs/templates/base.yaml", "a:v2", "a:v1")
        assert same(home).files == before.files
        assert small.outcome(home).findings

    def test_a_file_nobody_refers_to_changes_nothing(self, home: Path) -> None:
        before = small.outcome(home)
        small.edit(home, "overlays/common/unused.txt", "nobody", "still nobody")
        assert same(home) == before

    def test_a_file_that_begins_to_be_a_patch(self, home: Path) -> None:
        text = (home / PATCH).read_text().replace("name: a", "name: c").replace("Never", "OnFailure")
        (home / "overlays/prod/c.yaml").write_text(text)
        same(home)
        small.edit(home, "overlays/prod/kustomization.yaml", "a.yaml}", "a.yaml}, {path: c.yaml}")
        assert f"prod/{C}" in {f.location.path.removeprefix("manifests/") for f in same(home).findings}

    def test_a_deleted_and_an_edited_manifest_are_told(self, home: Path) -> None:
        (home / "manifests/prod" / A).unlink()
        small.edit(home, f"manifests/stage/{C}", "replicas: 3", "replicas: 5")
        assert {f.rule for f in same(home).findings} == {"manifest-current"}
        assert len(small.outcome(home).findings) == 2
        small.outcome(home, save=True)
        assert same(home).findings == ()

    def test_a_new_and_a_deleted_spec(self, home: Path) -> None:
        (home / "jobs/b.yaml").unlink()
        assert same(home).jobs == 2
        text = small.FILES["jobs/c.yaml"].replace("name: c", "name: d")
        small.write(home, {"jobs/d.yaml": text})
        assert same(home).jobs == 3

    def test_another_kustomize_named_in_paddlegen_yaml(self, home: Path) -> None:
        tool(home, "tools/kustomize", "| sed 's/a:v1/a:v7/'")
        (home / "paddlegen.yaml").write_text(small.HEAD + "Config\nspec: {kustomize: tools/kustomize}\n")
        assert len(same(home).findings) == 5

    def test_a_kustomize_replaced_in_place(self, home: Path) -> None:
        tool(home, "tools/kustomize", "| sed 's/a:v1/a:v7/'")
        (home / "paddlegen.yaml").write_text(small.HEAD + "Config\nspec: {kustomize: tools/kustomize}\n")
        small.outcome(home, save=True)
        found = (home / "tools/kustomize").stat()
        tool(home, "tools/new", "| sed 's/a:v1/a:v8/'")
        os.utime(home / "tools/new", ns=(found.st_atime_ns, found.st_mtime_ns))
        (home / "tools/new").replace(home / "tools/kustomize")
        assert len(same(home).findings) == 5

    def test_paddlegens_own_code(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "paddlegen.pipeline.header",
            lambda path: f"# Rendered by paddlegen from {path}; edit that file!\n",
        )
        assert len(small.outcome(home).findings) == 4, "all but shared storage comes from the cache"
        monkeypatch.setattr(session, "code_identity", lambda: b"another")
        assert len(same(home).findings) == len(small.outcome(home).files)

    def test_the_code_identity_reads_every_module(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for path in ("__init__.py", "engine.py", "targets/new.py", "schemas/a.json"):
            small.write(tmp_path, {path: ""})
        monkeypatch.setattr("paddlegen.__file__", str(tmp_path / "__init__.py"))
        seen = {code_identity()}
        for path in ("engine.py", "targets/new.py", "schemas/a.json"):
            small.write(tmp_path, {path: "1"})
            seen.add(code_identity())
        (tmp_path / "engine.py").rename(tmp_path / "motor.py")
        seen.add(code_identity())
        assert len(seen) == 5

    def test_selections_do_not_poison_a_full_run(self, home: Path) -> None:
        small.edit(home, "jobs/templates/base.yaml", "a:v1", "a:v3")
        for selection in (
            Selection(clusters=frozenset({"prod"})),
            Selection(jobs=frozenset({"a"})),
            Selection(frozenset({"stage"}), frozenset({"jobs/c.yaml"})),
        ):
            part = small.outcome(home, selection=selection)
            assert part == small.outcome(home, selection=selection, cache=False)
            assert small.outcome(home, selection=selection) == part
        assert len(same(home).files) == 14


@pytest.mark.needs_kustomize
class TestFindingsAreToldAgain:
    @pytest.mark.parametrize(
        ("path", "old", "new", "rule"),
        [
            ("jobs/b.yaml", "[prod]", "[prod, nowhere]", "cluster-exists"),
            ("jobs/b.yaml", "[prod]", "[nowhere]", "cluster-exists"),
            ("jobs/c.yaml", "replicas: 3", "replicas: three", ""),
            ("jobs/c.yaml", "name: c", "name: a", "job-names-unique"),
            (PATCH, "name: a", "name: gone", "patch-matches-object"),
            (PATCH, "{cleanPodPolicy: Never}", "{worker: {replicas: 9}}", "gang-size-matches-replicas"),
            (PATCH, "spec: {", "spec: [], s: {", ""),
            ("overlays/prod/kustomization.yaml", "a.yaml}]", "a.yaml}]\nimages: 7", "overlay-builds"),
            ("jobs/templates/ps.yaml", "[base]", "[gone]", ""),
        ],
    )
    def test_a_finding_is_told_by_every_run(
        self, home: Path, path: str, old: str, new: str, rule: str
    ) -> None:
        small.edit(home, path, old, new)
        told = same(home)
        assert {finding.rule for finding in told.findings} >= ({rule} - {""})
        assert told.findings
        small.write(home, {path: small.FILES[path]})
        assert same(home).findings == ()

    def test_a_job_on_no_cluster_is_counted_by_every_run(self, home: Path) -> None:
        small.edit(home, "jobs/b.yaml", "[prod]", "[]")
        assert same(home).jobs == 3


@pytest.mark.needs_kustomize
class TestTheFile:
    def damage(self, home: Path) -> Path:
        (file,) = (home / ".paddlegen/cache").glob("*.sqlite")
        return file

    def test_a_truncated_file_is_an_empty_cache_and_made_anew(self, home: Path) -> None:
        before = small.outcome(home)
        for size in (0, 10, 100, 4096, 9000):
            os.truncate(self.damage(home), min(size, self.damage(home).stat().st_size))
            assert small.outcome(home) == before
            assert small.outcome(home) == before

    def test_any_page_overwritten_changes_no_result(self, home: Path) -> None:
        before = small.outcome(home)
        file = self.damage(home)
        whole = file.read_bytes()
        for start in range(0, len(whole), 4096):
            broken = bytearray(whole)
            broken[start + 200 : start + 3000] = bytes(
                255 - value for value in broken[start + 200 : start + 3000]
            )
            file.write_bytes(broken)
            assert small.outcome(home) == before

    def test_no_database_at_all(self, home: Path) -> None:
        self.damage(home).write_bytes(b"this is no database, and it is long enough to be looked at\n" * 99)
        same(home)

    def test_a_folder_that_cannot_be_used(self, home: Path) -> None:
        before = small.outcome(home)
        small.no_cache(home)
        (home / ".paddlegen").mkdir()
        (home / ".paddlegen/cache").write_text("a file where the folder should be")
        assert small.outcome(home) == before

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
    def test_a_read_only_folder(self, home: Path) -> None:
        before = small.outcome(home)
        for path in (home / ".paddlegen/cache", home / ".paddlegen"):
            path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        try:
            assert small.outcome(home) == before
        finally:
            for path in (home / ".paddlegen", home / ".paddlegen/cache"):
                path.chmod(stat.S_IRWXU)

    def test_a_cache_deleted_between_runs(self, home: Path) -> None:
        small.no_cache(home)
        assert same(home).findings == ()

    def test_two_processes_share_it(self, home: Path) -> None:
        small.no_cache(home)
        command = [sys.executable, "-m", "paddlegen", "check", "--root", str(home), "--format", "json"]
        with ThreadPoolExecutor(4) as pool:
            runs = [pool.submit(subprocess.run, command, check=True, capture_output=True) for _ in range(4)]
        assert len({run.result().stdout for run in runs}) == 1
        same(home)


class TestTheMapping:
    def test_it_gives_back_what_it_was_given(self, tmp_path: Path) -> None:
        cache = Cache(tmp_path)
        values = {key(str(n)): str(n).encode() for n in range(1200)}
        cache.put(values)
        assert cache.get([*values, key("absent")]) == values
        cache.close()
        cache = Cache(tmp_path)
        assert cache.get(list(values)) == values
        cache.close()
        assert cache.get(list(values)) == {}

    def test_a_changed_value_is_not_there(self, tmp_path: Path) -> None:
        cache = Cache(tmp_path)
        cache.put({key("a"): b"one", key("b"): b"two"})
        with closing(sqlite3.connect(tmp_path / ".paddlegen/cache/v2.sqlite")) as connection, connection:
            connection.execute(
                "UPDATE entries SET value = x'00112233445566778899' WHERE key = ?", (key("a"),)
            )
        assert cache.get([key("a"), key("b")]) == {key("b"): b"two"}
        cache.close()

    def test_two_values_exchanged_are_not_there(self, tmp_path: Path) -> None:
        cache = Cache(tmp_path)
        cache.put({key("a"): b"one", key("b"): b"two"})
        with closing(sqlite3.connect(tmp_path / ".paddlegen/cache/v2.sqlite")) as connection, connection:
            rows = dict(connection.execute("SELECT key, value FROM entries"))
            pairs = [(rows[key("b")], key("a")), (rows[key("a")], key("b"))]
            connection.executemany("UPDATE entries SET value = ? WHERE key = ?", pairs)
        assert cache.get([key("a"), key("b")]) == {}
        cache.close()

    def test_a_full_file_starts_anew(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cache = Cache(tmp_path)
        cache.put({key("a"): b"one"})
        cache.close()
        monkeypatch.setattr(cache_module, "_LIMIT", 1)
        cache = Cache(tmp_path)
        assert cache.get([key("a")]) == {}
        cache.close()

    @given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
    def test_keys_differ_where_their_parts_do(self, one: list[str], other: list[str]) -> None:
        assert (key(*one) == key(*other)) == (one == other)


_PIECES = {
    "jobs/a.yaml": (": a}", ": c}", "nas", "gone"),
    "jobs/b.yaml": ("[prod]", "[stage, nowhere]", "[ps]", "[base]"),
    "jobs/c.yaml": ("replicas: 3", "replicas: 4", "gang: true", "gang: false"),
    "jobs/nas.yaml": ("1Gi", "2Gi", "name: nas", "name: other"),
    "jobs/templates/base.yaml": ("a:v1", "a:v2", "image", "imege"),
    "jobs/templates/ps.yaml": ("'0'", "'1'", "replicas: 2", "replicas: 1"),
    "overlays/common/kustomization.yaml": ("component}", "afar}", "from", "whence"),
    "overlays/prod/a.yaml": ("Never", "Always", "{name: a}", "{name: b}"),
    "overlays/prod/cluster.yaml": ("0.3.5", "0.3.3", "gang: git", "gang: operator"),
    "overlays/stage/kustomization.yaml": ("debug", "other", "commonLabels", "commonAnnotations"),
}
_STEPS = st.one_of(
    st.tuples(st.just("edit"), st.sampled_from(sorted(_PIECES)), st.integers(0, 3)),
    st.tuples(st.just("restore"), st.sampled_from(sorted(_PIECES)), st.just(0)),
    st.tuples(
        st.just("delete"), st.sampled_from(["jobs/b.yaml", "jobs/c.yaml", "jobs/nas.yaml"]), st.just(0)
    ),
    st.tuples(st.just("save"), st.just(""), st.just(0)),
    st.tuples(st.just("select"), st.sampled_from(["prod", "stage"]), st.just(0)),
    st.tuples(st.just("forget a manifest"), st.just(""), st.integers(0, 20)),
)


@pytest.mark.needs_kustomize
@pytest.mark.slow
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(steps=st.lists(_STEPS, min_size=2, max_size=6))
def test_no_sequence_of_edits_makes_a_warm_run_differ(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    small.real_kustomize()
    root = small.write(tmp_path_factory.mktemp("random").resolve())
    small.outcome(root, save=True)
    for what, path, number in steps:
        _step(root, what, path, number)
        assert small.outcome(root) == small.outcome(root, cache=False)


def _step(root: Path, what: str, path: str, number: int) -> None:
    if what == "edit" and (root / path).exists():
        new = _PIECES[path][number // 2 * 2 + 1]
        text = (root / path).read_text().replace(_PIECES[path][number // 2 * 2], new)
        (root / path).write_text(text)
    elif what == "restore":
        small.write(root, {path: small.FILES[path]})
    elif what == "delete":
        (root / path).unlink(missing_ok=True)
    elif what == "save":
        small.outcome(root, save=True)
    elif what == "select":
        small.outcome(root, selection=Selection(clusters=frozenset({path})))
    elif what == "forget a manifest":
        files = sorted((root / "manifests").rglob("*.yaml"))
        files[number % len(files)].unlink()
