"""What a cluster needs before any job: rendered, compared with upstream's, checked, and taken away again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import small
import yaml
from test_schema_conformance import CORPUS
from units import cluster, differences, rendered

from paddlegen import installation, kustomize
from paddlegen.cli import shell
from paddlegen.model.output import Manifest, Violation
from paddlegen.resources import operator

if TYPE_CHECKING:
    from collections.abc import Callable


ROOT = Path(__file__).parent.parent
ALL = ["crds", "operator", "namespaces"]
NOW = {"kubernetes": "1.33", "platform": ALL, "namespaces": [{"name": "ads"}]}
PROFILES: dict[str, dict[str, Any]] = {
    "everything": {
        "kubernetes": "1.33",
        "paddleOperator": {"version": "0.3.5", "scheduling": "volcano", "initImage": ""},
        "volcano": {"version": "v1.12.0"},
        "namespaces": [
            {"name": "ads", "podSecurity": "baseline", "istio": False},
            {"name": "paddle-system", "podSecurity": "restricted"},
            {"name": "mesh", "istio": True},
        ],
        "platform": ALL,
    },
    "one-namespace": {
        "kubernetes": "1.20",
        "paddleOperator": {
            "version": "0.3.2",
            "watchedNamespace": "ads",
            "namespace": "operators",
            "etcdServer": "etcd.example.com:2379",
            "image": "registry.example.com/paddle/controller:v0.3.2",
        },
        "platform": ["operator"],
    },
    "legacy": {
        "kubernetes": "1.15",
        "paddleOperator": {"version": "0.2.0", "watchedNamespace": "paddle-system"},
        "namespaces": [{"name": "paddle-system"}],
        "platform": ["crds", "namespaces"],
    },
}

ALLOWED = {
    r"ConfigMap .*/paddle-manager-config: only there": "the Deployment does not mount it",
    r"Deployment .*imagePullPolicy": "a release does not change, and its registry may be out of reach",
}
"""How our objects may differ from upstream's, as regular expressions, and why."""


def built(body: dict[str, Any]) -> list[Manifest | Violation]:
    return list(installation.build(cluster(body).cluster))


def objects(body: dict[str, Any]) -> list[dict[str, Any]]:
    outputs = built(body)
    assert not [one for one in outputs if isinstance(one, Violation)]
    return [json.loads(json.dumps(one.body)) for one in outputs if isinstance(one, Manifest)]


def refusals(body: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (".".join(map(str, one.path)), one.rule, one.message)
        for one in built(body)
        if isinstance(one, Violation)
    ]


def named(body: dict[str, Any]) -> str:
    namespace = body["metadata"].get("namespace")
    return f"{body['kind']} {namespace + '/' if namespace else ''}{body['metadata']['name']}"


# --- the objects


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_becomes_its_golden_objects(name: str, golden: Callable[[str, str], None]) -> None:
    """The CRD by its outline: tests of its own hold the rest."""
    shown = [
        _outline(body) if body["kind"] == "CustomResourceDefinition" else body
        for body in objects(PROFILES[name])
    ]
    golden(f"platform/{name}.yaml", yaml.safe_dump_all(shown, sort_keys=False, width=110))


def _outline(body: dict[str, Any]) -> dict[str, Any]:
    holder = body["spec"].get("validation") or body["spec"]["versions"][0]["schema"]
    spec = holder["openAPIV3Schema"]["properties"]["spec"]["properties"]
    holder["openAPIV3Schema"] = {"spec": sorted(spec)}
    return body


@pytest.mark.skipif(not (CORPUS / "operator").is_dir(), reason=f"no operator to compare with in {CORPUS}")
def test_the_operators_objects_are_upstreams_but_for_what_the_table_allows() -> None:
    text = (CORPUS / "operator" / "paddle-operator-0.3.5.yaml").read_text(encoding="utf-8")
    theirs = {named(body): _by_resource(body) for body in yaml.safe_load_all(text) if body}
    mine = {
        named(body): _by_resource(body) for body in objects({"kubernetes": "1.33", "platform": ["operator"]})
    }
    found = [f"{name}: only here" for name in mine.keys() - theirs.keys()]
    found += [f"{name}: only there" for name in theirs.keys() - mine.keys()]
    for name in mine.keys() & theirs.keys():
        found += [
            f"{name}: {path}: {a!r} here, {b!r} there" for path, a, b in differences(mine[name], theirs[name])
        ]
    reasons = {one: next((p for p in ALLOWED if re.search(p, one)), None) for one in found}
    assert [one for one, reason in reasons.items() if reason is None] == []
    assert set(reasons.values()) == set(ALLOWED)


