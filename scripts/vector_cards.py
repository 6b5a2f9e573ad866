"""The golden vectors of cards: formulas with what they come to, and proofs with the error that each is refused with.
Those of Discard: a whole hand, and changed words with the error that each is refused with. See `scripts/vectors.py`;
the gas of disputes is measured for a hand of the same label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import shake_256
from itertools import count, pairwise
from random import Random
from typing import Any

from msgspec.structs import replace

from forcemove import AppError, VariablePart, address_destination
from forcemove.testing.calls import ID
from forcemove_games.cards import deck as decks
from forcemove_games.cards.curve import FIELD, ORDER, Point, fresh_scalar
from forcemove_games.cards.hashing import Tag, context, generator
from forcemove_games.cards.key_proof import KeyProof, joint_key, prove_key, require_key
from forcemove_games.cards.share_proof import ShareItem, ShareProof, prove_shares, require_shares
from forcemove_games.cards.shuffle_proof import require_shuffle, shuffle
from forcemove_games.discard.position import decode
from forcemove_games.discard.rules import require_legal
from forcemove_games.randomness import Randomness
from scripts.measuring.discard_hands import LABEL
from scripts.vector_values import KEYS, hex_, state_to_json
from tests.games.discard.dealer import Dealer, begin, draw_first

CHANNEL, TURN, CARDS = bytes(range(1, 33)), 40, 8
_CHANGES = 3
"""How many words of each state are changed."""


def card_vectors() -> dict[str, Any]:
    """Everything of `contracts/cards-vectors.json`."""
    draw = _stream("players")
    secrets = [fresh_scalar(draw) for _ in range(2)]
    proved = [prove_key(secret, CHANNEL, TURN + seat, draw) for seat, secret in enumerate(secrets)]
    keys = [key for key, _ in proved]
    joint = joint_key(keys)
    first = decks.first_deck(CARDS, joint)
    masks = [fresh_scalar(draw) for _ in range(CARDS)]
    deck = tuple(decks.remask(card, mask, joint) for card, mask in zip(first, masks, strict=True))
    return {
        "version": 1,
        "channelId": hex_(CHANNEL),
        "secrets": [_word(secret) for secret in secrets],
        "tags": {tag.value: hex_(tag.bytes) for tag in Tag if tag is not Tag.NONCE},
        "contexts": [
            {"tag": tag.value, "turnNum": TURN, "context": hex_(context(tag, CHANNEL, TURN))}
            for tag in (Tag.KEY, Tag.SHARE, Tag.SHUFFLE_STATEMENT)
        ],
        "generators": [hex_(generator(index).compressed) for index in range(5)],
        "cards": [hex_(decks.card_point(card).compressed) for card in range(CARDS)],
        "keyProofs": list(_key_proofs(keys, [proof for _, proof in proved])),
        "jointKey": hex_(joint.compressed),
        "decks": _decks(first, deck, masks),
        "shares": list(_shares(secrets[0], keys[0], deck)),
        "openings": _openings(secrets, deck),
        "shuffles": list(_shuffles(deck, joint)),
    }


def _key_proofs(keys: list[Point], proofs: list[KeyProof]) -> Iterator[dict[str, Any]]:
    key, proof = keys[0], proofs[0]
    for (x, y), given, turn in (
        ((key.x, key.y), proof, TURN),
        ((keys[1].x, keys[1].y), proofs[1], TURN + 1),
        ((key.x, key.y), proof, TURN + 1),
        ((keys[1].x, keys[1].y), proof, TURN),
        ((key.x, FIELD - key.y), proof, TURN),
        ((key.x, key.y + 1), proof, TURN),
        ((key.x, key.y), proof._replace(challenge=0), TURN),
        ((key.x, key.y), proof._replace(response=ORDER), TURN),
        ((key.x, key.y), proof._replace(response=proof.response ^ 1), TURN),
    ):
        check = _refusal(lambda x=x, y=y, g=given, t=turn: require_key(Point.from_coordinates(x, y), g, CHANNEL, t))  # type: ignore[misc]
        yield {"turnNum": turn, "key": [_word(x), _word(y)], "proof": list(map(_word, given)), **check}


def _decks(first: decks.Deck, deck: decks.Deck, masks: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "masks": [_word(mask) for mask in added],
            "deck": hex_(decks.encode_deck(each)),
            "leaves": [hex_(decks.leaf(index, card)) for index, card in enumerate(each)],
            "root": hex_(decks.deck_root(each)),
            "pathOf5": [hex_(part) for part in decks.path_of(each, 5)],
        }
        for added, each in (([], first), (masks, deck))
    ]


def _shares(secret: int, key: Point, deck: decks.Deck) -> Iterator[dict[str, Any]]:
    indices = [2, 5]
    proof, items = prove_shares(secret, [deck[index] for index in indices], CHANNEL, TURN, _stream("shares"))
    yield _share(key, deck, indices, proof, items, TURN)
    yield _share(key, deck, indices, proof, items, TURN + 1)
    yield _share(key, deck, [5, 2], proof, items, TURN)
    yield _share(key, deck, indices, proof._replace(challenge=ORDER), items, TURN)
    yield _share(key, deck, indices, proof._replace(challenge=proof.challenge ^ 1), items, TURN)
    own = items[0]
    for changed in (
        own._replace(dy=FIELD - own.dy),
        own._replace(dx=own.dx ^ 1),
        own._replace(dy=own.dy + FIELD & 2**256 - 1 if own.dy + FIELD < 2**256 else FIELD),
        own._replace(w1x=own.w2x, w1y=own.w2y),
        own._replace(w1y=FIELD - own.w1y),
        own._replace(w2x=own.w1x, w2y=own.w1y),
        own._replace(w2x=own.w1x, w2y=FIELD - own.w1y),
        own._replace(slope=own.slope ^ 1),
        own._replace(slope=FIELD),
        own._replace(c2y=FIELD - own.c2y),
        own._replace(off_slope=own.off_slope ^ 1),
    ):
        yield _share(key, deck, indices, proof, (changed, items[1]), TURN)


def _share(
    key: Point, deck: decks.Deck, indices: list[int], proof: ShareProof, items: tuple[ShareItem, ...], turn: int
) -> dict[str, Any]:
    cards = [deck[index] for index in indices]
    left: list[decks.MaskedCard] = []
    check = _refusal(lambda: left.extend(require_shares(key, cards, proof, items, CHANNEL, turn)))
    return {
        "turnNum": turn,
        "key": [_word(key.x), _word(key.y)],
        "indices": indices,
        "proof": list(map(_word, proof)),
        "items": [hex_(each.encode()) for each in items],
        **check,
        "left": [hex_(card.c2.compressed) for card in left],
    }


def _openings(secrets: list[int], deck: decks.Deck) -> list[dict[str, Any]]:
    opened = []
    for index, card in enumerate(deck):
        left = card
        for secret in secrets:
            left = decks.take_off(left, left.c1 * secret)
        opened.append({"index": index, "point": hex_(left.c2.compressed), "card": decks.open_card(left.c2, CARDS)})
    return opened


def _shuffles(deck: decks.Deck, joint: Point) -> Iterator[dict[str, Any]]:
    after, proof = shuffle(deck, joint, CHANNEL, TURN, _stream("shuffle"))
    doubled = (after[0], *after[:-1])
    flipped = proof[:40] + bytes((proof[40] ^ 1,)) + proof[41:]
    for turn, cards, given in (
        (TURN, after, proof),
        (TURN + 1, after, proof),
        (TURN, doubled, proof),
        (TURN, after, flipped),
        (TURN, after, bytes(32) + proof[32:]),
        (TURN, after, proof[:-33] + bytes(33)),
    ):
        check = _refusal(lambda c=cards, g=given, t=turn: require_shuffle(deck, c, g, joint, CHANNEL, t))  # type: ignore[misc]
        yield {"turnNum": turn, "after": hex_(decks.encode_deck(cards)), "proof": hex_(given), **check}


def _refusal(check: Callable[[], object]) -> dict[str, Any]:
    """The error's name, null where there is none, and its values as words."""
    try:
        check()
    except AppError as error:
        return {"error": type(error).__name__, "values": [_word(value) for value in error.values().values()]}
    return {"error": None, "values": []}


