"""Whether the files of a connection are still those that have their names. Knows no database."""

from __future__ import annotations

import os

from forcemove.store.errors import JournalFileLost, JournalUnwritable

_SUFFIXES = ("-wal", "-shm")
"""What SQLite has beside a file while a connection to it is open."""
_Identity = tuple[int, int]


class SameFile:
    """The file as it was at first, and the files beside it as they were when a connection was made."""

    def __init__(self, where: str, path: str | None) -> None:
        """`where`: for errors; `path`: None where there is no file."""
        self._where, self._path = where, path
        self._identity = _identity(path)
        self._side_files: dict[str, _Identity | None] = {}

    def on_connected(self) -> None:
        """A connection was made: SQLite has put its files beside the file."""
        if self._path is not None:
            self._side_files = {self._path + suffix: _identity(self._path + suffix) for suffix in _SUFFIXES}

    def require(self) -> None:
        """Refuse to write to a file that has lost its name, or to believe what was written to one: it is lost with the
        process. Raises `JournalUnwritable`, and `JournalFileLost` for a file beside it."""
        if _identity(self._path) != self._identity:
            raise JournalUnwritable(self._where, "the file was removed or replaced while it was in use")
        lost = next((path for path, identity in self._side_files.items() if _identity(path) != identity), None)
        if lost is not None:
            raise JournalFileLost(self._where, lost)

    @property
    def is_ours_alone(self) -> bool:
        """Whether no file was replaced: then nobody else has made one, though some may have lost their names."""
        are_ours = all(_identity(path) in (identity, None) for path, identity in self._side_files.items())
        return _identity(self._path) == self._identity and are_ours


def _identity(path: str | None) -> _Identity | None:
    if path is None:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
