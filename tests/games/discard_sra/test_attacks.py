"""Mallory at a table with somebody honest: a typed error names it, and no result counts, for either of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace as replaced

from forcemove import ForcemoveError, MemoryTransport, SignedTransport
from forcemove.flow.actions import Action, MalformedAction
from forcemove.flow.steps import UnexpectedAction, UnexpectedSender
from forcemove.protocol.signing import Key as SigningKey
from forcemove_games.discard_sra.cards import SIZE, fits, names
from forcemove_games.discard_sra.rules import CouldMove, DiscardPhase, Kind, Move, PileNotEmpty, Position
from forcemove_games.discard_sra.table import ACTIONS, CannotMove
from forcemove_games.sra import faults
from forcemove_games.sra.arithmetic import MODULUS, encode_number, encode_numbers
from forcemove_games.sra.cipher import CipherKey, card_number
from forcemove_games.sra.table import AllKeys, Deal, Deck, DiscardCard, Draw, Serve, TurnUp
from tests.flow.table import KEYS, MALLORY, TABLE_ID, signed
from tests.flow.virtual_time import run_virtual
from tests.games.discard_sra.mallory import (
    Forge,
    blamed,
    honest_against,
    instead,
    only,
    seated_with,
    sitting,
    with_a_card_twice,
    with_a_dummy,
)
from tests.games.discard_sra.referee import CLIENTS, judged
from tests.games.discard_sra.tables import anything, best, by, play, said, seated, shuffled, table_of
from tests.games.sra.forgeries import NO_SQUARE
from tests.games.sra.shuffled import ALICE, BOB, keys, stream

FALSE = CipherKey.fresh(stream("false")).disclose().encode()
KEYS_OF = [[key.encode() for key in keys(side)] for side in shuffled()]
BOBS = KEYS_OF[BOB]
DECKS = [Deck(CLIENTS[step % 2], encode_numbers(numbers)) for step, numbers in enumerate(shuffled()[ALICE].decks)]
"""What the log would begin with if the deck were not shuffled already."""


def draws(position: Position) -> Move:
    """As long as it can: then somebody must serve."""
    return Move(Kind.DRAW) if position.left else position.moves[0]


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (lambda: only(Deal, keys=tuple(BOBS[:4])), faults.WrongCount),
        (lambda: only(Deal, keys=tuple(BOBS[:6])), faults.WrongCount),
        (lambda: only(Deal, keys=(BOBS[1], BOBS[0], *BOBS[2:5])), faults.NoSuchCard),
        (lambda: only(Deal, keys=(*BOBS[:4], BOBS[0])), faults.NoSuchCard),
        (lambda: only(Deal, keys=(*BOBS[:4], FALSE)), faults.NoSuchCard),
        (lambda: only(Deal, keys=(*BOBS[:4], encode_number(4))), faults.InvalidExponent),
        (lambda: only(Deal, keys=(*BOBS[:4], encode_number(MODULUS))), faults.InvalidExponent),
        (lambda: only(Deal, keys=(*BOBS[:4], "00")), MalformedAction),
        (lambda: instead(Deal, lambda deal: (deal, deal)), UnexpectedAction),
        (lambda: only(TurnUp, key=FALSE), faults.NoSuchCard),
        (lambda: only(TurnUp, key=BOBS[11]), faults.NoSuchCard),
        (lambda: only(TurnUp, index=11, key=BOBS[11]), faults.KeyNotDue),
        (lambda: only(TurnUp, index=5, key=BOBS[5]), faults.KeyNotDue),
        (lambda: only(TurnUp, index=0, key=BOBS[0]), faults.KeyGivenTwice),
        (lambda: only(Draw, index=10), faults.NotTheTop),
        (lambda: only(Draw, index=13), faults.NotTheTop),
        (lambda: only(Draw, index=SIZE), faults.NotTheTop),
        (lambda: only(Draw, index=-1), faults.NotTheTop),
        (lambda: instead(Draw, lambda draw: (draw, draw)), UnexpectedAction),
        (lambda: instead(Draw, lambda _: Serve("bob", 11, BOBS[11])), UnexpectedAction),
        (lambda: instead(Draw, lambda _: DiscardCard("bob", 12, BOBS[12])), faults.KeyNotDue),
        (lambda: instead(Draw, lambda _: DiscardCard("bob", 0, BOBS[0])), faults.KeyGivenTwice),
        (lambda: instead(Draw, lambda _: CannotMove("bob")), PileNotEmpty),
        (lambda: instead(Draw, lambda _: AllKeys("bob", FALSE, tuple(BOBS))), UnexpectedAction),
        (lambda: instead(Draw, lambda draw: replaced(draw, client_id="bob", index=10**400)), faults.NotTheTop),
        (lambda: only(Serve, key=FALSE), faults.NoSuchCard),
        (lambda: only(Serve, key=BOBS[23]), faults.NoSuchCard),
        (lambda: only(Serve, index=23, key=BOBS[23]), faults.KeyNotDue),
        (lambda: only(Serve, index=5, key=BOBS[5]), faults.KeyNotDue),
        (lambda: only(Serve, index=0, key=BOBS[0]), faults.KeyGivenTwice),
        (lambda: instead(Serve, lambda serve: (serve, serve)), UnexpectedAction),
        (lambda: instead(Serve, lambda serve: (serve, Draw("bob", 13))), faults.NotTheTop),
        (lambda: instead(Serve, lambda _: CannotMove("bob")), UnexpectedAction),
        (lambda: only(AllKeys, keys=()), faults.WrongCount),
        (lambda: only(AllKeys, keys=tuple(BOBS[1:])), faults.WrongCount),
        (lambda: only(AllKeys, keys=(FALSE,) * SIZE), faults.NoSuchCard),
        (lambda: only(AllKeys, keys=(*BOBS[:22], BOBS[23], BOBS[22])), faults.NoSuchCard),
        (lambda: only(AllKeys, keys=("",) * SIZE), MalformedAction),
        (lambda: only(AllKeys, keys=(encode_number(4),) * SIZE), faults.InvalidExponent),
        (lambda: instead(AllKeys, lambda _: Draw("bob", 24)), UnexpectedAction),
    ],
)
def test_whatever_mallory_says_it_is_named_and_nothing_counts(
    forge: Callable[[], Forge], fault: type[ForcemoveError]
) -> None:
    """Both draw as long as they can, so that there is a message of each type; they are stuck or win at the end."""
    alice, bob = seated()
    end = honest_against(alice, bob, forge(), (by(draws), by(draws)))
    assert type(end) is fault
    assert blamed(end) == ("bob",)
    assert alice.result is None


def test_a_discard_that_does_not_fit_is_refused_when_it_is_laid() -> None:
    alice, bob = seated()
    laid: list[int] = []

    def another(action: Action) -> Action:
        """A card of mallory's hand that does not fit, with its true key."""
        pile = bob.player.pile
        index = next(index for index, card in bob.player.hand if not fits(card, pile.laid[-1]))
        laid.append(dict(bob.player.hand)[index])
        return DiscardCard("bob", index, BOBS[index])

    end = honest_against(alice, bob, instead(DiscardCard, another))
    assert isinstance(end, faults.DiscardNotAllowed)
    assert (end.seat, end.card, end.culprit) == (BOB, laid[0], "bob")
    assert alice.player.pile == alice.history[-1]
    assert alice.result is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"key": FALSE}, faults.NoSuchCard),
        ({"index": 0}, faults.KeyGivenTwice),
        ({"index": 23}, faults.KeyNotDue),
        ({"key": ""}, MalformedAction),
    ],
    ids=["a false key", "a card of alice's", "a card of the pile", "no key"],
)
def test_a_forged_discard_is_refused(changes: dict[str, Any], fault: type[ForcemoveError]) -> None:
    alice, bob = seated()
    end = honest_against(alice, bob, only(DiscardCard, **changes))
    assert type(end) is fault
    assert blamed(end) == ("bob",)
    assert alice.result is None


