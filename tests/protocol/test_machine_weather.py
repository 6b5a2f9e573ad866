"""Two, three and more machines over lines that lose, repeat, delay and reorder: row 40 of the list of attacks."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest

from forcemove.protocol.machine.channel import Phase
from tests.protocol.table import Seat, Table, counting_table


def shake(seat: Seat, chance: Random) -> None:
    """A third of what is on its way is lost, a third comes twice, some of it later, all of it in any order."""
    messages = [message for message in seat.inbox for _ in range(chance.choice((0, 1, 2)))]
    chance.shuffle(messages)
    seat.inbox = deque(messages)


def play_in_bad_weather(table: Table, chance: Random, rounds: int = 3_000) -> None:
    for _ in range(rounds):
        busy = False
        for seat in table.seats:
            shake(seat, chance)
            busy = seat.poll() or busy
        if {seat.phase for seat in table.seats} == {Phase.CLOSED}:
            return
        if not busy:
            table.break_silence(table.seats)
    raise AssertionError([seat.phase for seat in table.seats])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [2, 3, 5])
def test_threat_40_in_any_weather_a_channel_of_any_size_ends(count: int, seed: int) -> None:
    table = counting_table(count, last_turn=4 * count)
    play_in_bad_weather(table, Random(seed))
    turns = table.seats[0].newest.state.turn_num + 1
    assert [seat.faults for seat in table.seats] == [[]] * count
    assert len(table.messages) <= 6 * count * turns
    assert table.held == 0
    for seat in table.seats:
        assert set(seat.signed) <= set(range(turns))
