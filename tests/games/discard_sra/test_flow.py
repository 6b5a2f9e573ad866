"""Whole games of two clients over a signed log, and what is on the log afterwards."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from random import Random

import pytest

from forcemove import ActionQueue, MemoryTransport
from forcemove.flow.steps import ActionMissing
from forcemove_games.discard_sra import flow
from forcemove_games.discard_sra.flow import discard
from forcemove_games.discard_sra.rules import TABLE, DiscardPhase, Kind, Move, NotStuck, Position
from forcemove_games.discard_sra.table import ACTIONS, CannotMove, DiscardTable
from forcemove_games.sra.faults import NotInHand, OurDiscardNotAllowed
from tests.flow.table import Delayed, signed
from tests.flow.virtual_time import run_virtual
from tests.games.discard_sra import tables
from tests.games.discard_sra.referee import CLIENTS, judged
from tests.games.sra.shuffled import ALICE, BOB


def players(random: Random) -> tuple[tables.Choose, tables.Choose]:
    """Two that are sensible, careless or wild."""
    return tuple(
        random.choice((tables.best, tables.by(tables.careless(random)), tables.by(tables.anything(random))))
        for _ in CLIENTS
    )  # type: ignore[return-value]  # two


def play_and_judge(number: int) -> DiscardTable:
    """A game by chance, and by the referee; alice's side of it."""
    random, log = Random(number), MemoryTransport()
    alice, bob = tables.table_of(ALICE, number), tables.table_of(BOB, number)
    tables.play((alice, bob), players(random), log, line=lambda on: Delayed(on, random))
    referee = judged(tables.said(log))
    assert alice.result is not None
    assert alice.result == bob.result
    assert alice.history == bob.history
    assert list(alice.order) == list(bob.order) == referee.order
    assert list(alice.result.counts.values()) == [len(hand) for hand in referee.hands]
    assert alice.result.turns == referee.turns
    assert alice.result.is_stuck == (alice.result.winner is None) == (referee.stuck == 2)
    if alice.result.winner is not None:
        assert alice.result.counts[alice.result.winner] == 0
    return alice


def test_games_end_with_a_winner_or_a_rightful_cannot_move_for_both() -> None:
    """Every key on the log was due to its reader, and every turn legal: the referee shares no code with the game."""
    results = [play_and_judge(number).result for number in range(4)]
    assert {result.winner for result in results if result} == {"alice", "bob", None}


@pytest.mark.long
def test_300_games_end_with_a_winner_or_a_rightful_cannot_move_for_both() -> None:
    results = [play_and_judge(number).result for number in range(300)]
    winners = [result.winner for result in results if result]
    assert all(winners.count(each) > 10 for each in ("alice", "bob", None))


# ------------------------------------------------------------------------------------------------------------ the flow


def test_the_flow_of_the_game_is_at_most_60_lines() -> None:
    """All of the module but its docstring, its imports and empty lines: docstrings of functions count, too."""
    source = Path(flow.__file__).read_text("utf-8")
    head = (ast.Expr, ast.Import, ast.ImportFrom)
    begin = next(each.lineno for each in ast.parse(source).body if not isinstance(each, head))
    assert len([line for line in source.splitlines()[begin - 1 :] if line.strip()]) <= 60


def test_what_happens_is_what_the_table_of_the_game_says() -> None:
    """And all of it happens: the diagram of games/README.md shows no arrow that no game takes."""
    seen: set[tuple[DiscardPhase, DiscardPhase]] = set()

    class Watching(ActionQueue):  # type: ignore[type-arg]  # of any actions
        phase = DiscardPhase.SHUFFLING

        async def dequeue(self) -> object:
            self.note()
            return await super().dequeue()

        def note(self) -> None:
            if table.phase is not self.phase:
                seen.add((self.phase, table.phase))
            self.phase = table.phase

    async def scenario() -> None:
        log = MemoryTransport()

        async def watched() -> None:
            queue = Watching(signed(log, "alice"), ACTIONS)
            await discard(chooses[ALICE], within=tables.HOUR)(queue, table)
            queue.note()

        async with asyncio.TaskGroup() as group:
            group.create_task(watched())
            group.create_task(tables.client(log, other, chooses[BOB]))

    for number in range(5):
        table, other = tables.seated(number) if number else (tables.table_of(ALICE), tables.table_of(BOB))
        chooses = players(Random(number))
        run_virtual(scenario())
    assert seen == {(row.from_phase, row.to_phase) for row in TABLE}


def test_who_keeps_silent_is_named_and_nothing_counts() -> None:
    alice, _ = tables.seated()

    async def scenario() -> object:
        return await tables.ending(MemoryTransport(), alice)

    assert run_virtual(scenario()) == ActionMissing(("bob",), tables.HOUR)
    assert alice.result is None


# ------------------------------------------------------------------------------------------------- what we may not do


def at_the_first_turn(move: Move) -> tuple[object, int]:
    """What alice ends with who wants this, and how long the log is then."""
    alice, bob = tables.seated()
    log = MemoryTransport()

    async def scenario() -> object:
        other = asyncio.create_task(tables.ending(log, bob))
        end = await tables.ending(log, alice, lambda table: table.act(move))
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        return end

    return run_virtual(scenario()), log.length()


DEALT_AND_TURNED_UP = 4
"""Messages on the log before the first turn, after the shuffle."""


def test_our_own_forbidden_move_is_our_own_error_and_nothing_is_said() -> None:
    position = the_first_position()
    wrong = next(card for card in position.hand if card not in position.fitting)
    foreign = next(card for card in range(24) if card not in position.hand)

    end, length = at_the_first_turn(Move(Kind.DISCARD, wrong))
    assert isinstance(end, OurDiscardNotAllowed)
    assert (end.card, length) == (wrong, DEALT_AND_TURNED_UP)
    assert at_the_first_turn(Move(Kind.DISCARD, foreign)) == (NotInHand(-1), DEALT_AND_TURNED_UP)
    stuck = NotStuck(13, position.fitting)
    assert at_the_first_turn(Move(Kind.CANNOT_MOVE)) == (stuck, DEALT_AND_TURNED_UP)


def the_first_position() -> Position:
    """What alice sees before the first turn."""
    alice, bob = tables.seated()
    positions: list[Position] = []

    def look(table: DiscardTable) -> None:
        positions.append(table.position)

    alice.watch = look
    tables.play((alice, bob))
    return positions[0]


def test_a_cannot_move_made_by_hand_is_held_to_the_rules_too() -> None:
    alice, bob = tables.seated()
    log = MemoryTransport()

    async def scenario() -> object:
        other = asyncio.create_task(tables.ending(log, bob))
        end = await tables.ending(log, alice, lambda table: CannotMove(table.name))
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        return end

    assert isinstance(run_virtual(scenario()), NotStuck)
    assert log.length() == DEALT_AND_TURNED_UP
