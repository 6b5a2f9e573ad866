"""Mallory at a table with somebody honest, on a signed log: whatever it says, a typed error names what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from copy import copy
from itertools import count

import pytest
from msgspec.structs import replace as replaced

from forcemove import ActionQueue, ForcemoveError, MalformedBytes
from forcemove.flow.actions import MalformedAction
from forcemove.flow.steps import Step, UnexpectedAction, run, sequence
from forcemove.flow.transport import MemoryTransport, Reader, Transport
from forcemove_games.sra import faults
from forcemove_games.sra.arithmetic import MODULUS, Numbers, decode_numbers, encode_number, encode_numbers, power
from forcemove_games.sra.cipher import CipherKey, DecryptionKey, card_numbers
from forcemove_games.sra.deck import STEPS, DisclosedKeys, false_step
from forcemove_games.sra.flow import auditing, card_turn, dealing, shuffling, turning_up
from forcemove_games.sra.table import CARDS, AllKeys, CardTable, Deal, Deck, DiscardCard, Draw, Serve, TurnUp
from tests.flow.table import signed
from tests.flow.virtual_time import run_virtual
from tests.games.sra.forgeries import FORGED
from tests.games.sra.shuffled import ALICE, BOB, SIZE, both, keys, stream
from tests.games.sra.tables import HOUR, discards_first, draws, table_of

Said = Deck | Deal | TurnUp | Draw | Serve | DiscardCard | AllKeys
Forge = Callable[[Said], Said]


class Forging:
    """Mallory's line: our client, but what it says is changed on the way."""

    def __init__(self, inner: Transport, forge: Forge) -> None:
        self._inner, self._forge = inner, forge

    async def post(self, message: bytes) -> None:
        await self._inner.post(CARDS.encode(self._forge(CARDS.decode(message))))

    def reader(self, start: int = 0) -> Reader:
        return self._inner.reader(start)

    def length(self) -> int:
        return self._inner.length()


def honest_against(
    forge: Forge, flow: Step[CardTable], honest: CardTable, mallory: CardTable, log: MemoryTransport | None = None
) -> object:
    """What the honest side ends with: None, or an error. `log`: what they say there, an own one where none is given."""
    log = log or MemoryTransport()

    async def client(transport: Transport, table: CardTable) -> object:
        try:
            await run(flow, ActionQueue(transport, CARDS), table)
        except ForcemoveError as error:
            return error
        return None

    async def scenario() -> object:
        cheating = asyncio.create_task(client(Forging(signed(log, mallory.name), forge), mallory))
        end = await client(signed(log, honest.name), honest)
        cheating.cancel()
        await asyncio.gather(cheating, return_exceptions=True)
        return end

    return run_virtual(scenario())


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


def by(cheat: CardTable, fault: faults.CardFault) -> faults.CardFault:
    """The fault, with the name of the client whose it is."""
    named = copy(fault)
    named.culprit = cheat.name
    return named


@pytest.mark.parametrize("step", range(STEPS))
@pytest.mark.parametrize("forgery", ON_WIRE)
def test_a_forged_deck_is_refused_in_every_step(step: int, forgery: str) -> None:
    forge, fault = ON_WIRE[forgery]
    mallory, honest = table_of(step % 2, shuffled=False), table_of(1 - step % 2, shuffled=False)
    end = honest_against(in_step(step, forge), shuffling(within=HOUR), honest, mallory)
    assert end == by(mallory, fault)
    assert honest.shuffle.step == step


FALSE = CipherKey.fresh(stream("false")).disclose().encode()
NO_KEY = MalformedAction(str(MalformedBytes("number", "it is not a text of 512 hex digits")), "bob")
KEYS_OF = [[key.encode() for key in keys(side)] for side in both()]


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (only(Serve, key=KEYS_OF[BOB][1]), faults.NoSuchCard(0, culprit="bob")),
        (only(Serve, key=FALSE), faults.NoSuchCard(0, culprit="bob")),
        (only(Serve, index=1), faults.KeyNotDue(BOB, 1, culprit="bob")),
        (only(Serve, index=-1), faults.KeyNotDue(BOB, -1, culprit="bob")),
        (only(Serve, key=encode_number(4)), faults.InvalidExponent(4, culprit="bob")),
        (lambda _: Draw("bob", 1), UnexpectedAction("bob", ("Serve",), Draw("bob", 1))),
        (lambda _: DiscardCard("bob", 0, FALSE), UnexpectedAction("bob", ("Serve",), DiscardCard("bob", 0, FALSE))),
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
        (only(Draw, index=1), faults.NotTheTop(0, 1, culprit="bob")),
        (lambda _: Serve("bob", 0, FALSE), UnexpectedAction("bob", ("Draw", "Discard"), Serve("bob", 0, FALSE))),
        (lambda _: DiscardCard("bob", 0, KEYS_OF[BOB][0]), faults.KeyNotDue(BOB, 0, culprit="bob")),
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
        (only(DiscardCard, key=KEYS_OF[BOB][1]), faults.NoSuchCard(0, culprit="bob")),
        (only(DiscardCard, key=FALSE), faults.NoSuchCard(0, culprit="bob")),
        (only(DiscardCard, index=1), faults.KeyGivenTwice(BOB, 1, culprit="bob")),
        (only(DiscardCard, index=2, key=KEYS_OF[BOB][2]), faults.KeyNotDue(BOB, 2, culprit="bob")),
        (only(DiscardCard, key=""), NO_KEY),
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
    assert alice.player.pile.laid == ()


