"""What we say kustomize prints is what it prints, or we say nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddlegen import documents, kustomize, overlay
from paddlegen.printed import printed

ROOT = Path(__file__).parent.parent

words = st.one_of(
    st.sampled_from(
        [
            *(
                "on",
                "y",
                "No",
                "null",
                "~",
                "",
                "0",
                "07",
                "0x1f",
                "1e3",
                "1.5",
                "1_000",
                "12:30",
                ".inf",
                "nan",
            ),
            *(
                "2024-01-02",
                "0.3.5",
                "1.2.3.4",
                "16Gi",
                "100m",
                "5E",
                "1k",
                "-m",
                "--lr=0.1",
                "-",
                "--",
                "---",
            ),
            *(
                "a b",
                "a: b",
                "a #b",
                "a:b",
                "http://h:80/p",
                "/nas",
                "/",
                "x@sha256:ab",
                "{a}",
                "[a]",
                "=",
                "a=b",
            ),
            *(
                "中文",
                "line\nline",
                "trail ",
                " lead",
                "'q'",
                '"q"',
                "tab\t",
                "*a",
                "&a",
                "!a",
                "%a",
                "@a",
                "`a",
            ),
        ]
    ),
    st.text("abY01.:/-_ =", max_size=8),
)
values = st.recursive(
    st.one_of(words, st.integers(-10, 10**12), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.needs_kustomize
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(values, min_size=30, max_size=30))
def test_it_is_never_another_object_than_kustomize_printed(tmp_path: Path, drawn: list[object]) -> None:
    bodies = [
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": f"n{i}"}, "spec": {"v": value}}
        for i, value in enumerate(drawn)
    ]
    (tmp_path / "kustomization.yaml").write_text("resources: [base.yaml]\nsortOptions: {order: fifo}\n")
    base = "\n---\n".join(json.dumps(body, ensure_ascii=False) for body in bodies)
    (tmp_path / "base.yaml").write_text(base)
    try:
        output = kustomize.build(kustomize.find(), tmp_path)
    except kustomize.BuildError:  # kustomize refuses some texts, as a merge key
        return
    for text, body in zip(overlay.split(output), bodies, strict=True):
        if printed(body) == text:
            assert documents.load(text, max_bytes=None)[0][0].value == body


def test_it_knows_every_manifest_of_this_repository() -> None:
    files = sorted((ROOT / "manifests").rglob("*.yaml"))
    texts = [file.read_text().partition("\n")[2] for file in files if "_platform" not in file.parts]
    unknown = [text for text in texts if printed(documents.load(text)[0][0].value) != text]  # type: ignore[arg-type]  # manifests are mappings
    assert len(unknown) <= len(texts) // 4
    assert texts
