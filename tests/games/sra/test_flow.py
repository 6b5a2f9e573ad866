"""Shuffling, drawing and discarding over a log: two clients, honest ones and one that cheats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from forcemove import ActionQueue, ForcemoveError, InvalidValue, said_before
from forcemove.flow.actions import Action, ActionCodec, MalformedAction
from forcemove.flow.steps import ActionMissing, Step, UnexpectedAction, UnexpectedSender, repeat, run, sequence
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove.protocol.codec.limits import MAX_ACTION, MAX_CLIENT_ID
from forcemove_games.randomness import seeded
from forcemove_games.sra import arithmetic, cipher, deck, faults, pile
from forcemove_games.sra.flow import (
    Choose,
    auditing,
    card_turn,
    dealing,
    discarding,
    drawing,
    receiving,
    shuffling,
    turning_up,
)
from forcemove_games.sra.table import CARDS, AllKeys, CardTable, Deck, DiscardCard, Draw, Serve
from tests.expected import raising
from tests.flow.table import Delayed, signed
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_virtual
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, order, stream
from tests.games.sra.tables import CLIENTS, HOUR, discards_first, draws, table_of


def play(
    flow: Step[CardTable],
    *tables: CardTable,
    log: MemoryTransport | None = None,
    codec: ActionCodec[Any] = CARDS,
) -> Sequence[CardTable]:
    """Both run the flow, on a signed log."""
    on = log or MemoryTransport()

    async def scenario() -> None:
        async with asyncio.TaskGroup() as group:
            for table in tables:
                group.create_task(run(flow, ActionQueue(signed(on, table.name), codec), table))

    run_virtual(scenario())
    return tables


def against(table: CardTable, flow: Step[CardTable], *actions: Deck | Draw | DiscardCard | Serve) -> None:
    """The flow, against a client that says just this."""

    async def scenario() -> None:
        log = MemoryTransport()
        queue = ActionQueue(log, CARDS)
        for action in actions:
            await queue.enqueue(action)
        await run(flow, queue, table)

    run_virtual(scenario())


def test_two_clients_shuffle_and_nobody_can_see_a_card() -> None:
    alice, bob = play(shuffling(within=HOUR), table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False))
    assert alice.shuffle.latest == bob.shuffle.latest
    assert alice.player.pile == bob.player.pile == pile.Pile(alice.shuffle.latest)
    assert not set(alice.shuffle.latest) & set(cipher.card_numbers(SIZE))


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
    cards = [card for table in (alice, bob) for _, card in table.player.hand] + list(alice.player.pile.laid)
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
    assert alice.player.pile.laid == bob.player.pile.laid == (order()[0],)
    assert alice.player.hand == ()


def test_nothing_is_handed_over_where_the_game_does_not_allow_the_draw() -> None:
    bob = table_of(BOB, rules=pile.PileRules(may_draw=lambda _pile, seat: seat == BOB))
    with raising(faults.DrawNotAllowed(ALICE, 0, culprit="alice")):
        against(bob, card_turn(ALICE, draws), Draw("alice", 0))
    assert bob.player.pile.top == 0


def test_our_own_forbidden_draw_is_our_own_error_and_nothing_is_posted() -> None:
    log, alice = MemoryTransport(), table_of(ALICE, rules=pile.PileRules(may_draw=lambda _pile, seat: seat == BOB))

    async def scenario() -> None:
        await run(card_turn(ALICE, draws, within=HOUR), ActionQueue(log, CARDS), alice)

    with pytest.raises(faults.OurDrawNotAllowed):
        run_virtual(scenario())
    assert log.length() == 0


def no_discards(_pile: pile.Pile, _seat: int, _card: int) -> bool:
    return False


def test_our_own_forbidden_discard_is_our_own_error_and_nothing_is_posted() -> None:
    alice, _ = play(card_turn(ALICE, draws), table_of(ALICE), table_of(BOB))
    log, alice.rules = MemoryTransport(), pile.PileRules(may_discard=no_discards)

    async def scenario() -> None:
        await run(card_turn(ALICE, discards_first, within=HOUR), ActionQueue(log, CARDS), alice)

    with raising(faults.OurDiscardNotAllowed(0, order()[0])):
        run_virtual(scenario())
    assert log.length() == 0


def test_a_discard_that_the_game_does_not_allow_is_refused() -> None:
    alice, bob = play(card_turn(ALICE, draws), table_of(ALICE), table_of(BOB))
    discard, bob.rules = alice.discard(0), pile.PileRules(may_discard=no_discards)
    with raising(faults.DiscardNotAllowed(ALICE, 0, order()[0], culprit="alice")):
        against(bob, card_turn(ALICE, discards_first), discard)
    assert bob.player.pile.laid == ()


@pytest.mark.parametrize(
    "choose",
    [
        lambda _: Draw("alice", 1),
        lambda _: Draw("bob", 0),
        lambda _: DiscardCard("alice", 0, "00"),
        lambda _: Serve("alice", 0, "00"),
    ],
    ids=["another card", "in another's name", "a card that we do not hold", "what is not a turn"],
)
def test_what_we_choose_is_checked_before_it_is_posted(choose: Callable[[CardTable], Action]) -> None:
    log = MemoryTransport()

    async def scenario() -> None:
        await run(card_turn(ALICE, choose, within=HOUR), ActionQueue(log, CARDS), table_of(ALICE))

    with pytest.raises((InvalidValue, faults.NotInHand)):
        run_virtual(scenario())
    assert log.length() == 0


def test_a_hand_is_dealt_with_one_message_a_side() -> None:
    log, tables = MemoryTransport(), (table_of(ALICE), table_of(BOB))
    play(dealing(2, within=HOUR), *tables, log=log)
    assert log.length() == 2
    assert [[card for _, card in table.player.hand] for table in tables] == [list(order()[:2]), list(order()[2:])]
    assert tables[ALICE].player.pile == tables[BOB].player.pile


@pytest.mark.parametrize("count", [0, -1, True])
def test_a_hand_has_a_card_at_least(count: int) -> None:
    with pytest.raises(InvalidValue):
        dealing(count)


def test_a_card_is_turned_up_for_both() -> None:
    alice, bob = play(sequence(dealing(1), turning_up(within=HOUR), turning_up()), table_of(ALICE), table_of(BOB))
    assert alice.player.pile == bob.player.pile
    assert alice.player.pile.laid == order()[2:]


class Wave(Action, frozen=True):
    """What a game adds: a turn in which nothing happens to the cards."""


async def waves(table: CardTable) -> Wave:
    await asyncio.sleep(HOUR)  # somebody thinks about it
    return Wave(table.name)


def test_a_game_has_actions_of_its_own() -> None:
    seen: list[str] = []

    def wave(action: Wave, table: CardTable) -> None:
        seen.append(f"{table.name} sees {action.client_id}")

    def turn(seat: int, choose: Choose[CardTable]) -> Step[CardTable]:
        return card_turn(
            seat, choose, {Draw: drawing(), DiscardCard: discarding(), Wave: receiving(wave, expects=Wave)}
        )

    flow = [turn(ALICE, draws), turn(BOB, waves), turn(ALICE, discards_first)]
    alice, bob = play(sequence(flow), table_of(ALICE), table_of(BOB), codec=ActionCodec(*CARDS.types, Wave))
    assert sorted(seen) == ["alice sees bob", "bob sees bob"]
    assert alice.player.pile.laid == bob.player.pile.laid == order()[:1]


def test_the_mover_may_depend_on_the_table() -> None:
    def next_seat(table: CardTable) -> int:
        return table.player.pile.top % 2

    alice, _ = play(repeat(card_turn(next_seat, draws), SIZE), table_of(ALICE), table_of(BOB))
    assert [alice.player.pile.held_by(seat) for seat in (ALICE, BOB)] == [(0, 2), (1, 3)]


def test_a_table_is_for_two_clients() -> None:
    for clients in (("alice", "alice"), ("alice",), ("alice", "bob", "carol")):
        with pytest.raises(InvalidValue):
            CardTable(clients, both()[ALICE])  # type: ignore[arg-type]  # what callers without types may write


@pytest.mark.parametrize("index", [1, SIZE, -1])
def test_only_the_top_card_can_be_drawn(index: int) -> None:
    with pytest.raises(faults.NotTheTop):
        against(table_of(BOB), card_turn(ALICE, draws), Draw("alice", index))


def test_a_key_that_opens_nothing_is_refused() -> None:
    alice = table_of(ALICE)
    wrong = cipher.CipherKey.fresh(stream("wrong")).disclose().encode()
    with pytest.raises(faults.NoSuchCard):
        against(alice, card_turn(ALICE, draws), Draw("alice", 0), Serve("bob", 0, wrong))
    assert alice.player.hand == ()


@pytest.mark.parametrize("key", ["", "0", "no hex", arithmetic.encode_number(5).upper()[:-1] + "F"])
def test_a_key_that_is_none_is_the_clients_fault_who_sent_it(key: str) -> None:
    with pytest.raises(MalformedAction) as refused:
        against(table_of(ALICE), card_turn(ALICE, draws), Draw("alice", 0), Serve("bob", 0, key))
    assert refused.value.client_id == "bob"


@pytest.mark.parametrize(
    ("cheat", "error"),
    [
        (lambda numbers: numbers[:-1], faults.WrongCount),
        (lambda numbers: (numbers[1], *numbers[1:]), faults.NumberTwice),
        (lambda numbers: (*cipher.card_numbers(SIZE)[:1], *numbers[1:]), faults.NotEncrypted),
        (lambda numbers: (arithmetic.MODULUS - 1, *numbers[1:]), ForcemoveError),
    ],
    ids=["one short", "one twice", "one open", "out of range"],
)
def test_a_deck_that_is_none_is_refused(
    cheat: Callable[[tuple[int, ...]], tuple[int, ...]], error: type[ForcemoveError]
) -> None:
    table = table_of(BOB, shuffled=False)
    honest = both()[ALICE].decks[0]
    with pytest.raises(error):
        against(table, shuffling(), Deck("alice", tuple(arithmetic.encode_numbers(cheat(honest)))))
    assert table.shuffle.step == 0


def test_what_we_do_not_hold_we_cannot_discard() -> None:
    with pytest.raises(faults.NotInHand):
        against(table_of(ALICE), card_turn(ALICE, lambda table: table.discard(0)))


def test_it_is_one_clients_turn_and_no_others() -> None:
    with pytest.raises(UnexpectedSender):
        against(table_of(BOB), card_turn(ALICE, draws), Draw("bob", 0))
    with pytest.raises(UnexpectedAction):
        against(table_of(BOB), card_turn(ALICE, draws), Serve("alice", 0, "00"))


def test_silence_has_an_end() -> None:
    with raising(ActionMissing(("alice",), HOUR)):
        against(table_of(BOB, shuffled=False), shuffling(within=HOUR))
    with pytest.raises(ActionMissing):
        against(table_of(BOB), card_turn(ALICE, draws, within=HOUR))
    with raising(ActionMissing(("bob",), HOUR)):
        against(table_of(ALICE), card_turn(ALICE, draws, within=HOUR))


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
        table = CardTable(CLIENTS, deck.begin(SIZE, seat, randomness), randomness=randomness)
        transport = signed(log, table.name)
        said = await said_before(transport, CARDS, table.name)
        await run(flow, ActionQueue(transport, CARDS, said=said), table)
        return table

    async def scenario(number: int) -> bool:
        log, random = MemoryTransport(), Random(0)
        bob = asyncio.create_task(client(Delayed(log, random), BOB))
        crashed = await cancelled_at(number, client(Delayed(log, random), ALICE))
        alice = await client(Delayed(log, random), ALICE)
        assert (await bob).player.pile == alice.player.pile
        assert log.length() == 4 + 2 + 2 + 1
        return crashed

    assert at_every_wait(scenario) > 12


# ---------------------------------------------------------------------------------------------------------------- audit


def test_when_the_hand_is_over_both_see_the_whole_deck() -> None:
    flow = sequence(shuffling(within=HOUR), card_turn(ALICE, draws), auditing(within=HOUR))
    alice, bob = play(flow, table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False))
    assert alice.order == bob.order
    assert sorted(alice.order) == list(range(SIZE))
    assert alice.player.hand == ((0, alice.order[0]),)


def test_the_keys_of_the_largest_deck_fit_into_an_action() -> None:
    keys = ("f" * 512,) * cipher.MAX_CARDS
    assert len(CARDS.encode(AllKeys("x" * MAX_CLIENT_ID, keys[0], keys))) <= MAX_ACTION


def test_a_game_can_be_cancelled_wherever_it_waits() -> None:
    flow = sequence(shuffling(within=HOUR), card_turn(ALICE, draws), card_turn(BOB, draws))

    async def scenario(number: int) -> bool:
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

    assert at_every_wait(scenario) > 12


def test_nothing_is_drawn_from_an_empty_pile() -> None:
    alice, bob = play(repeat(card_turn(ALICE, draws, within=HOUR), SIZE), table_of(ALICE), table_of(BOB))
    with pytest.raises(faults.PileEmpty):
        against(alice, card_turn(BOB, draws), Draw("bob", SIZE))
    with pytest.raises(faults.NoCardToDraw):
        against(bob, card_turn(BOB, draws))


def test_who_keeps_its_keys_to_itself_is_named() -> None:
    with raising(ActionMissing(("bob",), HOUR)):
        against(table_of(ALICE), auditing(within=HOUR))
