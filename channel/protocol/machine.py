"""The channel as a pure machine: `step(channel, input, now, key, app) -> (channel, effects)`.

It agrees an opening, funds, plays, concludes, challenges, answers and collects. Time (block time, seconds), the key and
the app's rules are arguments; nothing here waits, forgets or trusts. An input is applied by its handler; then the rules
of the phase it leaves the channel in (`_DUTIES`) do what is due, until nothing is.

An error leaves the channel as it was: `LocalError`s are ours, a `CounterpartyError` has the reason and what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from msgspec.structs import replace

from channel.errors import (
    CounterpartyError,
    ForcemoveError,
    InvalidValue,
    NotSupported,
    OpeningMismatch,
    OutOfTurn,
    SignatureMissing,
    StateConflict,
    WrongPhase,
)
from channel.protocol.app import Rules
from channel.protocol.channel import Accepted, Channel, Owed, Phase
from channel.protocol.effects import (
    ChooseMove,
    Effect,
    SendGreeting,
    SendState,
    Submission,
    SubmitChallenge,
    SubmitDeposit,
    SubmitPayCredit,
    SubmitTransfer,
    WakeAt,
)
from channel.protocol.encoding import StateHashes, digest, fingerprint, hash_state
from channel.protocol.inputs import (
    ChainRead,
    ChallengeWanted,
    ConcludeWanted,
    ContractsGenuine,
    CreditSeen,
    Greeted,
    HoldingsSeen,
    Input,
    LogSeen,
    MoveChosen,
    News,
    Reconnected,
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
from channel.protocol.rules import require_valid_state, require_valid_transition
from channel.protocol.signing import Key, require_signer
from channel.protocol.state import SignedState, SupportProof, VariablePart
from channel.protocol.status import Status
from channel.protocol.types import Signature
from channel.protocol.watch import Answer, best_answer, cheapest_proof, concluding_answer

__all__ = ["Step", "answer_margin", "step"]

Step = tuple[Channel, tuple[Effect, ...]]
_MAX_MARGIN = 600
_OVER = (Phase.FINALIZED, Phase.CLOSED)
_SILENT = (Phase.CHECKING, *_OVER)


def step(channel: Channel, input_: Input, now: int, key: Key, app: Rules) -> Step:
    """Apply one input at block time `now`. Raises `LocalError`, `CounterpartyError`, and of a move of ours that is
    none `RuleError` or `InvalidValue`."""
    changed, effects = _apply(channel, input_, now, key, app)
    while True:
        for duty in _DUTIES[changed.phase(now)]:
            done = duty(changed, now, key)
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
        case StateReceived(signed):
            return _receive(channel, signed, now, app)
        case Greeted():
            return channel, _answer_greeting(channel, input_, now)
        case MoveChosen():
            return _move(channel, input_, now, key, app)
        case ConcludeWanted():
            return _leave(channel, now), ()
        case ChallengeWanted():
            return _challenge(channel, now, key)
        case _:
            return _learn(channel, input_, now, app)


def _learn(
    channel: Channel,
    input_: ContractsGenuine | ChainRead | News | Reconnected | Tick,
    now: int,
    app: Rules,
) -> Step:
    match input_:
        case ContractsGenuine():
            return replace(channel, genuine=True), ()
        case LogSeen() | HoldingsSeen() | CreditSeen() | SubmissionFailed():
            return _see(channel, input_, now, app)
        case ChainRead(news, anew):
            return _read(channel.forget_chain() if anew else channel, news, now, app)
        case Reconnected():
            return channel, _greet(channel, now)
        case Tick():
            return channel, ()
        case _:
            assert_never(input_)


# ------------------------------------------------------------------------------------------------- states that arrive


def _receive(channel: Channel, signed: SignedState, now: int, app: Rules) -> Step:
    """Accept a counterparty's state: the next one, or more signatures on the newest. Too late is nobody's fault, and a
    state after the next one tells that we have missed something."""
    if channel.phase(now) in _OVER:
        return channel, ()
    if signed.state.turn_num > channel.next_turn:
        return channel, _greet(channel, now)
    try:
        if signed.state.turn_num < channel.next_turn:
            return _receive_again(channel, signed), ()
        return channel.accept(_verify_next(channel, signed, app)), ()
    except ForcemoveError as error:
        raise CounterpartyError(error, signed) from error


def _receive_again(channel: Channel, signed: SignedState) -> Channel:
    """A state of a turn that we have: maybe more signatures on the newest; another one, truly signed, is evidence.

    It is never answered: whoever lacks something says so in a greeting, and a line that repeats gets no echo.
    """
    state = signed.state
    place = state.turn_num - channel.next_turn
    known = channel.accepted[place] if place >= -len(channel.accepted) else None
    if known is None:
        return channel
    if known.state != state:
        _require_signed(channel, hash_state(channel.agreement.channel_id, state), signed)
        raise StateConflict(state.turn_num)
    if known is not channel.newest:
        return channel
    new = {index: each for index, each in signed.signatures.items() if index not in known.signed.signatures}
    if not new:
        return channel
    _require_signatures(channel, known.hashes, new)
    merged = SignedState(state, {**known.signed.signatures, **new})
    return channel.replace_newest(Accepted(merged, known.hashes))


def _greet(channel: Channel, now: int) -> tuple[Effect, ...]:
    """Say where we are."""
    return () if channel.phase(now) in _SILENT else (SendGreeting(channel.next_turn),)


def _answer_greeting(channel: Channel, greeting: Greeted, now: int) -> tuple[Effect, ...]:
    """What its sender lacks of what we have signed; where it is ahead of us, our own greeting says so."""
    if not 0 <= greeting.sender < channel.agreement.count or greeting.sender == channel.index:
        raise CounterpartyError(InvalidValue("sender", greeting.sender, "another participant's index"), greeting)
    if channel.phase(now) in _SILENT:
        return ()
    if greeting.next_turn > channel.next_turn:
        return _greet(channel, now)
    return tuple(SendState(each.signed, again=True) for each in channel.accepted if _lacks(channel, each, greeting))


def _lacks(channel: Channel, accepted: Accepted, greeting: Greeted) -> bool:
    """Whether it may lack this state, which is ours: one of a later turn, or signatures on the final one. (What came
    from the chain without its mover's signature tells nobody anything.)"""
    state, signatures = accepted.state, accepted.signed.signatures
    missing = state.turn_num >= greeting.next_turn or (state.is_final and state.turn_num + 1 == greeting.next_turn)
    return missing and channel.index in signatures and channel.agreement.fixed_part.mover(state.turn_num) in signatures


def _verify_next(channel: Channel, signed: SignedState, app: Rules) -> Accepted:
    """The next state, by its mover, if every rule holds."""
    hashes = _require_next(channel, signed.state, app)
    _require_signed(channel, hashes, signed)
    return Accepted(signed, hashes)


def _require_signed(channel: Channel, hashes: StateHashes, signed: SignedState) -> None:
    """Refuse a state without its mover's signature, or with a signature that is not what it says."""
    mover = channel.agreement.fixed_part.mover(signed.state.turn_num)
    if mover not in signed.signatures:
        raise SignatureMissing(mover)
    _require_signatures(channel, hashes, signed.signatures)


def _require_signatures(channel: Channel, hashes: StateHashes, signatures: Mapping[int, Signature]) -> None:
    participants = channel.agreement.fixed_part.participants
    to_sign = digest(channel.agreement.domain, hashes.state)
    for index, signature in signatures.items():
        if not 0 <= index < len(participants):
            raise InvalidValue("signatures", index, f"participants are 0 to {len(participants) - 1}")
        require_signer(to_sign, signature, participants[index])


def _require_next(channel: Channel, state: VariablePart, app: Rules) -> StateHashes:
    """The hashes of a state that may follow the newest one, whoever makes it."""
    agreement, newest = channel.agreement, channel.newest
    if state.turn_num < agreement.count:
        if state != agreement.setup_state(state.turn_num):
            raise OpeningMismatch(state.turn_num)
        return hash_state(agreement.channel_id, state)
    hashes = require_valid_state(agreement.channel_id, agreement.domain.adjudicator, state)
    if newest is not None:
        require_valid_transition(
            agreement.channel_id, agreement.fixed_part, newest.state, newest.hashes, state, hashes, app
        )
    return hashes


# ---------------------------------------------------------------------------------------------------- what we decide


def _move(channel: Channel, move: MoveChosen, now: int, key: Key, app: Rules) -> Step:
    """Make our next state, if it is our turn and the move is legal."""
    phase, turn_num = channel.phase(now), channel.next_turn
    if phase not in (Phase.PLAYING, Phase.CHALLENGED) or turn_num < 2 * channel.agreement.count:
        raise WrongPhase("move", phase.value)
    if not channel.is_our_turn:
        raise OutOfTurn(turn_num, turn_num % channel.agreement.count)
    state = VariablePart(move.outcome, move.app_data, turn_num)
    return _sign_next(channel, state, _require_next(channel, state, app), key)


def _sign_next(channel: Channel, state: VariablePart, hashes: StateHashes, key: Key) -> Step:
    channel = channel.sign_next(state, hashes, key)
    return channel, (SendState(channel.accepted[-1].signed),)


def _leave(channel: Channel, now: int) -> Channel:
    phase = channel.phase(now)
    if phase in _OVER:
        raise WrongPhase("conclude", phase.value)
    return replace(channel, leaving=True)


def _challenge(channel: Channel, now: int, key: Key) -> Step:
    """Let the chain decide. Where nothing but leaving is left to us we leave first, so that no answer is ours to give;
    what all have signed needs no challenge."""
    phase = channel.phase(now)
    if phase not in (Phase.FUNDING, Phase.PLAYING, Phase.CONCLUDING):
        raise WrongPhase("challenge", phase.value)
    if phase is Phase.PLAYING and channel.is_our_turn:
        raise OutOfTurn(channel.next_turn, channel.index)
    effects: tuple[Effect, ...] = ()
    if phase is Phase.FUNDING and channel.is_our_turn:
        channel, effects = _finish(replace(channel, leaving=True), key) or (channel, ())
    channel, asked = _ask(channel, _concluding(channel) or SubmitChallenge(_proof(channel))) or (channel, ())
    return channel, effects + asked


def _proof(channel: Channel) -> SupportProof:
    """Of the newest state above the record that we can prove; where there is none, the recorded state itself, to which
    our next move is an answer. Raises `NotSupported`."""
    fixed_part, recorded = channel.agreement.fixed_part, channel.recorded
    for states in (channel.signed_states, channel.kept_states):
        proof = cheapest_proof(fixed_part, recorded.state if recorded else None, states)
        if proof is not None and (recorded is None or proof.states[-1].turn_num > recorded.state.turn_num):
            return proof
    if recorded is None:
        raise NotSupported(channel.next_turn - 1)
    return SupportProof((recorded.state,), (), 0)


# ----------------------------------------------------------------------------------------------- what the chain says


def _read(channel: Channel, news: tuple[News, ...], now: int, app: Rules) -> Step:
    effects: tuple[Effect, ...] = ()
    for each in news:
        channel, more = _see(channel, each, now, app)
        effects += more
    return channel, effects


def _see(channel: Channel, seen: News, now: int, app: Rules) -> Step:
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
        _require_next(channel, recorded.state, app)
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
            _require_signatures(channel, hashes, {index: signature})
        except ForcemoveError:
            continue
        found[index] = signature
    return found


# ------------------------------------------------------------------------------------------------------------- duties

Duty = Callable[[Channel, int, Key], Step | None]
"""Something that is to be done in a phase; None where it is not due."""


def _ask(channel: Channel, submission: Submission) -> Step | None:
    """Ask for a transaction, once."""
    return None if submission in channel.requested else (channel.request(submission), (submission,))


def _sign_setup(channel: Channel, _now: int, key: Key) -> Step | None:
    """Our prefund state, once it is our turn; our postfund state, once everything is there. Neither after a record."""
    if not channel.is_our_turn or channel.leaving or not channel.status.is_empty:
        return None
    if channel.next_turn >= channel.agreement.count and not channel.is_funded:
        return None
    state = channel.agreement.setup_state(channel.next_turn)
    return _sign_next(channel, state, hash_state(channel.agreement.channel_id, state), key)


def _deposit(channel: Channel, _now: int, _key: Key) -> Step | None:
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


def _sign_final(channel: Channel, _now: int, key: Key) -> Step | None:
    """The final state, once we want to leave and it is our turn."""
    return _finish(channel, key) if channel.leaving and channel.is_our_turn else None


def _finish(channel: Channel, key: Key) -> Step | None:
    newest = channel.newest
    if newest is None or newest.state.is_final or not _may_finish(channel, newest):
        return None
    state = VariablePart(newest.state.outcome, b"", newest.state.turn_num + 1, True)
    return _sign_next(channel, state, hash_state(channel.agreement.channel_id, state), key)


def _may_finish(channel: Channel, newest: Accepted) -> bool:
    """Whether we have signed no other end. (Somebody else who uses our key might bring us there.)"""
    return channel.final_outcome in (None, newest.hashes.outcome)


def _countersign(channel: Channel, _now: int, key: Key) -> Step | None:
    """A counterparty's final state: its outcome is that of the state before, which all can be held to anyway."""
    newest = channel.newest
    if newest is None or not newest.state.is_final or channel.index in newest.signed.signatures:
        return None
    if not _may_finish(channel, newest) or newest.state.turn_num < channel.agreement.count:
        return None  # before all prefund states are signed nobody has paid in, and there is nothing to agree on
    channel = channel.countersign(newest, key)
    return channel, (SendState(channel.accepted[-1].signed),)


def _concluding(channel: Channel) -> Submission | None:
    newest = channel.newest
    return concluding_answer(channel.agreement.fixed_part, newest.signed) if newest else None


def _conclude(channel: Channel, now: int, _key: Key) -> Step | None:
    """Conclude on chain. Whoever made the final state does; the others do after a challenge duration without it."""
    fixed_part, answer = channel.agreement.fixed_part, _concluding(channel)
    if answer is None:
        return None
    if fixed_part.mover(channel.next_turn - 1) == channel.index:
        return _ask(channel, answer)
    if channel.conclude_at is None:
        conclude_at = now + fixed_part.challenge_duration
        return replace(channel, conclude_at=conclude_at), (WakeAt(conclude_at),)
    return _ask(channel, answer) if now >= channel.conclude_at else None


def _ask_for_move(channel: Channel, _now: int, _key: Key) -> Step | None:
    if not channel.is_our_turn or channel.leaving:
        return None
    return _choose(channel, None)


def _choose(channel: Channel, answer_by: int | None) -> Step | None:
    """Ask for our move, once, and once more where it has to be made in time."""
    newest = channel.newest
    if newest is None:
        return None
    turn_num = newest.state.turn_num + 1
    if channel.asked == (turn_num, answer_by):
        return None
    effects: tuple[Effect, ...] = (ChooseMove(newest.state, answer_by),)
    return channel.ask(turn_num, answer_by), effects if answer_by is None else (*effects, WakeAt(answer_by))


def _answer(channel: Channel, now: int, key: Key) -> Step | None:
    """Clear a challenge with what we hold; else ask for our move in time, and conclude when time runs out.

    One answer is enough: until it has failed, what is played meanwhile does not call for another.
    """
    recorded, newest = channel.recorded, channel.newest
    if recorded is None or newest is None or any(isinstance(each, Answer) for each in channel.requested):
        return None
    fixed_part = channel.agreement.fixed_part
    answer = best_answer(fixed_part, recorded.signed, channel.signed_states) or best_answer(
        fixed_part, recorded.signed, channel.kept_states
    )
    if answer is not None:
        return _ask(channel, answer)
    if not channel.is_our_turn:
        return None
    answer_by = channel.status.finalizes_at - answer_margin(fixed_part.challenge_duration)
    if channel.leaving or newest.state.is_final or now >= answer_by:
        return _finish(channel, key)
    return _choose(channel, answer_by)


def _collect(channel: Channel, _now: int, _key: Key) -> Step | None:
    """Pay out what the chain has decided, whenever there is something to pay it from."""
    recorded = channel.recorded
    owed = channel.owed or (Owed(recorded.hashes.state, recorded.state.outcome) if recorded else None)
    if owed is None or not any(held for _, held in channel.holdings):
        return None
    return _ask(channel, SubmitTransfer(owed.state_hash, owed.outcome, channel.holdings))


def _collect_credit(channel: Channel, _now: int, _key: Key) -> Step | None:
    """Have paid what could not be pushed to us."""
    for asset, amount in channel.credits:
        if channel.payee is not None and amount:
            done = _ask(channel, SubmitPayCredit(channel.payee, asset, amount))
            if done is not None:
                return done
    return None


_DUTIES: dict[Phase, tuple[Duty, ...]] = {
    Phase.CHECKING: (),
    Phase.PREFUND: (_sign_setup,),
    Phase.FUNDING: (_sign_final, _deposit, _sign_setup),
    Phase.PLAYING: (_sign_final, _ask_for_move),
    Phase.CONCLUDING: (_countersign, _conclude),
    Phase.CHALLENGED: (_countersign, _answer),
    Phase.FINALIZED: (_collect, _collect_credit),
    Phase.CLOSED: (_collect_credit,),
}
"""The phase table: what a participant does by itself, in this order."""
