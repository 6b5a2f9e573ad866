"""Arithmetic modulo one prime: through gmpy2 where it is installed, with Python's own integers elsewhere.

Both give the same results; gmpy2 takes about a twelfth of the time. Neither takes the same time for every exponent:
there is no defence against an attacker that can measure this process to the microsecond, on the same machine say.

The prime is the 2048-bit MODP group of RFC 3526 (section 3, group 14): p = 2^2048 - 2^1984 - 1 + 2^64 * (floor(2^1918
* pi) + 124476). It is a safe prime, p = 2q + 1 with q prime, and nobody chose it with a trapdoor, as its digits are
those of pi. It is a constant, because anybody who could choose the prime could choose one for which keys are easily
computed.

The squares modulo p form a group of prime order q, in which all numbers of cards lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forcemove import MalformedBytes

try:
    import gmpy2
except ImportError:
    gmpy2 = None

Numbers = tuple[int, ...]
"""A deck: cards as numbers, the top one first."""

MODULUS = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"
    "020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"
    "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05"
    "98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB"
    "9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF695581718"
    "3995497CEA956AE515D2261898FA051015728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
"""p, 2048 bits."""
ORDER = (MODULUS - 1) // 2
"""q, prime: how many squares there are."""
NUMBER_LENGTH = 256
"""Bytes of a number or an exponent."""
BACKEND = "pow" if gmpy2 is None else "gmpy2"
"""The library that computes: `gmpy2`, or `pow` for Python's own integers."""

_DIGITS = frozenset("0123456789abcdef")


def power(base: int, exponent: int) -> int:
    """`base` to the power of `exponent` (0 or more) modulo p."""
    if gmpy2 is None:
        return pow(base, exponent, MODULUS)
    return int(gmpy2.powmod(base, exponent, MODULUS))


def product(first: int, second: int) -> int:
    """The exponent whose one power equals the powers of both, one after the other."""
    return first * second % (MODULUS - 1)


def inverse(exponent: int) -> int:
    """The exponent that undoes `exponent`, one for which `is_exponent` holds."""
    if gmpy2 is None:
        return pow(exponent, -1, MODULUS - 1)
    return int(gmpy2.invert(exponent, MODULUS - 1))


def is_exponent(value: int) -> bool:
    """Whether it encrypts: coprime to p - 1, that is odd and not q, from 3 to p - 4.

    1 and p - 2 are left out: the one changes nothing, and with the other everybody can decrypt.
    """
    return type(value) is int and 3 <= value <= MODULUS - 4 and value % 2 == 1 and value != ORDER


def is_square(number: int) -> bool:
    """Whether a number from 1 to p - 1 is a square modulo p: whether its Legendre symbol is 1."""
    symbol = _jacobi(number, MODULUS) if gmpy2 is None else gmpy2.jacobi(number, MODULUS)
    return bool(symbol == 1)


def _jacobi(a: int, n: int) -> int:
    """The Jacobi symbol (a/n) for an odd n and 0 <= a < n, by quadratic reciprocity: many times faster than a power."""
    sign = 1
    while a:
        twos = (a & -a).bit_length() - 1
        a >>= twos
        if twos % 2 and n % 8 in {3, 5}:
            sign = -sign
        if a % 4 == n % 4 == 3:
            sign = -sign
        a, n = n % a, a
    return sign if n == 1 else 0


# -------------------------------------------------------------------------------------------------------------- on wire


def encode_number(number: int) -> str:
    """A number or an exponent as 512 lower-case hex digits: 256 bytes, big-endian."""
    return number.to_bytes(NUMBER_LENGTH, "big").hex()


def decode_number(text: str) -> int:
    """The inverse of `encode_number`. Raises `MalformedBytes` on anything that it would not have written.

    The number's range is not checked here: see `deck.require_deck` and `cipher.DecryptionKey`.
    """
    if type(text) is not str or len(text) != 2 * NUMBER_LENGTH:
        raise MalformedBytes("number", f"it is not a text of {2 * NUMBER_LENGTH} hex digits")
    if not _DIGITS.issuperset(text):
        raise MalformedBytes("number", "it has characters other than 0-9 and a-f")
    return int(text, 16)


def encode_numbers(numbers: Iterable[int]) -> tuple[str, ...]:
    """A deck as texts."""
    return tuple(map(encode_number, numbers))


def decode_numbers(texts: Sequence[str]) -> Numbers:
    """The inverse of `encode_numbers`. Raises `MalformedBytes`."""
    if not isinstance(texts, list | tuple):
        raise MalformedBytes("deck", "it is not a list of numbers")
    return tuple(map(decode_number, texts))
