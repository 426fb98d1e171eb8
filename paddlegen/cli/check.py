"""`paddlegen check`: everything CI needs to know about the repository."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from paddlegen import drift
from paddlegen.cli import console, options, session, strangers
from paddlegen.errors import ExitCode, UsageError
from paddlegen.model.report import Report, Severity, report
from paddlegen.rendering import Selection
from paddlegen.repository import MANIFESTS


class FailOn(str, Enum):
    """From which severity on findings fail the run."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


def main(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOB|PATH]...",
            help="Names of jobs or paths of job specs, all if none is given; "
            "or files and folders of any manifests, - for standard input.",
            autocompletion=options.jobs_beginning_with,
        ),
    ] = None,
    cluster: options.Clusters = None,
    root: options.Root = None,
    format_: options.Format = None,
    fail_on: Annotated[FailOn, typer.Option(help="The least severity that fails the check.")] = FailOn.ERROR,
    strict: Annotated[
        bool, typer.Option("--strict", help="A kind without schema is an error, not a warning.")
    ] = False,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV", help="A git revision: tell what servers would refuse about the change from there."
        ),
    ] = None,
    cache: options.UseCache = True,
) -> int:
    """Check specs, manifests, schemas and policies.

    Specs, templates and cluster profiles are read strictly, rendered in memory, checked against the
    schemas, admission rules and policies of their clusters, and compared with what is committed below
    manifests/.  Any other manifests are checked as they are, for --cluster or a current cluster.
    """
    given = paths or []
    opened = _opened(root, needed=not given)
    home = opened.root if opened else None
    strange = [path for path in given if strangers.is_foreign(path, home)]
    if strange and len(strange) < len(given):
        names = ", ".join(path for path in given if path not in strange)
        message = f"{names} is a job and {strange[0]} is a manifest; check them one after the other"
        raise UsageError(message)
    if strange:
        profiles = strangers.profiles(cluster or (), opened)
        summary, texts = strangers.check(strange, profiles, opened, strict=strict)
        console.emit(summary, format_, console.sources(Path.cwd(), texts))
    else:
        opened = opened or session.open_session(root)
        selection = Selection(frozenset(cluster or ()), frozenset(given))
        summary = _check(opened, selection, format_, base=base, use_cache=cache)
    threshold = None if fail_on is FailOn.NEVER else Severity(fail_on.value)
    return ExitCode.FINDINGS if summary.fails_at(threshold) else ExitCode.CLEAN


def _opened(root: Path | None, *, needed: bool) -> session.Session | None:
    """The repository; manifests can be checked without one."""
    try:
        return session.open_session(root)
    except UsageError:
        if needed or root is not None:
            raise
        return None


def _check(
    opened: session.Session, selection: Selection, format_: str | None, *, base: str | None, use_cache: bool
) -> Report:
    disk = session.on_disk(opened)
    result = session.render(opened, disk, selection, label="Checking", use_cache=use_cache, base=base)
    findings = list(result.findings)
    if result.is_complete:
        present = {path: (found.digest, found.owned) for path, found in disk.items()}
        whole = not selection.jobs and not selection.clusters
        findings += drift.compare(
            MANIFESTS, result.files, present, lambda path: session.read_manifest(opened, path), whole=whole
        )
    summary = report(findings, result.counts)
    console.emit(summary, format_, console.sources(opened.root, session.rendered_texts(result)))
    return summary
