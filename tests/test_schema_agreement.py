"""Three opinions on one object: the compiled schema, the walk that explains, and kubernetes-validate."""

from __future__ import annotations

import copy
from functools import cache
from importlib import resources
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_objects import make, spoil

from paddlegen.schema import Profile
from paddlegen.schema.compiled import is_valid
from paddlegen.schema.explain import explain
from paddlegen.schema.kinds import CUSTOM_KINDS
from paddlegen.schema.table import load
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
