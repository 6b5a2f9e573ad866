"""What packed calldata asks of the adjudicator, by itself: neither its chain nor its sender is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.errors import ForcemoveError, MalformedBytes, RuleError
from forcemove.game import Game
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts, guess_app, read_position
from forcemove.inspect.states import OutcomeEntry, StateFacts, outcome_entries, state_facts
from forcemove.protocol.codec import packed
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.types import FixedPart, Signature, VariablePart

__all__ = ["CallItem", "CallReport", "StateInCall", "inspect_call", "is_call"]

_OPERATIONS = {selector: name for name, selector in packed.SELECTORS.items()}


@dataclass(frozen=True, slots=True)
class StateInCall:
    """A state that a call gives."""

    facts: StateFacts
    app: KnownApp | None
    position: PositionFacts | NoPosition | None


@dataclass(frozen=True, slots=True)
class CallItem:
    """An operation of a batch. `gas`: that it may use. `found`: what it asks, or why it means nothing."""

    gas: int
    found: CallReport | ForcemoveError


@dataclass(frozen=True, slots=True)
class CallReport:
    """What a call asks.

    - `operation`: its name.
    - `call`: its values.
    - `fixed_part`: of the channel; None of a transfer and of a batch.
    - `from_record`: whether its first state is the recorded one.
    - `states`: that it gives. Those of a response have no turns: they count from 0 here.
    - `pays`: of a conclusion or a transfer.
    - `signatures`: of states, in their order.
    - `items`: of a batch.
    """

    operation: str
    call: packed.Call
    fixed_part: FixedPart | None = None
    from_record: bool = False
    states: tuple[StateInCall, ...] = ()
    pays: tuple[OutcomeEntry, ...] = ()
    signatures: tuple[Signature, ...] = ()
    items: tuple[CallItem, ...] = ()


def is_call(data: bytes) -> bool:
    """Whether bytes begin as packed calldata does."""
    return data[:4] in _OPERATIONS


def inspect_call(data: bytes, games: Sequence[Game]) -> CallReport:
    """What packed calldata asks. `games`: those that the channel's app is looked for among. Raises `MalformedBytes`
    where the adjudicator would not read it."""
    try:
        call = decode_call(data)
    except RuleError as error:
        raise MalformedBytes("call", str(error)) from None
    name = _OPERATIONS[data[:4]]
    match call:
        case packed.ChallengeCall(fixed, proof) | packed.CheckpointCall(fixed, proof):
            states = _states(proof.states, fixed, games)
            return CallReport(name, call, fixed, proof.is_from_record, states, signatures=proof.signatures)
        case packed.RespondCall(fixed, challenged, response, signature):
            states = _states((challenged, response), fixed, games)
            return CallReport(name, call, fixed, True, states, signatures=(signature,))
        case packed.ConcludeCall(fixed, outcome, _, signatures):
            return CallReport(name, call, fixed, pays=outcome_entries(outcome, fixed), signatures=signatures)
        case packed.TransferCall(outcome=outcome):
            return CallReport(name, call, pays=outcome_entries(outcome, None))
        case packed.BatchCall(items):
            found = (CallItem(gas, _item(calldata, games)) for gas, calldata in items)
            return CallReport(name, call, items=tuple(found))


def _states(states: Sequence[VariablePart], fixed: FixedPart, games: Sequence[Game]) -> tuple[StateInCall, ...]:
    app = guess_app(states[-1].app_data, games)
    return tuple(StateInCall(state_facts(state, fixed), app, read_position(app, state)) for state in states)


def _item(calldata: bytes, games: Sequence[Game]) -> CallReport | ForcemoveError:
    try:
        return inspect_call(calldata, games)
    except MalformedBytes as error:
        return error
