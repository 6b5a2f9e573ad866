"""A client on its own: with a follower, a sender and a store, driven by polling. Each poll takes in what has happened,
saves what follows from it, and carries it out; it never waits.

For local tables, demonstrations and tests. Many channels in one process are driven by a `Node`.
"""

from __future__ import annotations

from collections.abc import Callable

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.chain.genuine import are_genuine
from forcemove.errors import InvalidValue, PassingError
from forcemove.follower.endpoint_quorum import EndpointQuorum
from forcemove.follower.endpoint_viewer import FollowRequest
from forcemove.game import PlayableApp
from forcemove.node.client import Client, begin_or_resume
from forcemove.node.clock import seconds
from forcemove.node.effect_executor import EffectExecutor, MoveChooser
from forcemove.node.events import CounterpartyFault, Event
from forcemove.node.ports import Messenger, Store
from forcemove.node.tx_submitter import TxSubmitter
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import Input, Tick
from forcemove.protocol.signing import Key
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import MemoryTxStore

__all__ = ["PolledClient"]


class PolledClient:
    """One participant in one channel."""

    def __init__(
        self,
        agreement: Agreement,
        key: Key,
        app: PlayableApp,
        adjudicator: Adjudicator,
        messenger: Messenger,
        store: Store,
        choose: MoveChooser,
        *,
        on_event: Callable[[Event], None] = lambda _: None,
        from_block: int = 0,
        confirmations: int = 1,
        factory: bytes = CUSTOMARY_FACTORY,
        bump_after: float = 60.0,
        silence: float = 5.0,
        max_cost: int | None = None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`from_block`: where the adjudicator was deployed, or a later block before the channel's first log.
        `confirmations`: how many blocks a log, or a contract, must be deep to be believed; 1 is the newest block.
        `factory`: the one that our own address book names (20 bytes), from which the contracts' addresses must follow.
        `bump_after`: seconds after which a transaction that waits is offered more for. `silence`: seconds to wait for a
        counterparty's message before we ask whether one was lost, by the `clock`. `max_cost`: what the gas of a
        transaction may cost, in wei, see `orders.order`.

        Raises `InvalidValue` where key, adjudicator, or what the store remembers, do not fit the agreement.
        """
        if adjudicator.domain != agreement.domain:
            raise InvalidValue("adjudicator", adjudicator.address, "the one of the agreement")
        channel = begin_or_resume(store.load(agreement.channel_id), agreement, key)
        self._client = Client(channel, key, app, silence=silence)
        self._app, self._adjudicator, self._store, self._clock = app, adjudicator, store, clock
        self._from_block, self._confirmations, self._factory = from_block, confirmations, factory
        self._views = EndpointQuorum([adjudicator], confirmations, clock, own_time=None)
        (self._viewer,) = self._views.viewers
        self._sender = Sender(
            adjudicator.chain,
            key,
            MemoryTxStore(),
            confirmations=confirmations,
            bump_after=bump_after,
            error_table=adjudicator.errors,
        )

        def notify(event: Event) -> None:
            if isinstance(event, CounterpartyFault):
                store.keep_evidence(agreement.channel_id, event.error)
            on_event(event)

        submitter = TxSubmitter(adjudicator, self._sender.submit, clock, max_cost=max_cost, block_time=0)
        self._executor = EffectExecutor(self._client, submitter, messenger, choose, notify)
        self._follow()

    @property
    def channel(self) -> Channel:
        """The channel as this participant sees it."""
        return self._client.channel

    @property
    def phase(self) -> Phase:
        """The channel's phase at the time that the last `poll` or `feed` has read from the chain, which is not asked
        again. Before the first it is the phase at time 0: no deadline has passed."""
        return self.channel.phase(self._viewer.last_time)

    def poll(self) -> bool:
        """Take in what has happened, and do what follows. Returns whether there was anything to take in or to do.

        Raises, when all that could be done is done, the first thing that went wrong: `NoContract` and `NotGenuine`
        before anything is signed, `ChainError` when the chain is out of reach, and whatever line, store and the owner's
        functions raise. Polling again goes on where it stopped.
        """
        before = self.channel
        self._executor.begin()
        self._viewer.expire()
        self._client.wake(self._clock())
        self._attempt(self._finish)
        self._attempt(self._take_in)
        self._attempt(self._finish)
        if self.channel == before and not self._executor.errors:
            self._attempt(lambda: self._client.apply(Tick(), self._viewer.now()))
            self._attempt(self._finish)
        self._raise_errors()
        return self._executor.is_busy or self.channel != before

    def feed(self, input_: Input) -> None:
        """Apply one input and carry out what follows from it.

        Raises `LocalError` and `CounterpartyError`; and, once all the rest is carried out, what was wrong with a move
        that the player chose, or what the line or a function of the owner's has raised.
        """
        self._viewer.expire()
        self._client.apply(input_, self._viewer.now())
        self._attempt(self._finish)
        self._raise_errors()

    def _raise_errors(self) -> None:
        if errors := self._executor.take_errors():
            raise errors[0]

    async def catch_up(self) -> bool:
        """`poll`, for a flow."""
        return self.poll()

    def _attempt(self, part: Callable[[], None]) -> None:
        """What one part raises keeps no other from its work."""
        try:
            part()
        except Exception as error:
            self._executor.errors.append(error)

    def _take_in(self) -> None:
        """The chain's news, what the counterparties say, and their silence."""
        is_genuine = self.channel.genuine or self._are_contracts_genuine()
        self._look_at_chain()  # first: a message may answer what the chain has settled already
        if is_genuine:
            self._client.on_contracts_genuine(self._viewer.now())
        self._executor.receive()
        self._executor.process_messages(self._viewer.now)
        self._client.resync_after_silence(self._clock(), self._viewer.now())

    def _are_contracts_genuine(self) -> bool:
        adjudicator, app = self._adjudicator, self.channel.agreement.fixed_part.app_definition
        return are_genuine(
            adjudicator.chain,
            adjudicator.address,
            app,
            self._app.artifact,
            self._factory,
            confirmations=self._confirmations,
        )

    def _follow(self) -> None:
        channel = self.channel
        is_new = channel.last_signed is None
        self._views.follow(FollowRequest(channel.agreement, channel.payee, self._from_block, is_new))

    def _look_at_chain(self) -> None:
        client = self._client
        self._viewer.prepare((client.id,) if client.is_uncertain else ())()
        self._viewer.take()
        update = self._views.take_in()
        self._look_at_transactions(is_new_block=update.is_new)
        read, differ = update.updates.get(client.id), update.differences.get(client.id)
        try:
            client.on_chain_update(read, self._viewer.now(), is_new_block=update.is_new, differences=differ)
        except BaseException:
            self._follow()  # it is told again, from the beginning
            raise
        if client.id in update.channel_errors:
            raise update.channel_errors[client.id]

    def _look_at_transactions(self, *, is_new_block: bool) -> None:
        """What fails there is no reason not to look at the channel."""
        try:
            for outcome in self._sender.look(is_new=is_new_block):
                self._executor.on_tx_outcome(outcome)
        except PassingError as error:
            self._executor.errors.append(error)

    def _finish(self) -> None:
        """Persist, then send, until nothing is due."""
        while self._client.is_unsaved or self._client.has_due:
            if self._client.is_unsaved:
                self._store.save(self.channel)
                self._executor.on_saved()
            self._executor.carry_out(self._viewer.now)
            for _ in range(2):  # on a chain that mines at once it is sent and mined then
                self._look_at_transactions(is_new_block=False)
