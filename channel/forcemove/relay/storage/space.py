"""The disk that a store takes: how much there is, what is put back into the file from beside it, and a reserve to
delete from when the disk is full. In the thread that writes."""

from __future__ import annotations

import os
from contextlib import suppress

from forcemove.errors import JournalUnavailable
from forcemove.store.session import SqliteSession

__all__ = ["RESERVE", "Space"]

RESERVE = 16 * 2**20
"""Bytes of a file that is there to be deleted: deleting tables takes disk, too, before it gives any back."""
_BESIDE = 32 * 2**20
"""Bytes that the write-ahead log may take, which is beside the store's file; some more while it is put back."""
_LONG = 4_000
"""Pages of the write-ahead log after which it is put back."""


class Space:
    """Of one store. What is in memory has no bound of a disk's."""

    def __init__(self, session: SqliteSession, reader: SqliteSession) -> None:
        """`reader`: the session that reads while `session` writes."""
        self._session, self._reader = session, reader
        self._reserve = None if session.file is None else f"{session.file}.reserve"
        self._page: int = session.row("PRAGMA page_size")[0]
        self._most = 0
        self._pages = 0

    def start(self, most: int) -> None:
        """Let the store's file have so many bytes at most, and lay up the reserve."""
        self._most = most
        self._session.row(f"PRAGMA max_page_count = {most // self._page}")
        self._session.row(f"PRAGMA wal_autocheckpoint = {2 * _LONG}")  # should nobody put it back
        self._hold()

    def measure(self) -> tuple[int, int]:
        """The bytes of the store that are in use, and how many there may be: a disk may have less than was granted."""
        pages, unused = self._session.row("PRAGMA page_count")[0], self._session.row("PRAGMA freelist_count")[0]
        return (pages - unused) * self._page, min(self._most, pages * self._page + self._free())

    def note(self, rows: int, size: int) -> None:
        """So much was committed: each row may change two pages."""
        self._pages += 2 * rows + size // self._page + 1

    @property
    def is_log_long(self) -> bool:
        """Whether the write-ahead log should be put back; see `put_back`."""
        return self._pages > _LONG

    def put_back(self) -> None:
        """Begin the write-ahead log anew; what is in it goes to its places in the file. Few pages are left to do, where
        `LogReader.put_back` was called before. No reader may be in between, or the log only grows."""
        self._pages = 0
        with self._reader.paused():
            self._session.rows("PRAGMA wal_checkpoint(RESTART)")

    def release(self) -> None:
        """The disk is full: give up the reserve, so that something can be deleted."""
        if self._reserve is not None:
            with suppress(OSError):
                os.unlink(self._reserve)

    def recover(self) -> bool:
        """Whether something can be written again, and the reserve is there."""
        try:
            with self._session.writing() as connection:
                connection.execute("UPDATE forcemove_journal SET version = version")
            with self._reader.paused():
                self._session.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        except JournalUnavailable:
            return False
        return self._hold()

    def _free(self) -> int:
        """Bytes that the store's file may still grow by, as far as the disk goes."""
        if self._session.file is None:
            return self._most
        found = os.statvfs(os.path.dirname(self._session.file))
        return max(0, found.f_bavail * found.f_frsize - _BESIDE)

    def _hold(self) -> bool:
        if self._reserve is None:
            return True
        try:
            descriptor = os.open(self._reserve, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, RESERVE)
            finally:
                os.close(descriptor)
        except OSError:
            self.release()
            return False
        return True
