"""Labels and annotations, of objects and of pod templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlegen.admission import _names
from paddlegen.admission._read import mapping
from paddlegen.model.admission import Rule
from paddlegen.model.policy import Breach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlegen.model.report import FieldPath

ANNOTATION_BYTES = 256 * 1024

RULES = (
    Rule("labels-are-well-formed", "Keys and values of labels, and keys of annotations, are well formed."),
    Rule("annotations-fit", "All annotations of an object together have at most 262,144 bytes."),
)


def metadata_breaches(holder: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    """What is wrong with the labels and annotations in the metadata at `path`."""
    metadata = mapping(holder.get("metadata"))
    yield from label_breaches(mapping(metadata.get("labels")), (*path, "metadata", "labels"))
    annotations, here = mapping(metadata.get("annotations")), (*path, "metadata", "annotations")
    for key in annotations:
        # The server looks at the key in lower case here, unlike at labels.
        if wrong := _names.qualified(key.lower()):
            yield Breach((*here, key), f"annotation {key!r}: {wrong}", rule="labels-are-well-formed")
    size = sum(_size(key) + _size(value) for key, value in annotations.items() if isinstance(value, str))
    if size > ANNOTATION_BYTES:
        message = (
            f"annotations: Too long: must have at most {ANNOTATION_BYTES} bytes; they have {size}, "
            "move the largest into a ConfigMap"
        )
        yield Breach(here, message, rule="annotations-fit")


def label_breaches(labels: Mapping[str, Any], path: FieldPath) -> Iterator[Breach]:
    """What is wrong with the keys and values of labels or of a node selector."""
    for key, value in labels.items():
        if wrong := _names.qualified(key):
            yield Breach((*path, key), f"label {key!r}: {wrong}", rule="labels-are-well-formed")
        if isinstance(value, str) and (wrong := _names.label_value(value)):
            yield Breach((*path, key), f"label {key}={value!r}: {wrong}", rule="labels-are-well-formed")


def _size(value: str) -> int:
    return len(value.encode("utf-8", "surrogatepass"))
