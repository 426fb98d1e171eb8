"""A job as a cluster sees it: layers, parameters, and where each value was written."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from paddlegen import catalogue, documents
from paddlegen.merge import merge_specs
from paddlegen.resolve import Resolution, named, resolve

SPEC = """
apiVersion: paddlegen.dev/v1
kind: {kind}
metadata: {{name: {name}}}
spec: {spec}
---
"""


def job(spec: str, **templates: str) -> str:
    texts = [SPEC.format(kind="JobTemplate", name=name, spec=body) for name, body in templates.items()]
    return "".join(texts) + SPEC.format(kind="JobSpec", name="job", spec=spec)


def resolved(text: str, cluster: str = "test") -> Resolution:
    contents = catalogue.read("jobs/job.yaml", text.encode())
    assert not contents.findings, contents.findings
    templates = {template.value.metadata.name: template for template in contents.templates}
    return resolve(contents.jobs[0].value, contents.jobs[0].source, cluster, templates, {})


def faults(text: str) -> list[tuple[str, str, int]]:
    """Rule, message and line of every fault."""
    return [
        (
            fault.violation.rule,
            fault.violation.message,
            documents.span(fault.place.document, fault.place.path).line,
        )
        for fault in resolved(text).faults
    ]


def test_templates_come_before_the_job_and_the_cluster_s_overrides_last() -> None:
    text = job(
        "{extends: [one, two], env: {C: job, D: job},"
        " overrides: {test: {env: {D: over}}, other: {env: {A: x}}}}",
        one="{env: {A: one, B: one, C: one, D: one}}",
        two="{env: {B: two, C: two}}",
    )

    found = resolved(text).job
    assert found is not None
    assert found.body.env == {"A": "one", "B": "two", "C": "job", "D": "over"}


def test_a_template_comes_after_the_ones_it_extends() -> None:
    text = job("{extends: [top]}", top="{extends: [base], env: {A: top}}", base="{env: {A: base, B: base}}")

    found = resolved(text).job
    assert found is not None
    assert found.body.env == {"A": "top", "B": "base"}


def test_a_role_is_complete_maps_merged_and_mounts_replaced_by_path() -> None:
    text = job(
        "{env: {A: job, B: job}, gpu: 1, image: job,"
        " storage: [{claim: a, mountPath: /a}, {claim: b, mountPath: /b}],"
        " roles: {worker: {env: {B: own}, image: own, storage: [{claim: c, mountPath: /a}]}}}"
    )

    found = resolved(text).job
    assert found is not None
    fields = found.roles["worker"].fields
    assert (fields.env, fields.gpu, fields.image) == ({"A": "job", "B": "own"}, 1, "own")
    assert [(mount.claim, mount.mount_path) for mount in found.roles["worker"].mounts] == [
        ("b", "/b"),
        ("c", "/a"),
    ]


def test_null_deletes_what_was_inherited() -> None:
    text = job("{extends: [t], gpu: null, env: {A: null}}", t="{gpu: 1, env: {A: x, B: y}}")

    found = resolved(text).job
    assert found is not None
    assert (bool(found.body.gpu), found.body.env) == (False, {"B": "y"})


def test_a_null_that_deletes_nothing_is_a_fault_at_its_line() -> None:
    assert faults(job("\n  env:\n    A:\n    B: x"))[0][0::2] == ("null-deletes-something", 7)


@pytest.mark.parametrize(
    ("declared", "given_", "shown"),
    [
        ("{type: integer}", "3", 3),
        ("{type: integer, default: 2}", None, 2),
        ("{type: number}", "0.5", 0.5),
        ("{type: boolean}", "true", True),
        ("{}", "text", "text"),
    ],
)
def test_a_parameter_that_stands_alone_keeps_its_type(
    declared: str, given_: str | None, shown: object
) -> None:
    params = "" if given_ is None else f", params: {{x: {given_}}}"
    text = job(
        f"{{extends: [t]{params}}}",
        t=f"{{params: {{x: {declared}}}, podTemplate: "
        "{spec: {alone: '${params.x}', within: 'is ${params.x}'}}}",
    )

    found = resolved(text).job
    assert found is not None
    assert isinstance(found.body.pod_template, dict)
    spec = found.body.pod_template["spec"]
    assert spec["alone"] == shown
    assert type(spec["alone"]) is type(shown)
    assert spec["within"] == f"is {str(shown).lower() if isinstance(shown, bool) else shown}"


@pytest.mark.parametrize(
    ("spec", "template", "rule", "words"),
    [
        (
            "{extends: [t], params: {x: '3'}}",
            "{params: {x: {type: integer}}}",
            "params-typed",
            "declares integer",
        ),
        (
            "{extends: [t], params: {x: true}}",
            "{params: {x: {type: integer}}}",
            "params-typed",
            "declares integer",
        ),
        (
            "{extends: [t], params: {xx: 1}}",
            "{params: {xxx: {default: a}}}",
            "params-declared",
            "did you mean xxx",
        ),
        (
            "{extends: [t]}",
            "{params: {x: {type: integer}}}",
            "params-resolved",
            "the parameter x of the template t has no default",
        ),
        ("{extends: [t], image: 'r:${params.z}'}", "{}", "params-resolved", "${params.z} has no value"),
        ("{extends: [tt]}", "{}", "template-exists", "no job template tt"),
        ("{extends: [t]}", "{extends: [t]}", "template-acyclic", "t extends t"),
        (
            "{extends: [t]}",
            "{params: {x: {default: many}}, gpu: '${params.x}'}",
            "spec-values-allowed",
            "gpu",
        ),
    ],
)
def test_a_template_that_cannot_be_used_is_a_fault(spec: str, template: str, rule: str, words: str) -> None:
    text = job(spec, t=template)
    contents = catalogue.read("jobs/job.yaml", text.encode())
    found = [(finding.rule, finding.message) for finding in contents.findings]
    if not found:
        found = [fault[:2] for fault in faults(text)]

    assert any(rule == known and words in message for known, message in found), found


def test_a_loop_of_templates_names_its_members() -> None:
    found = faults(job("{extends: [a]}", a="{extends: [b]}", b="{extends: [a]}"))

    assert [(rule, message) for rule, message, _ in found] == [
        ("template-acyclic", "a template cannot extend itself: a extends b extends a")
    ]


counter = itertools.count(100)
leaf = st.builds(lambda: f"v{next(counter)}")
texts = st.dictionaries(st.sampled_from("ABC"), leaf, max_size=3)


def mounts(names: list[str]) -> list[dict[str, str]]:
    return [{"name": name, "claim": f"v{next(counter)}", "mountPath": f"/v{next(counter)}"} for name in names]


named_list = st.builds(mounts, st.lists(st.sampled_from("abc"), max_size=3, unique=True))
fields = {
    "image": leaf,
    "workingDir": leaf,
    "args": st.lists(leaf, max_size=3),
    "env": texts,
    "nodeSelector": texts,
    "storage": named_list,
    "podTemplate": st.fixed_dictionaries(
        {"spec": st.fixed_dictionaries({}, optional={"first": leaf, "second": texts})}
    ),
}
role = st.fixed_dictionaries({}, optional=fields)
part = st.fixed_dictionaries(
    {}, optional={**fields, "roles": st.fixed_dictionaries({}, optional={"ps": role, "worker": role})}
)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in leaves(item, (*path, index))]
    return [(path, value)]


@settings(max_examples=300, deadline=None, database=None)
@given(part, part, part, part)
def test_the_origin_of_every_value_is_the_line_that_holds_it(
    base: dict[str, Any], second: dict[str, Any], own: dict[str, Any], override: dict[str, Any]
) -> None:
    bodies = [("JobTemplate", "base", base), ("JobTemplate", "second", second)]
    spec = {**own, "extends": ["base", "second"], "overrides": {"test": override}}
    documents_ = [
        {"apiVersion": "paddlegen.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": body}
        for kind, name, body in [*bodies, ("JobSpec", "job", spec)]
    ]
    text = yaml.safe_dump_all(documents_, default_flow_style=False)
    lines = text.splitlines()
    found = resolved(text)
    merged: dict[str, Any] = {}
    for layer in found.layers:
        merged = merge_specs(merged, layer.value)

    assert found.job is not None
    for path, value in leaves(merged):
        place = found.origin(named(merged, path))
        span = documents.span(place.document, place.path)
        assert value in lines[span.line - 1], (path, value, lines[span.line - 1])
