"""The channel as a pure machine: `step(channel, input, now, key, app) -> (channel, effects)`.

It agrees an opening, funds, plays, concludes, challenges, answers and collects. Time (block time, seconds), the key and
the app's rules are arguments; nothing here waits, forgets or trusts. An input is applied by its handler; then the rules
of the phase it leaves the channel in (`_DUTIES`) do what is due, until nothing is.

An error leaves the channel as it was: `LocalError`s are ours, a `CounterpartyError` has the reason and what was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from channel.errors import (
    CounterpartyError,
    ForcemoveError,
    NotSupported,
    OpeningMismatch,
    OutOfTurn,
    SignatureMissing,
    StateConflict,
    UnexpectedTurn,
    WrongPhase,
)
from channel.protocol.app import Rules
from channel.protocol.channel import Accepted, Channel, Owed, Phase
from channel.protocol.effects import (
    ChooseMove,
    Effect,
    SendState,
    SubmitChallenge,
    SubmitDeposit,
    SubmitTransfer,
    WakeAt,
)
from channel.protocol.encoding import StateHashes, digest, hash_state
from channel.protocol.inputs import (
    ChallengeWanted,
    ConcludeWanted,
    ContractsGenuine,
    HoldingsSeen,
    Input,
    LogSeen,
    MoveChosen,
    StateReceived,
    SubmissionFailed,
    Tick,
)
from channel.protocol.logs import (
    ChallengeRegistered,
    Checkpointed,
    Closed,
    Concluded,
    Log,
    PartlyPaid,
    Responded,
)
from channel.protocol.rules import build_support_proof, require_valid_state, require_valid_transition
from channel.protocol.signing import Key, require_signer
from channel.protocol.state import SignedState, SupportProof, VariablePart
from channel.protocol.status import Status
from channel.protocol.types import Signature
from channel.protocol.watch import best_answer, concluding_answer

__all__ = ["answer_margin", "step"]

Step = tuple[Channel, tuple[Effect, ...]]
_MAX_MARGIN = 600


def step(channel: Channel, input_: Input, now: int, key: Key, app: Rules) -> Step:
    """Apply one input at block time `now`. Raises `LocalError`, `CounterpartyError`."""
    changed, effects = _apply(channel, input_, now, key, app)
    while True:
        for duty in _DUTIES[changed.phase(now)]:
            done = duty(changed, now, key, app)
            if done is not None:
                changed, effects = done[0], effects + done[1]
                break
        else:
            return changed, effects


def answer_margin(challenge_duration: int) -> int:
    """How many seconds before the end of a challenge the machine answers for a participant who has not chosen: a third
    of the duration, at most ten minutes."""
    return min(challenge_duration // 3, _MAX_MARGIN)


def _apply(channel: Channel, input_: Input, now: int, key: Key, app: Rules) -> Step:
    match input_:
        case ContractsGenuine():
            return replace(channel, genuine=True), ()
        case StateReceived(signed):
            return _receive(channel, signed, app), ()
        case MoveChosen(outcome, app_data):
            state = VariablePart(outcome, app_data, channel.next_turn)
            return _move(channel, state, now, key, app)
        case ConcludeWanted():
            return _leave(channel, now), ()
        case ChallengeWanted():
            return _challenge(channel, now)
        case HoldingsSeen(asset, held):
            return replace(channel, holdings=tuple(sorted({**dict(channel.holdings), asset: held}.items()))), ()
        case LogSeen(log):
            return _see(channel, log, now)
        case SubmissionFailed(submission):
            return replace(channel, requested=channel.requested - {submission}), ()
        case Tick():
            return channel, ()
        case _:
            assert_never(input_)


# ------------------------------------------------------------------------------------------------- states that arrive


def _receive(channel: Channel, signed: SignedState, app: Rules) -> Channel:
    """Accept a counterparty's state: the next one, or more signatures on the newest."""
    try:
        if signed.state.turn_num < channel.next_turn:
            return _receive_again(channel, signed)
        return channel.accept(_verify_next(channel, signed, app))
    except ForcemoveError as error:
        raise CounterpartyError(error, signed) from error


