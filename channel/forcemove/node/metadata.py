"""What a journal keeps of a channel besides its snapshot: how the channel is put together again after a restart, and up
to which block its logs are read."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.follower.on_chain_view import Checkpoint
from forcemove.history.tokens import TokenFacts, Tokens
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.types import require_bytes


class ChannelMetadata(Struct, frozen=True, rename={"origin_hash": "began"}):
    """`app`: the name of its contract's artifact. `from_block`: a block before the channel's first log. `factory`: of
    the address book that named the contracts, 20 bytes. `confirmations`: how deep a log must be to be believed.
    `origin_hash`: the hash of `from_block`, 32 bytes, or empty where it is not known: a chain without it is another
    one, whatever its id. `begun_at`: Unix seconds of our own clock when the channel was first saved, 0 where that is
    not known. `token_facts`: what the channel's tokens said of themselves when it began, UNSET where nothing is
    known. `player_names`: what its players were called when it began, by seat, UNSET where it began without a meeting.
    What older programs have written has neither, and must be written again as it was."""

    app: str
    from_block: int
    factory: bytes
    confirmations: int
    origin_hash: bytes = b""
    begun_at: int = 0
    token_facts: tuple[TokenFacts, ...] | UnsetType = UNSET
    player_names: tuple[str, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_bytes("factory", self.factory, 20)

    @property
    def tokens(self) -> Tokens:
        """What the channel's tokens say of themselves, as far as that is known."""
        return () if isinstance(self.token_facts, UnsetType) else self.token_facts

    @property
    def names(self) -> tuple[str, ...]:
        """What its players were called when it began, by seat; none where that is not known."""
        return () if isinstance(self.player_names, UnsetType) else self.player_names


METADATA: Codec[ChannelMetadata] = Codec("description of a channel", ChannelMetadata)
"""Encodes and decodes metadata, for a journal."""


class ChannelCursor(Struct, frozen=True):
    """All that was logged of a channel up to and with this block is in its snapshot. `block_hash`: 32 bytes."""

    block_number: int
    block_hash: bytes


CURSORS: Codec[ChannelCursor] = Codec("cursor of a channel", ChannelCursor)
"""Encodes and decodes cursors, for a journal."""


def checkpoint_of(channel: Channel, cursor: bytes) -> Checkpoint | None:
    """What a follower need not read again of a channel that a journal has; None where it reads all logs. It reads all
    where another program has written the cursor, and where the channel has begun to pay out: then less of what its logs
    say can be compared with the adjudicator's status.
    """
    if not cursor or channel.record.payout_begun:
        return None
    try:
        found = CURSORS.decode(cursor)
    except (MalformedBytes, UnknownVersion):
        return None
    return Checkpoint(found.block_number, found.block_hash, channel.record)
