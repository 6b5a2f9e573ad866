"""A node's part of its journal: the leases of its channels and accounts, and one commit for all channels that have
changed. Also the lease of one channel alone, for a program that drives no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from forcemove.errors import JournalUnavailable
from forcemove.node.errors import ChannelInUse, LeaseLost
from forcemove.node.managed_channel import ManagedChannel
from forcemove.store.records import RENEW_AFTER, Account, Batch, ChannelLease, LeaseName, StoredChannel, TakenLeases

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_NOTHING = TakenLeases(frozenset(), {})


class HeldLease:
    """The lease of one channel, or of a table, by its id. `seconds`: how long it lasts; `renew_every`: how often to
    renew it."""

    def __init__(self, journal: Journal, id_: bytes, seconds: float) -> None:
        """Take the lease. Raises `ChannelInUse`."""
        self._leases, self._name, self._seconds = journal.leases, ChannelLease(id_), seconds
        self.renew_every = seconds * RENEW_AFTER
        refused = self._leases.take([self._name], seconds).refused
        if refused:
            raise ChannelInUse(id_, refused[self._name].until)

    def renew(self) -> None:
        """Renew the lease. Raises `LeaseLost` where another process has taken it."""
        if self._name not in self._leases.renew(self._seconds):
            raise LeaseLost(self._name.channel_id)

    def release(self) -> None:
        """Give the lease back, so that another process may take it."""
        self._leases.release([self._name])


class NodeLeases:
    """The leases and commits of one node."""

    def __init__(self, journal: Journal, lease: float, clock: Callable[[], float]) -> None:
        """`lease`: seconds that a lease lasts. `clock`: seconds."""
        self._journal, self._lease, self._clock = journal, lease, clock
        self._reserved: set[LeaseName] = set()
        self._loaded: dict[bytes, StoredChannel] = {}
        self._accounts: set[Account] = set()
        self._given: set[LeaseName] = set()
        self._renewed_at = clock()
        self._held: frozenset[LeaseName] = frozenset()
        self._doubtful: set[bytes] = set()

    # ---------------------------------------------------------------------------------------------------------- leases

    def reserve(self, names: Iterable[LeaseName]) -> None:
        """Take these leases in one commit, for calls of `take` to come, which ask again for those that are refused."""
        granted = self._take(names).granted
        self._reserved |= granted
        ids = [each.channel_id for each in granted if isinstance(each, ChannelLease)]
        self._loaded |= self._journal.load_many(ids)

    def load(self, channel_id: bytes) -> StoredChannel | None:
        """What the journal has of a channel whose lease was taken; it was read before where the lease was reserved, and
        nobody has saved the channel since. Raises `JournalError`."""
        loaded = self._loaded.pop(channel_id, None)
        return self._journal.load(channel_id) if loaded is None else loaded

    def take(self, channel_id: bytes, account: Account | None) -> list[LeaseName]:
        """Take the lease of a channel, and that of the account that sends for it, if there is one and its lease is
        free. Returns the leases that were taken. Raises `ChannelInUse`: then none was."""
        channel, accounts = ChannelLease(channel_id), () if account is None else (account,)
        asked = [each for each in (channel, *accounts) if each not in self._reserved and each not in self._accounts]
        taking = self._take(asked) if asked else _NOTHING
        granted = taking.granted | ({channel} & self._reserved)
        if channel in asked:  # another process may have had it meanwhile
            self._loaded.pop(channel_id, None)
        self._reserved.discard(channel)
        if channel in taking.refused:
            self.give_back(granted)
            raise ChannelInUse(channel_id, taking.refused[channel].until)
        self._accounts |= {each for each in accounts if each in granted or each in self._reserved}
        self._reserved.difference_update(accounts)
        return list(granted)

    def has(self, account: Account) -> bool:
        """Whether an account's lease is ours, by the journal; a free one is taken."""
        is_ours = account in self._take([account]).granted
        (self._accounts.add if is_ours else self._accounts.discard)(account)
        return is_ours

    def _take(self, names: Iterable[LeaseName]) -> TakenLeases:
        taking = self._journal.leases.take(names, self._lease)
        self._given -= taking.granted
        return taking

    def give_back(self, names: Iterable[LeaseName]) -> None:
        """Give these leases back, so that another process may take them: now, or as soon as the journal can be
        written. They are ours until then."""
        self._given.update(names)
        self._accounts -= self._given
        with suppress(JournalUnavailable):
            self._journal.leases.release(self._given)
            self._given.clear()

    def give_all_back(self, names: Iterable[LeaseName]) -> None:
        """Give back these leases, and all reserved ones and those of accounts."""
        self.give_back([*names, *self._reserved, *self._accounts])
        self._reserved.clear()
        self._loaded.clear()

    def renew(self) -> frozenset[LeaseName] | None:
        """Renew all leases, and return those that are still ours; None where that is not due yet, or they are those of
        the last time."""
        now = self._clock()
        if now - self._renewed_at < self._lease * RENEW_AFTER:
            return None
        if self._given:
            self.give_back(())
        held = self._journal.leases.renew(self._lease)
        self._renewed_at = now
        if held is self._held:
            return None
        self._held = held
        self._reserved &= held
        self._accounts &= held
        return held

    # --------------------------------------------------------------------------------------------------------- commits

    def commit(self, unsaved: Sequence[ManagedChannel]) -> frozenset[bytes]:
        """Save these channels in one transaction. Returns the ids of those that another process has taken over. Raises
        `JournalError`: then none counts as saved."""
        self._clear_doubt(unsaved)
        try:
            lost = self._journal.commit(Batch(tuple(each.channel_update() for each in unsaved)))
        except JournalUnavailable:
            self._doubtful.update(each.id for each in unsaved)
            raise
        for each in unsaved:
            if each.id not in lost:
                each.on_saved()
        return lost

    def _clear_doubt(self, unsaved: Sequence[ManagedChannel]) -> None:
        """After a commit that has failed and may yet be on disk: a channel whose stored version is one further was
        saved by it."""
        if not self._doubtful:
            return
        doubted = [each for each in unsaved if each.id in self._doubtful]
        versions = self._journal.versions([each.id for each in doubted])
        for each in doubted:
            if versions.get(each.id) == each.version + 1:
                each.on_version_written()
            self._doubtful.discard(each.id)
