"""The words a schema has for people: every field explained, every pattern's wish in words."""

from __future__ import annotations

import pytest

from paddlegen import documents, specs
from paddlegen.model.cluster import ClusterProfile
from paddlegen.model.config import Config
from paddlegen.model.job import JobSpec, JobTemplate, StorageSpec

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
    text = "apiVersion: paddlegen.dev/v1\nkind: JobSpec\nmetadata: {name: Wide_Deep, namespace: A}\nspec: {}\n"
    document = documents.loads(text.encode(), "jobs/a.yaml")[0][0]
    wish = "write a DNS label: lower-case letters, digits and '-', a letter first"
    assert [violation.message for violation in specs.parse(document, JobSpec).violations] == [
        f'name is "Wide_Deep"; {wish}',
        f'namespace is "A"; {wish}',
    ]
