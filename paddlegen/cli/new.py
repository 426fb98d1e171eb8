"""`paddlegen new`: a commented job or storage spec to start from, which passes check as it is."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import UnsetType

from paddlegen import catalogue, hints, repository, scaffold
from paddlegen.cli import console, options
from paddlegen.errors import ExitCode, UsageError
from paddlegen.lock import explained
from paddlegen.repository import JOBS, SPEC_SUFFIXES, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.job import Param
    from paddlegen.resolve import Template

_NAME = re.compile(r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$")
_IMAGE = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/:@]*")
_LABEL = "lower-case letters, digits and '-' are allowed, a letter first, 63 in all"
_SAMPLES = {"integer": "1", "number": "1.0", "boolean": "true"}


class Kind(StrEnum):
    """What can be written."""

    PS = "ps"
    COLLECTIVE = "collective"
    SINGLE = "single"
    STORAGE = "storage"


def main(  # noqa: PLR0913, PLR0917  # typer's signature
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the job or storage.")],
    kind: Annotated[
        Kind | None,
        typer.Option(help="A job with parameter servers, of several workers, of one; or a StorageSpec."),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option("--template", metavar="NAME", help="A job template to extend; can be repeated."),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAMESPACE", help="Its namespace; if absent, the only one a cluster watches, or default."
        ),
    ] = None,
    image: Annotated[str | None, typer.Option(metavar="IMAGE", help="The image to run.")] = None,
    gpu: Annotated[int | None, typer.Option(metavar="N", min=0, help="GPUs of one worker.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="The file, below jobs/; jobs/NAME.yaml if absent.", show_default=False
        ),
    ] = None,
    root: options.Root = None,
) -> int:
    """Write a job spec to start from.

    Without --kind, the roles are those of the templates, or two workers if there is no template.
    """
    home = repository.find_root(Path.cwd(), root)
    _refuse_name("NAME", name)
    opened = repository.read(home)
    namespace = _watched(opened) if namespace is None else namespace
    _refuse_name("--namespace", namespace)
    if image is not None and not _IMAGE.fullmatch(image):
        message = f"--image is {image!r}; name one, such as registry.example.com/{namespace}/{name}:v1"
        raise UsageError(message)
    path = _path(home, output, name)
    _refuse_taken(opened, kind, namespace, name)
    values: dict[str, str | None] = {
        "name": name,
        "namespace": namespace,
        "schema": _schema(home, path, "storage" if kind is Kind.STORAGE else "job"),
        "image": image,
        "gpu": None if gpu is None else str(gpu),
    }
    if kind is Kind.STORAGE:
        _refuse_for_storage({"--template": template, "--image": image, "--gpu": gpu})
        text = scaffold.spec(kind.value, values)
    else:
        text = _job(opened, kind, template or [], values)
    _refuse_faults(path, text)
    _write(home / path, text)
    console.out(f"{path}\n")
    console.note("edit it, and then: paddlegen render && paddlegen check")
    return ExitCode.CLEAN


# --- what is refused


def _refuse_name(what: str, name: str) -> None:
    if _NAME.fullmatch(name):
        return
    message = f"{what} is {name!r}; {_LABEL}{hints.name_like(name, _NAME.pattern)}"
    raise UsageError(message)


def _path(home: Path, output: Path | None, name: str) -> str:
    """The file to write, relative to the repository; `output` is relative to where one is, or to the root."""
    wanted = Path(JOBS, f"{name}.yaml") if output is None else output
    below = home / JOBS
    for base in (home,) if output is None else (Path.cwd(), home):
        file = (base / wanted).resolve()
        if file.is_relative_to(below) and file != below:
            break
    else:
        message = f"--output is {wanted}, which is not below {JOBS}/; specs live there"
        raise UsageError(message)
    if file.suffix not in SPEC_SUFFIXES or any(
        part.startswith(".") for part in file.relative_to(below).parts
    ):
        message = f"--output is {wanted}; a spec is a file that ends in .yaml and is not hidden"
        raise UsageError(message)
    path = file.relative_to(home).as_posix()
    if file.exists() or file.is_symlink():
        message = f"{path} exists; choose another name, or another file with --output"
        raise UsageError(message)
    return path


def _refuse_taken(opened: Repository, kind: Kind | None, namespace: str, name: str) -> None:
    """Two jobs of a name would be a finding of the next check."""
    for path, data in opened.jobs.items():
        if name.encode() not in data:
            continue
        contents = catalogue.read(path, data)
        for entry in contents.storage if kind is Kind.STORAGE else contents.jobs:
            metadata = entry.value.metadata
            if (metadata.namespace or "default", metadata.name) == (namespace, name):
                message = f"{namespace}/{name} is in {path}; choose another name"
                raise UsageError(message)


def _refuse_for_storage(given: Mapping[str, Any]) -> None:
    for option, value in given.items():
        if value not in (None, []):
            message = f"{option} is for jobs, and --kind storage writes a StorageSpec; leave {option} out"
            raise UsageError(message)


def _refuse_faults(path: str, text: str) -> None:
    """What a template wants may not fit into a spec: better told now than found in a file."""
    for finding in catalogue.read(path, text.encode()).findings:
        raise UsageError(finding.message)


# --- what is written


def _watched(opened: Repository) -> str:
    """The namespace for a job that is to run on every cluster: some operators watch one alone."""
    watched = set()
    for name in opened.clusters:
        path = f"overlays/{name}/cluster.yaml"
        entry, _ = catalogue.read_cluster(name, path, opened.overlays.get(path))
        if entry is not None and entry.cluster.body.paddle_operator.watched_namespace:
            watched.add(entry.cluster.body.paddle_operator.watched_namespace)
    return watched.pop() if len(watched) == 1 else "default"


def _job(opened: Repository, kind: Kind | None, names: list[str], values: dict[str, str | None]) -> str:
    chain = list(_chain(names, _templates(opened), "--template"))
    bodies = [template.value.spec for template in chain]
    if kind is None and names and all(isinstance(body.roles, UnsetType) for body in bodies):
        message = f"{', '.join(names)}: there are no roles in it; say which ones with --kind"
        raise UsageError(message)
    file = kind.value if kind else "templates" if names else Kind.COLLECTIVE.value

    def unless_given(field: str, sample: str) -> str | None:
        return None if any(not isinstance(getattr(body, field), UnsetType) for body in bodies) else sample

    sample_image = f"registry.example.com/{values['namespace']}/{values['name']}:v1"
    return scaffold.spec(
        file,
        {
            **values,
            "templates": ", ".join(names) or None,
            "params": "\n".join(_params(chain)) or None,
            "image": values["image"] or unless_given("image", sample_image),
            "command": unless_given("command", "python"),
            "args": unless_given("args", "train.py"),
        },
    )


def _templates(opened: Repository) -> dict[str, Template]:
    found = catalogue.Contents()
    for path, data in opened.jobs.items():
        if b"JobTemplate" in data:
            found.templates += catalogue.read(path, data).templates
    return {template.value.metadata.name: template for template in found.templates}


def _chain(names: list[str], templates: Mapping[str, Template], at: str) -> Iterator[Template]:
    """The templates and the ones they extend themselves, each once, the ones below first."""
    seen: set[str] = set()

    def below(names: list[str], at: str) -> Iterator[Template]:
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            if name not in templates:
                hint = hints.did_you_mean(name, sorted(templates))
                message = f"{at} names {name!r}, and there is no such job template that can be read{hint}"
                raise UsageError(message)
            yield from below(templates[name].value.spec.extends or [], f"the template {name}")
            yield templates[name]

    return below(names, at)


def _params(chain: list[Template]) -> Iterator[str]:
    """The lines that give every parameter without a default a value to change."""
    declared: dict[str, Param] = {}
    for template in chain:
        declared |= template.value.spec.params or {}
    open_ones = {name: param for name, param in declared.items() if isinstance(param.default, UnsetType)}
    if open_ones:
        yield "  params:"
    for name, param in open_ones.items():
        words = " ".join((param.description or "give it a value").split())
        yield f"    {name}: {_SAMPLES.get(param.type or 'string', 'change-me')}    # {words}"


def _schema(home: Path, path: str, name: str) -> str | None:
    """The schema relative to the spec; None where the repository has none, as the line would be an error."""
    file = f"{scaffold.schemas_folder(home)}/{name}.v1.json"
    up = "../" * path.count("/")
    return f"{up}{file}" if (home / file).is_file() else None


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except OSError as problem:
        raise explained(problem, str(file)) from problem
