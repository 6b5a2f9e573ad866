"""What a participant does by itself: the table of actions, phase by phase. Pure; `machine.step` carries them out."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from forcemove.protocol.encoding import StateHashes, hash_state
from forcemove.protocol.machine import effects
from forcemove.protocol.machine.channel import Channel, Phase, Step
from forcemove.protocol.machine.responses import Answer, best_answer, clears, concluding_answer
from forcemove.protocol.signing import Key
from forcemove.protocol.types import SignedState, VariablePart
from forcemove.protocol.words import Status

_MAX_MARGIN = 600


def answer_margin(challenge_duration: int) -> int:
    """How many seconds before the end of a challenge the machine answers for a participant who has not chosen: a third
    of the duration, at most ten minutes."""
    return min(challenge_duration // 3, _MAX_MARGIN)


def _answer_by(channel: Channel) -> int:
    """The block time (seconds) at which the machine answers a challenge by itself."""
    return channel.status.finalizes_at - answer_margin(channel.agreement.fixed_part.challenge_duration)


def next_due(channel: Channel, now: int) -> int | None:
    """The next block time (seconds, after `now`) at which time alone may give a channel an action to do, or None: until
    then a `Tick` changes nothing. The time may be too early: there may be nothing to do then, either. At time 0, before
    all endpoints have answered, it is any time."""
    if not now:
        return 1
    times = [] if channel.conclude_at is None else [channel.conclude_at]
    if channel.status.finalizes_at:
        times += [_answer_by(channel), channel.status.finalizes_at]
    return min((time for time in times if time > now), default=None)


AutomaticAction = Callable[[Channel, int, Key | None], Step | None]
"""An action of a phase; it returns None where it is not due. Without a key no action signs or pays in."""


def request_once(channel: Channel, submission: effects.Submission) -> Step | None:
    """Ask for a transaction, once."""
    return None if submission in channel.requested else (channel.request(submission), (submission,))


def sign_next(channel: Channel, state: VariablePart, hashes: StateHashes, key: Key) -> Step:
    """Sign the successor of the newest state, and send it. Raises as `Channel.sign_next`."""
    channel = channel.sign_next(state, hashes, key)
    return channel, (effects.SendState(channel.accepted[-1].signed),)


def _sign_setup(channel: Channel, _now: int, key: Key | None) -> Step | None:
    """Our prefund state, once it is our turn; our postfund state, once all deposits are there. Neither after a
    record."""
    if key is None or not channel.may_sign_next or channel.leaving or not channel.status.is_empty:
        return None
    if channel.is_denied:
        return None
    if channel.next_turn >= channel.agreement.count and not channel.is_funded:
        return None
    state = channel.agreement.setup_state(channel.next_turn)
    return sign_next(channel, state, hash_state(channel.agreement.channel_id, state), key)


def _deposit(channel: Channel, _now: int, key: Key | None) -> Step | None:
    """Our deposit, once the participants before us have made theirs, and again where a reorganisation has taken it
    away. We rely on the holdings that we expect ourselves. A participant that is leaving, or has challenged, pays
    nothing in."""
    if key is None or not channel.may_pay_in:
        return None
    for asset, amounts in channel.agreement.deposits:
        expected_held, amount = sum(amounts[: channel.index]), amounts[channel.index]
        if expected_held <= channel.held(asset) < expected_held + amount and not _has_challenged(channel):
            done = request_once(channel, effects.SubmitDeposit(asset, expected_held, amount))
            if done is not None:
                return done
    return None


def _has_challenged(channel: Channel) -> bool:
    return any(isinstance(each, effects.SubmitChallenge) for each in channel.requested)


def _sign_final(channel: Channel, now: int, key: Key | None) -> Step | None:
    """The final state, once we want to leave and it is our turn.

    While another participant's deposit is missing we wait for it: the holdings pay those first who come first in the
    outcome. Where only our deposit and later ones are missing we do not wait, for we do not pay it any more: nothing of
    the holdings is ours, so that we can only gain, and the others get from a final state what the newest state gives
    them anyway. Before all endpoints have answered nobody leaves: what is known of the chain may be old.
    """
    if not channel.leaving or not now:
        return None
    return finish(channel, key) if not channel.lacks_money or _lacks_ours(channel) or channel.must_move else None


def _lacks_ours(channel: Channel) -> bool:
    """Whether our deposit is the first that is missing, of every asset of which one is."""
    for asset, amounts in channel.agreement.deposits:
        held, before = channel.held(asset), sum(amounts[: channel.index])
        if held < sum(amounts) and not before <= held < before + amounts[channel.index]:
            return False
    return True


def finish(channel: Channel, key: Key | None) -> Step | None:
    """Sign the final state after the newest one, if we may."""
    newest = channel.newest
    if key is None or newest is None or not channel.may_sign_next:
        return None
    state = VariablePart(newest.state.outcome, b"", newest.state.turn_num + 1, True)
    return sign_next(channel, state, hash_state(channel.agreement.channel_id, state), key)


def _countersign(channel: Channel, _now: int, key: Key | None) -> Step | None:
    """A counterparty's final state: its outcome is that of the state before, which all can be held to anyway."""
    newest = channel.newest
    if key is None or newest is None or not newest.state.is_final or channel.index in newest.signed.signatures:
        return None
    if channel.breaks_our_end or newest.state.turn_num < channel.agreement.count:
        return None  # before all prefund states are signed nobody has paid in, and there is nothing to agree on
    if channel.lacks_money or channel.is_denied or channel.is_unproved:
        return None
    channel = channel.countersign(newest, key)
    return channel, (effects.SendState(channel.accepted[-1].signed),)


