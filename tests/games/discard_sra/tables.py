"""Tables of Discard for tests: two clients with known secrets on one signed log, and players that trust to luck."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from forcemove import Action, ActionQueue, ForcemoveError
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove_games.discard_sra.bot import best_move
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.discard_sra.flow import discard
from forcemove_games.discard_sra.rules import Kind, Move, Position
from forcemove_games.discard_sra.table import ACTIONS, DiscardTable, sit_down
from forcemove_games.randomness import seeded
from forcemove_games.sra.deck import Shuffle, shuffle_between_two
from tests.flow.table import signed
from tests.flow.virtual_time import run_virtual
from tests.games.sra.shuffled import ALICE, BOB, stream

CLIENTS = ("alice", "bob")
HOUR = 3600.0
Strategy = Callable[[Position], Move]
Choose = Callable[[DiscardTable], Action]


def secret(seat: int, number: int) -> bytes:
    return number.to_bytes(31, "big") + bytes((seat,))


def table_of(seat: int, number: int = 0) -> DiscardTable:
    """A place at a table at which keys and order follow from the number of the game."""
    return sit_down(CLIENTS, seat, seeded(secret(seat, number), b"discard"))


@cache
def shuffled(number: int = 0) -> tuple[Shuffle, Shuffle]:
    return shuffle_between_two(SIZE, stream(f"discard {number}"))


def seated(number: int = 0) -> tuple[DiscardTable, DiscardTable]:
    """Both after the shuffle, which is the same in every run."""
    alice, bob = table_of(ALICE), table_of(BOB)
    alice.shuffle, bob.shuffle = shuffled(number)
    return alice, bob


def by(strategy: Strategy) -> Choose:
    return lambda table: table.act(strategy(table.position))


best = by(best_move)


def careless(random: Random) -> Strategy:
    """Discards any card that fits, where there is one."""

    def move(position: Position) -> Move:
        return Move(Kind.DISCARD, random.choice(position.fitting)) if position.fitting else position.moves[0]

    return move


def anything(random: Random) -> Strategy:
    """Also draws although a card fits."""
    return lambda position: random.choice(position.moves)


def play(
    tables: Sequence[DiscardTable],
    chooses: Sequence[Choose] = (best, best),
    log: MemoryTransport | None = None,
    line: Callable[[Transport], Transport] = lambda log: log,
) -> None:
    """A game of two honest clients. `line`: what each has between itself and the log."""
    on = log or MemoryTransport()

    async def scenario() -> None:
        async with asyncio.TaskGroup() as group:
            for table, choose in zip(tables, chooses, strict=True):
                group.create_task(client(line(on), table, choose))

    run_virtual(scenario())


async def client(log: Transport, table: DiscardTable, choose: Choose = best) -> None:
    queue = ActionQueue(signed(log, table.name), ACTIONS)
    await discard(choose, within=HOUR)(queue, table)


async def ending(log: Transport, table: DiscardTable, choose: Choose = best) -> ForcemoveError | None:
    """What a client ends with."""
    try:
        await client(log, table, choose)
    except ForcemoveError as error:
        return error
    return None


def said(log: MemoryTransport) -> list[Action]:
    """Everything on the log, in order."""

    async def read() -> list[Action]:
        reader = signed(log, "alice").reader()
        return [ACTIONS.decode(await reader.read()) for _ in range(log.length())]

    return run_virtual(read())
