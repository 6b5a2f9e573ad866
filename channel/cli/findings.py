"""What can be told of a state without a chain, as values for JSON; `pages` makes text of the same values.

Amounts (in the asset's smallest unit), chain ids and nonces are decimal numbers in quotes, since programs in many
languages could not hold them otherwise; bytes are hex with 0x, addresses with their checksum. Names stand in a finding
even where they are null, so that a program need not ask whether they are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.errors import AppError, ForcemoveError, MalformedBytes
from forcemove.channel.game import Names
from forcemove.channel.protocol.encoding import decode_record, decode_variable_part
from forcemove.channel.protocol.outcome import Allocation, Outcome, destination_address
from forcemove.channel.protocol.signing import recover
from forcemove.channel.protocol.state import VariablePart
from forcemove.channel.protocol.types import FixedPart, Signature

__all__ = [
    "Finding",
    "KnownApp",
    "KnownBy",
    "SignatureCheck",
    "app_finding",
    "check_signatures",
    "fixed_part_finding",
    "guess_app",
    "hex_finding",
    "outcome_finding",
    "position_finding",
    "show_hex",
    "signature_finding",
    "stage_of",
    "state_finding",
]

Finding = dict[str, Any]
_ABSENT_CHANNEL = "the channel: chain id, adjudicator and fixed part, without which nobody knows what is signed"
_ABSENT_SIGNATURES = "the signatures: without them nobody is held to it"
_ABSENT_APP = "the app: the bytes alone do not say which game is played"
_ABSENT_STATE = "the rest of the state: turn number, outcome, whether it is final"


def show_hex(data: bytes) -> str:
    """Bytes as they stand in a finding."""
    return "0x" + data.hex()


# --------------------------------------------------------------------------------------------------------------- apps


class KnownBy(Enum):
    """How an app was told: by its address on the chain, which follows from its creation code, by the address book, or
    only by what its bytes look like."""

    CODE = "code"
    BOOK = "book"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class KnownApp:
    """A game (as `forcemove.channel.game.Game` describes it) that a channel plays, or seems to play."""

    game: Any
    known_by: KnownBy


def guess_app(app_data: bytes, games: Iterable[Any]) -> KnownApp | None:
    """The first game of which these bytes are a position."""
    return next((KnownApp(game, KnownBy.BYTES) for game in games if _is_position(game, app_data)), None)


def _is_position(game: Any, app_data: bytes) -> bool:
    try:
        game.stake_of(app_data)
    except AppError:
        return False
    return True


def app_finding(app: KnownApp | None) -> Finding | None:
    """`{"game", "title", "contract", "knownBy": "code" | "book" | "bytes"}`, or None."""
    if app is None:
        return None
    game = app.game
    return {"game": game.name, "title": game.title, "contract": game.artifact.name, "knownBy": app.known_by.value}


def position_finding(app: KnownApp | None, state: VariablePart, names: Names | None = None) -> Finding | None:
    """`{"description", "board", "stake", "data", "problem"}`, where an app is known and the state has a position.
    `data`: what the game's own `position` says.

    Bytes that are none of the app's positions have a `problem` and nothing else.
    """
    if app is None or state.is_final:
        return None
    naming = () if names is None else (names,)
    try:
        return {
            "description": app.game.describe(state, *naming),
            "board": app.game.board(state, *naming),
            "stake": str(app.game.stake_of(state.app_data)),
            "data": app.game.position(state),
            "problem": None,
        }
    except AppError as error:
        return {"description": None, "board": None, "stake": None, "data": None, "problem": str(error)}


# ------------------------------------------------------------------------------------------------------------- states


def stage_of(turn_num: int, is_final: bool, count: int) -> str:
    """`prefund`, `postfund`, `app` or `final`: what kind of state stands at this turn of `count` participants."""
    if is_final:
        return "final"
    return "prefund" if turn_num < count else "postfund" if turn_num < 2 * count else "app"


def fixed_part_finding(fixed_part: FixedPart) -> Finding:
    """`{"participants", "channelNonce", "appDefinition", "challengeDuration"}`."""
    return {
        "participants": [show_address(participant) for participant in fixed_part.participants],
        "channelNonce": str(fixed_part.channel_nonce),
        "appDefinition": show_address(fixed_part.app_definition),
        "challengeDuration": fixed_part.challenge_duration,
    }


def state_finding(state: VariablePart, fixed_part: FixedPart | None = None) -> Finding:
    """`{"turnNum", "isFinal", "stage", "mover", "outcome", "appData"}`.

    `stage`, as in `stage_of`, and `mover`, a participant's index, are null where the participants are unknown.
    """
    count = len(fixed_part.participants) if fixed_part else None
    return {
        "turnNum": state.turn_num,
        "isFinal": state.is_final,
        "stage": count and stage_of(state.turn_num, state.is_final, count),
        "mover": fixed_part and fixed_part.mover(state.turn_num),
        "outcome": outcome_finding(state.outcome, fixed_part),
        "appData": show_hex(state.app_data),
    }


def outcome_finding(outcome: Outcome, fixed_part: FixedPart | None = None) -> list[Finding]:
    """Of each allocation `{"asset", "destination", "account", "participant", "amount"}`: the account (an address) is
    null where the destination is another channel, the participant where the account is no participant's."""
    return [_allocation_finding(entry, fixed_part.participants if fixed_part else ()) for entry in outcome]


