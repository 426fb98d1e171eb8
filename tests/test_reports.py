"""One hand-built report in every format, and what each format promises for any report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlegen import reports
from paddlegen.model.report import Finding, Location, Report, Severity, Span, report
from paddlegen.reports import _line

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = Path(reports.__file__).parent.parent / "schemas" / "findings.v1.json"

FILES = {
    "jobs/ctr.yaml": [
        "apiVersion: paddlegen.dev/v1",
        "kind: JobSpec",
        "metadata: {name: ctr, namespace: ads}",
        "spec:",
        "  roles:",
        "    worker: {replicas: 3}",
        "  scheduling:",
        "    minMember: 5",
        "  env: {标题: 点击率预估, 模型: wide}",
        "\timage:\tdemo/ctr:latest",
        "  args: [" + ", ".join(f"--feature-{number}=on" for number in range(30)) + "]",
    ],
    "overlays/prod/kustomization.yaml": ["patches:", "- path: replicas.yaml"],
}

REPORT = report(
    [
        Finding(
            rule="gang-size-matches-replicas",
            severity=Severity.ERROR,
            message="minMember is 5 and the roles give 4; the gang needs exactly what the roles give",
            location=Location("jobs/ctr.yaml", Span(8, 16, 8, 17), "5 here"),
            related=(
                Location("overlays/prod/kustomization.yaml", Span(2, 3, 2, 22), "a patch sets 2 workers"),
                Location("manifests/prod/ads/ctr/podgroup-ctr.yaml", Span(12, 3, 12, 15), "rendered here"),
            ),
            remediation="Remove minMember; paddlegen then writes the sum.",
            cluster="prod",
            object="PodGroup ads/ctr",
            field=("spec", "minMember"),
        ),
        Finding(
            rule="image-tag-pinned",
            severity=Severity.WARNING,
            message=(
                "image demo/ctr:latest has a tag that moves; give it a version: 100% of replicas run the same"
            ),
            location=Location("jobs/ctr.yaml", Span(10, 9, 10, 24)),
            field=("spec", "image"),
        ),
        Finding(
            rule="env-name-portable",
            severity=Severity.INFO,
            message="the name 模型 is not ASCII; a name of A-Z, 0-9 and _ works in every shell",
            location=Location("jobs/ctr.yaml", Span(9, 20, 9, 22), "rename this"),
            field=("spec", "env", "模型"),
        ),
        Finding(
            rule="args-short",
            severity=Severity.WARNING,
            message="30 arguments; a file of flags is easier to review",
            location=Location("jobs/ctr.yaml", Span(11, 217, 11, 232)),
            field=("spec", "args", 12),
        ),
        Finding(
            rule="roles-named",
            severity=Severity.ERROR,
            message="roles has a worker and no ps; parameter-server training needs both",
            location=Location("jobs/ctr.yaml", Span(5, 3, 9, 1), "these roles"),
            remediation="Add a ps role.",
            field=("spec", "roles"),
        ),
        Finding(
            rule="manifest-current",
            severity=Severity.ERROR,
            message="manifests/legacy/ads/ctr/a,b:c.yaml is missing; render writes it",
            location=Location("manifests/legacy/ads/ctr/a,b:c.yaml", note="no such file"),
            remediation="Run paddlegen render.",
            cluster="legacy",
        ),
    ],
    {"jobs": 6, "clusters": 3, "objects": 41, "policies": 1},
)


@pytest.mark.parametrize("name", reports.formats())
def test_each_format_prints_the_same_report_as_its_golden_file(
    name: str, golden: Callable[[str, str], None]
) -> None:
    golden(f"reports/{name}.txt", reports.load(name).render(REPORT, FILES.get))


@pytest.mark.parametrize("name", reports.formats())
def test_a_format_has_a_name_that_is_its_file_and_a_doc(name: str) -> None:
    assert reports.load(name).name == name
    assert reports.load(name).doc


def test_loading_one_format_imports_no_other() -> None:
    code = (
        "import sys\n"
        "from paddlegen import reports\n"
        "assert 'text' in reports.formats()\n"
        "assert not [m for m in sys.modules if m.startswith('paddlegen.reports.')]\n"
        "reports.load('concise')\n"
        "print(sorted(m for m in sys.modules if m.startswith('paddlegen.reports.') and '._' not in m))"
    )
    assert _python(code) == "['paddlegen.reports.concise']\n"


def test_colour_adds_escape_sequences_and_nothing_else() -> None:
    text = reports.load("text")
    assert text.render_coloured is not None
    coloured = text.render_coloured(REPORT, FILES.get)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text.render(REPORT, FILES.get)


@pytest.mark.parametrize(
    ("counts", "findings", "expected"),
    [
        ({}, [], "no findings"),
        ({"jobs": 1, "policies": 1, "clusters": 0}, [], "1 job, 1 policy, 0 clusters: no findings"),
        ({"jobs": 2}, [Severity.ERROR, Severity.WARNING, Severity.WARNING], "2 jobs: 1 error, 2 warnings"),
    ],
)
def test_the_closing_line_says_what_was_looked_at(
    counts: dict[str, int], findings: list[Severity], expected: str
) -> None:
    found = tuple(Finding("r", severity, "m", Location("f")) for severity in findings)
    assert _line.closing(Report(found, counts)) == expected


def test_text_of_a_clean_report_is_the_closing_line_alone() -> None:
    assert reports.load("text").render(Report((), {"jobs": 6}), FILES.get) == "6 jobs: no findings\n"


def test_text_points_behind_the_line_when_the_file_has_shrunk() -> None:
    assert _carets("ab", Span(1, 40, 1, 44)) == ("ab", "  ^")


def test_text_shows_no_line_that_the_file_does_not_have() -> None:
    assert "|" not in _text("ab", Span(7, 1, 7, 2))


def test_text_marks_a_span_without_width_with_one_caret() -> None:
    assert _carets("replicas:", Span(1, 10, 1, 10)) == ("replicas:", "         ^")


@pytest.mark.parametrize(
    ("line", "span", "shown", "carets"),
    [
        ("\tx", Span(1, 2, 1, 3), "    x", "    ^"),
        ("标题: a", Span(1, 1, 1, 3), "标题: a", "^^^^"),
        ("标题: a", Span(1, 5, 1, 6), "标题: a", "      ^"),
        ("e\u0301: a", Span(1, 5, 1, 6), "e\u0301: a", "   ^"),
        ("\x1b[2J", Span(1, 2, 1, 3), "␛[2J", " ^"),
    ],
)
def test_text_aligns_carets_in_a_terminal(line: str, span: Span, shown: str, carets: str) -> None:
    assert _carets(line, span) == (shown, carets)


def test_text_marks_a_block_that_is_one_line_as_one_line() -> None:
    assert "…" not in _text("worker:\n  x: 1", Span(1, 1, 2, 1))


def test_text_cuts_a_long_line_around_its_span() -> None:
    line = "a" * 500 + "NEEDLE" + "b" * 500
    shown, carets = _carets(line, Span(1, 501, 1, 507))
    assert len(shown) == 162
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert shown[carets.index("^") : len(carets)] == "NEEDLE"


def test_text_never_lets_a_file_act_on_the_terminal() -> None:
    text = _text("\x1b]0;owned\x07 \u202e", Span(1, 1, 1, 2), message="\x1b[2Jgone\r\nback\u2028")
    assert not [character for character in text if ord(character) < 0x20 and character != "\n"]
    assert "\u202e" not in text
    assert "␛[2Jgone back" in text


def _text(source: str, span: Span, message: str = "m") -> str:
    found = Finding("r", Severity.ERROR, message, Location("f", span))
    return reports.load("text").render(Report((found,)), lambda _: source.split("\n"))


def _carets(source: str, span: Span) -> tuple[str, str]:
    _, _, _, shown, marked, *_ = _text(source, span).split("\n")
    return shown.removeprefix("1 | "), marked.removeprefix("  | ")


def test_github_tells_the_findings_it_will_not_show() -> None:
    found = [
        Finding("r", severity, f"{severity.value} ##[add-mask]m", Location("::f", Span(number, 1, number, 2)))
        for severity in (Severity.WARNING, Severity.ERROR)
        for number in range(1, 13)
    ]
    lines = reports.load("github").render(report(found, {}), FILES.get).splitlines()
    assert [line.split(" ")[0] for line in lines[:20]] == ["::error"] * 10 + ["::warning"] * 10
    assert lines[20] == "GitHub shows 10 annotations of each level per step; here are 4 more findings:"
    assert all(line.startswith("- ::f:") and "##[" not in line for line in lines[21:25])
    assert lines[25] == "12 errors, 12 warnings"


def test_github_gives_columns_only_within_one_line() -> None:
    """The runner drops them otherwise: https://github.com/actions/runner/pull/2082."""

    def command(span: Span) -> str:
        found = Finding("r", Severity.INFO, "m", Location("f", span))
        return reports.load("github").render(Report((found,)), FILES.get).split("\n")[0]

    assert command(Span(3, 5, 3, 9)) == "::notice title=r,file=f,line=3,col=5,endLine=3,endColumn=9::m"
    assert command(Span(3, 5, 6, 9)) == "::notice title=r,file=f,line=3,endLine=6::m"
    assert command(Span(3, 5, 6, 1)) == "::notice title=r,file=f,line=3,endLine=5::m"