def put_in_twice() -> Forge:
    """Mallory puts in the card at the top twice, the second time under one more key, which it takes off in phase 2."""
    extra = CipherKey.fresh(stream("extra"))
    first = in_step(1, lambda deck: (deck[0], extra.encrypt(deck[0]), *deck[2:]))
    second = in_step(3, lambda deck: (deck[0], extra.decrypt(deck[1]), *deck[2:]))
    return lambda action: second(first(action))


@pytest.mark.parametrize(
    ("forging", "fault"),
    [
        (put_in_twice, faults.CardTwice),
        (lambda: in_step(3, lambda deck: (deck[0] * 4 % MODULUS, *deck[1:])), faults.NoSuchCard),
        (lambda: in_step(3, lambda deck: (deck[1], deck[0], *deck[2:])), faults.NoSuchCard),
        (lambda: only(AllKeys, keys=()), faults.WrongCount),
        (lambda: only(AllKeys, keys=(FALSE,) * SIZE), faults.NoSuchCard),
        (lambda: only(AllKeys, keys=("",) * SIZE), MalformedAction),
        (lambda: only(AllKeys, keys=(encode_number(4),) * SIZE), faults.InvalidExponent),
        (lambda: only(AllKeys, phase_key=""), MalformedAction),
        (lambda: only(AllKeys, phase_key=encode_number(4)), faults.InvalidExponent),
    ],
    ids=[
        "a card twice",
        "a card changed",
        "permuted in phase 2",
        "no keys",
        "false keys",
        "rubbish",
        "no exponents",
        "no phase key",
        "a phase key that is none",
    ],
)
def test_whatever_was_done_to_the_deck_the_audit_finds_it(
    forging: Callable[[], Forge], fault: type[ForcemoveError]
) -> None:
    alice, bob = table_of(ALICE, shuffled=False), table_of(BOB, shuffled=False)
    end = honest_against(forging(), sequence(shuffling(within=HOUR), auditing(within=HOUR)), alice, bob)
    assert type(end) is fault
    assert isinstance(end, faults.CardFault | MalformedAction)
    assert (end.client_id if isinstance(end, MalformedAction) else end.culprit) == "bob"
    assert alice.order == ()


DUMMY = card_numbers(8)[7]
"""A square that is not a card of the deck of four."""


def after(first: Forge, second: Forge) -> Forge:
    return lambda action: second(first(action))


STACKED: dict[str, tuple[int, Callable[[], Forge]]] = {
    "a dummy in step 0": (0, lambda: in_step(0, lambda deck: (*deck[:-1], power(DUMMY, 3)))),
    "a dummy in step 1": (1, lambda: in_step(1, lambda deck: (power(DUMMY, 3), *deck[1:]))),
    "a dummy in step 2": (2, lambda: in_step(2, lambda deck: (*deck[:-1], power(DUMMY, 3)))),
    "a dummy in step 3": (3, lambda: in_step(3, lambda deck: (power(DUMMY, 3), *deck[1:]))),
    "permuted again in step 2": (2, lambda: in_step(2, lambda deck: deck[::-1])),
    "permuted again in step 3": (3, lambda: in_step(3, lambda deck: deck[::-1])),
    "a card twice": (1, put_in_twice),
    "alice's keys are false": (2, lambda: only(AllKeys, keys=(FALSE,) * SIZE)),
    "bob's keys are false": (3, lambda: only(AllKeys, keys=(FALSE,) * SIZE)),
    "alice's phase key is false, too": (
        0,
        lambda: after(in_step(2, lambda deck: deck[::-1]), only(AllKeys, phase_key=FALSE)),
    ),
    "bob's phase key is false, too": (
        1,
        lambda: after(in_step(3, lambda deck: deck[::-1]), only(AllKeys, phase_key=FALSE)),
    ),
}


async def read_log(log: MemoryTransport, reader: str) -> list[Said]:
    reading = signed(log, reader).reader()
    return [CARDS.decode(await reading.read()) for _ in range(log.length())]


