"""Why cards, shares and proofs are refused. Those that a contract can raise have the names and values of its errors."""

from __future__ import annotations

from forcemove import AppError


class ScalarOutOfRange(AppError):
    """A scalar of a proof is not from 1 to the group's order less 1."""

    scalar: int


class PointRefused(AppError):
    """These coordinates are of no point of the curve, or of one whose x is not below the group's order."""

    x: int
    y: int


class SlopeRefused(AppError):
    """This is not the slope of the line through two points whose sum is taken."""

    slope: int


class KeyRefused(AppError):
    """The proof of knowing a key's secret does not hold. `challenge`: what it should be."""

    challenge: int


class MaskRefused(AppError):
    """A multiple of a masked card is not the one that the proof needs. `x`: of its C1, or of its share."""

    x: int


class ShareRefused(AppError):
    """The proof of shares does not hold. `challenge`: what it should be."""

    challenge: int


class CardUnknown(AppError):
    """What is left when all masks are off is not the card that it should be, or no card of the deck. `card`: its
    number, or the number of cards."""

    card: int


class ShuffleRefused(AppError):
    """The proof of a shuffle does not hold. `equation`: the first that fails, such as `t1`, or what is malformed."""

    equation: str
