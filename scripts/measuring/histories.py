"""The time that the history adds to a commit of 100 channels, and the times of a list of 1,000 channels and of one
overview.

Each channel's commit has the two states of a turn. Commits with and without them are made in turn, each in a journal of
its own in one folder; what was appended is gathered in between, as a node does when it has time. The list is read from
a journal and made into the page of `forcemove channel list`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from forcemove import Channel, overview
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.cli.channel import pages
from forcemove.cli.channel.stores import list_all
from forcemove.history.entries import EntryKinds, StateAccepted, StateSigned, TxRequested
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove.history.packing import pack
from forcemove.history.summary import pack_present, pack_profile, summarise
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelUpdate, HistoryRow
from scripts.measuring.cases import Measured, Row, case, medians, require, timed
from scripts.measuring.driving import journal_at
from scripts.measuring.journals import different, median_ratio
from scripts.measuring.table import NOW, Table

_CHANNELS, _LISTED, _REQUESTS = 100, 1_000, 10
_GATHER_EVERY = 5


@case(Row("history_commit_ratio", "x", "a commit of 100 channels with a turn's history of each / without", 1.15))
def history(rounds: int = 9, pairs: int = 40) -> Measured:
    """A commit of 100 channels with a turn's history, over one without: in each round this many pairs."""
    with TemporaryDirectory() as folder, journal_at(folder, "with") as with_, journal_at(folder, "without") as without:
        pair = _pairs(with_, without, Table().channels[0])
        return medians(rounds, lambda: {"history_commit_ratio": median_ratio(list(map(pair, range(pairs))))})


def _pairs(with_: Journal, without: Journal, channel: Channel) -> Callable[[int], tuple[float, float]]:
    """What commits once to each of two journals of the same channels: the seconds with a history, and without."""
    newest, before = channel.accepted[-1].signed, channel.accepted[-2].signed
    row = HistoryRow(int(EntryKinds.STATES), pack([StateAccepted(NOW, before, False), StateSigned(NOW, newest)]))
    snapshot, summary = CHANNELS.encode(channel), pack_present(summarise(channel, "Game", NOW, NOW, NOW))
    version = 0

    def batch(history: HistoryRow | None) -> Batch:
        changed, metadata = different(snapshot, version), None if version else bytes(200)
        ids = (number.to_bytes(32) for number in range(_CHANNELS))
        return Batch(
            tuple(ChannelUpdate(id_, version, changed, metadata, history=history, summary=summary) for id_ in ids)
        )

    def pair(number: int) -> tuple[float, float]:
        nonlocal version
        seconds = dict[bool, float]()
        for has_history in (True, False) if number % 2 else (False, True):
            journal, history = (with_, row) if has_history else (without, None)
            seconds[has_history] = timed(partial(journal.commit, batch(history)))
        version += 1
        while number % _GATHER_EVERY == 0 and with_.gather_history():
            pass
        return seconds[True], seconds[False]

    for journal in (with_, without):
        journal.commit(batch(None))
    version = 1
    return pair


@case(
    Row("channel_list_ms", "ms", "a list of 1,000 channels, from the open journal to the page", 50),
    Row("overview_ms", "ms", "an overview of a channel with 10,000 entries", 1),
)
def listing(rounds: int = 9) -> Measured:
    """A list of many channels, and an overview of one with a full history."""
    channel = Table().channels[0]
    states = [StateSigned(NOW, channel.accepted[-1].signed)] * (MAX_ENTRIES - _REQUESTS)
    asked = [TxRequested(NOW, number.to_bytes(32), "deposit") for number in range(_REQUESTS)]
    full = ChannelHistory((*states, *asked))
    require(len(overview(channel, full, NOW).safety.pending) == _REQUESTS, "the overview lacks requests")
    with TemporaryDirectory() as folder, journal_at(folder, "journal") as journal:
        updates = [_listed(channel, number) for number in range(_LISTED)]
        for start in range(0, _LISTED, _CHANNELS):
            journal.commit(Batch(tuple(islice(updates, start, start + _CHANNELS))))
        require(len(_page(journal).splitlines()) == 1 + 2 * _LISTED, "the list lacks channels")
        return medians(
            rounds,
            lambda: {
                "channel_list_ms": timed(lambda: _page(journal)) * 1e3,
                "overview_ms": timed(lambda: overview(channel, full, NOW)) * 1e3,
            },
        )


def _listed(channel: Channel, number: int) -> ChannelUpdate:
    """A channel of its own."""
    fixed_part = replace(channel.agreement.fixed_part, channel_nonce=number)
    each = replace(channel, agreement=replace(channel.agreement, fixed_part=fixed_part))
    summary = summarise(each, "TicTacToe", NOW, NOW, NOW)
    return ChannelUpdate(
        number.to_bytes(32),
        0,
        CHANNELS.encode(each),
        METADATA.encode(ChannelMetadata("TicTacToe", 0, CUSTOMARY_FACTORY, 1, begun_at=NOW)),
        profile=pack_profile(summary),
        summary=pack_present(summary),
    )


def _page(journal: Journal) -> str:
    return pages.table(list_all(journal, NOW)[0])
