"""What a repository holds, at a glance: the values `paddlegen list` prints, in JSON exactly these.

`docs/list-v1.md` documents the shape; within v1 fields are only added.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec import Struct, UnsetType

from paddlegen import catalogue, documents, pipeline
from paddlegen.model.report import Severity
from paddlegen.resources import pod, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlegen.catalogue import ClusterEntry, Contents, JobEntry, StorageEntry
    from paddlegen.model.job import TemplateBody
    from paddlegen.model.resolved import RoleOfJob
    from paddlegen.pipeline import Unit
    from paddlegen.resolve import Template

SCHEMA = "paddlegen.list/v1"


class Amount(Struct, frozen=True):
    """What pods ask for together; None where a container says nothing."""

    replicas: int
    cpu: str | None
    memory: str | None
    gpu: int


class Variant(Struct, frozen=True):
    """What a job is on the clusters where it is the same."""

    clusters: list[str]
    has_errors: bool = False
    target: str | None = None
    mode: str | None = None
    total: Amount | None = None
    roles: dict[str, Amount] = {}


class Job(Struct, frozen=True):
    """A job spec.  The name is None in a file that cannot be read that far."""

    namespace: str | None
    name: str | None
    file: str
    has_errors: bool
    variants: list[Variant]


class ClusterRow(Struct, frozen=True):
    """A cluster; without its facts where the profile has errors."""

    name: str
    has_errors: bool
    kubernetes: str | None = None
    crd: str | None = None
    paddle_operator: str | None = None
    gang: str | None = None
    jobs: int = 0
    gpu: int = 0


class TemplateRow(Struct, frozen=True):
    """A job template; a parameter without a default is None."""

    name: str
    extends: list[str]
    params: dict[str, str | int | float | bool | None]
    file: str


class StorageRow(Struct, frozen=True):
    """A StorageSpec; no clusters means all of them."""

    namespace: str
    name: str
    clusters: list[str]
    source: str
    size: str | None
    file: str


def listing(
    jobs: Mapping[str, bytes], clusters: Mapping[str, bytes | None]
) -> tuple[list[Job], list[ClusterRow], Contents]:
    """Jobs, clusters, and the templates and storage beside them.

    `jobs` are the files below `jobs/`, `clusters` the profiles by the cluster's name.
    """
    contents = {path: catalogue.read(path, data) for path, data in jobs.items()}
    shared = catalogue.Contents()
    for part in contents.values():
        shared.templates += part.templates
        shared.storage += part.storage
        shared.broken |= part.broken
    shared, _ = catalogue.without_repeated(shared)
    entries = dict(_read_clusters(clusters))
    templates: dict[str, Template | None] = {
        **{name: None for kind, name in shared.broken if kind in {"", "JobTemplate"}},
        **{one.value.metadata.name: one for one in shared.templates},
    }
    good = {name: entry for name, entry in entries.items() if entry is not None}
    found = [
        _job(entry, good, list(clusters), templates, shared)
        for part in contents.values()
        for entry in part.jobs
    ]
    for path, part in contents.items():
        if part.findings:
            found += _unread(path, jobs[path], part)
    found.sort(key=lambda job: (job.namespace or "", job.name or "", job.file))
    return found, [_cluster(name, entry, found) for name, entry in sorted(entries.items())], shared


def template_rows(templates: Iterable[Template]) -> list[TemplateRow]:
    """The templates, by name."""
    rows = [
        TemplateRow(
            one.value.metadata.name, one.value.spec.extends or [], _params(one.value.spec), one.document.path
        )
        for one in templates
    ]
    return sorted(rows, key=lambda row: (row.name, row.file))


def storage_rows(storage: Iterable[StorageEntry]) -> list[StorageRow]:
    """The StorageSpecs, by namespace and name."""
    return sorted(map(_storage, storage), key=lambda row: (row.namespace, row.name, row.file))


# --- jobs


def _job(
    entry: JobEntry,
    clusters: Mapping[str, ClusterEntry],
    known: Sequence[str],
    templates: Mapping[str, Template | None],
    shared: Contents,
) -> Job:
    units = [
        pipeline.job_unit(entry, cluster, templates, shared)
        for cluster in clusters.values()
        if pipeline.is_on(entry, cluster)
    ]
    groups: dict[bytes, list[tuple[str, Variant]]] = defaultdict(list)
    for unit in units:
        name = unit.cluster.cluster.name
        variant = _variant(unit, entry)
        groups[repr(variant).encode()].append((name, variant))
    variants = [
        Variant([name for name, _ in group], one.has_errors, one.target, one.mode, one.total, one.roles)
        for group in groups.values()
        for one in (group[0][1],)
    ]
    metadata = entry.value.metadata
    is_lost = any(name not in known for name in entry.value.spec.clusters or [])
    has_errors = is_lost or any(variant.has_errors for variant in variants)
    return Job(metadata.namespace or "default", metadata.name, entry.path, has_errors, variants)


def _variant(unit: Unit, entry: JobEntry) -> Variant:
    job = unit.resolution.job if unit.resolution else None
    if job is None or unit.is_broken:
        return Variant([], has_errors=True)
    try:
        roles = {name: _amount(_pod_sum(job, role), role.replicas) for name, role in job.roles.items()}
    except ValueError:  # no quantity: a finding of the target's, unless it does not look
        return Variant([], has_errors=True)
    target = entry.value.spec.target or unit.cluster.cluster.body.default_target
    return Variant([], target=target, mode=job.mode, total=_total(roles.values()), roles=roles)


def _pod_sum(job: Any, role: RoleOfJob) -> dict[str, Decimal | None]:
    """What one pod asks for: each container's requests, or its limits where there are none."""
    template = pod.finish(pod.pod_template(job, role), role)
    sums: dict[str, Decimal | None] = {"cpu": Decimal(0), "memory": Decimal(0), pod.GPU: Decimal(0)}
    for container in template["spec"]["containers"]:
        resources = container.get("resources") or {}
        asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
        for name, before in sums.items():
            if name in asked and before is not None:
                sums[name] = before + quantity.parse(asked[name])
            elif name != pod.GPU:  # no GPU is none; no CPU is as much as it gets
                sums[name] = None
    return sums


