"""A game without money for tests of the command line: the player that says the higher number wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from forcemove.cli.games import TABLE_GROUP
from forcemove.flow.place import Place
from forcemove.sessions.ports import Ask

__all__ = ["GAME", "HigherNumber", "installed"]


class HigherNumber:
    """See `forcemove.sessions.ports.TableGame`."""

    name = "higher"
    title = "Higher number"

    async def demonstrate(self, notify: Callable[[str], None], names: tuple[str, str]) -> Mapping[str, object]:
        """The second player says more."""
        await asyncio.sleep(0.01)
        notify(f"{names[0]} says 1.")
        notify(f"{names[1]} says 2, signed 0x{'ab' * 32}.")
        return {"winner": names[1]}

    async def play(self, notify: Callable[[str], None], ask: Ask, names: tuple[str, str]) -> Mapping[str, object]:
        """Two rounds; meanwhile the bot counts, so that it can be seen that nobody blocks it."""
        counting = asyncio.create_task(_count(notify, names[1]))
        said = []
        for number in (1, 2):
            chosen = await ask(f"Round {number}, {names[0]}?", ["one", "two", "three"])
            notify(f"{names[0]} says {chosen + 1}, {names[1]} says 2.")
            said.append(chosen + 1)
        counting.cancel()
        return {"said": said}

    async def join(
        self, place: Place, notify: Callable[[str], None], ask: Ask | None, *, within: float | None
    ) -> Mapping[str, object]:
        """The guest says more."""
        async with asyncio.timeout(within):
            await place.log.post(str(place.seat).encode())
            reader = place.log.reader()
            said = [int(await reader.read()) for _ in place.names]
        notify(f"{place.names[max(said)]} says more.")
        return {"winner": place.names[max(said)]}


async def _count(notify: Callable[[str], None], name: str) -> None:
    for _ in range(10):
        await asyncio.sleep(0.01)
    notify(f"{name} has counted to ten.")


GAME = HigherNumber()


def installed(**which: Any) -> EntryPoints:
    """The entry points of this machine, and the game's."""
    ours = EntryPoints([EntryPoint("higher", "tests.cli.table_game:GAME", TABLE_GROUP)])
    return EntryPoints([*entry_points(**which), *ours.select(**which)])
