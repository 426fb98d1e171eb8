"""`paddlegen` itself: reads the options before the command, then imports and runs that one command."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Annotated, cast

import typer
from typer.core import TyperCommand, TyperGroup

from paddlegen._version import __version__
from paddlegen.cli import COMMANDS, COMPLETE_VARIABLE, NAME, console, exits
from paddlegen.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlegen.cli import Command

_WIDTH = 100
_EXIT_CODES = (
    "Exit codes: 0 clean; 1 findings at or above --fail-on; 2 paddlegen cannot go on; 70 a bug in paddlegen."
)


def run(argv: list[str], commands: Mapping[str, Command] = COMMANDS) -> int:
    """Run one command line and return its exit code."""
    return exits.guarded(lambda: _run(argv, commands))


def _run(argv: list[str], commands: Mapping[str, Command]) -> object:
    group = _group(commands)
    if os.environ.get(COMPLETE_VARIABLE):
        # The shell asks for completions: typer answers, and leaves with SystemExit.
        return group.main(argv, prog_name=NAME, standalone_mode=False)
    # Not group.main(): it would turn a closed pipe into exit code 1, which here means findings.
    with group.make_context(NAME, argv, resilient_parsing=not argv) as context:
        if argv:
            return group.invoke(context)
        # A script whose command is an empty variable must not look as if it had succeeded.
        console.note(context.get_help())
        return ExitCode.ERROR


def _group(commands: Mapping[str, Command]) -> TyperGroup:
    """The root command, whose sub-commands are names and help lines until one is run."""

    class Lazy(TyperGroup):
        def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            # Help, suggestions and completion read `self.commands`; only running one comes here.
            name, stub, rest = super().resolve_command(ctx, args)
            # No name and no stub: a shell completes a command that does not exist.
            return name, stub and _load(name or "", commands[name or ""]), rest

    app = typer.Typer(
        name=NAME,
        cls=Lazy,
        add_completion=True,
        # rich is more than half of the time of --help.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH},
        epilog=_EXIT_CODES,
    )
    app.callback()(_root)
    group = cast("TyperGroup", typer.main.get_command(app))
    for name, command in commands.items():
        group.add_command(TyperCommand(name, help=command.help, rich_markup_mode=None), name)
    return group


def _load(name: str, command: Command) -> TyperCommand:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name)(importlib.import_module(command.module).main)
    return cast("TyperCommand", typer.main.get_command(app))


def _version(wanted: bool) -> None:  # noqa: FBT001  # typer's signature
    if wanted:
        console.out(f"{NAME} {__version__}\n")
        raise typer.Exit(ExitCode.CLEAN)


def _root(
    color: Annotated[console.Colour, typer.Option(help="Colour the output.")] = console.Colour.AUTO,
    _: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version.", callback=_version, is_eager=True),
    ] = False,  # typer's signature
) -> None:
    """Compile PaddlePaddle job specs in Git into the manifests each cluster needs, and prove them."""
    console.colour.set(color)
