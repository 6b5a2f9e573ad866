"""Card tables, and what their players decide."""

from __future__ import annotations

from dataclasses import replace

from forcemove_games.sra.deck import begin
from forcemove_games.sra.pile import PileRules
from forcemove_games.sra.table import CardTable, DiscardCard, Draw
from tests.games.sra.shuffled import SIZE, both, stream

CLIENTS = ("alice", "bob")
HOUR = 3600.0


def table_of(seat: int, *, shuffled: bool = True, rules: PileRules | None = None) -> CardTable:
    shuffle = both()[seat] if shuffled else begin(SIZE, seat, stream(CLIENTS[seat]))
    table = CardTable(CLIENTS, shuffle, randomness=stream(f"table {seat}"))
    return replace(table, rules=rules) if rules else table


def draws(table: CardTable) -> Draw:
    return table.draw()


def discards_first(table: CardTable) -> DiscardCard:
    return table.discard(table.player.hand[0][0])
