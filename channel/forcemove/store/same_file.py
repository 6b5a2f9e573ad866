"""Whether the file of a connection is still the one that has its name. Knows no database."""

from __future__ import annotations

import os

from forcemove.store.errors import JournalUnwritable

__all__ = ["SameFile"]


class SameFile:
    """The file as it was when a connection was made to it."""

    def __init__(self, where: str, path: str | None) -> None:
        """`where`: for errors; `path`: None where there is no file."""
        self._where, self._path = where, path
        self._identity = _identity(path)

    def require(self) -> None:
        """Refuse to write to a file that has lost its name: what is written to it is lost with the process. Raises
        `JournalUnwritable`."""
        if _identity(self._path) != self._identity:
            raise JournalUnwritable(self._where, "the file was removed or replaced while it was in use")


def _identity(path: str | None) -> tuple[int, int] | None:
    if path is None:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
