"""Three opinions on one object: the compiled schema, the walk that explains, and kubernetes-validate."""

from __future__ import annotations

import copy
import json
import re
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import kubernetes_validate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from schema_objects import make, spoil

from paddlegen.schema import Profile
from paddlegen.schema.compiled import is_valid, json_schema
from paddlegen.schema.explain import explain
from paddlegen.schema.kinds import CUSTOM_KINDS
from paddlegen.schema.view import View, view

OLD = Profile((1, 15), "v1beta1", (("paddle-operator", (0, 2, 0)), ("volcano", (1, 4)), ("argocd", (1, 8))))
NEW = Profile((1, 33), "v1")
KINDS = [(kind.api_version, kind.kind) for kind in CUSTOM_KINDS] + [
    ("v1", "Pod"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
    ("v1", "Secret"),
    ("v1", "Namespace"),
    ("apps/v1", "Deployment"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
]


def the_view(profile: Profile, name: tuple[str, str]) -> View:
    seen = view(profile, *name)
    assert seen is not None
    return seen


@pytest.mark.parametrize("name", KINDS, ids=" ".join)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_made_from_the_tables_has_no_fault(name: tuple[str, str], seed: int) -> None:
    for profile in (OLD, NEW):
        seen = the_view(profile, name)
        body = make(Random(seed), seen)
        assert list(explain(seen, body)) == []
        assert is_valid(profile, *name, body)


@pytest.mark.parametrize("name", KINDS, ids=" ".join)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_an_object_is_refused_exactly_if_there_is_something_to_say(name: tuple[str, str], seed: int) -> None:
    random = Random(seed)
    for profile in (OLD, NEW):
        seen = the_view(profile, name)
        body = spoil(random, make(random, seen), random.randrange(1, 4))
        before = copy.deepcopy(body)
        said = list(explain(seen, body))
        assert is_valid(profile, *name, body) == (said == []), said
        assert body == before
        assert all(one.message and one.rule for one in said)


# kubernetes-validate: the package our Kubernetes table is pruned from.

COMPARED = {
    ("v1", "Pod"): "core.v1.Pod",
    ("v1", "PersistentVolume"): "core.v1.PersistentVolume",
    ("v1", "PersistentVolumeClaim"): "core.v1.PersistentVolumeClaim",
    ("apps/v1", "Deployment"): "apps.v1.Deployment",
}
STRICTER_HERE = {
    r"needs a mapping with a name|metadata has no name": "the server stores nothing without a name",
    r"^metadata\.name is .* names-well-formed$": "the server checks names in Go",
    r" quantities-parse$": "the server parses quantities in Go",
    r"write a time such as": "the server parses times in Go",
    r"is empty; write a mapping": "an empty item in a list of objects is a mistake whatever it decodes to",
    r"write a number of fewer digits": "an int32 has 32 bits; the schema's format is not checked there",
}
STRICTER_THAN_OLD = {r"; write a mapping values-fit-schema$": "before 1.15 no object says that it is one"}
STRICTER_THERE = {
    r"null is valid under more than one": "their oneOf refuses null where the server takes it",
    r"^/status": "we do not look into a status",
    r"null is not (of type|valid under)": "before 1.25 their schemas take no null; the server always did",
    r"is not one of": "1.23 published words; here they are values, which `published` leaves out",
    r"^/.*0\.5 is not valid under any": "before 1.25 their quantity takes no fraction; the server always did",
}


OLD_RELEASE = Path(__file__).parent.parent / ".tools" / "kubernetes-validate" / "1.27.1"
"""Where `make kubernetes-tables` leaves the release that has the versions before 1.25."""


def their_schema(minor: int, definition: str) -> dict[str, Any]:
    """The strict schema of one version that kubernetes-validate bundles."""
    folders = [resources.files("kubernetes_validate") / "kubernetes-json-schema"]
    if minor < 25:
        folders = [*OLD_RELEASE.glob("**/kubernetes-json-schema")]
    if not folders:
        pytest.skip(f"no kubernetes-validate for 1.{minor} here; make kubernetes-tables fetches it")
    (folder,) = folders
    text = (folder / f"v1.{minor}.0-local-strict" / "_definitions.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    key = "$defs" if "$defs" in loaded else "definitions"
    return {key: loaded[key], "$ref": f"#/{key}/io.k8s.api.{definition}"}


@pytest.mark.parametrize("minor", range(11, 38))
def test_published_schemas_and_kubernetes_validate_give_the_same_verdict(minor: int) -> None:
    stricter = STRICTER_HERE | (STRICTER_THAN_OLD if minor < 15 else {})
    for name, definition in COMPARED.items():
        seen = view(Profile((1, minor)), *name, published=True)
        assert seen is not None
        ours = Draft202012Validator(json_schema(seen))
        theirs = Draft202012Validator(their_schema(minor, definition))
        refused = 0
        for seed in range(150):
            random = Random(seed)
            body = make(random, seen)
            body = spoil(random, body, 1) if seed % 3 else body
            refused += not theirs.is_valid(body)
            if ours.is_valid(body) != theirs.is_valid(body):
                here = [f"{one.message} {one.rule}" for one in explain(seen, body)]
                there = [
                    "/" + "/".join(map(str, e.instance_path)) + e.message for e in theirs.iter_errors(body)
                ]
                listed = [(text, stricter) for text in here] + [(text, STRICTER_THERE) for text in there]
                assert [
                    text for text, reasons in listed if not any(re.search(r, text) for r in reasons)
                ] == []
        assert refused > 20


@pytest.mark.slow
@pytest.mark.parametrize("minor", [25, 31, 37])
def test_what_we_accept_kubernetes_validate_accepts(minor: int) -> None:
    """Through its own front door, which takes milliseconds for each object."""
    for name in COMPARED:
        seen = the_view(Profile((1, minor)), name)
        for seed in range(10):
            kubernetes_validate.validate(make(Random(seed), seen), f"1.{minor}", strict=True)


@pytest.mark.slow
@pytest.mark.parametrize(("minor", "field"), [(25, "resizePolicy"), (26, "resizePolicy"), (33, "imagee")])
def test_a_field_that_kubernetes_validate_does_not_know_is_a_finding_here(minor: int, field: str) -> None:
    container = {"name": "a", field: []}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(body, f"1.{minor}", strict=True)
    assert [one.path[-1] for one in explain(the_view(Profile((1, minor)), ("v1", "Pod")), body)] == [field]
