"""`paddlegen render`: write what the specs mean to `manifests/`, all of it or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlegen import tree
from paddlegen.cli import console, options, session
from paddlegen.errors import ExitCode, UsageError
from paddlegen.lock import lock
from paddlegen.model.report import Report, report
from paddlegen.rendering import Selection
from paddlegen.repository import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlegen.cli.session import Session
    from paddlegen.rendering import Rendering


def main(
    jobs: options.Jobs = None,
    cluster: options.Clusters = None,
    root: options.Root = None,
    format_: options.Format = None,
    cache: options.UseCache = True,  # typer's signature
    dry_run: options.DryRun = False,
) -> int:
    """Write the manifests of every job and cluster.

    Without JOB, every job, and files below manifests/ that no spec renders any more are deleted.
    """
    opened = session.open_session(root)
    selection = Selection(frozenset(cluster or ()), frozenset(jobs or ()))
    return run(opened, selection, format_, use_cache=cache, dry_run=dry_run)


def run(opened: Session, selection: Selection, format_: str | None, *, use_cache: bool, dry_run: bool) -> int:
    """Write the selection, or say what would be written."""
    if dry_run:
        return _render(opened, selection, format_, use_cache=use_cache, write=False)
    with lock(opened.root):
        for line in tree.recover(opened.root):
            console.note(line)
        return _render(opened, selection, format_, use_cache=use_cache, write=True)


def _render(
    opened: Session, selection: Selection, format_: str | None, *, use_cache: bool, write: bool
) -> int:
    disk = session.on_disk(opened)
    result = session.render(opened, disk, selection, label="Rendering", use_cache=use_cache)
    if selection.only_platform and result.is_complete and not result.platforms:
        raise UsageError(_nothing_listed(result.clusters))
    delete = _left_over(result, disk, selection)
    if result.is_complete and write:
        files = {path: one.text.encode() for path, one in result.files.items() if one.text is not None}
        tree.write(opened.root, MANIFESTS, files, delete)
    summary = _report(result, disk, delete)
    if summary.findings:
        console.emit(summary, format_, console.sources(opened.root, session.rendered_texts(result)))
    if not result.is_complete:
        console.note("nothing was written: the specs have errors")
        return ExitCode.FINDINGS
    _tell(summary.counts, "would be" if not write else "are", with_jobs=not selection.only_platform)
    return ExitCode.CLEAN


def _left_over(result: Rendering, disk: Mapping[str, tree.Found], selection: Selection) -> set[str]:
    """Files of ours that no spec renders any more, as far as the selection can tell."""
    owned = {path for path, found in disk.items() if found.owned and path not in result.files}
    if selection.only_platform:
        places = {(name, "_platform") for name in result.clusters}
        return {path for path in owned if tuple(path.split("/")[:2]) in places}
    if not selection.jobs and not selection.clusters:
        return owned
    if not selection.jobs:
        return {path for path in owned if path.split("/")[0] in selection.clusters}
    folders = {path.rpartition("/")[0] for path in result.files if "/_storage/" not in path}
    return {path for path in owned if path.rpartition("/")[0] in folders}


def _report(result: Rendering, disk: Mapping[str, tree.Found], delete: set[str]) -> Report:
    changed = [path for path, one in result.files.items() if one.text is not None]
    new = sum(path not in disk for path in changed)
    counts = {"jobs": result.jobs, "clusters": len(result.clusters), "objects": len(result.files)}
    if result.is_complete:  # else nothing is written, and what would be is not known
        counts |= {"new": new, "changed": len(changed) - new, "deleted": len(delete)}
    return report(result.findings, counts)


def _nothing_listed(clusters: Sequence[str]) -> str:
    """What to write where no profile lists anything."""
    profiles = " or ".join(f"overlays/{name}/cluster.yaml" for name in clusters)
    return (
        "nothing is listed under platform; write platform: [crds, operator, namespaces] under spec in "
        f"{profiles or 'overlays/<cluster>/cluster.yaml'}"
    )


def _tell(counts: Mapping[str, int], verb: str, *, with_jobs: bool) -> None:
    jobs = "1 job, " if counts["jobs"] == 1 else f"{counts['jobs']} jobs, "
    clusters = "1 cluster" if counts["clusters"] == 1 else f"{counts['clusters']} clusters"
    objects = "1 object" if counts["objects"] == 1 else f"{counts['objects']} objects"
    console.out(
        f"{jobs if with_jobs else ''}{clusters}, {objects}: {counts['new']} {verb} new, "
        f"{counts['changed']} changed, {counts['deleted']} deleted\n"
    )
