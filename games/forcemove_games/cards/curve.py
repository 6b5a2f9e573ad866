"""The curve secp256k1 (SEC 2): points, scalars, and their bytes.

Scalars are integers modulo the group's order `ORDER`. The point at infinity has no encoding here: whatever would come
to it is refused. The multiplication of any point does not take the same time for every scalar: there is no defence
against an attacker that can measure this process to the microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from forcemove import keccak256
from forcemove.protocol import curve
from forcemove_games.cards.errors import PointRefused, ScalarOutOfRange
from forcemove_games.randomness import Randomness

FIELD = curve.FIELD
"""The prime of the coordinates, p."""
ORDER = curve.ORDER
"""The order of the group, n: a prime. Every point but infinity has it."""
COMPRESSED_LENGTH = 33
_UNCOMPRESSED = b"\x04"
_MASK = 2**256 - 1


class Point:
    """A point of the curve other than infinity. Two are equal if their coordinates are."""

    def __init__(self, point: curve.LibraryPoint) -> None:
        """Of the library's own form; use `from_coordinates`, `from_x` or `from_compressed` for bytes."""
        self._point = point

    @classmethod
    def from_coordinates(cls, x: int, y: int) -> Point:
        """Raises `PointRefused` where there is no such point."""
        if not (0 <= x < FIELD and 0 <= y < FIELD):
            raise PointRefused(x, y)
        try:
            return cls(curve.parse(_UNCOMPRESSED + x.to_bytes(32, "big") + y.to_bytes(32, "big")))
        except ValueError:
            raise PointRefused(x, y) from None

    @classmethod
    def from_x(cls, x: int, parity: int) -> Point:
        """The point with this x whose y is odd (`parity` 1) or even (0). Raises `PointRefused`, with the parity in the
        place of y, where there is none."""
        if parity not in (0, 1) or not 0 <= x < FIELD:
            raise PointRefused(x, parity)
        try:
            return cls(curve.parse(bytes((2 + parity,)) + x.to_bytes(32, "big")))
        except ValueError:
            raise PointRefused(x, parity) from None

    @classmethod
    def from_compressed(cls, data: bytes) -> Point:
        """From the 33 bytes of SEC 1. Raises `PointRefused`; where the bytes have another form, both values are 0."""
        if len(data) != COMPRESSED_LENGTH or data[0] not in (2, 3):
            raise PointRefused(0, 0)
        return cls.from_x(int.from_bytes(data[1:], "big"), data[0] - 2)

    @cached_property
    def words(self) -> bytes:
        """x and y, 32 bytes each."""
        return curve.uncompressed(self._point)[1:]

    @cached_property
    def compressed(self) -> bytes:
        """The 33 bytes of SEC 1."""
        return curve.compressed(self._point)

    @property
    def x(self) -> int:
        """The first coordinate."""
        return int.from_bytes(self.words[:32], "big")

    @property
    def y(self) -> int:
        """The second coordinate."""
        return int.from_bytes(self.words[32:], "big")

    @property
    def parity(self) -> int:
        """1 where y is odd, else 0."""
        return self.words[-1] & 1

    @property
    def address(self) -> bytes:
        """The 20 bytes that Ethereum's `ecrecover` gives for this point."""
        return keccak256(self.words)[12:]

    def __mul__(self, scalar: int) -> Point:
        """`scalar`: any integer that is not a multiple of the order. Raises `ScalarOutOfRange`."""
        return Point(curve.multiply(self._point, _scalar_bytes(scalar)))

    def __neg__(self) -> Point:
        return Point(curve.parse(_UNCOMPRESSED + self.words[:32] + (FIELD - self.y).to_bytes(32, "big")))

    def __add__(self, other: Point) -> Point:
        return total((self, other))

    def __sub__(self, other: Point) -> Point:
        return total((self, -other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"Point({self.compressed.hex()})"

    def __reduce__(self) -> tuple[object, ...]:
        return Point.from_compressed, (self.compressed,)


def total(points: Iterable[Point]) -> Point:
    """The sum. Raises `PointRefused`, both values 0, where it is infinity, as it is of no points."""
    try:
        return Point(curve.add([each._point for each in points]))
    except ValueError:
        raise PointRefused(0, 0) from None


def times_g(scalar: int) -> Point:
    """A multiple of the generator, faster than `G * scalar`. Raises `ScalarOutOfRange`."""
    return Point(curve.public_key(_scalar_bytes(scalar)))


def require_scalar(scalar: int) -> None:
    """Raise `ScalarOutOfRange` unless the scalar is from 1 to the order less 1."""
    if not 0 < scalar < ORDER:
        raise ScalarOutOfRange(scalar & _MASK)


def require_secret(scalar: int) -> None:
    """As `require_scalar`, of a secret: the error's scalar is 0, whatever this one is."""
    if not 0 < scalar < ORDER:
        raise ScalarOutOfRange(0)


def fresh_scalar(randomness: Randomness) -> int:
    """A scalar of which nobody can say anything: 64 random bytes leave no bias that could be seen."""
    while not (scalar := int.from_bytes(randomness(64), "big") % ORDER):
        pass
    return scalar


def inverse(number: int) -> int:
    """The inverse of a coordinate in the field."""
    return pow(number, -1, FIELD)


def _scalar_bytes(scalar: int) -> bytes:
    scalar %= ORDER
    require_scalar(scalar)
    return scalar.to_bytes(32, "big")


G = Point.from_coordinates(
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
"""The generator."""