@pytest.mark.parametrize("cheat", [ALICE, BOB])
def test_who_says_it_cannot_move_and_could_is_found_in_the_audit(cheat: int) -> None:
    """Until then nobody can tell: the card is hidden."""
    tables = seated()
    mallory, honest = tables[cheat], tables[1 - cheat]

    def lie(action: Action) -> Action:
        can = isinstance(action, DiscardCard) and mallory.player.pile.is_empty
        return CannotMove(mallory.name) if can else action

    log = MemoryTransport()
    end = honest_against(honest, mallory, lie, (by(draws), by(draws)), log)
    assert isinstance(end, CouldMove)
    assert (end.seat, end.culprit) == (cheat, mallory.name)
    assert fits(end.card, end.top)
    assert honest.result is None
    assert honest.order != ()
    with pytest.raises(AssertionError):
        judged([*DECKS, *said(log)])


def test_nobody_moves_out_of_turn() -> None:
    alice, bob = seated()
    end = honest_against(alice, bob, instead(TurnUp, lambda turned: (turned, Draw("bob", 11))), (by(draws), by(draws)))
    assert isinstance(end, UnexpectedSender | UnexpectedAction)
    assert blamed(end) == ("bob",)
    assert alice.result is None


def test_nothing_is_drawn_from_an_empty_pile() -> None:
    alice, bob = seated()

    def more(action: Action) -> Action:
        return (
            Draw("bob", SIZE) if bob.history and bob.player.pile.is_empty and not isinstance(action, Serve) else action
        )

    end = honest_against(alice, bob, more, (by(draws), by(draws)))
    assert end == faults.PileEmpty(BOB, culprit="bob")
    assert alice.result is None


