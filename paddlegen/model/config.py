"""The settings of a repository: `paddlegen.yaml`, which also marks its root."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType


class _Part(
    Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True, kw_only=True
):
    """A part of the settings; what is absent has its default."""


class ConfigBody(_Part):
    """The `spec` of paddlegen.yaml."""

    kustomize: Annotated[
        str | UnsetType,
        Meta(
            description="The kustomize to run, relative to this file; the bundled one if absent.",
            examples=["tools/kustomize"],
        ),
    ] = UNSET


class Config(_Part):
    """The settings of a repository; the file marks its root."""

    api_version: Annotated[Literal["paddlegen.dev/v1"], Meta(description="The version of this schema.")]
    kind: Annotated[Literal["Config"], Meta(description="What this document is.")]
    spec: Annotated[ConfigBody, Meta(description="The settings.")] = ConfigBody()
