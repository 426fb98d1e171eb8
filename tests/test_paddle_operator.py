"""What the paddle-operator target builds, release by release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from units import cluster, shown, units

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = Path(__file__).parent / "cases"
VOLCANO = {"version": "v1.12.0"}
PROFILES: dict[str, dict[str, Any]] = {
    **{f"0.3.{patch}": {"paddleOperator": {"version": f"0.3.{patch}"}} for patch in range(6)},
    "0.2.0": {"crd": "v1beta1", "paddleOperator": {"version": "0.2.0"}},
    "0.2.1": {"paddleOperator": {"version": "0.2.1"}},
    "0.2.0-git": {"crd": "v1beta1", "paddleOperator": {"version": "0.2.0"}, "volcano": VOLCANO},
    "0.3.1-etcd": {"paddleOperator": {"version": "0.3.1", "etcdServer": "etcd:2379"}},
    "0.3.5-no-barrier": {"paddleOperator": {"version": "0.3.5", "initImage": ""}},
    "0.3.5-git": {"paddleOperator": {"version": "0.3.5"}, "volcano": VOLCANO},
    "0.3.5-flag": {"paddleOperator": {"version": "0.3.5", "scheduling": "volcano"}},
}


def matrix() -> list[tuple[str, str]]:
    """Every case with the profiles that its second line names."""
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        wanted = path.read_text().splitlines()[1].removeprefix("# on: ").split()
        found += [(path.stem, profile) for profile in wanted]
    return found


@pytest.mark.parametrize(("case", "profile"), matrix())
def test_a_case_becomes_its_golden_objects(
    case: str, profile: str, golden: Callable[[str, str], None]
) -> None:
    found = units((CASES / f"{case}.yaml").read_text(), cluster(PROFILES[profile]))

    assert [finding.message for unit in found for finding in unit.findings] == []
    golden(f"paddle-operator/{case}@{profile}.yaml", shown(found))
