"""Mallory at a table of Discard: our client whose messages are changed on the way, and decks that it stacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations

from msgspec.structs import replace as replaced

from forcemove.errors import ForcemoveError
from forcemove.flow.actions import Action, MalformedAction
from forcemove.flow.signed import MessagesMissing
from forcemove.flow.steps import ActionMissing, UnexpectedAction, UnexpectedSender, run
from forcemove.flow.transport import MemoryTransport, Reader, Transport
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.discard_sra.flow import discard
from forcemove_games.discard_sra.table import ACTIONS, DiscardTable, open_queue
from forcemove_games.sra import arithmetic, cipher, faults
from forcemove_games.sra.deck import Shuffle, begin, exchange_keys, permute, receive, send
from tests.flow.table import signed
from tests.flow.virtual_time import run_virtual
from tests.games.discard_sra.tables import HOUR, Choose, best, table_of
from tests.games.sra.shuffled import ALICE, BOB, stream

Forge = Callable[[Action], Action | Sequence[Action]]
"""What mallory says instead of an action: another one, or several."""


class Forging:
    """Mallory's line to the log."""

    def __init__(self, inner: Transport, forge: Forge) -> None:
        self._inner, self._forge = inner, forge

    async def post(self, message: bytes) -> None:
        forged = self._forge(ACTIONS.decode(message))
        for action in [forged] if isinstance(forged, Action) else forged:
            await self._inner.post(ACTIONS.encode(action))

    def reader(self, start: int = 0) -> Reader:
        return self._inner.reader(start)

    def length(self) -> int:
        return self._inner.length()


async def sitting(transport: Transport, table: DiscardTable, choose: Choose) -> ForcemoveError | None:
    """What a client ends with."""
    try:
        await run(discard(choose, within=HOUR), await open_queue(transport, table.name), table)
    except ForcemoveError as error:
        return error
    return None


def honest_against(
    honest: DiscardTable,
    mallory: DiscardTable,
    forge: Forge = lambda action: action,
    chooses: tuple[Choose, Choose] = (best, best),
    log: MemoryTransport | None = None,
) -> ForcemoveError | None:
    """What the honest side ends with. `chooses`: the honest side's and mallory's."""
    on = log or MemoryTransport()

    async def scenario() -> ForcemoveError | None:
        line = Forging(signed(on, mallory.name), forge)
        cheating = asyncio.create_task(sitting(line, mallory, chooses[1]))
        end = await sitting(signed(on, honest.name), honest, chooses[0])
        cheating.cancel()
        await asyncio.gather(cheating, return_exceptions=True)
        return end

    return run_virtual(scenario())


def blamed(end: ForcemoveError | None) -> tuple[str | None, ...]:
    """Whom an error names."""
    match end:
        case faults.CardFault():
            return (end.culprit,)
        case MalformedAction() | UnexpectedAction() | UnexpectedSender() | MessagesMissing():
            return (end.client_id,)
        case ActionMissing():
            return end.expected
    return ()


def only(type_: type[Action], number: int = 0, **changes: object) -> Forge:
    """Changes what mallory says of one type, the `number`th time (from 0)."""
    return instead(type_, lambda action: replaced(action, **changes), number)


def instead(type_: type[Action], other: Callable[[Action], Action | Sequence[Action]], number: int = 0) -> Forge:
    seen = 0

    def forge(action: Action) -> Action | Sequence[Action]:
        nonlocal seen
        if not isinstance(action, type_):
            return action
        seen += 1
        return other(action) if seen == number + 1 else action

    return forge


# ------------------------------------------------------------------------------------------------------ stacked decks


def seated_with(shuffles: tuple[Shuffle, Shuffle]) -> tuple[DiscardTable, DiscardTable]:
    alice, bob = table_of(ALICE), table_of(BOB)
    alice.shuffle, bob.shuffle = shuffles
    return alice, bob


def with_a_dummy(chosen: tuple[int, int, int, int]) -> tuple[Shuffle, Shuffle]:
    """Alice cheats: she deals herself four chosen cards, and nothing that bob checks in the shuffle tells.

    In step 0 she sends a number that is not a card, but a product of powers of the chosen ones. The relation survives
    bob's encryption, so that in step 2 she finds all five again, and lays them where she wants them.
    """
    randomness = stream("stacking")
    alice, bob = begin(SIZE, ALICE, randomness), begin(SIZE, BOB, randomness)
    missing = next(card for card in reversed(range(SIZE)) if card not in chosen)
    dummy = related([cipher.card_number(card) for card in chosen])
    open_deck = [dummy if card == missing else cipher.card_number(card) for card in range(SIZE)]
    first = permute([alice.secrets.phase_key.encrypt(number) for number in open_deck], randomness)
    alice = replace(alice, decks=(first,))
    bob = send(receive(bob, first), randomness)
    alice = receive(alice, bob.latest)
    alice = replace(alice, decks=(*alice.decks, exchange_keys(stacked(bob.latest), alice.secrets)))
    bob = send(receive(bob, alice.latest), randomness)
    return receive(alice, bob.latest), bob


def related(numbers: Sequence[int]) -> int:
    product = 1
    for exponent, number in enumerate(numbers, start=1):
        product = product * arithmetic.power(number, exponent) % arithmetic.MODULUS
    return product


def stacked(deck: arithmetic.Numbers) -> arithmetic.Numbers:
    """The four that are related to a fifth at the top, in order, and the fifth at the bottom."""
    places = range(len(deck))
    powers = {exponent: [arithmetic.power(number, exponent) for number in deck] for exponent in range(1, 5)}
    halves = {powers[1][i] * powers[2][j] % arithmetic.MODULUS: (i, j) for i, j in permutations(places, 2)}
    others_off = {(k, m): pow(powers[3][k] * powers[4][m], -1, arithmetic.MODULUS) for k, m in permutations(places, 2)}
    for k, m, dummy in permutations(places, 3):
        rest = deck[dummy] * others_off[k, m] % arithmetic.MODULUS
        if rest in halves and not {k, m, dummy} & set(halves[rest]):
            found = (*halves[rest], k, m)
            others = [place for place in places if place not in (*found, dummy)]
            return tuple(deck[place] for place in (*found, *others, dummy))
    raise AssertionError("no relation was found")


def with_a_card_twice(first: int, second: int) -> tuple[Shuffle, Shuffle]:
    """Bob cheats: the card that lies at `first` lies at `second`, too, and another one is missing."""
    randomness = stream("doubling")
    extra = cipher.CipherKey.fresh(randomness)
    alice, bob = begin(SIZE, ALICE, randomness), begin(SIZE, BOB, randomness)
    alice = send(alice, randomness)
    bob = send(receive(bob, alice.latest), randomness)
    doubled = list(bob.latest)
    doubled[second] = extra.encrypt(doubled[first])
    bob = replace(bob, decks=(*bob.decks[:-1], tuple(doubled)))
    alice = send(receive(alice, bob.latest), randomness)
    bob = receive(bob, alice.latest)
    covered = list(alice.latest)
    covered[second] = extra.decrypt(covered[second])
    deck = exchange_keys(tuple(covered), bob.secrets)
    bob = replace(bob, decks=(*bob.decks, deck))
    return receive(alice, deck), bob
