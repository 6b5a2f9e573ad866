"""How a table is played, and the accounts that play at it."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.protocol.signing import Key

__all__ = ["TableOptions", "Wallet"]


@dataclass(frozen=True)
class TableOptions:
    """How one table is played.

    - `relay`: the relay's address.
    - `stake`: in the smallest unit, the only one to join for; None for any.
    - `duration`: of a challenge, in seconds, to offer.
    - `patience`: seconds that a counterparty may be silent, see `Match`.
    - `seats`: how many play at the table to offer, the host among them; None for as few as the game takes.
    - `name`: ours, which the others are shown; may be empty.
    - `from_scratch`: whether earlier games without money in them are left alone.
    """

    relay: str
    stake: int | None = None
    duration: int = 3600
    patience: float = 600.0
    from_scratch: bool = False
    seats: int | None = None
    name: str = ""


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
