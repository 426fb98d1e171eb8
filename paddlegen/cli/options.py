"""Options that several commands share, so that each is spelled, explained and checked once."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from paddlegen import reports
from paddlegen.errors import UsageError


def format_name(name: str | None) -> str | None:
    """Return the name when there is such a report format; importing one is not needed for that."""
    known = reports.formats()
    if name is None or name in known:
        return name
    close = get_close_matches(name, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    message = f"--format is {name!r}; the formats are {', '.join(known)}{meant}"
    raise UsageError(message)


def _formats_beginning_with(incomplete: str) -> list[str]:
    return [name for name in reports.formats() if name.startswith(incomplete)]


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="How to print the report: text, or github in a GitHub workflow, if not given.",
        callback=format_name,
        autocompletion=_formats_beginning_with,
    ),
]
"""`--format`; give it to `console.emit` as it is."""


def _clusters_beginning_with(incomplete: str) -> list[str]:
    """The folders of overlays/ with a profile: a shell asks at every key, so no file is read."""
    home = _home()
    folders = () if home is None else (home / "overlays").glob("*/cluster.yaml")
    return sorted(file.parent.name for file in folders if file.parent.name.startswith(incomplete))


def jobs_beginning_with(incomplete: str) -> list[str]:
    """The paths of the specs below jobs/, which name their jobs without being read."""
    home = _home()
    paths = () if home is None else (file.relative_to(home) for file in (home / "jobs").rglob("*.y*ml"))
    names = {path.as_posix() for path in paths if path.parts[1] != "templates"}
    return sorted(name for name in names if name.startswith(incomplete))


def _home() -> Path | None:
    from paddlegen.repository import find_root  # only a shell that completes pays for it

    try:
        return find_root(Path.cwd())
    except UsageError:
        return None


Root = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="DIR", help="The repository; the one around the working directory if not given."
    ),
]
"""`--root`."""

Jobs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB]...",
        help="Names of jobs, or paths of job specs; all if none is given.",
        autocompletion=jobs_beginning_with,
    ),
]
"""Jobs by name, namespace/name or path."""

Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        metavar="CLUSTER",
        help="Only this cluster; can be repeated.",
        autocompletion=_clusters_beginning_with,
    ),
]
"""`--cluster`."""

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")]
"""`--dry-run`."""

UseCache = Annotated[bool, typer.Option("--cache/--no-cache", help="Remember results in .paddlegen/cache.")]
"""`--no-cache`."""
