"""The prime, and arithmetic that is the same with gmpy2 and without."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from math import gcd
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forcemove.errors import MalformedBytes
from forcemove_games.sra import arithmetic
from forcemove_games.sra.arithmetic import MODULUS, ORDER, decode_number, decode_numbers, encode_number, encode_numbers

WHOLE_GAME = """
import sys
if sys.argv[1] == "pow":
    sys.modules["gmpy2"] = None  # an import of it now raises ImportError
from forcemove_games.sra import arithmetic
from forcemove_games.sra.deck import audit, shuffle_between_two
from tests.games.sra.shuffled import keys, stream
alice, bob = shuffle_between_two(2, stream("backends"))
print(arithmetic.BACKEND, [arithmetic.encode_numbers(deck) for deck in alice.decks])
print([[key.encode() for key in keys(side)] for side in (alice, bob)], audit(bob.latest, keys(alice), keys(bob)))
"""

numbers = st.integers(1, MODULUS - 1)
exponents = st.integers(1, ORDER - 1).map(lambda half: 2 * half + 1).filter(arithmetic.is_exponent)


def without_gmpy2() -> ModuleType:
    """The same source, imported where there is no gmpy2."""
    assert arithmetic.__file__ is not None
    spec = importlib.util.spec_from_file_location("arithmetic_without_gmpy2", arithmetic.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "gmpy2", None)
        spec.loader.exec_module(module)
    return module


PLAIN = without_gmpy2()


def pi_times_power_of_two(bits: int) -> int:
    """floor(2^bits * pi), by Machin's formula."""
    extra = 64
    one = 1 << (bits + extra)

    def arctan_of_inverse(x: int) -> int:
        term, total, sign = one // x, 0, 1
        for odd in range(1, bits + extra, 2):
            total += sign * (term // odd)
            term //= x * x
            sign = -sign
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)) >> extra


def passes_miller_rabin(n: int, base: int) -> bool:
    twos = (n - 1 & -(n - 1)).bit_length() - 1
    x = pow(base, (n - 1) >> twos, n)
    if x in {1, n - 1}:
        return True
    return any((x := x * x % n) == n - 1 for _ in range(twos - 1))


def test_the_prime_is_that_of_rfc_3526() -> None:
    assert 2**2048 - 2**1984 - 1 + 2**64 * (pi_times_power_of_two(1918) + 124_476) == MODULUS
    assert MODULUS.bit_length() == 2_048


def test_half_of_the_prime_is_prime() -> None:
    assert MODULUS == 2 * ORDER + 1
    assert all(passes_miller_rabin(ORDER, base) for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))


def test_the_prime_is_prime_because_its_half_is() -> None:
    """By Pocklington: q is a prime factor of p - 1, above the root of p."""
    assert ORDER**2 > MODULUS
    assert pow(2, MODULUS - 1, MODULUS) == 1
    assert gcd(pow(2, 2, MODULUS) - 1, MODULUS) == 1


def test_the_test_for_primes_knows_composites() -> None:
    assert [n for n in range(3, 2_000, 2) if all(passes_miller_rabin(n, base) for base in (2, 3) if base < n)] == [
        n for n in range(3, 2_000, 2) if all(n % divisor for divisor in range(3, n, 2))
    ]


# ----------------------------------------------------------------------------------------------- with and without gmpy2


def test_gmpy2_is_taken_where_it_is_installed_and_only_there() -> None:
    assert (arithmetic.BACKEND, PLAIN.BACKEND) == ("gmpy2", "pow")


@settings(max_examples=25)
@given(base=numbers, exponent=exponents)
def test_powers_are_the_same(base: int, exponent: int) -> None:
    assert arithmetic.power(base, exponent) == PLAIN.power(base, exponent)


@settings(max_examples=25)
@given(exponent=exponents)
@example(exponent=3)
@example(exponent=MODULUS - 4)
def test_inverses_are_the_same_and_invert(exponent: int) -> None:
    assert arithmetic.inverse(exponent) == PLAIN.inverse(exponent)
    assert arithmetic.product(exponent, arithmetic.inverse(exponent)) == 1


@settings(max_examples=25)
@given(number=numbers)
@example(number=1)
@example(number=2)
@example(number=MODULUS - 2)
@example(number=MODULUS - 1)
def test_squares_are_the_same_and_those_of_eulers_criterion(number: int) -> None:
    square = pow(number, ORDER, MODULUS) == 1
    assert arithmetic.is_square(number) is PLAIN.is_square(number) is square


def test_all_results_are_plain_integers() -> None:
    for module in (arithmetic, PLAIN):
        assert [type(each) for each in (module.power(2, 3), module.inverse(3), module.product(3, 5))] == [int] * 3
        assert type(module.is_square(4)) is bool


def test_a_whole_shuffle_is_the_same() -> None:
    def run(backend: str) -> str:
        done = subprocess.run([sys.executable, "-c", WHOLE_GAME, backend], capture_output=True, text=True, check=True)  # noqa: S603 - our own text
        named, rest = done.stdout.split(" ", 1)
        assert named == backend
        return rest

    assert run("pow") == run("gmpy2")


# ------------------------------------------------------------------------------------------------------------ exponents


@pytest.mark.parametrize("value", [3, 5, ORDER - 2, ORDER + 2, MODULUS - 4])
def test_odd_numbers_in_range_are_exponents(value: int) -> None:
    assert arithmetic.is_exponent(value)


@pytest.mark.parametrize(
    "value", [-3, 0, 1, 2, 4, ORDER - 1, ORDER, MODULUS - 3, MODULUS - 2, MODULUS - 1, MODULUS, MODULUS + 2, True, 3.0]
)
def test_what_does_not_encrypt_or_cannot_be_undone_is_no_exponent(value: int) -> None:
    assert not arithmetic.is_exponent(value)


# -------------------------------------------------------------------------------------------------------------- on wire


def test_a_number_is_256_bytes_as_lower_case_hex() -> None:
    assert encode_number(0xAB) == "0" * 510 + "ab"


@given(deck=st.lists(st.integers(0, 2**2048 - 1), max_size=3).map(tuple))
def test_decoding_inverts_encoding(deck: tuple[int, ...]) -> None:
    assert decode_numbers(encode_numbers(deck)) == deck
    assert decode_numbers(list(encode_numbers(deck))) == deck


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0" * 511,
        "0" * 513,
        "0" * 511 + "A",
        "0x" + "0" * 510,
        " " + "0" * 511,
        "+" + "0" * 511,
        "-" + "0" * 511,
        "0_" * 256,
        "0" * 511 + "\n",
        "0" * 511 + "\u0661",  # a digit, in Arabic
        b"0" * 512,
        None,
        7,
    ],
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        decode_number(text)


@pytest.mark.parametrize("texts", ["0" * 512, None, {"0" * 512: 1}, ["0" * 512, ""], [["0" * 512]]])
def test_what_is_no_list_of_numbers_is_refused(texts: list[str]) -> None:
    with pytest.raises(MalformedBytes):
        decode_numbers(texts)
