"""`paddlegen completion`: the script that lets a shell complete paddlegen's commands and options."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from paddlegen.cli import COMPLETE_VARIABLE, NAME, console


class Shell(str, Enum):
    """The shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def main(shell: Annotated[Shell, typer.Argument(help="The shell that will read it.")]) -> None:
    """Print the completion script of a shell.

    For bash: paddlegen completion bash > ~/.local/share/bash-completion/completions/paddlegen
    """
    # typer has no public name for it; this one has been here since 0.9.
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    script = get_completion_script(prog_name=NAME, complete_var=COMPLETE_VARIABLE, shell=shell.value)
    console.out(f"{script}\n")
