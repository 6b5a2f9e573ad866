"""Chain updates: the adjudicator's logs, holdings and credits, taken over as they are. Pure.

No chain update is a counterparty's word, and nothing that is on the chain may keep us from answering a challenge.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from forcemove.protocol.app import Rules
from forcemove.protocol.logs import Log, recorded_state
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.channel import OVER, Accepted, Channel
from forcemove.protocol.machine.effects import Submission, SubmitDeposit, SubmitPayCredit
from forcemove.protocol.machine.peer_messages import require_next, verify_next
from forcemove.protocol.machine.record import Recorded, fold
from forcemove.protocol.types import SignedState


def apply_changes(channel: Channel, changes: tuple[inputs.ChainChange, ...], now: int, app: Rules) -> Channel:
    """Take over several changes, in their order."""
    for each in changes:
        channel = on_chain_change(channel, each, now, app)
    return channel


def on_chain_change(channel: Channel, change: inputs.ChainChange, now: int, app: Rules) -> Channel:
    """Take over what the adjudicator holds or has logged. Actions that were requested because of the former status are
    requested again."""
    match change:
        case inputs.HoldingsSeen(asset, held):
            return replace(channel, holdings=tuple(sorted({**dict(channel.holdings), asset: held}.items())))
        case inputs.CreditSeen():
            return _on_credit(channel, change)
        case inputs.LogSeen(log):
            return _on_log(channel, log, now, app)
        case inputs.SubmissionFailed(submission):
            return replace(channel, requested=tuple(each for each in channel.requested if each != submission))
        case _:
            assert_never(change)


def _on_credit(channel: Channel, change: inputs.CreditSeen) -> Channel:
    """Another amount than before is requested again."""
    known = tuple(sorted({**dict(channel.credits), change.asset: change.amount}.items()))
    requested = tuple(each for each in channel.requested if not _is_outdated(each, change))
    return replace(channel, credits=known, requested=requested)


def _is_outdated(asked: Submission, change: inputs.CreditSeen) -> bool:
    return isinstance(asked, SubmitPayCredit) and asked.asset == change.asset and asked.amount != change.amount


def _on_log(channel: Channel, log: Log, now: int, app: Rules) -> Channel:
    record = fold(channel.record, log, channel.agreement.domain, now)
    if record.closed and now < channel.status.finalizes_at:  # only a conclusion closes a channel whose clock runs
        record = replace(record, concluded=True)
    channel = replace(channel, record=record)
    if recorded_state(log) is not None and record.recorded is not None:
        return _take_over(channel, record.recorded, app)
    return replace(channel, requested=()) if record.closed else channel


def _take_over(channel: Channel, recorded: Recorded, app: Rules) -> Channel:
    """The chain has recorded a state: take it as a move where it is the next one, and as a new start where it is later.

    A record before the setup is complete ends the opening: nobody signs a postfund state any more.
    """
    signed = recorded.signed_by(channel.agreement.fixed_part.participants)
    channel = _adopt(channel, Accepted(signed, recorded.hashes), app)
    return replace(
        channel,
        leaving=channel.leaving or channel.next_turn < 2 * channel.agreement.count,
        requested=tuple(each for each in channel.requested if isinstance(each, SubmitDeposit)),
    )


def _adopt(channel: Channel, recorded: Accepted, app: Rules) -> Channel:
    """Add the recorded state to the accepted ones, unless we have a state of its turn already: the first one is kept. A
    state that its own mover has not signed is on no chain, whatever endpoints show: it runs a clock, and no move
    follows it."""
    newest, turn_num = channel.newest, recorded.state.turn_num
    if turn_num >= channel.next_turn:
        if channel.agreement.fixed_part.mover(turn_num) not in recorded.signed.signatures:
            return channel
        follows = newest is not None and _follows(channel, recorded, app)
        return channel.accept(recorded) if follows else channel.reset(recorded)
    if newest is None or newest.hashes != recorded.hashes:
        return channel
    signatures = {**recorded.signed.signatures, **newest.signed.signatures}
    return channel.replace_newest(Accepted(SignedState(newest.state, signatures), newest.hashes))


def _follows(channel: Channel, recorded: Accepted, app: Rules) -> bool:
    """Whether the recorded state follows our newest one: the chain may have been given another state of the turn
    before, or a final one instead of the opening's. Any error that a game raises means no: nothing on the chain may
    keep us from answering."""
    try:
        require_next(channel, recorded.state, app)
    except Exception:
        return False
    return True


def on_views_differ(channel: Channel, differences: inputs.ViewsDiffer, now: int, app: Rules) -> Channel:
    """Take over what the endpoints do not agree on. Of a challenged state that only some endpoint shows, the mover's
    signature alone is believed: the state is taken as from a message if it is the next one, and not at all
    otherwise."""
    channel = replace(channel, views=UNSET if differences == inputs.ViewsDiffer() else differences)
    shown = [clock.recorded for clock in differences.clocks if clock.recorded is not None]
    for recorded in sorted(shown, key=lambda each: each.state.turn_num):
        if recorded.state.turn_num == channel.next_turn and channel.phase(now) not in OVER:
            channel = _take_if_good(channel, recorded, app)
    return channel


def _take_if_good(channel: Channel, recorded: Recorded, app: Rules) -> Channel:
    """Add the state as the next one if every rule holds; else leave the channel as it was: an endpoint may show
    anything."""
    try:
        return channel.accept(verify_next(channel, recorded.signed_by(channel.agreement.fixed_part.participants), app))
    except Exception:
        return channel
