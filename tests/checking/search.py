"""Breadth first through all worlds: the first violation that is found is one with the fewest events."""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from forcemove import ChallengeWanted, Channel, ConcludeWanted, MoveChosen, Phase
from tests.checking.bob import deposits, messages, transactions
from tests.checking.keys import Keys
from tests.checking.properties import PROPERTIES, Property, Violated, is_out, with_due
from tests.checking.remembering import remembering
from tests.checking.world import Bounds, Setting, World

__all__ = ["OUT_IN_TIME", "SILENT", "Found", "Search", "start", "without_collecting"]

OUT_IN_TIME = "out in time"
SILENT = "Bob is silent from now on"
"""The last step of a run that ends so: she does by herself what is due."""
_DURATIONS = 4
"""Challenge durations within which she is out while Bob is silent."""


@dataclass(frozen=True)
class Found:
    """What a search came to. `violated`: the property and how, or None; then `steps` lead there, in words.
    `is_complete`: everything within the bounds was seen. `longest_way_out`: ticks, of any world."""

    states: int
    transitions: int
    seconds: float
    is_complete: bool
    longest_way_out: int = 0
    violated: Violated | None = None
    steps: tuple[str, ...] = ()


@dataclass
class Search:
    """Of one setting. `properties`: by name, those that are looked at. `may_end`: a way out is looked for, too."""

    setting: Setting
    properties: Mapping[str, Property] = field(default_factory=lambda: PROPERTIES)
    looks_for_ways_out: bool = True

    def __post_init__(self) -> None:
        self._keys = Keys(self.setting)
        self._ways_out: dict[tuple[object, ...], int] = {}
        self._came_from: dict[tuple[object, ...], tuple[tuple[object, ...] | None, str]] = {}
        self._transitions = 0

    def run(self, first: World, most_states: int | None = None) -> Found:
        """Everything that can follow, up to this many states."""
        began = time.perf_counter()
        with without_collecting(), remembering():
            try:
                is_complete = self._explore(first, most_states)
                return self._found(began, is_complete=is_complete)
            except _Stopped as stopped:
                found = self._found(began, is_complete=False)
                return replace(found, violated=stopped.violated, steps=stopped.steps)

    def _found(self, began: float, *, is_complete: bool) -> Found:
        seconds, longest = time.perf_counter() - began, max(self._ways_out.values(), default=0)
        return Found(len(self._came_from), self._transitions, seconds, is_complete, longest)

    def _explore(self, first: World, most_states: int | None) -> bool:
        key = self._keys.of(first)
        self._came_from[key] = None, ""
        waiting = deque([(key, first)])
        while waiting:
            key, world = waiting.popleft()
            if self.looks_for_ways_out:
                self._require_way_out(key, world)
            for words, happened in self.events(world):
                self._transitions += 1
                after = with_due(self.setting, happened)
                next_key = self._keys.of(after)
                self._require_properties(key, words, world, after)
                if next_key not in self._came_from:
                    self._came_from[next_key] = key, words
                    waiting.append((next_key, after))
            if most_states is not None and len(self._came_from) >= most_states:
                return False
        return True

    def after(self, world: World, words: str) -> World:
        """The world after the event with these words. Raises `LookupError` where it cannot happen."""
        happened = next((after for each, after in self.events(world) if each == words), None)
        if happened is None:
            raise LookupError(words)
        return with_due(self.setting, happened)

    def alone(self, world: World) -> World:
        """What happens next while Bob is silent and nothing goes wrong."""
        return with_due(self.setting, self._alone(world))

    # ------------------------------------------------------------------------------------------------------ events

    def events(self, world: World) -> Iterator[tuple[str, World]]:
        """Everything that may happen now, with words for it."""
        setting, bounds = self.setting, self.setting.bounds
        if not (world.told and world.is_compared):
            yield from _named("Alice looks at the chain", setting.look(world))
        if not world.is_compared:
            yield from _named("Only the liar has answered Alice", setting.answered_alone(world, by_liar=True))
            yield from _named("Only the honest one has answered Alice", setting.answered_alone(world, by_liar=False))
        if not world.is_compared or (world.seen >= 0 and (world.told or not bounds.eager)):
            yield from self._said(world)
            yield from self._wished(world)
        yield from self._mined(world)
        if setting.may_pass(world) and _is_anything_due(setting, world):
            yield f"{bounds.tick} seconds pass", setting.pass_time(world)
        if world.crashes and world.told:
            yield "Alice is killed", setting.kill(world)
        if world.stops and world.told and world.is_compared:
            yield "Alice's process stands still", setting.stand_still(world)

    def _said(self, world: World) -> Iterator[tuple[str, World]]:
        for words, input_ in messages(self.setting, world):
            yield from _named(words, self.setting.hear(world, input_))

    def _wished(self, world: World) -> Iterator[tuple[str, World]]:
        """Any player: every legal move, leaving and challenging."""
        alice, setting = world.alice, self.setting
        if alice.newest is not None and alice.is_our_turn:
            for state in setting.game.moves(alice.newest.state):
                move = MoveChosen(state.outcome, state.app_data)
                yield from _named(f"Alice moves to {state.app_data.hex()}", setting.hear(world, move))
        if not alice.leaving:
            yield from _named("Alice wants to leave", setting.hear(world, ConcludeWanted()))
        yield from _named("Alice wants to challenge", setting.hear(world, ChallengeWanted()))

    def _mined(self, world: World) -> Iterator[tuple[str, World]]:
        setting = self.setting
        if world.waiting:
            words = type(world.waiting[0].submission).__name__
            yield f"Alice's {words} is mined", setting.mine_hers(world)
            if world.drops:
                yield f"Alice's {words} is dropped", setting.drop_hers(world)
        his = [(words, each, 0) for words, each in deposits(setting, world)]
        if world.transactions:
            his += [(words, each, 1) for words, each in transactions(setting, world)]
        for words, submission, price in his:
            after = setting.transact(world, submission, setting.bob)
            if after is not None:
                yield words, after._replace(transactions=after.transactions - price)
        if world.reorganisations:
            for count in range(1, min(len(world.blocks), 2) + 1):
                yield f"the last {count} blocks are undone", setting.undo(world, count)

    # -------------------------------------------------------------------------------------------------- properties

    def _require_properties(self, key: tuple[object, ...], words: str, before: World, after: World) -> None:
        for name, holds in self.properties.items():
            fault = holds(self.setting, before, after)
            if fault is not None:
                raise _Stopped(Violated(name, fault), (*self._steps(key), words))

    def _steps(self, key: tuple[object, ...]) -> tuple[str, ...]:
        steps: list[str] = []
        at: tuple[object, ...] | None = key
        while at is not None:
            at, words = self._came_from[at]
            steps.append(words)
        return tuple(reversed(steps[:-1]))

    # --------------------------------------------------------------------------------------------------- ways out

    def _require_way_out(self, key: tuple[object, ...], world: World) -> None:
        """While Bob is silent she is out in time: she wants to leave, and challenges where that alone does not help."""
        path: dict[tuple[object, ...], int] = {}
        most, began = _DURATIONS * self.setting.bounds.ticks, world.now
        tick, at = self.setting.bounds.tick, key
        while at not in self._ways_out and at not in path and (world.now - began) // tick <= most:
            path[at] = world.now
            if is_out(self.setting, world):
                self._ways_out[at] = 0
                break
            before, world = world, self.alone(world)
            self._require_properties(key, SILENT, before, world)
            at = self._keys.of(world)
        ended = world.now + self._ways_out.get(at, most + 1) * tick
        if (ended - began) // tick > most:
            raise _Stopped(Violated(OUT_IN_TIME, f"she is in it after {most} ticks"), (*self._steps(key), SILENT))
        for each, now in path.items():
            self._ways_out[each] = (ended - now) // tick

    def _alone(self, world: World) -> World:
        """What happens next while Bob is silent and nothing goes wrong."""
        setting = self.setting
        if not (world.told and world.is_compared):
            return setting.look(world)[0][1]
        if world.waiting:
            return setting.mine_hers(world)
        for wish in _wishes(world.alice, world.now):
            if done := setting.hear(world, wish):
                return done[0][1]
        return setting.pass_time(world)


