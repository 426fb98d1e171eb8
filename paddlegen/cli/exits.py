"""How a run ends: every exception becomes an exit code here, and nowhere else.

`paddlegen.errors` has the codes of results.  Two more come from the shell's custom of adding 128 to
the number of a signal: 130 when a person interrupts, 141 when the reader of a pipe has gone.
"""

from __future__ import annotations

import errno
import sys
import traceback
from typing import TYPE_CHECKING, Final

import typer

from paddlegen._version import __version__
from paddlegen.cli import console
from paddlegen.errors import ExitCode, PaddlegenError

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""Whoever was writing, and wherever: these are never a bug."""

# Typer carries its own copy of click since 0.26 and depends on the real one before: this is the
# parent of all usage errors in either.
_ClickUsageError = typer.BadParameter.__mro__[1]


def guarded(action: Callable[[], object]) -> int:
    """Run the action and return the exit code: what it returned, or what its exception stands for."""
    try:
        return _code(action)
    except BrokenPipeError:
        console.silence(sys.stdout)
        console.silence(sys.stderr)
        return PIPE_CLOSED


def _code(action: Callable[[], object]) -> int:  # noqa: PLR0911  # one table: an exception, its code
    try:
        result = action()
    except typer.Exit as done:
        return done.exit_code
    except SystemExit as done:  # typer's --install-completion and --show-completion
        return done.code if isinstance(done.code, int) else ExitCode.CLEAN
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except PaddlegenError as problem:
        console.error(str(problem))
        return ExitCode.ERROR
    except BrokenPipeError:
        raise
    except Exception as problem:  # noqa: BLE001  # here is where every run ends
        if isinstance(problem, _ClickUsageError):
            return _usage(problem)
        if isinstance(problem, OSError) and problem.errno in _DISK:
            console.silence(sys.stdout)
            console.error(str(problem))
            return ExitCode.ERROR
        console.note("".join(traceback.format_exception(problem)).rstrip())
        console.error(
            f"this is a bug in paddlegen {__version__}; "
            "report it with the lines above and what `paddlegen doctor` prints"
        )
        return ExitCode.BUG
    return result if isinstance(result, int) else ExitCode.CLEAN


def _usage(problem: Exception) -> int:
    """Say what is wrong with the command line, and which help to read."""
    message: str = getattr(problem, "format_message", problem.__str__)()
    console.error(message)
    context = getattr(problem, "ctx", None)
    console.note(f"Try '{context.command_path if context else 'paddlegen'} --help'.")
    return ExitCode.ERROR
