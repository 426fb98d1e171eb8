"""The files that `init` and `new` begin with: data in this folder, and the little that is filled in.

A file says `<name>` where a value goes; a line whose value is None is left out.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

from paddlegen import published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

SCHEMAS = "schemas"
"""The folder of a repository that holds the schemas its specs name."""

_OWN_SCHEMAS = "paddlegen/schemas"
_MARK = re.compile(r"<([a-z]+)>")
_CLUSTER = "overlays/CLUSTER/"


def repository(clusters: Sequence[str]) -> dict[str, bytes]:
    """The files of a new repository with these clusters, without manifests, by their path."""
    files = schemas(SCHEMAS)
    for path, data in _files("repository"):
        if not path.startswith(_CLUSTER):
            files[path.replace("dot-", ".")] = data
            continue
        for cluster in clusters:
            text = fill(data.decode(), {"name": cluster})
            files[path.replace(_CLUSTER, f"overlays/{cluster}/")] = text.encode()
    return dict(sorted(files.items()))


def spec(kind: str, values: Mapping[str, str | None]) -> str:
    """A spec to start from; `kind` is the name of a file in `new/`."""
    return fill(_folder().joinpath("new", f"{kind}.yaml").read_text(encoding="utf-8"), values)


def fill(text: str, values: Mapping[str, str | None]) -> str:
    """The text with its marks replaced, without the lines that have nothing to say."""

    def put_in(part: str) -> str:
        return _MARK.sub(lambda mark: values[mark[1]] or "", part)

    lines = []
    for line in text.splitlines():
        if all(values[mark] is not None for mark in _MARK.findall(line)):
            # The comment stays in its column, whatever was put in before it.
            code, gap, comment = line.partition("  #")
            lines.append((put_in(code.rstrip()).ljust(len(code)) + gap + put_in(comment)).rstrip())
    return "\n".join([*lines, ""])


def schemas(folder: str) -> dict[str, bytes]:
    """The schemas as files of this folder."""
    return {
        f"{folder}/{published.file_name(name)}": published.text(name).encode() for name in published.names()
    }


def schemas_folder(root: Path) -> str:
    """Where a repository keeps its schemas: `schemas/`; in paddlegen's own repository, in the package."""
    own = root / _OWN_SCHEMAS
    return _OWN_SCHEMAS if own.is_dir() and not (root / SCHEMAS).is_dir() else SCHEMAS


def _files(top: str) -> Iterator[tuple[str, bytes]]:
    def below(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.is_dir():
                yield from below(entry, f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name, entry.read_bytes()

    return below(_folder().joinpath(top), "")


def _folder() -> Traversable:
    return resources.files(__package__)
