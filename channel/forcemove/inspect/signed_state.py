"""What can be said of a signed state with its channel, and of its chain where one is at hand.

What the participants could do now is asked of the adjudicator itself: every operation that one signed state and the
logs of the chain allow is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.chain.errors import CallRefused, Panicked, RevertedWithText, UnknownRevert
from forcemove.errors import ForcemoveError, RuleError
from forcemove.game import seat_names
from forcemove.inspect import apps, states
from forcemove.inspect.onchain import ChannelOnChain, ChannelReport, report_channel
from forcemove.inspect.possibilities import PossibleAction, dispute_actions, missing_support, turn_actions
from forcemove.protocol.codec.wire import SignedStateFile
from forcemove.protocol.encoding import channel_id, digest, hash_state
from forcemove.protocol.machine.responses import cheapest_proof, concluding_answer
from forcemove.protocol.rules import require_valid_state
from forcemove.protocol.types import FixedPart, SignedState, SupportProof, totals
from forcemove.protocol.words import Mode

if TYPE_CHECKING:
    from forcemove.chain.adjudicator import Adjudicator, Operation

_REFUSALS = (RuleError, CallRefused, Panicked, RevertedWithText, UnknownRevert)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An action that was simulated. `refusal`: what the adjudicator or the app would answer; None where it works."""

    action: PossibleAction
    refusal: ForcemoveError | None


def try_operations(
    adjudicator: Adjudicator, channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState
) -> list[Attempt]:
    """Simulate every operation that the signed state allows, each sent by a participant. The signatures must be
    good."""
    sender = fixed_part.participants[0]
    operations = _operations(adjudicator, channel, fixed_part, signed)
    return [Attempt(action, _refusal(adjudicator, operation, sender)) for action, operation in operations]


def _refusal(adjudicator: Adjudicator, operation: Operation, sender: bytes) -> ForcemoveError | None:
    try:
        adjudicator.simulate(operation, sender)
    except _REFUSALS as error:
        return error
    return None


def _operations(
    adjudicator: Adjudicator, channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState
) -> Iterable[tuple[PossibleAction, Operation]]:
    if channel.mode is Mode.FINALIZED:
        yield from _payout(adjudicator, channel, fixed_part)
        return
    conclude = concluding_answer(fixed_part, signed)
    if conclude is not None:
        operation = adjudicator.conclude(fixed_part, conclude.outcome, conclude.turn_num, conclude.signatures)
        yield PossibleAction("conclude", "have this final state paid out at once"), operation
        return
    yield from _response(adjudicator, channel, fixed_part, signed)
    yield from _claims_of_state(adjudicator, channel, fixed_part, signed)


def _payout(
    adjudicator: Adjudicator, channel: ChannelOnChain, fixed_part: FixedPart
) -> Iterable[tuple[PossibleAction, Operation]]:
    owed = channel.record.owed
    if owed is not None:
        operation = adjudicator.transfer(channel.channel_id, fixed_part.asset, owed.state_hash, owed.outcome)
        yield PossibleAction("transfer", "have what is owed paid out, to everybody"), operation


def _response(
    adjudicator: Adjudicator, channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState
) -> Iterable[tuple[PossibleAction, Operation]]:
    """The signed state as the answer to the challenged one."""
    recorded, state = channel.record.recorded, signed.state
    signature = signed.signatures.get(fixed_part.mover(state.turn_num))
    if channel.mode is not Mode.CHALLENGE or recorded is None or signature is None:
        return
    if state.turn_num == recorded.state.turn_num + 1:
        operation = adjudicator.respond(fixed_part, recorded.state, state, signature)
        yield PossibleAction("respond", "answer the challenge with this state, which stops the clock"), operation


def _claims_of_state(
    adjudicator: Adjudicator, channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState
) -> Iterable[tuple[PossibleAction, Operation]]:
    """Challenge and checkpoint, where the state is the recorded one or a proof of it is at hand."""
    answer = f"start the clock on this state: {fixed_part.challenge_duration:,} seconds to answer"
    if is_recorded(channel, signed):
        if channel.mode is Mode.OPEN:
            bare = SupportProof((signed.state,), (), 0)
            yield PossibleAction("challenge", answer), adjudicator.challenge(fixed_part, bare)
        return
    recorded = _recorded_states(channel, fixed_part, signed)
    proof = cheapest_proof(fixed_part, recorded[0].state if recorded else None, [*recorded, signed])
    if proof is not None:
        yield PossibleAction("challenge", answer), adjudicator.challenge(fixed_part, proof)
        record = "have this state recorded" + (", which stops the clock" if channel.mode is Mode.CHALLENGE else "")
        yield PossibleAction("checkpoint", record), adjudicator.checkpoint(fixed_part, proof)


def is_recorded(channel: ChannelOnChain, signed: SignedState) -> bool:
    """Whether the adjudicator has recorded exactly this state."""
    hashes = hash_state(channel.channel_id, signed.state)
    return channel.record.owed is not None and channel.record.owed.state_hash == hashes.state


def _recorded_states(channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState) -> list[SignedState]:
    recorded = channel.record.recorded
    if recorded is None or recorded.state.turn_num + 1 != signed.state.turn_num:
        return []
    return [recorded.signed_by(fixed_part.participants)]


# ------------------------------------------------------------------------------------------------------------ actions


def actions_on_chain(
    channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState, attempts: Iterable[Attempt], index: int
) -> list[PossibleAction]:
    """What one participant could do: off chain, with the transactions that were tried, and with its credits.

    - `channel`: the channel as its chain has it.
    - `fixed_part`: of the channel.
    - `signed`: the signed state at hand.
    - `attempts`: the transactions that were tried in a simulation.
    - `index`: of the participant.
    """
    tried = [attempt.action for attempt in attempts if attempt.refusal is None]
    account = fixed_part.participants[index]
    claims = [PossibleAction("claim", "collect its credit") for credit in channel.credits if credit.account == account]
    return [*_without_asking_the_chain(channel, fixed_part, signed, index), *tried, *claims[:1]]


