"""What is looked at of a game: all of a small one, a sample of a large one, and what is said of it."""

from __future__ import annotations

import re
from itertools import count
from math import inf

import pytest

from forcemove import Move, VariablePart, word
from forcemove.testing.session import RunSettings, session
from forcemove.testing.space import Bounds, Coverage, StateSpace, Visit
from forcemove.testing.walk import LegalMoves, first_state, key_of, replay

BEGIN = first_state(word(1), (5, 5))
LAST = 60


def number_of(state: VariablePart) -> int:
    return int.from_bytes(state.app_data, "big")


def any_step(state: VariablePart) -> list[Move]:
    """A step of 1, 2 or 3, to 60: small, whichever way is taken."""
    number = number_of(state)
    return [Move(state.outcome, word(number + step)) for step in (1, 2, 3) if number + step <= LAST]


def doubling(state: VariablePart) -> list[Move]:
    """Each state is reached in one way: 2**depth of them at each depth, and there is no end."""
    number = number_of(state)
    return [Move(state.outcome, word(2 * number + bit)) for bit in (0, 1)]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said of each look."""
    said: list[str] = []
    monkeypatch.setattr(session, "say_coverage", said.append)
    monkeypatch.setattr(session, "say_progress", lambda line: said.append(f"progress: {line}"))
    return said


def looked_at(space: StateSpace) -> tuple[list[Visit], Coverage]:
    visits: list[Visit] = []
    return visits, space.check("things", visits.append)


def test_of_a_small_game_every_state_is_looked_at_once(lines: list[str]) -> None:
    space = StateSpace(BEGIN, any_step, Bounds(seconds=inf))
    visits, covered = looked_at(space)
    assert space.is_whole
    assert len({key_of(visit.state) for visit in visits}) == len(visits) == covered.states == space.size
    assert covered.moves == sum(len(visit.successors) for visit in visits)
    assert covered.games == 0
    assert all(visit.played == visit.successors for visit in visits), "nothing is left out of what is whole"
    assert lines == [f"things: all {space.size} states that play reaches, {covered.moves} moves"]


def test_of_a_large_game_the_first_states_are_looked_at_and_random_games(lines: list[str]) -> None:
    space = StateSpace(BEGIN, doubling, Bounds(states=100, seconds=inf, games=3, turns=20, seed=7))
    visits, covered = looked_at(space)
    assert not space.is_whole
    walked = [visit for visit in visits if visit.game is None]
    assert sorted(number_of(visit.state) for visit in walked) == list(range(1, len(walked) + 1))
    assert {visit.game for visit in visits} == {None, 7, 8, 9}
    assert max(number_of(visit.state) for visit in visits).bit_length() == 20, "as far as a game may go"
    assert len({key_of(visit.state) for visit in visits}) == len(visits), "no state is looked at twice"
    assert all(len(visit.played) == 1 for visit in visits)
    (line,) = lines
    said, _, seconds = line.rpartition(", ")
    assert said == (
        f"things: {covered.states} states, {2 * covered.states} moves: 101 of the first 101, breadth first (all to "
        f"depth 5), and {covered.from_games} others in 3 random games; how many play reaches in all is not known; "
        f"seed 7"
    )
    assert re.fullmatch(r"\d+\.\d s", seconds)


def test_the_same_seed_looks_at_the_same_states() -> None:
    def numbers(seed: int) -> list[int]:
        visits, _ = looked_at(StateSpace(BEGIN, doubling, Bounds(states=50, seconds=inf, games=2, turns=20, seed=seed)))
        return [number_of(visit.state) for visit in visits]

    assert numbers(1) == numbers(1) != numbers(2)


def test_each_run_draws_another_seed_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RunSettings().seed != RunSettings().seed
    monkeypatch.setattr(session, "seed", 12)
    assert (StateSpace(BEGIN, doubling).seed, StateSpace(BEGIN, doubling, Bounds(seed=3)).seed) == (12, 3)


def test_where_time_is_short_the_share_is_said(lines: list[str]) -> None:
    """To look at a state takes an eighth of a second."""
    now, numbers = [0.0], []

    def look(visit: Visit) -> None:
        now[0] += 0.125
        numbers.append(number_of(visit.state))

    space = StateSpace(BEGIN, any_step, Bounds(seconds=3.0, seed=1), clock=lambda: now[0])
    assert space.check("things", look).states == 24
    share = f"{100 * 24 / space.size:.1f}%"
    assert lines[-1].startswith(f"things: 24 of the {space.size} states that play reaches ({share}), ")
    assert min(numbers) < LAST / 3 < 2 * LAST / 3 < max(numbers), "early and late states are in the sample"
    assert lines[:-1] == [f"progress: things: states 16, moves {moves_of(numbers[:16])} so far"]


def moves_of(numbers: list[int]) -> int:
    return sum(min(3, LAST - number) for number in numbers)


def test_no_game_takes_longer_than_it_may(lines: list[str]) -> None:
    """A walk without end, and games without end."""
    time = count()
    space = StateSpace(BEGIN, doubling, Bounds(seconds=10.0, seed=1), clock=lambda: next(time) / 100)
    _, covered = looked_at(space)
    assert not space.is_whole
    assert 10 <= covered.seconds < 10.1
    assert covered.from_games > 0, "the states near the beginning do not take all the time"
    progress = [line for line in lines if line.startswith("progress: ")]
    assert len(progress) >= 8, "every two seconds"
    assert progress[0].startswith("progress: walk: states ")
    assert progress[-1].startswith("progress: things: states ")


def test_nothing_is_said_of_progress_within_two_seconds(lines: list[str]) -> None:
    time = count()
    looked_at(StateSpace(BEGIN, any_step, Bounds(seconds=inf), clock=lambda: next(time) / 10_000))
    assert [line for line in lines if line.startswith("progress: ")] == []


@pytest.mark.parametrize("moves", [any_step, doubling])
def test_an_error_says_the_way_to_where_it_was_found(moves: LegalMoves) -> None:
    def look(visit: Visit) -> None:
        if number_of(visit.state) > 40:
            raise ValueError(number_of(visit.state))

    with pytest.raises(ValueError, match=r"\d") as found:
        StateSpace(BEGIN, moves, Bounds(states=30, seconds=inf, seed=5)).check("things", look)
    (note,) = found.value.__notes__
    path = tuple(int(each) for each in note.split("SPACE.moves, (")[1].split(")")[0].split(",") if each)
    states = replay(BEGIN, moves, path)
    assert number_of(states[-1]) == found.value.args[0]
    assert note.startswith(f"Found after {len(path)} moves ")
