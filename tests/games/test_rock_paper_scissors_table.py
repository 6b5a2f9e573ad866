"""Rock-paper-scissors around a table: two plays, two reveals, and everything that a cheat may say instead."""

from __future__ import annotations

import asyncio
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channel.errors import ForcemoveError, InvalidValue
from channel.flow.actions import MalformedAction
from channel.flow.keys import exchange_keys
from channel.flow.queue import ActionQueue
from channel.flow.steps import NothingHeard, UnexpectedAction, UnexpectedSender, run
from channel.flow.transport import MemoryTransport, Transport
from games.commitment import Opening
from games.rock_paper_scissors.position import Weapon
from games.rock_paper_scissors.table import (
    ROUND,
    Play,
    PlayedTwice,
    Reveal,
    RevealedTwice,
    Round,
    WrongOpening,
    play_round,
)
from tests.flow.table import ADDRESSES, KEYS, TABLE_ID, Delayed
from tests.flow.virtual_time import run_virtual

HOUR = 3600.0
BOTH = ("alice", "bob")
ROCK, PAPER, SCISSORS = Weapon
BOBS = Opening(int(PAPER), b"\x0b" * 32)


def round_of(name: str, weapon: Weapon = ROCK) -> Round:
    return Round(TABLE_ID, name, BOTH, weapon)


async def sit_down(log: Transport, name: str, weapon: Weapon) -> Round:
    """Exchanges keys, then plays on the signed transport."""
    expected = [ADDRESSES[each] for each in BOTH]
    table = await exchange_keys(log, TABLE_ID, name, KEYS[name], expected, within=HOUR)
    round_ = Round(table.table_id, name, BOTH, weapon)
    await run(play_round(within=HOUR), ActionQueue(table.transport, ROUND), round_)
    return round_


def faced_with(*actions: Play | Reveal, names: tuple[str, ...] = BOTH[:1]) -> list[ForcemoveError | Round]:
    """What clients end with on whose log bob says this: before they play where it is a play, else when they have."""

    async def client(log: MemoryTransport, name: str) -> ForcemoveError | Round:
        round_, queue = round_of(name), ActionQueue(log, ROUND)
        try:
            await run(play_round(within=HOUR), queue, round_)
        except ForcemoveError as error:
            return error
        return round_

    async def story() -> list[ForcemoveError | Round]:
        log = MemoryTransport()
        queue = ActionQueue(log, ROUND)
        playing = [asyncio.create_task(client(log, name)) for name in names]
        for action in actions:
            await asyncio.sleep(1)
            await queue.enqueue(action)
        return await asyncio.gather(*playing)

    return run_virtual(story())


def commitment(opening: Opening, name: str = "bob", table: bytes = TABLE_ID) -> str:
    return Round(table, "alice", BOTH, ROCK).commitment_of(name, opening)


PLAYED = Play("bob", commitment(BOBS))
REVEALED = Reveal("bob", int(PAPER), BOBS.salt.hex())


@pytest.mark.parametrize(("mine", "others"), list(product(Weapon, Weapon)))
def test_both_know_who_has_won(mine: Weapon, others: Weapon) -> None:
    async def story() -> None:
        log = MemoryTransport()
        alice, bob = await asyncio.gather(sit_down(log, "alice", mine), sit_down(log, "bob", others))
        winner = None if mine == others else "alice" if mine.beats(others) else "bob"
        assert alice.winner == bob.winner == winner
        assert alice.weapons == bob.weapons == {"alice": mine, "bob": others}

    run_virtual(story())


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_plays_and_of_reveals_does_not_matter(random: Random) -> None:
    async def story() -> None:
        log = MemoryTransport()
        joining = (sit_down(Delayed(log, random), name, weapon) for name, weapon in (("alice", ROCK), ("bob", PAPER)))
        assert [round_.winner for round_ in await asyncio.gather(*joining)] == ["bob", "bob"]

    run_virtual(story())