def _receive_again(channel: Channel, signed: SignedState) -> Channel:
    """A state of a turn that we have: maybe more signatures on the newest; another one, truly signed, is evidence."""
    state = signed.state
    known = next((each for each in channel.accepted if each.state.turn_num == state.turn_num), None)
    if known is None:
        raise UnexpectedTurn(channel.next_turn, state.turn_num)
    if known.state != state:
        hashes = hash_state(channel.agreement.channel_id, state)
        _verified_signatures(channel, hashes, signed, SignedState(state))
        raise StateConflict(state.turn_num)
    if known is not channel.newest:
        return channel  # a message that was delivered twice, or that the chain has overtaken
    merged = _verified_signatures(channel, known.hashes, signed, known.signed)
    return channel.replace_newest(Accepted(merged, known.hashes))


def _verify_next(channel: Channel, signed: SignedState, app: Rules) -> Accepted:
    """The next state, by its mover, if every rule holds."""
    agreement, state = channel.agreement, signed.state
    if state.turn_num != channel.next_turn:
        raise UnexpectedTurn(channel.next_turn, state.turn_num)
    mover = agreement.fixed_part.mover(state.turn_num)
    if mover not in signed.signatures:
        raise SignatureMissing(mover)
    hashes = _require_next(channel, state, app)
    return Accepted(_verified_signatures(channel, hashes, signed, SignedState(state)), hashes)


def _verified_signatures(channel: Channel, hashes: StateHashes, signed: SignedState, known: SignedState) -> SignedState:
    """`known` with those signatures of `signed` that it lacks, each verified."""
    participants = channel.agreement.fixed_part.participants
    to_sign = digest(channel.agreement.domain, hashes.state)
    for index, signature in signed.signatures.items():
        if index in known.signatures:
            continue
        if not 0 <= index < len(participants):
            raise SignatureMissing(index)
        require_signer(to_sign, signature, participants[index])
        known = known.with_signature(index, signature)
    return known


def _require_next(channel: Channel, state: VariablePart, app: Rules) -> StateHashes:
    """The hashes of a state that may follow the newest one, whoever makes it."""
    agreement, newest = channel.agreement, channel.newest
    if state.turn_num < agreement.count:
        if state != agreement.setup_state(state.turn_num):
            raise OpeningMismatch(state.turn_num)
        return hash_state(agreement.channel_id, state)
    hashes = require_valid_state(agreement.channel_id, agreement.domain.adjudicator, state)
    if newest is not None:
        require_valid_transition(agreement.fixed_part, newest.state, newest.hashes, state, hashes, app)
    return hashes


# ---------------------------------------------------------------------------------------------------- what we decide


def _move(channel: Channel, state: VariablePart, now: int, key: Key, app: Rules) -> Step:
    """Make our next state, if it is our turn and the move is legal."""
    phase = channel.phase(now)
    if phase not in (Phase.PLAYING, Phase.CHALLENGED) or channel.next_turn < 2 * channel.agreement.count:
        raise WrongPhase("move", phase.value)
    if not channel.is_our_turn:
        raise OutOfTurn(channel.next_turn, channel.next_turn % channel.agreement.count)
    return _sign_next(channel, state, _require_next(channel, state, app), key)


def _sign_next(channel: Channel, state: VariablePart, hashes: StateHashes, key: Key) -> Step:
    channel, accepted = channel.sign(state, hashes, key)
    return channel.accept(accepted), (SendState(accepted.signed),)


def _leave(channel: Channel, now: int) -> Channel:
    phase = channel.phase(now)
    if phase in (Phase.CHECKING, Phase.PREFUND, Phase.FINALIZED, Phase.CLOSED):
        raise WrongPhase("conclude", phase.value)
    return replace(channel, leaving=True)


def _challenge(channel: Channel, now: int) -> Step:
    """Challenge with the newest state: above the record with its proof, or the recorded one itself."""
    phase = channel.phase(now)
    if phase not in (Phase.FUNDING, Phase.PLAYING, Phase.CONCLUDING):
        raise WrongPhase("challenge", phase.value)
    if phase is Phase.PLAYING and channel.is_our_turn:
        raise OutOfTurn(channel.next_turn, channel.index)
    newest, recorded = channel.newest, channel.recorded
    if newest is None:
        raise NotSupported(0)
    if recorded is not None and recorded.hashes == newest.hashes:
        proof: SupportProof | None = SupportProof((newest.state,), (), 0)
    else:
        proof = build_support_proof(channel.agreement.fixed_part, channel.signed_states)
    if proof is None:
        raise NotSupported(newest.state.turn_num)
    return _ask(channel, SubmitChallenge(proof)) or (channel, ())


