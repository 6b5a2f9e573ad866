"""What the chain says: the adjudicator's logs, holdings and credits, taken over as they are. Pure.

Nothing here is a counterparty's word, and nothing that stands on the chain may keep us from answering it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from forcemove.channel.errors import ForcemoveError
from forcemove.channel.protocol.app import Rules
from forcemove.channel.protocol.channel import Accepted, Channel, Owed, Step
from forcemove.channel.protocol.effects import Effect, SubmitDeposit, SubmitPayCredit, WakeAt
from forcemove.channel.protocol.encoding import StateHashes, fingerprint, hash_state
from forcemove.channel.protocol.hearing import require_next, require_signatures
from forcemove.channel.protocol.inputs import CreditSeen, HoldingsSeen, LogSeen, News, SubmissionFailed
from forcemove.channel.protocol.logs import (
    ChallengeRegistered,
    Checkpointed,
    Closed,
    Concluded,
    Log,
    PartlyPaid,
    Responded,
)
from forcemove.channel.protocol.state import SignedState, VariablePart
from forcemove.channel.protocol.status import Status
from forcemove.channel.protocol.types import Signature

__all__ = ["read", "see"]


def read(channel: Channel, news: tuple[News, ...], now: int, app: Rules) -> Step:
    """Take over several things, in their order."""
    effects: tuple[Effect, ...] = ()
    for each in news:
        channel, more = see(channel, each, now, app)
        effects += more
    return channel, effects


def see(channel: Channel, seen: News, now: int, app: Rules) -> Step:
    """Take over what the adjudicator holds or has logged. What had been asked because of the former status is asked
    anew."""
    match seen:
        case HoldingsSeen(asset, held):
            return replace(channel, holdings=tuple(sorted({**dict(channel.holdings), asset: held}.items()))), ()
        case CreditSeen():
            return _see_credit(channel, seen), ()
        case LogSeen(ChallengeRegistered(_, finalizes_at, state, signatures)):
            channel = _record(channel, state, _by_participant(channel, state, signatures), finalizes_at, app)
            return channel, (WakeAt(finalizes_at),)
        case LogSeen(Responded(_, state, signature)):
            return _record(channel, state, _by_participant(channel, state, (signature,)), 0, app), ()
        case LogSeen(Checkpointed(_, state, signatures)):
            return _record(channel, state, _by_participant(channel, state, signatures), 0, app), ()
        case LogSeen(log):
            return _see_payout(channel, log, now), ()
        case SubmissionFailed(submission):
            return replace(channel, requested=channel.requested - {submission}), ()
        case _:
            assert_never(seen)


def _see_credit(channel: Channel, seen: CreditSeen) -> Channel:
    """Another amount than before is asked for anew."""
    known = tuple(sorted({**dict(channel.credits), seen.asset: seen.amount}.items()))
    asked = {each for each in channel.requested if isinstance(each, SubmitPayCredit) and each.asset == seen.asset}
    outdated = {each for each in asked if each.amount != seen.amount}
    return replace(channel, credits=known, requested=channel.requested - outdated)


def _by_participant(channel: Channel, state: VariablePart, signatures: tuple[Signature, ...]) -> dict[int, Signature]:
    """Whose the signatures of a log are: each participant's; of fewer only the last, the mover's, is of this state."""
    if len(signatures) == channel.agreement.count:
        return dict(enumerate(signatures))
    return {channel.agreement.fixed_part.mover(state.turn_num): signatures[-1]} if signatures else {}


def _see_payout(channel: Channel, log: Log, now: int) -> Channel:
    match log:
        case Concluded():
            return replace(channel, status=replace(channel.status, finalizes_at=now))
        case PartlyPaid(_, state_hash, remaining):
            status = replace(channel.status, finalizes_at=min(channel.status.finalizes_at or now, now))
            return replace(channel, status=status, owed=Owed(state_hash, remaining))
        case Closed():
            return replace(channel, closed=True, requested=frozenset())
        case _:
            return channel


def _record(
    channel: Channel, state: VariablePart, signatures: dict[int, Signature], finalizes_at: int, app: Rules
) -> Channel:
    """The chain has recorded a state: take it as a move where it is the next one, and as a new start beyond that.

    A record before the setup is complete ends the opening: nobody signs a postfund state any more.
    """
    hashes = hash_state(channel.agreement.channel_id, state)
    recorded = Accepted(SignedState(state, _those_that_verify(channel, hashes, signatures)), hashes)
    channel = _adopt(channel, recorded, app)
    return replace(
        channel,
        status=Status(state.turn_num, finalizes_at, fingerprint(hashes.state, hashes.outcome)),
        recorded=recorded,
        leaving=channel.leaving or channel.next_turn < 2 * channel.agreement.count,
        requested=frozenset(each for each in channel.requested if isinstance(each, SubmitDeposit)),
    )


def _adopt(channel: Channel, recorded: Accepted, app: Rules) -> Channel:
    """With the recorded state among the accepted ones, unless we have its turn already: the first one stands."""
    newest, turn_num = channel.newest, recorded.state.turn_num
    if turn_num >= channel.next_turn:
        follows = newest is not None and _follows(channel, recorded, app)
        return channel.accept(recorded) if follows else channel.begin_anew(recorded)
    if newest is None or newest.hashes != recorded.hashes:
        return channel
    signatures = {**recorded.signed.signatures, **newest.signed.signatures}
    return channel.replace_newest(Accepted(SignedState(newest.state, signatures), newest.hashes))


def _follows(channel: Channel, recorded: Accepted, app: Rules) -> bool:
    """Whether it follows what we have: the chain may have been shown another state of the turn before, or a final one
    instead of the opening's. Whatever a game raises is a no: nothing on the chain may keep us from answering it."""
    try:
        require_next(channel, recorded.state, app)
    except Exception:
        return False
    return True


def _those_that_verify(
    channel: Channel, hashes: StateHashes, signatures: Mapping[int, Signature]
) -> dict[int, Signature]:
    """Of a proof's signatures, those that are of this state; the others are of states before it."""
    found = {}
    for index, signature in signatures.items():
        try:
            require_signatures(channel, hashes, {index: signature})
        except ForcemoveError:
            continue
        found[index] = signature
    return found
