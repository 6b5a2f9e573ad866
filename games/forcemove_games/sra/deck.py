"""The shuffle of two phases, as pure functions: four decks go back and forth, and nobody knows the order of the last.

In phase 1 each side encrypts all cards with one key and permutes them; in phase 2 each takes that key off and encrypts
card i with a key of its own, key i, without permuting. In the end card i is under key i of both sides:

| step | who    | sends                                                                                  |
|------|--------|----------------------------------------------------------------------------------------|
| 0    | seat 0 | the open cards, each encrypted with its phase key, permuted                            |
| 1    | seat 1 | deck 0, each encrypted with its phase key, permuted                                    |
| 2    | seat 0 | deck 1 in its order, card i with its key i instead of its phase key                    |
| 3    | seat 1 | deck 2 in its order, card i with its key i instead of its phase key: the shuffled deck |

A `Shuffle` is one side's view; it never changes: `send` and `receive` give the next one, or raise and give none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from forcemove import InvalidValue
from forcemove_games.randomness import Randomness, choose, system_randomness
from forcemove_games.sra import faults
from forcemove_games.sra.arithmetic import MODULUS, Numbers, inverse, is_square, power, product
from forcemove_games.sra.cipher import CipherKey, DecryptionKey, card_numbers, find_card, open_number, require_size
from forcemove_games.two_player import PLAYERS, require_seat

STEPS = 4
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Secrets:
    """The keys of one side for one shuffle: that of phase 1, and one for each card. Used again, they betray cards."""

    phase_key: CipherKey
    card_keys: tuple[CipherKey, ...] = field(repr=False)

    @classmethod
    def fresh(cls, size: int, randomness: Randomness = system_randomness) -> Secrets:
        """New keys for a deck of `size` cards. Raises `InvalidValue` unless there are 2 to 120."""
        require_size(size)
        return cls(CipherKey.fresh(randomness), tuple(CipherKey.fresh(randomness) for _ in range(size)))


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The progress of a shuffle, as one side sees it.

    `size`: 2 to 120 cards. `seat`: ours, 0 or 1; 0 begins. `decks`: those that were sent so far, each checked or ours.
    """

    size: int
    seat: int
    secrets: Secrets = field(repr=False)
    decks: tuple[Numbers, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        require_size(self.size)
        require_seat(self.seat)
        if len(self.secrets.card_keys) != self.size:
            raise InvalidValue("card_keys", len(self.secrets.card_keys), "one key for each card")

    @property
    def step(self) -> int:
        """The next step, 4 when all are done."""
        return len(self.decks)

    @property
    def is_ours(self) -> bool:
        """Whether the next deck is ours to send."""
        return self.step < STEPS and self.step % PLAYERS == self.seat

    @property
    def is_finished(self) -> bool:
        """Whether the last deck is the shuffled one."""
        return self.step == STEPS

    @property
    def latest(self) -> Numbers:
        """The deck that was sent last; before the first, the open cards."""
        return self.decks[-1] if self.decks else card_numbers(self.size)


def begin(size: int, seat: int, randomness: Randomness = system_randomness) -> Shuffle:
    """A shuffle before its first step, with fresh keys. Raises `InvalidValue` on a wrong size or seat."""
    return Shuffle(size, seat, Secrets.fresh(size, randomness))


def send(shuffle: Shuffle, randomness: Randomness = system_randomness) -> Shuffle:
    """Make our next deck, which is then the `latest`. Raises `NotOurStep`."""
    if not shuffle.is_ours:
        raise faults.NotOurStep(shuffle.step)
    secrets = shuffle.secrets
    if shuffle.step < PLAYERS:
        deck = encrypt_and_permute(shuffle.latest, secrets.phase_key, randomness)
    else:
        deck = exchange_keys(shuffle.latest, secrets)
    return replace(shuffle, decks=(*shuffle.decks, deck))


def receive(shuffle: Shuffle, numbers: Sequence[int]) -> Shuffle:
    """Accept the counterparty's next deck. Raises `DeckNotDue`, and what `require_deck` raises."""
    if shuffle.is_ours or shuffle.is_finished:
        raise faults.DeckNotDue(shuffle.step)
    require_deck(numbers, shuffle.size, shuffle.decks)
    return replace(shuffle, decks=(*shuffle.decks, tuple(numbers)))


def shuffle_between_two(size: int, randomness: Randomness = system_randomness) -> tuple[Shuffle, Shuffle]:
    """A whole shuffle in memory, with every check on both sides: the shuffles of seat 0 and seat 1 at its end."""
    sides = [begin(size, 0, randomness), begin(size, 1, randomness)]
    for step in range(STEPS):
        mover = step % PLAYERS
        sides[mover] = send(sides[mover], randomness)
        sides[1 - mover] = receive(sides[1 - mover], sides[mover].latest)
    return sides[0], sides[1]


# ------------------------------------------------------------------------------------------------------- the two phases


def encrypt_and_permute(numbers: Numbers, key: CipherKey, randomness: Randomness = system_randomness) -> Numbers:
    """Phase 1: encrypt all numbers with one key, in an order that nobody else knows."""
    return permute(tuple(map(key.encrypt, numbers)), randomness)


def exchange_keys(numbers: Numbers, secrets: Secrets) -> Numbers:
    """Phase 2: decrypt with the phase key, encrypt card i with key i, and keep the order."""
    return tuple(
        secrets.phase_key.replaced_by(key).encrypt(number)
        for number, key in zip(numbers, secrets.card_keys, strict=True)
    )


def permute(items: Sequence[_Item], randomness: Randomness = system_randomness) -> tuple[_Item, ...]:
    """Up to 256 items in a random order, each order as likely as the others (Fisher-Yates with fair choices)."""
    mixed = list(items)
    for last in range(len(mixed) - 1, 0, -1):
        chosen = choose(range(last + 1), randomness)
        mixed[last], mixed[chosen] = mixed[chosen], mixed[last]
    return tuple(mixed)


# ----------------------------------------------------------------------------------------------------------- the checks


def require_deck(numbers: Sequence[int], size: int, earlier: Sequence[Numbers] = ()) -> None:
    """Refuse a received deck that is not valid. `earlier`: the decks of the steps before.

    Raises `WrongCount`, `NumberOutOfRange`, `NotASquare`, `NumberTwice`, and `NotEncrypted` where a number is an open
    card or was in an earlier deck: its sender has not encrypted it, and the card would be open without our key.
    """
    if len(numbers) != size:
        raise faults.WrongCount(size, len(numbers))
    for index, number in enumerate(numbers):
        _require_number(index, number)
    _require_distinct(numbers)
    _require_new(numbers, card_numbers(size), None)
    for step, deck in enumerate(earlier):
        _require_new(numbers, deck, step)


def _require_number(index: int, number: int) -> None:
    if type(number) is not int or not 2 <= number <= MODULUS - 2:
        raise faults.NumberOutOfRange(index, number)
    if not is_square(number):
        raise faults.NotASquare(index, number)


def _require_distinct(numbers: Sequence[int]) -> None:
    seen: dict[int, int] = {}
    for index, number in enumerate(numbers):
        if (first := seen.setdefault(number, index)) != index:
            raise faults.NumberTwice(first, index)


def _require_new(numbers: Sequence[int], deck: Numbers, step: int | None) -> None:
    known = frozenset(deck)
    for index, number in enumerate(numbers):
        if number in known:
            raise faults.NotEncrypted(index, step)


# -------------------------------------------------------------------------------------------------------------- opening


def open_card(numbers: Numbers, index: int, first: DecryptionKey, second: DecryptionKey) -> int:
    """The card at `index` of a shuffled deck, opened with the keys of both. Raises `NoSuchCard`."""
    card = find_card(open_number(numbers[index], first, second), len(numbers))
    if card is None:
        raise faults.NoSuchCard(index)
    return card


def audit(numbers: Numbers, first: Sequence[DecryptionKey], second: Sequence[DecryptionKey]) -> tuple[int, ...]:
    """Open a whole shuffled deck, when a hand is over, with all the keys of both: the cards in their order.

    Raises `WrongCount` where there is not a key for each card, `NoSuchCard`, and `CardTwice`. A deck that passes had
    all cards, each once. The audit also speaks against marked cards: to find numbers again after step 1, seat 0 has to
    send some in step 0 that depend on each other, and of those it cannot make all the cards again, so that one is
    missing here. (That is an argument, from the decisional Diffie-Hellman assumption among the squares, and not a
    proof.)
    """
    for keys in (first, second):
        if len(keys) != len(numbers):
            raise faults.WrongCount(len(numbers), len(keys))
    seen: dict[int, int] = {}
    for index, keys_of_card in enumerate(zip(first, second, strict=True)):
        card = open_card(numbers, index, *keys_of_card)
        if (earlier := seen.setdefault(card, index)) != index:
            raise faults.CardTwice(card, earlier, index)
    return tuple(seen)


@dataclass(frozen=True, slots=True)
class DisclosedKeys:
    """All keys that one side has used for a shuffle, given away when the hand is over."""

    phase_key: DecryptionKey
    card_keys: tuple[DecryptionKey, ...] = field(repr=False)


def false_step(decks: Sequence[Numbers], sides: tuple[DisclosedKeys, DisclosedKeys]) -> int:
    """The first step whose deck its sender's keys do not make of the deck before it: seat `step % 2` has cheated.

    `decks`: all four, of a shuffle that `audit` has refused. Everybody who has read the log finds the same step, and
    never one of a side that kept to the protocol and shows its true keys. Where the first three decks are right it is
    the last: four right decks would have opened to all cards.
    """
    first, second = sides
    if _opened(decks[0], first.phase_key) != frozenset(card_numbers(len(decks[0]))):
        return 0
    if _opened(decks[1], second.phase_key) != frozenset(decks[0]):
        return 1
    return 3 if _has_exchanged(decks[1], decks[2], first) else 2


def _opened(numbers: Numbers, key: DecryptionKey) -> frozenset[int]:
    return frozenset(power(number, key.exponent) for number in numbers)


def _has_exchanged(before: Numbers, after: Numbers, side: DisclosedKeys) -> bool:
    """Whether each number is under its own key now, and not under the phase key."""
    on_again = inverse(side.phase_key.exponent)
    return before == tuple(
        power(number, product(key.exponent, on_again)) for number, key in zip(after, side.card_keys, strict=True)
    )
