"""What a piece of hex is without its channel: a state, a record, or a game's position. And what packed calldata asks of
the adjudicator, by itself: neither its chain nor its sender is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from forcemove.errors import ForcemoveError, MalformedBytes, RuleError
from forcemove.game import Game, Names
from forcemove.inspect import apps
from forcemove.inspect.states import OutcomeEntry, StateFacts, outcome_entries, state_facts
from forcemove.protocol.codec import packed
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.encoding import decode_record, decode_variable_part
from forcemove.protocol.types import FixedPart, Signature, VariablePart


class BareKind(Enum):
    """`abi.encode(VariablePart)`, a state as messages have it with signatures, or a game's appData."""

    STATE = "state"
    RECORD = "record"
    POSITION = "position"


class Missing(Enum):
    """What is needed to check the bytes, each a clause for people."""

    STATE = "the rest of the state: turn number, outcome, whether it is final"
    CHANNEL = "the channel: chain id, adjudicator and fixed part, without which nobody knows what is signed"
    SIGNATURES = "the signatures: without them nobody is held to it"
    APP = "the app: the bytes alone do not say which game is played"


@dataclass(frozen=True, slots=True)
class BareReport:
    """`state`: None of a bare position. `signatures`: only of a record; bare hex does not say whose they are."""

    kind: BareKind
    state: StateFacts | None
    app: apps.KnownApp | None
    position: apps.PositionFacts | apps.NoPosition | None
    signatures: tuple[Signature, ...]
    missing: tuple[Missing, ...]


def inspect_bytes(data: bytes, games: Sequence[Game]) -> BareReport:
    """The first kind that the bytes are. Raises `MalformedBytes` where they are of no kind."""
    try:
        state, signatures = _read_state(data)
    except MalformedBytes as error:
        return _bare_position(data, games, error.reason)
    app = apps.guess_app(state.app_data, games)
    return BareReport(
        BareKind.STATE if signatures is None else BareKind.RECORD,
        state_facts(state),
        app,
        apps.read_position(app, state),
        signatures or (),
        (Missing.CHANNEL, *(() if signatures else (Missing.SIGNATURES,)), Missing.APP),
    )


def _read_state(data: bytes) -> tuple[VariablePart, tuple[Signature, ...] | None]:
    """The state, and the signatures where the bytes are a record. Raises `MalformedBytes`, of a state."""
    try:
        return decode_variable_part(data), None
    except MalformedBytes as no_state:
        try:
            return decode_record(data)
        except MalformedBytes:
            raise no_state from None


def _bare_position(data: bytes, games: Sequence[Game], why_no_state: str) -> BareReport:
    app = apps.guess_app(data, games)
    if app is None:
        known = "".join(f", nor a position of {game.title}" for game in games)
        reason = f"these {len(data)} bytes are not a state ({why_no_state}), nor a record{known}"
        raise MalformedBytes("state, record or position", reason)
    # Whose turn it was is unknown, so only what they have done distinguishes them: seat 0 is the mover's.
    seats = min(app.game.seats)
    position = apps.read_position(app, VariablePart((), data, 2 * seats), _names_in_turn(seats))
    missing = (Missing.STATE, Missing.CHANNEL, Missing.SIGNATURES, Missing.APP)
    return BareReport(BareKind.POSITION, None, app, position, (), missing)


def _names_in_turn(seats: int) -> Names:
    """Names of participants of whom only the turns are known."""
    if seats == 2:
        return ("the mover", "the other")
    return ("the mover", *(f"number {turn} after the mover" for turn in range(1, seats)))


# ------------------------------------------------------------------------------------------------------------- calldata

_OPERATIONS = {selector: name for name, selector in packed.SELECTORS.items()}


@dataclass(frozen=True, slots=True)
class StateInCall:
    """A state that a call gives."""

    facts: StateFacts
    app: apps.KnownApp | None
    position: apps.PositionFacts | apps.NoPosition | None


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
    app = apps.guess_app(states[-1].app_data, games)
    return tuple(StateInCall(state_facts(state, fixed), app, apps.read_position(app, state)) for state in states)


def _item(calldata: bytes, games: Sequence[Game]) -> CallReport | ForcemoveError:
    try:
        return inspect_call(calldata, games)
    except MalformedBytes as error:
        return error
