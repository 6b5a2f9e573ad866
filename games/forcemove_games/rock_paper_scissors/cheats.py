"""The moves that a cheat at rock-paper-scissors could try in each position."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from forcemove import Move, VariablePart
from forcemove_games.cheats import Labelled, wrong_payments
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, decode
from forcemove_games.rock_paper_scissors.rules import accept, next_round, propose, reject
from forcemove_games.two_player import PLAYERS, can_afford, encode_words, shift

_OPENING = Opening(Weapon.ROCK, bytes(32))
"""Stands for any opening that does not open a commitment: a cheat keeps no secrets."""


def cheats(state: VariablePart) -> Iterator[Labelled]:
    """Moves to try after a reachable state, most of them illegal."""
    position = decode(state.app_data)
    match position.position_type:
        case PositionType.START:
            yield from _instead_of_proposing(state, position)
        case PositionType.ROUND_PROPOSED:
            yield from _instead_of_accepting(state, position)
        case PositionType.ROUND_ACCEPTED:
            yield from _instead_of_revealing(state, position)
        case PositionType.REVEAL:
            yield from _instead_of_going_on(state, position)
    yield "repeats the position", Move(state.outcome, state.app_data)
    yield "changes the stake", Move(state.outcome, _words(position, stake=(position.stake + 1) % 2**256))
    yield "sends half a position", Move(state.outcome, state.app_data[:144])


def _instead_of_proposing(state: VariablePart, position: Position) -> Iterator[Labelled]:
    if not can_afford(state.outcome, position.stake):
        proposal = _words(position, position_type=PositionType.ROUND_PROPOSED)
        yield "proposes a round that somebody cannot pay for", Move(state.outcome, proposal)
        return
    legal = propose(state, _OPENING)
    yield from wrong_payments(state, legal, position.stake)
    others = decode(legal.app_data)
    yield "proposes as if on another turn", Move(state.outcome, _words(others, proposed_at=others.proposed_at + 2))
    yield "commits in another channel", Move(state.outcome, _words(others, channel_id=bytes(32)))
    proposal = _words(position, position_type=PositionType.ROUND_PROPOSED, b_play=Weapon.SCISSORS)
    yield "plays for the other side", Move(state.outcome, proposal)
    skipped = (position.round_num + 1) % 2**256
    proposal = _words(position, position_type=PositionType.ROUND_PROPOSED, round_num=skipped)
    yield "skips a round", Move(state.outcome, proposal)


def _instead_of_accepting(state: VariablePart, position: Position) -> Iterator[Labelled]:
    legal = accept(state, Weapon.PAPER)
    yield from wrong_payments(state, legal, position.stake)
    yield "plays a fourth weapon", Move(legal.outcome, _words(decode(legal.app_data), b_play=len(Weapon)))
    replaced = _words(decode(legal.app_data), pre_commit=bytes(32))
    yield "replaces the other's commitment", Move(legal.outcome, replaced)
    yield "rejects and takes the stake", Move(legal.outcome, reject(state).app_data)


def _instead_of_revealing(state: VariablePart, position: Position) -> Iterator[Labelled]:
    mover = (state.turn_num + 1) % PLAYERS
    for a_play in Weapon:
        won = 2 if a_play.beats(Weapon(position.b_play)) else 1 if a_play == position.b_play else 0
        revealed = _words(position, position_type=PositionType.REVEAL, a_play=a_play)
        label = f"reveals {a_play.name.lower()} without having committed to it"
        yield label, Move(shift(state.outcome, mover, won * position.stake), revealed)
    unplayed = Position(PositionType.START, position.stake, position.channel_id, round_num=position.round_num).encode()
    yield "calls the round off", Move(shift(state.outcome, mover, position.stake), unplayed)
    dirty = _words(position, position_type=PositionType.REVEAL, a_play=2**255)
    yield "plays a weapon out of range", Move(state.outcome, dirty)


def _instead_of_going_on(state: VariablePart, position: Position) -> Iterator[Labelled]:
    legal = next_round(state)
    yield from wrong_payments(state, legal, position.stake)
    same = _words(decode(legal.app_data), round_num=position.round_num)
    yield "counts no round", Move(state.outcome, same)
    dirty = _words(decode(legal.app_data), pre_commit=position.pre_commit)
    yield "keeps the old commitment", Move(state.outcome, dirty)


def _words(position: Position, **changes: int | bytes) -> bytes:
    """The position's bytes with some fields changed to values that no `Position` has."""
    fields: dict[str, int | bytes] = asdict(position) | changes
    return encode_words(*(v if isinstance(v, int) else int.from_bytes(v, "big") for v in fields.values()))
