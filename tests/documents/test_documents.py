"""What `load`, `span`, `scalar_text`, `embedded` and `walk` promise."""

from __future__ import annotations

import pytest

from paddlegen import documents
from paddlegen.documents import Document, Problem, load, loads, span
from paddlegen.model.report import FieldPath, Span


def only(text: str) -> Document:
    loaded, problems = load(text, "a.yaml")
    assert problems == []
    assert len(loaded) == 1
    return loaded[0]


def fault(text: str) -> Problem:
    problem, *more = load(text, "a.yaml")[1]
    assert more == []
    return problem


def cut(text: str, place: Span) -> str:
    """The text a span covers."""
    lines = text.split("\n")[place.line - 1 : place.end_line]
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text", ["", "\n", "# only a comment\n", "---\n", "---\n---\n", "\ufeff", "~", "null\n---\n"]
)
def test_a_text_without_values_has_no_documents_and_no_problems(text: str) -> None:
    assert load(text) == ([], [])


def test_empty_documents_are_skipped_and_counted() -> None:
    loaded, problems = load("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n", "f.yaml")
    assert problems == []
    assert [(each.index, each.value, each.path) for each in loaded] == [
        (1, {"a": 1}, "f.yaml"),
        (3, {"b": 2}, "f.yaml"),
    ]


def test_documents_before_a_syntax_error_are_returned() -> None:
    loaded, problems = load("a: 1\n---\nb: [1\n")
    assert [each.value for each in loaded] == [{"a": 1}]
    assert [(each.kind, each.document) for each in problems] == [("yaml-parses", 1)]


def test_line_breaks_of_windows_are_accepted() -> None:
    document = only("a: 1\r\nb:\r\n  - |\r\n    x\r\n    y\r\nc: 中\r\n")
    assert document.value == {"a": 1, "b": ["x\ny\n"], "c": "中"}
    assert span(document, ("c",)) == Span(6, 4, 6, 5)


def test_a_byte_order_mark_is_dropped() -> None:
    loaded, problems = loads(b"\xef\xbb\xbfa: 1\n")
    assert problems == []
    assert loaded[0].value == {"a": 1}
    assert span(loaded[0], ("a",), key=True) == Span(1, 1, 1, 2)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_by_name_or_by_its_zero_bytes(encoding: str) -> None:
    loaded, problems = loads("a: 1\n".encode(encoding))
    assert loaded == []
    assert problems[0].kind == "yaml-parses"
    assert "UTF-16" in problems[0].message or "U+0000" in problems[0].message


def test_a_byte_that_is_not_utf_8_has_a_place() -> None:
    loaded, (problem,) = loads("a: é\nb: 中".encode() + b"\xe9\n")
    assert loaded == []
    assert problem.span == Span(2, 5, 2, 6)
    assert "0xe9" in problem.message
    assert "offset 12" in problem.message


@pytest.mark.parametrize(
    "character", ["\x00", "\x07", "\x1b", "\x7f", "\x80", "\x85", "\x9f", "\ud800", "\ufffe"]
)
def test_a_control_character_is_a_problem_where_it_stands(character: str) -> None:
    problem = fault(f"a: 1\nb: 中{character}x\n")
    assert problem.kind == "yaml-parses"
    assert f"U+{ord(character):04X}" in problem.message
    assert (problem.span.line, problem.span.column) == (2, 5)


@pytest.mark.parametrize("escape", [r"\x07", r"\0", r"\e", r"\N", r"\u0085", r"\x7f"])
def test_a_control_character_written_as_an_escape_is_a_problem(escape: str) -> None:
    problem = fault(f'a:\n  b: "x{escape}"\n')
    assert (problem.kind, problem.path) == ("yaml-scalars-unambiguous", ("a", "b"))
    assert problem.span.line == 2


def test_ordinary_escapes_are_no_problem() -> None:
    assert only(r'a: "\n\t\"\\\u4e2d\U0001F600 \\/ \\x07"').value == {"a": '\n\t"\\中😀 \\/ \\x07'}


