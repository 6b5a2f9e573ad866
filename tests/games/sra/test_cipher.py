"""Numbers of cards that have nothing to do with each other, and keys that keep their secret."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import asdict
from hashlib import shake_256
from itertools import combinations_with_replacement

import msgspec
import pytest

from forcemove import MAX_ACTION, Action, ActionCodec, InvalidValue, MalformedBytes
from forcemove_games.sra import cipher
from forcemove_games.sra.arithmetic import MODULUS, ORDER, encode_number, encode_numbers, is_square, product
from forcemove_games.sra.faults import InvalidExponent
from tests.expected import raising
from tests.games.sra.shuffled import both, scripted, seated, stream

SECRET = 2**2040 + 12_345
ANY = cipher.card_number(7)


class Deck(Action, frozen=True):
    numbers: tuple[str, ...]


# ---------------------------------------------------------------------------------------------------- numbers of cards


def test_the_golden_numbers() -> None:
    """So that peers of every version agree on them."""
    digest = shake_256("".join(encode_numbers(cipher.card_numbers(cipher.MAX_CARDS))).encode()).hexdigest(16)
    assert digest == "be578554abe49fd0c01944f085738651"


def test_a_number_is_the_square_of_a_hash() -> None:
    hashed = shake_256(b"forcemove/sra/card/1:\x00\x07").digest(272)
    assert cipher.card_number(7) == int.from_bytes(hashed, "big") ** 2 % MODULUS


def test_every_number_is_a_square_in_range_and_no_two_are_equal() -> None:
    numbers = cipher.card_numbers(cipher.MAX_CARDS)
    assert len(set(numbers)) == cipher.MAX_CARDS
    assert all(2 <= number <= MODULUS - 2 and is_square(number) for number in numbers)


def test_no_card_and_no_product_of_two_is_another_product_of_two() -> None:
    """What such a relation would betray, the cipher's docstring says."""
    numbers = (1, *cipher.card_numbers(52))
    products = [a * b % MODULUS for a, b in combinations_with_replacement(numbers, 2)]
    assert len(set(products)) == len(products)


def test_no_card_is_a_small_power_of_another() -> None:
    numbers = cipher.card_numbers(52)
    powers = {pow(number, exponent, MODULUS) for number in numbers for exponent in (-3, -2, -1, 2, 3, 4, 5)}
    assert powers.isdisjoint(numbers)


def test_a_card_is_found_by_its_number_in_its_deck_only() -> None:
    assert [cipher.find_card(number, 52) for number in cipher.card_numbers(52)] == list(range(52))
    assert cipher.find_card(cipher.card_number(52), 52) is None
    assert cipher.find_card(MODULUS - cipher.card_number(0), 52) is None


@pytest.mark.parametrize("card", [-1, cipher.MAX_CARDS, True, "0", None])
def test_other_cards_are_refused(card: int) -> None:
    with pytest.raises(InvalidValue):
        cipher.card_number(card)


@pytest.mark.parametrize("size", [-1, 0, 1, cipher.MAX_CARDS + 1, 52.0, True, None])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(InvalidValue):
        cipher.require_size(size)


def test_a_deck_of_another_size_has_no_numbers() -> None:
    for size in (1, cipher.MAX_CARDS + 1):
        with pytest.raises(InvalidValue):
            cipher.card_numbers(size)


def test_the_largest_deck_fits_into_an_action() -> None:
    deck = Deck("a" * 64, encode_numbers(cipher.card_numbers(cipher.MAX_CARDS)))
    assert len(ActionCodec(Deck).encode(deck)) <= MAX_ACTION


# ----------------------------------------------------------------------------------------------------------------- keys


def test_keys_commute() -> None:
    a, b = cipher.CipherKey.fresh(stream("a")), cipher.CipherKey.fresh(stream("b"))
    assert a.encrypt(b.encrypt(ANY)) == b.encrypt(a.encrypt(ANY))
    assert a.decrypt(b.decrypt(a.encrypt(b.encrypt(ANY)))) == ANY


def test_what_is_encrypted_is_another_square() -> None:
    encrypted = cipher.CipherKey.fresh(stream("a")).encrypt(ANY)
    assert encrypted != ANY
    assert is_square(encrypted)


def test_one_key_replaces_another_as_if_it_was_taken_off_first() -> None:
    a, b = cipher.CipherKey.fresh(stream("a")), cipher.CipherKey.fresh(stream("b"))
    assert a.replaced_by(b).encrypt(a.encrypt(ANY)) == b.encrypt(ANY)