# ------------------------------------------------------------------------------------------------------------- shuffles


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (lambda texts: (texts[1], *texts[1:]), faults.NumberTwice),
        (lambda texts: (encode_number(NO_SQUARE), *texts[1:]), faults.NotASquare),
        (lambda texts: (encode_number(0), *texts[1:]), faults.NumberOutOfRange),
        (lambda texts: (encode_number(MODULUS + 4), *texts[1:]), faults.NumberOutOfRange),
        (lambda texts: texts[1:], faults.WrongCount),
        (lambda texts: (encode_number(card_number(3)), *texts[1:]), faults.NotEncrypted),
        (lambda texts: ("00", *texts[1:]), MalformedAction),
    ],
    ids=["a number twice", "no square", "zero", "above p", "one short", "an open card", "no number"],
)
def test_a_forged_deck_is_refused_when_it_comes(
    step: int, forge: Callable[[tuple[str, ...]], tuple[str, ...]], fault: type[ForcemoveError]
) -> None:
    tables = [table_of(seat) for seat in (ALICE, BOB)]
    mallory, honest = tables[step % 2], tables[1 - step % 2]
    forging = instead(Deck, partial(forged, forge), step // 2)
    end = honest_against(honest, mallory, forging)
    assert type(end) is fault
    assert blamed(end) == (mallory.name,)
    assert honest.phase is DiscardPhase.SHUFFLING
    assert honest.result is None


def forged(forge: Callable[[tuple[str, ...]], tuple[str, ...]], deck: Action) -> Action:
    assert isinstance(deck, Deck)
    return replaced(deck, numbers=forge(deck.numbers))


CHOSEN = (0, 1, 2, 3)


def test_a_deck_with_a_dummy_deals_its_maker_what_it_wants_and_only_the_audit_tells() -> None:
    alice, bob = seated_with(with_a_dummy(CHOSEN))
    hands: list[str] = []
    alice.watch = lambda table: hands.append(names(table.position.hand))
    end = honest_against(bob, alice)
    assert names(CHOSEN) in hands[0]
    assert bob.history[-1].laid == alice.history[-1].laid
    assert bob.phase is DiscardPhase.AUDITING
    assert end == faults.NoSuchCard(SIZE - 1, culprit="alice")
    assert (alice.result, bob.result) == (None, None)


@pytest.mark.parametrize("places", [(5, 23), (0, 10), (0, 1), (0, 5), (10, 23)])
def test_a_deck_with_a_card_twice_is_found_when_both_show_or_in_the_audit(places: tuple[int, int]) -> None:
    alice, bob = seated_with(with_a_card_twice(*places))
    end = honest_against(alice, bob)
    assert isinstance(end, faults.CardTwice)
    assert end.culprit == "bob"
    assert alice.result is None


# ------------------------------------------------------------------------------------------------------ anything else


def tampered(action: Action, random: Random) -> Action:
    """The action with one of its fields changed by chance."""
    changes: dict[str, object] = {}
    name = random.choice([field for field in action.__struct_fields__ if field != "client_id"] or [""])
    if name == "index":
        changes[name] = random.randrange(-1, SIZE + 1)
    elif name == "keys":
        mixed = list(action.keys)  # type: ignore[attr-defined]  # a Deal, or AllKeys
        mixed[random.randrange(len(mixed))] = random.choice([*BOBS, FALSE, "", mixed[0]])
        changes[name] = tuple(mixed)
    elif name:
        changes[name] = random.choice([*BOBS, FALSE, ""])
    return replaced(action, **changes)


def play_against_chance(number: int) -> None:
    """One of mallory's messages is changed. Where the honest side ends with a result, the referee finds no fault."""
    random, log = Random(number), MemoryTransport()
    alice, bob = seated()
    chosen, count = random.randrange(2, 25), 0

    def forge(action: Action) -> Action:
        nonlocal count
        count += 1
        return tampered(action, random) if count == chosen else action

    players = (by(anything(random)), by(anything(random)))
    end = honest_against(alice, bob, forge, players, log)
    assert (end is None) == (alice.result is not None)
    if end is None:
        judged([*DECKS, *said(log)])
    else:
        assert blamed(end) == ("bob",)


def test_whatever_is_changed_in_a_message_is_named_or_does_no_harm() -> None:
    for number in range(8):
        play_against_chance(number)


@pytest.mark.long
def test_whatever_is_changed_in_300_games_is_named_or_does_no_harm() -> None:
    for number in range(300):
        play_against_chance(number)


# ----------------------------------------------------------------------------------------------------------- strangers


class Littered(MemoryTransport):
    """A log on which strangers post after everybody: rubbish, signed by nobody, by somebody else, and old messages."""

    def __init__(self) -> None:
        super().__init__()
        self.litter = 0

    async def post(self, message: bytes) -> None:
        await super().post(message)
        for rubbish in (b"rubbish", b"{}", b'{"client_id":"bob","type":"Draw","index":11}', message, message[:-30]):
            await super().post(rubbish)
        for stranger in (MALLORY, KEYS["carol"]):
            await super().post(await in_bobs_name(stranger))
        self.litter += 7


async def in_bobs_name(key: SigningKey) -> bytes:
    """A message as if from bob, with a signature that is not bob's."""
    log = MemoryTransport()
    await SignedTransport(log, TABLE_ID, key, {"bob": key.address}).post(ACTIONS.encode(CannotMove("bob")))
    return await log.message(0)


def test_what_strangers_put_on_the_log_does_not_end_the_game() -> None:
    clean, littered = seated(), seated()
    play(clean)
    log = Littered()
    assert honest_against(littered[ALICE], littered[BOB], log=log) is None
    assert log.litter > 7 * 10
    assert littered[ALICE].result == clean[ALICE].result is not None


@pytest.mark.parametrize(
    "message",
    [
        b'{"client_id":"bob","type":"Pass"}',
        b'{"client_id":"bob","index":"11","type":"Draw"}',
        b'{"client_id":"bob","index":11,"type":"Draw","why":1}',
        b'{"client_id": "bob","index":11,"type":"Draw"}',
    ],
    ids=["no action of the game", "a wrong type", "more than there is", "not canonical"],
)
def test_rubbish_that_a_player_has_signed_ends_the_game_and_names_it(message: bytes) -> None:
    alice, _ = seated()

    async def scenario() -> ForcemoveError | None:
        log = MemoryTransport()
        await signed(log, "bob").post(message)
        return await sitting(signed(log, "alice"), alice, best)

    end = run_virtual(scenario())
    assert isinstance(end, MalformedAction)
    assert end.client_id == "bob"
    assert alice.result is None
