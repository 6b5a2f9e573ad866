"""The end of a channel: whether it is over for us, what everybody paid in and gets, and how it ended. Pure; what is
paid is what the chain's logs say, never what we have signed last. Knows no screen."""

from __future__ import annotations

from enum import Enum
from itertools import groupby
from operator import attrgetter

from msgspec import UNSET, Struct

from forcemove.protocol.machine.channel import OVER, Channel
from forcemove.protocol.machine.inputs import ViewsDiffer
from forcemove.protocol.types import Outcome


class Ending(Enum):
    """How a channel ended, or that it has not."""

    OPEN = "it is not over"
    CONCLUDED = "all have signed its end"
    UNANSWERED = "a challenge was not answered"
    UNFUNDED = "not everybody paid in"
    EXPIRED = "a clock has run out, and no payment was seen"
    UNKNOWN = "it was paid out, and by what is not known"


class Share(Struct, frozen=True):
    """Of one asset (20 bytes; zero is ether), in its smallest unit, one participant's (its index): what it has paid in
    (`deposited`), what an outcome gives it (`allocated`), and how much of that there is (`payable`)."""

    asset: bytes
    participant: int
    deposited: int
    allocated: int
    payable: int


class ChannelResult(Struct, frozen=True):
    """How a channel ended, and everybody's shares: asset by asset, each in the order of participants; none where it is
    not known what was paid."""

    ending: Ending
    shares: tuple[Share, ...]


def payable(outcome: Outcome, holdings: dict[bytes, int]) -> tuple[int, ...]:
    """What each allocation of an outcome would be paid from the holdings, by asset: earlier allocations are paid
    first."""
    paid = []
    for asset, entries in groupby(outcome, key=attrgetter("asset")):
        left = holdings.get(asset, 0)
        for entry in entries:
            paid.append(min(entry.amount, left))
            left -= paid[-1]
    return tuple(paid)


def is_over(channel: Channel, now: int) -> bool:
    """Whether nothing is left to do at block time `now` (seconds): the channel is final, none of its holdings could be
    ours, no credit is left, and no endpoint says otherwise. Money that is still owed to us may never come: a guest that
    has not paid in owes nothing that anybody could collect."""
    if channel.agreement.is_friendly:
        return channel.is_over_and_paid
    if channel.phase(now) not in OVER or channel.differences != ViewsDiffer():
        return False
    if any(amount for _, amount in channel.credits):
        return False
    return channel.record.closed or not _is_ours_to_collect(channel)


def is_unpaid(channel: Channel) -> bool:
    """Whether nobody has paid in, as far as we know, and none of our transactions is on its way."""
    return not any(held for _, held in channel.holdings) and not channel.requested


def _is_ours_to_collect(channel: Channel) -> bool:
    """Whether a payout would pay us something. Where it is not known what is owed, any holdings could be ours."""
    owed, held = channel.record.owed, dict(channel.holdings)
    if owed is None:
        return any(held.values())
    ours = channel.agreement.destinations[channel.index]
    paid = zip(owed.outcome, payable(owed.outcome, held), strict=True)
    return any(amount for entry, amount in paid if entry.destination == ours)


def result_of(channel: Channel, now: int) -> ChannelResult:
    """How the channel stands at block time `now` (seconds), or how it has ended.

    What each participant paid in is computed from the holdings, the payouts and the order of deposits; money from
    strangers counts as the next participant's. Before the end the shares are those of the newest state; then those of
    what the chain pays, by its logs. Of two participants that are paid at one destination, each is shown what both get.
    """
    if channel.phase(now) not in OVER or channel.agreement.is_friendly:
        newest = channel.newest
        outcome = channel.agreement.outcome if newest is None else newest.state.outcome
        ending = Ending.CONCLUDED if channel.phase(now) in OVER else Ending.OPEN
        return ChannelResult(ending, shares_of(channel, outcome))
    decided = _decided(channel)
    return ChannelResult(Ending.UNKNOWN, ()) if decided is None else ChannelResult(*decided)


def _decided(channel: Channel) -> tuple[Ending, tuple[Share, ...]] | None:
    """How the chain has ended the channel, and the shares; None where its logs leave it open. A conclusion needs our
    signature: without one, or where it pays the same, the recorded state was paid."""
    record, kept = channel.record, (*channel.superseded, *channel.accepted)
    signed = next((each.state.outcome for each in kept if each.hashes.outcome == channel.final_outcome), None)
    recorded = None if record.recorded is None else record.recorded.state.outcome
    is_open = record.closed and record.concluded is UNSET and channel.final_outcome is not None
    outcome = signed if record.concluded is True else recorded
    if outcome is None or (is_open and signed != recorded):
        return None
    return _ending(channel), shares_of(channel, outcome)


def shares_of(channel: Channel, outcome: Outcome) -> tuple[Share, ...]:
    """Everybody's shares if the channel paid this outcome: asset by asset, each in the order of participants."""
    paid_in = _all_paid_in(channel)
    shares = []
    for asset, amounts in channel.agreement.deposits:
        for index, amount in enumerate(amounts):
            deposited = min(amount, max(0, paid_in[asset] - sum(amounts[:index])))
            of = (asset, channel.agreement.destinations[index])
            shares.append(Share(asset, index, deposited, *_share(outcome, paid_in, of)))
    return tuple(shares)


def _all_paid_in(channel: Channel) -> dict[bytes, int]:
    """By asset, how much has come in."""
    return {asset: _paid_in(channel, asset, sum(amounts)) for asset, amounts in channel.agreement.deposits}


def _paid_in(channel: Channel, asset: bytes, total: int) -> int:
    """How much of an asset has come in: the holdings, and what was paid out already."""
    record = channel.record
    if channel.agreement.is_friendly:
        return 0
    if record.closed:
        return total
    held = channel.held(asset)
    if not record.payout_begun or record.owed is None:
        return held
    return held + total - sum(entry.amount for entry in record.owed.outcome if entry.asset == asset)


def _share(outcome: Outcome, paid_in: dict[bytes, int], of: tuple[bytes, bytes]) -> tuple[int, int]:
    """What the outcome gives of an asset to a destination, and how much of that the deposits cover."""
    both = zip(outcome, payable(outcome, paid_in), strict=True)
    ours = [(entry.amount, paid) for entry, paid in both if (entry.asset, entry.destination) == of]
    return sum(amount for amount, _ in ours), sum(paid for _, paid in ours)


def _ending(channel: Channel) -> Ending:
    paid_in, record = _all_paid_in(channel), channel.record
    if any(paid_in[asset] < sum(amounts) for asset, amounts in channel.agreement.deposits):
        return Ending.UNFUNDED
    if not record.payout_begun:
        return Ending.EXPIRED
    return Ending.CONCLUDED if record.concluded is True else Ending.UNANSWERED
