"""Whether another process that uses the same file is alive: each holds a lock on a file of its own in the same folder,
which the system frees when the process ends. So the leases of a dead process need not be waited for. Only for files:
all processes are on one machine.

A process that is stopped, or hangs, is alive: its leases expire.
"""

from __future__ import annotations

import contextlib
import os

try:
    import fcntl
except ImportError:  # pragma: no cover  # on systems without such locks everybody is waited for
    fcntl = None  # type: ignore[assignment]


class Presence:
    """The presence of one owner of leases. No file is written before `show`."""

    def __init__(self, file: str, owner: bytes) -> None:
        """`file`: the journal's."""
        self._file, self._owner = file, owner
        self._lock: int | None = None

    def show(self) -> None:
        """Let others see that this process is alive, until it ends or `close` is called. On a file system without locks
        or without room nothing is shown: then others wait for us as long as a lease lasts."""
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
        """Whether another owner's process has shown itself, and has ended without closing."""
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
        """Delete our file."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path_of(self._owner))
            os.close(self._lock)
            self._lock = None

    def _path_of(self, owner: bytes) -> str:
        folder, name = os.path.split(self._file)
        return os.path.join(folder, f".{name}.{owner.hex()}.lives")
