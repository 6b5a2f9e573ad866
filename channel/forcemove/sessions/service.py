"""One node for any number of tables: it drives the channels that are played, and defends all others of its journal."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from forcemove.chain.chain import Chain
from forcemove.game import Game
from forcemove.inspect.journal_channel import read_channels
from forcemove.node.assemble import Assembly
from forcemove.node.friendly import FriendlyAssembly
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.setup import ChannelSetup
from forcemove.node.wallets import WalletRequest
from forcemove.program import program
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.sessions.defence import Defence
from forcemove.sessions.errors import JournalOfOtherPlayer
from forcemove.sessions.meetings.stake_limits import StakeLimits, deposited_in
from forcemove.sessions.meetings.stored import signed_names
from forcemove.sessions.messenger_tasks import carry, until_delivered, until_sent
from forcemove.sessions.options import Wallet
from forcemove.sessions.playing.connectivity import ChainConnectivity, reporting_connectivity
from forcemove.sessions.playing.notices import TableNotices
from forcemove.sessions.playing.played_channel import PlayedChannel, run_with_background
from forcemove.sessions.ports import Output, PlayerSeat
from forcemove.sessions.standby import when_free
from forcemove.store.records import Ownership, StoredChannel
from forcemove.text.explanations import explain
from forcemove.transport.messenger import ChannelMessenger
from forcemove.watchtower.publisher import TowerPublisher
from forcemove.workers.chain_defaults import default_look_every

if TYPE_CHECKING:
    from forcemove.store.journal import Journal
    from forcemove.watchtower.client import TowerClient

_SAFE_SECONDS = 5.0
_NOT_OVER = (Ownership.ACTIVE, Ownership.BACKUP, Ownership.MOVED)
_UNKEPT = "What you do is not sent before it is kept."


class TableService:
    """One node, the publisher of its watchtowers, and the defence of its journal, for any number of tables at once.

    While `run` runs, all channels that the journal has on the chain are defended, where there is a chain, and tables
    are played (`PlayTable`). A table that ends, or fails, ends neither the service nor another table. Its channel is
    released then: what is not over is defended like the others, and can be played again.
    """

    def __init__(
        self,
        journal: Journal,
        wallet: Wallet,
        output: Output,
        *,
        chains: Sequence[Chain] = (),
        games: Sequence[Game] = (),
        towers: Sequence[TowerClient] = (),
        lease: float = 60.0,
        limits: StakeLimits | None = None,
    ) -> None:
        """Make the node, the publisher and the defence.

        - `journal`: where channels and meetings are stored.
        - `wallet`: our keys.
        - `output`: where is shown what concerns no table, or comes while no channel is played.
        - `chains`: the chain through each endpoint; none for friendly games.
        - `games`: those that are installed; channels of other games cannot be defended.
        - `towers`: the watchtowers that are given an appointment for each channel.
        - `lease`: see `Node`.
        - `limits`: of new channels for a stake; None for none.
        """
        self._limits = limits
        self.journal, self.wallet, self.chains, self.games = journal, wallet, tuple(chains), tuple(games)
        self.lease = lease
        self._output, self._towers = output, tuple(towers)
        self._played: set[bytes] = set()
        self._claims: dict[bytes, object] = {}
        self._notices = TableNotices(output, lambda: self._node.channels)
        # The policy was asked before the channel was agreed on, where an endpoint that hangs delays no defence.
        self._node = Node(journal, lease=lease, policy=None, on_error=self._notices.on_node_error)
        self._publisher = TowerPublisher(self._towers, notify=self._notices.on_tower_notice)
        self._node.on_committed(self._publisher.on_committed)
        self._defence = Defence(journal, self._node, chains, games, wallet.payer, self._notices.say) if chains else None

    def on_committed(self, listener: Callable[[ManagedChannel], None]) -> None:
        """Call `listener` with each channel that was saved. See `Node.on_committed`."""
        self._node.on_committed(listener)

    def wallet_requests(self) -> tuple[WalletRequest, ...]:
        """What is to be signed by a wallet elsewhere. See `Node.wallet_requests`."""
        return self._node.wallet_requests()

    def warning(self, channel_id: bytes) -> str:
        """What the player of a channel has to know at once; empty for nothing."""
        error = self._node.unwritable
        kept = () if error is None else (_UNKEPT, *explain(error).splitlines())
        return " ".join((*kept, *self._notices.warnings(channel_id)))

    @property
    def has_tower(self) -> bool:
        """Whether a watchtower is given our newest states."""
        return bool(self._towers)

    @property
    def is_unwatched(self) -> bool:
        """Whether a channel for a stake, which is driven and not paid out, has a turn that no watchtower has
        acknowledged: then nobody else answers for us. Without a watchtower every such channel counts."""
        if self._towers:
            return bool(self._publisher.unprotected)
        return bool(deposited_in(each.channel for each in self._node.channels.values()))

    def require_within_limits(self, asset: bytes, deposit: int, duration: int) -> None:
        """Refuse a new channel, which is not in the journal yet, where more would lie in channels than is wanted.
        Raises as `StakeLimits.require`, whose parameters these are."""
        if self._limits is not None:
            found, _ = read_channels(self.journal, self.games, *_NOT_OVER)
            stored = [each.channel for each in found if each.address == self.wallet.key.address]
            driven = [each.channel for each in self._node.channels.values()]
            self._limits.require(asset, deposit, duration, deposited_in((*stored, *driven)))

    @property
    def has_money(self) -> bool:
        """Whether somebody has paid into a channel that is defended, as far as the journal knows."""
        return self._defence is not None and self._defence.has_money

    async def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run until `main` has ended. Raises what `main` raises, but for `EOFError`, of a player whose terminal is
        gone: what is left is defended then, until nothing is at stake."""
        try:
            await run_with_background(self._until_safe(main), *self._background())
        finally:
            left = self._defence.open_besides(self._played) if self._defence else 0
            self._node.release()
            if left:
                which = "1 other channel is" if left == 1 else f"{left} other channels are"
                self._output.say(f"besides     {which} open in this journal; `{program()} channel list` shows them.")

    async def _until_safe(self, main: Coroutine[Any, Any, None]) -> None:
        try:
            await main
        except EOFError:
            while self._defence and self._defence.open_besides(()) and self.has_money:
                await asyncio.sleep(_SAFE_SECONDS)

    def _background(self) -> Iterator[Coroutine[Any, Any, None]]:
        """What goes on beside the tables."""
        yield self._publisher.run()
        if self._defence is None:
            yield self._node.run()
        else:
            yield self._node.run(look_every=default_look_every(self.chains[0].chain_id))
            yield self._defence.run()

    # ----------------------------------------------------------------------------------------------------------- claims

    def is_free(self, id_: bytes, table: object) -> bool:
        """Whether no other table has claimed this."""
        return self._claims.get(id_, table) is table

    def claim(self, id_: bytes, table: object) -> bool:
        """Keep a channel, an offer or a meeting of the journal for one table; False where another table has it.
        `id_`: the channel's id, or the offer's hash."""
        return self._claims.setdefault(id_, table) is table

    def give_back(self, table: object) -> None:
        """Give back all that a table has claimed."""
        self._claims = {id_: owner for id_, owner in self._claims.items() if owner is not table}

    # ---------------------------------------------------------------------------------------------------------- driving

    async def drive(
        self,
        assembly: Assembly,
        confirmations: int,
        messenger: ChannelMessenger,
        seat: PlayerSeat,
        match: PlayedChannel,
    ) -> Channel:
        """Drive a channel until it is over, while `run` runs; the channel then. Raises as `Node.add`, and
        `PlayedChannel.until`; after a passing error it is tried again.

        - `assembly`: the channel, and the contracts that it needs.
        - `confirmations`: see `ChannelSetup`.
        - `messenger`: carries the channel's messages.
        - `seat`: our player.
        - `match`: shows the channel.
        """
        async with self._driving(assembly, messenger, seat, match, confirmations) as driven:
            if self._towers:
                self._publisher.add(driven, self.wallet.key)
            carrying, connectivity = carry(messenger, seat.output.say), ChainConnectivity(driven.chain.viewers)
            async with reporting_connectivity(connectivity, seat.output.say, "chain"):
                has_ended = until_sent(driven, self._node.is_sending_for)
                await run_with_background(match.until(has_ended, driven), carrying, seat.run())
        self._publisher.remove(driven.id)
        return driven.channel

    async def drive_friendly(
        self,
        assembly: FriendlyAssembly,
        messenger: ChannelMessenger,
        seat: PlayerSeat,
        match: PlayedChannel,
        patience: float,
    ) -> Channel:
        """Drive a friendly channel, while `run` runs, until both have signed the end, and the end is posted, or we have
        put it away; the channel then. Raises as `drive`.

        - `assembly`: the friendly channel.
        - `messenger`: carries the channel's messages.
        - `seat`: our player.
        - `match`: shows the channel.
        - `patience`: seconds to wait at most until the end is posted.
        """
        async with self._driving(assembly, messenger, seat, match) as driven:
            is_reported = until_delivered(lambda: driven.is_done, messenger, patience, seat.output.say, time.monotonic)
            has_ended = match.until(lambda: driven.is_put_away or is_reported(), driven)
            await run_with_background(has_ended, carry(messenger, seat.output.say), seat.run())
        return driven.channel

    @contextlib.asynccontextmanager
    async def _driving(
        self,
        assembly: Assembly | FriendlyAssembly,
        messenger: ChannelMessenger,
        seat: PlayerSeat,
        match: PlayedChannel,
        confirmations: int | None = None,
    ) -> AsyncIterator[ManagedChannel]:
        """A table's channel, once no other process drives it; what fails meanwhile is the match's."""
        setup = ChannelSetup(
            assembly,
            self.wallet.key,
            messenger,
            match.answer,
            on_event=match.on_event,
            confirmations=confirmations,
            payer=self.wallet.payer,
            names=signed_names(self.journal, assembly.agreement),
        )
        self._notices.seat(setup.id, match, seat.output)
        try:
            self._played.add(setup.id)
            driven = await when_free(lambda: self._add(setup), seat.output.say)
            self._notices.has_played = True
            seat.attach(driven, match.names, match.move_clock)
            yield driven
        finally:
            self._notices.leave(setup.id)
            if setup.id in self._node.channels:
                self._node.release_channel(setup.id)

    def _add(self, setup: ChannelSetup) -> ManagedChannel:
        """Let the node drive a channel, which it may have been defending. Raises as `Node.add`, and
        `JournalOfOtherPlayer`, and of a new channel as `require_within_limits`."""
        stored = self.journal.load(setup.id)
        if stored is None:
            self._require_within_limits(setup)
        else:
            self._require_one_player(stored)
        return self._node.add(setup)

    def _require_within_limits(self, setup: ChannelSetup) -> None:
        """Nothing goes on between this and `Node.add`: two channels that begin at the same time count each other."""
        agreement = setup.assembly.agreement
        if not agreement.is_friendly:
            index = agreement.fixed_part.participants.index(self.wallet.key.address)
            for asset, amounts in agreement.deposits:
                self.require_within_limits(asset, amounts[index], agreement.fixed_part.challenge_duration)

    def _require_one_player(self, stored: StoredChannel) -> None:
        """Raise `JournalOfOtherPlayer` where the journal has the channel as another participant's, whose process would
        be waited for in vain."""
        channel = CHANNELS.decode(stored.snapshot)
        if channel.agreement.fixed_part.participants[channel.index] != self.wallet.key.address:
            raise JournalOfOtherPlayer(self.journal.where)
