"""The options of a run of `forcemove play`, and the accounts that it plays with."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.protocol.signing import Key
from forcemove.transport.links import Link
from forcemove.watchtower.client import TowerClient

__all__ = ["Wallet", "PlayOptions"]


@dataclass(frozen=True)
class PlayOptions:
    """The options of a run.

    - `relay`: the relay's address.
    - `stake`: in wei, of the offer to make, or the only one to join.
    - `link`: of the offer to join.
    - `rounds`: after how many the bot leaves; None where a person plays.
    - `pace`: seconds that the bot takes for a move.
    - `duration`: of a challenge, in seconds, to offer.
    - `patience`: seconds that a counterparty may be silent, see `Match`.
    - `agrees`: whether to join without asking.
    - `from_scratch`: whether earlier games without money in them are left alone.
    - `lease`: seconds after which another process may take over from one that has died.
    - `towers`: the watchtowers of the channel.
    """

    relay: str
    stake: int | None = None
    link: Link | None = None
    rounds: int | None = None
    pace: float = 0
    duration: int = 3600
    patience: float = 600.0
    agrees: bool = False
    from_scratch: bool = False
    lease: float = 60.0
    towers: tuple[TowerClient, ...] = ()

    @property
    def has_person(self) -> bool:
        """Whether a person plays."""
        return self.rounds is None


@dataclass(frozen=True)
class Wallet:
    """The keys and accounts of a player. `key`: signs states and messages, and sends nothing. `payer`: deposits, and
    pays the gas. `payout`: is paid, 20 bytes."""

    key: Key
    payer: Key
    payout: bytes
