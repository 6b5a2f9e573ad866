"""Drives any number of channels in one process: takes in what has happened to them, saves all that have changed in one
commit, and only then carries out what is due.

One follower reads the chain for all channels of an adjudicator, one sender sends for an account. A slow endpoint or
transaction delays nothing but what needs it: `run` looks at each chain and each account in a thread of its own. `poll`
does the same work in order, for chains that answer at once. Flows in the same event loop as `run` give a channel their
inputs (`ManagedChannel.feed`) and wait until all is done (`ManagedChannel.catch_up`), which polls where `run` does not.

A channel and an account are leased from the journal: of two processes on one journal only one drives a channel. A
process that was away for longer than its lease can commit nothing of a channel that another process has taken over, and
so sends nothing of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from forcemove.chain.adjudicator import Adjudicator
from forcemove.errors import InvalidValue, JournalUnavailable
from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.node.assemble import Assembly
from forcemove.node.channel_builder import ChannelBuilder
from forcemove.node.errors import LeaseLost
from forcemove.node.histories import Histories
from forcemove.node.intake import Intake
from forcemove.node.leases import NodeLeases
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.policy import Policy
from forcemove.node.ready_set import ReadySet
from forcemove.node.setup import ChannelSetup
from forcemove.node.wallets import WalletRequest
from forcemove.node.workers import Workers
from forcemove.protocol.signing import Key
from forcemove.store.records import Account, ChannelLease
from forcemove.workers.clock import seconds
from forcemove.workers.polling import PollingWorker, keep_polling, pause_until

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_LEASE = 60.0
_LONGEST_PAUSE = 1.0
"""Seconds between two steps in which nothing happens: what is due is found so late at worst, whatever clocks do."""
_POLICY = Policy()


class Node:
    """`channels`: those that it drives, by id. `unwritable`: why `run` could commit nothing last, and so carried out
    nothing; None where it could."""

    def __init__(
        self,
        journal: Journal,
        *,
        lease: float = _LEASE,
        bump_after: float = 60.0,
        policy: Policy | None = _POLICY,
        on_error: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """Drive the channels of a journal.

        - `journal`: keeps the channels, and the leases of channels and accounts.
        - `lease`: seconds for which a channel is ours if this process stops.
        - `bump_after`: seconds after which more is offered for a transaction that waits.
        - `policy`: what a new channel must fulfil, None where it need not fulfil anything.
        - `on_error`: called with each error of what will be tried again.
        - `clock`: seconds; those of the running event loop unless given, see `clock.seconds`.
        """
        self.channels: dict[bytes, ManagedChannel] = {}
        self._journal = journal
        self._on_error, self._clock = on_error, clock
        self.unwritable: JournalUnavailable | None = None
        self._leases = NodeLeases(journal, lease, clock)
        self._ready_set = ReadySet(self.wake, clock)
        self._workers = Workers(journal, self._leases, bump_after, clock)
        self._histories = Histories(journal, on_error)
        self._builder = ChannelBuilder(
            self._workers, self._histories, policy, self._ready_set.mark_ready, self.catch_up, clock
        )
        self._intake = Intake(self.channels, self._workers, self._ready_set, on_error, clock)
        self._longest_pause = min(_LONGEST_PAUSE, lease / 10)  # a lease is renewed in time
        self._listeners: list[Callable[[ManagedChannel], None]] = []
        self._awake, self._stepped = asyncio.Event(), asyncio.Event()
        self._is_running = False

    def add(self, setup: ChannelSetup) -> ManagedChannel:
        """Drive a channel, a new one or one that the journal remembers, as the setup says; one that is driven already,
        as this setup says from now on. In one that was imported from a backup nothing is signed; it is defended and
        collected with what the backup has.

        Raises `ChannelInUse`, `NotOursToDrive`, `InvalidValue`, `JournalError`; and of a new channel
        what the policy refuses, `NotWorthItsDisputes` and `DurationTooShort`, and `ChainError`.
        """
        taken = self._leases.take(setup.id, setup.account)
        try:
            managed = self._builder.build(setup, self._leases.load(setup.id))
        except BaseException:
            if setup.id not in self.channels:
                self._leases.give_back(taken)
            raise
        if managed.id in self.channels:
            self._forget(managed.id)
        managed.follow()
        managed.on_put_away = self.put_away
        self.channels[managed.id] = managed
        self._ready_set.add(managed.id, setup.messenger)
        return managed

    def reserve(self, assemblies: Iterable[Assembly], key: Key) -> None:
        """Take the leases of many channels at once, which are to be added next, and read what the journal has of them:
        one commit and one query instead of one for each. A channel that another process has, or that is damaged, is
        refused when it is added. Raises `JournalError`."""
        chosen = list(assemblies)
        accounts = {
            Account(each.adjudicator.chain.chain_id, key.address) for each in chosen
        } - self._workers.accounts.keys()
        self._leases.reserve([*(ChannelLease(each.agreement.channel_id) for each in chosen), *accounts])

    def watch(
        self, endpoints: Sequence[Adjudicator], confirmations: int, home_assets: Mapping[bytes, bytes]
    ) -> Sequence[EndpointViewer]:
        """Read the statuses of channels that are not driven here, beside those that are.

        - `endpoints`: the adjudicator through each endpoint.
        - `confirmations`: as of `ChannelSetup`, where nothing reads this chain yet.
        - `home_assets`: by the ids of the channels, which take the place of those that were named for this adjudicator
          before.

        Returns what shows them, one for each endpoint: `EndpointViewer.statuses`.
        """
        viewers = self._workers.watching(endpoints, confirmations).viewers
        for each in viewers:
            each.watch(home_assets)
        return viewers

    def on_committed(self, listener: Callable[[ManagedChannel], None]) -> None:
        """Call `listener` with each channel whose newest state has just been committed: all that it shows then is on
        disk. The call is made in the node's thread, before anything is sent."""
        self._listeners.append(listener)

    def wallet_requests(self) -> tuple[WalletRequest, ...]:
        """The transactions that the channels want of wallets (`ChannelSetup.payer`), each wallet's oldest first."""
        return tuple(each for wallet in self._workers.wallets.values() for each in wallet.requests(self.channels))

    @property
    def is_sending(self) -> bool:
        """Whether a transaction is to be sent, or on its way, or the next step takes in its outcome."""
        return self._workers.is_sending

    def is_sending_for(self, channel_id: bytes) -> bool:
        """The same as `is_sending`, of the transactions for one channel."""
        return self._workers.is_sending_for(channel_id)

    # --------------------------------------------------------------------------------------------------------- driving

    def poll(self) -> bool:
        """Look at every chain and every account, one after the other, and step. Returns whether anything has happened.
        What fails goes to `on_error`, and is tried again by the next poll. Raises as `step`. After more than 5 seconds
        without a poll all endpoints are waited for anew, also those that were left out."""
        self._workers.poll_once(self._on_error)
        return self.step()

    async def run(self, *, look_every: float = 1.0, listen_every: float = 0.05) -> None:
        """Drive the channels until cancelled; those that are added meanwhile, too. What fails goes to `on_error`, and
        is tried again with the next endpoint at the next look; where all endpoints have failed later and later, every
        five seconds at the latest.

        - `look_every`: seconds between two looks at a chain or an account; twice as many at a chain from which no
          channel expects anything.
        - `listen_every`: seconds between two looks at messengers that do not say when something has come, and at what
          is left to be done.
        """
        self._awake, self._stepped, self._is_running = asyncio.Event(), asyncio.Event(), True
        try:
            async with asyncio.TaskGroup() as group:
                await self._drive(group, look_every, listen_every)
        finally:
            self._is_running = False
            self._stepped.set()

    async def _drive(self, group: asyncio.TaskGroup, look_every: float, listen_every: float) -> None:
        awake: dict[PollingWorker, asyncio.Event] = {}
        while True:
            for worker in set(self._workers) - awake.keys():
                awake[worker] = asyncio.Event()
                group.create_task(keep_polling(worker, self._on_error, self.wake, awake[worker], every=look_every))
            is_busy = False
            try:
                is_busy, self.unwritable = self.step(), None
            except JournalUnavailable as error:
                self.unwritable = error
                self._on_error(error)
            for worker, event in awake.items():
                if not worker.is_idle:
                    event.set()
            stepped, self._stepped = self._stepped, asyncio.Event()
            stepped.set()
            pause = self._ready_set.pause(
                listen_every, listen_every if self._histories.is_untidy else self._longest_pause
            )
            await pause_until(self._awake, 0 if is_busy else pause)

    def wake(self) -> None:
        """Let `run` step now: something has come in. Called in its thread."""
        self._awake.set()

    async def catch_up(self) -> None:
        """Return when `run` has taken in, saved and carried out all that was there when this was called. Where `run`
        does not run, this polls. Raises as `step`."""
        if not self._is_running:
            self.poll()
            return
        self.wake()
        await self._stepped.wait()

    def step(self) -> bool:
        """Take in what looks have found and the messages, ask the players, save all channels that have changed in one
        commit, and carry out what is due. Returns whether anything has happened to a channel.

        Raises `JournalError` where nothing could be committed: then nothing was carried out either, and the next step
        commits it.
        """
        self._renew()
        busy = self._intake.take_in()
        while to_do := [each for each in busy if each.client.is_unsaved or each.client.has_due]:
            for each in to_do:
                each.executor.ask_player(each.chain.time)
            self._commit(to_do)
            for each in to_do:
                if each.id in self.channels:
                    each.executor.carry_out(each.chain.time)
            busy = [each for each in busy if each.id in self.channels]
        for each in busy:
            for error in self._intake.settle(each):
                self._on_error(error)
        self._histories.tidy_up(is_idle=not busy)
        return any(each.has_changed for each in busy)

    # --------------------------------------------------------------------------------------------------------- keeping

    def _commit(self, managed: Iterable[ManagedChannel]) -> None:
        """Save the channels that have changed. One that another process has taken over is dropped."""
        unsaved = [each for each in managed if each.client.is_unsaved]
        self._histories.on_appended(len(unsaved))
        lost = self._leases.commit(unsaved) if unsaved else frozenset()
        for each in unsaved:
            if each.id in lost:
                self._drop(each.id)
                continue
            for listener in self._listeners:
                each.attempt(listener, each)

    def _drop(self, channel_id: bytes) -> None:
        self.release_channel(channel_id)  # the lease is ours still where the channel was imported in a later version
        self._on_error(LeaseLost(channel_id))

    def _forget(self, channel_id: bytes) -> None:
        managed = self.channels.pop(channel_id)
        self._intake.forget(channel_id)
        managed.chain.unfollow(channel_id)

    def _renew(self) -> None:
        held = self._leases.renew()
        if held is None:
            return
        ours = {each.channel_id for each in held if isinstance(each, ChannelLease)}
        for channel_id in sorted(self.channels.keys() - ours):
            self._drop(channel_id)
        for account, worker in self._workers.accounts.items():
            if worker.is_ours and account not in held:
                worker.dismiss()

    def release_channel(self, channel_id: bytes) -> None:
        """Stop driving a channel. Another process may continue it."""
        self._forget(channel_id)
        self._leases.give_back([ChannelLease(channel_id)])

    def put_away(self, channel_id: bytes) -> None:
        """Note in the journal that a friendly channel is put away, unfinished, and stop driving it: nothing more is
        signed in it, and what arrives for it changes nothing. Raises `InvalidValue` where something is at stake, and
        `JournalError`: then nothing has changed."""
        managed = self.channels[channel_id]
        if not managed.channel.agreement.is_friendly:
            raise InvalidValue("channel", channel_id, "one in which nothing is at stake")
        managed.is_put_away = True
        managed.client.require_save()
        try:
            self._commit([managed])
        except BaseException:
            managed.is_put_away = False
            raise
        if channel_id in self.channels:
            self.release_channel(channel_id)

    def release(self) -> None:
        """Give all leases back, so that another process need not wait for them to end. Drive nothing after this."""
        self._leases.give_all_back(map(ChannelLease, self.channels))
        for id_ in list(self.channels):
            self._forget(id_)
        self._workers.accounts.clear()
