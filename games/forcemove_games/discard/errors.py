"""Why a state of Discard is refused, with the names and values of the contract's errors."""

from __future__ import annotations

from forcemove import AppError
from forcemove_games.cards import errors
from forcemove_games.two_player import SHARED_ERRORS, OtherChannel

__all__ = [
    "ERRORS",
    "CardDenied",
    "CardDoesNotFit",
    "CardNotHeld",
    "CardNotInDeck",
    "CouldDraw",
    "NothingToDraw",
    "OtherChannel",
    "UnexpectedWord",
    "WrongEvidenceLength",
]


class WrongEvidenceLength(AppError):
    """Evidence has exactly the length that the position asks for, in bytes."""

    expected: int
    submitted: int


class UnexpectedWord(AppError):
    """After this move word `word` of appData is another one."""

    word: int
    expected: int
    submitted: int


class CardNotHeld(AppError):
    """The card with this index is not in the mover's hand."""

    index: int


class CardDoesNotFit(AppError):
    """The card has neither the suit nor the value of the top card."""

    card: int
    top: int


class CardDenied(AppError):
    """The mover has said that it does not have this card: it could not move then."""

    card: int


class NothingToDraw(AppError):
    """All cards are drawn."""

    drawn: int


class CouldDraw(AppError):
    """Nobody is unable to move while cards are left to draw."""

    drawn: int


class CardNotInDeck(AppError):
    """The masked card with this index is not that of the deck: its path does not lead to the root."""

    index: int


ERRORS: dict[str, type[AppError]] = {
    error.__name__: error
    for error in (
        *SHARED_ERRORS,
        WrongEvidenceLength,
        OtherChannel,
        UnexpectedWord,
        CardNotHeld,
        CardDoesNotFit,
        CardDenied,
        NothingToDraw,
        CouldDraw,
        CardNotInDeck,
        errors.ScalarOutOfRange,
        errors.PointRefused,
        errors.SlopeRefused,
        errors.KeyRefused,
        errors.MaskRefused,
        errors.ShareRefused,
        errors.CardUnknown,
    )
}
"""The twins of the contract's custom errors, by name."""
