"""An admission: what one server-side gatekeeper refuses although every schema accepts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddlegen.model.report import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from paddlegen.model.policy import Breach, View


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind in every version of its API group; the core group is ""."""

    group: str
    name: str

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Kind:
        """The kind of an object, with empty strings for what it does not say."""
        said = [each if isinstance(each, str) else "" for each in (body.get("apiVersion"), body.get("kind"))]
        return cls(said[0].rpartition("/")[0], said[1])


ANY = Kind("*", "*")
"""Stands for every kind."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of an admission.

    `name` states what holds when all is well, `doc` says it in a sentence.  What breaks an error is refused
    by every server of that release; what breaks a warning only by one that switched the admission on.
    """

    name: str
    doc: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Admission:
    """One gatekeeper of the server.

    `check(body, view)` yields a breach for everything it would refuse, each with the name of one of
    `rules`; it may be given malformed objects, whose ill-typed parts it passes over: those are the
    schema's to report.  `source` names the project, its versions and its files.
    """

    name: str
    doc: str
    kinds: tuple[Kind, ...]
    rules: tuple[Rule, ...]
    check: Callable[[Mapping[str, Any], View], Iterator[Breach]]
    source: str
