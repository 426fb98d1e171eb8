"""`paddlegen schema`: the JSON Schemas that let an editor complete and check specs.

They belong into `schemas/` of the repository, beside `jobs/`, committed: a spec's first line names its
schema by a relative path, which works offline, in every checkout, and the same for everybody.
`.paddlegen/` would not do, as Git ignores it.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from paddlegen import published, repository, scaffold
from paddlegen.cli import console, options
from paddlegen.cli.table import table
from paddlegen.errors import ExitCode, UsageError, WorkspaceError


def _known(name: str | None) -> str | None:
    known = published.names()
    if name is None or name in known:
        return name
    close = get_close_matches(name, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    message = f"NAME is {name!r}; the schemas are {', '.join(known)}{meant}"
    raise UsageError(message)


def _names_beginning_with(incomplete: str) -> list[str]:
    return [name for name in published.names() if name.startswith(incomplete)]


def main(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The schema to print: job, template, storage, cluster or config; without it, their names.",
            callback=_known,
            autocompletion=_names_beginning_with,
        ),
    ] = None,
    write: Annotated[  # noqa: FBT002  # typer's signature
        bool, typer.Option("--write", help="Write all of them to schemas/ of the repository instead.")
    ] = False,
    root: options.Root = None,
) -> int:
    """Print a JSON Schema for editors.

    A spec whose first line is `# yaml-language-server: $schema=../schemas/job.v1.json` is completed and
    checked while you type; init and new write that line. After an upgrade of paddlegen, --write brings
    the files up to date.
    """
    if write:
        if name is not None:
            message = f"--write writes every schema; leave {name} out"
            raise UsageError(message)
        _write(repository.find_root(Path.cwd(), root))
    elif name is None:
        console.out(table(("", ""), [(known, published.about(known)) for known in published.names()]))
    else:
        console.out(published.text(name))
    return ExitCode.CLEAN


def _write(root: Path) -> None:
    folder = scaffold.schemas_folder(root)
    try:
        for path, data in scaffold.schemas(folder).items():
            file = root / path
            if file.is_file() and file.read_bytes() == data:
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            console.out(f"{path}\n")
    except OSError as problem:
        message = f"{folder} cannot be written: {problem.strerror}"
        raise WorkspaceError(message) from problem
    console.note(f"{folder}/ has the schemas of this paddlegen")
