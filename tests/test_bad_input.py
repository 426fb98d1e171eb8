"""Bad input gets a clear finding at its line, and nothing below manifests/ is touched.

Each case writes files into a small repository and says what `check` answers: path, line, column, rule,
and words of the message.  A case has exactly these findings: one mistake, one finding.
"""
# ruff: noqa: E501, S108  # a case reads best as a line

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from paddlegen import documents, kustomize
from paddlegen.__main__ import main
from paddlegen.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parent.parent
PLAIN = "manifests/prod/ads/base/paddlejob-base.yaml"
HEAD = "apiVersion: paddlegen.dev/v1\nkind: JobSpec\nmetadata: {name: ctr, namespace: ads}\nspec:\n"
ROLES = "  image: r.example/x:v1\n  roles:\n    worker: {replicas: 1}\n"
IN_ROLE = "  image: r.example/x:v1\n  roles:\n    worker:\n      replicas: 3\n"
TEMPLATE = "apiVersion: paddlegen.dev/v1\nkind: JobTemplate\nmetadata: {name: %s}\nspec:\n"
STORAGE = (
    "apiVersion: paddlegen.dev/v1\nkind: StorageSpec\nmetadata: {name: nas, namespace: %s}\nspec:\n"
    "  nfs: {server: s, path: /p}\n  size: 1Gi\n"
)
CLUSTER = "apiVersion: paddlegen.dev/v1\nkind: Cluster\nspec:\n"
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\ncomponents:\n- ../v1\n"
PATCH = (
    "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: %s, namespace: %s}\n"
    "spec: {worker: {replicas: 2}}\n"
)


def _has_kustomize() -> bool:
    try:
        kustomize.find()
    except ToolError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_kustomize(), reason="no kustomize here")


class Case(NamedTuple):
    """Files and the lines they lead to: each a tuple of parts that the line holds."""

    files: Mapping[str, str | bytes | None]
    lines: tuple[tuple[str, ...], ...]


def job(body: str, *parts: str, **files: str) -> Case:
    """One job file, and the parts of its one finding."""
    return Case({"jobs/a.yaml": HEAD + body, **{f"jobs/{k}.yaml": v for k, v in files.items()}}, (parts,))


def template(body: str, use: str, *parts: str) -> Case:
    """A template that two jobs extend."""
    files = {
        "jobs/templates/t.yaml": TEMPLATE % "t" + body,
        "jobs/a.yaml": HEAD + use,
        "jobs/b.yaml": HEAD.replace("ctr", "ctr2")
        + (use if "params" not in use else "  extends: [ok]\n" + ROLES),
        "jobs/templates/ok.yaml": TEMPLATE % "ok" + "  gpu: 1\n",
    }
    return Case(files, (parts,) if parts else ())


def overlay(body: str, *parts: str, patch: str | None = None) -> Case:
    """The kustomization of prod, with a patch beside it."""
    files: dict[str, str | bytes | None] = {"overlays/prod/kustomization.yaml": KUSTOMIZATION + body}
    if patch is not None:
        files["overlays/prod/p.yaml"] = patch
    return Case({**files, "jobs/a.yaml": HEAD + IN_ROLE}, (parts,))


PARAMS = (
    "  params:\n    srv: {type: integer}\n    m: {default: x}\n"
    '  env: {M: "${params.m}"}\n  roles: {worker: {replicas: "${params.srv}"}}\n'
)
USE = "  extends: [t]\n" + ROLES
K, P = "overlays/prod/kustomization.yaml", "overlays/prod/p.yaml"

