"""What can be wrong with a YAML text, in words for somebody who does not know the parser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import yaml

from paddlegen.documents.positions import Lines
from paddlegen.model.report import FieldPath, Span

MAX_BYTES: Final = 1024 * 1024
"""How long a file may be unless the caller says otherwise."""

MAX_DEPTH: Final = 100
"""How deep lists and mappings may nest; the C parser recurses and would end the process far deeper."""

MAX_EXPANSION: Final = 100_000
"""How many nodes aliases may add to a file (long texts count as several)."""

PARSES: Final = "yaml-parses"
UNIQUE: Final = "yaml-keys-unique"
UNAMBIGUOUS: Final = "yaml-scalars-unambiguous"
LIMITS: Final = "yaml-within-limits"
TAGS: Final = "yaml-tags-standard"

START: Final = Span(1, 1, 1, 1)
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the text itself; `kind` is the rule it breaks."""

    kind: str
    message: str
    span: Span
    path: FieldPath = ()
    document: int = 0


def too_long(size: int, limit: int) -> Problem:
    """A file of more bytes than are read."""
    return Problem(LIMITS, f"the file is {size} bytes long; at most {limit} are read", START)


def too_deep(span: Span, document: int) -> Problem:
    """A collection below MAX_DEPTH others."""
    return Problem(
        LIMITS,
        f"lists and mappings nest more than {MAX_DEPTH} deep here; at most {MAX_DEPTH} are read",
        span,
        (),
        document,
    )


def control(text: str, document: int = 0) -> Problem:
    """The first character of a text that YAML does not allow."""
    match = CONTROL.search(text)
    offset = match.start() if match else 0
    code = ord(text[offset])
    message = f"control character U+{code:04X} is not allowed in YAML; remove it"
    return Problem(PARSES, message, Lines(text).span(offset, offset + 1), (), document)


def syntax(error: yaml.YAMLError | UnicodeEncodeError, text: str, document: int) -> Problem:
    """What the parser stumbled over, in words for somebody who does not know the parser."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return control(text, document)
    mark = error.problem_mark or error.context_mark
    lines = Lines(text)
    offset = min(mark.index if mark else 0, len(text.rstrip()))
    line, _ = lines.place(offset)
    source = lines.line(line)
    blank = source[: len(source) - len(source.lstrip())]
    if "\t" in blank:
        start = offset - (lines.place(offset)[1] - 1) + blank.index("\t")
        return Problem(
            PARSES, "tab used for indentation; use spaces", lines.span(start, start + 1), (), document
        )
    said = str(error.problem or "")
    message = next(
        (words for part, words in _WORDING if part in said), said.replace("did not find expected", "expected")
    )
    if error.context and error.context_mark and error.context_mark.line + 1 != line:
        message += f" ({error.context}, begun on line {error.context_mark.line + 1})"
    message += f": {source.strip()[:_QUOTED]}"
    return Problem(PARSES, message, lines.line_span(offset), (), document)


_QUOTED: Final = 120
_WORDING: Final = (
    (
        "cannot start any token",
        "expected a value, and plain text cannot begin with this character; quote the text",
    ),
    (
        "mapping values are not allowed",
        'a key is not expected here; quote text that holds ": ", or check the indentation',
    ),
    ("could not find expected ':'", "expected ':' behind the key"),
    ("did not find expected key", "expected a key; check the indentation and the quotes"),
    ("did not find expected '-' indicator", "expected '- '; check the indentation"),
    ("did not find expected node content", "expected a value"),
    ("unexpected end of stream", "the text ends inside quotes; close them"),
    ("invalid Unicode character escape", "expected the escape of one character; write the character itself"),
    ("undefined alias", "the alias has no anchor before it"),
)