# ----------------------------------------------------------------------------------------------- what the chain says


def _see(channel: Channel, log: Log, now: int) -> Step:
    """Take over what the adjudicator has logged. What we had asked because of the former status is asked anew."""
    match log:
        case ChallengeRegistered(_, finalizes_at, state, signatures):
            channel = _record(channel, state, dict(enumerate(signatures)), finalizes_at)
            return channel, (WakeAt(finalizes_at),)
        case Responded(_, state, signature):
            mover = channel.agreement.fixed_part.mover(state.turn_num)
            return _record(channel, state, {mover: signature}, 0), ()
        case Checkpointed(_, state, signatures):
            return _record(channel, state, dict(enumerate(signatures)), 0), ()
        case Concluded():
            return replace(channel, status=replace(channel.status, finalizes_at=now)), ()
        case PartlyPaid(_, state_hash, remaining):
            status = replace(channel.status, finalizes_at=min(channel.status.finalizes_at or now, now))
            return replace(channel, status=status, owed=Owed(state_hash, remaining)), ()
        case Closed():
            return replace(channel, closed=True, requested=frozenset()), ()
        case _:
            return channel, ()


def _record(channel: Channel, state: VariablePart, signatures: dict[int, Signature], finalizes_at: int) -> Channel:
    """The chain has recorded a state: take it as a move where it is the next one, and as a new start beyond that."""
    hashes = hash_state(channel.agreement.channel_id, state)
    recorded = Accepted(_those_that_verify(channel, hashes, SignedState(state), signatures), hashes)
    channel = replace(
        channel,
        status=Status(state.turn_num, finalizes_at, 0),
        recorded=recorded,
        requested=frozenset(effect for effect in channel.requested if isinstance(effect, SubmitDeposit)),
    )
    if state.turn_num > channel.next_turn:
        return replace(channel, accepted=(recorded,))
    if state.turn_num == channel.next_turn:
        return channel.accept(recorded)
    newest = channel.newest
    if newest is not None and newest.hashes == hashes:
        merged = SignedState(state, {**recorded.signed.signatures, **newest.signed.signatures})
        return channel.replace_newest(Accepted(merged, hashes))
    return channel


def _those_that_verify(
    channel: Channel, hashes: StateHashes, known: SignedState, signatures: dict[int, Signature]
) -> SignedState:
    """Of a proof's signatures, those that are of this state; the others are of states before it."""
    for index, signature in signatures.items():
        try:
            known = _verified_signatures(channel, hashes, SignedState(known.state, {index: signature}), known)
        except ForcemoveError:
            continue
    return known


# ------------------------------------------------------------------------------------------------------------- duties

Duty = Callable[[Channel, int, Key, Rules], Step | None]
"""Something that is to be done in a phase; None where it is not due."""


def _ask(channel: Channel, effect: Effect) -> Step | None:
    """Ask something of the world, once."""
    return None if effect in channel.requested else (channel.request(effect), (effect,))


def _sign_setup(channel: Channel, _now: int, key: Key, _app: Rules) -> Step | None:
    """Our prefund state, once it is our turn; our postfund state, once everything is there and nothing recorded."""
    if not channel.is_our_turn or channel.leaving:
        return None
    funding = channel.next_turn >= channel.agreement.count
    if funding and not (channel.is_funded and channel.status.is_empty):
        return None
    state = channel.agreement.setup_state(channel.next_turn)
    return _sign_next(channel, state, hash_state(channel.agreement.channel_id, state), key)


def _deposit(channel: Channel, _now: int, _key: Key, _app: Rules) -> Step | None:
    """Our deposit, once those before us have made theirs. What we rely on is our own expectation."""
    if not channel.status.is_empty or channel.leaving:
        return None
    for asset, amounts in channel.agreement.deposits:
        expected_held, amount = sum(amounts[: channel.index]), amounts[channel.index]
        if expected_held <= channel.held(asset) < expected_held + amount:
            done = _ask(channel, SubmitDeposit(asset, expected_held, amount))
            if done is not None:
                return done
    return None


