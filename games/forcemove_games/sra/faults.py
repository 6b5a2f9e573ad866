"""What can go wrong at a table of two, as errors with values, in two families: the counterparty's faults and ours.

A fault names its culprit where it is a client's action that a table's flow refuses, or an audit that finds it.

A card's `index` is its place in the shuffled deck, 0 at the top; a `card` is its number in the deck before that; a
`seat` is 0 or 1; a `step` is one of the shuffle's four. No error carries a private key.
"""

from __future__ import annotations

from dataclasses import field

from forcemove import CounterpartyError, LocalError


class CardFault(CounterpartyError):
    """A counterparty did what the protocol does not allow. Nothing has changed.

    `culprit`: the client at fault, by its id, where the flow of a table says so; None from the functions that it calls.
    """

    culprit: str | None = field(default=None, kw_only=True)


class DeckNotDue(CardFault):
    """A deck came at `step`, in which it is ours to send one, or after the last step, 3."""

    step: int


class WrongCount(CardFault):
    """The number of numbers, or of keys, is not that of the cards."""

    expected: int
    received: int


class NumberOutOfRange(CardFault):
    """The number at `index` is not an integer from 2 to p - 2."""

    index: int
    number: int


class NotASquare(CardFault):
    """The number at `index` is not a square modulo p, so that it can be told from a card under any key."""

    index: int
    number: int


class NumberTwice(CardFault):
    """The same number is at both indices."""

    first: int
    second: int


class NotEncrypted(CardFault):
    """The number at `index` was there already: in the deck of `step`, or among the open cards where that is None."""

    index: int
    step: int | None


class InvalidExponent(CardFault):
    """An exponent that is not a key: not odd, out of range, or without an inverse."""

    exponent: int


class PileEmpty(CardFault):
    """`seat`, or None for all together, asks for a card, and no card is left."""

    seat: int | None


class NotTheTop(CardFault):
    """`requested` is not the index of the card at the top of the pile."""

    top: int
    requested: int


class DrawNotAllowed(CardFault):
    """The game's rules do not let `seat` draw now."""

    seat: int
    index: int


class DiscardNotAllowed(CardFault):
    """The game's rules do not let `seat` discard this card, which lies at `index`, now."""

    seat: int
    index: int
    card: int


class KeyNotDue(CardFault):
    """`seat` has given its key for a card whose key it is not to give (yet)."""

    seat: int
    index: int


class KeyGivenTwice(CardFault):
    """`seat` has given its key for this card before."""

    seat: int
    index: int


class NoSuchCard(CardFault):
    """With both keys the number at `index` is not a card of the deck: a false key, or a false number in the shuffle."""

    index: int


class CardTwice(CardFault):
    """Two indices hold one card. One of them may be in our hand: this error is not for the counterparty to read."""

    card: int
    first: int
    second: int


class NotOurStep(LocalError):
    """We are to wait for the counterparty's deck in this `step`, or the shuffle is over (4)."""

    step: int


class ShuffleNotFinished(LocalError):
    """There is no pile before the last of the four steps is done; `step` is the next."""

    step: int


class NoCardToDraw(LocalError):
    """We want a card from the pile, and no card is left."""


class NotInHand(LocalError):
    """We want to discard a card that we do not hold: not drawn, not opened to us yet, or discarded already."""

    index: int


class OurDrawNotAllowed(LocalError):
    """We want to draw the card at `index`, and the game's rules do not let us now. Nothing was posted."""

    index: int


class OurDiscardNotAllowed(LocalError):
    """We want to discard this card, which lies at `index`, and the game's rules do not let us now. Nothing was posted.
    The card is in our hand: this error is not for the counterparty to read."""

    index: int
    card: int