def _wishes(alice: Channel, now: int) -> Iterator[ConcludeWanted | ChallengeWanted]:
    """To leave; and where Bob is to say something, to challenge."""
    if not alice.leaving:
        yield ConcludeWanted()
    newest = alice.newest
    is_agreed = newest is not None and newest.state.is_final and len(newest.signed.signatures) == alice.agreement.count
    if alice.phase(now) in (Phase.FUNDING, Phase.PLAYING, Phase.CONCLUDING) and not is_agreed:
        yield ChallengeWanted()


class _Stopped(Exception):
    def __init__(self, violated: Violated, steps: tuple[str, ...]) -> None:
        super().__init__()
        self.violated, self.steps = violated, steps


def _named(words: str, found: list[tuple[str, World]]) -> Iterator[tuple[str, World]]:
    for more, world in found:
        yield words + more, world


def _is_anything_due(setting: Setting, world: World) -> bool:
    """Whether time makes a difference: a clock runs, or she means to conclude later, or something of hers waits, or
    there is what she cannot see yet. Else all that a tick does is done."""
    ends = world.chain.status_of(setting.agreement.channel_id).finalizes_at
    later = world.alice.conclude_at
    return bool(ends > world.now or (later is not None and later > world.now) or world.waiting or world.blocks)


def start(setting: Setting) -> World:
    """The world to begin with: before anybody has signed; or after the opening, with all money there and the first
    move to come."""
    bounds, agreement = setting.bounds, setting.agreement
    budget = bounds.transactions, bounds.crashes, bounds.drops, bounds.reorganisations
    fresh = Channel(agreement, bounds.seat, genuine=True)
    world = World(setting.start, fresh, setting.empty_chain(), *budget, stops=bounds.stops)
    return with_due(setting, setting.started(world) if bounds.opening else _opened(setting, world))


def _opened(setting: Setting, world: World) -> World:
    """Everybody has done what is due, and play begins."""
    bounds = setting.bounds
    plain = replace(setting, bounds=Bounds(bounds.players, bounds.seat))
    world = world._replace(crashes=0, drops=0)
    while world.alice.next_turn < 2 * setting.count or not world.told:
        if not world.told:
            ((_, world),) = plain.look(world)
        elif world.waiting:
            world = plain.mine_hers(world)
        elif heard := next(filter(None, (plain.hear(world, each) for _, each in messages(plain, world))), None):
            ((_, world),) = heard
        else:
            (_, submission), *_ = deposits(plain, world)
            paid = plain.transact(world, submission, plain.bob)
            assert paid is not None
            world = paid
    return world._replace(crashes=bounds.crashes, drops=bounds.drops)


@contextmanager
def without_collecting() -> Iterator[None]:
    """Nothing that a search keeps is garbage, and looking for some takes half of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
