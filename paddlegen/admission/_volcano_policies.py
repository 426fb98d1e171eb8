"""The lifecycle policies of a Volcano job or task, as the webhook checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission._read import members, text, texts, whole
from paddlegen.model.admission import Rule
from paddlegen.model.policy import Breach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.report import FieldPath

EVENTS = (
    "*",
    "PodFailed",
    "PodEvicted",
    "PodPending",
    "Unknown",
    "TaskCompleted",
    "TaskFailed",
    "JobUpdated",
)
ACTIONS = (
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "RestartPod",
    "RestartPartition",
    "TerminateJob",
    "CompleteJob",
    "ResumeJob",
)

RULES = (
    Rule("volcano-policy-has-one-trigger", "A policy has either events or an exit code."),
    Rule("volcano-policy-events-exist", "Events are those users may write; the CRD's enum lists three more."),
    Rule("volcano-policy-actions-exist", "An event's action is one users may write; the CRD has no enum."),
    Rule("volcano-policy-events-differ", "No two policies are for one event."),
    Rule("volcano-policy-any-event-is-alone", "Beside the event * there is no other."),
    Rule("volcano-policy-exit-codes-differ", "No two policies are for one exit code."),
    Rule("volcano-policy-exit-codes-are-failures", "0 is no exit code of a failure."),
)


def check(policies: object, path: FieldPath) -> Iterator[Breach]:
    """Everything the webhook refuses about the policies at `path`."""
    events: dict[str, FieldPath] = {}
    codes: set[int] = set()
    for index, policy in members(policies):
        here = (*path, index)
        named, code = _events(policy), whole(policy.get("exitCode"))
        if named and code is not None:
            message = "must not specify event and exitCode simultaneously; make two policies of it"
            yield Breach((*here, "exitCode"), message, rule="volcano-policy-has-one-trigger")
        elif not named and code is None:
            message = "either event and exitCode should be specified; add one of them"
            yield Breach(here, message, rule="volcano-policy-has-one-trigger")
        elif named:
            yield from _event_policy(policy, named, here, events)
        elif code is not None:
            yield from _exit_code(code, (*here, "exitCode"), codes)
    if "*" in events and len(events) > 1:
        message = "if there's * here, no other policy should be here; name the events one by one"
        yield Breach(path + events["*"], message, rule="volcano-policy-any-event-is-alone")


def _events(policy: Mapping[str, Any]) -> dict[str, FieldPath]:
    """Each event once, with its place in the policy."""
    found: dict[str, FieldPath] = {}
    if name := text(policy.get("event")):
        found[name] = ("event",)
    for index, name in texts(policy.get("events")):
        found.setdefault(name, ("events", index))
    return found


def _event_policy(
    policy: Mapping[str, Any], named: dict[str, FieldPath], here: FieldPath, events: dict[str, FieldPath]
) -> Iterator[Breach]:
    for name, place in named.items():
        if name not in EVENTS:
            message = f"invalid policy event {name!r}; valid events are {', '.join(EVENTS)}"
            yield Breach((*here, *place), message, rule="volcano-policy-events-exist")
        elif name in events:
            message = f"duplicate event {name}  across different policy; keep one policy for it"
            yield Breach((*here, *place), message, rule="volcano-policy-events-differ")
        events.setdefault(name, (here[-1], *place))
    if (action := text(policy.get("action"))) not in ACTIONS:
        message = f"invalid policy action {action!r}; valid actions are {', '.join(ACTIONS)}"
        place = (*here, "action") if "action" in policy else here
        yield Breach(place, message, rule="volcano-policy-actions-exist")


def _exit_code(code: int, place: FieldPath, codes: set[int]) -> Iterator[Breach]:
    if code == 0:
        message = "0 is not a valid error code; for success use the event TaskCompleted"
        yield Breach(place, message, rule="volcano-policy-exit-codes-are-failures")
    elif code in codes:
        message = f"duplicate exitCode {code}; keep one policy for it"
        yield Breach(place, message, rule="volcano-policy-exit-codes-differ")
    codes.add(code)
