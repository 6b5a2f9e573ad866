"""What a tab keeps: an image in two slots, and a key, whatever becomes of a write."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from forcemove.keys.key_files import new_key
from forcemove.link_page.kept import KeptImage, kept_key
from forcemove.store.errors import JournalDamaged

ROUNDS = 2_000


class Disk:
    """A `Slot` in memory. `data`: what it has; a write of which only `torn` bytes are written fails."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.torn: int | None = None

    def read(self) -> bytes:
        return self.data

    def write(self, data: bytes) -> None:
        self.data = data[: self.torn]
        if self.torn is not None:
            raise OSError("there is no room")


def test_nothing_was_kept_at_first() -> None:
    assert KeptImage((Disk(), Disk())).read() == b""


def test_the_newest_image_is_read_back() -> None:
    disks = Disk(), Disk()
    for number in range(5):
        kept = KeptImage(disks)
        kept.read()
        kept.write(b"%d" % number)
        assert KeptImage(disks).read() == b"%d" % number


def test_a_torn_write_leaves_the_image_before_it() -> None:
    random = Random(1)
    disks, kept, newest = (Disk(), Disk()), None, b""
    for _ in range(ROUNDS):
        if kept is None or random.random() < 0.2:
            kept = KeptImage(disks)
            assert kept.read() == newest
        image = random.randbytes(random.randrange(100))
        for disk in disks:
            disk.torn = random.randrange(40 + len(image)) if random.random() < 0.3 else None
        is_torn = any(disk.torn is not None for disk in disks)
        with suppress(OSError):
            for _ in disks if is_torn else disks[:1]:
                kept.write(image)
                newest = image
        kept = None if is_torn else kept


@pytest.mark.parametrize("place", [0, 7, 8, 39, 40, -1])
def test_a_byte_that_has_changed_makes_an_image_count_for_nothing(place: int) -> None:
    disks = Disk(), Disk()
    kept = KeptImage(disks)
    kept.write(b"first")
    kept.write(b"second")
    newest = max(disks, key=lambda disk: disk.data[:8])
    data = bytearray(newest.data)
    data[place] ^= 1
    newest.data = bytes(data)
    assert KeptImage(disks).read() == b"first"


def test_it_is_said_where_neither_image_is_whole() -> None:
    disks = Disk(b"x"), Disk(b"y")
    with pytest.raises(JournalDamaged):
        KeptImage(disks).read()


def test_the_first_image_that_is_torn_is_none() -> None:
    assert KeptImage((Disk(), Disk(b"torn"))).read() == b""


def test_a_key_is_made_once() -> None:
    disk = Disk()
    key = kept_key(disk, has_journal=False)
    assert kept_key(disk, has_journal=True).address == key.address
    assert disk.data == key.secret


@pytest.mark.parametrize("data", [b"", new_key().secret[:-1], bytes(32)], ids=["none", "cut", "zeros"])
def test_a_key_that_is_not_whole_is_made_anew_while_there_is_no_journal(data: bytes) -> None:
    disk = Disk(data)
    assert kept_key(disk, has_journal=False).secret == disk.data != data
    disk.data = data
    with pytest.raises(JournalDamaged):
        kept_key(disk, has_journal=True)
