"""One channel that a node drives, as its owner and the node see it."""

from __future__ import annotations

from dataclasses import dataclass, field

from forcemove.channel.node.assemble import Assembly
from forcemove.channel.node.client import Client
from forcemove.channel.node.journalled import PendingEvidence
from forcemove.channel.node.performer import Performer
from forcemove.channel.node.workers import ChainNews, ChainWorker, Following
from forcemove.channel.protocol.channel import Channel, Phase
from forcemove.channel.protocol.inputs import Input
from forcemove.channel.protocol.values import CHANNELS
from forcemove.channel.store.records import Account, Saving

__all__ = ["Driven", "following_of"]


@dataclass(eq=False)
class Driven:
    """One channel that a node drives, as its owner sees it. `trouble`: what has gone wrong with it last, None since all
    went well."""

    client: Client
    performer: Performer
    chain: ChainWorker
    account: Account
    following: Following
    version: int
    first: tuple[bytes, bytes] | None
    trouble: Exception | None = None
    evidence: PendingEvidence = field(default_factory=PendingEvidence)
    due_at: int | None = 0
    silence_at: float = 0.0
    was: Channel | None = None
    is_genuine: bool = False

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

    def see(self, news: ChainNews) -> None:
        """What a look at the chain has found. Raises what is wrong with the channel, and what its client raises: then
        it is told again, from the beginning."""
        id_, look = self.id, news.look
        wrong = news.wrong.get(id_) or look.wrong.get(id_)
        if wrong is not None:
            raise wrong
        try:
            self.client.see(look.news.get(id_), look.head.next_time, is_new_block=look.is_new)
            self.is_genuine = self.is_genuine or id_ in news.genuine
            if self.is_genuine:
                self.client.trust(look.head.next_time)
        except BaseException:
            self.chain.follow(self.following)
            raise

    def feed(self, input_: Input) -> None:
        """A wish of the player's; what follows from it is saved and done by the node's next step. Raises as
        `machine.step`."""
        self.client.apply(input_, self.chain.time)

    def saving(self) -> Saving:
        """What is to be committed of it."""
        about, seed = self.first or (None, None)
        snapshot = CHANNELS.encode(self.channel)
        return Saving(self.id, self.version, snapshot, about, seed, evidence=tuple(self.evidence.pending))

    def saved(self) -> None:
        """It is on disk."""
        self.version, self.first = self.version + 1, None
        self.evidence.pending.clear()
        self.client.is_unsaved = False


def following_of(assembly: Assembly, channel: Channel, performer: Performer, confirmations: int) -> Following:
    """A channel as its chain's worker follows it."""

    def is_genuine() -> bool:
        return performer.are_contracts_genuine(assembly.app, assembly.factory, confirmations)

    return Following(
        channel.agreement,
        channel.payee,
        assembly.from_block,
        channel.last_signed is None,
        (channel.agreement.fixed_part.app_definition, assembly.app.artifact.name, assembly.factory),
        None if channel.genuine else is_genuine,
    )
