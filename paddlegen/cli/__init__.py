"""The commands people type: each is the function `main` of a module that is imported when it is run."""

from __future__ import annotations

from typing import NamedTuple

NAME = "paddlegen"
COMPLETE_VARIABLE = "_PADDLEGEN_COMPLETE"
"""Set by the shell when it asks for completions; typer derives it from the name."""


class Command(NamedTuple):
    """Where a command lives, and the line `paddlegen --help` has for it."""

    module: str
    help: str


COMMANDS = {
    "init": Command("paddlegen.cli.init", "Write a GitOps repository that passes check."),
    "new": Command("paddlegen.cli.new", "Write a job spec to start from."),
    "render": Command("paddlegen.cli.render", "Write the manifests of every job and cluster."),
    "check": Command("paddlegen.cli.check", "Check specs, manifests, schemas and policies."),
    "platform": Command(
        "paddlegen.cli.platform", "Write the CRDs, operator and namespaces of every cluster."
    ),
    "list": Command("paddlegen.cli.list", "List jobs, clusters, targets, policies and formats."),
    "schema": Command("paddlegen.cli.schema", "Print a JSON Schema for editors."),
    "doctor": Command("paddlegen.cli.doctor", "Say whether this machine is ready."),
    "completion": Command("paddlegen.cli.completion", "Print the completion script of a shell."),
}
