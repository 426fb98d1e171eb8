"""What `registry` promises: one module, one member, one name, and loud failure otherwise."""

from __future__ import annotations

import re
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from paddlegen import registry
from paddlegen.errors import RegistrationError
from paddlegen.model.report import ReportFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Family = Callable[[dict[str, str]], str]

MEMBER = """
from paddlegen.model.report import ReportFormat
report_format = ReportFormat({name!r}, "doc", lambda report, sources: "")
"""


@pytest.fixture(params=["directory", "zip"])
def family(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Family]:
    """Write a package of these modules, as a directory and inside a zip file, and make it importable."""

    def write(modules: dict[str, str]) -> str:
        files = {"family/__init__.py": ""} | {f"family/{name}.py": text for name, text in modules.items()}
        home = tmp_path / ("family.zip" if request.param == "zip" else "home")
        if request.param == "zip":
            with zipfile.ZipFile(home, "w") as archive:
                for name, text in files.items():
                    archive.writestr(name, text)
        else:
            for name, text in files.items():
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(home))
        return "family"

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "family"]:
        del sys.modules[name]


def discover(package: str) -> dict[str, ReportFormat]:
    return registry.discover(package, "report_format", ReportFormat)


def test_members_are_sorted_by_name_and_named_like_their_files(family: Family) -> None:
    package = family({"b": MEMBER.format(name="b"), "a_z": MEMBER.format(name="a-z"), "_helper": "1 / 0"})
    assert list(discover(package)) == ["a-z", "b"]
    assert discover(package)["a-z"].name == "a-z"


def test_names_are_known_without_importing_a_member(family: Family) -> None:
    assert registry.names(family({"a_z": "1 / 0", "b": "1 / 0"})) == ["a-z", "b"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "family.b has no 'report_format'; each module of family defines one"),
        ("report_format = 3", "family.b.report_format is of type int; family holds ReportFormat values"),
        (MEMBER.format(name="c"), "family.b.report_format is named 'c'; its file says 'b'"),
    ],
)
def test_a_module_that_breaks_the_rule_is_named(family: Family, source: str, message: str) -> None:
    package = family({"b": source})
    with pytest.raises(RegistrationError, match=f"^{re.escape(message)}$"):
        discover(package)


def test_an_error_inside_a_member_is_shown_as_it_is(family: Family) -> None:
    package = family({"b": "object().nothing"})
    with pytest.raises(AttributeError, match="nothing"):
        discover(package)
