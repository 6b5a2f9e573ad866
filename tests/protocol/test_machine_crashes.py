"""Alice's process is killed at every point of its work, and goes on from what it had saved.

A point lies before each time she saves and before each effect. Whenever it is: she never signs two states of a turn
(`table.Seat.remember_signature` looks), and the channel ends as it would have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

import pytest

from forcemove import ChallengeWanted, Game, Phase
from forcemove.game import Level
from tests.installed import GAMES_FOR_TWO
from tests.protocol.table import DEPOSIT, Table, counting, counting_table, playing, seated
from tests.sampled import with_sample

Story = Callable[[Collection[int]], Table]


def story_of(game: Game) -> Story:
    """Anyone who keeps secrets makes new ones each time that a move is asked for."""

    def story(killed_at: Collection[int]) -> Table:
        bots = [game.bot(seat, Random(seat).randbytes, level=Level.EASY) for seat in (0, 1)]
        table = Table(game, [playing(bot) for bot in bots], killed_at=killed_at)
        table.run()
        return table

    story.__name__ = game.name.replace("-", "_")
    return story


def three(killed_at: Collection[int]) -> Table:
    table = counting_table(3, 13, killed_at)
    table.run()
    return table


def challenged(killed_at: Collection[int]) -> Table:
    """Bob stops, and challenges with what was before; Alice answers with the newest. Then with the newest, and Alice
    moves; then he wants to leave."""
    table, alice, bob = seated(counting_table(killed_at=killed_at))
    bob.choose = lambda question: table.app.move(question.state) if question.state.turn_num < 8 else None  # type: ignore[attr-defined]
    table.run()
    table.challenge(*table.setup_states()[2:])
    table.run()
    bob.feed(bob.next_move())
    bob.feed(ChallengeWanted())
    bob.choose = counting(table.app, 12)  # type: ignore[arg-type]
    table.run()
    assert alice.newest.state.turn_num > 9
    return table


def deserted(killed_at: Collection[int]) -> Table:
    """Bob is gone in the middle of the game; Alice challenges, and collects."""
    table, alice, bob = seated(counting_table(killed_at=killed_at))
    bob.choose = lambda question: table.app.move(question.state) if question.state.turn_num < 6 else None  # type: ignore[attr-defined]
    table.run()
    bob.is_away = True
    while table.record == (0, False) and table.held:
        alice.poll()
        alice.try_to(ChallengeWanted())
    table.run()
    table.wait_for_expiry()
    table.run()
    bob.is_away = False
    table.run()
    return table


STORIES: tuple[Story, ...] = (*map(story_of, GAMES_FOR_TWO), three, challenged, deserted)
DEAR = {"discard": 13}
"""Stories whose every point takes long: of this many points the normal run has one."""


def with_steps() -> list[object]:
    """Each story with the points of the normal run, one of this many; and with every one."""
    normal = [(each, DEAR.get(each.__name__, 1)) for each in STORIES]
    return with_sample((*normal, *((story, 1) for story, step in normal if step > 1)), normal)


def named(value: Story | int) -> str:
    return f"every {value}" if isinstance(value, int) else value.__name__


def ends_well(table: Table) -> None:
    newest = table.seats[0].newest.state
    for seat in table.seats:
        assert seat.phase is Phase.CLOSED
        assert table.balances[seat.key.address] == newest.outcome[seat.index].amount - DEPOSIT
    assert table.held == 0


@pytest.mark.parametrize(("story", "step"), with_steps(), ids=named)
def test_threat_21_a_process_that_dies_anywhere_goes_on_and_never_signs_twice(story: Story, step: int) -> None:
    whole = story(())
    ends_well(whole)
    points = whole.seats[0].points
    assert points > 30
    for point in range(1, points + 1, step):
        table = story((point,))
        assert table.seats[0].deaths == 1
        ends_well(table)


@pytest.mark.parametrize("soon", with_sample((1, 2, 4), {1}))
@pytest.mark.parametrize(("story", "step"), with_steps(), ids=named)
def test_threat_21_nor_does_one_that_dies_again_while_it_recovers(story: Story, step: int, soon: int) -> None:
    for point in range(1, story(()).seats[0].points + 1, step):
        ends_well(story((point, point + soon)))


def test_threat_21_who_dies_all_the_time_gets_there_all_the_same() -> None:
    table = counting_table(killed_at=range(0, 400, 7))
    table.run(rounds=400)
    ends_well(table)
    assert table.seats[0].deaths > 5
