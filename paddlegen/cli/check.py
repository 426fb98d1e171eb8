"""`paddlegen check`: everything CI needs to know about the repository."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from paddlegen import drift
from paddlegen.cli import console, options, session
from paddlegen.engine import Selection
from paddlegen.errors import ExitCode
from paddlegen.model.report import Severity, report
from paddlegen.repository import MANIFESTS


class FailOn(str, Enum):
    """From which severity on findings fail the run."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


def main(
    jobs: options.Jobs = None,
    cluster: options.Clusters = None,
    root: options.Root = None,
    format_: options.Format = None,
    fail_on: Annotated[FailOn, typer.Option(help="The least severity that fails the check.")] = FailOn.ERROR,
    cache: options.UseCache = True,  # noqa: FBT002  # typer's signature
) -> int:
    """Check specs, manifests, schemas and policies.

    Specs, templates and cluster profiles are read strictly, rendered in memory, and compared with
    what is committed below manifests/.
    """
    opened = session.open_session(root)
    selection = Selection(frozenset(cluster or ()), frozenset(jobs or ()))
    disk = session.on_disk(opened)
    result = session.render(opened, disk, selection, label="Checking", use_cache=cache)
    findings = list(result.findings)
    if result.is_complete:
        present = {path: (found.digest, found.owned) for path, found in disk.items()}
        whole = not selection.jobs and not selection.clusters
        findings += drift.compare(
            MANIFESTS, result.files, present, lambda path: session.read_manifest(opened, path), whole=whole
        )
    counts = {"jobs": result.jobs, "clusters": len(result.clusters), "objects": len(result.files)}
    summary = report(findings, counts)
    console.emit(summary, format_, console.sources(opened.root, session.rendered_texts(result)))
    threshold = None if fail_on is FailOn.NEVER else Severity(fail_on.value)
    return ExitCode.FINDINGS if summary.fails_at(threshold) else ExitCode.CLEAN
