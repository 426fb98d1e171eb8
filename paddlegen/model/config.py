"""The settings of a repository: `paddlegen.yaml`, which also marks its root."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType


class _Part(
    Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True, kw_only=True
):
    """A part of the settings; what is absent has its default."""


class ObjectKind(_Part, frozen=True):
    """A kind by its full name."""

    api_version: Annotated[str, Meta(description="The apiVersion.", examples=["example.com/v1"])]
    kind: Annotated[str, Meta(description="The kind.", examples=["Widget"])]


class ConfigBody(_Part, frozen=True):
    """The `spec` of paddlegen.yaml."""

    kustomize: Annotated[
        str | UnsetType,
        Meta(
            description="The kustomize to run, relative to this file; the bundled one if absent.",
            examples=["tools/kustomize"],
        ),
    ] = UNSET
    kinds_without_schema: Annotated[
        list[ObjectKind] | UnsetType,
        Meta(
            description="Kinds that no schema lists, and that are accepted all the same.",
            examples=[[{"apiVersion": "example.com/v1", "kind": "Widget"}]],
        ),
    ] = UNSET


class Config(_Part, frozen=True):
    """The settings of a repository; the file marks its root."""

    api_version: Annotated[Literal["paddlegen.dev/v1"], Meta(description="The version of this schema.")]
    kind: Annotated[Literal["Config"], Meta(description="What this document is.")]
    spec: Annotated[ConfigBody, Meta(description="The settings.")] = ConfigBody()
