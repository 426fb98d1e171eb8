"""Units through kustomize in shards: cut, staged, built, and each object given back to its unit."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from paddlegen import kustomize, overlay
from paddlegen.errors import WorkspaceError
from paddlegen.kustomize import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlegen.kustomize import Kustomize
    from paddlegen.model.output import ObjectRef
    from paddlegen.overlay import Base, Overlay
    from paddlegen.pipeline import Unit

SHARD = 256
"""Objects a kustomize build gets at once: the flat optimum between start-up and O(N²)."""

Texts = list[str | None]
"""What kustomize made of each object of a unit; None where an overlay deleted it."""


@dataclass(frozen=True, slots=True)
class Builder:
    """Kustomize, and what every build of the clusters' overlays is given beside the units."""

    program: Kustomize
    overlays: Mapping[str, Overlay]
    openapi: bytes

    def build(self, units: Iterator[Unit]) -> Iterator[tuple[list[Unit], list[Texts] | BuildError]]:
        """The units shard by shard, in no fixed order, with the texts of each or why the shard fails."""
        first = next(units, None)
        if first is None:
            return
        workers = os.cpu_count() or 1
        with _temporary_folder() as folder:
            shards: dict[Path, list[Unit]] = {}

            def staged() -> Iterator[Path]:
                for number, shard in enumerate(_shards(chain([first], units))):
                    top = self._stage(Path(folder, str(number)), self._used(shard), shard)
                    shards[top] = shard
                    yield top

            for directory, result in kustomize.build_all(self.program, staged(), workers):
                shard = shards.pop(directory)
                if isinstance(result, BuildError):
                    yield shard, result
                else:
                    yield shard, _assigned(shard, result) or [self._one_by_one(unit) for unit in shard]

    def complaint(self, used: Overlay, shard: Sequence[Unit]) -> str:
        """What kustomize says of a shard under an overlay; nothing if it builds."""
        with _temporary_folder() as folder:
            top = self._stage(Path(folder), used, shard)
            try:
                kustomize.build(self.program, top)
            except BuildError as error:
                return error.message.replace(f"{os.path.realpath(folder)}/", "").replace(f"{folder}/", "")
        return ""

    def _used(self, shard: Sequence[Unit]) -> Overlay:
        return self.overlays[shard[0].cluster.cluster.name]

    def _stage(self, home: Path, used: Overlay, shard: Sequence[Unit]) -> Path:
        bases = [base for unit in shard for base in unit.bases]
        _write(home, used, bases, [body for unit in shard for body in unit.bodies], self.openapi)
        return home / used.top

    def _one_by_one(self, unit: Unit) -> Texts:
        """Build each object alone: patches deleted some, and nothing tells which of those left is which."""
        used = self._used([unit])
        texts: Texts = []
        for base, body in zip(unit.bases, unit.bodies, strict=True):
            with _temporary_folder() as folder:
                _write(Path(folder), used, [base], [body], self.openapi)
                output = overlay.split(kustomize.build(self.program, Path(folder, used.top)))
            texts.append(output[0] if output else None)
        return texts


def _shards(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Units of one cluster, up to `SHARD` objects together, none of them twice: kustomize refuses that."""
    shards: dict[str, list[Unit]] = defaultdict(list)
    refs: dict[str, set[ObjectRef]] = defaultdict(set)
    for unit in units:
        cluster = unit.cluster.cluster.name
        mine = {base.ref for base in unit.bases}
        if len(refs[cluster]) + len(mine) > SHARD or not mine.isdisjoint(refs[cluster]):
            if shards[cluster]:
                yield shards.pop(cluster)
            refs[cluster] = set()
        shards[cluster].append(unit)
        refs[cluster] |= mine
    yield from filter(None, shards.values())


def _write(home: Path, used: Overlay, bases: Sequence[Base], bodies: Sequence[str], openapi: bytes) -> None:
    try:
        for path, data in used.stage(bases, "\n---\n".join(bodies), openapi):
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    except OSError as error:
        raise _no_room(error) from error


@contextmanager
def _temporary_folder() -> Iterator[str]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="paddlegen-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _no_room(error) from error
    with folder as path:
        yield path


def _no_room(error: OSError) -> WorkspaceError:
    where = os.fsdecode(error.filename) if error.filename else "the folder for temporary files"
    return WorkspaceError(
        f"{where}: {error.strerror}; let TMPDIR name a folder with room that you may write to"
    )


def _assigned(shard: Sequence[Unit], output: str) -> list[Texts] | None:
    """The objects kustomize printed, given back to the units whose base they were.

    The order is that of the bases; what lacks was deleted by a patch.  None where it is not clear
    which lacks.
    """
    rest = overlay.split(output)[::-1]
    expected = [(base.ref.kind, base.ref.name) for unit in shard for base in unit.bases]
    is_whole = len(rest) == len(expected)
    if not is_whole and len(set(expected)) < len(expected):
        return None
    result: list[Texts] = []
    for unit in shard:
        mine: Texts = []
        for base in unit.bases:
            is_there = is_whole or (rest and _head(rest[-1]) == (base.ref.kind, base.ref.name))
            mine.append(rest.pop() if is_there else None)
        result.append(mine)
    return None if rest else result


def _head(text: str) -> tuple[str, str]:
    """Kind and name, read off the text: kustomize prints keys in order, two spaces deep."""
    kind = name = ""
    in_metadata = False
    for line in text.splitlines():
        if line.startswith("kind: "):
            kind = line[6:].strip("\"'")
        elif not line.startswith((" ", "-")):
            in_metadata = line == "metadata:"
        elif in_metadata and line.startswith("  name: "):
            name = line[8:].strip("\"'")
    return kind, name