def _without_asking_the_chain(
    channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState, index: int
) -> list[PossibleAction]:
    state, signers = signed.state, frozenset(signed.signatures)
    if channel.closed:
        return [PossibleAction("nothing", "the channel is closed: everything was paid")]
    if channel.mode is Mode.FINALIZED:
        return (
            [] if channel.record.owed else [PossibleAction("nothing", "the channel is finalized, with another state")]
        )
    recorded = is_recorded(channel, signed)
    if not (channel.status.is_empty or recorded or state.is_final or state.turn_num > channel.status.turn_num_record):
        return [
            PossibleAction(
                "wait", f"wait: the chain knows turn {channel.status.turn_num_record}; this state is overtaken"
            )
        ]
    if recorded and channel.mode is Mode.CHALLENGE:
        return [_answer(channel, fixed_part, signed, index)]
    actions = turn_actions(fixed_part, state, signers, index)
    return [action for action in actions if action.action != "deposit" or _is_unfunded(channel, signed)]


def _answer(channel: ChannelOnChain, fixed_part: FixedPart, signed: SignedState, index: int) -> PossibleAction:
    turn, left = signed.state.turn_num + 1, channel.seconds_left
    mover = fixed_part.mover(turn)
    if index == mover:
        return PossibleAction(
            "respond", f"answer the challenge with a state of turn {turn}, on the chain, within {left:,} seconds"
        )
    return PossibleAction(
        "wait", f"wait {left:,} seconds for participant {mover} to answer; then what is recorded can be paid out"
    )


def _is_unfunded(channel: ChannelOnChain, signed: SignedState) -> bool:
    return any(channel.held(asset) < total for asset, total in totals(signed.state.outcome).items())


# ----------------------------------------------------------------------------------------------------------- the report

_NOTHING = (PossibleAction("nothing", "the state breaks a rule: nobody can use it"),)


@dataclass(frozen=True, slots=True)
class SignedStateReport:
    """What can be said of a signed state.

    `problem`: what makes it invalid, or None. `support`: what is missing to prove that every participant can be held to
    it, None where this state alone proves it. `could`: the actions of each participant, in their order. `refused`: the
    operations that the adjudicator would not accept; `channel`: the channel on its chain; both None without a chain.
    """

    file: SignedStateFile
    channel_id: bytes
    state: states.StateFacts
    app: apps.KnownApp | None
    position: apps.PositionFacts | apps.NoPosition | None
    signatures: tuple[states.SignatureCheck, ...]
    problem: RuleError | None
    support: str | None
    could: tuple[tuple[PossibleAction, ...], ...]
    refused: tuple[Attempt, ...] | None
    channel: ChannelReport | None

    @property
    def has_wrong_signature(self) -> bool:
        """Whether a signature is not of the participant that it is said to be of."""
        return any(check.verdict is states.SignatureVerdict.WRONG for check in self.signatures)


def report_signed_state(
    file: SignedStateFile,
    app: apps.KnownApp | None,
    on_chain: tuple[Adjudicator, ChannelOnChain] | None = None,
) -> SignedStateReport:
    """Examine a state. `on_chain`: the adjudicator to ask for what it would accept, and the channel as it was read.
    Raises what asking a chain raises."""
    fixed_part, state = file.fixed_part, file.signed.state
    id_ = channel_id(fixed_part, file.domain)
    signed = digest(file.domain, hash_state(id_, state).state)
    checks = states.check_signatures(fixed_part.participants, signed, file.signed.signatures)
    good, problem = _only_good(file.signed, checks), _problem(file, id_)
    attempts = try_operations(*on_chain, fixed_part, good) if on_chain and problem is None else []
    actions = _actions(file, good, on_chain and on_chain[1], attempts)
    return SignedStateReport(
        file,
        id_,
        states.state_facts(state, fixed_part),
        app,
        apps.read_position(app, state, seat_names(len(fixed_part.participants))),
        checks,
        problem,
        missing_support(fixed_part, state, frozenset(good.signatures)),
        tuple(_NOTHING if problem else actions(index) for index in range(len(fixed_part.participants))),
        tuple(each for each in attempts if each.refusal is not None) if on_chain else None,
        report_channel(on_chain[1], lambda _: app, fixed_part) if on_chain else None,
    )


def _only_good(signed: SignedState, checks: Sequence[states.SignatureCheck]) -> SignedState:
    good = (check.participant for check in checks if check.verdict is states.SignatureVerdict.SIGNED)
    return SignedState(signed.state, {index: signed.signatures[index] for index in good})


def _problem(file: SignedStateFile, id_: bytes) -> RuleError | None:
    try:
        require_valid_state(id_, file.domain.adjudicator, file.fixed_part, file.signed.state)
    except RuleError as error:
        return error
    return None


def _actions(
    file: SignedStateFile, good: SignedState, channel: ChannelOnChain | None, attempts: Sequence[Attempt]
) -> Callable[[int], tuple[PossibleAction, ...]]:
    """What each participant, by its index, could do about a valid state."""
    fixed_part, signers = file.fixed_part, frozenset(good.signatures)
    if channel is not None:
        return lambda index: tuple(actions_on_chain(channel, fixed_part, good, attempts, index))
    dispute = dispute_actions(fixed_part, good.state, signers)
    return lambda index: (*turn_actions(fixed_part, good.state, signers, index), *dispute)
