"""What kustomize merges by: our file adds our kinds and takes nothing from the built-in ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from paddlegen import kustomize
from paddlegen.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
OURS = json.loads(kustomize.OPENAPI.read_text())

Object = dict[str, Any]

# Fields by which elements are told apart somewhere: a generated patch leaves them as they are.
KEYS = {
    *("containerPort", "devicePath", "ip", "key", "mountPath", "name", "port", "protocol"),
    *("topologyKey", "type", "uid", "whenUnsatisfiable"),
}


@pytest.fixture(scope="module")
def program() -> kustomize.Kustomize:
    try:
        return kustomize.find()
    except ToolError as error:
        pytest.skip(str(error))


def by_name(text: str) -> dict[str, Object]:
    """The objects of a build by `Kind name`."""
    return {f"{item['kind']} {item['metadata']['name']}": item for item in yaml.safe_load_all(text)}


def build(
    program: kustomize.Kustomize, root: Path, objects: list[Object], patches: list[Object], **top: object
) -> str:
    """Build the objects with the patches sitting in a component, as overlays have them."""
    files = {
        "base.yaml": "---\n".join(json.dumps(item) + "\n" for item in objects),
        "openapi.json": kustomize.OPENAPI.read_text(),
        "kustomization.yaml": json.dumps({"resources": ["base.yaml"], "components": ["component"], **top}),
        "component/kustomization.yaml": json.dumps(
            {
                "apiVersion": "kustomize.config.k8s.io/v1alpha1",
                "kind": "Component",
                "patches": [{"patch": json.dumps(patch)} for patch in patches],
            }
        ),
    }
    (root / "component").mkdir(parents=True)
    for path, text in files.items():
        (root / path).write_text(text)
    return kustomize.build(program, root)


OPENAPI: Object = {"path": "openapi.json"}


# Every way of ours to hold a pod template: what stands around it.
HOLDERS: dict[str, tuple[str, Callable[[Object], Object], Callable[[Object], Object]]] = {
    "PaddleJob ps": (
        "batch.paddlepaddle.org/v1",
        lambda template: {"ps": {"replicas": 2, "template": template}},
        lambda spec: spec["ps"]["template"],
    ),
    "PaddleJob worker": (
        "batch.paddlepaddle.org/v1",
        lambda template: {"worker": {"template": template}},
        lambda spec: spec["worker"]["template"],
    ),
    "PaddleJob heter": (
        "batch.paddlepaddle.org/v1",
        lambda template: {"heter": {"template": template}},
        lambda spec: spec["heter"]["template"],
    ),
    "PaddleJob kubeflow": (
        "kubeflow.org/v1",
        lambda template: {"paddleReplicaSpecs": {"Worker": {"template": template}}},
        lambda spec: spec["paddleReplicaSpecs"]["Worker"]["template"],
    ),
    "Job volcano": (
        "batch.volcano.sh/v1alpha1",
        lambda template: {"tasks": [{"name": "trainer", "template": template}]},
        lambda spec: next(task for task in spec["tasks"] if task["name"] == "trainer")["template"],
    ),
    "Deployment d": ("apps/v1", lambda template: {"template": template}, lambda spec: spec["template"]),
    "StatefulSet s": ("apps/v1", lambda template: {"template": template}, lambda spec: spec["template"]),
    "Job j": ("batch/v1", lambda template: {"template": template}, lambda spec: spec["template"]),
    "CronJob c": (
        "batch/v1",
        lambda template: {"jobTemplate": {"spec": {"template": template}}},
        lambda spec: spec["jobTemplate"]["spec"]["template"],
    ),
    "Pod p": ("v1", lambda template: template["spec"], lambda spec: {"spec": spec}),
}


def held(holder: str, template: Object) -> Object:
    api_version, wrap, _ = HOLDERS[holder]
    kind, name = holder.split()
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": wrap(template)}


def pod(built: dict[str, Object], holder: str) -> Object:
    spec: Object = HOLDERS[holder][2](built[holder]["spec"])["spec"]
    return spec


TEMPLATE: Object = {
    "spec": {
        "containers": [
            {
                "name": "paddle",
                "image": "registry.example.com/paddle:v1",
                "command": ["python", "train.py"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "ports": [
                    {"containerPort": 53, "protocol": "TCP", "name": "tcp"},
                    {"containerPort": 53, "protocol": "UDP", "name": "udp"},
                ],
                "volumeMounts": [
                    {"name": "data", "mountPath": "/data"},
                    {"name": "data", "mountPath": "/more"},
                ],
            },
            {
                "name": "sidecar",
                "image": "registry.example.com/sidecar:v1",
                "env": [{"name": "C", "value": "3"}],
            },
        ],
        "initContainers": [{"name": "one", "image": "a:v1"}, {"name": "two", "image": "b:v1"}],
        "imagePullSecrets": [{"name": "one"}],
        "tolerations": [{"key": "one"}, {"key": "two"}],
        "volumes": [{"name": "data", "emptyDir": {}}, {"name": "other", "hostPath": {"path": "/x"}}],
    }
}
PATCH: Object = {
    "spec": {
        "containers": [
            {
                "name": "paddle",
                "command": ["sh"],
                "env": [{"name": "B", "value": "new"}, {"name": "D", "value": "4"}],
                "ports": [{"containerPort": 53, "protocol": "UDP", "name": "new"}],
                "volumeMounts": [{"mountPath": "/more", "name": "data", "readOnly": True}],
            }
        ],
        "initContainers": [{"name": "two", "image": "c:v1"}],
        "imagePullSecrets": [{"name": "two"}],
        "tolerations": [{"key": "new"}],
        "volumes": [{"name": "data", "hostPath": {"path": "/y"}, "emptyDir": None}],
    }
}


@pytest.fixture(scope="module")
def built(program: kustomize.Kustomize, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Object]:
    """All holders in one build, so that our kinds and the built-in ones are seen side by side."""
    objects = [held(holder, TEMPLATE) for holder in HOLDERS]
    patches = [held(holder, PATCH) for holder in HOLDERS]
    return by_name(build(program, tmp_path_factory.mktemp("merging"), objects, patches, openapi=OPENAPI))


@pytest.mark.needs_kustomize
class TestMerging:
    @pytest.mark.parametrize("holder", HOLDERS)
    def test_lists_of_a_pod_template_merge_by_their_keys(self, built: dict[str, Object], holder: str) -> None:
        spec = pod(built, holder)
        containers = {container["name"]: container for container in spec["containers"]}
        paddle = containers["paddle"]

        assert containers["sidecar"] == TEMPLATE["spec"]["containers"][1]
        assert paddle["image"] == "registry.example.com/paddle:v1"
        assert {entry["name"]: entry["value"] for entry in paddle["env"]} == {"A": "1", "B": "new", "D": "4"}
        assert {(port["protocol"], port["name"]) for port in paddle["ports"]} == {
            ("TCP", "tcp"),
            ("UDP", "new"),
        }
        assert {m["mountPath"]: m.get("readOnly") for m in paddle["volumeMounts"]} == {
            "/data": None,
            "/more": True,
        }
        assert {item["name"]: item["image"] for item in spec["initContainers"]} == {
            "one": "a:v1",
            "two": "c:v1",
        }
        assert {secret["name"] for secret in spec["imagePullSecrets"]} == {"one", "two"}
        assert {volume["name"]: volume for volume in spec["volumes"]} == {
            "data": {"name": "data", "hostPath": {"path": "/y"}},
            "other": TEMPLATE["spec"]["volumes"][1],
        }

    @pytest.mark.parametrize("holder", HOLDERS)
    def test_other_lists_are_replaced(self, built: dict[str, Object], holder: str) -> None:
        spec = pod(built, holder)
        assert spec["tolerations"] == [{"key": "new"}]
        assert next(c for c in spec["containers"] if c["name"] == "paddle")["command"] == ["sh"]

    def test_a_container_can_be_deleted(self, program: kustomize.Kustomize, tmp_path: Path) -> None:
        patch = {"spec": {"containers": [{"name": "sidecar", "$patch": "delete"}]}}
        objects = [held(holder, TEMPLATE) for holder in HOLDERS]
        patches = [held(holder, patch) for holder in HOLDERS]
        built = by_name(build(program, tmp_path, objects, patches, openapi=OPENAPI))
        for holder in HOLDERS:
            assert pod(built, holder)["containers"] == TEMPLATE["spec"]["containers"][:1], holder

    def test_tasks_and_volumes_of_a_volcano_job_merge_and_its_policies_do_not(
        self, program: kustomize.Kustomize, tmp_path: Path
    ) -> None:
        def job(**spec: object) -> Object:
            return {
                "apiVersion": "batch.volcano.sh/v1alpha1",
                "kind": "Job",
                "metadata": {"name": "j"},
                "spec": spec,
            }

        before = job(
            tasks=[
                {"name": "pserver", "replicas": 1},
                {"name": "trainer", "replicas": 2, "policies": [{"event": "A"}]},
            ],
            policies=[{"event": "PodFailed"}, {"event": "PodEvicted"}],
            plugins={"svc": [], "env": []},
            volumes=[
                {"mountPath": "/a", "volumeClaimName": "a"},
                {"mountPath": "/b", "volumeClaimName": "b"},
            ],
        )
        patch = job(
            tasks=[{"name": "trainer", "replicas": 4, "policies": [{"event": "B"}]}],
            policies=[{"event": "TaskCompleted"}],
            plugins={"svc": ["--x"]},
            volumes=[{"mountPath": "/b", "volumeClaimName": "new"}],
        )
        spec = by_name(build(program, tmp_path, [before], [patch], openapi=OPENAPI))["Job j"]["spec"]

        assert sorted(spec["tasks"], key=lambda task: str(task["name"])) == [
            {"name": "pserver", "replicas": 1},
            {"name": "trainer", "replicas": 4, "policies": [{"event": "B"}]},
        ]
        assert spec["policies"] == [{"event": "TaskCompleted"}]
        assert spec["plugins"] == {"svc": ["--x"], "env": []}
        assert {v["mountPath"]: v["volumeClaimName"] for v in spec["volumes"]} == {"/a": "a", "/b": "new"}

    def test_a_service_and_a_service_account_merge_beside_a_job(
        self, program: kustomize.Kustomize, tmp_path: Path
    ) -> None:
        def objects(port: Object, secret: str) -> list[Object]:
            return [
                {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": [port]}},
                {
                    "apiVersion": "v1",
                    "kind": "ServiceAccount",
                    "metadata": {"name": "x"},
                    "secrets": [{"name": secret}],
                },
            ]

        before = objects({"port": 80, "protocol": "TCP", "name": "http"}, "one")
        patches = objects({"port": 443, "protocol": "TCP", "name": "https"}, "two")
        job = held("PaddleJob ps", TEMPLATE)
        built = by_name(build(program, tmp_path, [job, *before], patches, openapi=OPENAPI))

        assert {port["port"] for port in built["Service x"]["spec"]["ports"]} == {80, 443}
        assert {secret["name"] for secret in built["ServiceAccount x"]["secrets"]} == {"one", "two"}

    def test_a_namespace_is_not_given_to_what_has_none(
        self, program: kustomize.Kustomize, tmp_path: Path
    ) -> None:
        def thing(api_version: str, kind: str) -> Object:
            return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}

        objects = [
            thing("scheduling.volcano.sh/v1beta1", "Queue"),
            thing("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
            thing("extensions/v1beta1", "ThirdPartyResource"),
            thing("v1", "PersistentVolume"),
            thing("scheduling.volcano.sh/v1beta1", "PodGroup"),
        ]
        built = by_name(build(program, tmp_path, objects, [], openapi=OPENAPI, namespace="other"))
        assert [kind for kind, item in built.items() if "namespace" in item["metadata"]] == ["PodGroup x"]


@cache
def kubernetes() -> Object:
    """The schemas of Kubernetes 1.25, whole: a second source, so that a list our file forgot is seen."""
    name = "kubernetes-json-schema/v1.25.0-local/_definitions.json"
    definitions: Object = json.loads(files("kubernetes_validate").joinpath(name).read_text())["$defs"]
    return definitions


def kinds() -> list[tuple[Object, Object]]:
    """Every built-in kind of our file: its group, version and kind, and the fullest schema there is of it."""
    found = []
    for name, definition in OURS["definitions"].items():
        if name.startswith("io.k8s."):
            schema = kubernetes().get(name, definition)
            found += [(gvk, schema) for gvk in definition.get("x-kubernetes-group-version-kind", ())]
    return found


def resolved(schema: Object) -> tuple[str, Object]:
    """The schema a reference names, and that name."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return name, (kubernetes().get(name) or OURS["definitions"][name]) if name else schema


