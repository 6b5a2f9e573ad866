"""Endpoints that differ: the actions that are due because of what only some of them show, and who acts first. Pure;
these actions are due in every phase."""

from __future__ import annotations

from forcemove.protocol.encoding import StateHashes, fingerprint
from forcemove.protocol.machine import effects
from forcemove.protocol.machine.automatic_actions import AutomaticAction, best_held_answer, is_answered, request_once
from forcemove.protocol.machine.channel import Channel, Step
from forcemove.protocol.machine.inputs import Clock
from forcemove.protocol.machine.responses import Answer, answer_to_status
from forcemove.protocol.signing import Key
from forcemove.protocol.types import SignedState
from forcemove.protocol.words import Status


def _answer_clocks(channel: Channel, _now: int, _key: Key | None) -> Step | None:
    """Answer every clock that some endpoint shows with a state that we hold; an answer that is requested already is
    enough for each clock that it clears."""
    for clock in channel.differences.clocks:
        answer = None if is_answered(channel, clock.status) else _answer_to(channel, clock)
        done = request_once(channel, answer) if answer else None
        if done is not None:
            return done
    return None


def _answer_to(channel: Channel, clock: Clock) -> Answer | None:
    challenged = _challenged(channel, clock)
    if challenged is not None:
        return best_held_answer(channel, challenged)
    fixed_part = channel.agreement.fixed_part
    return answer_to_status(fixed_part, clock.status, channel.signed_states) or answer_to_status(
        fixed_part, clock.status, channel.superseded_states
    )


def _challenged(channel: Channel, clock: Clock) -> SignedState | None:
    """The challenged state: as it was logged, if the status commits to that state, or as we hold it."""
    recorded = clock.recorded
    if recorded is not None and _is_committed(clock.status, recorded.hashes):
        return recorded.signed_by(channel.agreement.fixed_part.participants)
    held = (*channel.accepted, *channel.superseded)
    return next((each.signed for each in held if _is_committed(clock.status, each.hashes)), None)


def _is_committed(status: Status, hashes: StateHashes) -> bool:
    return status.fingerprint == fingerprint(hashes.state, hashes.outcome)


def _collect_shown(channel: Channel, _now: int, _key: Key | None) -> Step | None:
    """Have an outcome paid out that some endpoint shows as final. Where that is a lie, the transaction fails when it is
    tried."""
    for owed, holdings in ((each.owed, each.holdings) for each in channel.differences.payouts):
        if any(held for _, held in holdings):
            done = request_once(channel, effects.SubmitTransfer(owed.state_hash, owed.outcome, holdings))
            if done is not None:
                return done
    return None


IN_EVERY_PHASE: tuple[AutomaticAction, ...] = (_answer_clocks, _collect_shown)
"""The actions of every phase, which come before the phase's own: the answers to what only some endpoints show."""


def acts_first(channel: Channel, submission: effects.Submission, now: int, *, has_challenged: bool) -> bool:
    """Whether this transaction is ours to send at once, at block time `now` (seconds); else another participant is
    about to send it, and we hold ours back for a block by our own clock, since one of two equal transactions is paid
    for in vain. `has_challenged`: whether we have started the clock.

    Between two participants, the clock runs against the one who has not started it, and the challenged one waits for
    nobody. Among more, the mover submits its move, the maker of the final state the conclusion, and the mover on the
    challenged state a checkpoint. Once less than half of the challenge duration is left, all transactions are ours to
    send.
    """
    fixed_part = channel.agreement.fixed_part
    running = [each for each in channel.clocks if each.finalizes_at]
    if not running or min(each.finalizes_at for each in running) - now < fixed_part.challenge_duration // 2:
        return True
    if channel.agreement.count == 2:
        return not has_challenged
    match submission:
        case effects.SubmitRespond(_, response):
            return fixed_part.mover(response.turn_num) == channel.index
        case effects.SubmitConclude(_, turn_num):
            return fixed_part.mover(turn_num) == channel.index
        case effects.SubmitCheckpoint():
            movers = {fixed_part.mover(each.turn_num_record + 1) for each in running}
            return channel.index in movers
        case _:
            return True
