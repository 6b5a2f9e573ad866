"""A channel's player that is the game's bot."""

from __future__ import annotations

import asyncio

from forcemove.errors import ForcemoveError
from forcemove.game import Game, Names
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.machine.effects import ChooseMove
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.types import VariablePart
from forcemove.sessions.playing.counted_bot import choose_rounds
from forcemove.sessions.playing.patience import MoveClock
from forcemove.sessions.ports import Chat, Output


class BotSeat:
    """The game's bot, for a number of rounds. `output`: where its match is shown."""

    def __init__(self, game: Game, seat: int, rounds: int, output: Output, pace: float = 0) -> None:
        """Make the bot.

        - `game`: the game that is played.
        - `seat`: the bot's index in the channel.
        - `rounds`: after how many rounds the bot leaves.
        - `output`: where the match is shown.
        - `pace`: seconds that the bot takes for a move.
        """
        self._choose, self._pace = choose_rounds(game, seat, rounds, self._before), pace
        self.output = output
        self._played: ManagedChannel | None = None
        self._questions: asyncio.Queue[ChooseMove] = asyncio.Queue()

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """See `PlayerSeat`."""
        if not self._pace:
            return self._choose(question)
        self._questions.put_nowait(question)
        return None

    def attach(self, played: ManagedChannel, names: Names, clock: MoveClock) -> None:  # noqa: ARG002  # it has no screen
        """See `PlayerSeat`."""
        self._played = played

    def join_chat(self, chat: Chat) -> None:
        """See `PlayerSeat`. A bot says nothing, and is there for as long as it runs."""
        chat.is_seen = lambda: True

    def _before(self) -> tuple[VariablePart, ...]:
        """The channel's states so far."""
        return () if self._played is None else self._played.history().states

    async def run(self) -> None:
        """Answer the questions that were not answered at once."""
        while True:
            question = await self._questions.get()
            await asyncio.sleep(self._pace)
            if self._played is not None and self._played.channel.is_our_turn_after(question.state):
                try:
                    self._played.feed(self._choose(question))
                except ForcemoveError:  # such as that money is missing: nobody asks for this move again
                    self._questions.put_nowait(question)
