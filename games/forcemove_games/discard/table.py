"""The table of Discard in a channel: every kind of move. A shows the first key of a hand, B the second."""

from __future__ import annotations

from forcemove import TransitionRow
from forcemove_games.discard.position import PositionType

(
    _READY,
    _KEYED_FIRST,
    _KEYED,
    _SHUFFLED_FIRST,
    _SHUFFLED,
    _DEALT_FIRST,
    _DEALT,
    _PLAYING,
    _OVER,
    _SHOWING,
    _TIED,
) = PositionType

_SHARE = "the share of what the other has drawn"
_FITS = "the card is the mover's, opens, fits, and was not denied"
_STUCK = "fewer than two can't-moves in a row"

TABLE: tuple[TransitionRow, ...] = (
    TransitionRow(_READY, _KEYED_FIRST, "A", "show a key", "0", ("the key's proof", "both can pay the stake")),
    TransitionRow(_KEYED_FIRST, _KEYED, "B", "show a key", "0", ("the key's proof",)),
    TransitionRow(_KEYED, _SHUFFLED_FIRST, "A", "shuffle", "0", ("players alone check deck and proof",)),
    TransitionRow(_SHUFFLED_FIRST, _SHUFFLED, "B", "shuffle", "0", ("players alone check deck and proof",)),
    TransitionRow(_SHUFFLED, _DEALT_FIRST, "A", "deal", "+1", ("shares of B's hand and of the top card",)),
    TransitionRow(_DEALT_FIRST, _DEALT, "B", "deal", "+2", ("shares of A's hand and of the top card", "it opens")),
    TransitionRow(_DEALT, _PLAYING, "A", "lay or draw", "+2", (_FITS, "the pile has a card to draw")),
    TransitionRow(_PLAYING, _PLAYING, "the next", "lay", "+2", (_SHARE, _FITS, "cards are left in the hand", _STUCK)),
    TransitionRow(_PLAYING, _PLAYING, "the next", "draw", "+2", (_SHARE, "the pile has a card to draw", _STUCK)),
    TransitionRow(_PLAYING, _PLAYING, "the next", "can't move", "+2", (_SHARE, "the pile is empty", _STUCK)),
    TransitionRow(_PLAYING, _OVER, "the next", "lay the last card", "+2", (_SHARE, _FITS, _STUCK)),
    TransitionRow(_PLAYING, _SHOWING, "the next", "show cards", "+2", ("two can't-moves in a row", "none is denied")),
    TransitionRow(_SHOWING, _SHOWING, "the next", "show cards", "+2", ("none is denied",)),
    TransitionRow(_SHOWING, _TIED, "the next", "show the last cards", "+1", ("none is denied", "both have shown all")),
    TransitionRow(_OVER, _READY, "the loser", "next hand", "0", ("the hand's number is one higher",)),
    TransitionRow(_TIED, _READY, "the next", "next hand", "0", ("the hand's number is one higher",)),
)
"""Every kind of move. `stakes` is what the signer takes from the other; nothing but what is named changes."""

STAKES = {row.to_type: int(row.stakes) for row in TABLE}
"""How many stakes the mover takes from the other, by what it moves to."""
