"""Texts made to crash or drown a parser come back as problems.

Each runs in a process of its own, with a memory limit, so that a crash of libyaml is one failed test.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

LIMITS = "yaml-within-limits"
PARSES = "yaml-parses"

HOSTILE = {
    "brackets": ('"[" * 100_000', LIMITS),
    "braces": ('"{a: " * 100_000', LIMITS),
    "braces as keys": ('"{" * 100_000', LIMITS),
    "mixed brackets": ('"[{a: " * 50_000', LIMITS),
    "closed brackets": ('"[" * 50_000 + "]" * 50_000', LIMITS),
    "brackets in lines": ('"[\\n" * 100_000', LIMITS),
    "brackets behind a quote": ('"a: \'" + "]" * 100_000 + "\'\\nb: " + "[" * 100_000', LIMITS),
    "brackets behind a comment": ('"#" + "]" * 100_000 + "\\n" + "[" * 100_000', LIMITS),
    "dashes": ('"- " * 100_000', LIMITS),
    "question marks": ('"? " * 100_000', LIMITS),
    "dashes and questions": ('"- ? " * 100_000', LIMITS),
    "dashes with carriage returns": ('"\\r".join(" " * n + "-" for n in range(1000))', LIMITS),
    "dashes between separators": ('"\\u2028".join(" " * n + "-" for n in range(1000))', LIMITS),
    "a staircase": ('"".join(" " * n + "a:\\n" for n in range(1400))', LIMITS),
    "a staircase of lists": ('"".join(" " * n + "a:\\n" + " " * n + "-\\n" for n in range(900))', LIMITS),
    "in a second document": ('"a: 1\\n---\\n" + "[" * 100_000', LIMITS),
    "an alias bomb": (
        (
            '"a: &a [x]\\n" + "".join(f"{c}: &{c} [{(f\'*{p},\' * 9)[:-1]}]\\n"'
            ' for p, c in zip("abcdefghi", "bcdefghij"))'
        ),
        LIMITS,
    ),
    "a merge bomb": (
        (
            '"a: &a {x: 1}\\n" + "".join(f"{c}: &{c} {{<<: [{(f\'*{p},\' * 9)[:-1]}]}}\\n"'
            ' for p, c in zip("abcdefghi", "bcdefghij"))'
        ),
        LIMITS,
    ),
    "a long string many times": ('"a: &a " + "x" * 100_000 + "\\nb:\\n" + "- *a\\n" * 1000', LIMITS),
    "a recursive alias": ('"a: &a [*a]"', LIMITS),
    "a recursive key": ('"&a ? *a : b"', None),
    "a recursive mapping": ('"&a {b: {c: *a}}"', LIMITS),
    "a recursive merge": ('"&a\\n<<: *a"', LIMITS),
    "a chain of aliases": (
        '"- &x0 [a]\\n" + "".join(f"- &x{n} [*x{n - 1}]\\n" for n in range(1, 400))',
        LIMITS,
    ),
    "too long": ('"a" * 2_000_000', LIMITS),
    "a long number": ('"a: " + "9" * 1_000_000', None),
    "a long number with a zero": ('"a: 0" + "7" * 1_000_000', None),
    "a long hexadecimal": ('"a: 0x" + "f" * 1_000_000', None),
    "a long fraction": ('"a: ." + "9" * 1_000_000 + "e"', None),
    "a long key": ('"a" * 5000 + ": x"', PARSES),
    "many keys": ('"".join(f"k{n}: on\\n" for n in range(50_000))', "yaml-scalars-unambiguous"),
    "many equal keys": ('"k: 1\\n" * 20_000', "yaml-keys-unique"),
    "many pairs of equal keys": ('"".join(f"k{n}: 1\\n" for n in range(30_000)) * 2', "yaml-keys-unique"),
    "many merges": ('"<<: {}\\n" * 20_000', "yaml-keys-unique"),
    "many merges of many keys": (
        (
            '"a: &a {" + ", ".join(f"k{n}: 1" for n in range(20_000)) + "}\\nb:\\n  <<: *a\\n"'
            ' + "  <<: {}\\n" * 20_000'
        ),
        "yaml-keys-unique",
    ),
    "many inherited keys": (
        (
            '"a: &a {" + ", ".join(f"k{n}: 1" for n in range(20_000)) + "}\\nb:\\n  <<: *a\\n"'
            ' + "".join(f"  k{n}: 2\\n" for n in range(20_000))'
        ),
        None,
    ),
    "many anchors": ('"".join(f"- &a{n} x\\n" for n in range(50_000)) + "- *a7\\n"', None),
    "many documents": ('"--- a\\n" * 100_000', None),
    "many documents with faults": ('"--- on\\n" * 20_000', "yaml-scalars-unambiguous"),
    "nothing but tabs": ('"\\t" * 100_000', None),
    "nothing but colons": ('": " * 100_000', PARSES),
    "nothing but zeros": ('"\\0" * 1000', PARSES),
    "nothing but percents": ('"%" * 100_000', PARSES),
    "nothing but ampersands": ('"&" * 100_000', PARSES),
    "nothing but exclamation marks": ('"!" * 100_000', None),
    "nothing but quotes": ('"\'" * 100_001', PARSES),
    "nothing but backslashes": ('"\\"" + "\\\\" * 100_000 + "/\\""', None),
}

PROGRAM = """
import json, resource, sys, threading
{before}
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from paddlegen.documents import load, span, walk, embedded_all
text = {text}
def run():
    documents, problems = load(text)
    for each in documents[:3]:
        span(each, ("a", "b", 0)); span(each, (0, 0, 0), key=True); embedded_all(each, ("a",))
        plain = (dict, list, str, int, float, bool, type(None))
        assert all(type(value) in plain for _, value in walk(each.value))
    print(json.dumps([each.kind for each in problems]))
threading.stack_size(256 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def kinds(text: str, before: str = "") -> list[str]:
    program = PROGRAM.format(text=text, before=before)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_a_problem_even_on_a_small_stack(name: str) -> None:
    text, kind = HOSTILE[name]
    found = kinds(text)
    if kind is not None:
        assert kind in found


REASONABLE = {
    "a megabyte of flow lists": '"- [a, b, {c: d}]\\n" * 40_000',
    "brackets in strings": '"a: \'" + "[{" * 1000 + "\'\\n"',
    "a script with brackets": '"a: |\\n" + "  if [[ ${x} ]]; then {{\\n" * 10_000',
    "ninety levels": '"".join(" " * n + "a:\\n" for n in range(90)) + " " * 90 + "b: 1"',
    "aliases in use": '"a: &a {b: 1, c: 2}\\nb:\\n" + "- *a\\n" * 1000',
    "a long line": '"a: \\"" + "x " * 200_000 + "\\""',
}


@pytest.mark.parametrize("name", REASONABLE)
def test_a_large_but_reasonable_text_is_no_problem(name: str) -> None:
    assert kinds(REASONABLE[name]) == []


def test_a_pyyaml_without_libyaml_gives_the_same_answers() -> None:
    before = "import yaml\nyaml.__with_libyaml__ = False\nsys.modules['yaml._yaml'] = None"
    for name in ("brackets", "an alias bomb", "a recursive alias", "a staircase", "dashes"):
        text, kind = HOSTILE[name]
        assert kind in kinds(text, before)
