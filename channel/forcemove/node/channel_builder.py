"""Makes the `ManagedChannel` that a node drives, of a channel's setup and of what the journal has of the channel."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps
from forcemove.chain.errors import NotConfirmed
from forcemove.chain.genuine import genuine_steps
from forcemove.chain.prices import dearest
from forcemove.errors import InvalidValue, MalformedBytes, UnknownVersion
from forcemove.follower.follow_request import FollowRequest
from forcemove.history.index import HistoryIndex
from forcemove.node.assemble import Assembly
from forcemove.node.client import Client, begin_or_resume
from forcemove.node.effect_executor import EffectExecutor
from forcemove.node.errors import NotOursToDrive
from forcemove.node.friendly import FriendlyAssembly, NullSubmitter
from forcemove.node.histories import Histories
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.metadata import METADATA, ChannelMetadata, checkpoint_of
from forcemove.node.policy import ConditionsCache, Policy
from forcemove.node.recorder import ChannelRecorder
from forcemove.node.setup import ChannelSetup
from forcemove.node.tx_submitter import TxSubmitter
from forcemove.node.workers import Workers
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.sender.transactions import TxRequest
from forcemove.store.records import Account, Ownership, StoredChannel

_NO_FACTORY = bytes(20)


class ChannelBuilder:
    """Makes the channels of one node."""

    def __init__(
        self,
        workers: Workers,
        histories: Histories,
        policy: Policy | None,
        on_input: Callable[[bytes], None],
        catch_up: Callable[[], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        """Make channels of these parts.

        - `workers`: look at chains and accounts.
        - `histories`: what the journal has of the channels' histories.
        - `policy`: what a new channel must fulfil, None where it need not fulfil anything.
        - `on_input`: see `ManagedChannel`.
        - `catch_up`: see `ManagedChannel`.
        - `clock`: seconds.
        """
        self._workers, self._histories, self._policy, self._clock = workers, histories, policy, clock
        self._on_input, self._catch_up = on_input, catch_up
        self._market = ConditionsCache(clock)

    def build(self, setup: ChannelSetup, stored: StoredChannel | None) -> ManagedChannel:
        """A new channel, or the one that is stored. Raises as `Node.add`."""
        channel = _begin_or_resume(setup, stored)
        if stored is None:
            self._require_policy(setup, channel.index)
        is_copy = stored is not None and stored.ownership is Ownership.BACKUP
        key = setup.key if setup.signs and not is_copy else None
        recorder = self._recorder(setup, is_new=stored is None)
        client = Client(channel, key, setup.assembly.app, silence=setup.silence, on_step=recorder.on_step)
        return ManagedChannel(
            client,
            EffectExecutor(client, self._submitter(setup), setup.messenger, setup.choose, recorder.on_event),
            recorder,
            self._workers.chain(setup.assembly, setup.depth),
            _following_of(setup, channel, stored),
            stored,
            _metadata_of(setup) if stored is None else _stored_metadata(setup, stored),
            self._on_input,
            self._catch_up,
            self._histories.load,
        )

    def _recorder(self, setup: ChannelSetup, *, is_new: bool) -> ChannelRecorder:
        """What collects the channel's history; a new channel has none."""
        load = HistoryIndex if is_new else partial(self._histories.load_index, setup.id)
        return ChannelRecorder(load, setup.on_event)

    def _require_policy(self, setup: ChannelSetup, index: int) -> None:
        """Raise what the policy raises of a channel; a friendly channel is not asked about."""
        assembly = setup.assembly
        if self._policy is None or isinstance(assembly, FriendlyAssembly):
            return
        chains = [each.chain for each in (assembly.adjudicator, *assembly.others)]
        for conditions in self._market.conditions(chains):
            self._policy.require(assembly.agreement, index, setup.depth, conditions, assembly.app)

    def _submitter(self, setup: ChannelSetup) -> TxSubmitter | NullSubmitter:
        assembly = setup.assembly
        if isinstance(assembly, FriendlyAssembly):
            return NullSubmitter()
        viewers = self._workers.chain(assembly, setup.depth).viewers
        return TxSubmitter(
            assembly.adjudicator,
            self._sending(setup, assembly),
            self._clock,
            lambda: dearest(each.prices for each in viewers),
            max_cost=setup.max_cost,
            challenger=None if setup.sender is setup.key else setup.key,
            block_time=setup.block_time,
        )

    def _sending(self, setup: ChannelSetup, assembly: Assembly) -> Callable[[TxRequest], None]:
        """What takes the channel's requests: the worker of the account that sends, or the wallet."""
        chain_id, sender = assembly.agreement.domain.chain_id, setup.sender
        if isinstance(sender, bytes):
            return self._workers.wallet(Account(chain_id, sender)).submit
        return self._workers.account(Account(chain_id, sender.address), assembly, sender, setup.depth).submit


