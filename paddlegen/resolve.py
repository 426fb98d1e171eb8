"""A job spec as one cluster sees it, and where each of its values was written.

The layers of a job are its templates in order, the job itself, and the overrides of the cluster;
later wins.  The origin of a value is found by walking the layers backwards, so it costs nothing
until a finding needs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from paddlegen import documents, hints, specs
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
_DEEPEST, _LONGEST = 50, 500
"""How deep templates may extend each other, and how many a job may have in all."""

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
    used_at: Place | None = None
    """For the value of a parameter: where it was filled in."""


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
    params: Mapping[str, Place] = field(default_factory=dict)
    """Where the value of each parameter was written: in the job, or as the template's default."""

    def find(self, path: FieldPath) -> Place | None:
        """Where exactly this path of the resolved spec was written, None if nowhere."""
        found = _written(self.layers, path)
        return found and through_params(found, self.params)

    def origin(self, path: FieldPath) -> Place:
        """Where the value at a path of the resolved spec was written.

        A role's field that the role does not have itself comes from the job.  A path that nobody
        wrote leads to its nearest written parent.
        """
        return through_params(origin(self.layers, path), self.params)


def through_params(place: Place, params: Mapping[str, Place]) -> Place:
    """The place itself, or that of the parameter whose value was filled in there."""
    written = documents.at(place.document.value, place.path)
    names = [name for name in _PARAM.findall(written) if name in params] if isinstance(written, str) else []
    if not names:
        return place
    # A value the job gives comes before a default: it is nearer to who reads the finding.
    value = min((params[name] for name in names), key=lambda param: len(param.path))
    return replace(value, used_at=place)


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
    at = Place(source.document, ("spec", "extends"))
    chain = list(islice(_chain(at, spec.spec.extends or [], templates, (), faults), _LONGEST + 1))
    if len(chain) > _LONGEST:
        message = (
            f"the templates of this job extend others more than {_LONGEST} times; put some of them together"
        )
        faults.append(Fault(at, Violation((), message, "template-chain-short")))
    if faults:  # what a missing template would have declared is not known
        return Resolution((), None, tuple(faults))
    params = dict(_params(spec, source, chain, faults))
    layers = tuple(_layers(source, cluster, chain, params, faults))
    places = {name: param.place for name, param in params.items()}
    if faults:
        return Resolution(layers, None, tuple(faults), places)
    merged: dict[str, Any] = {}
    for layer in layers:
        faults.extend(_idle_nulls(merged, layer))
        merged = merge_specs(merged, layer.value)
    converted = specs.convert(merged, JobBody)
    if isinstance(converted, list):
        faults += [
            Fault(through_params(origin(layers, named(merged, violation.path)), places), violation)
            for violation in converted
        ]
        return Resolution(layers, None, tuple(faults), places)
    job = _job(spec, converted, storage)
    return Resolution(layers, job, tuple(faults), places)


def fill_in(document: Document) -> dict[str, Any]:
    """A template's document with its parameters at their defaults, or at a sample of their type.

    Good for checking the template by itself; undeclared parameters stay as they are written.
    """
    body = document.value
    assert isinstance(body, dict)  # noqa: S101  # the caller looked
    values: dict[str, Any] = {}
    for name, param in _declarations(body):
        wanted = str(param.get("type") or "string")
        default = _as_declared(param.get("default"), wanted, document, ("spec", "params", name, "default"))
        values[name] = default if _fits(default, wanted) else _SAMPLES.get(wanted, "sample")
    return _filled(body, values)  # type: ignore[no-any-return]  # a dict stays a dict


def bad_defaults(document: Document) -> Iterator[Violation]:
    """The defaults of a template's parameters that are not of their declared type."""
    body = document.value
    assert isinstance(body, dict)  # noqa: S101  # the caller looked
    for name, param in _declarations(body):
        path = ("spec", "params", name, "default")
        wanted = param.get("type") or "string"
        if param.get("default") is None or wanted not in (*_SAMPLES, "string"):
            continue
        default = _as_declared(param["default"], wanted, document, path)
        if not _fits(default, wanted):
            message = f"the default of the parameter {name} is {default!r}; its type is {wanted}"
            yield Violation(path, message, "params-typed")


def params_in(written: object) -> list[str]:
    """The parameters a text names."""
    return _PARAM.findall(written) if isinstance(written, str) else []


_SAMPLES: Mapping[str, int | float | bool] = {"integer": 1, "number": 1.0, "boolean": True}