def test_an_escaped_slash_is_a_problem_because_kubectl_refuses_it() -> None:
    assert fault(r'a: "x\/y"').kind == "yaml-parses"
    assert load(r"""a: '\/'""")[1] == []


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "\ta: 1\n", "a:\n  - x\n\t- y\n", "a: b\n\tc: d\n"])
def test_a_tab_in_the_indentation_is_called_by_its_name(text: str) -> None:
    problem = fault(text)
    assert problem.message == "tab used for indentation; use spaces"
    assert cut(text, problem.span) == "\t"


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("a: [1,\nb: 2\n", "begun on line 1", 2),
        ("a: b: c\n", 'quote text that holds ": "', 1),
        ("a: @x\n", "plain text cannot begin with this character", 1),
        ("a: 'x\n", "a: 'x", 1),
        ("a: 1\n b: 2\n", "b: 2", 2),
        ("a: *x\n", "the alias has no anchor", 1),
        ("a: 1\nb\n", "expected ':'", 2),
    ],
)
def test_a_syntax_error_says_what_was_expected_and_shows_the_line(text: str, words: str, line: int) -> None:
    problem = fault(text)
    assert problem.kind == "yaml-parses"
    assert words in problem.message
    assert problem.span.line == line


def test_the_second_of_two_equal_keys_names_the_line_of_the_first() -> None:
    text = "a:\n  b: 1\n  c: 2\n  'b': 3\n"
    loaded, (problem,) = load(text)
    assert loaded[0].value == {"a": {"b": 3, "c": 2}}
    assert (problem.kind, problem.path) == ("yaml-keys-unique", ("a", "b"))
    assert "line 2" in problem.message
    assert cut(text, problem.span) == "'b'"
    assert span(loaded[0], ("a", "b")) == Span(4, 8, 4, 9)


@pytest.mark.parametrize("word", ["y", "N", "yes", "No", "on", "OFF"])
def test_a_switch_word_is_kubectls_boolean_and_a_problem(word: str) -> None:
    text = f"a:\n  - b: x\n    c: {word}\n"
    loaded, (problem,) = load(text)
    assert loaded[0].value == {"a": [{"b": "x", "c": word.lower() in {"y", "yes", "on"}}]}
    assert (problem.kind, problem.path) == ("yaml-scalars-unambiguous", ("a", 0, "c"))
    assert cut(text, problem.span) == word
    assert f'write {str(loaded[0].value["a"][0]["c"]).lower()} or "{word}"' in problem.message


def test_quoted_words_and_times_are_no_problem() -> None:
    assert only("a: 'on'\nb: \"2024-01-02\"\nc: !!str off\nd: |-\n  yes\n").value == {
        "a": "on",
        "b": "2024-01-02",
        "c": "off",
        "d": "yes",
    }


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-02",
        "2001-1-1",
        "2024-01-02 03:04:05",
        "2001-12-14t21:59:43.10-05:00",
        ".inf",
        "-.INF",
        ".nan",
    ],
)
def test_times_that_kustomize_rewrites_and_numbers_without_json_are_strings_and_problems(text: str) -> None:
    loaded, (problem,) = load(f"a: {text}\n")
    assert loaded[0].value == {"a": text}
    assert problem.kind == "yaml-scalars-unambiguous"


@pytest.mark.parametrize(
    "text",
    ["2024-13-01", "2024-01-02T03:04:05Z", "10.0.0.1", "8Gi", "12:30", "1.2.3", "-x", "on-call", "..", "v1"],
)
def test_ordinary_text_is_no_problem(text: str) -> None:
    assert only(f"a: {text}\n").value == {"a": text}


@pytest.mark.parametrize(
    ("key", "name"),
    [("1", "1"), ("true", "true"), ("on", "true"), ("0x1F", "31"), ("1e3", "1000"), ("1.50", "1.5")],
)
def test_a_key_that_is_no_string_becomes_kubectls_string_and_a_problem(key: str, name: str) -> None:
    loaded, (problem,) = load(f"a:\n  {key}: x\n")
    assert loaded[0].value == {"a": {name: "x"}}
    assert (problem.kind, problem.path) == ("yaml-scalars-unambiguous", ("a", name))
    assert span(loaded[0], ("a", name)).line == 2


