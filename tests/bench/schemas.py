"""Check manifests against schemas only: the row of the bench that has kubeconform for a peer.

Run as a program it reads every YAML file below a folder and asks for its verdict, start-up included.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from paddlegen import documents, schema
from paddlegen.schema.compiled import json_schema
from paddlegen.schema.view import view

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TOOLS = Path(__file__).parents[2] / ".tools" / "bin"
KINDS = (
    ("batch.paddlepaddle.org/v1", "PaddleJob"),
    ("scheduling.volcano.sh/v1beta1", "PodGroup"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
)


def kubeconform() -> str | None:
    """The program, if `make bench-tools` has built it or it is on PATH."""
    here = TOOLS / "kubeconform"
    return str(here) if here.exists() else shutil.which("kubeconform")


def write(folder: Path) -> None:
    """Write our schemas of those kinds where kubeconform looks for them."""
    folder.mkdir(parents=True, exist_ok=True)
    for api_version, kind in KINDS:
        seen = view(schema.CURRENT, api_version, kind)
        assert seen is not None
        version = api_version.rpartition("/")[2]
        (folder / f"{kind.lower()}-{version}.json").write_text(
            json.dumps({"$schema": DRAFT, **json_schema(seen)})
        )


def peer(program: str, schemas: Path, manifests: Path) -> list[str]:
    """The command line of kubeconform on one core."""
    location = f"{schemas}/{{{{.ResourceKind}}}}-{{{{.ResourceAPIVersion}}}}.json"
    return [program, "-n", "1", "-strict", "-schema-location", location, "-summary", str(manifests)]


def main() -> int:
    """The number of objects below a folder that a current cluster's schemas accept."""
    valid = 0
    for folder, _, files in os.walk(sys.argv[1]):
        for name in files:
            data = (Path(folder) / name).read_bytes()
            for document in documents.loads(data, name)[0]:
                valid += not any(schema.validate(document.value, schema.CURRENT))
    print(f"{valid} valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
