"""Every scalar, key and merge is read as kubectl reads it.

Where kustomize reads it differently there is a problem.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from paddlegen.documents import load

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")

HEAD = "apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: x\nspec:\n"

SCALARS = [
    "on",
    "yes",
    "y",
    "n",
    "Y",
    "N",
    "no",
    "off",
    "On",
    "OFF",
    "Yes",
    "yES",
    "ON",
    "YES",
    "NO",
    "Off",
    "No",
    "true",
    "True",
    "TRUE",
    "tRue",
    "null",
    "Null",
    "NULL",
    "nULL",
    "~",
    "false",
    "False",
    "FALSE",
    "1e3",
    "1E3",
    "1e+3",
    "12e03",
    "123e4567",
    "1234e5678",
    "1.5e3",
    "1e-3",
    "1e-7",
    "1e15",
    "1e16",
    "1e18",
    "1e20",
    "1e21",
    "1e22",
    "1e400",
    "-1e400",
    "1e-400",
    ".5e3",
    ".e3",
    "1e",
    "1e+",
    "e3",
    "0777",
    "08",
    "09",
    "00",
    "000",
    "007",
    "0o17",
    "0o8",
    "0O7",
    "0x1f",
    "0X1F",
    "0xg",
    "0x",
    "0b",
    "0o",
    "0b1",
    "0b11",
    "0b2",
    "0B1",
    "-0b1",
    "+0b1",
    "-0o7",
    "+0o7",
    "-0x1F",
    "+0x1",
    "-0777",
    "0_7",
    "0_8",
    "0x_1",
    "0b1_1",
    "0xfe_ff",
    "1_000",
    "+1_000",
    "1_0.5",
    "0.5_5",
    ".5_5",
    "_1",
    "1_",
    "-_5",
    "+_",
    "0__",
    "1__0",
    "1_e3",
    "1.0",
    "1.",
    "0.",
    "5.",
    ".5",
    "+.5",
    "-.5",
    "0.0",
    "-0.0",
    "-0",
    "+1",
    "-1",
    "1.5",
    "-1.5",
    "00.5",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "+9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "07777777777777777777777777",
    "0xFFFFFFFFFFFFFFFF",
    "0xFFFFFFFFFFFFFFFFFF",
    "4611686018427387904.0",
    "9007199254740993.0",
    "123456789012345678.0",
    "9223372036854775807.0",
    "1e19",
    "0.1",
    "3.14",
    "1:30",
    "12:30:45",
    "190:20:30",
    "12:30:45.6",
    "2024-01-02",
    "2024-01-02T03:04:05Z",
    "2024-13-01",
    "2001-1-1",
    "2001-12-14t21:59:43.10-05:00",
    "2001-01-01T12:00:00",
    "2001-01-01T12:00:00+01:00",
    "2001-01-01T12:00:00+00:00",
    "99999-01-01",
    "2001-1-1T1:2:3Z",
    ".inf",
    "-.inf",
    ".Inf",
    "+.inf",
    ".nan",
    ".NaN",
    "NaN",
    "nan",
    "inf",
    "Inf",
    "Infinity",
    ".",
    "..",
    "..5",
    "--",
    "--5",
    "--lr=1",
    "5-",
    "5+",
    "-a",
    "=",
    "<<",
    "-",
    "1,000",
    "0.0.0.0",  # noqa: S104  # a text, no address
    "10.0.0.1",
    "10.0.0.0/8",
    "1.2.3",
    "v1",
    "8Gi",
    "100m",
    "4E",
    "5e",
    "1.5Gi",
    "500E",
    "12h",
    "3d",
    "1f",
    "10f",
    "0f",
    "6Ti",
    "a:b",
    "::",
    "a#b",
    "k8s.io/foo",
    "http://a:80/b",
    "${X}",
    "$(X)",
    "{}",
    "[]",
    "a\\nb",
    "a,b",
]
SPACED = [
    "2024-01-02 03:04:05",
    "2001-1-1 1:2:3",
    "2001-01-01 12:00:00 +1",
    "yes no",
    "a b",
    "!!str 1",
    "!!str on",
    "'on'",
    '"1"',
    "!!int '5'",
    "!!float 1",
    "!!bool yes",
    "!!null ''",
    "!x 12",
    "!x on",
    "!!binary aGk=",
    "!!timestamp 2024-01-02",
    "中文",
    "emoji😀",
    r'"\x07\u4e2d\_"',
    r'"a\/b"',
    "!!int 1.5",
    "!!int 08",
    "!!float x",
    "!!int 0x1F",
    "!!bool 1",
    "{a, b: }",
]
STRUCTURES = [
    *(
        f"{key}: x"
        for key in [
            "1",
            "true",
            "on",
            "y",
            "null",
            "~",
            "1.5",
            "1e3",
            "1e20",
            "1e6",
            "1234567.0",
            "123456789.125",
            "0.00001",
            "0.1",
            "0x1F",
            "-1",
            "+1",
            "0777",
            "08",
            ".5",
            "1_0",
        ]
    ),
    *(f"{key}: x" for key in ["2024-01-02", "1e400", "'1'", "!!str~1", "10.0.0.1", "8Gi"]),
    *(f"{key}: x" for key in ["-a", "0b11", "-0.0", "True", "OFF"]),
    "a: 1\n<<: {a: 2}",
    "<<: {a: 2}\na: 1",
    "<<: [{a: 1}, {a: 2, b: 3}]",
    "<<: 5",
    "<<: null",
    "<<: [1]",
    "<<: {a: 1}\n<<: {b: 2}",
    "<<: &q {a: 1}\nb: *q",
    "'<<': {a: 1}",
    "a: 1\na: 2",
    "&x a: *x",
    "? a\n? b",
    "a: {{ x }}",
    "? [a]\n: b",
    "v: &a [*a]",
    "a: |\n  x\n\n  y\nb: >-\n  x\n  y\n\n  z\nc: |+\n  x\n\n",
    "a: 'x\n\n  y'",
    "a: x\n  y",
    "a:\n- b\n- - c\n  - d: e",
    "a: {b: [c, {d: e}], 'f': \"g\"}",
    "x: &x {a: 1}\nz: {<<: *x, b: 2}",
    "a:\nb: ~",
]


class Refused(Exception):  # noqa: N818  # a verdict, not an error of ours
    """kubectl or kustomize does not take it."""


def run(*command: str | Path) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "KUBECONFIG": os.devnull},
        check=False,
    )
    if done.returncode:
        raise Refused(done.stderr)
    return done.stdout


def kubectl(text: str, folder: Path) -> object:
    """The `spec` kubectl reads."""
    file = folder / "object.yaml"
    file.write_text(text, encoding="utf-8")
    return json.loads(
        run("kubectl", "patch", "--local", "--type=merge", "-p", "{}", "-f", file, "-o", "json")
    ).get("spec")


def kustomize(text: str, folder: Path) -> object:
    """The `spec` kubectl reads in what kustomize writes."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "object.yaml").write_text(text, encoding="utf-8")
    (folder / "in" / "kustomization.yaml").write_text("resources: [object.yaml]\n")
    return kubectl(run("kubectl", "kustomize", folder / "in"), folder)


