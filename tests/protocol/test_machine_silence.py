"""One of several participants is gone forever, from any step of its work on: the others get what the rules give."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import ChallengeWanted, ChooseMove, ConcludeWanted, MoveChosen, word
from forcemove.flow.channel import is_stuck
from forcemove.protocol.machine.channel import OVER, Phase
from tests.protocol.builders import players
from tests.protocol.table import DEPOSIT, DURATION, STAKE, CountingGame, Seat, Table
from tests.sampled import with_sample

_LAST_MOVE = 12
"""The turn after which the mover leaves."""


def taking(question: ChooseMove) -> MoveChosen | ConcludeWanted:
    """A player that takes a stake from the next one with each move, and leaves at last."""
    state = question.state
    count, turn = len(state.outcome), state.turn_num + 1
    if state.turn_num >= _LAST_MOVE:
        return ConcludeWanted()
    change = {turn % count: STAKE, (turn + 1) % count: -STAKE}
    outcome = tuple(replace(each, amount=each.amount + change.get(seat, 0)) for seat, each in enumerate(state.outcome))
    return MoveChosen(outcome, word(turn))


def table_of(count: int) -> Table:
    return Table(CountingGame(count), [taking] * count)


def steps_of(count: int, seat: int) -> int:
    """How many points at which its process may end a seat has in a game in which nobody is gone."""
    table = table_of(count)
    table.run()
    assert {each.phase for each in table.seats} <= set(OVER)
    return table.seats[seat].points


def go_for_ever(seat: Seat, step: int) -> None:
    """Let the seat's process end at this point, and begin never again."""

    def stay_away() -> None:
        seat.is_away = True

    seat.killed_at = (step,)
    seat.restart = stay_away  # type: ignore[method-assign]


def wait_and_press(table: Table, others: list[Seat]) -> None:
    """What patient players do: wait, challenge where nothing happens any more, and let the clock run out."""
    for _ in range(4):
        table.run(others)
        for each in others:
            if is_stuck(each.channel, each.phase):
                each.try_to(ChallengeWanted())
        table.run(others)
        if table.record[1]:
            table.wait_for_expiry()
        else:
            table.travel(DURATION)
    table.run(others)


def require_fair(table: Table, others: list[Seat], step: int) -> None:
    """Nobody who stayed has lost more than the newest state gives; where not all have paid in, nothing at all."""
    keys = players(table.agreement.count)
    is_funded = all(each.channel.is_funded or each.channel.record.payout_begun for each in others)
    for each in others:
        balance = table.balances[keys[each.index].address]
        has_begun = each.channel.accepted and is_funded
        assert balance == (each.newest.state.outcome[each.index].amount - DEPOSIT if has_begun else 0), (step, each)
        assert each.phase in (*OVER, Phase.CHECKING, Phase.PREFUND) or not table.held, (step, each.phase)


ALL = [(count, seat) for count in range(2, 9) for seat in range(count)]
SAMPLE = [(count, seat) for count, seat in ALL if count < 4 or (count in (5, 8) and seat in (1, count - 1))]


@pytest.mark.parametrize(("count", "seat"), with_sample(ALL, SAMPLE))
def test_one_is_gone_from_any_step_on_and_the_others_are_paid(count: int, seat: int) -> None:
    steps = steps_of(count, seat)
    reached = set[Phase]()
    for step in range(1, steps + 1):
        table = table_of(count)
        gone = table.seats[seat]
        others = [each for each in table.seats if each is not gone]
        go_for_ever(gone, step)
        table.run()
        reached.add(gone.phase)
        assert gone.is_away, step
        wait_and_press(table, others)
        require_fair(table, others, step)
    assert reached >= {Phase.PREFUND, Phase.FUNDING, Phase.PLAYING, Phase.CONCLUDING}
