"""Proofs that a deck is another one, in a hidden order and under new masks (Terelius and Wikstrom 2010, as Haenni,
Locher, Koenig and Dubuis wrote it down in "Pseudo-Code Algorithms for Verifiable Re-Encryption Mix-Nets", 2017).

Players check it, contracts do not. With e the deck before, e' after, N cards, card i of e' being card j_i of e under
the additional mask r~ of that card, and h, h_1..h_N points that nobody knows the logarithms of:

- com of j_i = r of j_i * G + h_i commits to the order; st is the statement's hash, u_i = H(st, i), v_i = u of j_i;
- k_0 = h, k_i = a_i G + v_i k_(i-1): the last one shows that the v are the u in some order;
- commitments to random numbers: t1 = w1 G, t2 = w2 G, t3 = w3 G + sum of x_i h_i, t41 = -w4 G + sum of x_i C1'_i,
  t42 = -w4 Y + sum of x_i C2'_i, T_i = y_i G + x_i k_(i-1); c = H(st, k, t1, t2, t3, t41, t42, T);
- s1 = w1 - c sum of r, s2 = w2 - c sum of a_i times all later v, s3 = w3 - c sum of r_i u_i, s4 = w4 - c sum of
  r~_i u_i, b_i = y_i - c a_i, d_i = x_i - c v_i.

The bytes are c, s1 to s4, all b, all d (32 bytes each), all com and all k (33 each): 160 + 130 N. Points are hashed
compressed; N and i in four bytes, i from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from forcemove import InvalidValue, MalformedBytes, keccak256, word
from forcemove_games.cards.curve import (
    COMPRESSED_LENGTH,
    ORDER,
    G,
    Point,
    fresh_scalar,
    require_scalar,
    times_g,
    total,
)
from forcemove_games.cards.deck import Deck, first_deck, remask
from forcemove_games.cards.errors import PointRefused, ScalarOutOfRange, ShuffleRefused
from forcemove_games.cards.hashing import Tag, context, generator, hash_to_scalar
from forcemove_games.randomness import Randomness, choose, seeded, system_randomness

_SCALAR = 32
_FIXED = 5
"""Scalars of a proof that do not depend on the number of cards."""
_T = TypeVar("_T")


def proof_length(cards: int) -> int:
    """The bytes of the proof of a shuffle of this many cards."""
    return _SCALAR * (_FIXED + 2 * cards) + COMPRESSED_LENGTH * 2 * cards


@dataclass(frozen=True)
class _Statement:
    """What is proved: `after` is `before` in another order under new masks, `com` commits to the order. `about`: the
    context."""

    about: bytes
    key: Point
    before: Deck
    after: Deck
    com: Sequence[Point]

    def challenges(self) -> tuple[bytes, list[int]]:
        """st, and all u."""
        points = [point for deck in (self.before, self.after) for card in deck for point in card]
        hashed = b"".join(each.compressed for each in (self.key, *points, *self.com))
        tag, count = Tag.SHUFFLE_STATEMENT.bytes, len(self.before)
        st = keccak256(tag + self.about + count.to_bytes(4, "big") + hashed)
        return st, [hash_to_scalar(Tag.SHUFFLE_U.bytes, st, i.to_bytes(4, "big")) for i in range(count)]


@dataclass(frozen=True)
class _Commitments:
    """t1, t2, t3, t41, t42 and all T."""

    t: tuple[Point, ...]
    chain: Sequence[Point]

    def challenge(self, st: bytes, k: Sequence[Point]) -> int:
        """c."""
        return hash_to_scalar(Tag.SHUFFLE_C.bytes, st, *(each.compressed for each in (*k, *self.t, *self.chain)))


def shuffle(
    before: Deck,
    key: Point,
    channel_id: bytes,
    turn_num: int,
    randomness: Randomness = system_randomness,
) -> tuple[Deck, bytes]:
    """The deck in a random order under new masks, and the proof. Raises `PointRefused` and `ScalarOutOfRange` for a
    deck that is none, `InvalidValue` for one without cards.

    - `before`: the deck; who shuffles has checked its proof.
    - `key`: the joint key.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.
    - `randomness`: the order and all masks follow from its bytes.
    """
    order = _permutation(len(before), randomness)
    masks = [fresh_scalar(randomness) for _ in before]
    after = tuple(remask(before[j], masks[j], key) for j in order)
    return after, prove_order(before, after, order, masks, key, channel_id, turn_num, randomness)


def prove_order(
    before: Deck,
    after: Deck,
    order: Sequence[int],
    masks: Sequence[int],
    key: Point,
    channel_id: bytes,
    turn_num: int,
    randomness: Randomness = system_randomness,
) -> bytes:
    """The proof of a shuffle whose order and masks are known.

    - `before`: the deck before.
    - `after`: the deck after it.
    - `order`: card i of `after` is card `order[i]` of `before`.
    - `masks`: by the index in `before`, the scalar that was added to the mask.
    - `key`: the joint key.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.
    - `randomness`: fresh bytes; the nonces depend on the statement and the masks, too.

    Raises `InvalidValue` where there are no cards.
    """
    count = len(before)
    if not count:
        raise InvalidValue("before", before, "a deck of at least one card")
    hidden = [fresh_scalar(randomness) for _ in range(count)]
    com = [times_g(r) for r in hidden]
    for i, j in enumerate(order):
        com[j] += generator(i + 1)
    about = context(Tag.SHUFFLE_STATEMENT, channel_id, turn_num)
    st, u = _Statement(about, key, before, after, com).challenges()
    v = [u[j] for j in order]
    # Bound to the statement: bytes that come again for another one give no nonce again.
    secret = keccak256(Tag.NONCE.bytes + st + b"".join(map(word, masks)) + randomness(32))
    nonces = seeded(secret, Tag.SHUFFLE_C.value.encode())
    w, a, x, y = ([fresh_scalar(nonces) for _ in range(number)] for number in (4, count, count, count))
    k = list(_chain(a, v))
    own = [masks[j] for j in order]
    outputs = _of_first_deck(key, order, own, w[3], x) if _is_first(before, key) else _of_outputs(key, after, w[3], x)
    c = _committed(outputs, k, w, x, y).challenge(st, k)
    later, weighted = 1, 0
    for a_i, v_i in zip(reversed(a), reversed(v), strict=True):
        weighted, later = weighted + a_i * later, later * v_i % ORDER
    sums = (sum(hidden), weighted, _dot(hidden, u), _dot(own, v))
    s = [(w_i - c * each) % ORDER for w_i, each in zip(w, sums, strict=True)]
    b = [(y_i - c * a_i) % ORDER for y_i, a_i in zip(y, a, strict=True)]
    d = [(x_i - c * v_i) % ORDER for x_i, v_i in zip(x, v, strict=True)]
    scalars = b"".join(each.to_bytes(_SCALAR, "big") for each in (c, *s, *b, *d))
    return scalars + b"".join(each.compressed for each in (*com, *k))


def require_shuffle(before: Deck, after: Deck, proof: bytes, key: Point, channel_id: bytes, turn_num: int) -> None:
    """Raise `ShuffleRefused`, `ScalarOutOfRange` or `PointRefused` unless `after` is a shuffle of `before`, and
    `MalformedBytes` where the proof has another length, or there are no cards.

    - `before`: the deck before, which was checked.
    - `after`: the deck after it, as many cards.
    - `proof`: its bytes.
    - `key`: the joint key.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state that the proof is in.
    """
    count = len(before)
    if not count or len(after) != count or len(proof) != proof_length(count):
        raise MalformedBytes("shuffle", f"{len(proof)} bytes for {len(after)} cards of {count}")
    c, s, b, d, com, k = _decoded(proof, count)
    about = context(Tag.SHUFFLE_STATEMENT, channel_id, turn_num)
    st, u = _Statement(about, key, before, after, com).challenges()
    if not all(u):
        raise ShuffleRefused("u")
    h = [generator(i) for i in range(count + 1)]
    chain = [h[0], *k]
    product = 1
    for each in u:
        product = product * each % ORDER
    weights = [c * each for each in u]
    bases = [card.c1 for card in before], [card.c2 for card in before]
    outputs = [card.c1 for card in after], [card.c2 for card in after]
    t = (
        _equation("t1", lambda: (total(com) - total(h[1:])) * c + times_g(s[0])),
        _equation("t2", lambda: (chain[-1] - h[0] * product) * c + times_g(s[1])),
        _equation("t3", lambda: total((times_g(s[2]), *_times(com, weights), *_times(h[1:], d)))),
        _equation("t41", lambda: total((times_g(-s[3]), *_times(bases[0], weights), *_times(outputs[0], d)))),
        _equation("t42", lambda: total((key * -s[3], *_times(bases[1], weights), *_times(outputs[1], d)))),
    )
    steps = [
        _equation("T", lambda i=i: total((chain[i + 1] * c, times_g(b[i]), chain[i] * d[i])))  # type: ignore[misc]
        for i in range(count)
    ]
    if _Commitments(t, steps).challenge(st, k) != c:
        raise ShuffleRefused("c")


def _chain(a: Sequence[int], v: Sequence[int]) -> Iterator[Point]:
    """All k but k_0."""
    last = generator(0)
    for a_i, v_i in zip(a, v, strict=True):
        last = times_g(a_i) + last * v_i
        yield last


def _committed(
    outputs: tuple[Point, Point], k: Sequence[Point], w: Sequence[int], x: Sequence[int], y: Sequence[int]
) -> _Commitments:
    """All commitments; `outputs`: t41 and t42."""
    h = [generator(i) for i in range(len(x) + 1)]
    chain = zip(y, x, [h[0], *k[:-1]], strict=True)
    t3 = total((times_g(w[2]), *_times(h[1:], x)))
    return _Commitments(
        (times_g(w[0]), times_g(w[1]), t3, *outputs),
        [times_g(y_i) + before * x_i for y_i, x_i, before in chain],
    )


def _of_outputs(key: Point, after: Deck, w4: int, x: Sequence[int]) -> tuple[Point, Point]:
    """t41 and t42."""
    return (
        total((times_g(-w4), *_times([card.c1 for card in after], x))),
        total((key * -w4, *_times([card.c2 for card in after], x))),
    )


def _is_first(deck: Deck, key: Point) -> bool:
    """Whether nobody has shuffled the deck. Everybody can see that."""
    return deck[0].c1 == G and deck == first_deck(len(deck), key)


def _of_first_deck(
    key: Point, order: Sequence[int], masks: Sequence[int], w4: int, x: Sequence[int]
) -> tuple[Point, Point]:
    """t41 and t42 of a shuffle of the first deck: with m the whole mask of card i of `after`, that card is
    (mG, (j_i + 1)G + mY), so that both sums need one product with G and one with Y, where others need one for each
    point. `masks`: what was added, by the index in `after`."""
    both = _dot(x, [mask + 1 for mask in masks]) - w4
    return times_g(both), times_g(_dot(x, [j + 1 for j in order])) + key * both


def _decoded(proof: bytes, count: int) -> tuple[int, list[int], list[int], list[int], list[Point], list[Point]]:
    """c, s, b, d, com and k."""
    ends = _SCALAR * (_FIXED + 2 * count)
    scalars = [int.from_bytes(proof[at : at + _SCALAR], "big") for at in range(0, ends, _SCALAR)]
    for each in scalars:
        require_scalar(each)
    places = range(ends, len(proof), COMPRESSED_LENGTH)
    points = [Point.from_compressed(proof[at : at + COMPRESSED_LENGTH]) for at in places]
    b_at, d_at = _FIXED, _FIXED + count
    return scalars[0], scalars[1:_FIXED], scalars[b_at:d_at], scalars[d_at:], points[:count], points[count:]


def _equation(name: str, left: Callable[[], _T]) -> _T:
    """What the equation gives. Raises `ShuffleRefused` with its name where it leads to infinity."""
    try:
        return left()
    except (PointRefused, ScalarOutOfRange):
        raise ShuffleRefused(name) from None


def _times(points: Sequence[Point], scalars: Sequence[int]) -> Iterator[Point]:
    return (point * scalar for point, scalar in zip(points, scalars, strict=True))


def _dot(first: Sequence[int], second: Sequence[int]) -> int:
    return sum(one * other for one, other in zip(first, second, strict=True))


def _permutation(count: int, randomness: Randomness) -> list[int]:
    """A random order of this many cards, all equally likely (Fisher and Yates)."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        chosen = choose(range(last + 1), randomness)
        order[last], order[chosen] = order[chosen], order[last]
    return order
