"""What paddlegen says: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from contextvars import ContextVar
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Self, TextIO

from paddlegen.errors import WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from paddlegen.model.report import Report

    Sources = Callable[[str], list[str] | None]


class Colour(str, Enum):
    """What `--color` may be."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


colour: ContextVar[Colour] = ContextVar("colour", default=Colour.AUTO)
"""The choice made with `--color`."""

_RED, _OFF = "\x1b[1;31m", "\x1b[0m"

# The line breaks of YAML 1.1, which number the lines of a finding; `str.splitlines` knows more of them.
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")


def emit(report: Report, format_name: str | None, sources: Sources) -> None:
    """Print a report on standard output; a format of None is chosen by where the output goes."""
    from paddlegen import reports  # not every command has a report

    chosen = reports.load(format_name or default_format(sys.stdout, os.environ))
    render = chosen.render
    if chosen.render_coloured and coloured(sys.stdout, os.environ, colour.get()):
        render = chosen.render_coloured
    out(render(report, sources))


def out(text: str) -> None:
    """Print a result on standard output, as it is."""
    _write(sys.stdout, text)


def note(text: str) -> None:
    """Say one line that is not a result."""
    _write(sys.stderr, f"{text}\n")


def error(text: str) -> None:
    """Say why paddlegen cannot go on."""
    red = coloured(sys.stderr, os.environ, colour.get())
    note(f"{_RED}error{_OFF}: {text}" if red else f"error: {text}")


def default_format(stdout: TextIO, environ: Mapping[str, str]) -> str:
    """The format nobody asked for: annotations in a GitHub workflow, text everywhere else."""
    in_workflow = environ.get("GITHUB_ACTIONS") == "true" and not stdout.isatty()
    return "github" if in_workflow else "text"


def coloured(stream: TextIO, environ: Mapping[str, str], choice: Colour) -> bool:
    """Whether to colour: what was typed, then NO_COLOR, then FORCE_COLOR, then a capable terminal."""
    if choice is not Colour.AUTO:
        return choice is Colour.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return environ.get("TERM") != "dumb" and stream.isatty()


def sources(root: Path, given: Mapping[str, str] | None = None) -> Sources:
    """Return the reader of quoted lines: a file below `root`, read when first asked for.

    None stands for a file that cannot be read or lies outside the root, also by way of a symlink.
    `given` holds texts that are not files, such as standard input under `-`.
    """
    home = root.resolve()
    texts = dict(given or {})

    @cache
    def lines(path: str) -> list[str] | None:
        text = texts[path] if path in texts else _read(home, path)
        return None if text is None else _LINE_BREAK.split(text)

    return lines


def _read(home: Path, path: str) -> str | None:
    try:
        file = (home / path).resolve()
        if not file.is_relative_to(home) or not file.is_file():
            return None
        return file.read_bytes().decode("utf-8-sig", errors="replace")
    except (OSError, ValueError, RuntimeError):  # a NUL in the path; a loop of symlinks before 3.13
        return None


def _write(stream: TextIO, text: str) -> None:
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:  # a terminal of another encoding; JSON reads \uXXXX as what it was
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        silence(stream)
        name = "standard output" if stream is sys.stdout else "standard error"
        message = f"{name} cannot be written: {problem.strerror}"
        raise WorkspaceError(message) from problem


def silence(stream: TextIO) -> None:
    """Lead a stream that cannot be written to nowhere.

    Python flushes it once more at the end, and would add its own complaint and exit code to ours.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class Progress:
    """One line on standard error that tells how far a long run is, and is gone at its end.

    It appears only on a terminal, not in CI, and only when the work takes longer than half a second:

        with Progress("Rendering") as progress:
            for done, job in enumerate(jobs):
                progress.update(done, len(jobs))
    """

    _AFTER = 0.5
    _EVERY = 0.1

    def __init__(
        self,
        label: str,
        *,
        stream: TextIO | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        environ = os.environ if environ is None else environ
        in_ci = environ.get("CI", "").lower() not in {"", "0", "false"}
        self._wanted = not in_ci and environ.get("TERM") != "dumb" and self._stream.isatty()
        self._clock = clock
        self._next = clock() + self._AFTER
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        if self._shown:
            self._shown = False
            _write(self._stream, "\r\x1b[K")

    def update(self, done: int, total: int) -> None:
        """Tell that `done` of `total` are finished; cheap enough to be called for each."""
        if not self._wanted or (now := self._clock()) < self._next:
            return
        self._next = now + self._EVERY
        self._shown = True
        # A line as wide as the terminal would wrap, and the next one could not overwrite it.
        width = shutil.get_terminal_size().columns - 1
        _write(self._stream, "\r" + f"{self._label} {done}/{total}"[:width] + "\x1b[K")
