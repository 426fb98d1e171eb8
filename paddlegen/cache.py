"""What was computed before, by the digest of everything it was computed from.

`.paddlegen/cache/` is safe to delete at any time.  A key names its inputs completely, so a value
never needs to be checked; a file that cannot be read or written is a cache that is empty.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import paddlegen
from paddlegen.errors import WorkspaceError
from paddlegen.lock import state_folder

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

_BATCH = 500
_LIMIT = 512 * 1024 * 1024
_SCHEMA = "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def key(*parts: bytes | str) -> bytes:
    """A key of these parts, in which no two lists of parts look alike."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def code_identity() -> bytes:
    """The digest of paddlegen itself: its version and every file of the package that takes part."""
    package = Path(paddlegen.__file__).parent
    parts: list[bytes | str] = [paddlegen.__version__]
    for path in sorted(package.rglob("*")):
        if path.suffix in {".py", ".json"} and "cli" not in path.relative_to(package).parts[:1]:
            parts += [path.relative_to(package).as_posix(), path.read_bytes()]
    return key(*parts)


class Cache:
    """A persistent mapping from keys to values; `Cache(None)` holds nothing."""

    def __init__(self, root: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        if root is not None:
            with suppress(OSError, WorkspaceError):
                self._connection = _open(Path(state_folder(root)) / "cache")

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there."""
        import sqlite3

        found: dict[bytes, bytes] = {}
        if self._connection is None:
            return found
        with suppress(sqlite3.Error):
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                rows = self._connection.execute(
                    f"SELECT key, value FROM entries WHERE key IN ({marks})", batch
                )  # only question marks
                found.update(rows)
        return found

    def put(self, values: Mapping[bytes, bytes] | Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values for later; where that is not possible, do nothing."""
        import sqlite3

        if self._connection is None:
            return
        pairs = values.items() if hasattr(values, "items") else values
        with suppress(sqlite3.Error), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", pairs)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()


def _open(folder: Path) -> sqlite3.Connection | None:
    import sqlite3

    folder.mkdir(exist_ok=True)
    path = folder / "v1.sqlite"
    if path.exists() and path.stat().st_size > _LIMIT:
        path.unlink()
    for _ in range(2):
        try:
            connection = sqlite3.connect(path, timeout=5)
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(_SCHEMA)
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
        else:
            return connection
    return None