def _word(value: Any) -> Any:
    """A number as a word; text stays as it is."""
    data = value.to_bytes(32, "big") if isinstance(value, int) else value
    return hex_(data) if isinstance(data, bytes) else data


def _stream(label: str) -> Randomness:
    draws = count()
    return lambda length: shake_256(f"forcemove cards {label} {next(draws)}".encode()).digest(length)


def discard_vectors() -> dict[str, Any]:
    """Everything of `contracts/discard-vectors.json`."""
    dealer = Dealer(LABEL)
    states = dealer.play(draw_first, _begin())
    return {
        "version": 2,
        "channelId": hex_(ID),
        "secrets": [_word(dealer.secret(0, seat)) for seat in range(2)],
        "states": [{"type": decode(state.app_data).position_type.label} | state_to_json(state) for state in states],
        "refusals": list(_refusals(states)),
    }


def _begin() -> VariablePart:
    first = begin(ID)
    paid = tuple(
        replace(allocation, destination=address_destination(key.address))
        for allocation, key in zip(first.outcome, KEYS[:2], strict=True)
    )
    return replace(first, outcome=paid)


def _refusals(states: list[VariablePart]) -> Iterator[dict[str, Any]]:
    """Moves to states of the hand with one word of appData or evidence changed. `state`: the number of the changed
    one. `word`: in its appData, or, as if it followed there, in its evidence."""
    chance = Random(LABEL)  # noqa: S311  # nothing secret
    for number, (from_, to) in enumerate(pairwise(states), 1):
        data, length = to.app_data + to.evidence, len(to.app_data)
        for word in sorted(chance.sample(range(len(data) // 32), _CHANGES)):
            value = bytearray(data[32 * word : 32 * word + 32])
            value[31] ^= 1
            changed = data[: 32 * word] + bytes(value) + data[32 * word + 32 :]
            other = replace(to, app_data=changed[:length], evidence=changed[length:])
            found = _refusal(partial(require_legal, ID, from_, other, 2))
            yield {"state": number, "word": word, "value": hex_(bytes(value)), **found}
