"""Errors that keep people from playing with each other. Pure."""

from __future__ import annotations

from forcemove.errors import CounterpartyError, ForcemoveError, LocalError


class OfferDiffers(CounterpartyError):
    """The offer names another `what` than we play with: `offered`, and not `ours`."""

    what: str
    offered: str | bytes
    ours: str | bytes


class GameNotInBook(LocalError):
    """Our address book of chain `chain_id` has no `contract`, which the game of an offer needs."""

    contract: str
    chain_id: int


class OfferOver(CounterpartyError):
    """The offer with the hash `offer` has expired, or was withdrawn."""

    offer: bytes


class JournalOfOtherPlayer(LocalError):
    """The journal `where` has another player of this game: a journal has one player of a channel."""

    where: str


class HostMissing(CounterpartyError):
    """We have joined the offer with the hash `offer`, and its host did not come to the table in time."""

    offer: bytes


class GuestMissing(CounterpartyError):
    """In channel `channel_id` nothing has happened for `seconds`, and nobody has paid in."""

    channel_id: bytes
    seconds: float


class NeverFunded(CounterpartyError):
    """In channel `channel_id` not all have paid in, and the chain has ended it; we got `back` of our deposit, in the
    smallest unit."""

    channel_id: bytes
    back: int


class OtherSilent(CounterpartyError):
    """In a game over a log nothing was received of the other player for `seconds`."""

    seconds: float


class FaultAtTable(CounterpartyError):
    """The other player has broken a rule of a game over a log, as `fault` says; the game counts for nobody."""

    fault: ForcemoveError


class StakeTooLow(LocalError):
    """At the present price of gas a stake below `least` wei is not worth its disputes."""

    least: int


class ChallengeTooShort(LocalError):
    """A challenge of `duration` seconds could not be answered in time on the chain: `needed` seconds are."""

    duration: int
    needed: int


class MoveTimeTooShort(LocalError):
    """On this chain nobody can keep a time of `move_time` seconds for a move: `needed` seconds are."""

    move_time: int
    needed: int


class CannotPayIn(LocalError):
    """The account has `balance` wei, and needs `needed` wei for deposits and gas."""

    account: bytes
    balance: int
    needed: int


class TooFewTokens(LocalError):
    """The account has `balance` of the token `asset` (its address), and needs `needed` for its deposit; both in the
    smallest unit."""

    account: bytes
    asset: bytes
    balance: int
    needed: int


class NoSuchToken(LocalError):
    """There is no contract at the address `asset`."""

    asset: bytes


class TokenUnclear(LocalError):
    """Two endpoints say different things about the token `asset` (its address)."""

    asset: bytes


class DepositsOverLimit(LocalError):
    """With `deposit` in this channel and `others` in the channels that are not closed, more than `most` would lie in
    channels, all in wei."""

    deposit: int
    others: int
    most: int


class StakesRefused(LocalError):
    """No channel for a stake may begin here: `reason`."""

    reason: str
