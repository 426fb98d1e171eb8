"""The CRD that we write: upstream's where it can be, and one that the cluster's API server takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from structural import faults, root_faults
from test_schema_conformance import CORPUS, crds, needs_corpus, read
from units import differences

from paddlegen.schema import validate
from paddlegen.schema.crd import definition
from paddlegen.schema.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PADDLE_JOB = ("batch.paddlepaddle.org/v1", "PaddleJob")
RELEASES = ("0.2.0", "0.2.1", "0.3.0", "0.3.1", "0.3.2", "0.3.5")
CLUSTERS = [
    (release, flavour, minor)
    for release in RELEASES
    for flavour, minors in (("v1", (16, 17, 22, 30, 33, 37)), ("v1beta1", (11, 13, 14, 15, 16, 17, 21)))
    for minor in minors
]

ALLOWED = {
    r": metadata\.creationTimestamp$|: status$": "Go writes null and an empty status",
    r": metadata\.annotations$": "controller-gen says which it was",
    r"\.pattern$": "ours refuses a fraction in an exponent, which the operator's Go cannot read",
    r"v1beta1: .*\.ports\.x-kubernetes-list-(type|map-keys)$": "protocol is neither required nor, in "
    "v1beta1, given a default, so that API servers refuse it as a key",
    r"v1beta1: .*\.(grpc|hostProcess|os|dataSourceRef)$": "fields of Kubernetes 1.22 and "
    "later, which serve no CRDs of v1beta1",
}
"""In which places ours may differ from upstream's, as regular expressions, and why."""


def crd(release: str = "0.3.5", flavour: Any = "v1", minor: int = 33) -> dict[str, Any]:
    version = tuple(map(int, release.split(".")))
    profile = Profile((1, minor), flavour, (("paddle-operator", version),))
    return json.loads(json.dumps(definition(profile, *PADDLE_JOB)))  # type: ignore[no-any-return]


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    spec = body["spec"]
    holder = spec["versions"][0]["schema"] if body["apiVersion"].endswith("/v1") else spec["validation"]
    return holder["openAPIV3Schema"]  # type: ignore[no-any-return]


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    yield node
    for child in (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")):
        if isinstance(child, dict):
            yield from nodes(child)


@needs_corpus
@pytest.mark.parametrize("flavour", ["v1", "v1beta1"])
def test_ours_is_upstreams_but_for_what_the_table_allows(flavour: str) -> None:
    path = CORPUS / "crds" / f"batch.paddlepaddle.org_paddlejobs.{flavour}.yaml"
    theirs = next(filter(None, yaml.load_all(path.read_bytes(), yaml.CSafeLoader)))
    ours = crd(flavour=flavour, minor=33 if flavour == "v1" else 21)
    found = {f"{flavour}: {path}" for path, _, _ in differences(_plain(ours), _plain(theirs))}
    assert sorted(one for one in found if not _reason(one)) == []


@needs_corpus
def test_every_allowed_difference_is_still_there() -> None:
    found = set()
    for flavour, minor in (("v1", 33), ("v1beta1", 21)):
        path = CORPUS / "crds" / f"batch.paddlepaddle.org_paddlejobs.{flavour}.yaml"
        theirs = next(filter(None, yaml.load_all(path.read_bytes(), yaml.CSafeLoader)))
        ours = crd(flavour=flavour, minor=minor)
        found |= {_reason(f"{flavour}: {at}") for at, _, _ in differences(_plain(ours), _plain(theirs))}
    assert found == set(ALLOWED)


def _plain(value: Any) -> Any:
    """A CRD without what no reader sees: descriptions, the order of lists of names."""
    if isinstance(value, dict):
        return {
            key: _plain(item)
            for key, item in value.items()
            if not (key == "description" and isinstance(item, str))
        }
    if isinstance(value, list):
        items = [_plain(item) for item in value]
        return sorted(items) if all(isinstance(item, str) for item in items) else items
    return value


def _reason(difference: str) -> str | None:
    return next((pattern for pattern in ALLOWED if re.search(pattern, difference)), None)


@pytest.mark.parametrize(("release", "flavour", "minor"), CLUSTERS)
def test_the_schema_is_structural_on_every_cluster(release: str, flavour: str, minor: int) -> None:
    schema = schema_of(crd(release, flavour, minor))
    if flavour == "v1beta1" and minor < 15:
        for node in nodes(schema):  # int-or-string is a word of 1.15: before that, no type at all
            if "anyOf" in node:
                node["x-kubernetes-int-or-string"] = True
    assert [*faults(schema, defaults=flavour == "v1"), *root_faults(schema)] == []


@needs_corpus
def test_the_checker_of_structural_schemas_finds_nothing_in_upstreams_v1_crds() -> None:
    for path in crds():
        one = read(path)
        if one.flavour == "v1":
            assert [*faults(one.schema), *root_faults(one.schema)] == [], path.name


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        ({"$ref": "#/definitions/A"}, "$ref is forbidden"),
        ({"type": None}, "has no type"),
        ({"type": "array"}, "a list without items"),
        ({"required": ["gone"]}, "gone is required and no property"),
        ({"additionalProperties": {"type": "string"}}, "has both properties and additionalProperties"),
        ({"anyOf": [{"type": "object"}]}, "type inside anyOf"),
    ],
)
def test_a_schema_that_is_not_structural_is_noticed(edit: dict[str, Any], fault: str) -> None:
    schema = schema_of(crd())
    spec = schema["properties"]["spec"] | edit
    schema["properties"]["spec"] = {key: value for key, value in spec.items() if value is not None}
    assert f".spec: {fault}" in list(faults(schema))


