"""Discard for people: a game between two bots, or of a person against one, over a signed log in this process.

It shows what the player in seat 0 sees, line by line, and returns how the game has ended. There is no money in it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from forcemove import InvalidValue, Key
from forcemove.flow.actions import Action
from forcemove.flow.keys import exchange_keys
from forcemove.flow.place import Place
from forcemove.flow.steps import run
from forcemove.flow.transport import MemoryTransport
from forcemove_games.discard_sra import picture, rules
from forcemove_games.discard_sra.bot import best_move
from forcemove_games.discard_sra.cards import HAND, SIZE
from forcemove_games.discard_sra.flow import discard
from forcemove_games.discard_sra.rules import DiscardPhase
from forcemove_games.discard_sra.table import DiscardResult, DiscardTable, Leaves, open_queue, sit_down
from forcemove_games.randomness import seeded, system_randomness
from forcemove_games.sra.flow import Choose

Notify = Callable[[str], None]
"""Shows a line of plain text."""
Ask = Callable[[str, Sequence[str]], Awaitable[int]]
"""Asks a person: given a prompt, with the board in lines of its own, and the options; returns the index of the chosen
one. Raises `EOFError` where the person leaves."""

_PATIENCE = 60.0
"""Seconds in which a bot must have acted; it takes a fraction of one."""


class DiscardGame:
    """The game as a command line knows it: a table game, found by the entry-point group `forcemove.table_games`."""

    name = "discard-sra"
    title = "Discard over a log"
    table = rules.TABLE
    """The rows of the rules, which the diagram is made of."""

    async def demonstrate(
        self, notify: Notify, names: tuple[str, str], *, encoding: str | None = None
    ) -> Mapping[str, object]:
        """Let two bots play a game, and tell what the first one sees.

        `names`: of the two players, 1 to 64 characters each and different. `encoding`: of the terminal, by default that
        of standard output. Returns values for JSON: `winner` (a name or None), `stuck`, `turns`, `counts` (cards that
        each holds), `messages` (on the log) and `seconds`. Raises `InvalidValue` and `MalformedAction` on names that
        cannot be used.
        """
        return await _play(_Narrator(notify, names, encoding), (_bot, _bot), within=_PATIENCE)

    async def play(
        self, notify: Notify, ask: Ask, names: tuple[str, str], *, encoding: str | None = None
    ) -> Mapping[str, object]:
        """Let a person play against a bot; the person has the first name and the first turn.

        `ask` is given all legal moves, and waited for without a limit. As `demonstrate` otherwise; raises
        `InvalidValue`, too, where `ask` answers with the index of no option.
        """
        narrator = _Narrator(notify, names, encoding, has_person=True)

        async def person(table: DiscardTable) -> Action:
            return await narrator.ask(ask, table)

        return await _play(narrator, (person, _bot), within=None)

    async def join(
        self, place: Place, notify: Notify, ask: Ask | None, *, within: float | None, encoding: str | None = None
    ) -> Mapping[str, object]:
        """Play a game with somebody elsewhere, from the beginning of the table's log: an action that we have posted
        there before is not posted again, and we are not asked for it again.

        - `place`: our seat at the table, one of two.
        - `notify`: is called with a line of text for everything that happens.
        - `ask`: asks a person, see `play`; None lets the bot play.
        - `within`: seconds that we wait for each message.
        - `encoding`: of the output, which the cards are drawn for.

        Returns as `demonstrate` does, without the times. Raises what `discard` raises.
        """
        names = _two(place.names)
        name = names[place.seat]
        narrator = _Narrator(notify, names, encoding, place.seat, has_person=ask is not None)
        exchanged = await exchange_keys(place.log, place.table, name, place.key, place.players, within=within)
        queue = await open_queue(exchanged.transport, name)
        table = sit_down(names, place.seat, seeded(place.seed, place.table))
        table.watch = narrator.watch

        async def choose(table: DiscardTable) -> Action:
            said: Action | None = queue.said_next
            if said is not None:
                return said
            return _bot(table) if ask is None else await narrator.ask(ask, table)

        narrator.begin()
        await run(discard(choose, within=within), queue, table)
        return narrator.ending


def _two(names: tuple[str, ...]) -> tuple[str, str]:
    if len(names) != 2:
        raise InvalidValue("names", names, "those of two players")
    return names[0], names[1]


def _bot(table: DiscardTable) -> Action:
    return table.act(best_move(table.position))


class _Narrator:
    """Tells what the player in a seat sees. `ending`: how the game has ended, for JSON."""

    def __init__(
        self, notify: Notify, names: tuple[str, str], encoding: str | None, seat: int = 0, *, has_person: bool = False
    ) -> None:
        self.notify, self.names, self._has_person = notify, names, has_person
        self._to_move = (DiscardPhase.A_TO_MOVE, DiscardPhase.B_TO_MOVE)[seat]
        self._us_and_them = (names[seat], names[1 - seat])
        self.ending: dict[str, object] = {}
        self.suits = picture.suits_for(encoding or sys.stdout.encoding)

    def begin(self) -> None:
        """Tell the beginning."""
        first, second = self.names
        self.notify(f"{first} and {second} exchange keys; from then on each signs what it says.")
        self.notify(f"There is no dealer: both encrypt and shuffle {SIZE} cards, and neither can read the deck.")
        self.notify(f"Each sees {HAND} cards by the other's keys, and both see the card that is turned up.")

    def watch(self, table: DiscardTable) -> None:
        """Tell what has happened at the table."""
        if table.result is not None:
            if table.result.left is None:
                self.notify(f"The deck had all {SIZE} cards, each once, and every turn was legal.")
            self.notify(picture.result_text(table.result))
            self.ending = _ending(table.result)
            return
        for turn in rules.turns(table.history)[-1:]:
            self.notify(picture.turn_text(turn, table, self.suits))
        if table.phase is DiscardPhase.AUDITING:
            self.notify("The cards are played. Both show all their keys for the audit.")
        elif table.phase is self._to_move and not self._has_person:
            for line in self._board(table).splitlines():
                self.notify(line)

    def _board(self, table: DiscardTable) -> str:
        us, them = self._us_and_them
        return picture.screen(table.position, (f"{us} (you)" if self._has_person else us, them), self.suits)

    async def ask(self, ask: Ask, table: DiscardTable) -> Action:
        """Let a person choose among all legal moves, or leave. Raises `InvalidValue` on the index of no option."""
        moves = table.position.moves
        options = [picture.move_text(move, self.suits) for move in moves]
        try:
            number = await ask(f"{self._us_and_them[0]}, it is your turn\n{self._board(table)}", options)
        except EOFError:
            return Leaves(table.name)
        if type(number) is not int or not 0 <= number < len(moves):
            raise InvalidValue("choice", number, f"0 to {len(moves) - 1}")
        return table.act(moves[number])


async def _play(
    narrator: _Narrator, chooses: tuple[Choose[DiscardTable], Choose[DiscardTable]], *, within: float | None
) -> Mapping[str, object]:
    """A game between two clients that share nothing but a log."""
    started, log = time.monotonic(), MemoryTransport()
    table_id, keys = system_randomness(32), [Key(system_randomness(32)) for _ in narrator.names]
    tables = [sit_down(narrator.names, seat, seeded(system_randomness(32), table_id)) for seat in range(len(keys))]
    tables[0].watch = narrator.watch
    narrator.begin()

    async def client(table: DiscardTable, key: Key, choose: Choose[DiscardTable]) -> None:
        expected = [each.address for each in keys]
        exchanged = await exchange_keys(log, table_id, table.name, key, expected, within=_PATIENCE)
        await run(discard(choose, within=within), await open_queue(exchanged.transport, table.name), table)

    await _together([client(*each) for each in zip(tables, keys, chooses, strict=True)])
    return {**narrator.ending, "messages": log.length(), "seconds": round(time.monotonic() - started, 2)}


async def _together(clients: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run both clients to the end; where one fails the other is stopped, and the first error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None


def _ending(result: DiscardResult) -> dict[str, object]:
    ending: dict[str, object] = {
        "winner": result.winner,
        "stuck": result.is_stuck,
        "turns": result.turns,
        "counts": dict(result.counts),
    }
    return ending if result.left is None else ending | {"left": result.left}
