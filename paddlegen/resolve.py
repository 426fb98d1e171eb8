"""A job spec as one cluster sees it, and where each of its values was written.

The layers of a job are its templates in order, the job itself, and the overrides of the cluster;
later wins.  The origin of a value is found by walking the layers backwards, so it costs nothing
until a finding needs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from paddlegen import documents, specs
from paddlegen.merge import combine_patches, merge_specs, mount_name, mount_path
from paddlegen.model.job import JobBody, JobFields, Role, RoleFields
from paddlegen.model.output import Violation
from paddlegen.model.resolved import Job, RoleOfJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlegen.documents import Document
    from paddlegen.model.job import JobSpec, JobTemplate, Param
    from paddlegen.model.report import FieldPath
    from paddlegen.model.resolved import Storage

ROLES = ("ps", "worker", "heter")
TOLD_ELSEWHERE = ""
"""The rule of a fault that another file's finding already tells."""

_PARAM = re.compile(r"\$\{params\.([^}]*)\}")
_ONLY_IN_JOB = ("clusters", "target", "extends", "params", "overrides")


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed document that takes part in a job: the JobSpec itself or a template."""

    document: Document
    body: dict[str, Any]
    """The whole document's value."""


@dataclass(frozen=True, slots=True)
class Template(Source):
    """A JobTemplate and the document it stands in."""

    value: JobTemplate


@dataclass(frozen=True, slots=True)
class Place:
    """A path in a document: where something was written."""

    document: Document
    path: FieldPath


@dataclass(frozen=True, slots=True)
class Layer:
    """Part of a job: `value` stands at `prefix` in the document."""

    document: Document
    prefix: FieldPath
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A violation with the place it is about."""

    place: Place
    violation: Violation


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of a job spec on a cluster: the job, or the faults that prevent it."""

    layers: tuple[Layer, ...]
    job: Job | None
    faults: tuple[Fault, ...] = field(default=())

    def find(self, path: FieldPath) -> Place | None:
        """Where exactly this path of the resolved spec was written, None if nowhere."""
        return _written(self.layers, path)

    def origin(self, path: FieldPath) -> Place:
        """Where the value at a path of the resolved spec was written.

        A role's field that the role does not have itself comes from the job.  A path that nobody
        wrote leads to its nearest written parent.
        """
        return origin(self.layers, path)


def origin(layers: Sequence[Layer], path: FieldPath) -> Place:
    """See `Resolution.origin`."""
    for length in range(len(path), 0, -1):
        found = _written(layers, path[:length])
        if found is not None:
            return found
    own = next(layer for layer in reversed(layers) if layer.prefix == ("spec",))
    return Place(own.document, own.prefix)


def _written(layers: Sequence[Layer], path: FieldPath) -> Place | None:
    candidates = [path]
    if len(path) > 2 and path[0] == "roles":  # noqa: PLR2004  # roles.<role>.<field>
        candidates.append(path[2:])
    for candidate in candidates:
        for layer in reversed(layers):
            found = _find(layer, candidate)
            if found is not None:
                return found
    return None


def _find(layer: Layer, path: FieldPath) -> Place | None:
    """The place of a path in a layer, entries of named lists found by their name."""
    node: Any = layer.value
    here: FieldPath = layer.prefix
    for part in path:
        if isinstance(node, dict) and part in node:
            node = node[part]
            here = (*here, part)
        elif isinstance(node, list):
            index = _index(node, part)
            if index is None:
                return None
            node = node[index]
            here = (*here, index)
        else:
            return None
    return Place(layer.document, here)


def named(merged: dict[str, Any], path: FieldPath) -> FieldPath:
    """A path of the merged spec with entries of `storage` by their name: layers count them apart."""
    for at, part in enumerate(path):
        if isinstance(part, int) and path[at - 1] == "storage":
            entries = documents.at(merged, path[:at])
            entry = entries[part] if isinstance(entries, list) else None
            return (*path[:at], mount_name(entry), *path[at + 1 :]) if isinstance(entry, dict) else path[:at]
    return path


def _index(entries: list[Any], part: str | int) -> int | None:
    if isinstance(part, int):
        return part if part < len(entries) else None
    named = [(mount_name(e), mount_path(e)) if isinstance(e, dict) else ("", "") for e in entries]
    return next((i for i, names in enumerate(named) if part in names), None)