def types(schema: Object) -> str:
    kind = schema.get(
        "type", "object" if "properties" in schema or "additionalProperties" in schema else "string"
    )
    return kind if isinstance(kind, str) else str(kind[0])


def example(
    schema: Object, number: int, seen: tuple[str, ...], field: str = "", *, patch: bool = False
) -> Any:
    """A value of the schema with two elements in each list; or a patch of its second and of a third one."""
    name, schema = resolved(schema)
    if name and name in seen:
        return None
    seen = (*seen, name)
    changed = patch and field not in KEYS
    value: Any
    match types(schema):
        case "array":
            value = [element(schema, n, seen, patch=patch) for n in ((2, 3) if patch else (1, 2))]
        case "object":
            value = {
                key: example(inner, number, seen, key, patch=patch) for key, inner in fields(schema).items()
            }
        case "integer" | "number":
            value = number + (100 if changed else 0)
        case "boolean":
            value = changed
        case _:
            value = f"{field}-{number}{'-patched' if changed else ''}"
    return without_gaps(value)


def fields(schema: Object) -> Object:
    values = schema.get("additionalProperties")
    named = {"some-key": values} if isinstance(values, dict) else {}
    properties = schema.get("properties", named).items()
    return {key: value for key, value in properties if key not in {"apiVersion", "kind"}}


