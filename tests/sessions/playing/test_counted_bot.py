"""A bot that plays a number of rounds, and is killed in between."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from forcemove import ChannelSetup, ChooseMove, FriendlyAssembly, ManagedChannel, Node, find_game, open_journal
from forcemove.protocol.errors import MoneyMissing
from forcemove.protocol.machine.inputs import MoveChosen
from forcemove.rounds import RoundCount
from forcemove.sessions.playing.bot import BotSeat
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.playing.patience import NO_CLOCK
from forcemove.store.journal import Journal
from tests.node.test_friendly import Table, agreement_of
from tests.scenarios.story import KEYS

WANTED = 3


class Silent:
    """An output that nobody looks at."""

    def say(self, text: str) -> None:
        """Nobody looks."""

    note = status = say

    def show(self, content: TableContent) -> None:
        """Nobody looks."""


class Bots(Table):
    """Two bots that want three rounds, an hour later: the leases of an older program are over."""

    def journal(self, seat: int) -> Journal:
        return open_journal(str(self.folder / f"{seat}.journal"), owner=os.urandom(16), clock=lambda: self.now + 3600)

    def player(self, seat: int, node: Node) -> ManagedChannel:
        bot = BotSeat(self.game, seat, WANTED, Silent())
        setup = ChannelSetup(FriendlyAssembly(self.game, self.agreement), KEYS[seat], self.lines[seat], bot.choose)
        played = node.add(setup)
        bot.attach(played, ("Alice", "Bob"), NO_CLOCK)
        return played

    @property
    def over(self) -> int:
        """How many rounds are over."""
        return len(RoundCount(self.game, self.players[0].history().states).results)


@pytest.mark.parametrize("name", ["rock-paper-scissors", "tic-tac-toe", "discard"])
def test_bots_that_are_killed_again_and_again_play_as_many_rounds(name: str, tmp_path: Path) -> None:
    with closing(Bots(tmp_path, find_game(name).game)) as table:
        table.play(lambda number: table.restart(number // 5 % 2, loses=False) if number % 5 == 4 else None)
        assert table.over == WANTED


def test_a_bot_that_takes_its_time_moves_as_soon_as_it_may() -> None:
    """A reorganisation takes a deposit away while the bot thinks, and brings it back: nobody asks for the move again,
    and the bot would lose by the clock."""
    game, fed = find_game("tic-tac-toe").game, list[MoveChosen]()

    def feed(chosen: MoveChosen) -> None:
        fed.append(chosen)
        if len(fed) == 1:
            raise MoneyMissing(bytes(32))

    async def main() -> None:
        bot = BotSeat(game, 0, WANTED, Silent(), pace=0.001)
        played = Mock(feed=feed, history=lambda: Mock(states=()))
        bot.attach(played, ("Alice", "Bob"), NO_CLOCK)
        assert bot.choose(ChooseMove(agreement_of(game).setup_state(3))) is None
        running = asyncio.create_task(bot.run())
        async with asyncio.timeout(60):
            while len(fed) < 2:
                await asyncio.sleep(0)
        running.cancel()

    asyncio.run(main())