def test_github_names_no_file_for_standard_input() -> None:
    found = Finding("r", Severity.ERROR, "m", Location("-", Span(1, 1, 1, 2)))
    assert reports.load("github").render(Report((found,)), FILES.get).startswith("::error title=r::m\n")


def test_the_json_schema_refuses_a_report_without_a_location() -> None:
    document = json.loads(reports.load("json").render(REPORT, FILES.get))
    del document["findings"][0]["location"]
    assert not _schema().is_valid(document)


def test_the_example_in_the_documentation_is_a_report() -> None:
    page = (Path(__file__).parent.parent / "docs" / "findings-v1.md").read_text(encoding="utf-8")
    example = page.partition("```json\n")[2].partition("```")[0]
    assert _schema().is_valid(json.loads(example))


def test_the_documentation_names_every_field_of_the_schema() -> None:
    page = (Path(__file__).parent.parent / "docs" / "findings-v1.md").read_text(encoding="utf-8")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = [schema, schema["definitions"]["finding"], schema["definitions"]["location"]]
    assert [name for part in parts for name in part["properties"] if f"`{name}`" not in page] == []


positions = st.integers(1, 9) | st.integers(1, 400)
spans = st.builds(Span, positions, positions, positions, positions)
odd_text = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(
    ["::error::x", "a\r\nb", "100%", "a,b:c", "中文", "\x1b[31m", "\u2028", "##[group]", "\ud800"]
)
paths = st.sampled_from(["a.yaml", "b.yaml", "-"]) | odd_text
locations = st.builds(Location, paths, st.none() | spans, odd_text)
findings = st.builds(
    Finding,
    rule=odd_text,
    severity=st.sampled_from(Severity),
    message=odd_text,
    location=locations,
    related=st.lists(locations, max_size=2).map(tuple),
    remediation=odd_text,
    cluster=odd_text,
    object=odd_text,
    field=st.lists(odd_text | st.integers(0, 9), max_size=3).map(tuple),
)
any_report = st.builds(
    report,
    st.lists(findings, max_size=25),
    st.dictionaries(st.sampled_from(["jobs", "objects"]), st.integers(0, 9)),
)
any_files = st.dictionaries(
    paths, st.none() | st.lists(odd_text | odd_text.map(lambda text: text * 90), max_size=9), max_size=3
)


