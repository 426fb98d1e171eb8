"""What stops paddlegen, and the exit code each kind has.

    0   nothing at or above `--fail-on`
    1   findings, drift: every fault that has a file and a line in the repository
    2   PaddlegenError: paddlegen cannot go on (usage, a missing tool, an I/O error)
    70  any other exception: a bug of paddlegen

A mistake in the user's files is never an exception that reaches the user: it is a `Finding`.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of every command."""

    CLEAN = 0
    FINDINGS = 1
    ERROR = 2
    BUG = 70


class PaddlegenError(Exception):
    """Paddlegen cannot go on; the message says what happened and what to do next."""


class UsageError(PaddlegenError):
    """The command line or `paddlegen.yaml` asks for something that does not exist."""


class ToolError(PaddlegenError):
    """A program paddlegen needs (kustomize, git) is missing or does not run."""


class WorkspaceError(PaddlegenError):
    """The repository cannot be read or written: permissions, a full disk, a lock, a symlink."""


class RegistrationError(Exception):
    """A member of a family (target, policy, report) is not what its family expects: a bug."""
