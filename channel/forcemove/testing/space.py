"""The states of a game that checks look at: all that play reaches or, where these are too many or time is short, a
sample of them. Reports the progress and the coverage of each check, and how to see a failure again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

from forcemove.protocol.types import VariablePart
from forcemove.testing.session import session
from forcemove.testing.walk import LegalMoves, Path, Walk, key_of, successors

__all__ = ["Bounds", "Coverage", "StateSpace", "Visit"]

_PROGRESS = 2.0
"""Seconds between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a game is checked.

    `states`: how many are walked to, breadth first; a game with no more of them is checked wholly, if time allows.
    `seconds`: how long the walk and each check may take; None: the command line's, else 2. `games`: how many are played
    at random beyond the walk. `turns`: how long each of these may be. `seed`: of the samples; None: the command line's,
    else another one in each run.
    """

    states: int = 20_000
    seconds: float | None = None
    games: int = 5_000
    turns: int = 500
    seed: int | None = None


class Visit(NamedTuple):
    """A state to be checked. `successors`: by each legal move; `played`: the successors that a check may make do with
    where it cannot look at all, one of them in a sample. `game`: the seed of the random game that it is from; None:
    from the walk. `path`: returns the way to it."""

    state: VariablePart
    successors: list[VariablePart]
    played: list[VariablePart]
    game: int | None
    path: Callable[[], Path]


@dataclass(slots=True)
class Coverage:
    """What a check has covered: different states, their moves, and the random games that it has played."""

    states: int = 0
    moves: int = 0
    games: int = 0
    from_games: int = 0
    """How many of the states the walk has not reached."""
    seconds: float = 0


class StateSpace:
    """A game from a state on: `begin`, and the moves that are legal after each state."""

    def __init__(
        self,
        begin: VariablePart,
        moves: LegalMoves,
        bounds: Bounds | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.begin, self.moves, self.bounds = begin, moves, bounds or Bounds()
        self._pace = _Pace(clock)
        self._walked: Walk | None = None

    @property
    def seats(self) -> int:
        """How many participants there are."""
        return len(self.begin.outcome)

    @property
    def seed(self) -> int:
        """The seed of samples."""
        return session.seed if self.bounds.seed is None else self.bounds.seed

    @property
    def seconds(self) -> float:
        """How long the walk and each check may take."""
        return session.seconds if self.bounds.seconds is None else self.bounds.seconds

    @property
    def is_whole(self) -> bool:
        """Whether all states that play reaches are known, within the bounds."""
        return self._walk.is_whole

    @property
    def size(self) -> int:
        """How many different states are known; play reaches no more of them if `is_whole`."""
        return len(self._walk.steps)

    def check(self, what: str, look: Callable[[Visit], None]) -> Coverage:
        """Call `look` with each state within the bounds. `what`: the name of the check in the report. An error of
        `look` gets a note that says how to see it again, and ends the check."""
        walk, covered = self._walk, Coverage()
        self._pace.start()
        for visit in self._visits(walk, covered):
            try:
                look(visit)
            except Exception as error:
                error.add_note(self._how_to_replay(visit))
                raise
            covered.states += 1
            covered.moves += len(visit.successors)
            self._pace.tick(lambda: f"{what}: states {covered.states:,}, moves {covered.moves:,} so far")
        covered.seconds = self._pace.passed
        session.say_coverage(f"{what}: {self._summary(walk, covered)}")
        return covered

    @property
    def _walk(self) -> Walk:
        if self._walked is None:
            walk = Walk(self.begin, self.moves, self.bounds.states)
            self._pace.start()
            while walk.advance() and self._pace.passed < self.seconds:
                self._pace.tick(lambda: f"walk: states {len(walk.steps):,} so far, all to depth {walk.depth}")
            self._walked = walk
        return self._walked

    def _visits(self, walk: Walk, covered: Coverage) -> Iterator[Visit]:
        looked = set()
        share = 1.0 if walk.is_whole else 0.5
        for visit in self._walked_to(walk):
            if self._pace.passed >= share * self.seconds:
                break
            looked.add(hash(key_of(visit.state)))
            yield visit
        if walk.is_whole:
            return
        for game in range(self.seed, self.seed + self.bounds.games):
            covered.games += 1
            for visit in self._played(game):
                if self._pace.passed >= self.seconds:
                    return
                key = hash(key_of(visit.state))
                if key not in looked:
                    looked.add(key)
                    covered.from_games += 1
                    yield visit

    def _walked_to(self, walk: Walk) -> Iterator[Visit]:
        """The states of the walk in random order, so that a check which is cut short has seen states of each depth."""
        random = Random(self.seed)  # noqa: S311  # nothing secret
        for number in random.sample(range(len(walk.steps)), len(walk.steps)):
            state = walk.steps[number].state
            found = successors(state, self.moves)
            played = found if walk.is_whole else random.sample(found, min(1, len(found)))
            yield Visit(state, found, played, None, partial(walk.path, number))

    def _played(self, game: int) -> Iterator[Visit]:
        """The states of a random game."""
        random, state = Random(game), self.begin  # noqa: S311  # nothing secret
        places: list[int] = []
        for _ in range(self.bounds.turns):
            found = successors(state, self.moves)
            place = random.randrange(len(found)) if found else 0
            yield Visit(state, found, found[place : place + 1], game, partial(tuple, tuple(places)))
            if not found:
                return
            places.append(place)
            state = found[place]

    def _summary(self, walk: Walk, covered: Coverage) -> str:
        looked, known = f"{covered.states:,}", f"{len(walk.steps):,}"
        moves, drawn = f"{covered.moves:,} moves", f"seed {self.seed}, {covered.seconds:.1f} s"
        if walk.is_whole and covered.states == len(walk.steps):
            return f"all {known} states that play reaches, {moves}"
        if walk.is_whole:
            share = 100 * covered.states / len(walk.steps)
            return f"{looked} of the {known} states that play reaches ({share:.1f}%), {moves}; {drawn}"
        return (
            f"{looked} states, {moves}: {covered.states - covered.from_games:,} of the first {known}, breadth first "
            f"(all to depth {walk.depth}), and {covered.from_games:,} others in {covered.games:,} random games; "
            f"how many play reaches in all is not known; {drawn}"
        )

    def _how_to_replay(self, visit: Visit) -> str:
        path = visit.path()
        if visit.game is None:
            found, seed = "on the walk, drawn with seed", self.seed
        else:
            found, seed = "of the random game with seed", visit.game
        return (
            f"Found after {len(path)} moves {found} {seed}. To see it again: python -m pytest --game-seed {seed}\n"
            "The state before the move, where SPACE is what was looked at (forcemove.testing.walk):\n"
            f"    replay(SPACE.begin, SPACE.moves, {path})[-1]"
        )


class _Pace:
    """The time of a space's checks, one after the other, and of the reports of progress."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._started, self._last, self._quiet = clock, 0.0, 0.0, 0.0

    def start(self) -> None:
        """Begin to measure a check."""
        self._started = self._last = self._clock()

    @property
    def passed(self) -> float:
        """Seconds since the check began."""
        return self._clock() - self._started

    def tick(self, text: Callable[[], str]) -> None:
        """Report progress, where the last report is long ago."""
        now = self._clock()
        self._quiet += now - self._last
        self._last = now
        if self._quiet >= _PROGRESS:
            self._quiet = 0
            session.say_progress(text())
