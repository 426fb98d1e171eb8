"""YAML text as values: kubectl's reading of every scalar, a place for every field, and faults as data.

Nothing here raises on what a file holds, and nothing reads or writes a file.
"""

from paddlegen.documents.loading import Document, decode, load, loads
from paddlegen.documents.lookup import at, embedded, embedded_all, plain_scalars, scalar_text, span, walk
from paddlegen.documents.problems import (
    LIMITS,
    MAX_BYTES,
    MAX_DEPTH,
    PARSES,
    TAGS,
    UNAMBIGUOUS,
    UNIQUE,
    Problem,
)

__all__ = [
    "LIMITS",
    "MAX_BYTES",
    "MAX_DEPTH",
    "PARSES",
    "TAGS",
    "UNAMBIGUOUS",
    "UNIQUE",
    "Document",
    "Problem",
    "at",
    "decode",
    "embedded",
    "embedded_all",
    "load",
    "loads",
    "plain_scalars",
    "scalar_text",
    "span",
    "walk",
]
