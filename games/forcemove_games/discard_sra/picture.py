"""Discard as plain text: what one player sees on its screen, and what has happened. Pure."""

from __future__ import annotations

from forcemove_games.discard_sra.cards import PLAIN_SUITS, SUITS, count_text, name, names
from forcemove_games.discard_sra.rules import Kind, Move, Position, Turn
from forcemove_games.discard_sra.table import DiscardResult, DiscardTable

_BACK = "[]"


def suits_for(encoding: str | None) -> str:
    """The signs for suits that a terminal of this encoding can show: `♠♥♦♣`, or letters. None: the encoding is not
    known."""
    try:
        SUITS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN_SUITS
    return SUITS


def screen(position: Position, players: tuple[str, str], suits: str = SUITS) -> str:
    """Three lines: the other player's cards from behind, the table, and our own hand. `players`: us, and the other."""
    us, them = players
    backs = " ".join([_BACK] * position.theirs)
    rows = (
        (them, f"{backs} ({position.theirs})" if position.theirs else "no cards"),
        ("table", f"{name(position.top, suits)} on top, {count_text(position.left)} in the pile"),
        (us, names(position.hand, suits) or "no cards"),
    )
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"  {label:<{width}}  {text}" for label, text in rows)


def move_text(move: Move, suits: str = SUITS) -> str:
    """The name of a move, for the player that may choose it."""
    if move.card is not None:
        return f"discard {name(move.card, suits)}"
    return "draw a card" if move.kind is Kind.DRAW else "say that you can't move"


def turn_text(turn: Turn, table: DiscardTable, suits: str = SUITS) -> str:
    """What has happened in a turn, as the player at this table sees it: our own drawn card has its name, the other's
    has not."""
    who = table.clients[turn.seat]
    if turn.kind is Kind.CANNOT_MOVE:
        return f"{who} can't move."
    if turn.kind is Kind.DISCARD:
        return f"{who} discards {name(table.player.pile.laid[-1], suits)}."
    drawn = dict(table.player.hand).get(-1 if turn.index is None else turn.index)
    return f"{who} draws a card." if drawn is None else f"{who} draws {name(drawn, suits)}."


def result_text(result: DiscardResult) -> str:
    """The winner, and how many cards each client holds at the end; or who has left."""
    if result.left is not None:
        return f"{result.left} has left the game, after {result.turns} turns: it counts for nobody."
    held = ", ".join(f"{client} holds {count_text(count)}" for client, count in result.counts.items() if count)
    if result.winner is None:
        return f"Nobody wins: neither can move. {held}, after {result.turns} turns."
    return f"{result.winner} wins after {result.turns} turns; {held}."