def resolve(
    spec: JobSpec,
    source: Source,
    cluster: str,
    templates: Mapping[str, Template | None],
    storage: Mapping[str, Storage],
) -> Resolution:
    """The job as `cluster` sees it; `storage` are the StorageSpecs of the job's namespace."""
    faults: list[Fault] = []
    layers = tuple(_layers(spec, source, cluster, templates, faults))
    if faults:
        return Resolution(layers, None, tuple(faults))
    merged: dict[str, Any] = {}
    for layer in layers:
        faults.extend(_idle_nulls(merged, layer))
        merged = merge_specs(merged, layer.value)
    converted = specs.convert(merged, JobBody)
    if isinstance(converted, list):
        faults += [Fault(origin(layers, named(merged, violation.path)), violation) for violation in converted]
        return Resolution(layers, None, tuple(faults))
    job = _job(spec, converted, storage)
    return Resolution(layers, job, tuple(faults))


def fill_in(body: dict[str, Any]) -> dict[str, Any]:
    """A template's document with its parameters at their defaults, or at a sample of their type.

    Good for checking the template by itself; undeclared parameters stay as they are written.
    """
    samples: dict[str, str | int | float | bool] = {"integer": 1, "number": 1.0, "boolean": True}
    spec = body.get("spec")
    declared = spec.get("params") if isinstance(spec, dict) else None
    values: dict[str, Any] = {}
    for name, param in (declared if isinstance(declared, dict) else {}).items():
        if isinstance(param, dict):
            default = param.get("default")
            values[name] = samples.get(str(param.get("type")), "sample") if default is None else default
    return _filled(body, values)  # type: ignore[no-any-return]  # a dict stays a dict


def _filled(value: Any, params: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, params) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, params) for item in value]
    if not isinstance(value, str) or any(name not in params for name in _PARAM.findall(value)):
        return value
    alone = _PARAM.fullmatch(value)
    return params[alone[1]] if alone else _PARAM.sub(lambda match: _text(params[match[1]]), value)


def _layers(
    spec: JobSpec, source: Source, cluster: str, templates: Mapping[str, Template | None], faults: list[Fault]
) -> Iterator[Layer]:
    own = source.body["spec"]
    names = spec.spec.extends or []
    chain = list(_chain(Place(source.document, ("spec", "extends")), names, templates, (), faults))
    params = dict(_params(spec, source, chain, faults))
    for template in chain:
        value = {key: item for key, item in template.body["spec"].items() if key not in _ONLY_IN_JOB}
        yield Layer(
            template.document, ("spec",), _substitute(value, params, template.document, ("spec",), faults)
        )
    value = {key: item for key, item in own.items() if key not in _ONLY_IN_JOB}
    yield Layer(source.document, ("spec",), _substitute(value, params, source.document, ("spec",), faults))
    override = (own.get("overrides") or {}).get(cluster)
    if override is not None:
        prefix = ("spec", "overrides", cluster)
        yield Layer(source.document, prefix, _substitute(override, params, source.document, prefix, faults))


def _chain(
    at: Place,
    names: Sequence[str],
    templates: Mapping[str, Template | None],
    above: tuple[str, ...],
    faults: list[Fault],
) -> Iterator[Template]:
    """The templates of an `extends` list, each after the ones it extends itself."""
    for index, name in enumerate(names):
        place = Place(at.document, (*at.path, index))
        if name in above:
            loop = " extends ".join((*above[above.index(name) :], name))
            faults.append(
                Fault(place, Violation((), f"a template cannot extend itself: {loop}", "template-acyclic"))
            )
        elif name not in templates:
            hint = specs.did_you_mean(name, sorted(templates))
            message = f"there is no job template {name!r} in jobs/templates/{hint}"
            faults.append(Fault(place, Violation((), message, "template-exists")))
        elif (template := templates[name]) is None:
            faults.append(Fault(place, Violation((), "", TOLD_ELSEWHERE)))
        else:
            below = Place(template.document, ("spec", "extends"))
            yield from _chain(below, template.value.spec.extends or [], templates, (*above, name), faults)
            yield template


