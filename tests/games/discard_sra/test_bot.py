"""The bot: legal in every position, and better than a player who lays any card that fits."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from forcemove_games.discard_sra.bot import best_move
from forcemove_games.discard_sra.cards import HAND, SIZE
from forcemove_games.discard_sra.rules import Kind, Move, Position
from tests.games.discard_sra.tables import anything, careless

Player = Callable[[Position], Move]


def winner_of(players: tuple[Player, Player], random: Random) -> int | None:
    """A game without cards being hidden: the seat that wins, None where both are stuck."""
    deck = list(range(SIZE))
    random.shuffle(deck)
    hands, laid, pile = [deck[:HAND], deck[HAND : 2 * HAND]], [deck[2 * HAND]], deck[2 * HAND + 1 :]
    seat = stuck = 0
    while stuck < 2:
        position = Position(tuple(sorted(hands[seat])), tuple(laid), len(pile), len(hands[1 - seat]))
        move = players[seat](position)
        assert move in position.moves
        stuck = stuck + 1 if move.kind is Kind.CANNOT_MOVE else 0
        if move.kind is Kind.DRAW:
            hands[seat].append(pile.pop(0))
        elif move.card is not None:
            hands[seat].remove(move.card)
            laid.append(move.card)
            if not hands[seat]:
                return seat
        seat = 1 - seat
    return None


@pytest.mark.parametrize(("opponent", "games", "share"), [(careless, 3_000, 0.52), (anything, 200, 0.8)])
def test_it_wins_more_than_its_share(opponent: Callable[[Random], Player], games: int, share: float) -> None:
    random = Random(7)
    other = opponent(random)
    results = [winner_of((best_move, other), random) for _ in range(games // 2)]
    results += [
        None if seat is None else 1 - seat
        for seat in (winner_of((other, best_move), random) for _ in range(games // 2))
    ]
    assert results.count(0) / (results.count(0) + results.count(1)) > share


@pytest.mark.parametrize(
    ("position", "move"),
    [
        (Position((0, 7), (12,), 3, 5), Move(Kind.DISCARD, 0)),
        (Position((1, 7), (12,), 3, 5), Move(Kind.DRAW)),
        (Position((1, 7), (12,), 0, 5), Move(Kind.CANNOT_MOVE)),
        (Position((0, 13), (14, 15, 12), 3, 5), Move(Kind.DISCARD, 13)),
        (Position((0, 6, 7), (2, 12), 3, 5), Move(Kind.DISCARD, 6)),
    ],
    ids=["discards what fits", "draws", "can't move", "lays what few cards follow", "keeps a suit"],
)
def test_what_it_does(position: Position, move: Move) -> None:
    assert best_move(position) == move
