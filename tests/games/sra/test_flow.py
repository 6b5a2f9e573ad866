"""Shuffling, drawing and discarding over a log: two clients, honest ones and one that cheats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random

import pytest

from channel.errors import ForcemoveError
from channel.flow.actions import MAX_ACTION, MAX_CLIENT_ID, MalformedAction
from channel.flow.queue import ActionQueue, said_before
from channel.flow.steps import NothingHeard, Step, UnexpectedAction, UnexpectedSender, repeat, run, sequence
from channel.flow.transport import MemoryTransport, Transport
from games.randomness import seeded
from games.sra.arithmetic import MODULUS, encode_number, encode_numbers
from games.sra.cipher import MAX_CARDS, Key, card_numbers
from games.sra.deck import begin
from games.sra.faults import (
    DrawNotAllowed,
    NoSuchCard,
    NotEncrypted,
    NothingToDraw,
    NotInHand,
    NotTheTop,
    NumberTwice,
    PileEmpty,
    WrongCount,
)
from games.sra.flow import CARDS, AllKeys, CardTable, Deck, Draw, Serve, auditing, card_turn, shuffling
from games.sra.pile import Pile
from tests.flow.table import Delayed, signed
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_virtual
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, order, stream
from tests.games.sra.tables import CLIENTS, HOUR, discards_first, draws, table_of


def play(flow: Step[CardTable], *tables: CardTable) -> Sequence[CardTable]:
    """Both run the flow, on a signed log."""

    async def story() -> None:
        log = MemoryTransport()
        async with asyncio.TaskGroup() as group:
            for table in tables:
                queue = ActionQueue(signed(log, table.name), CARDS)
                group.create_task(run(flow, queue, table))

    run_virtual(story())
    return tables


def against(table: CardTable, flow: Step[CardTable], *actions: Deck | Draw | Serve) -> None:
    """The flow, against a client that says just this."""

    async def story() -> None:
        log = MemoryTransport()
        queue = ActionQueue(log, CARDS)
        for action in actions:
            await queue.enqueue(action)
        await run(flow, queue, table)

    run_virtual(story())


def test_two_clients_shuffle_and_nobody_can_see_a_card() -> None:
    alice, bob = play(shuffling(within=HOUR), table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False))
    assert alice.shuffle.latest == bob.shuffle.latest
    assert alice.player.pile == bob.player.pile == Pile(alice.shuffle.latest)
    assert not set(alice.shuffle.latest) & set(card_numbers(SIZE))


def test_a_whole_game_of_draws_and_discards() -> None:
    flow = sequence(
        shuffling(within=HOUR),
        card_turn(ALICE, draws, within=HOUR),
        card_turn(BOB, draws, within=HOUR),
        card_turn(ALICE, draws, within=HOUR),
        card_turn(ALICE, discards_first, within=HOUR),
        card_turn(BOB, discards_first, within=HOUR),
        card_turn(BOB, draws, within=HOUR),
    )
    alice, bob = play(flow, table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False))
    assert alice.player.pile == bob.player.pile
    assert alice.discarded == bob.discarded
    cards = [card for table in (alice, bob) for _, card in table.player.hand] + alice.discarded
    assert sorted(cards) == list(range(SIZE))
    assert alice.player.pile.is_empty


def test_who_draws_sees_the_card_and_the_other_does_not() -> None:
    alice, bob = play(card_turn(ALICE, draws), table_of(ALICE), table_of(BOB))
    assert alice.player.hand == ((0, order()[0]),)
    assert bob.player.hand == ()
    assert bob.player.pile.places[0].card is None


def test_who_discards_shows_the_card_to_all() -> None:
    flow = sequence(card_turn(ALICE, draws), card_turn(ALICE, discards_first))
    alice, bob = play(flow, table_of(ALICE), table_of(BOB))
    assert alice.discarded == bob.discarded == [order()[0]]
    assert alice.player.hand == ()


def test_nothing_is_handed_over_where_the_game_does_not_allow_the_draw() -> None:
    bob = table_of(BOB, rule=lambda _pile, seat: seat == BOB)
    with pytest.raises(DrawNotAllowed) as refused:
        against(bob, card_turn(ALICE, draws), Draw("alice", 0))
    assert refused.value == DrawNotAllowed(ALICE, 0)
    assert bob.player.pile.top == 0


@pytest.mark.parametrize("index", [1, SIZE, -1])
def test_only_the_top_card_can_be_drawn(index: int) -> None:
    with pytest.raises(NotTheTop):
        against(table_of(BOB), card_turn(ALICE, draws), Draw("alice", index))


def test_a_key_that_opens_nothing_is_refused() -> None:
    alice = table_of(ALICE)
    wrong = Key.fresh(stream("wrong")).disclose().encode()
    with pytest.raises(NoSuchCard):
        against(alice, card_turn(ALICE, draws), Draw("alice", 0), Serve("bob", 0, wrong))
    assert alice.player.hand == ()


@pytest.mark.parametrize("key", ["", "0", "no hex", encode_number(5).upper()[:-1] + "F"])
def test_a_key_that_is_none_is_the_clients_fault_who_sent_it(key: str) -> None:
    with pytest.raises(MalformedAction) as refused:
        against(table_of(ALICE), card_turn(ALICE, draws), Draw("alice", 0), Serve("bob", 0, key))
    assert refused.value.client_id == "bob"


@pytest.mark.parametrize(
    ("cheat", "error"),
    [
        (lambda numbers: numbers[:-1], WrongCount),
        (lambda numbers: (numbers[1], *numbers[1:]), NumberTwice),
        (lambda numbers: (*card_numbers(SIZE)[:1], *numbers[1:]), NotEncrypted),
        (lambda numbers: (MODULUS - 1, *numbers[1:]), ForcemoveError),
    ],
    ids=["one short", "one twice", "one open", "out of range"],
)
def test_a_deck_that_is_none_is_refused(
    cheat: Callable[[tuple[int, ...]], tuple[int, ...]], error: type[ForcemoveError]
) -> None:
    table = table_of(BOB, shuffled=False)
    honest = both()[ALICE].decks[0]
    with pytest.raises(error):
        against(table, shuffling(), Deck("alice", tuple(encode_numbers(cheat(honest)))))
    assert table.shuffle.step == 0


def test_what_we_do_not_hold_we_cannot_discard() -> None:
    with pytest.raises(NotInHand):
        against(table_of(ALICE), card_turn(ALICE, lambda _: 0))


def test_it_is_one_clients_turn_and_no_others() -> None:
    with pytest.raises(UnexpectedSender):
        against(table_of(BOB), card_turn(ALICE, draws), Draw("bob", 0))
    with pytest.raises(UnexpectedAction):
        against(table_of(BOB), card_turn(ALICE, draws), Serve("alice", 0, "00"))


def test_silence_has_an_end() -> None:
    with pytest.raises(NothingHeard) as nothing:
        against(table_of(BOB, shuffled=False), shuffling(within=HOUR))
    assert nothing.value == NothingHeard(("alice",), HOUR)
    with pytest.raises(NothingHeard):
        against(table_of(BOB), card_turn(ALICE, draws, within=HOUR))
    with pytest.raises(NothingHeard) as unserved:
        against(table_of(ALICE), card_turn(ALICE, draws, within=HOUR))
    assert unserved.value == NothingHeard(("bob",), HOUR)


def test_who_crashes_in_a_hand_comes_back_to_it() -> None:
    """With its secret and the log alone: the same keys, the same shuffle, and nothing is said twice."""
    flow = sequence(
        shuffling(within=HOUR),
        card_turn(ALICE, draws, within=HOUR),
        card_turn(BOB, draws, within=HOUR),
        card_turn(ALICE, discards_first, within=HOUR),
    )

    async def client(log: Transport, seat: int) -> CardTable:
        randomness = seeded(bytes(31) + bytes((seat,)), b"hand 1")
        table = CardTable(CLIENTS, begin(SIZE, seat, randomness), randomness=randomness)
        transport = signed(log, table.name)
        said = await said_before(transport, CARDS, table.name)
        await run(flow, ActionQueue(transport, CARDS, said=said), table)
        return table

    async def story(number: int) -> bool:
        log, random = MemoryTransport(), Random(0)
        bob = asyncio.create_task(client(Delayed(log, random), BOB))
        crashed = await cancelled_at(number, client(Delayed(log, random), ALICE))
        alice = await client(Delayed(log, random), ALICE)
        assert (await bob).player.pile == alice.player.pile
        assert (await bob).discarded == alice.discarded
        assert log.length() == 4 + 2 + 2 + 1
        return crashed

    assert at_every_wait(story) > 12


# ---------------------------------------------------------------------------------------------------------------- audit


def test_when_the_hand_is_over_both_see_the_whole_deck() -> None:
    flow = sequence(shuffling(within=HOUR), card_turn(ALICE, draws), auditing(within=HOUR))
    alice, bob = play(flow, table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False))
    assert alice.order == bob.order
    assert sorted(alice.order) == list(range(SIZE))
    assert alice.player.hand == ((0, alice.order[0]),)


def test_the_keys_of_the_largest_deck_fit_into_an_action() -> None:
    keys = ("f" * 512,) * MAX_CARDS
    assert len(CARDS.encode(AllKeys("x" * MAX_CLIENT_ID, keys))) <= MAX_ACTION


def test_a_game_can_be_cancelled_wherever_it_waits() -> None:
    flow = sequence(shuffling(within=HOUR), card_turn(ALICE, draws), card_turn(BOB, draws))

    async def story(number: int) -> bool:
        log, alice, random = MemoryTransport(), table_of(ALICE, shuffled=False), Random(0)
        bob = asyncio.create_task(
            run(flow, ActionQueue(signed(Delayed(log, random), "bob"), CARDS), table_of(BOB, shuffled=False))
        )
        cancelled = await cancelled_at(
            number, run(flow, ActionQueue(signed(Delayed(log, random), "alice"), CARDS), alice)
        )
        bob.cancel()
        await asyncio.gather(bob, return_exceptions=True)
        assert cancelled or len(alice.player.hand) == 1
        return cancelled

    assert at_every_wait(story) > 12


def test_nothing_is_drawn_from_an_empty_pile() -> None:
    alice, bob = play(repeat(card_turn(ALICE, draws, within=HOUR), SIZE), table_of(ALICE), table_of(BOB))
    with pytest.raises(PileEmpty):
        against(alice, card_turn(BOB, draws), Draw("bob", SIZE))
    with pytest.raises(NothingToDraw):
        against(bob, card_turn(BOB, draws))


def test_who_keeps_its_keys_to_itself_is_named() -> None:
    with pytest.raises(NothingHeard) as nothing:
        against(table_of(ALICE), auditing(within=HOUR))
    assert nothing.value == NothingHeard(("bob",), HOUR)
