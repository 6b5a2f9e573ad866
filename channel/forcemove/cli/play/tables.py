"""Plays a game without money over a table's log: by a bot, or a person. After a restart the game is played again from
the log."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from functools import partial
from typing import Any

from forcemove.cli.errors import Explained
from forcemove.cli.explanations import headline
from forcemove.cli.games import TableGame
from forcemove.cli.match.connectivity import reporting_connectivity
from forcemove.cli.match.match import run_with_background
from forcemove.cli.match.screen import PutAside
from forcemove.cli.match.screen_content import NAMES
from forcemove.cli.person.numbered import Numbered
from forcemove.cli.play.meeting import Meeting
from forcemove.cli.play.options import PlayOptions, Wallet
from forcemove.cli.play.standby import when_free
from forcemove.cli.terminal import Terminal
from forcemove.errors import CounterpartyError
from forcemove.flow.keys import KeysMissing
from forcemove.flow.place import Place
from forcemove.flow.steps import ActionMissing
from forcemove.node.leases import HeldLease
from forcemove.store.journal import Journal
from forcemove.store.records import SEED_LENGTH
from forcemove.transport.connect import Connection, connect
from forcemove.transport.faults import FAULT_SECONDS

__all__ = ["TableGameRunner"]


class TableGameRunner:
    """Plays one game over a table's log."""

    def __init__(
        self, game: TableGame, options: PlayOptions, wallet: Wallet, journal: Journal, terminal: Terminal
    ) -> None:
        """Take the parts of the run.

        - `game`: the game to play.
        - `options`: of the command.
        - `wallet`: our keys.
        - `journal`: where the meeting is stored.
        - `terminal`: where messages are printed.
        """
        self._game, self._options, self._wallet = game, options, wallet
        self._journal, self._terminal = journal, terminal

    async def run(self, main: Coroutine[Any, Any, None]) -> None:
        """See `run.GameRunner`."""
        await main

    @property
    def has_money(self) -> bool:
        """See `run.GameRunner`."""
        return False

    async def go_on(self) -> bool:
        """See `run.GameRunner`: only the meeting of such a game is stored."""
        return False

    def is_stored(self, meeting: Meeting) -> bool:  # noqa: ARG002  # the port's
        """See `run.GameRunner`."""
        return False

    def is_over(self, meeting: Meeting) -> bool:  # noqa: ARG002
        """See `run.GameRunner`: the game's log says so, which is read again."""
        return False

    def report_end(self, meeting: Meeting) -> None:
        """See `run.GameRunner`."""

    async def begin(self, meeting: Meeting) -> None:
        """See `run.GameRunner`."""
        hold = await when_free(
            partial(HeldLease, self._journal, meeting.table.id, self._options.lease), self._terminal.say
        )
        try:
            async with connect(self._options.relay, fault_seconds=FAULT_SECONDS) as connection:
                await run_with_background(self._play(connection, meeting), _keep(hold))
        except (ActionMissing, KeysMissing):
            raise Explained(
                f"Nothing was heard of the other player for {self._options.patience:,.0f} seconds.",
                "The game waits. Run the same command again to wait on, or with --anew to begin another one.",
            ) from None
        except EOFError:  # from a game that has no action for leaving
            self._terminal.close()
            self._terminal.say("You have left the game: it counts for nobody. The other player was not told.")
        except CounterpartyError as fault:
            raise Explained(
                headline(fault),
                "The game ends here and counts for nobody. What was said stays on the table's log: the same command "
                "says this again, and with --anew it begins another game.",
            ) from fault
        finally:
            hold.release()
            self._terminal.close()

    async def _play(self, connection: Connection, meeting: Meeting) -> None:
        table = meeting.table
        seed = self._journal.keep_seed(table.id, secrets.token_bytes(SEED_LENGTH))
        log = await connection.join(table, self._wallet.key)
        seat = meeting.players.index(self._wallet.key.address)
        self._terminal.say(f"You are the {NAMES[seat].lower()}.")
        sitting = self._person(NAMES[1 - seat]) if self._options.has_person else None
        notify = sitting.notify if sitting else self._terminal.say

        place = Place(log, table.id, NAMES, meeting.players, seat, self._wallet.key, seed)

        async def play() -> None:
            await self._game.join(place, notify, sitting.ask if sitting else None, within=self._options.patience)

        async with reporting_connectivity(connection, notify):
            await run_with_background(play(), *([sitting.run()] if sitting else []))

    def _person(self, other: str) -> Numbered:
        self._terminal.close()  # the screen is the person's
        aside, patience = partial(PutAside, "You have put the game aside."), self._options.patience
        return Numbered(other, patience, aside, "the game is put aside; the same command goes on with it.")


async def _keep(hold: HeldLease) -> None:
    """Renew the lease until this is cancelled. Raises `LeaseLost`."""
    while True:
        await asyncio.sleep(hold.renew_every)
        hold.renew()