@pytest.mark.parametrize(("release", "flavour", "minor"), CLUSTERS)
def test_the_clusters_own_kubernetes_knows_every_key_of_its_crd(
    release: str, flavour: Any, minor: int
) -> None:
    """What replaces `kubectl --validate=false`."""
    version = tuple(map(int, release.split(".")))
    profile = Profile((1, minor), flavour, (("paddle-operator", version),))
    assert [fault.message for fault in validate(crd(release, flavour, minor), profile)] == []


@pytest.mark.parametrize(
    ("minor", "words"),
    [
        (11, set()),
        (14, set()),
        (15, {"int-or-string"}),
        (16, {"int-or-string", "list-type", "list-map-keys"}),
        (17, {"int-or-string", "list-type", "list-map-keys", "map-type"}),
    ],
)
def test_a_v1beta1_crd_has_the_extensions_of_its_kubernetes(minor: int, words: set[str]) -> None:
    schema = schema_of(crd(flavour="v1beta1", minor=minor))
    found = {key for node in nodes(schema) for key in node if key.startswith("x-")}
    assert found == {f"x-kubernetes-{word}" for word in words}


def test_an_old_int_or_string_still_takes_both_and_nothing_else() -> None:
    schema = schema_of(crd(flavour="v1beta1", minor=14))
    policy = schema["properties"]["spec"]["properties"]["schedulingPolicy"]["properties"]
    assert policy["minResources"]["additionalProperties"]["anyOf"] == [
        {"type": "integer"},
        {"type": "string"},
    ]


@pytest.mark.parametrize(
    ("release", "flavour", "kept"),
    [
        ("0.2.0", "v1", False),
        ("0.2.1", "v1", True),
        ("0.3.5", "v1", True),
        ("0.2.1", "v1beta1", False),
        ("0.3.5", "v1beta1", False),
    ],
)
def test_template_metadata_is_listed_where_upstream_lists_it(release: str, flavour: str, kept: bool) -> None:
    schema = schema_of(crd(release, flavour, 18))
    worker = schema["properties"]["spec"]["properties"]["worker"]["properties"]
    metadata = worker["template"]["properties"]["metadata"]
    listed = {"annotations", "finalizers", "labels", "name", "namespace"} if kept else set()
    assert set(metadata.get("properties", {})) == listed
    assert metadata["type"] == "object"


