"""Which channels of a journal may lose their histories, states and evidence, and what stays of them."""

from __future__ import annotations

from msgspec.structs import replace

from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.history.summary import unpack_summary
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import Ending, result_of
from forcemove.store.journal import Journal
from forcemove.store.records import OVER, ChannelUpdate, Ownership, StoredChannel, StoredSummary

_UNSETTLED = (Ending.OPEN, Ending.EXPIRED, Ending.UNKNOWN)


def prunable(journal: Journal, before: int) -> list[ChannelUpdate]:
    """The channels that are over and paid, or put away, and were not saved after this time (Unix seconds), as they are
    to stay: what `Journal.prune` takes. One that is damaged, or of which it is not known when it was saved, is not
    among them. Raises `JournalError`."""
    while journal.gather_history():
        pass
    old = [each.channel_id for each in journal.summaries() if _is_old(each, before)]
    left = journal.leftovers(old)
    found = (_update(stored, has_leftovers=id_ in left) for id_, stored in sorted(journal.load_many(old).items()))
    return [each for each in found if each is not None]


def pruned(channel: Channel, *, is_put_away: bool = False) -> Channel | None:
    """The channel with its newest state alone, and without what its player hid; None where anything is left to do, to
    get or to know in it. How it has ended is still known, and what was signed last: nothing is signed in it again.
    `is_put_away`: whether the journal has put it away, which it does with friendly games alone."""
    stays = replace(channel, accepted=channel.accepted[-1:], superseded=(), secrets=b"", requested=(), asked=None)
    if is_put_away:
        return stays if channel.agreement.is_friendly else None
    if not channel.is_over_and_paid:
        return None
    result = result_of(channel, 0)
    return stays if result.ending not in _UNSETTLED and result_of(stays, 0) == result else None


def _is_old(stored: StoredSummary, before: int) -> bool:
    if stored.ownership not in OVER or stored.profile is None or stored.summary is None:
        return False
    summary = unpack_summary(stored.profile, stored.summary)
    return summary is not None and 0 < summary.changed_at <= before


def _update(stored: StoredChannel, *, has_leftovers: bool) -> ChannelUpdate | None:
    """How a channel is to stay; None where it may not be pruned, or was pruned before."""
    try:
        channel = CHANNELS.decode(stored.snapshot)
    except (MalformedBytes, UnknownVersion):
        return None
    is_put_away = stored.ownership is Ownership.PUT_AWAY
    stays = pruned(channel, is_put_away=is_put_away)
    if stays is None or (stays == channel and not has_leftovers):
        return None
    snapshot = CHANNELS.encode(stays)
    return ChannelUpdate(
        stored.channel_id,
        stored.version,
        snapshot,
        finished=not is_put_away,
        put_away=is_put_away,
        cursor=stored.cursor,
    )