def test_what_was_said_is_enough() -> None:
    [alice] = faced_with(PLAYED, REVEALED)
    assert isinstance(alice, Round)
    assert alice.winner == "bob"


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ((PLAYED, PLAYED), None),
        ((REVEALED,), UnexpectedAction("bob", ("Play",), REVEALED)),
        ((Play("mallory", "00"),), UnexpectedSender("mallory", BOTH, Play("mallory", "00"))),
        ((PLAYED, Reveal("bob", int(ROCK), BOBS.salt.hex())), WrongOpening("bob")),
        ((PLAYED, Reveal("bob", int(PAPER), bytes(32).hex())), WrongOpening("bob")),
        ((Play("bob", "no hash"), REVEALED), WrongOpening("bob")),
        ((Play("bob", commitment(BOBS, table=bytes(32))), REVEALED), WrongOpening("bob")),
        ((Play("bob", commitment(BOBS, "alice")), REVEALED), WrongOpening("bob")),
    ],
    ids=["a second play", "a reveal before the last play", "a stranger", "another weapon", "another salt", "no hash",
         "another table's", "another client's"],
)  # fmt: skip
def test_a_cheat_is_named(actions: tuple[Play | Reveal, ...], error: ForcemoveError | None) -> None:
    [found] = faced_with(*actions)
    assert found == (error or UnexpectedAction("bob", ("Reveal",), PLAYED))


def test_nobody_plays_twice_while_the_other_has_not_played() -> None:
    with pytest.raises(PlayedTwice):
        run_virtual(run(play_round(), _filled(PLAYED, PLAYED), round_of("alice")))


def test_nobody_reveals_twice() -> None:
    with pytest.raises(RevealedTwice):
        run_virtual(run(play_round(), _filled(PLAYED, Play("alice", "00"), REVEALED, REVEALED), round_of("alice")))


def _filled(*actions: Play | Reveal) -> ActionQueue[Play | Reveal]:
    return ActionQueue(MemoryTransport(), ROUND, preseed=actions)


@pytest.mark.parametrize("reveal", [Reveal("bob", 3, "00" * 32), Reveal("bob", -1, "00" * 32), Reveal("bob", 0, "00"),
                                    Reveal("bob", 0, "no hex")])  # fmt: skip
def test_a_reveal_that_is_none_is_refused(reveal: Reveal) -> None:
    [found] = faced_with(PLAYED, reveal)
    assert isinstance(found, MalformedAction)
    assert found.client_id == "bob"


def test_a_copied_commitment_opens_nothing() -> None:
    """Mallory sits in bob's seat, plays what alice has played, and says what alice says."""

    async def story() -> None:
        log = MemoryTransport()
        queue, reading = ActionQueue(log, ROUND), ActionQueue(log, ROUND)
        playing = asyncio.create_task(run(play_round(within=HOUR), ActionQueue(log, ROUND), round_of("alice")))
        copied = await reading.dequeue()
        assert isinstance(copied, Play)
        await queue.enqueue(Play("bob", copied.commitment))
        await reading.dequeue()
        opened = await reading.dequeue()
        assert isinstance(opened, Reveal)
        await queue.enqueue(Reveal("bob", opened.weapon, opened.salt))
        with pytest.raises(WrongOpening) as wrong:
            await playing
        assert wrong.value == WrongOpening("bob")

    run_virtual(story())


def test_silence_is_the_others_fault() -> None:
    assert faced_with() == [NothingHeard(BOTH, HOUR)]
    assert faced_with(PLAYED) == [NothingHeard(BOTH, HOUR)]


def test_a_round_is_for_two() -> None:
    for clients in (("alice", "alice"), ("bob", "carol")):
        with pytest.raises(InvalidValue):
            Round(TABLE_ID, "alice", clients, ROCK)


@pytest.mark.parametrize("patience", range(10))
def test_a_round_can_be_cancelled_wherever_it_waits(patience: int) -> None:
    async def story() -> None:
        log = MemoryTransport()
        playing = asyncio.create_task(sit_down(log, "alice", ROCK))
        other = asyncio.create_task(sit_down(log, "bob", PAPER))
        for _ in range(patience):
            await asyncio.sleep(0)
        playing.cancel()
        other.cancel()
        await asyncio.gather(playing, other, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtual(story())
