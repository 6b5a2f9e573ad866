"""What the participants of a channel could do now, with its chain at hand: the adjudicator itself is asked.

Every operation that one signed state and the logs of the chain allow is simulated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.chain.errors import CallRefused, Panicked, RevertedWithText, UnknownRevert
from forcemove.errors import ForcemoveError, RuleError
from forcemove.inspect.onchain import ChannelOnChain
from forcemove.inspect.possibilities import PossibleAction, turn_actions
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.machine.responses import cheapest_proof, concluding_answer
from forcemove.protocol.types import FixedPart, SignedState, SupportProof, totals
from forcemove.protocol.words import Mode

if TYPE_CHECKING:
    from forcemove.chain.adjudicator import Adjudicator, Operation

__all__ = ["Attempt", "actions_on_chain", "try_operations"]

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
