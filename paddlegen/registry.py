"""Find the members of a family (targets, policies, report formats): one module, one member, one name."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol, TypeVar

from paddlegen.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Named(Protocol):
    """What every member of a family has."""

    @property
    def name(self) -> str:
        """The name people type, kebab-case."""


T = TypeVar("T", bound=Named)


def discover(package: str, attribute: str, kind: type[T]) -> dict[str, T]:
    """Return every member of the family that lives in `package`, sorted by name.

    Each public module directly inside the package holds exactly one member, in `attribute`, of type
    `kind`, named like its file with `-` for `_`.  Anything else raises `RegistrationError`.
    """
    return {name: load(package, name, attribute, kind) for name in names(package)}


def names(package: str) -> list[str]:
    """Return the sorted names of the family's members, without importing any of them."""
    return sorted(module.replace("_", "-") for module in _public_modules(package))


def load(package: str, name: str, attribute: str, kind: type[T]) -> T:
    """Import one member of the family, and only that one; `name` is one of `names(package)`."""
    module = f"{package}.{name.replace('-', '_')}"
    defined = vars(importlib.import_module(module))
    if attribute not in defined:
        message = f"{module} has no {attribute!r}; each module of {package} defines one"
        raise RegistrationError(message)
    member = defined[attribute]
    if not isinstance(member, kind):
        message = (
            f"{module}.{attribute} is of type {type(member).__name__}; {package} holds {kind.__name__} values"
        )
        raise RegistrationError(message)
    if member.name != name:
        message = f"{module}.{attribute} is named {member.name!r}; its file says {name!r}"
        raise RegistrationError(message)
    return member


def _public_modules(package: str) -> Iterator[str]:
    # pkgutil asks the importer, so this also works inside a zip file, where there is no directory.
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not module.name.startswith("_"):
            yield module.name