def _begin_or_resume(setup: ChannelSetup, stored: StoredChannel | None) -> Channel:
    """The channel to drive. Raises `NotOursToDrive` for a channel that was moved or put away, and for the backup of a
    friendly one, which nothing defends; `InvalidValue` where the adjudicator, the key, or what is stored do not fit the
    agreement."""
    assembly = setup.assembly
    if not isinstance(assembly, FriendlyAssembly) and assembly.adjudicator.domain != assembly.agreement.domain:
        raise InvalidValue("adjudicator", assembly.adjudicator.address, "the one of the agreement")
    if stored is not None:
        is_gone = stored.ownership in (Ownership.MOVED, Ownership.PUT_AWAY)
        is_copy = stored.ownership is Ownership.BACKUP
        if is_gone or (is_copy and isinstance(assembly, FriendlyAssembly)):
            raise NotOursToDrive(setup.id)
    remembered = CHANNELS.decode(stored.snapshot) if stored else None
    return begin_or_resume(remembered, assembly.agreement, setup.key)


def _stored_metadata(setup: ChannelSetup, stored: StoredChannel) -> ChannelMetadata:
    """What the journal has of a channel besides its snapshot; made again, without when the channel began, where another
    program has written it."""
    try:
        return METADATA.decode(stored.metadata)
    except (MalformedBytes, UnknownVersion):
        return replace(_metadata_of(setup), begun_at=0)


def _metadata_of(setup: ChannelSetup) -> ChannelMetadata:
    """What the journal keeps of a new channel besides its snapshot."""
    assembly, begun_at = setup.assembly, int(time.time())
    app, names = assembly.app.artifact.name, setup.names or UNSET
    if isinstance(assembly, FriendlyAssembly):
        return ChannelMetadata(app, 0, _NO_FACTORY, setup.depth, begun_at=begun_at, player_names=names)
    began = (assembly.from_block, assembly.factory, setup.depth, assembly.origin_hash, begun_at)
    return ChannelMetadata(app, *began, tuple(assembly.tokens) or UNSET, names)


def _following_of(setup: ChannelSetup, channel: Channel, stored: StoredChannel | None) -> FollowRequest:
    """What a chain's worker needs to follow a channel. `stored`: what the journal has of the channel; where it has
    something, the chain may be another one by now."""
    assembly, depth, is_new = setup.assembly, setup.depth, channel.last_signed is None
    if isinstance(assembly, FriendlyAssembly):
        return FollowRequest(channel.agreement, channel.payee, 0, is_new)
    app, artifact, factory = channel.agreement.fixed_part.app_definition, assembly.app.artifact, assembly.factory

    def is_genuine(adjudicator: Adjudicator) -> Steps[bool]:
        try:
            yield from genuine_steps(
                adjudicator.chain, adjudicator.address, app, artifact, factory, confirmations=depth
            )
        except NotConfirmed:
            return False  # it is asked again
        return True

    return FollowRequest(
        channel.agreement,
        channel.payee,
        assembly.from_block,
        is_new,
        assembly.origin_hash,
        stored is not None,
        checkpoint_of(channel, stored.cursor) if stored else None,
        (app, artifact.name, factory),
        None if channel.genuine else is_genuine,
    )
