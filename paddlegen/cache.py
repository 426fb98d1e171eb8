"""What was computed before, by the digest of everything it was computed from.

`.paddlegen/cache/` is safe to delete at any time.  A key names its inputs completely, so a value
never needs to be compared; a file that cannot be read or written is a cache that is empty.
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import yaml

import paddlegen
from paddlegen.errors import WorkspaceError
from paddlegen.lock import state_folder

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

_BATCH = 500
_SEAL = 8
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
    """The digest of paddlegen itself: its version, every file that takes part, and what it reads with."""
    package = Path(paddlegen.__file__).parent
    parts: list[bytes | str] = [paddlegen.__version__, sys.version, yaml.__version__, msgspec.__version__]
    for path in sorted(package.rglob("*")):
        if path.suffix in {".py", ".json"} and "cli" not in path.relative_to(package).parts[:1]:
            parts += [path.relative_to(package).as_posix(), path.read_bytes()]
    return key(*parts)


class Cache:
    """A persistent mapping from keys to values; `Cache(None)` holds nothing.

    Every value is kept with its digest, so that what a failing disk returns is a value that is not there.
    """

    def __init__(self, root: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        self._path = Path()
        if root is not None:
            with suppress(OSError, WorkspaceError):
                self._path = Path(state_folder(root)) / "cache" / "v2.sqlite"
                self._connection = _open(self._path)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, value FROM entries WHERE key IN ({marks})"  # noqa: S608  # only marks
            with self._guarded() as connection:
                if connection is not None:
                    found.update(connection.execute(query, batch))
        return {name: value[_SEAL:] for name, value in found.items() if value == _sealed(name, value[_SEAL:])}

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values for later; where that is not possible, do nothing."""
        if not values:
            return
        rows = [(name, _sealed(name, value)) for name, value in values.items()]
        with self._guarded() as connection:
            if connection is not None:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", rows)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection | None]:
        """The connection; a file that turns out to be damaged is forgotten, and made anew by the next run."""
        import sqlite3  # 4 ms, and not needed with --no-cache

        try:
            yield self._connection
        except sqlite3.OperationalError:
            pass  # locked, full or read-only: a cache that is empty
        except sqlite3.DatabaseError:
            self.close()
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def _sealed(name: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, key=name, digest_size=_SEAL).digest() + value


def _open(path: Path) -> sqlite3.Connection | None:
    import sqlite3

    path.parent.mkdir(exist_ok=True)
    if path.exists() and path.stat().st_size > _LIMIT:
        path.unlink()
    for _ in range(2):
        try:
            connection = sqlite3.connect(path, timeout=5)
        except sqlite3.Error:
            return None
        try:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(_SCHEMA)
        except sqlite3.OperationalError:  # busy, or read-only
            connection.close()
            return None
        except sqlite3.DatabaseError:  # no database, or a damaged one
            connection.close()
            path.unlink(missing_ok=True)
        else:
            return connection
    return None
