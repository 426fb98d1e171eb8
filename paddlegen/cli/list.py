"""`paddlegen list`: what the repository holds and what paddlegen knows, as tables or as JSON."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlegen import listing, repository
from paddlegen.cli import console, options
from paddlegen.cli.table import table
from paddlegen.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlegen.listing import Amount, ClusterRow, Job, StorageRow, TemplateRow, Variant

_SILENT = "-"
_BROKEN = "has errors"
_NAMED_CLUSTERS = 3


class What(StrEnum):
    """What can be listed."""

    JOBS = "jobs"
    CLUSTERS = "clusters"
    TARGETS = "targets"
    POLICIES = "policies"
    TEMPLATES = "templates"
    STORAGE = "storage"
    FORMATS = "formats"


class Format(StrEnum):
    """How it can be printed."""

    TEXT = "text"
    JSON = "json"


_BUILT_IN = (What.TARGETS, What.POLICIES, What.FORMATS)


def main(
    what: Annotated[
        What | None, typer.Argument(metavar="[WHAT]", help=f"{', '.join(What)}; jobs and clusters if absent.")
    ] = None,
    format_: Annotated[
        Format, typer.Option("--format", "-f", help="Tables for people, or JSON for programs.")
    ] = Format.TEXT,
    root: options.Root = None,
) -> int:
    """List jobs, clusters, targets, policies and formats.

    A job has a line for the clusters on which it is the same. CPU and memory are what its pods ask for
    together; "-" where a container does not say. A spec with errors is listed and is no failure.
    """
    found: dict[str, Sequence[Any]]
    if what in _BUILT_IN:
        found = {str(what): _built_in(what)}
    else:
        everything = _of_repository(repository.find_root(Path.cwd(), root))
        found = {key: everything[key] for key in ([str(what)] if what else [What.JOBS, What.CLUSTERS])}
    if format_ is Format.JSON:
        from msgspec import json  # not needed for the tables

        encoded = json.format(json.encode({"schema": listing.SCHEMA, **found}), indent=2)
        console.out(f"{encoded.decode()}\n")
    else:
        console.out("\n".join(_table(key, rows) for key, rows in found.items()))
        _hint(found)
    return ExitCode.CLEAN


def _of_repository(root: Path) -> dict[str, Sequence[Any]]:
    opened = repository.read(root)
    profiles = {name: opened.overlays.get(f"overlays/{name}/cluster.yaml") for name in opened.clusters}
    jobs, clusters, shared = listing.listing(opened.jobs, profiles)
    return {
        What.JOBS: jobs,
        What.CLUSTERS: clusters,
        What.TEMPLATES: listing.template_rows(shared.templates),
        What.STORAGE: listing.storage_rows(shared.storage),
    }


def _built_in(what: What) -> list[dict[str, str]]:
    if what is What.TARGETS:
        from paddlegen.targets import targets

        return [
            {"name": t.name, "api_version": t.api_version, "kind": t.kind, "about": _first_line(t.doc)}
            for t in targets().values()
        ]
    if what is What.POLICIES:
        from paddlegen.policies import policies

        return [
            {"name": p.name, "severity": p.severity.value, "about": _first_line(p.doc)}
            for p in policies().values()
        ]
    from paddlegen import reports

    return [{"name": name, "about": reports.load(name).doc} for name in reports.formats()]


def _first_line(doc: str) -> str:
    return doc.strip().splitlines()[0]


def _hint(found: dict[str, Sequence[Any]]) -> None:
    broken = [row for rows in found.values() for row in rows if getattr(row, "has_errors", False)]
    if broken:
        count = "1 entry has" if len(broken) == 1 else f"{len(broken)} entries have"
        console.note(f"{count} errors; `paddlegen check` tells which")


# --- tables


def _table(key: str, rows: Sequence[Any]) -> str:
    if not rows:
        return f"no {key}\n"
    heading: tuple[str, ...]
    match key:
        case What.JOBS:
            heading = ("JOB", "CLUSTERS", "TARGET", "MODE", "PODS", "CPU", "MEMORY", "GPU", "FILE")
            return table(heading, [line for job in rows for line in _job_lines(job)], numbers=(5, 6, 7))
        case What.CLUSTERS:
            heading = ("CLUSTER", "KUBERNETES", "CRD", "PADDLE-OPERATOR", "GANG", "JOBS", "GPU")
            return table(heading, [_cluster_line(row) for row in rows], numbers=(5, 6))
        case What.TEMPLATES:
            return table(("TEMPLATE", "EXTENDS", "PARAMETERS", "FILE"), [_template_line(row) for row in rows])
        case What.STORAGE:
            heading = ("STORAGE", "CLUSTERS", "SOURCE", "SIZE", "FILE")
            return table(heading, [_storage_line(row) for row in rows])
        case _:
            heading = tuple(name.upper().replace("_", " ") for name in rows[0])
            return table(heading, [tuple(row.values()) for row in rows])


def _job_lines(job: Job) -> Iterator[tuple[str, ...]]:
    name = f"{job.namespace or '?'}/{job.name or '?'}"
    if not job.variants:
        yield (name, _SILENT, _BROKEN if job.has_errors else _SILENT, *[_SILENT] * 5, job.file)
    for variant in job.variants:
        total, clusters = variant.total, _clusters(variant.clusters)
        if total is None:
            yield (name, clusters, _BROKEN, *[_SILENT] * 5, job.file)
            continue
        yield (
            name,
            clusters,
            variant.target or _SILENT,
            variant.mode or _SILENT,
            _pods(variant, total),
            total.cpu or _SILENT,
            total.memory or _SILENT,
            str(total.gpu or _SILENT),
            job.file,
        )


def _pods(variant: Variant, total: Amount) -> str:
    if len(variant.roles) < 2:  # noqa: PLR2004  # one role has all of them
        return str(total.replicas)
    return f"{total.replicas} ({', '.join(f'{name} {one.replicas}' for name, one in variant.roles.items())})"


def _clusters(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _NAMED_CLUSTERS else f"{len(names)} clusters"


def _cluster_line(row: ClusterRow) -> tuple[str, ...]:
    facts = (row.kubernetes, row.crd, row.paddle_operator, row.gang)
    if row.has_errors:
        return (row.name, _BROKEN, *[_SILENT] * 5)
    return (row.name, *(fact or _SILENT for fact in facts), str(row.jobs), str(row.gpu))


def _template_line(row: TemplateRow) -> tuple[str, ...]:
    params = [
        name if value is None else f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in row.params.items()
    ]
    return (row.name, ", ".join(row.extends) or _SILENT, ", ".join(params) or _SILENT, row.file)


def _storage_line(row: StorageRow) -> tuple[str, ...]:
    where = _clusters(row.clusters) or "all"
    return (f"{row.namespace}/{row.name}", where, row.source, row.size or _SILENT, row.file)
