"""Whether an SQLite file is just as it was when it was last closed, so that its pages need not be checked again.

SQLite deletes the file `-wal` when the last connection ends; a process that dies leaves it there. After a clean end we
give the file a time of change whose fraction of a second fits this file alone. Whatever writes to the file, copies it
or restores it gives it another time, another place on the disk, or a time that was not set when the system says so; and
a time that a file system has rounded does not fit. Then the pages are checked. Knows no database.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import sha256

_SECOND = 10**9
_STEP = 100
"""Nanoseconds: no usual file system keeps a time less exactly, but those of whole seconds."""
_HEADER = 100


def mark_clean(path: str) -> None:
    """The last connection to a sound file was closed, unless others have the file open still. What cannot be marked is
    checked at the next opening."""
    with suppress(OSError):
        if not os.path.lexists(f"{path}-wal"):
            found = os.stat(path)
            os.utime(path, ns=(found.st_atime_ns, time.time_ns() // _SECOND * _SECOND + _fraction(path, found)))


def is_clean(path: str) -> bool:
    """Whether nothing has opened or changed the file since it was marked. Raises `OSError`."""
    found = os.stat(path)
    is_marked = found.st_mtime_ns % _SECOND == _fraction(path, found)
    is_since = (
        abs(found.st_ctime_ns - found.st_mtime_ns) > 2 * _SECOND
    )  # set by the system, no matter who sets the other
    return is_marked and not is_since and not os.path.lexists(f"{path}-wal")


def _fraction(path: str, found: os.stat_result) -> int:
    """The nanoseconds that fit this file: its first bytes, its size, and which file it is."""
    with open(path, "rb") as file:
        header = file.read(_HEADER)
    digest = sha256(b"%d %d %s" % (found.st_ino, found.st_size, header)).digest()
    return int.from_bytes(digest[:8]) % (_SECOND // _STEP) * _STEP
