"""A prover of shuffles that may be false, written from the page of `shuffle_proof` and not from its code: it proves
what holds, and can leave one commitment out of the challenge, as a verifier would that does not look at it.

The deck before is the first one, so that the prover knows every card as a number: q_j = j + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

from forcemove import keccak256, word
from forcemove_games.cards.curve import ORDER, G, Point, fresh_scalar, total
from forcemove_games.cards.deck import Deck, MaskedCard, first_deck
from forcemove_games.cards.hashing import Tag, context, generator
from tests.games.cards.dealt import CHANNEL, TURN, stream

__all__ = ["COMMITMENTS", "Forger", "Matrix", "over", "permutation"]

COMMITMENTS = ("t1", "t2", "t3", "t41", "t42")
Matrix = Sequence[Sequence[int]]
"""Row j says what the prover commits to of card j: of a shuffle there is one 1 in it, in the column where it goes."""


def over(number: int, divisor: int) -> int:
    """A fraction modulo the order."""
    return number * pow(divisor, -1, ORDER) % ORDER


def permutation(order: Sequence[int]) -> Matrix:
    """Card i of the deck after is card `order[i]` of that before."""
    return [[int(order[i] == j) for i in range(len(order))] for j in range(len(order))]


def _sum(terms: Sequence[tuple[int, Point]]) -> Point:
    return total(point * scalar for scalar, point in terms if scalar % ORDER)


def _product(scalars: Sequence[int]) -> int:
    return reduce(lambda one, other: one * other % ORDER, scalars, 1)


@dataclass
class Forger:
    """Proves a deck under the joint key.

    - `joint`: the joint key.
    - `cards`: the numbers, from 1, of the cards in the deck that it wants believed, in their order.
    - `matrix`: what it commits to.
    - `weigh`: the v, by the u; None: those that follow from the matrix.
    - `omitted`: what is not in the challenge: a name, or `T` for the last link of the chain.
    - `com_comes_last`: whether the commitment to the order is not in the statement, so that it can be made to fit.
    - `changed`: what is done to the first card of the deck at the end.
    """

    joint: Point
    cards: Sequence[int]
    matrix: Matrix
    weigh: Callable[[Sequence[int]], Sequence[int]] | None = None
    omitted: str = ""
    com_comes_last: bool = False
    changed: Callable[[MaskedCard], MaskedCard] = lambda card: card
    _draw: Callable[[int], bytes] = field(default_factory=lambda: stream("forger"))

    def _scalars(self) -> list[int]:
        return [fresh_scalar(self._draw) for _ in self.cards]

    @cached_property
    def before(self) -> Deck:
        return first_deck(len(self.cards), self.joint)

    @cached_property
    def _masks(self) -> list[int]:
        """The whole mask of each card of the deck after."""
        return self._scalars()

    @cached_property
    def after(self) -> Deck:
        """The deck that is to be believed."""
        pairs = zip(self.cards, self._masks, strict=True)
        first, *rest = (MaskedCard(G * mask, G * card + self.joint * mask) for card, mask in pairs)
        return (self.changed(first), *rest)

    def prove(self) -> bytes:
        """The proof, of which all holds but what is omitted."""
        count, h = len(self.cards), [generator(i) for i in range(len(self.cards) + 1)]
        r = self._scalars()
        rows = [[(r_j, G), *zip(row, h[1:], strict=True)] for r_j, row in zip(r, self.matrix, strict=True)]
        com = [_sum(row) for row in rows]
        st = self._statement(() if self.com_comes_last else com)
        u = [self._hash(Tag.SHUFFLE_U, st, i.to_bytes(4, "big")) for i in range(count)]
        v = list(self.weigh(u)) if self.weigh else [self._column(u, i) for i in range(count)]
        if self.com_comes_last:
            r, com = self._fitted(u, v, r, com, h)
        a = self._scalars()
        k = [h[0]]
        for a_i, v_i in zip(a, v, strict=True):
            k.append(_sum([(a_i, G), (v_i, k[-1])]))
        if self.omitted == "T":  # the last link leads to where the product says
            k[-1] = _sum([(a[-1], G), (_product(u), h[0])])
        w, x, y = self._scalars(), self._scalars(), self._scalars()
        names = {
            "t1": G * w[0],
            "t2": G * w[1],
            "t3": _sum([(w[2], G), *zip(x, h[1:], strict=True)]),
            "t41": _sum([(-w[3], G), *((x_i, card.c1) for x_i, card in zip(x, self.after, strict=True))]),
            "t42": _sum([(-w[3], self.joint), *((x_i, card.c2) for x_i, card in zip(x, self.after, strict=True))]),
        }
        links = [_sum([(y_i, G), (x_i, k_i)]) for y_i, x_i, k_i in zip(y, x, k, strict=False)]
        t = [point for name, point in names.items() if name != self.omitted]
        chain = links[:-1] if self.omitted == "T" else links
        c = self._hash(Tag.SHUFFLE_C, st, *(each.compressed for each in (*k[1:], *t, *chain)))
        weighted = a[-1] if self.omitted == "T" else sum(a[i] * _product(v[i + 1 :]) for i in range(count))
        masks = sum(v_i * mask for v_i, mask in zip(v, self._masks, strict=True)) - sum(u)
        sums = (sum(r), weighted, sum(r_j * u_j for r_j, u_j in zip(r, u, strict=True)), masks)
        s = [w_i - c * each for w_i, each in zip(w, sums, strict=False)]
        b = [y_i - c * a_i for y_i, a_i in zip(y, a, strict=True)]
        d = [x_i - c * v_i for x_i, v_i in zip(x, v, strict=True)]
        return b"".join(
            [*(word(each % ORDER) for each in (c, *s, *b, *d)), *(each.compressed for each in (*com, *k[1:]))]
        )

    def _statement(self, com: Sequence[Point]) -> bytes:
        about = context(Tag.SHUFFLE_STATEMENT, CHANNEL, TURN)
        points = [self.joint, *(point for deck in (self.before, self.after) for card in deck for point in card), *com]
        count = len(self.cards).to_bytes(4, "big")
        return keccak256(Tag.SHUFFLE_STATEMENT.bytes + about + count + b"".join(each.compressed for each in points))

    @staticmethod
    def _hash(tag: Tag, *parts: bytes) -> int:
        return int.from_bytes(keccak256(tag.bytes + b"".join(parts)), "big") % ORDER

    def _column(self, u: Sequence[int], i: int) -> int:
        return sum(u_j * row[i] for u_j, row in zip(u, self.matrix, strict=True)) % ORDER

    def _fitted(
        self, u: Sequence[int], v: Sequence[int], r: Sequence[int], com: Sequence[Point], h: Sequence[Point]
    ) -> tuple[list[int], list[Point]]:
        """Commitments with the same sum, which open to `v` under `u`: what is missing is moved from the second card's
        to the first one's."""
        missing = _sum([((v[i] - self._column(u, i)) % ORDER, h[i + 1]) for i in range(len(v))])
        moved = missing * over(1, u[0] - u[1])
        return list(r), [com[0] + moved, com[1] - moved, *com[2:]]
