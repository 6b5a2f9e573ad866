"""The file in which a demonstration keeps its unfinished channels, so that a run that was cut off loses no money.

It is written whole, to a new file that takes the old one's place when it is on the disk, and only its owner can read
it. A run that has it open holds a lock. When every channel is paid out the file is deleted.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Self

from forcemove.channel.cli.demo.records import Kept, Ledger, decode_ledger, encode_ledger
from forcemove.channel.cli.errors import Explained
from forcemove.channel.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.channel.protocol.channel import Channel

__all__ = [
    "RecordDamaged",
    "RecordInUse",
    "RecordOfAnotherVersion",
    "RecordUnwritable",
    "SeatStore",
    "Unfinished",
    "record_path",
]


class RecordDamaged(Explained):
    """The file is not what was written; it was left as it is."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The record of unfinished channels, {path}, is damaged: {reason}.",
            "It was left as it is, and nothing was sent: money may be locked in the channels that it names. Restore it "
            "from a copy; or move it away to give them up.",
            path=str(path),
        )


class RecordOfAnotherVersion(Explained):
    """The file was written by another version of this program; it was left as it is."""

    def __init__(self, path: Path, error: UnknownVersion) -> None:
        super().__init__(
            f"The record of unfinished channels, {path}, is of version {error.version}; this program knows version "
            f"{error.known}.",
            "It was left as it is. Run the version that has written it, which brings the money home.",
            path=str(path),
        )


class RecordInUse(Explained):
    """Another demonstration has the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"Another demonstration is playing with this account on this chain ({path} is in use); nothing was sent.",
            "Wait until it is over, or play with another --key.",
            path=str(path),
        )


class RecordUnwritable(Explained):
    """The file could not be written, so what depended on it was not sent."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The record of unfinished channels, {path}, cannot be written: {reason}.",
            "Nothing is signed or paid that is not recorded first. Make room, or choose another place with --book.",
            path=str(path),
        )


def record_path(book: Path, payer: bytes) -> Path:
    """Where the record lies: beside the address book, one for each payer."""
    return book.with_name(f"{book.stem}.demo-{payer[:4].hex()}.json")


class Unfinished:
    """The record of one payer's channels on one chain, locked for this process until `close`."""

    def __init__(self, path: Path, chain_id: int, payer: bytes) -> None:
        """Raises `RecordInUse`, `RecordDamaged`, `RecordOfAnotherVersion`, `RecordUnwritable`."""
        self.path = path
        self._lock = _lock(path)
        try:
            self._ledger = _read(path) or Ledger(chain_id, payer)
            if (self._ledger.chain_id, self._ledger.payer) != (chain_id, payer):
                raise RecordDamaged(path, "it is of another account or another chain")
        except BaseException:
            self.close()
            raise

    @property
    def channels(self) -> tuple[Kept, ...]:
        """What is unfinished, oldest first."""
        return tuple(self._ledger.channels.values())

    def store(self, begun: Kept, seat: int) -> SeatStore:
        """Where the client of a seat keeps its channel. Nothing is written before it has something to keep."""
        return SeatStore(self, begun, seat)

    def save(self, begun: Kept, channel: Channel) -> None:
        """Write down a seat's view of a channel. Raises `RecordUnwritable`; then the file has the view from before."""
        id_, view = begun.agreement.channel_id, channel.forget_chain()
        known = self._ledger.channels.get(id_)
        seats = known.seats if known else {}
        if seats.get(view.index) == view:
            return
        self._write({**self._ledger.channels, id_: replace(begun, seats={**seats, view.index: view})})

    def load(self, channel_id: bytes, seat: int) -> Channel | None:
        """A seat's view as it was written last."""
        kept = self._ledger.channels.get(channel_id)
        return None if kept is None else kept.seats.get(seat)

    def forget(self, channel_id: bytes) -> None:
        """A channel is over, and nothing is left in it."""
        if channel_id in self._ledger.channels:
            self._write({id_: kept for id_, kept in self._ledger.channels.items() if id_ != channel_id})

    def set_aside(self, channel_id: bytes) -> Path:
        """Move a channel, which is not of this chain, to a file of its own, and say which. Taking the record's name it
        would be a record again. Raises `RecordUnwritable`."""
        path = self.path.with_name(f"{self.path.stem}.{channel_id[:4].hex()}.json")
        alone = {channel_id: self._ledger.channels[channel_id]}
        try:
            _replace(path, encode_ledger(replace(self._ledger, channels=alone)))
        except OSError as error:
            raise RecordUnwritable(path, error.strerror or str(error)) from None
        self.forget(channel_id)
        return path

    def _write(self, channels: dict[bytes, Kept]) -> None:
        ledger = replace(self._ledger, channels=channels)
        try:
            if channels:
                _replace(self.path, encode_ledger(ledger))
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise RecordUnwritable(self.path, error.strerror or str(error)) from None
        self._ledger = ledger

    def close(self) -> None:
        """Let the next demonstration have it."""
        if self._lock is not None:
            _lock_path(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SeatStore:
    """One client's memory; see `forcemove.channel.node.ports.Store`."""

    def __init__(self, unfinished: Unfinished, begun: Kept, seat: int) -> None:
        self._unfinished, self._begun, self._seat = unfinished, begun, seat

    def save(self, channel: Channel) -> None:
        """Returns when it is on the disk. Raises `RecordUnwritable`."""
        self._unfinished.save(self._begun, channel)

    def load(self, channel_id: bytes) -> Channel | None:
        """What was saved last, in this run or an earlier one."""
        return self._unfinished.load(channel_id, self._seat)

    def keep_evidence(self, channel_id: bytes, error: ForcemoveError) -> None:
        """Both sides are ours: the story shows what one of them does wrong, and nobody is to be convinced."""


# -------------------------------------------------------------------------------------------------------------- files


def _read(path: Path) -> Ledger | None:
    try:
        return decode_ledger(path.read_bytes())
    except FileNotFoundError:
        return None
    except UnknownVersion as error:
        raise RecordOfAnotherVersion(path, error) from None
    except MalformedBytes as error:
        raise RecordDamaged(path, error.reason) from None
    except OSError as error:
        raise RecordDamaged(path, error.strerror or str(error)) from None


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file, flush to the disk, and rename; the new name is flushed, too."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _lock(path: Path) -> int | None:
    """A lock that ends with the process. Raises `RecordInUse`, `RecordUnwritable`."""
    import fcntl  # on systems without it, chains inside this process can be played on all the same

    name = _lock_path(path)
    while True:
        try:
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise RecordUnwritable(path, error.strerror or str(error)) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise RecordInUse(path) from None
        except OSError as error:  # a file system without locks
            os.close(descriptor)
            raise RecordUnwritable(path, error.strerror or str(error)) from None
        if _is_still(name, descriptor):
            return descriptor
        os.close(descriptor)  # its last holder has taken the file away just now: lock the next one


def _is_still(name: Path, descriptor: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(name.stat(), os.fstat(descriptor))
    return False
