"""Whatever the text: no exception, plain values, spans inside the text.

Ordinary manifests read as other parsers read them.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import ruamel.yaml
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paddlegen.documents import Problem, embedded_all, load, loads, scalar_text, span, walk
from paddlegen.documents.positions import Lines

if TYPE_CHECKING:
    from paddlegen.model.report import Span

PLAIN = (dict, list, str, int, float, bool, type(None))

MANIFEST = """\
# Generated
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: &name job-1
  annotations: {a/b: "c", 'd': ~}
spec:
  worker:
    replicas: 0777
    template: &t
      spec:
        containers:
        - name: *name
          args: [--lr, 1e-3, "on"]
          command:
          - |-
            set -eu
              python train.py \\
                --nnodes=2

        - <<: *t
          value: !!str 12
---
patch: >
  spec: {a: 1}
when: 2024-01-02
文: "é\\u4e2d\\n😀"
"""

yamlish = st.text(
    alphabet=st.sampled_from(list(" \n\t:-?[]{},#&*!|>'\"%@`<=~.\\ab0x1+eyn_中😀\r\u2028\ufeff\x85\x07")),
    max_size=120,
)
tokens = st.lists(
    st.sampled_from(
        [
            "a",
            "b: ",
            "- ",
            "\n",
            "\n  ",
            "\n    ",
            ": ",
            "? ",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "&x ",
            "*x",
            "&y ",
            "*y",
            "<<: ",
            "!!str ",
            "!t ",
            "|",
            "|-",
            ">+2",
            "'",
            '"',
            "# c",
            "---\n",
            "...\n",
            "on",
            "1",
            "0o7",
            "1e3",
            ".inf",
            "2024-01-02",
            "~",
            "%YAML 1.1\n",
            "\t",
            "\r\n",
            "中",
        ]
    ),
    max_size=40,
).map("".join)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """The manifest with a few stretches replaced."""
    text = MANIFEST
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = (
            text[:start]
            + draw(
                st.one_of(
                    st.just(""), yamlish.map(lambda piece: piece[:8]), tokens.map(lambda piece: piece[:8])
                )
            )
            + text[end:]
        )
    return text


def assert_inside(place: Span, text: str) -> None:
    lines = Lines(text)
    assert (place.line, place.column) <= (place.end_line, place.end_column)
    for line, column in ((place.line, place.column), (place.end_line, place.end_column)):
        assert 1 <= line <= lines.place(len(text))[0]
        assert 1 <= column <= len(lines.line(line)) + 1


def assert_sound(text: str) -> list[Problem]:
    documents, problems = load(text, "f.yaml")
    text = text.removeprefix("\ufeff")
    for problem in problems:
        assert_inside(problem.span, text)
        assert problem.message
        assert problem.kind.startswith("yaml-")
    for document in documents:
        assert document.text == text
        for path, value in walk(document.value):
            assert type(value) in PLAIN
            assert all(type(part) in (str, int) for part in path)
            assert_inside(span(document, path), text)
            assert_inside(span(document, path, key=True), text)
            assert_inside(span(document, (*path, "missing", 0)), text)
            scalar_text(document, path)
            for inner, faults in [embedded_all(document, path)]:
                for each in inner:
                    assert_inside(span(each, ("a",)), text)
                for fault in faults:
                    assert_inside(fault.span, text)
        json.dumps(document.value, allow_nan=False)
    return problems


settings.register_profile("documents", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("documents")


@given(st.text(max_size=200))
def test_any_text_is_sound(text: str) -> None:
    assert_sound(text)


@given(yamlish)
@example("? a\n? b")
@example("a: |\n  x\n\n")
@example("- - -\n  -")
@example("a: 'x\ny: [")
@settings(max_examples=400)
def test_any_text_of_yaml_characters_is_sound(text: str) -> None:
    assert_sound(text)


@given(tokens)
@settings(max_examples=600)
def test_any_text_of_yaml_tokens_is_sound(text: str) -> None:
    assert_sound(text)


@given(mutated())
@settings(max_examples=400)
def test_a_damaged_manifest_is_sound(text: str) -> None:
    assert_sound(text)


@given(st.binary(max_size=100))
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf\xff")
def test_any_bytes_are_sound(data: bytes) -> None:
    for problem in loads(data)[1]:
        assert problem.span.line >= 1
        assert problem.span.column >= 1


# no digits: PyYAML leaves the strings 08 and 1e3 plain, which are numbers to kubectl
words = st.text(alphabet="abcdefghxyz-./中é😀 #:'\"", max_size=12)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    words,
    st.sampled_from(["on", "1", "~", "a\nb\n", " x", "2024-01-02", "0x1", "<<", ""]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(words.filter(bool), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(words, values, max_size=5), st.sampled_from([None, True, False]))
def test_what_pyyaml_writes_is_read_back(value: dict[str, object], flow: bool | None) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    documents, problems = load(text)
    if not problems:  # PyYAML leaves the strings y and n plain
        assert documents[0].value == value == yaml.safe_load(text)
    assert {problem.kind for problem in problems} <= {"yaml-scalars-unambiguous"}


@given(st.dictionaries(words, values, max_size=5))
def test_what_json_writes_is_read_back(value: dict[str, object]) -> None:
    documents, problems = load(json.dumps(value, indent=1, ensure_ascii=False))
    assert [problem for problem in problems if "<<" not in problem.message] == []
    assert [document.value for document in documents] == [value]


def test_an_ordinary_manifest_is_read_as_pyyaml_and_ruamel_read_it() -> None:
    text = (
        MANIFEST.replace("0777", "3")
        .replace("1e-3", "0.001")
        .replace("        - <<: *t\n          value: !!str 12\n", "")
        .replace("when: 2024-01-02\n", "")
    )
    documents, problems = load(text)
    assert problems == []
    ours = [document.value for document in documents]
    assert ours == list(yaml.safe_load_all(text))
    assert ours == list(ruamel.yaml.YAML(typ="safe", pure=True).load_all(io.StringIO(text)))


WITHOUT_LIBYAML = """
import json, sys, yaml
yaml.__with_libyaml__ = False
sys.modules["yaml._yaml"] = None
from paddlegen.documents import load, span, walk
texts = json.load(sys.stdin)
answers = []
for text in texts:
    documents, problems = load(text)
    answers.append([
        [[each.value, [[str(span(each, path, key=is_key)) for is_key in (False, True)]
                      for path, _ in walk(each.value)]]
         for each in documents],
        [[each.kind, each.message, str(each.span), each.path, each.document] for each in problems],
    ])
print(json.dumps(answers))
"""


def test_a_pyyaml_without_libyaml_gives_the_same_values_spans_and_problems() -> None:
    texts = [
        MANIFEST,
        MANIFEST.replace("- <<: *t", "- x: 1"),
        "a: on\na: 2\n",
        "? a\n? b",
        "a: 'x\u2028y'\nb: [中, 😀]  # c\nc: |\n  x\n",
        "{a: {b}}",
        "a: \x07",
    ]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBYAML],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    for text, (documents, problems) in zip(texts, json.loads(done.stdout), strict=True):
        ours, ours_problems = load(text)
        assert documents == [
            [
                each.value,
                [[str(span(each, path)), str(span(each, path, key=True))] for path, _ in walk(each.value)],
            ]
            for each in ours
        ]
        assert problems == [
            [each.kind, each.message, str(each.span), list(each.path), each.document]
            for each in ours_problems
        ]
