"""Where a field belongs that nobody reads where it stands: another version, another name, another depth."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from paddlegen.schema.table import shown
from paddlegen.schema.types import Anything, Enumeration, ListOf, MapOf, Ref, Scalar, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlegen.model.report import FieldPath
    from paddlegen.schema.table import Version
    from paddlegen.schema.view import View

Trail = tuple[tuple["FieldPath", str], ...]
"""The objects around a field, outermost first: where each is and which type it has."""

_SYNONYMS: Final = {"minAvailable": "minMember", "minMember": "minAvailable"}
"""What a Volcano Job and its PodGroup call the same thing."""

_SURE: Final = 0.85
_LIKELY: Final = 0.65
_DEEPEST: Final = 5
_MOST_NAMED: Final = 3
_SHORT_LIST: Final = 8


def newer_or_older(seen: View, owner: str, name: str) -> str:
    """What to say of a field that another version has; nothing where no version has it."""
    stretches = seen.history(owner).get(name, ())
    if not stretches:
        return ""
    version = seen.version_of(owner)
    later = [since for since in map(seen.since, stretches) if since is not None and since > version]
    system = seen.custom.operator if seen.custom and version == seen.release else "Kubernetes"
    has = _has(seen, system, version)
    if later:
        return f"{name} came with {system} {shown(min(later))}; {has}"
    last = max((s.lifetime.until for s in stretches if s.lifetime.until is not None), default=version)
    return f"{name} was last known to {system} {shown(last)}; {has}"


def _has(seen: View, system: str, version: Version) -> str:
    if system == "Kubernetes":
        if seen.custom and seen.pods < seen.profile.tabled:
            operator, release = seen.custom.operator, seen.profile.release(seen.custom.operator)
            which = f" {shown(release)}" if release < (100,) else ""
            return f"the CRD of {operator}{which} has pods of Kubernetes {shown(seen.pods)}"
        return f"this cluster has {shown(seen.profile.kubernetes)}"
    if seen.custom and version != seen.profile.release(system):
        return f"the {seen.profile.crd} CRD stopped at {shown(version)}"
    return f"this cluster has {shown(version)}"


def advice(seen: View, body: Any, trail: Trail, name: str, value: Any) -> str:
    """`; did you mean ...?`, `; it belongs at ...`, the fields there are where they are few, or nothing."""
    known = list(seen.fields(trail[-1][1]))
    if (synonym := _SYNONYMS.get(name)) in known:
        return f"; did you mean {synonym}?"
    if spelt := nearest(name, known, _SURE):
        return f"; did you mean {spelt}?"
    if places := elsewhere(seen, body, trail, name, value):
        return f"; it belongs at {' and '.join(places)}"
    if spelt := nearest(name, known, _LIKELY):
        return f"; did you mean {spelt}?"
    return f"; it has {', '.join(known)}" if 0 < len(known) <= _SHORT_LIST else ""


def nearest(word: str, known: list[str], cutoff: float) -> str | None:
    """The known word that is spelt most alike, whatever its capitals, hyphens and underscores."""
    plain = {_plain(one): one for one in reversed(known)}
    close = get_close_matches(_plain(word), plain, n=1, cutoff=cutoff)
    return plain[close[0]] if close else None


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")


def elsewhere(seen: View, body: Any, trail: Trail, name: str, value: Any) -> list[str]:
    """The nearest places where a field of this name takes a value of this shape, from the inside out."""
    for path, owner in reversed(trail):
        inside = _at(body, path)
        level: list[tuple[FieldPath, str, Any]] = [(path, owner, inside)]
        for _ in range(_DEEPEST):
            hits = [(place, there) for place, kind, there in level if _takes(seen, kind, name, value)]
            if hits:
                return [dotted((*place, name)) for place in _likely(hits)]
            level = [deeper for one in level for deeper in _children(seen, *one)]
    return []


def _likely(hits: list[tuple[FieldPath, Any]]) -> list[FieldPath]:
    """The places that the text has; else the first container, else the only place there is."""
    if used := [place for place, there in hits if there is not None]:
        return used[:_MOST_NAMED]
    places = [place for place, _ in hits]
    containers = [place for place in places if place[-2:] == ("containers", 0)]
    return (containers or places)[:1] if containers or len(places) == 1 else []


def _takes(seen: View, owner: str, name: str, value: Any) -> bool:
    field = seen.fields(owner).get(name)
    return field is not None and _fits(field.type, value)


def _fits(kind: Type, value: Any) -> bool:
    match kind:
        case ListOf():
            return isinstance(value, list)
        case MapOf() | Ref():
            return isinstance(value, dict)
        case Enumeration():
            return isinstance(value, str)
        case Scalar(leaf):
            return _json_type(value) in leaf.types or (isinstance(value, int) and "number" in leaf.types)
        case Anything():
            return False


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "integer", float: "number"}.get(type(value), "")


def _children(seen: View, path: FieldPath, owner: str, inside: Any) -> Iterator[tuple[FieldPath, str, Any]]:
    """The objects one step further in; those that the text has carry their value, the others None."""
    for name, field in seen.fields(owner).items():
        if name == "status":
            continue
        there = inside.get(name) if isinstance(inside, dict) else None
        match field.type:
            case Ref(inner):
                yield (*path, name), inner, there
            case ListOf(Ref(inner)):
                first = there[0] if isinstance(there, list) and there else None
                yield (*path, name, 0), inner, first
            case MapOf(Ref(inner)) if isinstance(there, dict):
                for key, item in there.items():
                    yield (*path, name, key), inner, item


def _at(body: Any, path: FieldPath) -> Any:
    for part in path:
        body = body[part]
    return body


def dotted(path: FieldPath) -> str:
    """A path as people write it: `spec.containers[0].image`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif "." in part or "/" in part:
            text += f'["{part}"]'
        else:
            text += f".{part}" if text else part
    return text