def _by_resource(body: dict[str, Any]) -> dict[str, Any]:
    """A role as what it allows, however its rules are grouped."""
    if "rules" not in body:
        return body
    allowed: dict[str, list[str]] = {}
    for rule in body["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                verbs = allowed.setdefault(f"{resource}@{group}", [])
                verbs[:] = sorted({*verbs, *rule["verbs"]})
    return {**body, "rules": allowed}


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ({}, []),
        ({"watchedNamespace": "ads"}, ["--namespace=ads"]),
        ({"scheduling": "volcano"}, ["--scheduling=volcano"]),
        ({"version": "0.3.2", "etcdServer": "etcd:2379"}, ["--etcd-server=etcd:2379"]),
        ({"initImage": ""}, ["--initImage="]),
        ({"initImage": "r.example.com/alpine:3.10"}, ["--initImage=r.example.com/alpine:3.10"]),
        ({"version": "0.3.1", "watchedNamespace": "paddle-system"}, ["--namespace=paddle-system"]),
    ],
)
def test_the_manager_has_the_flags_of_the_profile(given: dict[str, Any], args: list[str]) -> None:
    body = cluster({"paddleOperator": given}).cluster.body
    assert operator.flags(body.paddle_operator) == ["--leader-elect", *args]


@pytest.mark.parametrize(
    ("given", "field", "since"),
    [
        ({"version": "0.2.1", "scheduling": "volcano"}, "scheduling", "0.3.0"),
        ({"version": "0.2.1", "etcdServer": "etcd:2379"}, "etcdServer", "0.3.0"),
        ({"version": "0.3.1", "initImage": "a"}, "initImage", "0.3.2"),
        ({"version": "0.3.1", "initImage": ""}, "initImage", "0.3.2"),
    ],
)
def test_a_flag_the_release_does_not_have_is_refused_at_its_field(
    given: dict[str, Any], field: str, since: str
) -> None:
    found = refusals({"platform": ["operator"], "paddleOperator": {"image": "a", **given}})
    assert [(path, since in message) for path, _, message in found] == [
        (f"spec.paddleOperator.{field}", True)
    ]


@pytest.mark.parametrize(
    ("version", "field", "value"), [("0.3.0", "scheduling", "volcano"), ("0.3.2", "initImage", "")]
)
def test_a_flag_is_taken_from_its_first_release_on(version: str, field: str, value: str) -> None:
    given = {"version": version, field: value, "image": "a"}
    assert refusals({"platform": ["operator"], "paddleOperator": given}) == []


def test_a_release_published_elsewhere_needs_its_image() -> None:
    found = refusals({"platform": ["operator"], "paddleOperator": {"version": "0.3.0"}})
    assert [(path, rule) for path, rule, _ in found] == [("spec.paddleOperator", "operator-image-known")]
    assert "paddleOperator.image" in found[0][2]
    given = {"version": "0.3.0", "image": "registry.example.com/controller:v0.3.0"}
    assert refusals({"platform": ["operator"], "paddleOperator": given}) == []
    assert refusals({"platform": ["operator"], "paddleOperator": {"version": "0.3.1"}}) == []


@pytest.mark.parametrize("watched", ["", "ads"])
def test_the_operators_rights_end_where_it_watches(watched: str) -> None:
    given = {"watchedNamespace": watched, "namespace": "operators"}
    found = {named(body): body for body in objects({"platform": ["operator"], "paddleOperator": given})}
    roles = {name for name in found if "Role" in name}
    election = {f"{kind} operators/paddle-leader-election-{kind.lower()}" for kind in ("Role", "RoleBinding")}
    if watched:
        assert roles - election == {f"{k} ads/paddle-manager-{k.lower()}" for k in ("Role", "RoleBinding")}
    else:
        assert roles - election == {f"Cluster{k} paddle-manager-{k.lower()}" for k in ("Role", "RoleBinding")}
    for name in roles:
        if "Binding" in name:
            assert found[name]["subjects"][0]["namespace"] == "operators"
            assert found[name]["roleRef"]["kind"] == name.partition(" ")[0].removesuffix("Binding")


def test_the_operators_namespace_has_the_labels_of_both() -> None:
    found = {named(body): body["metadata"].get("labels") for body in objects(PROFILES["everything"])}
    assert found["Namespace paddle-system"] == {
        "control-plane": "controller-manager",
        "pod-security.kubernetes.io/enforce": "restricted",
    }
    assert found["Namespace ads"] == {
        "istio-injection": "disabled",
        "pod-security.kubernetes.io/enforce": "baseline",
    }