def body(lines: list[str]) -> str:
    return HEAD + "".join(f"  k{number}: {line}\n" for number, line in enumerate(lines))


def spec(text: str) -> object:
    documents, _ = load(text)
    value = documents[0].value
    assert isinstance(value, dict)
    return value["spec"]


def same(ours: object, theirs: object) -> bool:
    """Equal, and a boolean only where a boolean is; kubectl prints large floats without a point."""
    if isinstance(ours, float) and isinstance(theirs, int | float) and not isinstance(theirs, bool):
        return ours == float(theirs)
    return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def differences(lines: list[str], folder: Path, read: object = kubectl) -> list[tuple[str, object, object]]:
    """The lines a tool reads differently from us or refuses though we report nothing.

    Halved until each stands alone.
    """
    text = body(lines)
    try:
        theirs = read(text, folder)  # type: ignore[operator]
    except Refused as error:
        if len(lines) > 1:
            half = len(lines) // 2
            return differences(lines[:half], folder, read) + differences(lines[half:], folder, read)
        return [] if load(text)[1] else [(lines[0], "no problem", str(error)[-200:])]
    ours = spec(text)
    assert isinstance(ours, dict)
    silent = {line: not load(body([line]))[1] for line in lines}
    return [
        (line, ours[name], theirs.get(name))
        for number, line in enumerate(lines)
        if not same(ours[name := f"k{number}"], theirs.get(name)) and (read is kubectl or silent[line])
    ]


def test_scalars_are_kubectls(tmp_path: Path) -> None:
    assert differences([*SCALARS, *SPACED], tmp_path) == []


def test_a_scalar_without_a_problem_is_the_same_to_kustomize(tmp_path: Path) -> None:
    assert differences([*SCALARS, *SPACED], tmp_path, kustomize) == []


@pytest.mark.parametrize("text", STRUCTURES)
def test_structures_are_kubectls_and_the_same_to_kustomize_unless_there_is_a_problem(
    text: str, tmp_path: Path
) -> None:
    whole = HEAD + "".join(f"  {line}\n" if line else "\n" for line in text.split("\n"))
    problems = load(whole)[1]
    try:
        theirs = kubectl(whole, tmp_path)
    except Refused:
        assert problems
        return
    assert same(spec(whole), theirs)
    if not problems:
        assert same(theirs, kustomize(whole, tmp_path))


def test_the_words_without_a_problem_are_not_reported_for_nothing(tmp_path: Path) -> None:
    """The converse: a problem about a value names a real difference or refusal."""
    reported = [
        line
        for line in SCALARS
        if any(each.kind == "yaml-scalars-unambiguous" for each in load(body([line]))[1])
    ]
    for line in reported:
        try:
            assert not same(kubectl(body([line]), tmp_path), kustomize(body([line]), tmp_path)), line
        except Refused:
            continue
