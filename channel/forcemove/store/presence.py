"""Whether another process that uses the same file still lives: a lock on a file beside it, which the system lets go
when the process ends. So what a dead process has leased need not be waited for. Only for files: all are on one machine.

One that is stopped, or hangs, lives: its leases expire.
"""

from __future__ import annotations

import contextlib
import os

try:
    import fcntl
except ImportError:  # pragma: no cover  # on systems without such locks everybody is waited for
    fcntl = None  # type: ignore[assignment]

__all__ = ["Presence"]


class Presence:
    """Of one owner of leases. Nothing is written before `show`."""

    def __init__(self, file: str, owner: bytes) -> None:
        """`file`: the journal's."""
        self._file, self._owner = file, owner
        self._lock: int | None = None

    def show(self) -> None:
        """Let others see that this process lives, until it ends or `close` is called. A file system without locks, or
        without room, shows nothing: then others wait for us as long as a lease lasts."""
        if self._lock is not None or fcntl is None:
            return
        with contextlib.suppress(OSError):
            descriptor = os.open(self._path_of(self._owner), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
            else:
                self._lock = descriptor

    def is_gone(self, owner: bytes) -> bool:
        """Whether another owner's process has shown itself, and has ended without a word."""
        if fcntl is None or owner == self._owner:
            return False
        path = self._path_of(owner)
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)
            finally:
                os.close(descriptor)
            return True
        return False

    def close(self) -> None:
        """Leave nothing behind."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path_of(self._owner))
            os.close(self._lock)
            self._lock = None

    def _path_of(self, owner: bytes) -> str:
        folder, name = os.path.split(self._file)
        return os.path.join(folder, f".{name}.{owner.hex()}.lives")