def test_namespaces_without_any_named_are_refused_with_the_line_to_add() -> None:
    found = refusals({"platform": ["crds", "namespaces"], "paddleOperator": {"watchedNamespace": "ads"}})
    assert found[0][:2] == ("spec.platform.1", "platform-can-be-rendered")
    assert "namespaces: [{name: ads}]" in found[0][2]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({"kubernetes": "1.33", "crd": "v1beta1"}, "crd-flavour-served"),
        ({"kubernetes": "1.15", "crd": "v1"}, "crd-flavour-served"),
        ({"kubernetes": "1.7", "crd": "tpr"}, "target-can-express-job"),
    ],
)
def test_a_crd_that_the_cluster_cannot_have_is_refused_at_its_flavour(
    body: dict[str, Any], rule: str
) -> None:
    assert [found[:2] for found in refusals({"platform": ["crds"], **body})] == [("spec.crd", rule)]


def test_only_an_object_over_the_client_side_limit_is_applied_server_side() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": ""}}
    room = installation.CLIENT_SIDE_LIMIT - len("kubectl.kubernetes.io/last-applied-configuration")
    room -= len(json.dumps(body, separators=(",", ":"))) + 1
    fits = {**body, "data": {"a": "x" * room}}
    assert installation.fitted(fits) is fits
    large = installation.fitted({**body, "data": {"a": "x" * (room + 1)}})
    assert large["metadata"]["annotations"] == {"argocd.argoproj.io/sync-options": "ServerSideApply=true"}
    assert not any(installation.is_large(one) for name in PROFILES for one in objects(PROFILES[name]))


def test_our_crd_is_far_below_the_limit() -> None:
    body = objects({"kubernetes": "1.33", "platform": ["crds"]})[0]
    assert len(json.dumps(body, separators=(",", ":"))) < 150_000


# --- in a repository


