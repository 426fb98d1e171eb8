"""The shell of the command line: what is imported when, how a run ends, help and completion."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import types
from typing import TYPE_CHECKING, Annotated

import pytest
import typer

from paddlegen import __version__
from paddlegen.cli import COMMANDS, Command, exits, options, shell
from paddlegen.errors import ExitCode, ToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

EXISTING = sorted(name for name, command in COMMANDS.items() if importlib.util.find_spec(command.module))


@pytest.fixture(autouse=True)
def _fixed_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "_PADDLEGEN_COMPLETE"):
        monkeypatch.delenv(name, raising=False)


def render(
    jobs: Annotated[list[str] | None, typer.Argument(help="Jobs, all if none is given.")] = None,
    *,
    cluster: Annotated[str, typer.Option(help="One cluster.")] = "",
    format_: options.Format = None,
) -> int:
    """Write the manifests."""
    typer.echo(f"{jobs} {cluster} {format_}")
    return ExitCode.FINDINGS if cluster == "drifted" else ExitCode.CLEAN


def raising(problem: BaseException) -> Callable[[], None]:
    def main() -> None:
        raise problem

    return main


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Command]:
    """A table of commands: one that works, and some whose modules must never be imported."""
    module = types.ModuleType("fake_render")
    module.main = render  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fake_render", module)
    return {
        "render": Command("fake_render", "Write the manifests."),
        "check": Command("no_such_module", "Check everything."),
        "new": Command("no_such_module_either", "Write a job spec."),
    }


# --- a run pays only for what it uses


def test_version_imports_nothing() -> None:
    imported = _python(
        "import sys\n"
        "before = set(sys.modules)\n"
        "from paddlegen.__main__ import main\n"
        "sys.argv = ['paddlegen', '--version']\n"
        "assert main() == 0\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    assert imported == f"paddlegen {__version__}\npaddlegen paddlegen.__main__ paddlegen._version\n"


@pytest.mark.parametrize("arguments", [["--help"], ["rendr"], []])
def test_the_root_imports_no_command_and_no_rich(arguments: list[str]) -> None:
    imported = _python(
        "import sys\n"
        "from paddlegen.cli import COMMANDS, shell\n"
        "class Anything:\n"
        "    def write(self, _): pass\n"
        "    def flush(self): pass\n"
        "    def isatty(self): return False\n"
        "real, sys.stdout, sys.stderr = sys.stdout, Anything(), Anything()\n"
        f"shell.run({arguments!r})\n"
        "heavy = {'rich', 'yaml', 'msgspec', 'jsonschema_rs', *(c.module for c in COMMANDS.values())}\n"
        "print(*sorted(heavy & set(sys.modules)), file=real)"
    )
    assert imported == "\n"


def test_running_a_command_imports_only_that_one(
    commands: Mapping[str, Command], capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(["render", "a", "b", "--cluster", "c"], commands) == 0
    assert capsys.readouterr().out == "['a', 'b'] c None\n"


# --- how a run ends


def test_what_a_command_returns_is_the_exit_code(commands: Mapping[str, Command]) -> None:
    assert shell.run(["render", "--cluster", "drifted"], commands) == 1


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (ToolError("kustomize is not there"), 2, "error: kustomize is not there\n"),
        (UsageError("--jobs is -1; give 1 or more"), 2, "error: --jobs is -1; give 1 or more\n"),
        (KeyboardInterrupt(), 130, ""),
        (typer.Abort(), 130, ""),
        (typer.Exit(1), 1, ""),
        (SystemExit(0), 0, ""),
        (BrokenPipeError(), 141, ""),
        (OSError(28, "No space left on device"), 2, "error: [Errno 28] No space left on device\n"),
    ],
)
def test_each_exception_has_its_exit_code(
    problem: BaseException,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paddlegen.cli.console.silence", lambda _: None)  # it would silence pytest
    assert exits.guarded(raising(problem)) == code
    assert capsys.readouterr() == ("", said)


def test_any_other_exception_is_a_bug_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert exits.guarded(raising(KeyError("worker"))) == ExitCode.BUG
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Traceback (most recent call last):"
    assert "KeyError: 'worker'" in said
    assert said[-1].startswith(f"error: this is a bug in paddlegen {__version__}; report it")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rendr"], "error: No such command 'rendr'. Did you mean 'render'?\nTry 'paddlegen --help'.\n"),
        (
            ["render", "--clustr", "x"],
            "error: No such option: --clustr (Possible options: --cluster)\nTry 'paddlegen render --help'.\n",
        ),
        (
            ["render", "--format", "jsn"],
            "error: --format is 'jsn'; the formats are concise, github, json, text; did you mean 'json'?\n",
        ),
    ],
)
def test_a_slip_of_the_finger_is_answered_with_what_was_meant(
    arguments: list[str], said: str, commands: Mapping[str, Command], capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(arguments, commands) == 2
    assert capsys.readouterr() == ("", said)


def test_no_command_prints_the_help_and_is_not_a_success(
    commands: Mapping[str, Command], capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run([], commands) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: paddlegen")


def test_version_is_also_an_option_among_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["--color", "never", "-V"]) == 0
    assert capsys.readouterr().out == f"paddlegen {__version__}\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
@pytest.mark.parametrize("arguments", [["--help"], ["completion", "bash"]])
def test_a_closed_pipe_ends_the_run_quietly(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "paddlegen", *arguments], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (run.returncode, run.stderr) == (exits.PIPE_CLOSED, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("arguments", [["--help"], ["completion", "bash"]])
def test_a_full_disk_is_not_a_bug(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        run = subprocess.run(
            [sys.executable, "-m", "paddlegen", *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert run.returncode == ExitCode.ERROR
    assert run.stderr.startswith(b"error: ")
    assert run.stderr.count(b"\n") == 1


# --- help


def test_the_root_help_is_its_golden_file(
    golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run(["--help"]) == 0
    golden("help/paddlegen.txt", capsys.readouterr().out)


@pytest.mark.parametrize("name", EXISTING)
def test_the_help_of_each_command_is_its_golden_file(
    name: str, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run([name, "--help"]) == 0
    golden(f"help/{name}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("name", EXISTING)
def test_a_command_says_the_same_of_itself_as_the_root_help(name: str) -> None:
    main = importlib.import_module(COMMANDS[name].module).main
    assert (main.__doc__ or "").splitlines()[0] == COMMANDS[name].help


# --- completion


@pytest.mark.parametrize("typed", ["paddlegen re", "paddlegen --color never re"])
def test_completing_re_offers_render(typed: str) -> None:
    environ = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    assert _complete("complete_bash", environ) == "render\n"
    assert "render" in _complete("complete_zsh", {"_TYPER_COMPLETE_ARGS": typed})
    fish = {"_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert _complete("complete_fish", fish).startswith("render\t")


def test_completing_an_unknown_command_offers_nothing() -> None:
    assert _complete("complete_bash", {"COMP_WORDS": "paddlegen nosuch x", "COMP_CWORD": "2"}).strip() == ""


def test_completing_imports_no_command() -> None:
    """`check` and most others need not exist for their names to be offered."""
    offered = _complete("complete_bash", {"COMP_WORDS": "paddlegen ", "COMP_CWORD": "1"}).split()
    assert offered == list(COMMANDS)


def test_a_format_is_completed_without_importing_it() -> None:
    assert options._formats_beginning_with("j") == ["json"]


def test_jobs_and_clusters_are_completed_by_the_names_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = ("jobs/ads/ctr.yaml", "jobs/b.yml", "jobs/templates/t.yaml")
    for path in (*specs, "overlays/prod/cluster.yaml", "overlays/v1/x.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    assert options.jobs_beginning_with("") == ["jobs/ads/ctr.yaml", "jobs/b.yml"]
    assert options.jobs_beginning_with("jobs/a") == ["jobs/ads/ctr.yaml"]
    assert options._clusters_beginning_with("") == ["prod"]
    assert options._clusters_beginning_with("x") == []
    (tmp_path / "jobs/.git").mkdir()
    monkeypatch.chdir(tmp_path / "jobs")
    assert options.jobs_beginning_with("") == []


@pytest.mark.parametrize("name", ["bash", "zsh", "fish", "powershell"])
def test_the_completion_script_calls_paddlegen(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run(["completion", name]) == 0
    script = capsys.readouterr().out
    assert f"complete_{name}" in script
    assert "_PADDLEGEN_COMPLETE" in script


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_show_completion_prints_the_same_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run(["completion", name])
    script = capsys.readouterr().out
    environ = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "paddlegen", "--show-completion", name],
        capture_output=True, text=True, check=True, env=environ,
    )  # fmt: skip
    assert run.stdout == script


def _complete(instruction: str, environ: dict[str, str]) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "paddlegen"],
        capture_output=True, text=True, check=True,
        env=os.environ | {"_PADDLEGEN_COMPLETE": instruction} | environ,
    )  # fmt: skip
    return run.stdout


def _python(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout
