"""The golden vectors of cards, read from their file by Python and by the bytecode."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi import decode, encode  # type: ignore[attr-defined]

from forcemove import AppError, keccak256
from forcemove_games.cards.curve import Point
from forcemove_games.cards.deck import (
    Deck,
    MaskedCard,
    card_point,
    deck_root,
    decode_deck,
    leaf,
    open_card,
    path_of,
    root_from,
)
from forcemove_games.cards.hashing import Tag, context, generator
from forcemove_games.cards.key_proof import KeyProof, joint_key, require_key
from forcemove_games.cards.share_proof import ShareItem, ShareProof, require_shares
from forcemove_games.cards.shuffle_proof import require_shuffle
from scripts.vectors import CARDS
from tests.evm import Evm, decode_error, function_selector

CONTENT: dict[str, Any] = json.loads(CARDS.read_text("utf-8"))
CHANNEL = bytes.fromhex(CONTENT["channelId"][2:])
JOINT = Point.from_compressed(bytes.fromhex(CONTENT["jointKey"][2:]))
PROVER, CARD = "(bytes32,uint256,uint256,uint256,uint256,uint256)", "(uint256,uint256,uint256,uint256)"
EVM = Evm()
HARNESS = EVM.deploy("CardHarness")


def data(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def number(text: str) -> int:
    return int(text, 16)


def deck(index: int) -> Deck:
    content = data(CONTENT["decks"][index]["deck"])
    return decode_deck(content, len(content) // 64)


def refusal(check: Callable[[], object]) -> tuple[str | None, list[int]]:
    try:
        check()
    except AppError as error:
        values = error.values().values()
        return type(error).__name__, [each for each in values if isinstance(each, int)]
    return None, []


def expected(vector: dict[str, Any]) -> tuple[str | None, list[int]]:
    return vector["error"], [number(each) for each in vector["values"] if each.startswith("0x")]


def bytecode(function: str, types: list[str], *values: object) -> tuple[tuple[str | None, list[int]], bytes]:
    success, output = EVM.call(HARNESS, function_selector("CardHarness", function) + encode(types, values))
    if success:
        return (None, []), output
    revert = decode_error("CardHarness", output)
    assert revert is not None
    return (revert.name, [each for each in revert.values if isinstance(each, int)]), b""


def test_tags_contexts_generators_and_cards() -> None:
    for name, value in CONTENT["tags"].items():
        assert Tag(name).bytes == data(value) == keccak256(b"forcemove/cards/1/" + name.encode())
    for each in CONTENT["contexts"]:
        assert context(Tag(each["tag"]), CHANNEL, each["turnNum"]) == data(each["context"])
    assert [generator(index).compressed for index in range(5)] == [data(each) for each in CONTENT["generators"]]
    assert [card_point(card).compressed for card in range(8)] == [data(each) for each in CONTENT["cards"]]


@pytest.mark.parametrize("vector", CONTENT["keyProofs"])
def test_key_proofs(vector: dict[str, Any]) -> None:
    (x, y), proof, turn = map(number, vector["key"]), KeyProof(*map(number, vector["proof"])), vector["turnNum"]
    assert refusal(lambda: require_key(Point.from_coordinates(x, y), proof, CHANNEL, turn)) == expected(vector)
    assert bytecode("requireKey", [PROVER], (CHANNEL, turn, x, y, *proof))[0] == expected(vector)


def test_the_joint_key_is_the_sum_of_the_proved_keys() -> None:
    keys = [Point.from_coordinates(*map(number, each["key"])) for each in CONTENT["keyProofs"][:2]]
    assert joint_key(keys) == JOINT


@pytest.mark.parametrize("index", [0, 1])
def test_decks(index: int) -> None:
    vector, cards = CONTENT["decks"][index], deck(index)
    assert [leaf(place, card) for place, card in enumerate(cards)] == [data(each) for each in vector["leaves"]]
    assert deck_root(cards) == data(vector["root"]) == bytecode("deckRoot", ["bytes"], data(vector["deck"]))[1]
    path = tuple(data(each) for each in vector["pathOf5"])
    assert path == path_of(cards, 5)
    arguments = (5, data(vector["leaves"][5]), b"".join(path))
    assert bytecode("rootFrom", ["uint256", "bytes32", "bytes"], *arguments)[1] == root_from(5, arguments[1], path)


@pytest.mark.parametrize("vector", CONTENT["shares"])
def test_shares(vector: dict[str, Any]) -> None:
    x, y = map(number, vector["key"])
    proof, turn = ShareProof(*map(number, vector["proof"])), vector["turnNum"]
    cards = [deck(1)[index] for index in vector["indices"]]
    items = [ShareItem.decode(data(each)) for each in vector["items"]]
    left: list[MaskedCard] = []

    def check() -> None:
        left.extend(require_shares(Point.from_coordinates(x, y), cards, proof, items, CHANNEL, turn))

    assert refusal(check) == expected(vector)
    assert [card.c2.compressed for card in left] == [data(each) for each in vector["left"]]
    structs = [(card.c1.x, card.c2.x, card.parities, 0) for card in cards]
    prover, content = (CHANNEL, turn, x, y, *proof), b"".join(map(data, vector["items"]))
    verdict, output = bytecode("takeShares", [PROVER, f"{CARD}[]", "bytes"], prover, structs, content)
    assert verdict == expected(vector)
    if output:
        (taken,) = decode([f"{CARD}[]"], output)
        assert [Point.from_coordinates(card[1], card[3]).compressed for card in taken] == list(
            map(data, vector["left"])
        )


@pytest.mark.parametrize("vector", CONTENT["openings"])
def test_openings(vector: dict[str, Any]) -> None:
    point = Point.from_compressed(data(vector["point"]))
    assert open_card(point, 8) == vector["card"]
    for card in range(8):
        verdict, _ = bytecode("requireOpens", ["uint256"] * 3, point.x, point.y, card)
        assert verdict == ((None, []) if card == vector["card"] else ("CardUnknown", [card]))


@pytest.mark.parametrize("vector", CONTENT["shuffles"])
def test_shuffles(vector: dict[str, Any]) -> None:
    after, proof = decode_deck(data(vector["after"]), 8), data(vector["proof"])
    found = refusal(lambda: require_shuffle(deck(1), after, proof, JOINT, CHANNEL, vector["turnNum"]))
    assert found == expected(vector)