@pytest.mark.parametrize("stacking", STACKED)
def test_all_who_read_the_log_know_who_stacked_the_deck(stacking: str) -> None:
    """Nobody has to be believed: it follows from the decks and the keys."""
    step, forging = STACKED[stacking]
    cheat = step % 2
    mallory, honest = table_of(cheat, shuffled=False), table_of(1 - cheat, shuffled=False)
    log = MemoryTransport()
    flow = sequence(shuffling(within=HOUR), auditing(within=HOUR))
    end = honest_against(forging(), flow, honest, mallory, log)
    assert isinstance(end, faults.CardFault)
    assert end.culprit == mallory.name
    assert honest.order == ()

    said = run_virtual(read_log(log, honest.name))
    decks = [decode_numbers(each.numbers) for each in said if isinstance(each, Deck)]
    shown = {each.client_id: decoded(each) for each in said if isinstance(each, AllKeys)}
    assert false_step(decks, (shown["alice"], shown["bob"])) == step


def decoded(action: AllKeys) -> DisclosedKeys:
    return DisclosedKeys(DecryptionKey.decode(action.phase_key), tuple(map(DecryptionKey.decode, action.keys)))


# ------------------------------------------------------------------------------------------- dealing and turning up


def key_of(seat: int, index: int) -> str:
    return KEYS_OF[seat][index]


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (only(Deal, keys=(key_of(BOB, 0),)), faults.WrongCount(2, 1)),
        (only(Deal, keys=tuple(KEYS_OF[BOB])), faults.WrongCount(2, SIZE)),
        (only(Deal, keys=(key_of(BOB, 1), key_of(BOB, 0))), faults.NoSuchCard(0)),
        (only(Deal, keys=(key_of(BOB, 0), key_of(BOB, 0))), faults.NoSuchCard(1)),
        (only(Deal, keys=(key_of(BOB, 0), FALSE)), faults.NoSuchCard(1)),
        (only(Deal, keys=(key_of(BOB, 0), encode_number(4))), faults.InvalidExponent(4)),
    ],
    ids=["too few", "too many", "exchanged", "one twice", "a false one", "no exponent"],
)
def test_who_deals_false_keys_is_named(forge: Forge, fault: faults.CardFault) -> None:
    alice, bob = table_of(ALICE), table_of(BOB)
    assert honest_against(forge, dealing(2, within=HOUR), alice, bob) == by(bob, fault)
    assert alice.player.hand == ()


def test_keys_that_are_none_are_the_fault_of_who_deals_them() -> None:
    end = honest_against(only(Deal, keys=("", "")), dealing(2, within=HOUR), table_of(ALICE), table_of(BOB))
    assert end == NO_KEY


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (only(TurnUp, key=FALSE), faults.NoSuchCard(2)),
        (only(TurnUp, key=key_of(BOB, 1)), faults.NoSuchCard(2)),
        (only(TurnUp, index=1, key=key_of(BOB, 1)), faults.KeyNotDue(BOB, 1)),
        (only(TurnUp, index=0, key=key_of(BOB, 0)), faults.KeyGivenTwice(BOB, 0)),
        (only(TurnUp, index=3, key=key_of(BOB, 3)), faults.KeyNotDue(BOB, 3)),
        (only(TurnUp, index=-1), faults.KeyNotDue(BOB, -1)),
    ],
    ids=["a false key", "another card's key", "its own card", "the other's card", "the next card", "no card"],
)
def test_who_turns_up_another_card_or_none_is_named(forge: Forge, fault: faults.CardFault) -> None:
    alice, bob = table_of(ALICE), table_of(BOB)
    flow = sequence(dealing(1, within=HOUR), turning_up(within=HOUR))
    assert honest_against(forge, flow, alice, bob) == by(bob, fault)
    assert alice.player.pile.laid == ()


def test_a_card_in_hand_is_not_laid_open_as_the_answer_to_a_draw() -> None:
    """It would change the game without a turn."""
    alice, bob = table_of(ALICE), table_of(BOB)
    flow = sequence(dealing(1, within=HOUR), card_turn(ALICE, draws, within=HOUR))
    forge = only(Serve, index=1, key=key_of(BOB, 1))
    assert honest_against(forge, flow, alice, bob) == by(bob, faults.KeyNotDue(BOB, 1))


def test_nobody_deals_or_turns_up_twice() -> None:
    again = Deal("bob", (key_of(BOB, 0),))
    forge: Forge = lambda action: again if isinstance(action, TurnUp) else action  # noqa: E731  # as `only`
    flow = sequence(dealing(1, within=HOUR), turning_up(within=HOUR))
    end = honest_against(forge, flow, table_of(ALICE), table_of(BOB))
    assert end == UnexpectedAction("bob", ("TurnUp",), again)