def without_gaps(value: Any) -> Any:
    """Where a schema holds itself there is nothing."""
    match value:
        case dict():
            return {key: inner for key, inner in value.items() if inner is not None}
        case list():
            return [inner for inner in value if inner is not None]
        case _:
            return value


def element(schema: Object, number: int, seen: tuple[str, ...], *, patch: bool) -> Any:
    """An element of a list; where our file says nothing of it but its keys, those and one field more."""
    if schema.get("items"):
        return example(schema["items"], number, seen, "name", patch=patch)
    keys = schema.get("x-kubernetes-list-map-keys") or [schema.get("x-kubernetes-patch-merge-key")]
    if keys == [None]:
        return f"item-{number}"
    return {key: f"{key}-{number}" for key in keys} | {"field": "patched" if patch else "first"}


def examples(*, patch: bool) -> list[Object]:
    found = []
    for index, (gvk, schema) in enumerate(kinds()):
        value = example(schema, 1, (), patch=patch)
        value["metadata"] = {
            "name": f"object-{index}",
            "finalizers": ["two", "three"] if patch else ["one", "two"],
            "ownerReferences": [
                {"uid": f"{n}", "kind": "K", "apiVersion": "g/v1", "name": "new" if patch else "old"}
                for n in ((2, 3) if patch else (1, 2))
            ],
        }
        api_version = f"{gvk['group']}/{gvk['version']}".removeprefix("/")
        found.append({"apiVersion": api_version, "kind": gvk["kind"], **value})
    return found