@pytest.mark.parametrize("text", ["a: {{ x }}\n", "? [a]\n: b\n", "? {a: b}\n: c\n"])
def test_a_key_that_is_a_collection_is_a_problem(text: str) -> None:
    assert fault(text).kind == "yaml-parses"


@pytest.mark.parametrize(
    "text", ["a: !x b\n", "a: !!set {b: null}\n", "!x a: b\n", "a: !x [b]\n", "a: !!int x\n", "a: !!bool 1\n"]
)
def test_a_tag_that_kubectl_drops_or_refuses_is_a_problem(text: str) -> None:
    assert fault(text).kind == "yaml-tags-standard"


def test_core_tags_are_honoured() -> None:
    text = (
        "a: !!str 1\nb: !!int '5'\nc: !!float 1\nd: !!null ''\n"
        "e: !!bool true\nf: !!map {}\ng: !!seq []\nh: !!binary aGk=\n"
    )
    assert only(text).value == {"a": "1", "b": 5, "c": 1, "d": None, "e": True, "f": {}, "g": [], "h": "hi"}


def test_aliases_are_copied_and_merges_are_honoured() -> None:
    document = only("x: &x {a: 1, b: 2}\nv: *x\nz:\n  <<: *x\n  b: 3\nw:\n  <<: [{a: 1}, {a: 2, c: 3}]\n")
    assert document.value == {
        "x": {"a": 1, "b": 2},
        "v": {"a": 1, "b": 2},
        "z": {"a": 1, "b": 3},
        "w": {"a": 1, "c": 3},
    }
    assert document.value["x"] is not document.value["v"]
    assert span(document, ("z", "a")) == Span(1, 11, 1, 12)
    assert span(document, ("z", "b")) == Span(5, 6, 5, 7)
    assert span(document, ("w", "a")) == Span(7, 12, 7, 13)


def test_a_merge_below_a_key_it_overwrites_is_a_problem() -> None:
    loaded, (problem,) = load("a: 1\n<<: {a: 2}\n")
    assert loaded[0].value == {"a": 2}
    assert problem.kind == "yaml-keys-unique"


def test_an_empty_value_in_a_flow_mapping_is_a_problem() -> None:
    assert fault("a: {b}\n").kind == "yaml-scalars-unambiguous"
    assert only("a: {b: null}\nc:\n").value == {"a": {"b": None}, "c": None}


MANIFEST = """\
# head
kind: PaddleJob   # tail
spec:
  worker:
    replicas: 0777
    command: [sh, "-c"]   # list
    env:
    - name: 中文😀
      value: "on"
    -   name: b
        value:
  # a comment
  script: |
    set -eu

    run
  # end

other: {a: 1}
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("kind",), "PaddleJob", "kind"),
        (("spec", "worker", "replicas"), "0777", "replicas"),
        (("spec", "worker", "command"), '[sh, "-c"]', "command"),
        (("spec", "worker", "command", 1), '"-c"', '"-c"'),
        (("spec", "worker", "env", 0, "name"), "中文😀", "name"),
        (("spec", "worker", "env", 0, "value"), '"on"', "value"),
        (("spec", "worker", "env", 1), "name: b\n        value", "name"),
        (("spec", "worker", "env", 1, "value"), "value", "value"),
        (("spec", "script"), "|\n    set -eu\n\n    run", "script"),
        (("other",), "{a: 1}", "other"),
        (("spec", "worker", "env", 0, "valueFrom"), "name", "name"),
        (("spec", "worker", "missing"), "worker", "worker"),
        (("spec", "worker", "env", 7), "env", "env"),
        (("nothing", 3, "at", "all"), "kind", "kind"),
        ((), MANIFEST[MANIFEST.index("kind") :].rstrip(), "kind"),
    ],
)
def test_a_path_has_the_span_of_its_value_and_of_its_key(path: FieldPath, value: str, key: str) -> None:
    document = only(MANIFEST)
    assert cut(MANIFEST, span(document, path)) == value
    assert cut(MANIFEST, span(document, path, key=True)) == key


def test_a_later_document_of_a_file_has_its_own_places() -> None:
    loaded, _ = load("a: 1\n---\n---\na: 2\n")
    assert [span(each, ("a",)).line for each in loaded] == [1, 4]


def test_a_separator_that_only_yaml_counts_as_a_line_does_not_move_the_lines() -> None:
    assert span(only("a: 'x\u2028y'\nb: 1\n"), ("b",)) == Span(2, 4, 2, 5)


def test_a_plain_scalar_is_told_as_it_is_written() -> None:
    document = only("a: 0777\nb: 'x'\nc: 1e3\nd: [1]\n")
    paths = [("a",), ("b",), ("c",), ("d",), ("e",), ("d", 0)]
    assert [documents.scalar_text(document, path) for path in paths] == ["0777", None, "1e3", None, None, "1"]


KUSTOMIZATION = """\
patches:
- target: {kind: PaddleJob}
  patch: |-
    # the first
    spec:

      worker:
        replicas: 中文
