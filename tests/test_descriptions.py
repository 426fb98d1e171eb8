"""The words a schema has for people: every field explained, every pattern's wish in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from paddlegen import documents, specs
from paddlegen.model.cluster import ClusterProfile
from paddlegen.model.config import Config
from paddlegen.model.job import JobSpec, JobTemplate, StorageSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = [JobSpec, JobTemplate, StorageSpec, ClusterProfile, Config]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_has_a_description(kind: type) -> None:
    silent = [
        f"{name}.{field}"
        for name, definition in specs.json_schema(kind)["$defs"].items()
        for field, schema in definition.get("properties", {}).items()
        if not schema.get("description", "").endswith(".")
    ]
    assert silent == []


def test_a_pattern_is_told_as_a_wish_not_as_the_fields_description() -> None:
    text = (
        "apiVersion: paddlegen.dev/v1\nkind: JobSpec\nspec: {}\nmetadata: {name: Wide_Deep, namespace: A}\n"
    )
    document = documents.loads(text.encode(), "jobs/a.yaml")[0][0]
    wish = "lower-case letters, digits and '-' are allowed, a letter first; did you mean"
    assert [violation.message for violation in specs.parse(document, JobSpec).violations] == [
        f'name is "Wide_Deep"; {wish} wide-deep?',
        f'namespace is "A"; {wish} a?',
    ]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_pattern_has_words(kind: type) -> None:
    def silent(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("pattern"), str) and "patternErrorMessage" not in node:
                yield node["pattern"]
            for value in node.values():
                yield from silent(value)

    assert list(silent(specs.json_schema(kind))) == []
