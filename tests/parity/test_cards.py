"""The contract's checks of cards beside their twin: honest and hostile proofs, the same errors with the same values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from random import Random

import pytest
from eth_abi import decode, encode  # type: ignore[attr-defined]

from forcemove import AppError, keccak256, word
from forcemove_games.cards.curve import FIELD, ORDER, Point, fresh_scalar
from forcemove_games.cards.deck import (
    Deck,
    MaskedCard,
    card_point,
    deck_root,
    encode_deck,
    leaf,
    path_of,
    require_opens,
    root_from,
)
from forcemove_games.cards.key_proof import KeyProof, prove_key, require_key
from forcemove_games.cards.share_proof import ShareItem, ShareProof, prove_shares, require_shares
from tests.evm import Evm, decode_error, function_selector
from tests.games.cards.dealt import CHANNEL, TURN, Party, stream

CONTRACT = "CardHarness"
PROVER = "(bytes32,uint256,uint256,uint256,uint256,uint256)"
CARD = "(uint256,uint256,uint256,uint256)"
EVM = Evm()
HARNESS = EVM.deploy(CONTRACT)
PARTY = Party.of(2)
DECK = PARTY.shuffled(24)
HONEST, HOSTILE = 50, 2_000
"""Of the normal run; the long one has ten times as many."""
REFUSALS = {"ScalarOutOfRange", "PointRefused", "SlopeRefused", "KeyRefused", "MaskRefused", "ShareRefused"}
Verdict = tuple[object, ...]


def _call(function: str, types: Sequence[str], *values: object) -> tuple[Verdict, bytes]:
    success, output = EVM.call(HARNESS, function_selector(CONTRACT, function) + encode(types, values))
    if success:
        return ("", ()), output
    revert = decode_error(CONTRACT, output)
    assert revert is not None, "it reverted without a word"
    return tuple(revert), b""


def _of_python(check: Callable[[], object]) -> Verdict:
    try:
        check()
    except AppError as error:
        return type(error).__name__, tuple(error.values().values())
    return "", ()


def _prover(key: tuple[int, int], proof: tuple[int, int], turn: int = TURN) -> tuple[object, ...]:
    return CHANNEL, turn, *key, *proof


def _struct(card: MaskedCard) -> tuple[int, int, int, int]:
    return card.c1.x, card.c2.x, card.parities, 0


def _key_verdict(key: tuple[int, int], proof: KeyProof, turn: int) -> Verdict:
    expected = _of_python(lambda: require_key(Point.from_coordinates(*key), proof, CHANNEL, turn))
    verdict, _ = _call("requireKey", [PROVER], _prover(key, proof, turn))
    assert verdict == expected, (key, proof, turn)
    return verdict


def _share_verdict(key: Point, cards: Deck, proof: ShareProof, items: Sequence[ShareItem], turn: int) -> Verdict:
    left: list[Deck] = []
    expected = _of_python(lambda: left.append(require_shares(key, cards, proof, items, CHANNEL, turn)))
    data = b"".join(each.encode() for each in items)
    prover, structs = _prover((key.x, key.y), proof, turn), [_struct(each) for each in cards]
    verdict, output = _call("takeShares", [PROVER, f"{CARD}[]", "bytes"], prover, structs, data)
    assert verdict == expected, (key, proof, items, turn)
    if not expected[0]:
        (taken,) = decode([f"{CARD}[]"], output)
        assert list(taken) == [(card.c1.x, card.c2.x, card.parities, card.c2.y) for card in left[0]]
    return verdict


@pytest.mark.parametrize("rounds", [HONEST, pytest.param(10 * HONEST, marks=pytest.mark.long)])
def test_honest_proofs_are_taken_by_both(rounds: int) -> None:
    draw = stream("honest")
    for number in range(rounds):
        secret = fresh_scalar(draw)
        key, proof = prove_key(secret, CHANNEL, number, draw)
        assert _key_verdict((key.x, key.y), proof, number) == ("", ())
        cards = DECK[number % 20 : number % 20 + number % 4 + 1]
        share_proof, items = prove_shares(secret, cards, CHANNEL, number, draw)
        assert _share_verdict(key, cards, share_proof, items, number) == ("", ())


def test_hostile_proofs_are_refused_by_both_for_the_same_reason() -> None:
    _attack(HOSTILE)


@pytest.mark.long
def test_many_more_hostile_proofs_are_refused_by_both_for_the_same_reason() -> None:
    _attack(10 * HOSTILE)


def _attack(rounds: int) -> None:
    chance, secret = Random(27), PARTY.secrets[0]
    key, key_proof = prove_key(secret, CHANNEL, TURN, stream("hostile"))
    cards = DECK[:2]
    proof, items = prove_shares(secret, cards, CHANNEL, TURN, stream("hostile shares"))
    found = set()
    for number in range(rounds):
        if number % 3:
            changed = list(items)
            at = chance.randrange(2)
            words = list(items[at])
            words[chance.randrange(9)] = _changed(chance, words)
            changed[at] = ShareItem(*words)
            verdict = _share_verdict(key, cards, proof, changed, TURN)
        elif number % 2:
            verdict = _share_verdict(*_other_statement(chance, key, cards, proof, items))
        else:
            words = [key.x, key.y, *key_proof]
            words[chance.randrange(4)] = _changed(chance, words)
            verdict = _key_verdict((words[0], words[1]), KeyProof(*words[2:]), TURN)
        assert verdict[0], "a changed input is accepted"
        found.add(verdict[0])
    assert found - {""} == {
        "ScalarOutOfRange",
        "PointRefused",
        "SlopeRefused",
        "KeyRefused",
        "MaskRefused",
        "ShareRefused",
    }


def test_two_points_of_one_x_are_refused_by_both_with_any_slope() -> None:
    """With sC1 = -cD every slope would fit."""
    secret, card, challenge = PARTY.secrets[0], DECK[0], 9
    response = -challenge * secret % ORDER
    _, (honest,) = prove_shares(secret, [card], CHANNEL, TURN, stream("one x"))
    w1 = card.c1 * response
    item = honest._replace(w1x=w1.x, w1y=w1.y, w2x=w1.x, w2y=FIELD - w1.y)
    for slope in (5, 0, FIELD - 1):
        verdict = _share_verdict(
            PARTY.keys[0], (card,), ShareProof(challenge, response), (item._replace(slope=slope),), TURN
        )
        assert verdict == ("SlopeRefused", (slope,))


def _changed(chance: Random, words: Sequence[int]) -> int:
    """Another value for a word: near it, at an edge, another word, or any."""
    word = chance.choice(words)
    values = (
        word ^ 1 << chance.randrange(256),
        (word + FIELD) % 2**256,
        (FIELD - word) % 2**256,
        (word + ORDER) % 2**256,
        chance.choice((0, 1, FIELD - 1, FIELD, ORDER - 1, ORDER, 2**256 - 1)),
        chance.randrange(2**256),
        chance.choice(words) ^ 1,
    )
    return chance.choice(values)


def _other_statement(
    chance: Random, key: Point, cards: Deck, proof: ShareProof, items: Sequence[ShareItem]
) -> tuple[Point, Deck, ShareProof, Sequence[ShareItem], int]:
    """The same items for something else."""
    turned = MaskedCard(-cards[0].c1, cards[0].c2)
    below = MaskedCard(cards[0].c1, -cards[0].c2)
    options = (
        (PARTY.keys[1], cards, proof, items, TURN),
        (-key, cards, proof, items, TURN),
        (key, (cards[1], cards[0]), proof, items, TURN),
        (key, (turned, cards[1]), proof, items, TURN),
        (key, (below, cards[1]), proof, items, TURN),
        (key, cards, proof, (items[1], items[0]), TURN),
        (key, cards, proof, items, TURN + 1),
        (key, cards, proof._replace(challenge=_changed(chance, proof)), items, TURN),
        (key, cards, proof._replace(response=_changed(chance, proof)), items, TURN),
    )
    return chance.choice(options)


def test_a_card_opens_as_itself_alone() -> None:
    for card in (0, 1, 23, 126):
        point = card_point(card)
        for claimed in (card, card + 1, 0, 2**200, ORDER - 1, card + ORDER):
            expected = _of_python(partial(require_opens, point, claimed))
            assert _call("requireOpens", ["uint256"] * 3, point.x, point.y, claimed)[0] == expected
            assert bool(expected[0]) == (claimed % ORDER != card)


@pytest.mark.parametrize("cards", [1, 2, 23, 24, 32])
def test_a_deck_has_the_same_root_and_paths(cards: int) -> None:
    deck = PARTY.first(cards) if cards > 24 else DECK[:cards]
    _, output = _call("deckRoot", ["bytes"], encode_deck(deck))
    assert output == deck_root(deck)
    for index, card in enumerate(deck):
        path = path_of(deck, index)
        _, found = _call("leaf", ["uint256"] * 4, index, *_struct(card)[:3])
        assert found == leaf(index, card)
        _, found = _call("rootFrom", ["uint256", "bytes32", "bytes"], index, found, b"".join(path))
        assert found == root_from(index, leaf(index, card), path) == output


def test_the_assembly_is_plain_solidity() -> None:
    """The hash of two words, and a word of calldata at every place, also behind an odd length."""
    chance = Random(41)
    edges = [bytes(32), b"\xff" * 32, word(1), word(FIELD)]
    for first, second in product([*edges, chance.randbytes(32)], repeat=2):
        pair = [_call(name, ["bytes32", "bytes32"], first, second)[1] for name in ("hashPair", "plainHashPair")]
        assert pair == [keccak256(first + second)] * 2
    for length in (32, 63, 64, 5_456):
        data = chance.randbytes(length)
        for index in range(length // 32):
            expected = data[32 * index : 32 * index + 32]
            found = [_call(name, ["bytes", "uint256"], data, index)[1] for name in ("wordAt", "plainWordAt")]
            assert found == [expected] * 2


def test_the_library_uses_little_gas() -> None:
    """The gas of the library alone; the limits are those of the design."""
    key, key_proof = prove_key(PARTY.secrets[0], CHANNEL, TURN, stream("gas"))
    _, output = _call("gasOfKey", [PROVER], _prover((key.x, key.y), key_proof))
    assert int.from_bytes(output) <= 4_600
    used = []
    for count in (1, 2):
        proof, items = prove_shares(PARTY.secrets[0], DECK[:count], CHANNEL, TURN, stream("gas"))
        data, structs = b"".join(each.encode() for each in items), [_struct(each) for each in DECK[:count]]
        types = [PROVER, f"{CARD}[]", "bytes"]
        _, output = _call("gasOfShares", types, _prover((key.x, key.y), proof), structs, data)
        used.append(int.from_bytes(output))
    assert used[0] <= 14_500
    assert used[1] - used[0] <= 9_950