def _amount(one: Mapping[str, Decimal | None], replicas: int) -> Amount:
    cpu, memory, gpu = one["cpu"], one["memory"], one[pod.GPU]
    return Amount(
        replicas,
        None if cpu is None else quantity.show(cpu * replicas, binary=False),
        None if memory is None else _bytes(memory * replicas),
        int((gpu or 0) * replicas),
    )


def _total(roles: Iterable[Amount]) -> Amount:
    amounts = list(roles)

    def together(texts: list[str | None]) -> Decimal | None:
        known = [quantity.parse(text) for text in texts if text is not None]
        return sum(known, Decimal(0)) if len(known) == len(texts) else None

    parts = {"cpu": together([a.cpu for a in amounts]), "memory": together([a.memory for a in amounts])}
    total = _amount({**parts, pod.GPU: Decimal(sum(a.gpu for a in amounts))}, 1)
    return Amount(sum(a.replicas for a in amounts), total.cpu, total.memory, total.gpu)


def _bytes(value: Decimal) -> str:
    text = quantity.show(value, binary=True)
    millions = value / 10**6
    return f"{int(millions)}M" if text.isdigit() and millions == millions.to_integral_value() != 0 else text


def _unread(path: str, data: bytes, contents: Contents) -> Iterator[Job]:
    """The job specs of a file that have errors of their own, as far as their names can be told."""
    loaded, _ = documents.loads(data, path)
    read = {entry.source.document.index for entry in contents.jobs}
    if not loaded:
        yield Job(None, None, path, has_errors=True, variants=[])
    for document in loaded:
        body = document.value if isinstance(document.value, dict) else {}
        if document.index in read or body.get("kind") in ("JobTemplate", "StorageSpec"):
            continue
        metadata = body.get("metadata")
        given = metadata if isinstance(metadata, dict) else {}
        name, namespace = given.get("name"), given.get("namespace", "default")
        yield Job(
            namespace if isinstance(namespace, str) else None,
            name if isinstance(name, str) else None,
            path,
            has_errors=True,
            variants=[],
        )


# --- clusters, templates, storage


def _read_clusters(profiles: Mapping[str, bytes | None]) -> Iterator[tuple[str, ClusterEntry | None]]:
    for name, data in profiles.items():
        entry, findings = catalogue.read_cluster(name, f"overlays/{name}/cluster.yaml", data)
        has_errors = any(finding.severity is Severity.ERROR for finding in findings)
        yield name, None if has_errors else entry


def _cluster(name: str, entry: ClusterEntry | None, jobs: Iterable[Job]) -> ClusterRow:
    if entry is None:
        return ClusterRow(name, has_errors=True)
    cluster = entry.cluster
    here = [variant for job in jobs for variant in job.variants if name in variant.clusters]
    return ClusterRow(
        name,
        has_errors=False,
        kubernetes=cluster.body.kubernetes or None,
        crd=cluster.crd,
        paddle_operator=cluster.body.paddle_operator.version,
        gang=cluster.gang,
        jobs=len(here),
        gpu=sum(variant.total.gpu for variant in here if variant.total),
    )


def _params(body: TemplateBody) -> dict[str, str | int | float | bool | None]:
    declared = body.params or {}
    return {name: None if isinstance(p.default, UnsetType) else p.default for name, p in declared.items()}


def _storage(entry: StorageEntry) -> StorageRow:
    metadata, body = entry.value.metadata, entry.value.spec
    sources = {"nfs": body.nfs, "hostPath": body.host_path, "csi": body.csi, "claim": body.claim}
    given = [name for name, value in sources.items() if not isinstance(value, UnsetType)]
    return StorageRow(
        metadata.namespace or "default",
        metadata.name,
        sorted(body.clusters or []),
        given[0] if given else "storageClass",
        None if isinstance(body.size, UnsetType) else str(body.size),
        entry.source.document.path,
    )
