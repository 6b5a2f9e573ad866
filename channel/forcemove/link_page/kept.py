"""What a tab keeps between its lives: a key, and the journal's image. Knows no browser: see `Slot`.

An image is written into two slots in turn, each as number (8 bytes) ‖ BLAKE2b-256 over number and image (32) ‖ image.
The newest that is whole counts, so that what is torn by a crash is the image that nobody relied on yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, Protocol

from forcemove.errors import InvalidValue
from forcemove.keys.key_files import new_key
from forcemove.protocol.signing import Key
from forcemove.store.errors import JournalDamaged

_NUMBER, _HASH = 8, 32
_WHERE = "this browser"


class Slot(Protocol):
    """A file that nobody else has open meanwhile."""

    def read(self) -> bytes:
        """All of it; empty where nothing was written. Raises `OSError`."""
        ...

    def write(self, data: bytes) -> None:
        """Put this in place of what is there; returns when it is on disk. Raises `OSError`, and leaves anything."""
        ...


class _Kept(NamedTuple):
    number: int
    image: bytes


class KeptImage:
    """The journal's bytes in two slots, as `open_image` wants them."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        """`slots`: two, always the same ones, in the same order."""
        self._slots = slots
        self._number = 0

    def read(self) -> bytes:
        """The newest whole image; empty where none was ever kept. Raises `JournalDamaged` where there were images, and
        none is whole."""
        found = [slot.read() for slot in self._slots]
        whole = [kept for kept in map(_whole, found) if kept is not None]
        if not whole and all(found):  # else the first image was not kept yet
            raise JournalDamaged(_WHERE, "neither of the two copies is whole")
        self._number, image = max(whole, default=_Kept(0, b""))
        return image

    def write(self, image: bytes) -> None:
        """Keep an image; returns when it is kept. Raises `OSError`: then the one before counts."""
        number = (self._number + 1).to_bytes(_NUMBER)
        self._slots[(self._number + 1) % len(self._slots)].write(number + _hash(number + image) + image)
        self._number += 1


def kept_key(slot: Slot, *, has_journal: bool) -> Key:
    """The key of a slot; a new one where there is none. Raises `JournalDamaged` where it is not whole and a journal
    needs it, and `OSError`.

    `has_journal`: whether a journal was kept: before that nothing was signed.
    """
    try:
        return Key(slot.read())
    except InvalidValue:
        if has_journal:
            raise JournalDamaged(_WHERE, "its key is lost") from None
    key = new_key()
    slot.write(key.secret)
    return key


def _whole(data: bytes) -> _Kept | None:
    """What a slot has; None where that is torn, or nothing."""
    number, hash_, image = data[:_NUMBER], data[_NUMBER : _NUMBER + _HASH], data[_NUMBER + _HASH :]
    return _Kept(int.from_bytes(number), image) if hash_ and hash_ == _hash(number + image) else None


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=_HASH).digest()
