"""What is asked of a follower: a channel, from which block on, and what is known of it already. Knows no endpoint."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps
from forcemove.follower.on_chain_view import Checkpoint
from forcemove.protocol.agreement import Agreement

IsGenuine = Callable[[Adjudicator], Steps[bool]]


@dataclass(frozen=True)
class FollowRequest:
    """A channel to be followed.

    - `agreement`: that of the channel.
    - `payee`: the account that we are paid at, 20 bytes; None where credits are not to be read.
    - `from_block`: no log of the channel is in an earlier block.
    - `origin_hash`: the hash of that block, empty where it is not known.
    - `is_doubted`: whether the chain may be another one by now.
    - `is_new`: whether we have signed nothing in it yet, so that none of its id may have paid out.
    - `checkpoint`: what the owner has had already, so that only later logs are read.
    - `is_genuine`: asks an endpoint whether the channel's contracts are genuine, None where that is known.
    - `contracts`: which they are, so that many channels' contracts are asked about once.
    """

    agreement: Agreement
    payee: bytes | None
    from_block: int
    is_new: bool
    origin_hash: bytes = b""
    is_doubted: bool = False
    checkpoint: Checkpoint | None = None
    contracts: Hashable = None
    is_genuine: IsGenuine | None = None

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self.agreement.channel_id
