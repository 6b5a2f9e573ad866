"""What one client has read of a log: running hashes, 32 bytes an entry. Pure.

The hash over no entry is 32 zero bytes, and over one more `keccak256(hash before || the entry's bytes)`. Two clients
with the same hash over the same number of entries have read the same entries in the same order, faults among them:
the raw bytes are hashed.
"""

from __future__ import annotations

from forcemove.errors import InvalidValue
from forcemove.protocol.hashing import keccak256

__all__ = ["HASH_SIZE", "NOTHING_READ", "History", "running_hash"]

HASH_SIZE = 32
NOTHING_READ = bytes(HASH_SIZE)
"""The hash over no entry."""


def running_hash(before: bytes, entry: bytes) -> bytes:
    """The hash over one more entry."""
    return keccak256(before + entry)


class History:
    """The running hashes over the entries that are known, from the log's beginning on without a gap."""

    def __init__(self, hashes: bytes = NOTHING_READ) -> None:
        """`hashes`: as the property `hashes` returns them. Raises `InvalidValue` if they do not begin with the hash
        over no entry, or end with a part of a hash."""
        if not hashes.startswith(NOTHING_READ) or len(hashes) % HASH_SIZE:
            raise InvalidValue("hashes", hashes, f"hashes of {HASH_SIZE} bytes each, from that over no entry on")
        self._hashes = bytearray(hashes)

    @property
    def hashes(self) -> bytes:
        """The running hashes, from that over no entry on, each 32 bytes."""
        return bytes(self._hashes)

    @property
    def count(self) -> int:
        """How many entries are known."""
        return len(self._hashes) // HASH_SIZE - 1

    def at(self, count: int) -> bytes:
        """The hash over the first `count` entries, of those that are known."""
        return bytes(self._hashes[HASH_SIZE * count : HASH_SIZE * (count + 1)])

    def add(self, entry: bytes) -> None:
        """Add an entry."""
        self._hashes += running_hash(self.at(self.count), entry)

    def accept_hash(self, count: int, hash_: bytes) -> bool:
        """Whether the hash over the first `count` entries can be this one. `count` is at most one more than are known;
        a hash over one more is taken as known from then on."""
        if count > self.count:
            self._hashes += hash_
        return self.at(count) == hash_
