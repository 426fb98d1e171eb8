"""Any job spec that the structs allow renders, the same each time, or is refused at lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from units import cluster, shown

from paddlegen import catalogue, pipeline
from paddlegen.model.cluster import ClusterBody
from paddlegen.model.job import JobFields, JobSpec

if TYPE_CHECKING:
    from paddlegen.catalogue import ClusterEntry
    from paddlegen.pipeline import Unit

words = st.text("ab-$.", max_size=3)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=3,
)
quantities = st.sampled_from([1, 0.5, "1500m", "16Gi", "1e3", "1.5G", 0, "4", "16GB", -1])
labels = st.dictionaries(st.sampled_from(["team", "example.com/x"]), words, max_size=1)
containers = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["paddle", "side"])},
        optional={
            "image": st.just("registry.example.com/r:v1"),
            "resources": anything
            | st.fixed_dictionaries({"requests": anything | st.dictionaries(words, quantities | anything)}),
            "env": st.lists(
                st.fixed_dictionaries({"name": st.sampled_from(["A", "POD_IP"]), "value": words}), max_size=2
            ),
            "ports": st.lists(st.fixed_dictionaries({"containerPort": st.integers(1, 3)}), max_size=2),
        },
    ),
    max_size=2,
)
SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("cpu", "memory", "ephemeralStorage", "size"), quantities),
    **{
        name: st.dictionaries(st.sampled_from(["cpu", "nvidia.com/gpu"]), quantities, max_size=2)
        for name in ("requests", "limits")
    },
    "sharedMemory": st.sampled_from(["auto", "memory", "none", "8Gi", "much"]),
    "replicas": st.integers(1, 4),
    "clusters": st.just(["test"]),
    "extends": st.just([]),
    "params": st.just({}),
    "overrides": st.just({}),
    "podTemplate": st.dictionaries(st.sampled_from(["spec", "metadata", "x"]), anything, max_size=2)
    | st.fixed_dictionaries(
        {
            "spec": st.fixed_dictionaries(
                {},
                optional={
                    "containers": containers,
                    "initContainers": containers,
                    "schedulerName": words,
                    "affinity": anything | st.fixed_dictionaries({"podAntiAffinity": anything}),
                },
            )
        }
    ),
    "affinity": st.fixed_dictionaries({}, optional={"podAntiAffinity": st.just({})}),
    "kubernetes": st.sampled_from(["1.15", "1.18", "1.33"]),
}
"""Fields whose type says too little, or too much, about what people write there."""


def of(  # noqa: C901, PLR0911  # one line for each sort of type
    kind: msgspec.inspect.Type, name: str = ""
) -> st.SearchStrategy[Any]:
    """Values of a type, as YAML has them."""
    match kind:
        case _ if name in SPECIAL:
            return SPECIAL[name]
        case msgspec.inspect.Metadata(type=inner):
            return of(inner)
        case msgspec.inspect.UnionType(types=types):
            known = [inner for inner in types if not isinstance(inner, msgspec.inspect.CustomType)]
            return st.one_of([of(inner) for inner in known if "Unset" not in type(inner).__name__])
        case msgspec.inspect.StructType(fields=fields):
            return _struct(fields)
        case msgspec.inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case msgspec.inspect.ListType(item_type=item):
            return st.lists(of(item), max_size=2)
        case msgspec.inspect.DictType(value_type=value):
            keys = st.sampled_from(["A", "GLOG_v", "TRAINING_ROLE", "PADDLE_PORT"])
            return st.dictionaries(keys, of(value), max_size=2)
        case msgspec.inspect.StrType(pattern=None):
            return st.sampled_from(["a", "data", "registry.example.com/r:v1"])
        case msgspec.inspect.StrType(pattern=str(pattern)):
            examples = ["a", "job-1", "/data", "v1.2", "1.15", "a.b", "0.3.5"]
            return st.sampled_from([text for text in examples if re.search(pattern, text)])
        case msgspec.inspect.IntType(ge=low, le=high):
            return st.integers(low or 0, min(high or 9, 9))
        case msgspec.inspect.FloatType():
            return st.just(0.5)
        case msgspec.inspect.BoolType():
            return st.booleans()
    return anything


def _struct(fields: tuple[msgspec.inspect.Field, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """All required fields and a few others."""
    required = {field.encode_name: field for field in fields if field.required}
    optional = {field.encode_name: field for field in fields if not field.required}

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        names = draw(st.lists(st.sampled_from(sorted(optional)), max_size=4, unique=True)) if optional else []
        chosen = required | {name: optional[name] for name in names}
        return {name: draw(of(field.type, name)) for name, field in chosen.items()}

    return build()


profiles = of(msgspec.inspect.type_info(ClusterBody))
job_specs = of(msgspec.inspect.type_info(JobSpec))
overrides = of(msgspec.inspect.type_info(JobFields))


def built(text: str, where: ClusterEntry) -> list[Unit]:
    contents = catalogue.read("jobs/job.yaml", text.encode())
    assert all(finding.location.span for finding in contents.findings)
    return [pipeline.job_unit(entry, where, {}, contents) for entry in contents.jobs]


@settings(max_examples=250, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(job_specs, st.booleans(), overrides, profiles)
def test_any_job_renders_or_is_refused_at_lines(
    spec: dict[str, Any],
    sound: bool,  # hypothesis draws it
    override: dict[str, Any],
    profile: dict[str, Any],
) -> None:
    body = spec["spec"]
    if sound:  # what most jobs have, so that many get past the first refusals
        body = {"roles": {"worker": {}}, "image": "registry.example.com/r:v1", **body}
    spec = {**spec, "spec": {**body, "overrides": {"test": override}}}
    text = yaml.safe_dump(spec, sort_keys=False)
    where = cluster(profile)

    units = built(text, where)
    for unit in units:
        assert bool(unit.manifests) is not unit.is_broken
        assert unit.findings or not unit.is_broken
        for finding in unit.findings:
            assert finding.location.span is not None, finding
            assert finding.message
        event("refused" if unit.is_broken else "rendered")
        bodies = [manifest.body for manifest in unit.manifests]
        job = next((found for found in bodies if found["kind"] == "PaddleJob"), None)
        for group in (found for found in bodies if found["kind"] == "PodGroup"):
            assert job is not None
            roles = [job["spec"][name] for name in ("ps", "worker", "heter") if name in job["spec"]]
            assert group["spec"]["minMember"] == sum(role["replicas"] for role in roles)
    assert shown(built(text, where)) == shown(units)