@given(any_report, any_files)
def test_text_renders_anything_and_tells_every_message(
    anything: Report, files: dict[str, list[str] | None]
) -> None:
    text = reports.load("text").render(anything, files.get)
    assert all(_line.flat(finding.message) in text for finding in anything.findings)
    assert text.endswith("\n")


@given(any_report)
def test_concise_prints_one_line_per_finding(anything: Report) -> None:
    printed = reports.load("concise").render(anything, FILES.get)
    assert len(printed.splitlines()) == len(anything.findings)


@given(any_report)
def test_github_prints_one_line_per_annotation_whatever_it_says(anything: Report) -> None:
    lines = re.split(r"\r\n|\r|\n", reports.load("github").render(anything, FILES.get))
    commands = [line for line in lines if line.lstrip().startswith("::")]
    shown = sum(min(anything.count(severity), 10) for severity in Severity)
    assert len(commands) == shown
    assert commands == lines[:shown]
    assert all(re.match(r"::(error|warning|notice) title=[^:,]*(,\w+=[^:,]*)*::", line) for line in commands)
    dropped = len(anything.findings) - shown
    assert len(lines) == shown + (dropped + 1 if dropped else 0) + 2


@given(any_report)
def test_json_is_valid_against_its_schema_and_keeps_the_order(anything: Report) -> None:
    printed = reports.load("json").render(anything, FILES.get)
    document = json.loads(printed)
    if "\\ud" not in ascii(printed):  # jsonschema-rs takes no lone surrogates, which JSON allows
        _schema().validate(document)
    assert [entry["message"] for entry in document["findings"]] == [f.message for f in anything.findings]
    assert printed.endswith("}\n")


def _schema() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _python(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout
