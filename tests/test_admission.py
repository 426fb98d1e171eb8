"""Each admission says exactly what its example files expect, on the line they expect it.

A bad file carries `# expect: <rule>` on the lines a server would refuse, a good file `# shows: <rule>`
where it keeps to a rule.  `# cluster: {...}` is the profile.  Of an object that stands twice in a
file the second is the first one changed.
"""

from __future__ import annotations

import copy
import os
import random
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from paddlegen import admission, documents
from paddlegen.model.admission import Kind
from paddlegen.model.cluster import Cluster, ClusterBody
from paddlegen.model.output import ObjectRef, object_ref
from paddlegen.model.policy import View
from paddlegen.model.report import Severity

EXAMPLES = Path(__file__).parent / "admission"
FILES = sorted(EXAMPLES.glob("*/*.yaml"))
NAMES = sorted(admission.INDEX)
ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("PADDLEGEN_CORPUS", ROOT.parent / "shared" / "corpus"))
TOO_LARGE_FOR_A_FILE = {"annotations-fit"}
CLUSTER = Cluster(name="test", body=ClusterBody())


def _marked(text: str, mark: str) -> dict[int, list[str]]:
    """The rules behind `# <mark>:` by line."""
    return {
        number: sorted(found[1].split(", "))
        for number, line in enumerate(text.splitlines(), 1)
        if (found := re.search(rf"# {mark}: (.*)", line))
    }


def _cluster(text: str) -> Cluster:
    found = re.match(r"# cluster: (.*)", text)
    return Cluster(name="test", body=msgspec.convert(yaml.safe_load(found[1]) if found else {}, ClusterBody))


def _found(path: Path) -> dict[int, list[str]]:
    """The rules that are broken, by the line of the breach."""
    text = path.read_text(encoding="utf-8")
    parsed, problems = documents.load(text, path.name)
    assert not problems
    bodies: list[dict[str, Any]] = [document.value for document in parsed]  # type: ignore[misc]  # all are objects
    cluster, found = _cluster(text), defaultdict[int, list[str]](list)
    earlier: dict[ObjectRef, dict[str, Any]] = {}
    for document, body in zip(parsed, bodies, strict=True):
        ref = object_ref(body) if body.get("metadata", {}).get("name") else None
        old = earlier.get(ref) if ref else None
        for rule, _, breach in admission.check(body, View(bodies, cluster, old)):
            found[documents.span(document, breach.path).line].append(rule)
        if ref:
            earlier[ref] = body
    return {line: sorted(rules) for line, rules in found.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_file_breaks_what_it_expects_and_nothing_else(path: Path) -> None:
    assert _found(path) == _marked(path.read_text(encoding="utf-8"), "expect")
    assert path.name.startswith("good-") != bool(_found(path))


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_good_and_a_bad_example(name: str) -> None:
    rules = {rule.name for rule in admission.admissions()[name].rules}
    for kind, mark in (("bad", "expect"), ("good", "shows")):
        texts = (path.read_text(encoding="utf-8") for path in (EXAMPLES / name).glob(f"{kind}-*.yaml"))
        shown = {rule for text in texts for each in _marked(text, mark).values() for rule in each}
        assert rules - shown == (TOO_LARGE_FOR_A_FILE & rules if kind == "bad" else set())


@pytest.mark.parametrize(("size", "refused"), [(262_144, False), (262_145, True)])
def test_annotations_have_at_most_256_kibibytes_keys_included(size: int, *, refused: bool) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "notes", "annotations": {"key": "é" * ((size - 4) // 2), "x": "x" * (size % 2)}},
    }
    rules = [rule for rule, _, _ in admission.check(body, View((), CLUSTER))]
    assert rules == ["annotations-fit"] * refused


def test_the_index_names_every_admission_and_its_kinds() -> None:
    found = {name: member.kinds for name, member in admission.admissions().items()}
    assert found == admission.INDEX


def test_a_rule_means_one_thing_and_every_admission_names_its_source() -> None:
    meanings = defaultdict[str, set[Severity]](set)
    for member in admission.admissions().values():
        assert member.doc
        assert "/" in member.source
        for rule in member.rules:
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
            assert rule.doc.endswith(".")
            meanings[rule.name].add(rule.severity)
    assert all(len(severities) == 1 for severities in meanings.values())


def test_only_the_admissions_of_a_kind_are_imported() -> None:
    program = """
import sys
from paddlegen import admission
from paddlegen.model.cluster import Cluster, ClusterBody
from paddlegen.model.policy import View
body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "x"}}
list(admission.check(body, View((), Cluster(name="c", body=ClusterBody()))))
print(*sorted(name for name in sys.modules if name.startswith("paddlegen.admission.") and "._" not in name))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [
        "paddlegen.admission.kubernetes_names",
        "paddlegen.admission.kubernetes_storage",
    ]


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -3,
    2**70,
    1.5,
    float("inf"),
    "",
    "x y",
    "-1",
    [],
    [None],
    ["a"],
    {},
    {"name": 1},
)


def _spoil(value: Any, rng: random.Random) -> Any:
    """Put junk somewhere inside."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        return {**value, key: _spoil(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        index = rng.randrange(len(value))
        return [*value[:index], _spoil(value[index], rng), *value[index + 1 :]]
    return copy.deepcopy(rng.choice(JUNK))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_malformed_objects_are_passed_over_not_crashed_on(path: Path) -> None:
    rng = random.Random(path.name)  # the same objects at every run
    bodies = [body for body in yaml.safe_load_all(path.read_text(encoding="utf-8")) if body]
    for body in bodies:
        for _ in range(100):
            junk = {key: _spoil(value, rng) for key, value in body.items() if rng.random() < 0.9}
            junk |= {"apiVersion": body["apiVersion"], "kind": body["kind"]}
            for old in (None, body, {**body, "spec": _spoil(body.get("spec"), rng)}):
                list(admission.check(junk, View([*bodies, junk], CLUSTER, old)))


def test_a_file_that_is_no_object_is_passed_over() -> None:
    for body in ({}, {"workspace": "rank"}, {"apiVersion": 1, "kind": ["a"]}):
        assert not list(admission.check(body, View((), CLUSTER)))


def test_the_group_of_an_object_is_read_from_its_api_version() -> None:
    assert Kind.of({"apiVersion": "v1", "kind": "Pod"}) == Kind("", "Pod")
    assert Kind.of({"apiVersion": "batch/v1", "kind": "Job"}) == Kind("batch", "Job")


def test_volcano_s_own_counter_example_is_refused_in_volcano_s_words() -> None:
    """The shape of `corpus/volcano/invalid-minAvailable.yaml`: five pods of four."""
    task = {"replicas": 2, "template": {"spec": {"containers": [{"name": "nginx", "image": "nginx"}]}}}
    body = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "refused"},
        "spec": {"minAvailable": 5, "tasks": [{**task, "name": "task-1"}, {**task, "name": "task-2"}]},
    }
    [(rule, severity, breach)] = admission.check(body, View((), CLUSTER))
    assert (rule, severity, breach.path) == (
        "volcano-job-min-available-fits",
        Severity.ERROR,
        ("spec", "minAvailable"),
    )
    assert breach.message.startswith(
        "job 'minAvailable' should not be greater than total replicas in tasks; "
    )


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus at {CORPUS}; set PADDLEGEN_CORPUS")
def test_of_all_published_jobs_only_the_one_meant_to_be_refused_is_refused() -> None:
    refused = []
    for path in sorted(CORPUS.glob("*/*.yaml")):
        parsed, _ = documents.load(path.read_text(encoding="utf-8"), path.name)
        bodies = [document.value for document in parsed if isinstance(document.value, dict)]
        for document in parsed:
            if isinstance(document.value, dict):
                for rule, _, breach in admission.check(document.value, View(bodies, CLUSTER)):
                    line = documents.span(document, breach.path).line
                    refused.append((path.relative_to(CORPUS).as_posix(), line, rule))
    assert refused == [("volcano/invalid-minAvailable.yaml", 7, "volcano-job-min-available-fits")]
