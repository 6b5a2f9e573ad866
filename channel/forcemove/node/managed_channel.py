"""One channel that a node drives, as its owner and the node see it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.genuine import are_genuine
from forcemove.follower.endpoint_quorum import QuorumUpdate
from forcemove.follower.endpoint_viewer import FollowRequest
from forcemove.node.assemble import Assembly
from forcemove.node.chain_worker import ChainWorker
from forcemove.node.client import Client
from forcemove.node.effect_executor import EffectExecutor
from forcemove.node.metadata import CURSORS, ChannelCursor, checkpoint_of
from forcemove.node.outbox import PendingEvidence
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import Input
from forcemove.store.records import Account, ChannelUpdate, StoredChannel

__all__ = ["ManagedChannel", "following_of"]


class ChannelDriver(Protocol):
    """The node, as a channel of its sees it."""

    def mark_ready(self, channel_id: bytes) -> None:
        """Something has come in for this channel."""
        ...

    async def catch_up(self) -> None:
        """Return when all that has come in is taken in, saved and performed."""
        ...


@dataclass(eq=False)
class ManagedChannel:
    """One channel that a node drives, as its owner sees it. `error`: what has gone wrong with it last, None since all
    went well."""

    client: Client
    executor: EffectExecutor
    chain: ChainWorker
    account: Account
    following: FollowRequest
    version: int
    metadata: bytes | None
    driver: ChannelDriver
    error: Exception | None = None
    evidence: PendingEvidence = field(default_factory=PendingEvidence)
    due_at: int | None = 0
    silence_at: float = 0.0
    was: Channel | None = None
    shown: Channel | None = None
    is_genuine: bool = False
    cursor: bytes = b""
    has_missed: bool = False
    is_denied: bool = False
    is_up_to_date: bool = False

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self.client.id

    @property
    def channel(self) -> Channel:
        """The channel as we see it."""
        return self.client.channel

    @property
    def phase(self) -> Phase:
        """Its phase at the chain's time that was read last."""
        return self.channel.phase(self.chain.time)

    def time(self) -> int:
        """The chain's time (seconds) that was read last."""
        return self.chain.time

    def is_due(self, now: float) -> bool:
        """Whether time brings something: the chain's, or our own clock's, seconds, after a long silence."""
        return now >= self.silence_at or self.is_due_on_chain

    @property
    def is_due_on_chain(self) -> bool:
        """Whether the chain's time brings something."""
        return self.due_at is not None and self.chain.time >= self.due_at

    def on_chain_update(self, update: QuorumUpdate) -> None:
        """What looks at the chain have found. Raises what is wrong with the channel, and what its client raises: then
        it is told again, from the beginning."""
        id_, now, differ = self.id, self.chain.time, update.differences.get(self.id)
        self.is_up_to_date = False
        self.is_denied = self.is_denied if differ is None else differ.is_denied
        read = update.updates.get(id_)
        try:
            self.client.on_chain_update(read, now, is_new_block=update.is_new, differences=differ)
            self.is_genuine = self.is_genuine or id_ in update.genuine
            if self.is_genuine:
                self.client.on_contracts_genuine(now)
        except BaseException:
            self.has_missed = True
            self.chain.follow(replace(self.following, checkpoint=None))
            raise
        if (wrong := update.channel_errors.get(id_)) is not None:
            raise wrong
        self.has_missed = self.has_missed and not (read is not None and read.from_scratch)
        self.is_up_to_date = not self.has_missed and not self.is_denied

    def feed(self, input_: Input) -> None:
        """A wish of the player's; what follows from it is saved and done by the node's next step. Raises as
        `machine.step`."""
        self.client.apply(input_, self.chain.time)
        self.driver.mark_ready(self.id)

    async def catch_up(self) -> bool:
        """Return when the node has done all that there was to do; whether anything has happened to the channel since
        the last call. Raises what has gone wrong with it and will be tried again."""
        await self.driver.catch_up()
        changed, self.shown = self.shown is not self.channel, self.channel
        error, self.error = self.error, None
        if error is not None:
            raise error
        return changed

    def channel_update(self) -> ChannelUpdate:
        """What is to be committed of it."""
        if self.is_up_to_date and (cursor := self.chain.views.cursor) is not None:
            self.cursor = CURSORS.encode(ChannelCursor(cursor.number, cursor.hash))
        return ChannelUpdate(
            self.id,
            self.version,
            CHANNELS.encode(self.channel),
            self.metadata,
            finished=self.channel.is_over_and_paid,
            evidence=tuple(self.evidence.pending),
            cursor=self.cursor,
        )

    def on_saved(self) -> None:
        """It is on disk."""
        self.version, self.metadata = self.version + 1, None
        self.evidence.pending.clear()
        self.client.is_unsaved = False


def following_of(
    assembly: Assembly, channel: Channel, confirmations: int, stored: StoredChannel | None
) -> FollowRequest:
    """A channel as its chain's worker follows it. `stored`: what the journal has of it: then the chain may be another
    one by now."""

    app, artifact, factory = channel.agreement.fixed_part.app_definition, assembly.app.artifact, assembly.factory

    def is_genuine(adjudicator: Adjudicator) -> bool:
        return are_genuine(adjudicator.chain, adjudicator.address, app, artifact, factory, confirmations=confirmations)

    return FollowRequest(
        channel.agreement,
        channel.payee,
        assembly.from_block,
        channel.last_signed is None,
        assembly.origin_hash,
        stored is not None,
        checkpoint_of(channel, stored.cursor) if stored else None,
        (app, artifact.name, factory),
        None if channel.genuine else is_genuine,
    )