@pytest.mark.needs_kustomize
def test_built_in_kinds_are_patched_as_without_our_file(program: kustomize.Kustomize, tmp_path: Path) -> None:
    objects, patches = examples(patch=False), examples(patch=True)
    with_ours = build(program, tmp_path / "ours", objects, patches, namespace="other", openapi=OPENAPI)
    without = build(program, tmp_path / "none", objects, patches, namespace="other")

    assert len(objects) > 80
    assert "patched" in without
    assert with_ours == without


def test_the_file_is_what_the_pinned_kustomize_has() -> None:
    """Skipped where Go or the modules are not at hand: the test must not need the network."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not on PATH")
    environment = os.environ | {
        "GOFLAGS": "-mod=readonly",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    made = subprocess.run(
        [go, "run", "./openapi"], cwd=ROOT / "kustomize", env=environment, capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"go run ./openapi ended with {made.returncode}: {made.stderr.decode()[-300:]}")
    assert made.stdout.decode() == kustomize.OPENAPI.read_text(), "run `make openapi` and read the diff"


def test_the_file_stays_readable() -> None:
    """One definition a line, sorted, and small: kustomize reads it at every build."""
    lines = kustomize.OPENAPI.read_text().splitlines()
    names = [line.split('"')[1] for line in lines if line.startswith('    "io.k8s.')]

    assert names == sorted(name for name in OURS["definitions"] if name.startswith("io.k8s."))
    assert kustomize.OPENAPI.stat().st_size < 150_000
