"""The tables themselves: every line is read, every name leads somewhere, one can be made again."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from paddlegen.schema import Profile
from paddlegen.schema.kinds import CUSTOM_KINDS, CustomKind
from paddlegen.schema.profile import NEWEST, OLDEST
from paddlegen.schema.table import Lifetime, Table, load
from paddlegen.schema.types import Bounds, Enumeration, ListOf, MapOf, Ref, Scalar, Type, parse
from paddlegen.schema.view import view

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "kubernetes_tables.py"
OURS = sorted({kind.table for kind in CUSTOM_KINDS})
MINORS = range(OLDEST[1], NEWEST[1] + 1)


def refs(kind: Type) -> list[str]:
    match kind:
        case Ref(name):
            return [name]
        case ListOf(inner) | MapOf(inner):
            return refs(inner)
        case _:
            return []


@pytest.mark.parametrize("minor", MINORS)
def test_every_type_of_a_version_is_there_in_that_version(minor: int) -> None:
    table = load("kubernetes")
    version = (1, minor)
    for name in table.names():
        for field, stretches in table.fields(name).items():
            fitting = [one for one in stretches if version in one.lifetime]
            assert len(fitting) <= 1, (name, field)
            if version in table.head(name).lifetime:
                missing = [
                    ref
                    for one in fitting
                    for ref in refs(one.type)
                    if version not in table.head(ref).lifetime
                ]
                assert missing == [], (name, field)


@pytest.mark.parametrize("name", OURS)
def test_every_type_of_ours_is_there(name: str) -> None:
    own, kubernetes = load(f"kinds/{name}"), load("kubernetes")
    for owner in own.names():
        for field, stretches in own.fields(owner).items():
            missing = [
                ref for one in stretches for ref in refs(one.type) if ref not in own and ref not in kubernetes
            ]
            assert missing == [], (owner, field)


@pytest.mark.parametrize("name", OURS)
def test_no_type_of_ours_is_left_over(name: str) -> None:
    own = load(f"kinds/{name}")
    roots = {kind.type for kind in CUSTOM_KINDS if kind.table == name}
    used = {
        ref
        for owner in own.names()
        for ones in own.fields(owner).values()
        for one in ones
        for ref in refs(one.type)
    }
    assert set(own.names()) - used - roots - {"EmbeddedMeta"} == set()


@pytest.mark.parametrize("kind", CUSTOM_KINDS, ids=lambda kind: f"{kind.api_version} {kind.kind}")
def test_every_kind_of_ours_has_its_table(kind: CustomKind) -> None:
    assert load(f"kinds/{kind.table}").kinds()[kind.api_version, kind.kind] == kind.type


def test_values_narrow_fields_that_exist_and_keep_their_shape() -> None:
    published, values = load("kubernetes"), load("kubernetes-values")
    for name in values.names():
        for field, stretches in values.fields(name).items():
            wide = {shape(one.type) for one in published.fields(name)[field]}
            assert {shape(one.type) for one in stretches} <= wide, (name, field)


def shape(kind: Type) -> str:
    match kind:
        case Enumeration():
            return "string"
        case Scalar(leaf):
            return "integer" if leaf.types == ("integer",) else "/".join(leaf.types[:2])
        case ListOf(inner):
            return f"[{shape(inner)}]"
        case MapOf(inner):
            return "{" + shape(inner) + "}"
        case _:
            return "object"


def test_a_kind_lives_as_long_as_its_type() -> None:
    seen = view(Profile((1, 33)), "apps/v1", "Deployment")
    assert seen is not None
    assert not seen.absent


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("string(..63)", ("string", Bounds(None, 63))),
        ("int32(0..)", ("int32", Bounds(0, None))),
        ("int32(1..100)", ("int32", Bounds(1, 100))),
    ],
)
def test_bounds_are_read(text: str, kind: tuple[str, Bounds]) -> None:
    parsed = parse(text)
    assert isinstance(parsed, Scalar)
    assert (parsed.leaf.name, parsed.bounds) == kind


def test_types_nest() -> None:
    assert parse("{[A]}") == MapOf(ListOf(Ref("A")))
    assert parse("[core.v1.Pod](1..)") == ListOf(Ref("core.v1.Pod"), Bounds(1))
    assert parse("*|a") == Enumeration(("*", "a"))


def test_a_slip_in_a_table_is_not_read_over() -> None:
    with pytest.raises(ValueError, match="is no type"):
        parse("sting(1..)")
    with pytest.raises(ValueError, match="unpack"):
        Table("A\n  b").fields("A")


def test_a_field_lives_from_its_first_to_its_last_version() -> None:
    life = Table("A\n  b string 1.12..1.14").fields("A")["b"][0].lifetime
    assert life == Lifetime((1, 12), (1, 14))
    assert [minor for minor in MINORS if (1, minor) in life] == [12, 13, 14]
    assert (0, 3, 5) in Lifetime((0, 3), (0, 3))


@pytest.mark.slow
def test_the_kubernetes_table_is_what_the_tool_makes() -> None:
    tool = runpy.run_path(str(TOOL))
    if not all((tool["SCRATCH"] / release).is_dir() for release in tool["RELEASES"]):
        pytest.skip("make kubernetes-tables has not fetched kubernetes-validate here")
    assert tool["table"]() == tool["TABLE"].read_text(encoding="utf-8")