def concluding(channel: Channel) -> effects.Submission | None:
    """Conclude, where everybody has signed the newest state and it is final."""
    newest = channel.newest
    return concluding_answer(channel.agreement.fixed_part, newest.signed) if newest else None


def _conclude(channel: Channel, now: int, _key: Key | None) -> Step | None:
    """Conclude on chain: at once if we made the newest state; else one challenge duration later, if its maker has not
    concluded."""
    fixed_part, answer = channel.agreement.fixed_part, concluding(channel)
    if answer is None:
        return None
    if fixed_part.mover(channel.next_turn - 1) == channel.index:
        return request_once(channel, answer)
    if channel.conclude_at is None and now:
        conclude_at = now + fixed_part.challenge_duration
        return replace(channel, conclude_at=conclude_at), ()
    return request_once(channel, answer) if now >= (channel.conclude_at or 1) else None


def _ask_for_move(channel: Channel, _now: int, key: Key | None) -> Step | None:
    """Ask for our move, without a deadline: only a record that all endpoints agree on gives one. While an endpoint
    denies something or a deposit is missing, only a move that stops a clock is asked for."""
    if channel.asked == (channel.next_turn, None):
        return None
    if key is None or not channel.may_sign_next or channel.leaving:
        return None
    is_held_back = channel.lacks_money or channel.is_denied
    return None if is_held_back and not channel.must_move else _choose(channel, None)


def _choose(channel: Channel, answer_by: int | None) -> Step | None:
    """Ask for our move, once, and once more where it has to be made by a deadline."""
    newest = channel.newest
    if newest is None:
        return None
    turn_num = newest.state.turn_num + 1
    if channel.asked == (turn_num, answer_by):
        return None
    return channel.ask(turn_num, answer_by), (channel.question(newest.state, answer_by),)


def _answer(channel: Channel, now: int, key: Key | None) -> Step | None:
    """Clear the recorded challenge. Once an answer is requested, ask for our move where it stops a clock that only some
    endpoints show."""
    if not is_answered(channel, channel.status):
        return _answer_record(channel, now, key)
    is_asked = channel.asked is not None and channel.asked[0] == channel.next_turn
    return _ask_for_move(channel, now, key) if channel.must_move and not is_asked else None


def _answer_record(channel: Channel, now: int, key: Key | None) -> Step | None:
    """Clear a challenge with a state that we hold; else ask for our move in time, and conclude when time runs out.

    One answer is enough: until it has failed, states that are played meanwhile do not call for another. The machine
    concludes by itself only where all endpoints show the clock and deny nothing: a final state pays what the challenged
    state pays, but its signer gives up the game, and an endpoint's word is not worth that. On top of an end we
    sign another one at once, unless the challenged state pays the same. Nothing is signed against a clock that was
    recorded, and that no endpoint shows now.
    """
    recorded, newest = channel.record.recorded, channel.newest
    if recorded is None or newest is None:
        return None
    challenged = recorded.signed_by(channel.agreement.fixed_part.participants)
    answer = best_held_answer(channel, challenged)
    if answer is not None:
        return request_once(
            replace(channel, was_griefed=channel.was_griefed or not _was_needed(channel, challenged.state)), answer
        )
    if key is None or not channel.may_sign_next or channel.status not in channel.clocks:
        return None
    if newest.state.is_final and newest.hashes.outcome == recorded.hashes.outcome:
        return None
    answer_by = _answer_by(channel)
    if channel.leaving or newest.state.is_final or (now >= answer_by and not channel.is_denied):
        return finish(channel, key)
    return _choose(channel, answer_by)


def is_answered(channel: Channel, status: Status) -> bool:
    """Whether we have requested a transaction that clears the challenge of this status."""
    return any(clears(each, channel.agreement.channel_id, status) for each in channel.requested)


def best_held_answer(channel: Channel, challenged: SignedState) -> Answer | None:
    """The best answer to the challenge with this state, from the accepted states, else from the superseded ones."""
    fixed_part = channel.agreement.fixed_part
    return best_answer(fixed_part, challenged, channel.signed_states) or best_answer(
        fixed_part, challenged, channel.superseded_states
    )


def _was_needed(channel: Channel, challenged: VariablePart) -> bool:
    """Whether our answer is a move that was asked for because of the challenge, and that we had not made before."""
    return channel.asked is not None and channel.asked[0] == challenged.turn_num + 1 and channel.asked[1] is not None


def _collect(channel: Channel, _now: int, _key: Key | None) -> Step | None:
    """Pay out the outcome that the chain has decided, whenever the holdings can pay some of it."""
    owed = channel.record.owed
    if owed is None or not any(held for _, held in channel.holdings):
        return None
    return request_once(channel, effects.SubmitTransfer(owed.state_hash, owed.outcome, channel.holdings))


def _collect_credit(channel: Channel, _now: int, _key: Key | None) -> Step | None:
    """Have a payment that could not be pushed to us paid."""
    for asset, amount in channel.credits:
        if channel.payee is not None and amount:
            done = request_once(channel, effects.SubmitPayCredit(channel.payee, asset, amount))
            if done is not None:
                return done
    return None


AUTOMATIC_ACTIONS: dict[Phase, tuple[AutomaticAction, ...]] = {
    Phase.CHECKING: (),
    Phase.PREFUND: (_sign_setup,),
    Phase.FUNDING: (_sign_final, _deposit, _sign_setup),
    Phase.PLAYING: (_deposit, _sign_final, _ask_for_move),
    Phase.CONCLUDING: (_countersign, _conclude),
    Phase.CHALLENGED: (_countersign, _answer),
    Phase.FINALIZED: (_collect, _collect_credit),
    Phase.CLOSED: (_collect_credit,),
}
"""The phase table: what a participant does by itself, in this order."""
