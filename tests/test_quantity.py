"""Kubernetes quantities against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from units import cluster, units

from paddlegen.resources import quantity

SUFFIXES = {
    **{name: Fraction(1000) ** power for name, power in zip(("n", "u", "m"), (-3, -2, -1), strict=True)},
    **{name: Fraction(1000) ** power for power, name in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{name: Fraction(1024) ** power for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
numbers = st.tuples(st.sampled_from(["", "+", "-"]), st.integers(0, 10**9), st.none() | st.integers(0, 999))
exponents = st.builds(lambda e, power: f"{e}{power}", st.sampled_from("eE"), st.integers(-9, 18))


def written(number: tuple[str, int, int | None]) -> str:
    sign, whole, rest = number
    return f"{sign}{whole}" + ("" if rest is None else f".{rest:03}")


@given(numbers, st.sampled_from(sorted(SUFFIXES)))
def test_a_quantity_is_its_number_times_its_suffix(number: tuple[str, int, int | None], suffix: str) -> None:
    text = written(number)

    assert Fraction(quantity.parse(text + suffix)) == Fraction(text) * SUFFIXES[suffix]


@given(numbers, exponents)
def test_a_decimal_exponent_is_no_suffix(number: tuple[str, int, int | None], exponent: str) -> None:
    text = written(number) + exponent

    assert Fraction(quantity.parse(text)) == Fraction(text)


@given(st.integers(0, 10**13), st.sampled_from(["n", "m", "", "k", "Ki", "Mi", "Gi"]), st.booleans())
def test_what_is_shown_is_the_same_quantity(number: int, suffix: str, binary: bool) -> None:
    value = quantity.parse(f"{number}{suffix}")

    assert quantity.parse(quantity.show(value, binary=binary)) == value


@pytest.mark.parametrize(
    ("text", "binary", "shown"),
    [
        ("1.5Gi", True, "1536Mi"),
        ("16384Mi", True, "16Gi"),
        ("1G", True, "1000000000"),
        ("0.5", False, "500m"),
        ("4000m", False, "4"),
        (0.1, False, "100m"),
        (4, False, "4"),
        ("1E", False, str(10**18)),
        ("1n", False, "1n"),
    ],
)
def test_a_quantity_is_shown_the_short_way(text: str | float, binary: bool, shown: str) -> None:
    assert quantity.show(quantity.parse(text), binary=binary) == shown


@pytest.mark.parametrize(
    "text", ["", "Gi", "16GB", "1 Gi", "1K", "1i", "--1", "1e", ".", "0x1", "1_000", "¹", "1\n"]
)
def test_what_is_no_quantity_is_told_with_the_suffixes(text: str) -> None:
    with pytest.raises(ValueError, match="is no Kubernetes quantity"):
        quantity.parse(text)


@pytest.mark.parametrize("value", ["[]", "{}", "[1]", "{a: 1}"])
def test_a_list_or_mapping_where_a_quantity_belongs_is_told_at_its_line(value: str) -> None:
    text = (
        "{apiVersion: paddlegen.dev/v1, kind: JobSpec, metadata: {name: a}, spec: {image: r.io/a:v1, "
        "roles: {worker: {}}, podTemplate: {spec: {containers: [{name: paddle, "
        f"resources: {{requests: {{cpu: {value}}}}}}}]}}}}}}}}"
    )
    (unit,) = units(text, cluster({}))
    assert [finding.rule for finding in unit.findings] == ["quantities-parse"]
