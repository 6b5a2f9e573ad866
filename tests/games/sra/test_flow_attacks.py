"""Mallory at a table with somebody honest, on a signed log: whatever it says, a typed error names what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count

import pytest
from msgspec.structs import replace as replaced

from channel.errors import ForcemoveError, MalformedBytes
from channel.flow.actions import MalformedAction
from channel.flow.queue import ActionQueue
from channel.flow.steps import Step, UnexpectedAction, run, sequence
from channel.flow.transport import MemoryTransport, Reader, Transport
from games.sra.arithmetic import MODULUS, Numbers, decode_numbers, encode_number, encode_numbers
from games.sra.cipher import Key, card_numbers
from games.sra.deck import STEPS
from games.sra.faults import CardTwice, InvalidExponent, KeyNotDue, KeyTwice, NoSuchCard, NotTheTop, WrongCount
from games.sra.flow import CARDS, AllKeys, CardTable, Deck, Discard, Draw, Serve, auditing, card_turn, shuffling
from tests.flow.table import signed
from tests.flow.virtual_time import run_virtual
from tests.games.sra.forgeries import FORGED
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, keys, stream
from tests.games.sra.tables import HOUR, discards_first, draws, table_of

Said = Deck | Draw | Serve | Discard | AllKeys
Forge = Callable[[Said], Said]


class Forging:
    """Mallory's line: a client of ours, but what it says is changed on the way."""

    def __init__(self, inner: Transport, forge: Forge) -> None:
        self._inner, self._forge = inner, forge

    async def post(self, message: bytes) -> None:
        await self._inner.post(CARDS.encode(self._forge(CARDS.decode(message))))

    def reader(self, start: int = 0) -> Reader:
        return self._inner.reader(start)

    def length(self) -> int:
        return self._inner.length()


def honest_against(forge: Forge, flow: Step[CardTable], honest: CardTable, mallory: CardTable) -> object:
    """What the honest side ends with: None, or an error."""

    async def client(transport: Transport, table: CardTable) -> object:
        try:
            await run(flow, ActionQueue(transport, CARDS), table)
        except ForcemoveError as error:
            return error
        return None

    async def story() -> object:
        log = MemoryTransport()
        cheating = asyncio.create_task(client(Forging(signed(log, mallory.name), forge), mallory))
        end = await client(signed(log, honest.name), honest)
        cheating.cancel()
        await asyncio.gather(cheating, return_exceptions=True)
        return end

    return run_virtual(story())


def in_step(step: int, forge: Callable[[Numbers], Sequence[int]]) -> Forge:
    """Changes the deck that mallory sends in this step. It counts them, so it is good for one shuffle."""
    decks = count(step % 2, 2)

    def forging(action: Said) -> Said:
        if isinstance(action, Deck) and next(decks) == step:
            return replaced(action, numbers=encode_numbers(forge(decode_numbers(action.numbers))))
        return action

    return forging


def only(type_: type[Said], **changes: object) -> Forge:
    """Changes what mallory says of one type."""
    return lambda action: replaced(action, **changes) if isinstance(action, type_) else action


ON_WIRE = {
    name: (forge, fault)
    for name, (forge, fault) in FORGED.items()
    if all(type(number) is int and 0 <= number < 2**2048 for number in forge(card_numbers(SIZE)))
}


@pytest.mark.parametrize("step", range(STEPS))
@pytest.mark.parametrize("forgery", ON_WIRE)
def test_a_forged_deck_is_refused_in_every_step(step: int, forgery: str) -> None:
    forge, fault = ON_WIRE[forgery]
    mallory, honest = table_of(step % 2, shuffled=False), table_of(1 - step % 2, shuffled=False)
    assert honest_against(in_step(step, forge), shuffling(within=HOUR), honest, mallory) == fault
    assert honest.shuffle.step == step


