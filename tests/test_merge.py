"""How partial specs combine, and that a podTemplate is the strategic merge patch it looks like."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddlegen import kustomize
from paddlegen.merge import combine_patches, merge_pod_templates, merge_specs

if TYPE_CHECKING:
    from pathlib import Path


def test_maps_merge_null_deletes_lists_replace() -> None:
    base = {"env": {"A": "1", "B": "2"}, "args": ["x", "y"], "gpu": 1}
    over = {"env": {"B": None, "C": "3"}, "args": ["z"]}

    assert merge_specs(base, over) == {"env": {"A": "1", "C": "3"}, "args": ["z"], "gpu": 1}
    assert base["env"] == {"A": "1", "B": "2"}


def test_storage_merges_by_name_and_by_mount_path_where_a_volume_is_mounted_twice() -> None:
    base = [{"use": "nas", "mountPath": "/a"}, {"name": "tmp", "claim": "c", "mountPath": "/b"}]

    by_name = merge_specs({"storage": base}, {"storage": [{"use": "nas", "mountPath": "/c"}]})
    assert by_name["storage"] == [{"use": "nas", "mountPath": "/c"}, base[1]]

    twice = [{"use": "nas", "mountPath": "/a", "readOnly": True}, {"use": "nas", "mountPath": "/c"}]
    by_path = merge_specs({"storage": base}, {"storage": twice})
    assert [entry["mountPath"] for entry in by_path["storage"]] == ["/a", "/b", "/c"]


def test_a_null_of_a_pod_template_survives_the_layers_and_deletes_at_the_end() -> None:
    first = {"podTemplate": {"spec": {"dnsPolicy": "None"}}}
    second = {"podTemplate": {"spec": {"dnsPolicy": None, "restartPolicy": None}}}

    patch = merge_specs(first, second)["podTemplate"]

    assert patch == {"spec": {"dnsPolicy": None, "restartPolicy": None}}
    template = {"spec": {"restartPolicy": "Never", "dnsPolicy": "Default"}}
    assert merge_pod_templates(template, patch) == {"spec": {}}


# Pod templates with few names, so that patches meet what they patch.
names = st.sampled_from(["a", "b", "c"])
values = st.sampled_from(["x", "y"])
scalars = st.none() | values
texts = st.dictionaries(names, values, max_size=2)


def by(key: str, keys: st.SearchStrategy[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    entry = st.fixed_dictionaries({key: keys}, optional=fields)
    return st.lists(entry, max_size=3, unique_by=lambda found: found[key])


def templates(*, patch: bool) -> st.SearchStrategy[dict[str, Any]]:
    """A pod template, or a patch of one: then with nulls and, here and there, a deletion."""
    text = scalars if patch else values
    maps = st.dictionaries(names, text, max_size=2)
    env = by("name", names, value=values)
    paths = st.sampled_from(["/a", "/b"])
    # Where only some have a protocol, kustomize takes ports for others than they are; we read TCP.
    ports = by("containerPort", st.sampled_from([1, 2]), name=names, protocol=st.just("TCP"))
    ports = ports.map(lambda found: [{"protocol": "TCP", **port} for port in found])
    container = {
        "image": text,
        "args": st.lists(values, min_size=1, max_size=2),
        "env": env,
        "volumeMounts": by("mountPath", paths, name=names),
        "ports": ports,
        "resources": st.fixed_dictionaries({}, optional={"limits": maps, "requests": maps}),
    }
    containers = by("name", names, **container)
    volumes = by("name", names, hostPath=st.fixed_dictionaries({"path": st.just("/a")}))
    if patch:
        deletion = st.builds(lambda name: {"name": name, "$patch": "delete"}, names)
        containers = st.builds(_with_deletion, containers, st.none() | deletion)
    spec = {
        "containers": containers,
        "initContainers": containers,
        "volumes": volumes,
        "nodeSelector": maps,
        "imagePullSecrets": by("name", names),
        "tolerations": st.lists(st.fixed_dictionaries({"key": values}), min_size=1, max_size=2),
        "restartPolicy": text,
        "securityContext": st.fixed_dictionaries({}, optional={"runAsUser": st.sampled_from([1, 2])}),
    }
    return st.fixed_dictionaries(
        {"spec": st.fixed_dictionaries({}, optional=spec)},
        optional={"metadata": st.fixed_dictionaries({}, optional={"labels": maps, "annotations": maps})},
    )


def _with_deletion(entries: list[Any], deletion: dict[str, str] | None) -> list[Any]:
    if deletion is None:
        return entries
    return [entry for entry in entries if entry["name"] != deletion["name"]] + [deletion]


def deployment(index: int, template: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": f"d{index}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"template": template},
    }


def canonical(value: Any) -> Any:
    """A template without what is empty, lists that merge by name in the order of their names."""
    if isinstance(value, dict):
        bare = {key: canonical(item) for key, item in value.items()}
        return {key: item for key, item in sorted(bare.items()) if item not in ({}, [], None)}
    if isinstance(value, list):
        items = [canonical(item) for item in value]
        is_named = all(isinstance(item, dict) and "key" not in item for item in items)
        return sorted(items, key=json.dumps) if is_named else items
    return value


@pytest.mark.needs_kustomize
def test_a_pod_template_is_merged_as_kustomize_merges_it(tmp_path: Path) -> None:
    """Many pairs in one build: each is a Deployment and the patch that names it."""
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = []

    @settings(max_examples=300, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(templates(patch=False), templates(patch=True))
    def collect(base: dict[str, Any], patch: dict[str, Any]) -> None:
        pairs.append((copy.deepcopy(base), copy.deepcopy(patch)))

    collect()
    bases = [deployment(index, base) for index, (base, _) in enumerate(pairs)]
    patches = [{"patch": json.dumps(deployment(index, patch))} for index, (_, patch) in enumerate(pairs)]
    (tmp_path / "base.yaml").write_text("\n---\n".join(map(json.dumps, bases)))
    (tmp_path / "kustomization.yaml").write_text(json.dumps({"resources": ["base.yaml"], "patches": patches}))

    built = {
        body["metadata"]["name"]: body
        for body in yaml.safe_load_all(kustomize.build(kustomize.find(), tmp_path))
    }
    for index, (base, patch) in enumerate(pairs):
        theirs = built[f"d{index}"].get("spec", {}).get("template", {})
        assert canonical(merge_pod_templates(base, patch)) == canonical(theirs), json.dumps([base, patch])


@settings(max_examples=200, deadline=None, database=None)
@given(templates(patch=False), templates(patch=True), templates(patch=True))
def test_two_patches_combine_to_the_patch_that_does_both(
    base: dict[str, Any], first: dict[str, Any], second: dict[str, Any]
) -> None:
    one_by_one = merge_pod_templates(merge_pod_templates(base, first), second)

    assert canonical(merge_pod_templates(base, combine_patches(first, second))) == canonical(one_by_one)