def _params(
    spec: JobSpec, source: Source, chain: Sequence[Template], faults: list[Fault]
) -> Iterator[tuple[str, str | int | float | bool]]:
    """Every parameter of the templates with the job's value or its default."""
    declared: dict[str, Param] = {}
    for template in chain:
        declared |= template.value.spec.params or {}
    given = spec.spec.params or {}
    for name, value in given.items():
        place = Place(source.document, ("spec", "params", name))
        if name not in declared:
            hint = specs.did_you_mean(name, sorted(declared))
            message = f"no template of this job declares the parameter {name!r}{hint}"
            faults.append(Fault(place, Violation((), message, "params-declared")))
            continue
        wanted = declared[name].type or "string"
        if not _fits(value, wanted):
            message = f"parameter {name} is {value!r}; its template declares {wanted}"
            faults.append(Fault(place, Violation((), message, "params-declared")))
        yield name, value
    for name, param in declared.items():
        if name in given:
            continue
        if isinstance(param.default, UnsetType):
            place = Place(source.document, ("spec", "extends"))
            message = f"the job gives no value for the parameter {name}, and its template has no default"
            faults.append(Fault(place, Violation((), message, "params-resolved")))
        else:
            yield name, param.default


def _fits(value: object, wanted: str) -> bool:
    match wanted:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return isinstance(value, str)


def _substitute(
    value: Any,
    params: Mapping[str, str | int | float | bool],
    document: Document,
    path: FieldPath,
    faults: list[Fault],
) -> Any:
    """The value with `${params.x}` replaced: typed where it stands alone, as text inside text."""
    if isinstance(value, dict):
        return {k: _substitute(v, params, document, (*path, k), faults) for k, v in value.items()}
    if isinstance(value, list):
        return [_substitute(v, params, document, (*path, i), faults) for i, v in enumerate(value)]
    if not isinstance(value, str) or "${params." not in value:
        return value
    for name in _PARAM.findall(value):
        if name not in params:
            hint = specs.did_you_mean(name, sorted(params))
            message = f"${{params.{name}}} has no value: no template of this job declares it{hint}"
            faults.append(Fault(Place(document, path), Violation((), message, "params-resolved")))
            return value
    return _filled(value, params)


def _text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _idle_nulls(merged: Mapping[str, Any], layer: Layer) -> Iterator[Fault]:
    """Nulls that delete nothing: an empty value was probably meant."""

    def visit(base: Any, over: Any, path: FieldPath) -> Iterator[Fault]:
        if not isinstance(over, dict):
            return
        for key, value in over.items():
            inherited = base.get(key) if isinstance(base, dict) else None
            if value is None and not (isinstance(base, dict) and key in base) and "podTemplate" not in path:
                message = f'{key} is null, which deletes an inherited value, but there is none; write "" for empty text'
                yield Fault(
                    Place(layer.document, (*path, key)), Violation((), message, "null-deletes-something")
                )
            else:
                yield from visit(inherited, value, (*path, key))

    yield from visit(merged, layer.value, layer.prefix)


def _job(spec: JobSpec, body: JobBody, storage: Mapping[str, Storage]) -> Job:
    roles = {}
    for name in ROLES:
        role = getattr(body.roles, name) if not isinstance(body.roles, UnsetType) else UNSET
        if not isinstance(role, UnsetType):
            roles[name] = RoleOfJob(name, role.replicas or 1, _complete(body, role))
    metadata = spec.metadata
    return Job(
        name=metadata.name,
        namespace=metadata.namespace or "default",
        labels=metadata.labels or {},
        annotations=metadata.annotations or {},
        body=body,
        roles=roles,
        storage=storage,
    )


def _complete(job: JobFields, role: Role) -> Role:
    """The role with what the job says for all roles: maps merged, everything else taken if absent."""
    values: dict[str, Any] = {}
    for name in RoleFields.__struct_fields__:
        general, own = getattr(job, name), getattr(role, name)
        if isinstance(general, UnsetType):
            continue
        if isinstance(own, UnsetType):
            values[name] = general
        elif name == "pod_template":
            values[name] = combine_patches(general, own)
        elif name == "affinity":
            continue
        elif isinstance(own, dict):
            values[name] = {**general, **own}
        elif name == "storage":
            replaced = {mount.mount_path for mount in own}
            values[name] = [mount for mount in general if mount.mount_path not in replaced] + own
    return msgspec.structs.replace(role, **values) if values else role
