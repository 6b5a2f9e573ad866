"""A player of Discard: it discards cards that the other side can hardly follow, and keeps itself able to go on.
Pure."""

from __future__ import annotations

from forcemove_games.discard_sra.cards import worth
from forcemove_games.discard_sra.rules import Kind, Move, Position


def best_move(position: Position) -> Move:
    """A good move.

    It discards where it can. Of the cards that fit it chooses the one that the fewest unseen cards fit on, since the
    other side needs one of those; among these the one after which it holds the most suits, then the most values, since
    it needs one of those itself. Among equals, the lowest card.
    """
    if not position.fitting:
        return next(move for move in position.moves if move.kind is not Kind.DISCARD)
    return Move(Kind.DISCARD, max(position.fitting, key=lambda card: worth(card, position.hand, position.laid)))
