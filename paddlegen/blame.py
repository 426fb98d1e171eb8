"""Which field or patch entry of an overlay made a kustomize build fail: built again with ever more of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlegen.documents import span, walk
from paddlegen.model.report import Finding, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlegen.documents import Document
    from paddlegen.model.report import Span
    from paddlegen.overlay import Overlay, Patch
    from paddlegen.pipeline import Unit
    from paddlegen.shards import Builder


def blame(builder: Builder, used: Overlay, shard: Sequence[Unit], message: str) -> Finding:
    """The finding of a failed build, at the field or patch entry without which it would not fail."""
    bare = used.limited(0)
    if said := builder.complaint(bare, shard):
        return _field_finding(builder, bare, shard, said)
    for count in range(1, len(used.entries) + 1):
        if said := builder.complaint(used.limited(count), shard):
            return _build_finding(used, used.entries[count - 1], said)
    top = next(reversed(list(used.kustomizations)))
    return _finding(used, message, Location(top))


def _field_finding(builder: Builder, used: Overlay, shard: Sequence[Unit], said: str) -> Finding:
    """The finding of a build that fails without any patch."""
    for path, document in reversed(list(used.kustomizations.items())):
        at = _unknown_field(document, said)
        for key in document.value if isinstance(document.value, dict) else ():
            if at is None and key != "components" and not builder.complaint(used.without(path, key), shard):
                at = span(document, (key,), key=True)
        if at is not None:
            return _finding(used, said, Location(path, at))
    return _finding(used, said, Location(path))


def _unknown_field(document: Document, said: str) -> Span | None:
    """Where a kustomization has the field that kustomize says it does not know."""
    named = re.search(r'unknown field "([^"]+)"', said)
    if named is None:
        return None
    paths = (path for path, _ in walk(document.value) if path and path[-1] == named[1])
    return next((span(document, path, key=True) for path in paths), None)


def _build_finding(used: Overlay, patches: Sequence[Patch], message: str) -> Finding:
    patch = patches[0]
    document = patch.document or patch.at
    path: tuple[str | int, ...] = () if patch.document else patch.path
    at = _unknown_field(patch.at, message)
    if at is not None:
        document = patch.at
    elif isinstance(document.value, list):
        operations = [o.get("path") if isinstance(o, dict) else None for o in document.value]
        named = [
            i for i, target in enumerate(operations) if isinstance(target, str) and _mentions(message, target)
        ]
        path = (named[0], "path") if named else path
    at = at or span(document, path)
    return _finding(used, message, Location(document.path, at))


def _finding(used: Overlay, said: str, at: Location) -> Finding:
    return Finding("overlay-builds", Severity.ERROR, f"kustomize: {said}", at, cluster=used.cluster)


def _mentions(message: str, pointer: str) -> bool:
    return re.search(rf"(?<![\w/~-]){re.escape(pointer)}(?![\w/~-])", message) is not None
