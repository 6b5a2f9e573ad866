"""An honest but curious player of Discard: names every card that follows from what its machine has, by all sums that it
can do. It knows what points, decks and proofs look like, and nothing about who should have said what.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations, product

from forcemove import ForcemoveError, VariablePart
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.machine.inputs import StateReceived
from forcemove_games.cards import errors, key_proof, share_proof
from forcemove_games.cards.curve import FIELD, ORDER, G, Point, times_g
from forcemove_games.cards.deck import Deck, card_point, decode_deck, first_deck
from forcemove_games.discard.evidence import DealtShares, MoveShares, ShownCards, evidence_of
from forcemove_games.discard.position import PositionType, decode
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.discard_sra.cards import SIZE

__all__ = ["SHUFFLED", "Named", "Observer", "states_in"]

SHUFFLED = (PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED)

_HEX = re.compile(rb"[0-9a-f]{64,}")
_POINT = 64
Named = Mapping[int, int]
"""Cards by their indices in a deck; or the indices of a deck after a shuffle, by those before."""


def states_in(messages: Iterable[bytes]) -> list[VariablePart]:
    """The states of the first hand that are in these messages, each once, by their turns."""
    found: dict[int, VariablePart] = {}
    for message in messages:
        try:
            said = decode_message(message)[1]
        except ForcemoveError:
            continue
        if isinstance(said, StateReceived) and not said.signed.state.is_final:
            state = said.signed.state
            if decode(state.app_data).core.hand == 0:
                found[state.turn_num] = state
    return [found[turn] for turn in sorted(found)]


class Observer:
    """What one player can know of one hand."""

    def __init__(
        self, messages: Iterable[bytes], secrets: Iterable[bytes], own_order: Named, *, is_first: bool
    ) -> None:
        """Look at what a machine has.

        - `messages`: all that it has sent and received, byte for byte.
        - `secrets`: all that it has stored for its bot.
        - `own_order`: of each card of the deck that it has shuffled, the index before.
        - `is_first`: whether it has shuffled first.
        """
        self._messages = list(dict.fromkeys(messages))
        seeds = {seed for each in secrets for seed in HandSecrets.decode(each).seeds}
        states = states_in(self._messages)
        self._positions = [decode(state.app_data) for state in states]
        self._evidence = [evidence_of(state) for state in states]
        self._public = [Point.from_coordinates(*key) for key in self._positions[-1].core.keys]
        self.keys = {seed.key for seed in seeds} | set(self._keys_of_equal_nonces())
        self._own_order, self._is_first = own_order, is_first

    @cached_property
    def _decks(self) -> tuple[Deck, Deck, Deck]:
        """As all know it, as the first has shuffled it, and as the second has."""
        first, second = dict.fromkeys(each.deck for each in self._positions if each.position_type in SHUFFLED)
        return first_deck(SIZE, key_proof.joint_key(self._public)), decode_deck(first, SIZE), decode_deck(second, SIZE)

    @cached_property
    def named(self) -> dict[int, int]:
        """All cards that it can name, by their indices in the deck that is played with."""
        start, first, second = self._decks
        orders: list[Named] = [self._linked(start, first), self._linked(first, second)]
        orders[0 if self._is_first else 1] = self._own_order
        between = {**orders[0], **self._opened(first)}
        carried = {index: between[before] for index, before in orders[1].items() if before in between}
        return {**carried, **self._opened(second)}

    # ------------------------------------------------------------------------------------------------------- shares

    @cached_property
    def _points(self) -> frozenset[Point]:
        """Every point that is written out anywhere, at whatever offset, and those that all know."""
        texts = {each for message in self._messages for each in _HEX.findall(message)}
        blobs = (bytes.fromhex(each[: len(each) // 2 * 2].decode()) for each in texts)
        found = {pair for blob in blobs for pair in _points_in(blob)}
        return frozenset(
            {Point.from_coordinates(*pair) for pair in found} | {G, *self._public, key_proof.joint_key(self._public)}
        )

    def _opened(self, deck: Deck) -> dict[int, int]:
        """The cards of which a known point, or nothing, is left without the card itself, and without our own share.
        There are two masks on a card, so there is no other sum."""
        found: dict[int, int] = {}
        for (index, card), number in product(enumerate(deck), range(SIZE)):
            mask = _difference(card.c2, card_point(number))
            left = [mask, *(mask and _difference(mask, card.c1 * key) for key in self.keys)]
            if any(each is None or each in self._points for each in left):
                found[index] = number
        return found

    # ------------------------------------------------------------------------------------------------------ shuffles

    def _linked(self, before: Deck, after: Deck) -> dict[int, int]:
        """The cards after a shuffle whose mask is known, or that of another card, too; their indices before."""
        pairs = list(product(range(SIZE), range(SIZE)))
        masks = {
            (i, j): (_difference(after[i].c1, before[j].c1), _difference(after[i].c2, before[j].c2)) for i, j in pairs
        }
        often = Counter(masks.values())
        return {i: j for (i, j), mask in masks.items() if often[mask] > 1 or all(each in self._points for each in mask)}

    # -------------------------------------------------------------------------------------------------------- proofs

    def _keys_of_equal_nonces(self) -> Iterator[int]:
        """The secret of whose key two proofs have one nonce: s - s' = (c - c') sk."""
        for (c, s), (other_c, other_s) in combinations(dict.fromkeys(self._proofs()), 2):
            if c != other_c and s != other_s:
                key = (s - other_s) * pow(c - other_c, -1, ORDER) % ORDER
                if times_g(key) in self._public:
                    yield key

    def _proofs(self) -> Iterator[key_proof.KeyProof | share_proof.ShareProof]:
        for shown in self._evidence:
            if isinstance(shown, key_proof.KeyProof):
                yield shown
            elif isinstance(shown, DealtShares | MoveShares | ShownCards):
                yield shown.proof


def _points_in(data: bytes) -> Iterator[tuple[int, int]]:
    """x and y of every point in these bytes."""
    for at in range(len(data) - _POINT + 1):
        x, y = int.from_bytes(data[at : at + 32], "big"), int.from_bytes(data[at + 32 : at + _POINT], "big")
        if x < FIELD and y < FIELD and (y * y - x * x * x - 7) % FIELD == 0:
            yield x, y


def _difference(first: Point, second: Point) -> Point | None:
    """None at infinity."""
    try:
        return first - second
    except errors.PointRefused:
        return None