FALSE = Key.fresh(stream("false")).disclose().encode()
NO_KEY = MalformedAction(str(MalformedBytes("number", "it is not a text of 512 hex digits")), "bob")
KEYS_OF = [[key.encode() for key in keys(side)] for side in both()]


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (only(Serve, key=KEYS_OF[BOB][1]), NoSuchCard(0)),
        (only(Serve, key=FALSE), NoSuchCard(0)),
        (only(Serve, index=1), KeyNotDue(BOB, 1)),
        (only(Serve, index=-1), KeyNotDue(BOB, -1)),
        (only(Serve, key=encode_number(4)), InvalidExponent(4)),
        (lambda _: Draw("bob", 1), UnexpectedAction("bob", ("Serve",), Draw("bob", 1))),
        (lambda _: Discard("bob", 0, FALSE), UnexpectedAction("bob", ("Serve",), Discard("bob", 0, FALSE))),
    ],
    ids=["another card's key", "a false key", "another card", "no card", "no key", "draws himself", "discards himself"],
)
def test_who_draws_gets_the_right_key_or_knows_better(forge: Forge, fault: ForcemoveError) -> None:
    alice = table_of(ALICE)
    assert honest_against(forge, card_turn(ALICE, draws, within=HOUR), alice, table_of(BOB)) == fault
    assert alice.player.hand == ()


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (only(Draw, index=1), NotTheTop(0, 1)),
        (lambda _: Serve("bob", 0, FALSE), UnexpectedAction("bob", ("Draw", "Discard"), Serve("bob", 0, FALSE))),
        (lambda _: Discard("bob", 0, KEYS_OF[BOB][0]), KeyNotDue(BOB, 0)),
    ],
    ids=["another card than the top", "a key that nobody asked for", "discards what is in the pile"],
)
def test_who_serves_gives_no_key_to_a_cheat(forge: Forge, fault: ForcemoveError) -> None:
    alice = table_of(ALICE)
    assert honest_against(forge, card_turn(BOB, draws, within=HOUR), alice, table_of(BOB)) == fault
    assert alice.player.pile.places == ()


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (only(Discard, key=KEYS_OF[BOB][1]), NoSuchCard(0)),
        (only(Discard, key=FALSE), NoSuchCard(0)),
        (only(Discard, index=1), KeyTwice(BOB, 1)),
        (only(Discard, index=2, key=KEYS_OF[BOB][2]), KeyNotDue(BOB, 2)),
        (only(Discard, key=""), NO_KEY),
    ],
    ids=["another card's key", "a false key", "the other's card", "a card of the pile", "no key"],
)
def test_what_is_discarded_is_checked_by_everybody(forge: Forge, fault: ForcemoveError) -> None:
    alice = table_of(ALICE)
    flow = sequence(
        card_turn(BOB, draws, within=HOUR),
        card_turn(ALICE, draws, within=HOUR),
        card_turn(BOB, discards_first, within=HOUR),
    )
    assert honest_against(forge, flow, alice, table_of(BOB)) == fault
    assert alice.discarded == []


def put_in_twice() -> Forge:
    """Mallory puts in the card at the top twice, the second time under one more key, which it takes off in phase 2."""
    extra = Key.fresh(stream("extra"))
    first = in_step(1, lambda deck: (deck[0], extra.encrypt(deck[0]), *deck[2:]))
    second = in_step(3, lambda deck: (deck[0], extra.decrypt(deck[1]), *deck[2:]))
    return lambda action: second(first(action))


@pytest.mark.parametrize(
    ("forging", "fault"),
    [
        (put_in_twice, CardTwice),
        (lambda: in_step(3, lambda deck: (deck[0] * 4 % MODULUS, *deck[1:])), NoSuchCard),
        (lambda: in_step(3, lambda deck: (deck[1], deck[0], *deck[2:])), NoSuchCard),
        (lambda: only(AllKeys, keys=()), WrongCount),
        (lambda: only(AllKeys, keys=(FALSE,) * SIZE), NoSuchCard),
        (lambda: only(AllKeys, keys=("",) * SIZE), MalformedAction),
        (lambda: only(AllKeys, keys=(encode_number(4),) * SIZE), InvalidExponent),
    ],
    ids=["a card twice", "a card changed", "permuted in phase 2", "no keys", "false keys", "rubbish", "no exponents"],
)
def test_whatever_was_done_to_the_deck_the_audit_finds_it(
    forging: Callable[[], Forge], fault: type[ForcemoveError]
) -> None:
    alice, bob = table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False)
    end = honest_against(forging(), sequence(shuffling(within=HOUR), auditing(within=HOUR)), alice, bob)
    assert type(end) is fault
    assert alice.order == ()
