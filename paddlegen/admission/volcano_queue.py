"""What Volcano's queue webhook refuses.

Queues that are rendered together are seen together: a parent's rules look at its rendered children.
What lies in the cluster beside them is unknown, and passed over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlegen.admission import _versions
from paddlegen.admission._changes import changes
from paddlegen.admission._read import amount, mapping, name_of, text
from paddlegen.admission._values import QUANTITIES, quantities
from paddlegen.admission._volcano_queues import QUEUE, queue_names, rendered_queues
from paddlegen.model.admission import Admission, Rule
from paddlegen.model.output import object_ref
from paddlegen.model.policy import Breach, View
from paddlegen.model.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from paddlegen.model.report import FieldPath

HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
AMOUNTS: tuple[FieldPath, ...] = (("capability",), ("deserved",), ("guarantee", "resource"))
PARENTS_SINCE, STRICT_SINCE, SUMS_SINCE = (1, 9, 0), (1, 14, 4), (1, 15, 0)
MAX_DEPTH = 5

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_GO_NUMBER = re.compile(r"[+-]?(inf|infinity|nan|0x[0-9a-f_.]+(p[+-]?[0-9]+)?)", re.IGNORECASE)


def check(queue: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """Everything the webhook would refuse about a queue."""
    spec = mapping(queue.get("spec"))
    release = _versions.volcano(view.cluster)
    for path in AMOUNTS:
        yield from quantities(_amounts(spec, path), ("spec", *path))
    yield from _limits(spec, release)
    yield from _hierarchy(queue, view)
    if (state := text(mapping(queue.get("status")).get("state"))) not in {"", "Open", "Closed"}:
        message = f"queue state must be in [Open, Closed]; it is {state}: leave status to the controller"
        yield Breach(("status", "state"), message, rule="volcano-queue-state-exists")
    if release >= PARENTS_SINCE:
        yield from _parent(queue, view)
    if release >= SUMS_SINCE:
        yield from _family(queue, view)
    if view.old is not None and name_of(queue) == "root":
        for path in AMOUNTS:
            before, after = (_amounts(mapping(body.get("spec")), path) for body in (view.old, queue))
            if next(changes(before, after, path), None) is not None:
                message = f"root queue: {'.'.join(map(str, path))} can not be changed; change its children"
                yield Breach(("spec",), message, rule="volcano-queue-root-stays")


def _amounts(spec: Mapping[str, Any], path: FieldPath) -> Mapping[str, Any]:
    value: Mapping[str, Any] = spec
    for part in path:
        value = mapping(value.get(str(part)))
    return value


def _limits(spec: Mapping[str, Any], release: _versions.Release) -> Iterator[Breach]:
    rule = "volcano-queue-shares-fit"
    capability, deserved, guarantee = (_amounts(spec, path) for path in AMOUNTS)
    for name, value in deserved.items():
        most = amount(capability.get(name))
        if most is not None and (share := amount(value)) is not None and share > most:
            message = f"deserved[{name}] must be <= capability[{name}]={capability[name]}; it is {value}"
            yield Breach(("spec", "deserved", name), message, rule=rule)
    for name, value in guarantee.items():
        least, share, most = amount(value), amount(deserved.get(name)), amount(capability.get(name))
        place = ("spec", "guarantee", "resource", name)
        if least is None:
            continue
        if name not in deserved and release >= STRICT_SINCE:
            message = (
                f"deserved[{name}] must be >= guarantee[{name}]={value}; there is none, add it under deserved"
            )
            yield Breach(place, message, rule=rule)
        elif share is not None and least > share:
            message = f"deserved[{name}] must be >= guarantee[{name}]={value}; it is {deserved[name]}"
            yield Breach(place, message, rule=rule)
        elif most is not None and least > most and release < STRICT_SINCE:
            message = f"guarantee[{name}] must be <= capability[{name}]={capability[name]}; it is {value}"
            yield Breach(place, message, rule=rule)


def _annotation(queue: Mapping[str, Any], key: str) -> str:
    return text(mapping(mapping(queue.get("metadata")).get("annotations")).get(key))


def _hierarchy(queue: Mapping[str, Any], view: View) -> Iterator[Breach]:
    rule, path = "volcano-queue-hierarchy-is-weighed", ("metadata", "annotations")
    given, weights = _annotation(queue, HIERARCHY), _annotation(queue, WEIGHTS)
    if not given and not weights:
        return
    place = (*path, WEIGHTS if weights else HIERARCHY)
    if given.count("/") != weights.count("/"):
        message = f"{HIERARCHY} must have the same length with {WEIGHTS}; {given!r} and {weights!r}"
        yield Breach(place, message, rule=rule)
        return
    for weight in weights.split("/"):
        if _GO_NUMBER.fullmatch(weight):
            continue
        if not _NUMBER.fullmatch(weight):
            message = f"{weight!r} in {WEIGHTS} is invalid number; write one weight for each part of the path"
            yield Breach(place, message, rule=rule)
        elif float(weight) <= 0:
            message = f"weights in {WEIGHTS} must be larger than 0; one is {weight}"
            yield Breach(place, message, rule=rule)
    for name, other in rendered_queues(view).items():
        if given and name != name_of(queue) and _annotation(other, HIERARCHY).startswith(f"{given}/"):
            message = (
                f"{given} is not allowed to be in the sub path of "
                f"{_annotation(other, HIERARCHY)} of queue {name}; "
                "only leaves of the hierarchy are queues"
            )
            yield Breach((*path, HIERARCHY), message, rule=rule)


def _parent(queue: Mapping[str, Any], view: View) -> Iterator[Breach]:
    rule, path = "volcano-queue-parent-exists", ("spec", "parent")
    name, parent = name_of(queue), text(mapping(queue.get("spec")).get("parent"))
    if not parent:
        return
    if parent == name:
        message = f"queue {name} cannot use itself as parent queue; name another, or none for root"
        yield Breach(path, message, rule=rule)
        return
    known = queue_names(view)
    if known is not None and parent not in known:
        message = f"parent queue {parent} does not exist; {view.cluster.name} has {', '.join(sorted(known))}"
        yield Breach(path, message, rule=rule)
    chain = [queue, *_ancestors(queue, view)]
    if len(chain) > MAX_DEPTH:
        message = f"queue {name} is {len(chain)} levels below root; the webhook allows {MAX_DEPTH} by default"
        yield Breach(path, message, rule="volcano-queue-depth-fits")


def _ancestors(queue: Mapping[str, Any], view: View) -> list[Mapping[str, Any]]:
    """The rendered queues above, nearest first; `root` and what is not rendered end the line."""
    queues = rendered_queues(view)
    seen, found = {name_of(queue), "root"}, []
    parent = text(mapping(queue.get("spec")).get("parent"))
    while parent in queues and parent not in seen:
        seen.add(parent)
        found.append(queues[parent])
        parent = text(mapping(queues[parent].get("spec")).get("parent"))
    return found


def _family(queue: Mapping[str, Any], view: View) -> Iterator[Breach]:
    """A child's capability beside its nearest ancestor's, and a parent's share beside its children's."""
    rule, spec = "volcano-queue-children-fit", mapping(queue.get("spec"))
    for name, value in mapping(spec.get("capability")).items():
        for ancestor in _ancestors(queue, view):
            most = mapping(mapping(ancestor.get("spec")).get("capability")).get(name)
            limit, wanted = amount(most), amount(value)
            if limit is None:
                continue
            if wanted is not None and wanted > limit:
                message = (
                    f"capability[{name}] must be <= that of queue {name_of(ancestor)}, {most}; it is {value}"
                )
                yield Breach(("spec", "capability", name), message, rule=rule)
            break
    children = [
        body
        for body in rendered_queues(view).values()
        if mapping(body.get("spec")).get("parent") == name_of(queue)
    ]
    for path in AMOUNTS[1:]:
        for name, value in _amounts(spec, path).items():
            total, share = _total(children, path, name), amount(value)
            if children and share is not None and total > share:
                words = ".".join(map(str, path))
                message = (
                    f"the children's {words}[{name}] add up to {total}, which must be <= {value}; raise it"
                )
                related = tuple((object_ref(child), ("spec", *path)) for child in children if name_of(child))
                yield Breach(("spec", *path, name), message, related, rule)


def _total(queues: list[Mapping[str, Any]], path: FieldPath, name: str) -> Decimal | int:
    return sum(amount(_amounts(mapping(queue.get("spec")), path).get(name)) or 0 for queue in queues)


admission = Admission(
    name="volcano-queue",
    doc=__doc__,
    kinds=(QUEUE,),
    rules=(
        QUANTITIES,
        Rule(
            "volcano-queue-shares-fit",
            "guarantee <= deserved <= capability in each resource; from 1.14.4 a guarantee needs a deserved.",
        ),
        Rule(
            "volcano-queue-hierarchy-is-weighed",
            "The hierarchy annotation has one positive weight for each part.",
        ),
        Rule(
            "volcano-queue-state-exists",
            "status.state is Open or Closed; a warning, as a manifest's status may never reach the webhook.",
            Severity.WARNING,
        ),
        Rule("volcano-queue-parent-exists", "A parent is another queue of the cluster (from 1.9)."),
        Rule(
            "volcano-queue-depth-fits", "No queue is more than five levels below root, the webhook's default."
        ),
        Rule("volcano-queue-children-fit", "Children fit into what their parent declares (from 1.15)."),
        Rule("volcano-queue-root-stays", "The resources of the root queue do not change."),
    ),
    check=check,
    source=(
        "volcano-sh/volcano v1.14.0 to v1.15.1 and ed72c7c8 pkg/webhooks/admission/queues/validate/"
        "validate_queue.go (facts: volcano_argocd 2.5)"
    ),
)
