"""Opens the journal that a command names, and finds channels in it by typed ids."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import hexdigits

from forcemove.cli.errors import Explained
from forcemove.cli.games import usable_games
from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.inspect.journal_channel import (
    JournalChannel,
    read_channels,
    read_journal_channel,
    read_listed_channel,
)
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.node.errors import ChannelInUse
from forcemove.protocol.codec.json_text import hex_text
from forcemove.store.errors import AlreadyMoved, JournalDamaged
from forcemove.store.journal import Journal
from forcemove.store.opening import open_journal
from forcemove.store.records import OWNER_LENGTH, ChannelLease

_FEWEST_DIGITS = 4
_LEASE = 60.0


def open_store(where: str, *, may_be_new: bool = False) -> Journal:
    """The journal, for this process. Raises what `open_journal` raises, and `Explained` where there is none."""
    if not may_be_new and "://" not in where and not Path(where).exists():
        raise Explained(
            f"There is no journal at {where!r:.200}.", "Name it with --store, or with the variable FORCEMOVE_STORE."
        )
    return open_journal(where, owner=secrets.token_bytes(OWNER_LENGTH))


@contextmanager
def holding(journal: Journal, ids: Sequence[bytes]) -> Iterator[None]:
    """Within the block no other process plays these channels. Raises `ChannelInUse` where one does."""
    taken = journal.leases.take(map(ChannelLease, ids), _LEASE)
    try:
        for id_ in ids:
            if (refused := taken.refused.get(ChannelLease(id_))) is not None:
                raise ChannelInUse(id_, refused.until)
        yield
    finally:
        journal.leases.release(taken.granted)


def moved_before(error: AlreadyMoved, partial: Path) -> Exception:
    """The error for channels that were moved already; an interrupted export may have left the file under another
    name."""
    if not partial.exists() or error.channel_id not in partial.read_bytes():
        return error
    return Explained(
        f"Channel {hex_text(error.channel_id)} was moved already, by a command that was interrupted.",
        f"What it has written is {partial}: import that.",
    )


def read_all(journal: Journal) -> tuple[list[JournalChannel], list[tuple[bytes, str]]]:
    """All channels that can be read, and the ids of the others with their errors."""
    return read_channels(journal, usable_games())


def list_all(journal: Journal, now: int) -> tuple[list[ListedChannel], list[tuple[bytes, str]]]:
    """All channels as a list shows them at `now` (Unix seconds), and the ids of those that cannot be read with their
    errors. Only channels of which the journal has no summary that holds now are decoded."""
    good: list[ListedChannel] = []
    damaged: list[tuple[bytes, str]] = []
    games = usable_games()
    for stored in journal.summaries():
        try:
            listed = read_listed_channel(stored, games) if stored.is_sound else None
            good.append(listed or _read(journal, stored.channel_id).listed(now))
        except (JournalDamaged, MalformedBytes, UnknownVersion) as error:
            damaged.append((stored.channel_id, str(error)))
    return good, damaged


def find_channels(journal: Journal, typed: Sequence[str]) -> list[JournalChannel]:
    """The channels with these ids, or these beginnings of ids, each once."""
    ids = dict.fromkeys(_find_id(journal, each) for each in typed)
    return [_read(journal, id_) for id_ in ids]


def find_channel(journal: Journal, typed: str) -> JournalChannel:
    """The channel with this id, or this beginning of an id. Raises `Explained`, and `JournalDamaged`."""
    return _read(journal, _find_id(journal, typed))


def _find_id(journal: Journal, typed: str) -> bytes:
    digits = typed.lower().removeprefix("0x")
    if len(digits) < _FEWEST_DIGITS or not set(digits) <= set(hexdigits):
        raise Explained(
            f"{typed!r:.80} is not a channel's id, nor the beginning of one.",
            f"Give at least {_FEWEST_DIGITS} hex digits of it; `forcemove channel list --all` shows all ids.",
        )
    found = [id_ for id_ in journal.ids() if id_.hex().startswith(digits)]
    if not found:
        raise Explained(
            f"{journal.where} has no channel {typed!r:.80}.", "`forcemove channel list --all` shows all that it has."
        )
    if len(found) > 1:
        raise Explained(
            f"{typed!r:.80} could be any of {len(found)} channels: {', '.join(map(hex_text, found[:4]))}.",
            "Give more digits.",
        )
    return found[0]


def _read(journal: Journal, channel_id: bytes) -> JournalChannel:
    stored = journal.load(channel_id)
    if stored is None:
        raise Explained(f"Channel {hex_text(channel_id)} is in the journal no more.")
    return read_journal_channel(stored, usable_games())
