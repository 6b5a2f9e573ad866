"""Takes in what has come for the channels of a node: chain updates, outcomes of transactions, messages, and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forcemove.follower.endpoint_quorum import QuorumUpdate
from forcemove.node.friendly import ChainSource
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.ready_set import ReadySet
from forcemove.node.workers import Workers
from forcemove.sender.transactions import ChannelTx
from forcemove.workers.account_worker import AccountWorker

_SAVE_EVERY = 1_000
"""Blocks after which channels in which nothing has happened are saved."""


class Intake:
    """Of one node."""

    def __init__(
        self,
        channels: Mapping[bytes, ManagedChannel],
        workers: Workers,
        ready_set: ReadySet,
        on_error: Callable[[Exception], None],
        clock: Callable[[], float],
    ) -> None:
        """Take in for the channels of a node.

        - `channels`: those that it drives, by id.
        - `workers`: what looks at chains and accounts for them.
        - `ready_set`: says which channels' messengers to ask.
        - `on_error`: called with each error that is not a single channel's.
        - `clock`: seconds.
        """
        self._channels, self._workers, self._ready_set = channels, workers, ready_set
        self._on_error, self._clock = on_error, clock
        self._failing: set[bytes] = set()
        self._save_at: dict[ChainSource, int] = {}

    def take_in(self) -> list[ManagedChannel]:
        """Take in all that has come; returns the channels to which something has happened."""
        busy: dict[bytes, ManagedChannel] = {}
        for chain in self._workers.chains.values():
            self._take_in_chain(chain, busy)
        for account in self._workers.accounts.values():
            self._take_in_outcomes(account, busy)
        now = self._clock()
        for managed in self._ready_set.take(self._channels):
            self._listen(managed, now, busy)
        return list(busy.values())

    def settle(self, managed: ManagedChannel) -> list[Exception]:
        """All that could be done for a channel is done for now. Returns what has gone wrong with it.

        Of a channel that is closed by the word of all endpoints nothing is sent any more that it does not want: its
        sender may hold back what a reorganisation made due for a while. If it is due again, the channel asks again."""
        errors = managed.settle()
        if managed.channel.is_closed and managed.is_up_to_date and not managed.channel.differs:
            self._workers.withdraw(managed.id, managed.channel.requested)
        (self._failing.add if managed.client.has_failures else self._failing.discard)(managed.id)
        if managed.is_settled:
            self._ready_set.settle(managed.id)
        self._ready_set.plan(managed)
        return errors

    def forget(self, channel_id: bytes) -> None:
        """The node drives this channel no more."""
        self._failing.discard(channel_id)
        self._ready_set.forget(channel_id)

    def _take_in_chain(self, chain: ChainSource, busy: dict[bytes, ManagedChannel]) -> None:
        """Take in what looks at a chain have found."""
        update = chain.take_in()
        for managed in self._concerned(chain, update):
            self._wake(managed, busy)
            managed.attempt(managed.on_chain_update, update)
        if update.has_looked and self._is_snapshot_due(chain):
            self._save_quiet(chain, busy)
        for error in update.errors:
            self._on_error(error)

    def _concerned(self, chain: ChainSource, update: QuorumUpdate) -> list[ManagedChannel]:
        """The channels of which the update says something; at a new block also those with failed transactions."""
        ids = update.updates.keys() | update.differences.keys() | update.channel_errors.keys() | update.genuine
        if update.is_new:
            ids |= self._failing
        named = (self._channels.get(id_) for id_ in ids)
        return [each for each in named if each is not None and each.chain is chain]

    def _is_snapshot_due(self, chain: ChainSource) -> bool:
        """Whether 1,000 blocks have been read since channels in which nothing has happened were last saved: after a
        restart their logs are read from the block that was saved."""
        cursor, save_at = chain.cursor, self._save_at.get(chain)
        if cursor is None or (save_at is not None and cursor.number < save_at):
            return False
        self._save_at[chain] = cursor.number + _SAVE_EVERY
        return save_at is not None

    def _save_quiet(self, chain: ChainSource, busy: dict[bytes, ManagedChannel]) -> None:
        """Have channels in which nothing has happened for long saved, with how far their chain was read."""
        for managed in self._channels.values():
            if managed.chain is chain and managed.is_up_to_date and not managed.channel.is_over_and_paid:
                managed.client.require_save()
                self._wake(managed, busy)

    def _take_in_outcomes(self, account: AccountWorker, busy: dict[bytes, ManagedChannel]) -> None:
        """Take in what became of an account's transactions."""
        for error in account.take_errors():
            self._on_error(error)
        for outcome in account.take_outcomes():
            request = outcome.request_id
            managed = self._channels.get(request.channel_id) if isinstance(request, ChannelTx) else None
            if managed is not None:
                self._wake(managed, busy)
                managed.executor.on_tx_outcome(outcome)
                self._failing.add(managed.id)

    def _wake(self, managed: ManagedChannel, busy: dict[bytes, ManagedChannel]) -> None:
        if managed.id not in busy:
            busy[managed.id] = managed
            self._ready_set.keep(managed.id)  # until it is settled, whatever fails
            managed.wake(self._clock())

    def _listen(self, managed: ManagedChannel, now: float, busy: dict[bytes, ManagedChannel]) -> None:
        """Take in a channel's messages, what is due by time, and what is left from before."""
        managed.attempt(managed.executor.receive)
        if managed.has_input:
            self._wake(managed, busy)
            managed.take_input()
        managed.break_silence(now)
        if managed.is_unsettled:
            self._wake(managed, busy)
        if managed.id not in busy:
            self._ready_set.plan(managed)
