"""Commitments to a weapon, and the openings of a player's own, which it must not lose, 64 bytes each. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from forcemove import LocalError, MalformedBytes, keccak256
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors.position import Position
from forcemove_games.two_player import PLAYERS, encode_words

_OPENING_LENGTH = 64


class UnknownCommitment(LocalError):
    """We have to open a commitment whose opening we do not have: the secrets were lost or are another player's."""

    pre_commit: bytes


def pre_commit_of(channel_id: bytes, proposed_at: int, opening: Opening) -> bytes:
    """The 32 bytes with which A commits to a weapon: keccak256 of 160 bytes, the channel's id (32), the turn of the
    proposal, the seat that proposes on it, and the opening (64). So nobody can open it in another channel, on another
    turn, or from the other seat."""
    return keccak256(channel_id + encode_words(proposed_at, proposed_at % PLAYERS) + opening.encode())


def decode_openings(data: bytes) -> tuple[Opening, ...]:
    """A player's openings, in the order in which it has made them. Raises `MalformedBytes`."""
    if len(data) % _OPENING_LENGTH:
        raise MalformedBytes("secrets", f"{len(data)} bytes are not a number of openings")
    starts = range(0, len(data), _OPENING_LENGTH)
    return tuple(Opening.decode(data[start : start + _OPENING_LENGTH]) for start in starts)


def encode_openings(openings: Iterable[Opening]) -> bytes:
    """The inverse."""
    return b"".join(opening.encode() for opening in openings)


def find_opening(openings: Iterable[Opening], position: Position) -> Opening | None:
    """The one that opens the commitment in a position; None where none of them does."""
    channel_id, proposed_at, pre_commit = position.channel_id, position.proposed_at, position.pre_commit
    return next((each for each in openings if pre_commit_of(channel_id, proposed_at, each) == pre_commit), None)


def opening_of(openings: Iterable[Opening], position: Position) -> Opening:
    """The opening of our commitment in a position. Raises `UnknownCommitment`."""
    opening = find_opening(openings, position)
    if opening is None:
        raise UnknownCommitment(position.pre_commit)
    return opening
