"""Kubernetes' forms of names: each function returns what is wrong in the server's words, or "".

Source: Kubernetes apimachinery `pkg/util/validation/validation.go`, the same since 1.11.
"""

from __future__ import annotations

import re
from functools import lru_cache

LABEL_SIZE, SUBDOMAIN_SIZE, PORT_NAME_SIZE = 63, 253, 15

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_PORT_NAME = re.compile(r"[-a-z0-9]+")


@lru_cache(maxsize=4096)  # the same names stand in many objects
def label(name: str) -> str:
    """A DNS label (RFC 1123)."""
    if len(name) > LABEL_SIZE:
        return f"must be no more than {LABEL_SIZE} characters, it has {len(name)}"
    if not _LABEL.fullmatch(name):
        return (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character"
        )
    return ""


@lru_cache(maxsize=4096)  # the same names stand in many objects
def label_1035(name: str) -> str:
    """A DNS label that starts with a letter (RFC 1035)."""
    if len(name) > LABEL_SIZE:
        return f"must be no more than {LABEL_SIZE} characters, it has {len(name)}"
    if not _LABEL_1035.fullmatch(name):
        return (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
            "start with an alphabetic character, and end with an alphanumeric character"
        )
    return ""


@lru_cache(maxsize=4096)  # the same names stand in many objects
def subdomain(name: str) -> str:
    """A DNS subdomain (RFC 1123)."""
    if len(name) > SUBDOMAIN_SIZE:
        return f"must be no more than {SUBDOMAIN_SIZE} characters, it has {len(name)}"
    if not _SUBDOMAIN.fullmatch(name):
        return (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
    return ""


def path_segment(name: str) -> str:
    """A name that may stand in a URL: RBAC's rule."""
    if name in {".", ".."}:
        return f"may not be {name!r}"
    for part in ("/", "%"):
        if part in name:
            return f"may not contain {part!r}"
    return ""


@lru_cache(maxsize=4096)  # the same names stand in many objects
def qualified(name: str) -> str:
    """A qualified name: `name` or `example.com/name`."""
    prefix, slash, last = name.rpartition("/")
    if slash and (wrong := subdomain(prefix)):
        return f"prefix part {prefix!r}: {wrong}"
    if len(last) > LABEL_SIZE:
        return f"name part must be no more than {LABEL_SIZE} characters, it has {len(last)}"
    if not _QUALIFIED.fullmatch(last):
        return (
            "name part must consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        )
    return ""


@lru_cache(maxsize=4096)  # the same names stand in many objects
def label_value(value: str) -> str:
    """The value of a label."""
    if len(value) > LABEL_SIZE:
        return f"must be no more than {LABEL_SIZE} characters, it has {len(value)}"
    if value and not _QUALIFIED.fullmatch(value):
        return (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        )
    return ""


def port_name(name: str) -> str:
    """The name of a port (IANA service name)."""
    if len(name) > PORT_NAME_SIZE:
        return f"must be no more than {PORT_NAME_SIZE} characters, it has {len(name)}"
    if not _PORT_NAME.fullmatch(name):
        return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not any("a" <= letter <= "z" for letter in name):
        return "must contain at least one letter (a-z)"
    if "--" in name:
        return "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        return "must not begin or end with a hyphen"
    return ""