FILES = {
    **small.FILES,
    "overlays/prod/cluster.yaml": small.FILES["overlays/prod/cluster.yaml"].replace(
        "gang: git", "gang: git, platform: [crds, operator, namespaces], namespaces: [{name: default}]"
    ),
    "overlays/stage/cluster.yaml": small.FILES["overlays/stage/cluster.yaml"].replace("0.2.0", "0.3.5"),
}
PLATFORM = {
    "clusterrole-paddle-manager-role.yaml",
    "clusterrolebinding-paddle-manager-rolebinding.yaml",
    "customresourcedefinition-paddlejobs.batch.paddlepaddle.org.yaml",
    "deployment-paddle-controller-manager.yaml",
    "namespace-default.yaml",
    "namespace-paddle-system.yaml",
    "role-paddle-leader-election-role.yaml",
    "rolebinding-paddle-leader-election-rolebinding.yaml",
    "serviceaccount-paddle-manager-sa.yaml",
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(small.write(tmp_path, FILES))
    return tmp_path


def run(*argv: str) -> int:
    return shell.run(list(argv))


def files(root: Path, top: str = "manifests/prod/_platform") -> set[str]:
    return {path.name for path in (root / top).glob("*")}


@pytest.mark.needs_kustomize
def test_render_writes_the_platform_with_the_jobs_and_check_finds_it_current(repo: Path) -> None:
    assert run("render") == 0
    assert files(repo) == PLATFORM
    assert (repo / "manifests/prod/default/a").is_dir()
    header = "# Rendered by paddlegen from overlays/prod/cluster.yaml; edit that file.\n"
    for path in (repo / "manifests/prod/_platform").iterdir():
        text = path.read_text()
        assert text.startswith(header)
        assert yaml.safe_load(text)["metadata"]["annotations"] == {"from": "component"}
    assert run("check") == 0
    assert run("check", "--no-cache") == 0


@pytest.mark.needs_kustomize
def test_platform_writes_the_platform_and_nothing_else(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("platform", "--dry-run") == 0
    assert not (repo / "manifests").exists()
    assert "9 would be new" in capsys.readouterr().out
    assert run("platform") == 0
    assert files(repo) == PLATFORM
    assert {path.name for path in (repo / "manifests/prod").iterdir()} == {"_platform"}


@pytest.mark.needs_kustomize
def test_platform_leaves_what_render_wrote_for_jobs(repo: Path) -> None:
    assert run("render") == 0
    before = sorted(path for path in (repo / "manifests").rglob("*.yaml"))
    small.edit(repo, "overlays/prod/cluster.yaml", "[crds, operator, namespaces]", "[operator, namespaces]")
    assert run("platform") == 0
    gone = set(before) - set((repo / "manifests").rglob("*.yaml"))
    assert {path.name for path in gone} == {"customresourcedefinition-paddlejobs.batch.paddlepaddle.org.yaml"}


@pytest.mark.needs_kustomize
@pytest.mark.parametrize("argv", [["--cluster", "stage"], ["--cluster", "stage", "--dry-run"]])
def test_platform_of_a_profile_that_lists_nothing_says_what_to_write(
    repo: Path, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("platform", *argv) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "platform: [crds, operator, namespaces]" in said
    assert "overlays/stage/cluster.yaml" in said
    assert not (repo / "manifests").exists()


@pytest.mark.needs_kustomize
def test_what_the_profile_lists_no_more_is_left_over(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("render") == 0
    small.edit(repo, "overlays/prod/cluster.yaml", "platform: [crds, operator, namespaces], ", "")
    capsys.readouterr()
    assert run("check", "--format", "concise") == 1
    out = capsys.readouterr().out
    assert out.count("manifest-has-spec") == len(PLATFORM)
    assert run("render") == 0
    assert not (repo / "manifests/prod/_platform").exists()
    assert run("check") == 0


@pytest.mark.needs_kustomize
def test_a_changed_platform_file_and_a_changed_flag_are_drift(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("render") == 0
    small.edit(repo, "manifests/prod/_platform/deployment-paddle-controller-manager.yaml", "100m", "200m")
    assert run("check", "--format", "concise") == 1
    assert "deployment-paddle-controller-manager.yaml" in capsys.readouterr().out
    assert run("platform") == 0
    assert run("check") == 0
    small.edit(repo, "overlays/prod/cluster.yaml", "version: 0.3.5", "version: 0.3.5, initImage: ''")
    assert run("check") == 1
    assert run("platform") == 0
    text = (repo / "manifests/prod/_platform/deployment-paddle-controller-manager.yaml").read_text()
    assert "--initImage=" in text


@pytest.mark.needs_kustomize
def test_one_job_is_rendered_without_the_platform(repo: Path) -> None:
    assert run("render", "a") == 0
    assert files(repo) == set()


@pytest.mark.needs_kustomize
def test_a_refused_profile_is_told_at_its_line_and_nothing_is_written(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.edit(repo, "overlays/prod/cluster.yaml", "version: 0.3.5", "version: 0.3.0")
    assert run("platform", "--format", "concise") == 1
    assert re.search(r"overlays/prod/cluster.yaml:\d+:\d+.*operator-image-known", capsys.readouterr().out)
    assert not (repo / "manifests").exists()


@pytest.mark.needs_kustomize
def test_an_overlay_reaches_the_platform_and_its_faults_are_told_at_the_patch() -> None:
    top = {
        "images": [
            {"name": "registry.baidubce.com/paddlecloud/controller", "newName": "mirror.example.com/c"}
        ],
        "patches": [{"path": "operator.yaml"}],
    }
    patch = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "paddle-controller-manager", "namespace": "paddle-system"},
        "spec": {
            "template": {
                "spec": {"containers": [{"name": "manager", "resources": {"limits": {"memory": "1Gib"}}}]}
            }
        },
    }
    profile = {"apiVersion": "paddlegen.dev/v1", "kind": "Cluster", "spec": NOW}
    found, findings = rendered(
        {
            "overlays/c/cluster.yaml": json.dumps(profile),
            "overlays/c/kustomization.yaml": json.dumps(top),
            "overlays/c/operator.yaml": json.dumps(patch),
        },
        kustomize.find(),
    )
    container = found["c/_platform/deployment-paddle-controller-manager.yaml"]["spec"]["template"]["spec"][
        "containers"
    ][0]
    assert container["image"] == "mirror.example.com/c:v0.3.5"
    assert container["args"] == ["--leader-elect"]
    assert [(one.rule, one.location.path) for one in findings] == [
        ("quantities-parse", "overlays/c/operator.yaml")
    ]


@pytest.mark.needs_kustomize
def test_this_repositorys_clusters_have_what_their_profiles_list() -> None:
    made = {
        path.name: {file.name.partition("-")[0] for file in (path / "_platform").iterdir()}
        for path in (ROOT / "manifests").iterdir()
        if (path / "_platform").is_dir()
    }
    assert made["legacy"] == {"customresourcedefinition", "namespace"}
    for name in ("prod", "gpu"):
        assert {"customresourcedefinition", "deployment", "namespace", "clusterrole"} <= made[name]
