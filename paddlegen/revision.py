"""Files as a revision of the repository has them, asked of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlegen.errors import ToolError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def files(root: Path, revision: str, top: str) -> dict[str, bytes]:
    """The files below `<root>/<top>` at a revision, by their path below `top`.

    Raises:
        UsageError: git knows no such revision here.
        ToolError: git is not there.
    """
    if revision.startswith("-"):
        message = f"--base is {revision}; a revision does not begin with a dash"
        raise UsageError(message)
    if _git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") is None:
        message = f"--base is {revision}, and git knows no such revision"
        raise UsageError(message)
    prefix = (_git(root, "rev-parse", "--show-prefix") or b"").decode().strip()
    listing = _git(root, "ls-tree", "-r", "-z", "--full-tree", f"{revision}:{prefix}{top}") or b""
    names, wanted = [], []
    for entry in filter(None, listing.split(b"\0")):
        head, _, name = entry.partition(b"\t")
        kind, digest = head.split()[1:3]
        if kind == b"blob":
            names.append(name.decode("utf-8", "surrogateescape"))
            wanted.append(digest)
    return dict(zip(names, _blobs(root, wanted), strict=True))


def _blobs(root: Path, digests: list[bytes]) -> list[bytes]:
    output = _git(root, "cat-file", "--batch", given=b"".join(digest + b"\n" for digest in digests)) or b""
    blobs, position = [], 0
    for _ in digests:
        end = output.index(b"\n", position)
        size = int(output[position:end].split()[2])
        blobs.append(output[end + 1 : end + 1 + size])
        position = end + 2 + size
    return blobs


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """What git prints, None if it says no."""
    import subprocess

    try:
        answer = subprocess.run(  # noqa: S603  # every argument is ours, and a revision has no dash
            ["git", "-C", str(root), *arguments],  # noqa: S607  # git is wherever the person has it
            input=given,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        message = "--base needs git, and it is not here"
        raise ToolError(message) from error
    return answer.stdout if answer.returncode == 0 else None
