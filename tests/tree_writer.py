"""A render reduced to what it does under its lock, as a program of its own that a test can kill.

    python tree_writer.py ROOT

It says "ready", reads "once A" or "again AB" (the generations to write in turn) and begins. It imports
nothing but the standard library and the tree, so that fifty of them start quickly.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from paddlegen import tree
from paddlegen.errors import WorkspaceError
from paddlegen.lock import lock

JOBS = 50


def generation(salt: str) -> tuple[dict[str, bytes], list[str]]:
    """About 200 files: most differ between generations, some exist in one only."""
    head = tree.header("jobs/a.yaml").encode()
    files = {
        f"ns{job % 5}/job{job}/{kind}.yaml": head + f"{salt if job % 4 else 'same'}-{job}\n".encode() * 20
        for job in range(JOBS)
        for kind in ("paddlejob", "podgroup", "service", f"only-{salt}")
    }
    others = {"A", "B", "C"} - {salt}
    delete = [f"ns{job % 5}/job{job}/only-{other}.yaml" for job in range(JOBS) for other in sorted(others)]
    return files, delete


def main() -> None:
    """Write one generation after the other, and say so on stdout."""
    root = Path(sys.argv[1])
    generations = {salt: generation(salt) for salt in "ABC"}
    print("ready", flush=True)
    mode, salts = sys.stdin.readline().split()
    made = [generations[salt] for salt in salts]
    turn = 0
    while mode == "again" or turn == 0:
        try:
            with lock(root):
                tree.recover(root)
                tree.write(root, "out", *made[turn % len(made)])
            print("wrote", flush=True)
        except WorkspaceError as error:
            if "another paddlegen is writing this repository" not in str(error):
                raise
            print("busy", flush=True)
        turn += 1
        time.sleep(0.002 if mode == "again" else 0)


if __name__ == "__main__":
    main()
