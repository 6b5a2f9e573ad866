"""Card tables, and what their players decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from games.sra.deck import begin
from games.sra.flow import CardTable
from games.sra.pile import Pile, Player
from tests.games.sra.shuffled import SIZE, both, stream

CLIENTS = ("alice", "bob")
HOUR = 3600.0


def table_of(seat: int, *, shuffled: bool = True, rule: Callable[[Pile, int], bool] | None = None) -> CardTable:
    shuffle = both()[seat] if shuffled else begin(SIZE, seat, stream(CLIENTS[seat]))
    table = CardTable(CLIENTS, shuffle, randomness=stream(f"table {seat}"))
    return replace(table, rule=rule) if rule else table


def draws(_: Player) -> int | None:
    return None


def discards_first(player: Player) -> int | None:
    return player.hand[0][0]
