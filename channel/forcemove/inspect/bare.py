"""What a piece of hex is without its channel: a state, a record, or a game's position. (Calldata: `calls`.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from forcemove.errors import MalformedBytes
from forcemove.game import Game, Names
from forcemove.inspect.apps import KnownApp, NoPosition, PositionFacts, guess_app, read_position
from forcemove.inspect.states import StateFacts, state_facts
from forcemove.protocol.encoding import decode_record, decode_variable_part
from forcemove.protocol.types import Signature, VariablePart

__all__ = ["BareKind", "BareReport", "Missing", "inspect_bytes"]


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
    app: KnownApp | None
    position: PositionFacts | NoPosition | None
    signatures: tuple[Signature, ...]
    missing: tuple[Missing, ...]


def inspect_bytes(data: bytes, games: Sequence[Game]) -> BareReport:
    """The first kind that the bytes are. Raises `MalformedBytes` where they are of no kind."""
    try:
        state, signatures = _read_state(data)
    except MalformedBytes as error:
        return _bare_position(data, games, error.reason)
    app = guess_app(state.app_data, games)
    return BareReport(
        BareKind.STATE if signatures is None else BareKind.RECORD,
        state_facts(state),
        app,
        read_position(app, state),
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
    app = guess_app(data, games)
    if app is None:
        known = "".join(f", nor a position of {game.title}" for game in games)
        reason = f"these {len(data)} bytes are not a state ({why_no_state}), nor a record{known}"
        raise MalformedBytes("state, record or position", reason)
    # Whose turn it was is unknown, so only what they have done distinguishes them: seat 0 is the mover's.
    seats = min(app.game.seats)
    position = read_position(app, VariablePart((), data, 2 * seats), _names_in_turn(seats))
    missing = (Missing.STATE, Missing.CHANNEL, Missing.SIGNATURES, Missing.APP)
    return BareReport(BareKind.POSITION, None, app, position, (), missing)


def _names_in_turn(seats: int) -> Names:
    """Names of participants of whom only the turns are known."""
    if seats == 2:
        return ("the mover", "the other")
    return ("the mover", *(f"number {turn} after the mover" for turn in range(1, seats)))