---
literal: |2

   spec:
     a: 1
folded: >
  spec: {a: 1,
  b: 2}

  # end
quoted: "spec: {a: 1}"
nested: |
  outer: |
    inner: x
broken: |
  spec:
    a: [1
several: |
  a: 1
  ---
  b: 2
number: 1
"""


def test_embedded_yaml_has_the_lines_of_the_file_around_it() -> None:
    first, second = load(KUSTOMIZATION, "k.yaml")[0]

    def place(document: Document, path: FieldPath, field: FieldPath) -> str:
        inner = documents.embedded(document, path)
        assert inner is not None
        assert inner.path == "k.yaml"
        return cut(KUSTOMIZATION, span(inner, field))

    patch = documents.embedded(first, ("patches", 0, "patch"))
    assert patch is not None
    assert patch.value == {"spec": {"worker": {"replicas": "中文"}}}
    assert span(patch, ("spec", "worker", "replicas")) == Span(8, 19, 8, 21)
    assert place(first, ("patches", 0, "patch"), ("spec", "worker", "x")) == "worker"
    assert place(second, ("literal",), ("spec", "a")) == "1"
    assert place(second, ("folded",), ("spec", "b")) == "2"
    assert place(second, ("quoted",), ("spec", "a")) == '"spec: {a: 1}"'
    nested = documents.embedded(second, ("nested",))
    assert nested is not None
    assert place(nested, ("outer",), ("inner",)) == "x"
    assert documents.embedded(second, ("number",)) is None
    assert documents.embedded(second, ("missing",)) is None


def test_problems_of_embedded_yaml_point_into_the_file_around_it() -> None:
    second = load(KUSTOMIZATION, "k.yaml")[0][1]
    loaded, (problem,) = documents.embedded_all(second, ("broken",))
    assert loaded == []
    assert KUSTOMIZATION.split("\n")[problem.span.line - 1].strip() == "a: [1"
    assert [each.value for each in documents.embedded_all(second, ("several",))[0]] == [{"a": 1}, {"b": 2}]


def test_walking_goes_outside_in_and_in_order() -> None:
    value = {"a": [1, {"b": None}], "c": "x"}
    assert list(documents.walk(value)) == [
        ((), value),
        (("a",), value["a"]),
        (("a", 0), 1),
        (("a", 1), {"b": None}),
        (("a", 1, "b"), None),
        (("c",), "x"),
    ]


def test_walking_something_that_holds_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert len(list(documents.walk(loop))) < 1000


def test_a_file_may_be_as_long_as_the_limit_and_no_longer() -> None:
    text = "a: 中\n"
    size = len(text.encode())
    assert load(text, max_bytes=size)[1] == []
    assert [each.kind for each in load(text, max_bytes=size - 1)[1]] == ["yaml-within-limits"]
    assert [each.kind for each in loads(text.encode(), max_bytes=size - 1)[1]] == ["yaml-within-limits"]
    assert load("- x\n" * 300_000, max_bytes=None)[1] == []
