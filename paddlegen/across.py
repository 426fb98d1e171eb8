"""What only shows when all units are known: names given twice, patches that match nothing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paddlegen import documents, hints
from paddlegen.documents import UNAMBIGUOUS, span
from paddlegen.model.report import Finding, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlegen.overlay import Overlay, Patch
    from paddlegen.rendering import Made

Placed = tuple[str, "Made"]
"""A unit with the path of the file it came from."""


def clashes(made: Iterable[Placed], sources: Mapping[str, bytes]) -> Iterator[Finding]:
    """Jobs of one name in one namespace, and objects rendered twice; `sources` are the files by path."""
    jobs: dict[tuple[str, str, str], Placed] = {}
    files: dict[str, Placed] = {}
    for placed in sorted(made, key=lambda placed: (placed[0], placed[1].document, placed[1].name)):
        one = placed[1]
        first = jobs.setdefault((one.cluster, one.namespace, one.name), placed) if one.is_job else placed
        if first[1] is not one:
            message = f"there are two jobs {one.name} in the namespace {one.namespace}; rename one of them"
            yield _clash("job-names-unique", message, placed, first, sources)
            continue
        for file, _, ref in one.files:
            other = files.setdefault(file, placed)
            if other[1] is not one:
                message = (
                    f"{ref} is rendered twice; describe shared storage once, in a StorageSpec, or rename one"
                )
                yield _clash("object-names-unique", message, placed, other, sources)


def idle_patches(made: Sequence[Placed], overlays: Iterable[Overlay]) -> Iterator[Finding]:
    """Patches that match no object; a selector in a component may be meant for other clusters."""
    hit = {patch for _, one in made for patch in one.patches}
    for used in overlays:
        refs = [ref for _, one in made if one.cluster == used.cluster for _, _, ref in one.files]
        for patch in used.patches:
            is_shared = not patch.kustomization.startswith(used.top + "/")
            if patch.id not in hit and not (patch.target is not None and is_shared):
                yield _idle(patch, used.cluster, refs)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that several clusters share, told once with all their names.

    Of a scalar that two readers read differently, that alone is told: what each makes of it comes of it.
    """
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    ordered = sorted(findings, key=lambda finding: finding.sort_key)
    doubtful = {finding.location for finding in ordered if finding.rule == UNAMBIGUOUS}
    for finding in ordered:
        if finding.location in doubtful and finding.rule != UNAMBIGUOUS:
            continue
        groups[finding.rule, finding.message, finding.location, finding.object].append(finding)
    return [
        replace(group[0], cluster=", ".join(sorted({finding.cluster for finding in group} - {""})))
        for group in groups.values()
    ]


def _clash(rule: str, message: str, one: Placed, first: Placed, sources: Mapping[str, bytes]) -> Finding:
    related = (replace(_name(*first, sources), note="the first one"),)
    cluster = one[1].cluster
    return Finding(rule, Severity.ERROR, message, _name(*one, sources), related, cluster=cluster)


def _name(path: str, one: Made, sources: Mapping[str, bytes]) -> Location:
    """Where the name of a job or StorageSpec stands."""
    loaded, _ = documents.loads(sources[path], path)
    found = next(document for document in loaded if document.index == one.document)
    return Location(path, span(found, ("metadata", "name")))


def _idle(patch: Patch, cluster: str, refs: Iterable[str]) -> Finding:
    """The finding of a patch that matches nothing, with the object it may have meant."""
    rule, path = "patch-matches-object", patch.path
    known = [(kind, *name.rpartition("/")[::2]) for kind, _, name in (ref.partition(" ") for ref in refs)]
    if patch.target is not None or patch.document is None:
        document, wanted = patch.at, dict(patch.target or {})
        path = (*path, "target")
        message = f"this target matches no object of {cluster}{_near(wanted, known)}"
    else:
        document, path = patch.document, ("metadata", "name")
        value: Any = document.value
        metadata = value["metadata"]
        kind, name, namespace = value.get("kind"), metadata["name"], metadata.get("namespace")
        homes = sorted({there for k, there, n in known if (k, n) == (kind, name)})
        message = f"{cluster} has no {kind} {namespace or 'default'}/{name}"
        if homes and (namespace or "default") not in homes:
            message += f"; it is in the namespace {homes[0]}: write namespace: {homes[0]} under metadata"
        elif homes:
            message += f" of {value.get('apiVersion')}; correct the apiVersion"
        else:
            message += _near({"kind": kind, "name": name}, known) or "; correct the name, or remove the patch"
    return Finding(
        rule, Severity.ERROR, message, Location(document.path, span(document, path)), cluster=cluster
    )


def _near(wanted: Mapping[str, Any], known: Sequence[tuple[str, str, str]]) -> str:
    """`; did you mean ...?` for the part of a target that no object has."""
    for position, part in enumerate(("kind", "namespace", "name")):
        word = str(wanted.get(part) or "")
        values = sorted({one[position] for one in known})
        if word and word not in values and (hint := hints.closest(word, values)):
            return hint
    return ""