CASES: dict[str, Case] = {
    # text
    "an open quote": job(
        '  image: "x\n', "jobs/a.yaml:5:12:", "the text ends inside quotes", "[yaml-parses]"
    ),
    "a key twice": job(ROLES + "  image: y\n", "jobs/a.yaml:8:3:", '"image" is there already on line 5'),
    "100,000 brackets": Case(
        {"jobs/a.yaml": "[" * 100_000}, (("jobs/a.yaml:1:101:", "nest more than 100 deep"),)
    ),
    "a billion laughs": Case(
        {
            "jobs/a.yaml": "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9)
            )
        },
        (("jobs/a.yaml:1:1:", "aliases repeat 12345678990 values", "[yaml-within-limits]"),),
    ),
    "a tab": job("\troles: {}\n", "jobs/a.yaml:5:1:", "tab used for indentation"),
    "a byte order mark and CRLF": Case(
        {"jobs/a.yaml": b"\xef\xbb\xbf" + (HEAD + ROLES + "  gpus: 1\n").replace("\n", "\r\n").encode()},
        (("jobs/a.yaml:8:3:", "gpus is no field of spec; did you mean gpu?"),),
    ),
    "Latin-1": Case({"jobs/a.yaml": b"a: caf\xe9\n"}, (("jobs/a.yaml:1:7:", "byte 0xe9 is not UTF-8"),)),
    "an empty file": Case({"jobs/a.yaml": ""}, (("jobs/a.yaml:", "the file is empty"),)),
    "only comments": Case({"jobs/a.yaml": "# x\n# y\n"}, (("jobs/a.yaml:", "holds comments only"),)),
    "20 MB": Case({"jobs/a.yaml": b"#" * 20_000_000}, (("jobs/a.yaml:", "20000000 bytes long"),)),
    "two jobs of a name in one file": Case(
        {"jobs/a.yaml": f"{HEAD}{ROLES}---\n{HEAD}{ROLES}"},
        (("jobs/a.yaml:11:18:", "two jobs ctr in the namespace ads", "(cluster gpu, legacy, prod)"),),
    ),
    "two jobs of a name in two files": job(
        ROLES, "jobs/b.yaml:3:18:", "two jobs ctr in the namespace ads", "[job-names-unique]", b=HEAD + ROLES
    ),
    # fields
    "a typo": job(ROLES + "  nodeSelektor: {a: b}\n", "jobs/a.yaml:8:3:", "did you mean nodeSelector?"),
    "a typo in a role": job(
        IN_ROLE + "      gpus: 1\n", "jobs/a.yaml:9:7:", "no field of spec.roles.worker; did you mean gpu?"
    ),
    "a typo in an override": job(
        ROLES + "  overrides:\n    gpu: {roles: {worker: {replica: 2}}}\n",
        "jobs/a.yaml:9:28:",
        "spec.overrides.gpu.roles.worker; did you mean replicas?",
    ),
    "a typo of a field that is needed": job(
        IN_ROLE + "      storage: [{use: nas, mountpath: /n}]\n",
        "jobs/a.yaml:9:28:",
        "spec.roles.worker.storage[0]; did you mean mountPath?",
    ),
    "a role's field on the job": job(
        "  replicas: 2\n" + ROLES, "jobs/a.yaml:5:3:", "replicas belongs under spec.roles.<role>"
    ),
    "a job's field in a role": job(
        IN_ROLE + "      clusters: [gpu]\n", "jobs/a.yaml:9:7:", "clusters belongs under spec"
    ),
    "a role on the job": job("  worker: {}\n" + ROLES, "jobs/a.yaml:5:3:", "worker belongs under spec.roles"),
    "a role's typo": job("  image: x\n  roles: {wroker: {}}\n", "jobs/a.yaml:6:11:", "did you mean worker?"),
    "Kubernetes resources": job(
        IN_ROLE + "      resources: {limits: {cpu: 1}}\n", "jobs/a.yaml:9:7:", "write requests: and limits:"
    ),
    "Kubernetes containers": job(
        IN_ROLE + "      containers: []\n", "jobs/a.yaml:9:7:", "belongs under podTemplate.spec"
    ),
    "a secretKeyRef": job(
        IN_ROLE + "      env: {A: {secretKeyRef: {name: a, key: b}}}\n",
        "jobs/a.yaml:9:17:",
        "write secret: {name",
    ),
    "a quoted count": job(
        '  image: x\n  roles:\n    worker: {replicas: "2"}\n',
        "jobs/a.yaml:7:24:",
        'replicas is text ("2")',
        "write 2 without quotes",
    ),
    "a quoted GPU": job(IN_ROLE + '      gpu: "1"\n', "jobs/a.yaml:9:12:", "write 1 without quotes"),
    "10,001 replicas": job(
        "  image: x\n  roles: {worker: {replicas: 10001}}\n", "jobs/a.yaml:6:30:", "at most 10000"
    ),
    "a command that is text": job(
        IN_ROLE + "      command: python -m train.py\n", "jobs/a.yaml:9:16:", 'write [python, "-m", train.py]'
    ),
    "a Kubernetes env": job(
        IN_ROLE + "      env: [{name: A, value: b}]\n",
        "jobs/a.yaml:9:12:",
        'write NAME: value, such as A: "b"',
    ),
    "a null env": job(
        IN_ROLE + "      env: {A: ~}\n",
        "jobs/a.yaml:9:16:",
        "A is null, which deletes an inherited value",
        'write ""',
    ),
    "a choice in lower case": job(ROLES + "  cleanup: never\n", "jobs/a.yaml:8:12:", "did you mean Never?"),
    "no spec": Case({"jobs/a.yaml": HEAD}, (("jobs/a.yaml:4:1:", "the document has no spec"),)),
    "a name in capitals": Case(
        {"jobs/a.yaml": HEAD.replace("ctr", "CTR_1") + ROLES},
        (("jobs/a.yaml:3:18:", "a letter first; did you mean ctr-1?"),),
    ),
    "a name too long for pods": Case(
        {"jobs/a.yaml": HEAD.replace("ctr", "c" * 60) + ROLES},
        (("jobs/a.yaml:3:18:", "so the name can have 54", "[pod-names-fit]"),),
    ),
    "a PaddleJob": Case(
        {"jobs/a.yaml": "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: a}\n"},
        (
            (
                "jobs/a.yaml:2:7:",
                "PaddleJob of batch.paddlepaddle.org/v1 is no job spec",
                "describe the job in a JobSpec",
            ),
        ),
    ),
    "a kind's typo": Case(
        {"jobs/a.yaml": HEAD.replace("JobSpec", "Jobspec")}, (("jobs/a.yaml:2:7:", "did you mean JobSpec?"),)
    ),
    "a key's typo at the top": Case(
        {"jobs/a.yaml": HEAD.replace("apiVersion", "apiversion")},
        (("jobs/a.yaml:1:1:", "did you mean apiVersion?"),),
    ),
    "an unknown cluster": job(
        ROLES + "  clusters: [prd]\n", "jobs/a.yaml:8:14:", "there is no cluster prd", "did you mean prod?"
    ),
    "an unknown cluster in overrides": job(
        ROLES + "  overrides: {prd: {gpu: 1}}\n", "jobs/a.yaml:8:15:", "did you mean prod?"
    ),
    "settings with a typo": Case(
        {"paddlegen.yaml": "apiVersion: paddlegen.dev/v1\nkind: Config\nspec: {kustomise: x}\n"},
        (("paddlegen.yaml:3:8:", "did you mean kustomize?"),),
    ),
    "settings in two documents": Case(
        {"paddlegen.yaml": "apiVersion: paddlegen.dev/v1\nkind: Config\n---\na: b\n"},
        (("paddlegen.yaml:4:1:", "one document; this file has 2"),),
    ),
    # templates and parameters
    "a template of itself": template("  extends: [t]\n", USE, "jobs/templates/t.yaml:5:13:", "t extends t"),
    "an unknown template": job(
        "  extends: [tt]\n" + ROLES, "jobs/a.yaml:5:13:", "did you mean t?", t=TEMPLATE % "t" + "  gpu: 1\n"
    ),
    "a broken template": template("  gpus: 1\n", USE, "jobs/templates/t.yaml:5:3:", "did you mean gpu?"),
    "a template that is no YAML": template(
        "  gpus: [1\n", USE, "jobs/templates/t.yaml:5:11:", "expected ',' or ']'"
    ),
    "a missing parameter": template(
        PARAMS,
        "  extends: [t]\n  params: {m: x}\n",
        "jobs/a.yaml:5:12:",
        "the parameter srv of the template t has no default",
    ),
    "an undeclared parameter": template(
        PARAMS,
        "  extends: [t]\n  params: {srv: 1, mm: 2}\n  image: x\n",
        "jobs/a.yaml:6:20:",
        "did you mean m?",
    ),
    "a parameter of another type": template(
        PARAMS,
        '  extends: [t]\n  params: {srv: "2"}\n  image: x\n',
        "jobs/a.yaml:6:17:",
        "its template declares integer",
    ),
    "a parameter's value that is not allowed": template(
        PARAMS,
        "  extends: [t]\n  params: {srv: 20000}\n  image: x\n",
        "jobs/a.yaml:6:17:",
        "replicas is 20000; it can be at most 10000",
    ),
    "a parameter's default that is not allowed": template(
        '  params: {c: {default: never}}\n  cleanup: "${params.c}"\n',
        USE,
        "jobs/templates/t.yaml:5:25:",
        "did you mean Never?",
    ),
    "a default of another type": template(
        PARAMS.replace("integer}", "integer, default: abc}"),
        USE,
        "jobs/templates/t.yaml:6:35:",
        "'abc'; its type is integer",
    ),
    "a parameter nobody declares": template(
        PARAMS.replace("params.m", "params.mm"),
        "  extends: [t]\n  params: {srv: 1}\n  image: x\n",
        "jobs/templates/t.yaml:8:12:",
        "${params.mm} has no value",
        "did you mean m?",
    ),
    "a chain of 1,000 templates": Case(
        {f"jobs/templates/t{i}.yaml": TEMPLATE % f"t{i}" + f"  extends: [t{i + 1}]\n" for i in range(1000)}
        | {"jobs/a.yaml": HEAD + USE.replace("[t]", "[t0]")},
        (("jobs/templates/t50.yaml:5:13:", "more than 50 deep"),),
    ),
    "templates that double": Case(
        {
            f"jobs/templates/t{i}.yaml": TEMPLATE % f"t{i}" + f"  extends: [t{i + 1}, t{i + 1}]\n"
            for i in range(30)
        }
        | {
            "jobs/templates/t30.yaml": TEMPLATE % "t30" + "  gpu: 1\n",
            "jobs/a.yaml": HEAD + USE.replace("[t]", "[t0]"),
        },
        (("jobs/a.yaml:5:12:", "more than 500 times"),),
    ),
    # storage
    "storage of another namespace": job(
        "  storage: [{use: nas, mountPath: /n}]\n" + ROLES,
        "jobs/a.yaml:5:19:",
        "it is in the namespace bds",
        s=STORAGE % "bds",
    ),
    "storage with a typo": job(
        "  storage: [{use: nsa, mountPath: /n}]\n" + ROLES,
        "jobs/a.yaml:5:19:",
        "did you mean nas?",
        s=STORAGE % "ads",
    ),
    "broken storage": job(
        "  storage: [{use: nas, mountPath: /n}]\n" + ROLES,
        "jobs/s.yaml:7:3:",
        "sizes is no field",
        s=STORAGE % "ads" + "  sizes: 1\n",
    ),
    "storage that is no YAML": job(
        "  storage: [{use: nas, mountPath: /n}]\n" + ROLES,
        "jobs/s.yaml:7:11:",
        "[yaml-parses]",
        s=STORAGE % "ads" + "  sizes: [\n",
    ),
    "storage twice": job(
        ROLES, "jobs/s.yaml:10:18:", "two StorageSpecs ads/nas", s=STORAGE % "ads" + "---\n" + STORAGE % "ads"
    ),
    "storage of no cluster": job(
        ROLES, "jobs/s.yaml:7:14:", "did you mean prod?", s=STORAGE % "ads" + "  clusters: [prd]\n"
    ),
    # profiles
    "a profile's typo": Case(
        {"overlays/gpu/cluster.yaml": CLUSTER + '  kuberntes: "1.33"\n'},
        (("overlays/gpu/cluster.yaml:4:3:", "did you mean kubernetes?"),),
    ),
    "an empty profile": Case(
        {"overlays/gpu/cluster.yaml": ""}, (("overlays/gpu/cluster.yaml:", "this file has none"),)
    ),
    "no profile": Case(
        {"overlays/gpu/cluster.yaml": None},
        (("overlays/gpu/cluster.yaml:", "the cluster gpu has no profile"),),
    ),
    "a profile of another name": Case(
        {"overlays/gpu/cluster.yaml": CLUSTER.replace("spec:", "metadata: {name: cpu}")},
        (("overlays/gpu/cluster.yaml:3:18:", "the folder is gpu"),),
    ),
    "a profile's ambiguous scalar": Case(
        {"overlays/gpu/cluster.yaml": CLUSTER + "  nodePools: [{name: a, taints: [{value: on}]}]\n"},
        (("overlays/gpu/cluster.yaml:4:42:", 'write true or "on"'),),
    ),
    "a podTemplate's ambiguous scalar": job(
        ROLES + "  podTemplate: {spec: {hostname: no}}\n", "jobs/a.yaml:8:34:", 'write false or "no"'
    ),
    # overlays
    "no kustomization": Case({K: None}, (("overlays/prod:", "has no kustomization.yaml"),)),
    "an empty kustomization": Case({K: ""}, ((f"{K}:", "the file is empty"),)),
    "two kustomizations": Case(
        {"overlays/prod/kustomization.yml": KUSTOMIZATION},
        (("overlays/prod/kustomization.yml:", "keep one"),),
    ),
    "a missing component": overlay("- ../v2\n", f"{K}:5:3:", "overlays/v2 has no kustomization.yaml"),
    "a component outside": overlay("- ../../jobs\n", f"{K}:5:3:", "is outside overlays/"),
    "a component from the network": overlay("- https://h.example/a\n", f"{K}:5:3:", "is outside overlays/"),
    "an overlay of itself": overlay("- ../prod\n", f"{K}:5:3:", "overlays/prod uses overlays/prod"),
    "an unknown field of a kustomization": overlay(
        "patchs: []\n", f"{K}:5:1:", 'kustomize: invalid Kustomization: json: unknown field "patchs"'
    ),
    "a field of the wrong type": overlay(
        "patches: {a: b}\n", f"{K}:5:1:", "kustomize: invalid Kustomization"
    ),
    "a field that names no file": overlay(
        "configurations: [a.yaml]\n", f"{K}:5:1:", "'overlays/prod/a.yaml'"
    ),
    "an unknown field of a target": overlay(
        "patches:\n- target: {kid: x}\n  path: p.yaml\n",
        f"{K}:6:12:",
        'unknown field "kid"',
        patch="- {op: add, path: /a, value: b}\n",
    ),
    "a JSON patch that fails": overlay(
        "patches:\n- target: {kind: PaddleJob}\n  path: p.yaml\n",
        f"{P}:3:9:",
        "kustomize: replace operation does not apply",
        patch="# x\n- op: replace\n  path: /spec/nope/x\n  value: 1\n",
    ),
    "an inline JSON patch that fails": overlay(
        "patches:\n- target: {kind: PaddleJob}\n  patch: |-\n    - op: replace\n      path: /spec/nope/x\n      value: 1\n",
        f"{K}:9:13:",
        "does not apply",
    ),
    "a patch that is no YAML": overlay(
        "patches:\n- path: p.yaml\n", f"{P}:1:5:", "[yaml-parses]", patch="a: [\n"
    ),
    "a patch that is missing": overlay(
        "patches:\n- path: p.yaml\n", f"{K}:6:9:", "there is no file overlays/prod/p.yaml"
    ),
    "a patch from the network": overlay(
        "patches:\n- path: https://h.example/p.yaml\n", f"{K}:6:9:", "is a URL"
    ),
    "an empty patch": overlay("patches:\n- path: p.yaml\n", f"{P}:", "the patch is empty", patch=""),
    "a patch of nothing": overlay(
        "patches:\n- path: p.yaml\n", f"{P}:1:1:", "write apiVersion, kind and metadata.name", patch="a: b\n"
    ),
    "a patch's ambiguous scalar": overlay(
        "patches:\n- path: p.yaml\n",
        f"{P}:4:24:",
        'write true or "on"',
        patch=PATCH.replace("{worker: {replicas: 2}}", "{cleanPodPolicy: on}") % ("ctr", "ads"),
    ),
    "a patch of an unknown object": overlay(
        "patches:\n- path: p.yaml\n",
        f"{P}:3:18:",
        "prod has no PaddleJob ads/ctrr; did you mean ctr?",
        patch=PATCH % ("ctrr", "ads"),
    ),
    "a patch without namespace": overlay(
        "patches:\n- path: p.yaml\n",
        f"{P}:3:18:",
        "it is in the namespace ads: write namespace: ads",
        patch=(PATCH % ("ctr", "x")).replace(", namespace: x", ""),
    ),
    "a target that matches nothing": overlay(
        "patches:\n- target: {kind: PaddleJobb}\n  path: p.yaml\n",
        f"{K}:6:11:",
        "did you mean PaddleJob?",
        patch="- {op: add, path: /a, value: b}\n",
    ),
    "a patch that leaves the folder": overlay(
        "patches:\n- target: {kind: PaddleJob, name: ctr}\n  patch: |-\n    - op: replace\n      path: /metadata/name\n      value: ../../../x\n",
        f"{K}:10:14:",
        "name is '../../../x'",
        "[object-names-valid]",
    ),
    "a patch that breaks the gang": overlay(
        "patches:\n- path: p.yaml\n",
        f"{P}:4:27:",
        "minMember is 3; the job has 2 pods",
        "[gang-size-matches-replicas]",
        patch=PATCH % ("ctr", "ads"),
    ),
    **{
        f"the refused field {field}": overlay(f"{field}: []\n", f"{K}:5:1:", field, "[overlay-is-shardable]")
        for field in (
            "resources",
            "configMapGenerator",
            "namePrefix",
            "replacements",
            "openapi",
            "generators",
            "vars",
        )
    },
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rendered repository with the clusters of this one and a plain job."""
    shutil.copytree(ROOT / "overlays", tmp_path / "overlays")
    legacy = tmp_path / "overlays/legacy/cluster.yaml"
    legacy.write_text(legacy.read_text().replace("0.2.0, watchedNamespace: paddle-system", "0.3.1"))
    shutil.copy(ROOT / "paddlegen.yaml", tmp_path)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/base.yaml").write_text(HEAD.replace("ctr", "base") + ROLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert run("render") == 0
    return tmp_path


def run(*arguments: str) -> int:
    """Run paddlegen in this process."""
    before = sys.argv
    sys.argv = ["paddlegen", *arguments]
    try:
        return main()
    finally:
        sys.argv = before


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
        else:
            file.write_bytes(text if isinstance(text, bytes) else text.encode())


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in sorted((root / "manifests").rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_told_once_at_its_line(
    name: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    write(repository, case.files)
    before = snapshot(repository)
    capsys.readouterr()
    assert run("render", "--format", "concise") == 1
    told = capsys.readouterr().out.splitlines()
    assert len(told) == len(case.lines), told
    for line, parts in zip(told, case.lines, strict=True):
        assert line.startswith(parts[0]), line
        for part in parts[1:]:
            assert part in line
    assert snapshot(repository) == before


def test_a_value_from_a_parameter_is_shown_where_it_was_given_and_used(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, CASES["a parameter's value that is not allowed"].files)
    capsys.readouterr()
    assert run("check") == 1
    out = capsys.readouterr().out
    assert "6 |   params: {srv: 20000}\n  |                 ^^^^^\n" in out
    assert "  |                              ^^^^^^^^^^^^^^^ used here\n" in out


def test_a_patch_that_breaks_the_gang_points_to_overrides_and_the_rendered_line(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, CASES["a patch that breaks the gang"].files)
    capsys.readouterr()
    assert run("check") == 1
    out = capsys.readouterr().out
    assert "  |                           ^\n" in out
    assert "manifests/prod/ads/ctr/podgroup-ctr.yaml:" in out
    assert "minMember: 3" in out
    assert "as rendered" in out
    assert "Change replicas under overrides" in out


def _linked_jobs(root: Path) -> None:
    (root / "jobs").rename(root / "j")
    (root / "jobs").symlink_to("j")


def _jobs_file(root: Path) -> None:
    shutil.rmtree(root / "jobs")
    (root / "jobs").write_text("")


def _into_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _into_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/hostname")


def _fifo(root: Path) -> None:
    os.mkfifo(root / "jobs/x.yaml")


def _socket(root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("jobs/x.yaml")
    assert (root / "jobs/x.yaml").is_socket()


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a FIFO": (_fifo, "x.yaml is no regular file"),
    "a socket": (_socket, "x.yaml is no regular file"),
    "a symlink to itself": (lambda root: (root / "jobs/x.yaml").symlink_to("x.yaml"), "leads to itself"),
    "a dangling symlink": (lambda root: (root / "jobs/x.yaml").symlink_to("none.yaml"), "leads nowhere"),
    "a symlink outside": (
        lambda root: (root / "jobs/x.yaml").symlink_to("/etc/hostname"),
        "leads out of the repository",
    ),
    "a folder outside": (lambda root: (root / "jobs/x").symlink_to("/etc"), "leads out of the repository"),
    "a symlink to the root": (lambda root: (root / "jobs/x").symlink_to(".."), "is a symlink to a folder"),
    "a name with a line break": (
        lambda root: (root / "jobs/x\n.yaml").write_text(""),
        "control character in its name",
    ),
    "a name that is no UTF-8": (
        lambda root: (root / os.fsdecode(b"jobs/\xff.yaml")).write_text(""),
        "another encoding than UTF-8",
    ),
    "jobs as a file": (_jobs_file, "jobs is a file; it needs to be a folder"),
    "jobs as a symlink": (_linked_jobs, "jobs is a symlink"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_plain_file_is_told_and_deletes_nothing(
    name: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare, words = ODD[name]
    prepare(repository)
    before = snapshot(repository)
    capsys.readouterr()
    assert run("render", "--format", "concise") == 1
    out = capsys.readouterr().out
    assert words in out
    assert len(out.splitlines()) == 1
    assert snapshot(repository) == before


@pytest.mark.parametrize("folder", ["jobs", "overlays"])
def test_a_folder_that_lacks_is_told_and_deletes_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    (repository / "paddlegen.yaml").write_text("apiVersion: paddlegen.dev/v1\nkind: Config\n")
    assert run("render") == 0
    before = snapshot(repository)
    assert before
    shutil.rmtree(repository / folder)
    capsys.readouterr()
    assert run("render") == 2
    said = capsys.readouterr().err
    assert f"there is no {folder}/ in {repository}" in said
    assert "make an empty one to have them deleted" in said
    assert snapshot(repository) == before
    (repository / folder).mkdir()
    assert run("render") == 0
    assert [path for path in snapshot(repository) if "/_platform/" not in path] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_stops_the_run(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "jobs/base.yaml").chmod(0)
    assert run("render") == 2
    assert "jobs/base.yaml cannot be read: Permission denied" in capsys.readouterr().err


def test_names_with_spaces_and_chinese_and_a_folder_named_as_a_file_are_fine(repository: Path) -> None:
    write(repository, {"jobs/x.yaml/my job 中文.yaml": HEAD + ROLES})
    assert run("render") == 0
    assert run("check") == 0


def test_several_documents_are_several_specs_and_a_name_may_recur_in_another_namespace(
    repository: Path,
) -> None:
    one = HEAD + ROLES
    write(
        repository, {"jobs/a.yaml": f"{one}---\n{one.replace('ctr', 'ctr2')}---\n{one.replace('ads', 'bds')}"}
    )
    assert run("render") == 0
    assert (repository / "manifests/prod/bds/ctr/paddlejob-ctr.yaml").exists()


ARGUMENTS = {
    "an unknown job": (("check", "bsae"), "there is no job bsae below jobs/; did you mean base?"),
    "one unknown job of two": (("check", "base", "other"), "there is no job other below jobs/"),
    "an unknown cluster": (("check", "--cluster", "prd"), "did you mean prod?"),
    "an unknown root": (("check", "--root", "nowhere"), "--root nowhere is no directory"),
    "an unknown format": (("check", "--format", "txt"), "did you mean 'text'?"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_wrong_argument_is_exit_code_2(
    name: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del repository
    arguments, words = ARGUMENTS[name]
    assert run(*arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("nowhere", "is no program here"),
        ("paddlegen.yaml", "is no program here"),
        ("/bin/true", "does not answer `version` as kustomize does"),
        ("./old", "printed what is no manifest"),
    ],
)
def test_a_kustomize_that_does_not_work_is_exit_code_2(
    program: str,
    words: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (repository / "old").write_text("#!/bin/sh\necho v4.5.7\n")
    (repository / "old").chmod(0o755)
    monkeypatch.setenv("PADDLEGEN_KUSTOMIZE", str(repository / program) if program == "./old" else program)
    assert run("check") == 2
    assert words in capsys.readouterr().err


DRIFT: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte at the end": (
        lambda file: file.write_bytes(file.read_bytes() + b" "),
        "white space or a line end differs",
    ),
    "CRLF": (lambda file: file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n")), f"{PLAIN}:1:1: error"),
    "another value": (
        lambda file: file.write_text(file.read_text().replace("replicas: 1", "replicas: 9")),
        "it says `replicas: 9`, and the spec renders `replicas: 1`",
    ),
    "no file": (lambda file: file.unlink(), f"this spec renders {PLAIN}, which is not there"),
    "half a file": (lambda file: file.write_bytes(file.read_bytes()[:300]), "is not what its spec renders"),
    "a file of somebody else": (
        lambda file: file.write_text("kind: X\n"),
        f"{PLAIN}:1:1: error: this file was not rendered",
    ),
    "a FIFO": (_into_fifo, "is no regular file"),
    "a symlink": (_into_link, "is no regular file"),
}


@pytest.mark.parametrize("name", DRIFT)
def test_a_manifest_that_is_not_as_rendered_is_told(
    name: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, words = DRIFT[name]
    change(repository / PLAIN)
    capsys.readouterr()
    assert run("check", "--format", "concise") == 1
    out = capsys.readouterr().out
    assert words in out
    assert len(out.splitlines()) == 1


def test_a_file_without_our_header_is_left_alone_and_never_overwritten(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, {"manifests/prod/notes.yaml": "a: b\n"})
    assert run("render") == 0
    assert run("check") == 0
    (repository / PLAIN).write_text("kind: X\n")
    before = snapshot(repository)
    assert run("render") == 2
    assert f"{PLAIN} was not rendered by paddlegen; move it away" in capsys.readouterr().err
    assert snapshot(repository) == before


def test_a_file_whose_spec_has_gone_is_told(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        repository, {"manifests/prod/x/y.yaml": "# Rendered by paddlegen from jobs/x.yaml; edit that file.\n"}
    )
    capsys.readouterr()
    assert run("check", "--format", "concise") == 1
    assert "manifests/prod/x/y.yaml:1:1: error: no spec renders this file any more" in capsys.readouterr().out


@pytest.mark.parametrize("as_link", [True, False])
def test_manifests_that_are_no_folder_stop_the_run(
    as_link: bool,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (repository / "manifests").rename(repository / "m")
    if as_link:
        (repository / "manifests").symlink_to("m")
    else:
        (repository / "manifests").write_text("")
    assert run("render") == 2
    assert "manifests" in capsys.readouterr().err


PLAIN_WORDS = [
    "no",
    "on",
    "0777",
    "1e3",
    "12:30",
    "2024-01-02",
    ".inf",
    "0x1F",
    "1_000",
    "=",
    "true",
    "1.10",
    "y",
]


def test_plain_scalars_stay_the_text_that_was_written(repository: Path) -> None:
    env = "".join(f"    V{index}: {word}\n" for index, word in enumerate(PLAIN_WORDS))
    words = [word for word in PLAIN_WORDS if word not in {"12:30", ".inf", "="}]  # no label can be these
    labels = "".join(f"    v{index}: {word}\n" for index, word in enumerate(words))
    args = "".join(f"  - {word}\n" for word in PLAIN_WORDS)
    body = f"{ROLES}  env:\n{env}  nodeSelector:\n{labels}  podLabels:\n{labels}  args:\n{args}"
    write(repository, {"jobs/a.yaml": HEAD + body})
    assert run("render") == 0
    file = repository / "manifests/prod/ads/ctr/paddlejob-ctr.yaml"
    for read in _readers(file):
        template_ = read["spec"]["worker"]["template"]
        container = template_["spec"]["containers"][0]
        assert container["args"] == PLAIN_WORDS
        assert [entry["value"] for entry in container["env"]] == PLAIN_WORDS
        assert [template_["spec"]["nodeSelector"][f"v{i}"] for i in range(len(words))] == words


def _readers(file: Path) -> list[dict]:  # type: ignore[type-arg]
    """The manifest as paddlegen, kustomize and, where it is here, kubectl read it."""
    found = [documents.load(file.read_text())[0][0].value]
    (file.parent / "kustomization.yaml").write_text(f"resources: [{file.name}]\n")
    program = kustomize.find().path
    built = subprocess.run([program, "build", file.parent], capture_output=True, check=True)
    found.append(documents.load(built.stdout.decode())[0][0].value)
    if shutil.which("kubectl"):
        patch = ["kubectl", "patch", "--local", "-f", str(file), "--type=merge", "-p", "{}", "-o", "json"]
        answer = subprocess.run(patch, capture_output=True, check=True)
        found.append(json.loads(answer.stdout))
    return found  # type: ignore[return-value]  # they are mappings


def test_patches_may_delete_rename_and_name_an_object_of_one_shard(repository: Path) -> None:
    delete = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
        "metadata: {name: ctr, namespace: ads}\n$patch: delete\n"
    )
    rename = (
        "patches:\n- path: p.yaml\n- target: {kind: PaddleJob, name: ctr}\n  patch: |-\n"
        "    - {op: replace, path: /metadata/name, value: ctr9}\n"
    )
    case = overlay(rename, patch=delete)
    jobs = {f"jobs/j{i}.yaml": HEAD.replace("ctr", f"j{i}") + ROLES for i in range(300)}
    write(repository, {**case.files, **jobs})
    assert run("render") == 0
    folder = repository / "manifests/prod/ads"
    assert [path.name for path in (folder / "ctr").iterdir()] == ["paddlejob-ctr9.yaml"]
    assert "from jobs/j299.yaml" in (folder / "j299/paddlejob-j299.yaml").read_text()
    assert "name: j299\n" in (folder / "j299/paddlejob-j299.yaml").read_text()


def test_a_job_with_10000_variables_and_10000_replicas_renders(repository: Path) -> None:
    env = "".join(f"    V{i}: {i}\n" for i in range(10_000))
    write(
        repository,
        {"jobs/a.yaml": f"{HEAD}  image: x\n  roles: {{worker: {{replicas: 10000}}}}\n  env:\n{env}"},
    )
    assert run("render", "--cluster", "prod") == 0


def test_a_full_temporary_disk_leaves_the_tree_as_it_was(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device", "/tmp/x")

    write(repository, {"jobs/a.yaml": HEAD + ROLES})
    before = snapshot(repository)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        assert run("render", "--no-cache") == 2
    assert "No space left on device; let TMPDIR name a folder with room" in capsys.readouterr().err
    assert snapshot(repository) == before


def test_no_temporary_folder_stops_the_run(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, {"jobs/a.yaml": HEAD + ROLES})
    monkeypatch.setattr("tempfile.tempdir", str(repository / "nowhere"))
    assert run("render", "--no-cache") == 2
    assert "let TMPDIR name a folder" in capsys.readouterr().err


def _start(root: Path, *arguments: str, **options: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "paddlegen", *arguments]
    return subprocess.Popen(command, cwd=root, env=environment, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_an_interrupted_render_leaves_the_tree_as_it_was(repository: Path) -> None:
    slow = repository / "slow"
    slow.write_text('#!/bin/sh\n[ "$1" = version ] && { echo v5.8.1; exit; }\ntouch started\nexec sleep 60\n')
    slow.chmod(0o755)
    write(
        repository,
        {"paddlegen.yaml": "apiVersion: paddlegen.dev/v1\nkind: Config\nspec: {kustomize: slow}\n"},
    )
    write(repository, {"jobs/a.yaml": HEAD + ROLES})
    before = snapshot(repository)
    process = _start(repository, "render", stdout=subprocess.PIPE)
    while not (repository / "started").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert snapshot(repository) == before


def test_a_closed_standard_output_is_exit_code_141(repository: Path) -> None:
    write(repository, {"jobs/a.yaml": HEAD + "  gpus: 1\n"})
    reading, writing = os.pipe()
    os.close(reading)
    process = _start(repository, "check", stdout=writing)
    os.close(writing)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 141


def test_a_selector_of_a_label_that_the_overlay_itself_writes_is_not_called_idle(repository: Path) -> None:
    (repository / "overlays/v1/kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {tier: batch}}]\n"
    )
    write(
        repository,
        {
            "overlays/prod/kustomization.yaml": KUSTOMIZATION
            + "patches:\n- target: {kind: PaddleJob, labelSelector: tier=batch}\n  patch: |-\n"
            "    - {op: add, path: /metadata/labels/patched, value: seen}\n"
        },
    )
    assert run("render") == 0
    file = repository / "manifests/prod/ads/base/paddlejob-base.yaml"
    assert "    patched: seen\n" in file.read_text()
