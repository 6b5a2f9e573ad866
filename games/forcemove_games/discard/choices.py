"""What a person may do in Discard in a channel, by its words. Pure but for the seeds."""

from __future__ import annotations

from forcemove import Choice, Randomness, VariablePart
from forcemove_games.discard import moves
from forcemove_games.discard.hand import PlayerSide, objection
from forcemove_games.discard.moves import MadeMove
from forcemove_games.discard.position import PositionType
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.discard_sra.cards import PLAIN_SUITS, SIZE, name
from forcemove_games.two_player import can_afford

_SET_UP = {
    PositionType.READY: ("deal", "play a hand: show your key for it"),
    PositionType.KEYED_FIRST: ("key", "show your key for this hand"),
    PositionType.KEYED: ("shuffle", "shuffle the deck"),
    PositionType.SHUFFLED_FIRST: ("shuffle", "shuffle the deck, too"),
    PositionType.SHUFFLED: ("share", "let the other read its hand"),
    PositionType.DEALT_FIRST: ("share", "let the other read its hand, and turn a card up"),
}


def card_word(card: int) -> str:
    """What is typed to lay a card, such as `10h`."""
    return name(card, PLAIN_SUITS).lower()


def choices(state: VariablePart, randomness: Randomness, secrets: bytes) -> tuple[Choice, ...]:
    """See `forcemove.game.Game.choices`; `state` is not final. Raises `HandSecretsLost`."""
    side = PlayerSide.of_mover(state, HandSecrets.decode(secrets))
    kind = side.core.position_type
    if kind in (PositionType.READY, PositionType.OVER, PositionType.TIED) and not can_afford(
        state.outcome, side.core.stake
    ):
        return ()
    if objection(side):
        return ()
    if kind in (PositionType.OVER, PositionType.TIED):
        return (_choice("next", "play another hand", moves.next_hand(side)),)
    if kind in _SET_UP:
        # Who has joined a table has agreed to its first hand.
        is_forced = kind is not PositionType.READY or side.core.hand == 0
        return (_choice(*_SET_UP[kind], moves.set_up(side, randomness), is_forced=is_forced),)
    return _of_play(side)


def _of_play(side: PlayerSide) -> tuple[Choice, ...]:
    if side.shows_next:
        if not side.can_show:
            return ()
        return (_choice("show", "show that none of your cards would have fit", moves.show(side), is_forced=True),)
    lays = sorted(side.may_lay.items(), key=lambda pair: pair[1])
    found = [_choice(card_word(card), f"lay {name(card)}", moves.lay(side, index)) for index, card in lays]
    if side.core.drawn < SIZE:
        found.append(_choice("draw", "draw a card", moves.draw(side)))
    elif not found:
        found.append(_choice("pass", "say that you can't move", moves.cannot_move(side), is_forced=True))
    return tuple(found)


def _choice(word: str, text: str, made: MadeMove, *, is_forced: bool = False) -> Choice:
    return Choice(word, text, made.move, made.secrets.encode(), is_forced)
