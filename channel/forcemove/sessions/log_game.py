"""Plays a game without money over a table's log: by a bot, or a person. After a restart the game is played again from
the log."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from functools import partial

from forcemove.errors import CounterpartyError, JournalUnavailable
from forcemove.flow.keys import KeysMissing
from forcemove.flow.place import Place
from forcemove.flow.steps import ActionMissing
from forcemove.node.leases import HeldLease
from forcemove.sessions.errors import FaultAtTable, OtherSilent
from forcemove.sessions.meetings.meeting import Meeting
from forcemove.sessions.options import TableOptions
from forcemove.sessions.playing.connectivity import reporting_connectivity
from forcemove.sessions.playing.content import NAMES
from forcemove.sessions.playing.played_channel import run_with_background
from forcemove.sessions.ports import TableGame, TablePort
from forcemove.sessions.service import TableService
from forcemove.sessions.standby import when_free
from forcemove.store.records import SEED_LENGTH
from forcemove.text.names import full_name
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.faults import FAULT_SECONDS


class LogGameRunner:
    """Plays one game over a table's log."""

    def __init__(self, service: TableService, game: TableGame, options: TableOptions, port: TablePort) -> None:
        """Take the parts of the table: `service` has the journal, where the meeting is stored, and our key."""
        self._service, self._game, self._options, self._port = service, game, options, port
        self._journal, self._key = service.journal, service.wallet.key

    async def go_on(self, channel_id: bytes | None = None) -> bool:  # noqa: ARG002  # as the other runner's
        """See `ChannelGameRunner`: only the meeting of such a game is stored."""
        return False

    def is_stored(self, meeting: Meeting) -> bool:  # noqa: ARG002  # as the other runner's
        """See `ChannelGameRunner`."""
        return False

    def is_over(self, meeting: Meeting) -> bool:  # noqa: ARG002
        """See `ChannelGameRunner`: the game's log says so, which is read again."""
        return False

    def report_end(self, meeting: Meeting) -> None:
        """See `ChannelGameRunner`."""

    async def begin(self, meeting: Meeting) -> None:
        """Play the game of a meeting, from wherever its log is, to its end. Raises `OtherSilent` and `FaultAtTable`."""
        hold = await when_free(partial(HeldLease, self._journal, meeting.table.id, self._service.lease), self._port.say)
        try:
            async with connect_relay(self._options.relay, fault_seconds=FAULT_SECONDS) as connection:
                await run_with_background(self._play(connection, meeting), _keep(hold))
        except (ActionMissing, KeysMissing):
            raise OtherSilent(self._options.patience) from None
        except EOFError:  # from a game that has no action for leaving
            self._port.leave_seat()
            self._port.say("You have left the game: it counts for nobody. The other player was not told.")
        except CounterpartyError as fault:
            raise FaultAtTable(fault) from fault
        finally:
            with suppress(JournalUnavailable):  # it ends by itself
                hold.release()
            self._port.leave_seat()

    async def _play(self, connection: Connection, meeting: Meeting) -> None:
        table = meeting.table
        seed = self._journal.keep_seed(table.id, secrets.token_bytes(SEED_LENGTH))
        log = await connection.join(table, self._key)
        index = meeting.players.index(self._key.address)
        self._port.say(f"You are the {NAMES[index].lower()}.")
        if any(meeting.names):  # on the log, and so in the game's text, players have the words of their seats
            named = zip(NAMES, map(full_name, meeting.names, meeting.players), strict=True)
            self._port.say(f"players     {', '.join(f'{part}: {name}' for part, name in named)}")
        seat = self._port.take_log_seat(NAMES[1 - index])
        notify = seat.notify if seat else self._port.say
        place = Place(log, table.id, NAMES, meeting.players, index, self._key, seed)

        async def play() -> None:
            await self._game.join(place, notify, seat.ask if seat else None, within=self._options.patience)

        async with reporting_connectivity(connection, notify):
            await run_with_background(play(), *([seat.run()] if seat else []))


async def _keep(hold: HeldLease) -> None:
    """Renew the lease until this is cancelled; a journal that cannot be written now is tried again. Raises
    `LeaseLost`."""
    while True:
        await asyncio.sleep(hold.renew_every)
        with suppress(JournalUnavailable):
            hold.renew()
