"""Where two values differ, as a server compares them: quantities by amount, absent like empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paddlegen.admission._read import amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.report import FieldPath

_AMOUNTS = frozenset({"limits", "requests", "capacity", "capability", "deserved", "minResources"})


def changes(old: object, new: object, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The paths of `new` where it differs from `old`, as deep as both have the place.

    A value that was taken away is told at the place that held it.
    """
    if _empty(old) and _empty(new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = [*new, *(key for key in old if key not in new)]
        for key in keys:
            differing = list(changes(old.get(key), new.get(key), (*path, key)))
            yield from differing if key in new else ([path] if differing else [])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changes(before, after, (*path, index))
    elif not _same(old, new, path):
        yield path


def _empty(value: object) -> bool:
    # Go's zero values are left out when an object is written, so the server cannot tell them apart.
    return value is None or value is False or value in ("", 0, [], {})


def _same(old: object, new: object, path: FieldPath) -> bool:
    if old == new and isinstance(old, bool) == isinstance(new, bool):
        return True
    if _AMOUNTS.intersection(part for part in path if isinstance(part, str)):
        before, after = amount(old), amount(new)
        return before is not None and before == after
    return False
