"""How a table is played, what a player wants there, and the accounts that play at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from forcemove.protocol.signing import Key
from forcemove.transport.connect import Connection
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer


@dataclass(frozen=True, slots=True)
class JoinGame:
    """The player wants to join the offer that a link names."""

    link: Link


@dataclass(frozen=True, slots=True)
class HostGame:
    """The player wants to offer a game for a `stake`, in the smallest unit."""

    stake: int


Intent = JoinGame | HostGame
FindIntent = Callable[[Connection, Callable[[Offer], bool]], Awaitable[Intent]]
"""Finds out what the player wants, by the connection to the relay; the function says which offers can be joined. Raises
what the lobby raises, and the error that ends the game for a player who wants nothing."""


@dataclass(frozen=True)
class TableOptions:
    """How one table is played.

    - `relay`: the relay's address.
    - `stake`: in the smallest unit, the only one to join for; None for any.
    - `duration`: of a challenge, in seconds, to offer.
    - `patience`: seconds that a counterparty may be silent, see `PlayedChannel`.
    - `seats`: how many play at the table to offer, the host among them; None for as few as the game takes.
    - `name`: ours, which the others are shown; may be empty.
    - `move_time`: seconds that each has for a move, to offer; 0 for any.
    - `guest`: the only one who may join what we offer, 20 bytes; empty for anybody.
    - `page`: the address of a page that plays friendly games from links, empty for none; None to ask the relay.
    - `from_scratch`: whether earlier games without money in them are left alone.
    - `keeps_relay`: whether a game of the journal goes on at the relay where its players met; else at `relay`.
    """

    relay: str
    stake: int | None = None
    duration: int = 3600
    patience: float = 600.0
    from_scratch: bool = False
    seats: int | None = None
    name: str = ""
    move_time: int = 0
    guest: bytes = b""
    page: str | None = None
    keeps_relay: bool = False


@dataclass(frozen=True)
class Wallet:
    """The keys and accounts of a player. `key`: signs states and messages, and sends nothing. `payer`: deposits, and
    pays the gas; its key, or the address (20 bytes) of a wallet that signs elsewhere. `payout`: is paid, 20 bytes."""

    key: Key
    payer: Key | bytes
    payout: bytes

    @property
    def payer_address(self) -> bytes:
        """The address of the account that deposits and pays the gas, 20 bytes."""
        return self.payer if isinstance(self.payer, bytes) else self.payer.address
