"""The disk that a store takes: how much there is, when the write-ahead log is put back into the store's file, and a
reserve that is given up when the disk is full, so that tables can be deleted. In the thread that writes."""

from __future__ import annotations

import os
from contextlib import suppress

from forcemove.errors import JournalUnavailable
from forcemove.store.session import SqliteSession

RESERVE = 16 * 2**20
"""Bytes of the reserve, a file that is there to be deleted: deleting tables takes disk before it gives any back."""
_WRITE_AHEAD_LOG = 32 * 2**20
"""Bytes that the write-ahead log, a file next to the store's, may take; some more while it is put back."""
_LONG = 4_000
"""Pages of the write-ahead log after which it is put back."""


class Space:
    """The disk of one store. A store in memory has no bound of a disk."""

    def __init__(self, session: SqliteSession, reader: SqliteSession) -> None:
        """`reader`: the session that reads while `session` writes."""
        self._session, self._reader = session, reader
        self._reserve = None if session.file is None else f"{session.file}.reserve"
        self._page: int = session.row("PRAGMA page_size")[0]
        self._most = 0
        self._pages = 0

    def start(self, most: int) -> None:
        """Let the store's file have `most` bytes, and make the reserve."""
        self._most = most
        self._session.row(f"PRAGMA max_page_count = {most // self._page}")
        self._session.row(f"PRAGMA wal_autocheckpoint = {2 * _LONG}")  # if `put_back` is not called
        self._hold()

    def measure(self) -> tuple[int, int]:
        """The bytes of the store that are in use, and how many there may be: the disk may have less than `most`."""
        pages, unused = self._session.row("PRAGMA page_count")[0], self._session.row("PRAGMA freelist_count")[0]
        return (pages - unused) * self._page, min(self._most, pages * self._page + self._free())

    def note(self, rows: int, size: int) -> None:
        """Count what was committed: each row may change two pages. `size`: bytes."""
        self._pages += 2 * rows + size // self._page + 1

    @property
    def is_log_long(self) -> bool:
        """Whether the write-ahead log should be put back; see `put_back`."""
        return self._pages > _LONG

    def put_back(self) -> None:
        """Copy the write-ahead log into the store's file, and begin the log again. Few pages are left to copy where
        `LogReader.put_back` was called before. The reader is paused meanwhile, or the log would only grow."""
        self._pages = 0
        with self._reader.paused():
            self._session.rows("PRAGMA wal_checkpoint(RESTART)")

    def release(self) -> None:
        """Give up the reserve, so that tables can be deleted from a full disk."""
        if self._reserve is not None:
            with suppress(OSError):
                os.unlink(self._reserve)

    def recover(self) -> bool:
        """Try to write and to make the reserve again; returns whether both were done."""
        try:
            with self._session.writing() as connection:
                connection.execute("UPDATE forcemove_journal SET version = version")
            with self._reader.paused():
                self._session.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        except JournalUnavailable:
            return False
        return self._hold()

    def _free(self) -> int:
        """Bytes of disk that are free for the store's file to grow."""
        if self._session.file is None:
            return self._most
        found = os.statvfs(os.path.dirname(self._session.file))
        return max(0, found.f_bavail * found.f_frsize - _WRITE_AHEAD_LOG)

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