def _declarations(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    spec = body.get("spec")
    declared = spec.get("params") if isinstance(spec, dict) else None
    for name, param in (declared if isinstance(declared, dict) else {}).items():
        if isinstance(param, dict):
            yield name, param


def _as_declared(value: Any, wanted: str, document: Document, path: FieldPath) -> Any:
    """The value; where text is declared, a plain scalar is the text that was written (`0777`)."""
    if wanted != "string" or value is None or isinstance(value, str):
        return value
    return documents.scalar_text(document, path) or value


def _filled(value: Any, params: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, params) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, params) for item in value]
    if not isinstance(value, str) or any(name not in params for name in _PARAM.findall(value)):
        return value
    alone = _PARAM.fullmatch(value)
    return params[alone[1]] if alone else _PARAM.sub(lambda match: specs.text(params[match[1]]), value)


def _layers(
    source: Source, cluster: str, chain: Sequence[Template], params: Mapping[str, _Value], faults: list[Fault]
) -> Iterator[Layer]:
    own = source.body["spec"]
    parts: list[tuple[Document, FieldPath, Any]] = [
        *((template.document, ("spec",), template.body["spec"]) for template in chain),
        (source.document, ("spec",), own),
        (source.document, ("spec", "overrides", cluster), (own.get("overrides") or {}).get(cluster)),
    ]
    for document, prefix, written in parts:
        if written is not None:
            value = {key: item for key, item in written.items() if key not in _ONLY_IN_JOB}
            yield Layer(document, prefix, _substitute(value, params, document, prefix, faults))


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
        if len(above) > _DEEPEST:
            message = f"the templates extend each other more than {_DEEPEST} deep; put some of them together"
            faults.append(Fault(place, Violation((), message, "template-chain-short")))
        elif name in above:
            loop = " extends ".join((*above[above.index(name) :], name))
            faults.append(
                Fault(place, Violation((), f"a template cannot extend itself: {loop}", "template-acyclic"))
            )
        elif name not in templates:
            hint = hints.did_you_mean(name, sorted(templates))
            message = f"there is no job template {name} below jobs/{hint}"
            faults.append(Fault(place, Violation((), message, "template-exists")))
        elif (template := templates[name]) is None:
            faults.append(Fault(place, Violation((), "", TOLD_ELSEWHERE)))
        else:
            below = Place(template.document, ("spec", "extends"))
            yield from _chain(below, template.value.spec.extends or [], templates, (*above, name), faults)
            yield template


@dataclass(frozen=True, slots=True)
class _Value:
    """The value of a parameter, None where one is missing, and where it was written."""

    value: str | int | float | bool | None
    place: Place


def _params(
    spec: JobSpec, source: Source, chain: Sequence[Template], faults: list[Fault]
) -> Iterator[tuple[str, _Value]]:
    """Every parameter of the templates with the job's value or its default."""
    declared: dict[str, tuple[Param, Template]] = {}
    for template in chain:
        declared |= {name: (param, template) for name, param in (template.value.spec.params or {}).items()}
    given = spec.spec.params or {}
    for name, written in given.items():
        place = Place(source.document, ("spec", "params", name))
        if name not in declared:
            hint = hints.did_you_mean(name, sorted(declared))
            message = f"no template of this job declares the parameter {name}{hint}"
            faults.append(Fault(place, Violation((), message, "params-declared")))
            continue
        wanted = declared[name][0].type or "string"
        value = _as_declared(written, wanted, place.document, place.path)
        if not _fits(value, wanted):
            message = f"the parameter {name} is {value!r}; its template declares {wanted}"
            faults.append(Fault(place, Violation((), message, "params-typed")))
        yield name, _Value(value, place)
    for name, (param, template) in declared.items():
        if name in given:
            continue
        if isinstance(param.default, UnsetType):
            place = Place(source.document, ("spec", "extends"))
            message = (
                f"the parameter {name} of the template {template.value.metadata.name} has no default; "
                "give it under params"
            )
            faults.append(Fault(place, Violation((), message, "params-resolved")))
            yield name, _Value(None, place)
        else:
            place = Place(template.document, ("spec", "params", name, "default"))
            value = _as_declared(param.default, param.type or "string", place.document, place.path)
            yield name, _Value(value, place)


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
    value: Any, params: Mapping[str, _Value], document: Document, path: FieldPath, faults: list[Fault]
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
            hint = hints.did_you_mean(name, sorted(params))
            message = f"${{params.{name}}} has no value: no template of this job declares it{hint}"
            faults.append(Fault(Place(document, path), Violation((), message, "params-resolved")))
            return value
    return _filled(value, {name: param.value for name, param in params.items() if param.value is not None})


def _idle_nulls(merged: Mapping[str, Any], layer: Layer) -> Iterator[Fault]:
    """Nulls that delete nothing: an empty value was probably meant."""

    def visit(base: Any, over: Any, path: FieldPath) -> Iterator[Fault]:
        if not isinstance(over, dict):
            return
        for key, value in over.items():
            inherited = base.get(key) if isinstance(base, dict) else None
            if value is None and not (isinstance(base, dict) and key in base) and "podTemplate" not in path:
                message = (
                    f"{key} is null, which deletes an inherited value, but there is none; "
                    'write "" for empty text'
                )
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
