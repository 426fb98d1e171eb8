"""Where the committed manifests are not what the specs render to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlegen.model.report import Finding, Location, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from paddlegen.rendering import Rendered

RENDER = "Run `paddlegen render` and commit the result."

_LISTED = 3
"""How many files a message names."""


def compare(
    top: str,
    files: Mapping[str, Rendered],
    on_disk: Mapping[str, tuple[str, bool]],
    read: Callable[[str], str | None],
    *,
    whole: bool,
) -> Iterator[Finding]:
    """Findings for files that are missing, differ, or have no spec any more.

    `on_disk` gives digest and ownership by path below `top`; `read` the text of such a path.  With
    `whole` False only a part was rendered, and nothing can be called left over.
    """
    missing: dict[str, list[str]] = {}
    for path, rendered in files.items():
        here = f"{top}/{path}"
        spec = (Location(rendered.source, note="the spec it comes from"),)
        if path not in on_disk:
            missing.setdefault(rendered.source, []).append(here)
        elif not on_disk[path][0]:
            message = "this is no regular file, and a manifest belongs here; move it away"
            yield Finding("manifest-current", Severity.ERROR, message, Location(here), spec)
        elif not on_disk[path][1]:
            message = "this file was not rendered by paddlegen, and a manifest belongs here; move it away"
            first = (read(path) or "").partition("\n")[0]
            yield Finding("manifest-current", Severity.ERROR, message, Location(here, _line(1, first)), spec)
        elif on_disk[path][0] != rendered.digest:
            yield _difference(here, read(path), rendered, spec)
    for source, paths in missing.items():
        verb = "is" if len(paths) == 1 else "are"
        message = f"this spec renders {_listed(sorted(paths))}, which {verb} not there"
        yield Finding("manifest-current", Severity.ERROR, message, Location(source), remediation=RENDER)
    if not whole:
        return
    for path, (_, owned) in on_disk.items():
        if owned and path not in files:
            message = "no spec renders this file any more"
            yield Finding(
                "manifest-has-spec",
                Severity.ERROR,
                message,
                Location(f"{top}/{path}", _line(1, "#")),
                remediation=RENDER,
            )


def _difference(here: str, actual: str | None, rendered: Rendered, spec: tuple[Location, ...]) -> Finding:
    """The finding of a file that differs, at its first line that does."""
    message = "this file is not what its spec renders"
    if actual is None or rendered.text is None:
        return Finding("manifest-current", Severity.ERROR, message, Location(here), spec, RENDER)
    have, want = actual.split("\n"), rendered.text.split("\n")
    number = next(
        (i for i, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want))
    )
    there = have[number].strip() if number < len(have) else ""
    wish = want[number].strip() if number < len(want) else ""
    if there == wish:
        message += ": white space or a line end differs"
    elif wish and there:
        message += f": it says {_short(there)}, and the spec renders {_short(wish)}"
    elif wish:
        message += f": {_short(wish)} is missing here"
    else:
        message += f": {_short(there)} should not be here"
    number = min(number, len(have) - 1)
    remediation = f"Edit the spec if this was meant, then run `paddlegen render`: it overwrites {here}."
    return Finding(
        "manifest-current",
        Severity.ERROR,
        message,
        Location(here, _line(number + 1, have[number])),
        spec,
        remediation,
    )


def _listed(paths: list[str]) -> str:
    shown = (
        paths if len(paths) <= _LISTED else [*paths[: _LISTED - 1], f"{len(paths) - _LISTED + 1} other files"]
    )
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _line(number: int, text: str) -> Span:
    start = len(text) - len(text.lstrip()) + 1
    return Span(number, start, number, max(len(text.rstrip()) + 1, start + 1))


def _short(text: str) -> str:
    return f"`{text}`" if len(text) <= 80 else f"`{text[:77]}...`"  # noqa: PLR2004  # a line of a terminal