def _allocation_finding(entry: Allocation, participants: tuple[bytes, ...]) -> Finding:
    account = destination_address(entry.destination)
    return {
        "asset": show_address(entry.asset),
        "destination": show_hex(entry.destination),
        "account": account and show_address(account),
        "participant": participants.index(account) if account in participants else None,
        "amount": str(entry.amount),
    }


# --------------------------------------------------------------------------------------------------------- signatures


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """What became of one participant's signature. `address`: the participant's, None for an index that is nobody's;
    `recovered`: who made the signature; `problem`: why nobody can have made it."""

    participant: int
    address: bytes | None
    given: bool
    recovered: bytes | None = None
    problem: str | None = None

    @property
    def good(self) -> bool:
        """Whether the participant itself has signed."""
        return self.recovered is not None and self.recovered == self.address


def check_signatures(
    participants: tuple[bytes, ...], digest: bytes, signatures: Mapping[int, Signature]
) -> tuple[SignatureCheck, ...]:
    """Recover every signature of `digest`; one check for each participant, and for each index that is nobody's."""
    indices = sorted({*range(len(participants)), *signatures})
    return tuple(_check(index, participants, digest, signatures.get(index)) for index in indices)


def _check(index: int, participants: tuple[bytes, ...], digest: bytes, signature: Signature | None) -> SignatureCheck:
    address = participants[index] if index < len(participants) else None
    if signature is None:
        return SignatureCheck(index, address, given=False)
    try:
        return SignatureCheck(index, address, True, recover(digest, signature))
    except ForcemoveError as error:
        return SignatureCheck(index, address, True, None, type(error).__name__)


def signature_finding(check: SignatureCheck) -> Finding:
    """`{"participant", "address", "standing": "signed" | "missing" | "wrong", "recovered", "problem"}`."""
    return {
        "participant": check.participant,
        "address": check.address and show_address(check.address),
        "standing": "signed" if check.good else "wrong" if check.given else "missing",
        "recovered": check.recovered and show_address(check.recovered),
        "problem": check.problem,
    }


# ----------------------------------------------------------------------------------------------------------- bare hex


def _names_in_turn(seats: int) -> Names:
    """Of those who are only known by when they move."""
    if seats == 2:
        return ("the mover", "the other")
    return ("the mover", *(f"number {turn} after the mover" for turn in range(1, seats)))


def hex_finding(data: bytes, games: Iterable[Any]) -> Finding:
    """What a piece of hex is: `{"kind", "state", "app", "position", "signatures", "missing"}`.

    `kind`: `state` (`abi.encode(VariablePart)`), `record` (as the adjudicator logs states; with `signatures`) or
    `position` (a game's appData; `state` is null). `missing`: what it takes to check it. Raises `MalformedBytes`.
    """
    games = tuple(games)
    try:
        state, signatures = _read_state(data)
    except MalformedBytes as error:
        return _bare_position_finding(data, games, error.reason)
    app = guess_app(state.app_data, games)
    return {
        "kind": "state" if signatures is None else "record",
        "state": state_finding(state),
        "app": app_finding(app),
        "position": position_finding(app, state),
        "signatures": [show_hex(signature.compact) for signature in signatures or ()],
        "missing": [_ABSENT_CHANNEL, *([] if signatures else [_ABSENT_SIGNATURES]), _ABSENT_APP],
    }


def _read_state(data: bytes) -> tuple[VariablePart, tuple[Signature, ...] | None]:
    """The state, and the signatures where it is a record. Raises `MalformedBytes`, of a state."""
    try:
        return decode_variable_part(data), None
    except MalformedBytes as no_state:
        try:
            return decode_record(data)
        except MalformedBytes:
            raise no_state from None


def _bare_position_finding(data: bytes, games: tuple[Any, ...], why_no_state: str) -> Finding:
    app = guess_app(data, games)
    if app is None:
        known = "".join(f", no position of {game.title}" for game in games)
        reason = f"these {len(data)} bytes are no state ({why_no_state}), no record{known}"
        raise MalformedBytes("state, record or position", reason)
    # Whose turn it was is unknown, so they cannot be told apart but by what they have done: seat 0 is the mover's.
    seats = min(app.game.seats)
    state = VariablePart((), data, 2 * seats)
    return {
        "kind": "position",
        "state": None,
        "app": app_finding(app),
        "position": position_finding(app, state, _names_in_turn(seats)),
        "signatures": [],
        "missing": [_ABSENT_STATE, _ABSENT_CHANNEL, _ABSENT_SIGNATURES, _ABSENT_APP],
    }