def _sign_final(channel: Channel, _now: int, key: Key, _app: Rules) -> Step | None:
    """The final state, once we want to leave and it is our turn."""
    return _finish(channel, key) if channel.leaving and channel.is_our_turn else None


def _finish(channel: Channel, key: Key) -> Step | None:
    newest = channel.newest
    if newest is None or newest.state.is_final:
        return None
    state = VariablePart(newest.state.outcome, b"", newest.state.turn_num + 1, True)
    return _sign_next(channel, state, hash_state(channel.agreement.channel_id, state), key)


def _countersign(channel: Channel, _now: int, key: Key, _app: Rules) -> Step | None:
    """A counterparty's final state: its outcome is that of the state before, which all can be held to anyway."""
    newest = channel.newest
    if newest is None or not newest.state.is_final or channel.index in newest.signed.signatures:
        return None
    channel, ours = channel.sign(newest.state, newest.hashes, key)
    signed = newest.signed.with_signature(channel.index, ours.signed.signatures[channel.index])
    return channel.replace_newest(Accepted(signed, newest.hashes)), (SendState(signed),)


def _conclude(channel: Channel, now: int, _key: Key, _app: Rules) -> Step | None:
    """Conclude on chain. Whoever made the final state does; the others do after a challenge duration without it."""
    newest = channel.newest
    answer = concluding_answer(channel.agreement.fixed_part, newest.signed) if newest else None
    if newest is None or answer is None:
        return None
    fixed_part = channel.agreement.fixed_part
    if fixed_part.mover(newest.state.turn_num) == channel.index:
        return _ask(channel, answer)
    waits = [effect.time for effect in channel.requested if isinstance(effect, WakeAt)]
    if not waits:
        return _ask(channel, WakeAt(now + fixed_part.challenge_duration))
    return _ask(channel, answer) if now >= min(waits) else None


def _ask_for_move(channel: Channel, _now: int, _key: Key, _app: Rules) -> Step | None:
    newest = channel.newest
    if newest is None or not channel.is_our_turn or channel.leaving:
        return None
    return _ask(channel, ChooseMove(newest.state, None))


def _answer(channel: Channel, now: int, key: Key, _app: Rules) -> Step | None:
    """Clear a challenge with what we hold; else ask for our move in time, and conclude when time runs out."""
    recorded, newest = channel.recorded, channel.newest
    if recorded is None or newest is None:
        return None
    fixed_part = channel.agreement.fixed_part
    answer = best_answer(fixed_part, recorded.signed, channel.signed_states)
    if answer is not None:
        return _ask(channel, answer)
    if not channel.is_our_turn or newest.state.turn_num < recorded.state.turn_num:
        return None
    answer_by = channel.status.finalizes_at - answer_margin(fixed_part.challenge_duration)
    must_finish = newest.state.is_final or channel.next_turn < 2 * channel.agreement.count
    if channel.leaving or must_finish or now >= answer_by:
        return _finish(channel, key)
    return _ask(channel, ChooseMove(newest.state, answer_by)) or _ask(channel, WakeAt(answer_by))


def _collect(channel: Channel, _now: int, _key: Key, _app: Rules) -> Step | None:
    """Pay out what the chain has decided, whenever there is something to pay it from."""
    recorded = channel.recorded
    owed = channel.owed or (Owed(recorded.hashes.state, recorded.state.outcome) if recorded else None)
    if owed is None or not any(held for _, held in channel.holdings):
        return None
    return _ask(channel, SubmitTransfer(owed.state_hash, owed.outcome, channel.holdings))


_DUTIES: dict[Phase, tuple[Duty, ...]] = {
    Phase.CHECKING: (),
    Phase.PREFUND: (_sign_setup,),
    Phase.FUNDING: (_sign_final, _deposit, _sign_setup),
    Phase.PLAYING: (_sign_final, _ask_for_move),
    Phase.CONCLUDING: (_countersign, _conclude),
    Phase.CHALLENGED: (_countersign, _answer),
    Phase.FINALIZED: (_collect,),
    Phase.CLOSED: (),
}
"""The phase table: what a participant does by itself, in this order."""