def test_a_number_is_opened_with_the_keys_of_both() -> None:
    a, b = cipher.CipherKey.fresh(stream("a")), cipher.CipherKey.fresh(stream("b"))
    assert cipher.open_number(a.encrypt(b.encrypt(ANY)), a.disclose(), b.disclose()) == ANY


def test_a_fresh_key_is_drawn_until_it_is_valid() -> None:
    invalid = [0, 1, ORDER, ORDER - 1, MODULUS - 3, MODULUS - 2, MODULUS - 1, MODULUS, 2**2048 - 1]
    drawn = iter([*invalid, 1000, 9])
    asked = []

    def source(count: int) -> bytes:
        asked.append(count)
        return next(drawn).to_bytes(count, "big")

    assert cipher.CipherKey.fresh(source).encrypt(2) == pow(2, 1001, MODULUS)
    assert asked == [256] * (len(invalid) + 1)


def test_every_odd_number_comes_of_two_draws() -> None:
    """And of no third one, so that none is likelier than the others."""
    keys = [cipher.CipherKey.fresh(scripted(value)) for value in range(2, 12)]
    assert [key.encrypt(2) for key in keys] == [2**odd for odd in (3, 3, 5, 5, 7, 7, 9, 9, 11, 11)]


@pytest.mark.parametrize("length", [255, 257, 32, 0])
def test_a_source_that_gives_another_length_is_refused(length: int) -> None:
    with pytest.raises(InvalidValue):
        cipher.CipherKey.fresh(lambda _: b"\x07" * length)


def test_fresh_keys_are_of_full_size_and_all_different() -> None:
    exponents = {cipher.CipherKey.fresh(stream(f"size {i}")).disclose().exponent for i in range(200)}
    assert len(exponents) == 200
    assert max(exponents).bit_length() == 2_048
    assert min(exponents).bit_length() > 2_000


@pytest.mark.parametrize("exponent", [0, 1, 2, ORDER, MODULUS - 2, MODULUS, True, None, "3"])
def test_no_key_is_made_of_what_is_no_exponent(exponent: int) -> None:
    with pytest.raises(InvalidValue) as refused:
        cipher.CipherKey(exponent)
    assert refused.value.value == "hidden"


# -------------------------------------------------------------------------------------------------------------- secrecy


@pytest.mark.parametrize("show", [repr, str, ascii, "{}".format, "{!r}".format, "%s".__mod__])
def test_a_key_does_not_show_its_secret(show: Callable[[object], str]) -> None:
    key = cipher.CipherKey(SECRET)
    assert show(key) == "Key()"
    assert show((key.disclose(),)[0]) == "DecryptionKey()"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_key_is_not_pickled(protocol: int) -> None:
    with pytest.raises(TypeError, match="not to be pickled"):
        pickle.dumps(cipher.CipherKey(SECRET), protocol)


@pytest.mark.parametrize("write", [copy.copy, copy.deepcopy, msgspec.json.encode, msgspec.to_builtins, vars])
def test_a_key_is_not_written_down_in_other_ways(write: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        write(cipher.CipherKey(SECRET))


@pytest.mark.parametrize("write", [pickle.dumps, asdict, msgspec.json.encode])
def test_nothing_that_has_keys_is_written_down(write: Callable[[object], object]) -> None:
    shuffle, player = both()[0], seated()[0]
    for holder in (shuffle.secrets, shuffle, player):
        with pytest.raises(TypeError):
            write(holder)


def test_nothing_that_has_keys_shows_them() -> None:
    shuffle, player = both()[0], seated()[0]
    assert repr(shuffle.secrets) == "Secrets(phase_key=Key())"
    assert repr(shuffle) == "Shuffle(size=4, seat=0)"
    assert repr(player) == "Player(seat=0, pile=Pile(places=(), opened=()))"


# ------------------------------------------------------------------------------------------------- keys given to others


def test_decoding_a_key_inverts_encoding() -> None:
    key = cipher.CipherKey(SECRET).disclose()
    assert product(key.exponent, SECRET) == 1
    assert len(key.encode()) == 512
    assert cipher.DecryptionKey.decode(key.encode()) == key


@pytest.mark.parametrize("exponent", [0, 1, 2, ORDER - 1, ORDER, MODULUS - 2, MODULUS - 1, MODULUS, 2**2048 - 1])
def test_a_received_key_that_is_none_is_named(exponent: int) -> None:
    with raising(InvalidExponent(exponent)):
        cipher.DecryptionKey.decode(encode_number(exponent))


@pytest.mark.parametrize("text", ["", "00", "zz" * 256, "AB" * 256, None])
def test_a_received_key_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        cipher.DecryptionKey.decode(text)
