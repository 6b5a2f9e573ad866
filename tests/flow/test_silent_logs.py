"""Logs that take nothing, or never show what they have taken: nobody waits for them but who can do nothing else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from forcemove import Phase, Step, sequence
from forcemove.flow.channel import ChannelDecided, Line, Seat, collecting, opening, rounds
from forcemove.flow.transport import MemoryTransport, Reader
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.flow.table import CODEC, Said, signed
from tests.scenarios.story import Playground, Story
from tests.scenarios.test_flows import play as play_strictly
from tests.simulation.chain import MemoryChain

# What a seat makes of troubles where nobody says otherwise: a warning.
play = partial(play_strictly, on_error=Seat("nobody", None, Line()).on_error)  # type: ignore[arg-type]  # of no use here


class HangingLog(MemoryTransport):
    """Takes this many messages. Of any other one it never says whether it has it; `hung` counts those."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self.hung = most, 0

    async def post(self, message: bytes) -> None:
        if self.length() >= self._most:
            self.hung += 1
            await asyncio.Event().wait()
        await super().post(message)


def until_decided(scenario: Story, seat: int) -> Callable[[Any, Seat], Any]:
    async def flow(queue: Any, own: Seat) -> None:
        with contextlib.suppress(ChannelDecided):
            play_on: Step[Seat] = sequence(opening(), rounds(scenario.players[seat].bot))
            await play_on(queue, own)
        await collecting()(queue, own)

    return flow


@pytest.mark.parametrize("most", [8, 9])
def test_threat_57_a_log_that_takes_nothing_any_more_keeps_no_client_from_the_chain(most: int) -> None:
    """The mover answers on the chain, and the other one challenges: the game is decided, its money paid."""
    scenario, log = Playground.on(MemoryChain()).story(TIC_TAC_TOE), HangingLog(most)
    play(scenario, until_decided(scenario, 0), until_decided(scenario, 1), log=log)
    assert log.hung
    assert {player.phase for player in scenario.players} == {Phase.CLOSED}


class Blind(MemoryTransport):
    """Takes every message, says how many there are, and shows none."""

    def reader(self, start: int = 0) -> Reader:
        return super().reader(start + 1_000)


@pytest.mark.virtual_time
async def test_threat_57_what_a_log_has_taken_and_never_shows_holds_up_no_post() -> None:
    log = Blind()
    alice = signed(log, "alice")
    async with asyncio.timeout(60):
        for number in range(5):
            await alice.post(CODEC.encode(Said("alice", number)))
    assert log.length() == 5
