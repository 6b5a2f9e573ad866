"""Each scenario of the terminal's demonstration is a tour, done as it says, and ends with balances that are right."""

from __future__ import annotations

import re

import pytest

from forcemove.demo.scenarios import SCENARIOS
from forcemove.game import Level
from forcemove.playground.buttons import groups_of
from forcemove.playground.tours import TOURS
from forcemove.protocol.machine.channel import Phase
from tests.playground.games import TimedPlayground

DONE = {
    "honest": (("move",), ("move",), ("leave",)),
    "stall": (("silent",), ("move",), ("challenge",), ("run-out",)),
    "stale-state": (("move",), ("old",), ("leave",)),
    "cheat": (("illegal", "move"), ("forge",), ("withhold", "move"), ("move",), ("leave",)),
}
"""What a person does in each step."""


def do(played: TimedPlayground, what: str) -> None:
    if what == "move":
        played.move()
    elif what in ("leave", "challenge"):
        played.act(what)
    else:
        played.press(what)
    played.wait(1)
    played.wait(1)  # a fault is in the history a second after it was found


def step_of(played: TimedPlayground) -> int | None:
    found = re.match(r"Step (\d) of", played.playground.guide)
    return int(found[1]) if found else None


def test_every_scenario_is_a_tour() -> None:
    assert TOURS.keys() == SCENARIOS.keys() == DONE.keys()


@pytest.mark.parametrize("name", DONE)
def test_a_tour_is_done_as_it_says(name: str) -> None:
    played = TimedPlayground(level=Level.HARD)  # else Bob loses now and then before the tour's last step
    played.press(f"tour-{name}")
    for number, actions in enumerate(DONE[name], 1):
        assert step_of(played) == number, played.pressed
        for each in actions:
            do(played, each)
    assert played.playground.guide.startswith(TOURS[name].end.partition("{")[0])
    assert played.playground.guide.count("as expected") == 2
    played.require_right()


def test_each_step_names_its_buttons() -> None:
    played = TimedPlayground()
    texts = {each.name: each.text for group in groups_of(played.playground) for each in group.controls}
    for name, steps in DONE.items():
        for step, actions in zip(TOURS[name].steps, steps, strict=True):
            for each in actions:
                assert texts.get(each, each).casefold() in step.text.casefold()


def test_a_tour_after_a_game_begins_another_game() -> None:
    played = TimedPlayground()
    played.act("leave")
    played.press("tour-honest")
    assert played.playground.match.managed.phase is Phase.PLAYING
    assert step_of(played) == 1


@pytest.mark.parametrize("name", DONE)
def test_who_leaves_a_tour_before_its_end_is_told_how_it_goes_on(name: str) -> None:
    played = TimedPlayground()
    played.press(f"tour-{name}")
    played.act("leave")
    assert played.playground.match.checks is not None
    assert played.playground.guide.startswith("The game ends before this tour.")
    assert f"press {TOURS[name].title}" in played.playground.guide
    played.press(f"tour-{name}")
    assert step_of(played) == 1


def test_a_tour_can_be_ended() -> None:
    played = TimedPlayground()
    played.press("tour-stall")
    played.press("tour-end")
    assert played.playground.guide == ""


def test_a_tour_waits_for_who_does_something_else() -> None:
    played = TimedPlayground()
    played.press("tour-stall")
    played.move()
    played.wait(1)
    assert step_of(played) == 1