@pytest.mark.parametrize(
    ("release", "minor", "value"),
    [("0.2.0", 15, False), ("0.3.0", 18, False), ("0.3.1", 18, None), ("0.2.0", 14, None)],
)
def test_unknown_fields_are_dropped_by_the_v1beta1_crds_that_say_so(
    release: str, minor: int, value: bool | None
) -> None:
    assert crd(release, "v1beta1", minor)["spec"].get("preserveUnknownFields") is value


@pytest.mark.parametrize("flavour", ["v1", "v1beta1"])
def test_the_flavour_says_where_columns_and_subresources_stand(flavour: str) -> None:
    spec = crd(flavour=flavour, minor=18)["spec"]
    path, holder = ("jsonPath", spec["versions"][0]) if flavour == "v1" else ("JSONPath", spec)
    assert [one[path] for one in holder["additionalPrinterColumns"]] == [
        ".status.phase",
        ".status.mode",
        ".metadata.creationTimestamp",
    ]
    assert holder["subresources"] == {"status": {}}
    assert "additionalPrinterColumns" not in (spec if flavour == "v1" else spec["versions"][0])


@pytest.mark.parametrize("flavour", ["v1", "v1beta1"])
def test_only_v1_has_the_default_protocol_of_a_port(flavour: str) -> None:
    found = [
        node["default"] for node in nodes(schema_of(crd(flavour=flavour, minor=18))) if "default" in node
    ]
    assert found == (["TCP"] * 9 if flavour == "v1" else [])


def test_no_description_makes_the_crd_large() -> None:
    for release, flavour, minor in CLUSTERS:
        assert '"description"' not in json.dumps(crd(release, flavour, minor))


def jobs() -> list[tuple[str, dict[str, Any]]]:
    """The PaddleJobs of this repository's manifests, and those of the corpus that are meant to be good."""
    files = sorted((ROOT / "manifests").glob("*/*/*/paddlejob-*.yaml"))
    files += sorted((CORPUS / "paddle-operator").glob("*.yaml"))
    return [
        (path.name, body)
        for path in files
        for body in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if body and (body["apiVersion"], body["kind"]) == PADDLE_JOB
    ]


@pytest.mark.parametrize("flavour", ["v1", "v1beta1"])
def test_every_job_we_know_to_be_good_is_good_to_the_generated_schema(flavour: str) -> None:
    from jsonschema_rs import Draft7Validator

    validator = Draft7Validator(schema_of(crd(flavour=flavour, minor=18 if flavour == "v1beta1" else 33)))
    found = jobs()
    assert len(found) >= 8
    for name, body in found:
        assert [error.message for error in validator.iter_errors(body)] == [], name


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        ({"worker": {"template": {}}}, "replicas"),
        ({"withGloo": "1"}, "integer"),
        ({"schedulingPolicy": {"minResources": {"cpu": "8Gib"}}}, "8Gib"),
    ],
)
def test_a_bad_job_is_bad_to_the_generated_schema(edit: dict[str, Any], word: str) -> None:
    from jsonschema_rs import Draft7Validator

    validator = Draft7Validator(schema_of(crd()))
    body = {"apiVersion": PADDLE_JOB[0], "kind": PADDLE_JOB[1], "metadata": {"name": "a"}, "spec": edit}
    assert any(word in error.message for error in validator.iter_errors(body))


def test_a_kind_without_crd_has_none() -> None:
    with pytest.raises(LookupError, match="flavour tpr"):
        definition(Profile(crd="tpr"), *PADDLE_JOB)
    with pytest.raises(LookupError, match="Pod"):
        definition(Profile(), "v1", "Pod")
