"""Our schemas and the CRDs they speak of, walked together: every difference is named or has its reason."""

from __future__ import annotations

import gzip
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from paddlegen.schema.kinds import BY_NAME, CustomKind
from paddlegen.schema.profile import Profile
from paddlegen.schema.types import Anything, Bounds, Enumeration, ListOf, MapOf, Ref, Scalar, Type
from paddlegen.schema.view import View, view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("PADDLEGEN_CORPUS", ROOT.parent / "shared" / "corpus"))
RELEASES = (
    ("paddle-operator", (0, 3, 5)),
    ("training-operator", (1, 9)),
    ("volcano", (1, 16)),
    ("argocd", (3, 5)),
)
"""The releases that the corpus took its CRDs from."""

PODS = {"batch.volcano.sh_jobs.v1beta1": (1, 29)}
"""The Kubernetes version of the pod template in CRDs for which `kinds` does not name one."""

EMBEDDED = r"\.(template|volumeClaimTemplate)\.metadata\."
ACCEPTED = {
    EMBEDDED + r"creationTimestamp: only here": "Go writes null there, which says nothing",
    r"v1beta1: .*"
    + EMBEDDED
    + r"\w+: only here": "a v1beta1 CRD keeps any metadata, and these five are what operators read",
    r"\.spec\..*template\.spec\..*: default '' here": "the server fills the same into the pods",
    r"queues\.v1beta1: columns": "the v1beta1 copy is older than `parent`, and a column takes nothing away",
    r"application-crd: \.operation: not looked into": "Argo CD writes it to ask itself for a sync",
    r"(application|applicationset|appproject)-crd: \.status: not looked": "only controllers write it",
    r"generators\[\]\.(clusterDecisionResource|plugin|pullRequest|scmProvider): not": "asks more than Git",
    r"generators\[\]\.(matrix|merge): not looked into": "hold generators again; one level is what we write",
}
"""What may differ, as regular expressions, and why."""

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""How every CRD writes a quantity.  Ours has no fraction in the exponent: Go refuses one."""


@dataclass(frozen=True)
class Crd:
    """A CRD of either apiextensions version, its one version brought to the same form."""

    spec: dict[str, Any]
    version: dict[str, Any]
    flavour: str

    @property
    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = self.part("schema" if "schema" in self.version else "validation")[
            "openAPIV3Schema"
        ]
        return found

    def part(self, name: str) -> Any:
        """What v1 says per version and v1beta1 also at the top."""
        return self.version.get(name) or self.spec.get(name)


def crds() -> list[Path]:
    return [
        *sorted((CORPUS / "crds").glob("*.yaml")),
        *sorted((CORPUS / "argocd-crds").glob("*.yaml*")),
    ]


def read(path: Path) -> Crd:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    document = next(filter(None, yaml.load_all(text, yaml.CSafeLoader)))
    spec = document["spec"]
    (version,) = spec["versions"]
    return Crd(spec, version, document["apiVersion"].partition("/")[2])


def differences(path: Path) -> Iterator[str]:
    """Every difference as `<CRD>: <where>: <what>`."""
    crd = read(path)
    name = path.name.removesuffix(".gz").removesuffix(".yaml")
    names = crd.spec["names"]
    api_version = f"{crd.spec['group']}/{crd.version['name']}"
    kind = BY_NAME[api_version, names["kind"]]
    pods = PODS.get(name, (1, 37))
    seen = view(
        Profile(pods, "v1" if crd.flavour == "v1" else "v1beta1", RELEASES),
        api_version,
        kind.kind,
        published=True,
    )
    assert seen is not None
    for difference in (*_meta(kind, crd), *_object(seen, seen.root, crd.schema, "")):
        yield f"{name}: {difference}"


def _meta(kind: CustomKind, crd: Crd) -> Iterator[str]:
    names = crd.spec["names"]
    path = "JSONPath" if crd.flavour == "v1beta1" else "jsonPath"
    columns = tuple(
        (c["name"], c["type"], c[path], c.get("priority", 0))
        for c in crd.part("additionalPrinterColumns") or ()
    )
    subresources = crd.part("subresources") or {}
    scale = subresources.get("scale") or {}
    ours = kind.scale
    pairs = {
        "plural": (kind.plural, names["plural"]),
        "singular": (kind.kind.lower(), names["singular"]),
        "list kind": (f"{kind.kind}List", names["listKind"]),
        "short names": (kind.short_names, tuple(names.get("shortNames", ()))),
        "scope": (kind.scope, crd.spec["scope"]),
        "columns": (tuple((c.name, c.type, c.path, c.priority) for c in kind.columns), columns),
        "status subresource": (kind.status, "status" in subresources),
        "scale subresource": (
            (ours.replicas, ours.status, ours.selector) if ours else (None, None, None),
            tuple(scale.get(k) for k in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")),
        ),
        "preserveUnknownFields": (None, crd.spec.get("preserveUnknownFields")),
    }
    for what, (mine, theirs) in pairs.items():
        if mine != theirs:
            yield f"{what}: {mine} here, {theirs} there"


def _object(seen: View, name: str, node: dict[str, Any], at: str) -> Iterator[str]:
    fields = seen.fields(name)
    theirs = node.get("properties", {})
    for field in sorted(fields.keys() - theirs.keys()):
        yield f"{at}.{field}: only here"
    for field in sorted(theirs.keys() - fields.keys()):
        yield f"{at}.{field}: only there"
    mine = {field for field, one in fields.items() if one.required and field in theirs}
    for field in sorted(mine ^ set(node.get("required", ())) & theirs.keys()):
        yield f"{at}.{field}: required {'here' if field in mine else 'there'} only"
    for field in sorted(fields.keys() & theirs.keys()):
        if not at and field == "metadata":
            continue
        one = fields[field]
        default = theirs[field].get("default", "")
        default = str(default).lower() if isinstance(default, bool) else str(default)
        if default != one.default:
            yield f"{at}.{field}: default {one.default!r} here, {default!r} there"
        keys = tuple(theirs[field].get("x-kubernetes-list-map-keys", ()))
        if keys != one.keys:
            yield f"{at}.{field}: keys {one.keys} here, {keys} there"
        yield from _type(seen, one.type, theirs[field], f"{at}.{field}")


def _type(seen: View, kind: Type, node: dict[str, Any], at: str) -> Iterator[str]:
    theirs = "int-or-string" if node.get("x-kubernetes-int-or-string") else node.get("type", "any")
    mine = _json_type(kind)
    if mine != theirs:
        yield f"{at}: {mine} here, {theirs} there"
        return
    if isinstance(kind, Anything) and node.get("properties"):
        yield f"{at}: not looked into here"
    yield from _bounds(kind, node, at)
    match kind:
        case Ref(name):
            yield from _object(seen, name, node, at)
        case ListOf(item):
            yield from _type(seen, item, node["items"], f"{at}[]")
        case MapOf(value):
            yield from _type(seen, value, node["additionalProperties"], f"{at}{{}}")
        case _:
            pass


def _json_type(kind: Type) -> str:
    match kind:
        case Scalar(leaf):
            if leaf.name in ("quantity", "int-or-string"):
                return "int-or-string"
            return leaf.types[0]
        case Enumeration():
            return "string"
        case ListOf():
            return "array"
        case MapOf() | Ref():
            return "object"
        case Anything(mapping):
            return "object" if mapping else "any"


def _bounds(kind: Type, node: dict[str, Any], at: str) -> Iterator[str]:
    mine = {key: value for key, value in _ours(kind).items() if value not in (None, "")}
    keys = (
        "enum",
        "format",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
    )
    theirs = {key: node[key] for key in keys if key in node}
    if theirs.get("format") in ("date-time", "byte", "double"):
        theirs.pop("format")
    for key in sorted(mine.keys() | theirs.keys()):
        if mine.get(key) != theirs.get(key) and not (key == "pattern" and _same_pattern(mine, theirs)):
            yield f"{at}: {key} {mine.get(key)} here, {theirs.get(key)} there"


def _same_pattern(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    def plain(pattern: str) -> str:
        return pattern.removeprefix("^").removesuffix("$").replace("(?:", "(")

    return plain(str(mine.get("pattern"))) == plain(str(theirs.get("pattern")))


def _ours(kind: Type) -> dict[str, Any]:
    match kind:
        case Enumeration(words):
            return {"enum": list(words)}
        case ListOf(_, Bounds(least, most)):
            return {"minItems": least, "maxItems": most}
        case Scalar(leaf, Bounds(least, most)):
            if "string" in leaf.types:
                pattern = {"quantity": QUANTITY, "time": ""}.get(leaf.name, leaf.pattern)
                return {"minLength": least, "maxLength": most or leaf.longest, "pattern": pattern}
            width = leaf.name if leaf.name in ("int32", "int64") else None
            return {"format": width, "minimum": least, "maximum": most}
        case _:
            return {}


def _accepted(difference: str) -> str | None:
    return next((pattern for pattern in ACCEPTED if re.search(pattern, difference)), None)


needs_corpus = pytest.mark.skipif(
    not (CORPUS / "crds").is_dir(), reason=f"no CRDs to compare with in {CORPUS}"
)


@needs_corpus
def test_all_twelve_crds_are_compared() -> None:
    assert len(crds()) == 12


@needs_corpus
@pytest.mark.parametrize("name", [path.name for path in crds()])
def test_our_schema_says_what_the_crd_says(name: str) -> None:
    path = next(path for path in crds() if path.name == name)
    assert [one for one in differences(path) if _accepted(one) is None] == []


@needs_corpus
def test_every_accepted_difference_is_still_there_and_they_are_few() -> None:
    found = {_accepted(difference) for path in crds() for difference in differences(path)}
    assert found - {None} == set(ACCEPTED)
    assert len(ACCEPTED) <= 15


@needs_corpus
@pytest.mark.parametrize(
    ("edit", "difference"),
    [
        (lambda spec: spec["properties"].pop("intranet"), ".spec.intranet: only here"),
        (lambda spec: spec["properties"].update(mode={"type": "string"}), ".spec.mode: only there"),
        (lambda spec: spec.update(required=["worker"]), ".spec.worker: required there only"),
        (
            lambda spec: spec["properties"]["elastic"].update(type="string"),
            ".spec.elastic: integer here, string there",
        ),
        (
            lambda spec: spec["properties"]["elastic"].update(minimum=0),
            ".spec.elastic: minimum None here, 0 there",
        ),
        (
            lambda spec: spec["properties"]["intranet"].update(enum=["PodIP"]),
            ".spec.intranet: enum None here, ['PodIP'] there",
        ),
        (
            lambda spec: spec["properties"]["ps"]["properties"]["template"]["properties"]["spec"][
                "properties"
            ].pop("os"),
            ".spec.ps.template.spec.os: only here",
        ),
    ],
)
def test_a_changed_crd_is_noticed(edit: Callable[[dict[str, Any]], object], difference: str) -> None:
    crd = read(CORPUS / "crds" / "batch.paddlepaddle.org_paddlejobs.v1.yaml")
    seen = view(Profile((1, 37), "v1", RELEASES), "batch.paddlepaddle.org/v1", "PaddleJob", published=True)
    assert seen is not None
    edit(crd.schema["properties"]["spec"])
    found = [one for one in _object(seen, seen.root, crd.schema, "") if _accepted(one) is None]
    assert found == [difference]


def test_each_table_of_ours_cites_its_facts() -> None:
    tables = sorted((ROOT / "paddlegen" / "schemas" / "kinds").glob("*.table"))
    assert tables
    assert all("Facts: " in table.read_text(encoding="utf-8").partition("\n\n")[0] for table in tables)
