"""A watchtower: accepts appointments, watches the chain for their channels, and answers challenges in time.

A tower has an account of its own that pays for gas, and no key that could move a participant's money. An appointment is
in the journal before the tower gives a receipt for it; appointments that are accepted together are in one commit. Of
several processes on one journal one drives, the others stand by. Of several towers that watch one channel the first
answer wins: answers that would come too late are only simulated, and cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.reverts import NO_ERRORS
from forcemove.errors import InvalidValue
from forcemove.protocol.signing import Key
from forcemove.store.errors import LeaseNotHeld
from forcemove.store.journal import Journal
from forcemove.store.records import RENEW_AFTER, Account
from forcemove.watchtower.acceptance import (
    AcceptedAppointment,
    Apps,
    read,
    require_newer,
    require_proved,
)
from forcemove.watchtower.appointment import Appointment, AppointmentReceipt, give_receipt
from forcemove.watchtower.budgeted_sender import AnswerResult, BudgetedSender, SpendingTerms
from forcemove.watchtower.chain_watch import ChainWatch
from forcemove.watchtower.channel_guard import ChannelGuard
from forcemove.watchtower.errors import BudgetExhausted, ChannelOver, NotWatched, StandingBy, TooManyChannels
from forcemove.watchtower.settings import TowerSettings
from forcemove.workers.chain_defaults import default_confirmations, own_clock
from forcemove.workers.clock import seconds

_NO_APPS: Apps = MappingProxyType({})


_SETTINGS = TowerSettings()


_Fresh = dict[tuple[bytes, bytes], tuple[AcceptedAppointment, Appointment]]
"""Appointments that are to be accepted together, each with its content, by channel and client."""


class Tower:
    """A watchtower with one account on one chain. `account`: 20 bytes; appointments are signed for it. One thread at a
    time may call a tower."""

    def __init__(
        self,
        journal: Journal,
        key: Key,
        adjudicators: Sequence[Adjudicator],
        served: Mapping[bytes, int],
        *,
        apps: Apps = _NO_APPS,
        settings: TowerSettings = _SETTINGS,
        on_answer: Callable[[AnswerResult], None] = lambda _: None,
        on_error: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """What the tower works with.

        - `journal`: where appointments, transactions and costs are kept.
        - `key`: of the account, which pays for gas and signs receipts.
        - `adjudicators`: all of one chain; several of one address are the same one through several endpoints.
        - `served`: the clients (20 bytes each) that the tower works for, and what it spends for each in all, in wei.
        - `apps`: the apps whose rules the tower knows; none by default.
        - `settings`: see `TowerSettings`.
        - `on_answer`: is called with what became of each answer.
        - `on_error`: is called with each error; the next poll tries again.
        - `clock`: seconds.

        Raises `InvalidValue` on adjudicators of several chains, or none.
        """
        chains = {each.chain.chain_id for each in adjudicators}
        if len(chains) != 1:
            raise InvalidValue("adjudicators", len(chains), "at least one, and all of one chain")
        self.account = key.address
        self._journal, self._key, self._adjudicators = journal, key, tuple(adjudicators)
        self._served, self._apps, self._settings = dict(served), apps, settings
        self._on_answer, self._on_error, self._clock = on_answer, on_error, clock
        self._name = Account(chains.pop(), key.address)
        self._confirmations = settings.confirmations or default_confirmations(self._name.chain_id)
        self._guard: ChannelGuard | None = None
        self._asked_at: float | None = None

    # ------------------------------------------------------------------------------------------------- what it is given

    def accept(self, data: bytes) -> AppointmentReceipt:
        """Accept an appointment: the bytes that `appointment.sign` makes. The appointment is on disk when this returns
        its receipt.

        The same appointment again gives the same receipt. Raises, and has changed nothing then: `MalformedBytes`,
        `UnknownVersion`; `NotServed`, `NotAParticipant`, `NotWatched`, `NotProved`, `AppNotKnown`, and the rules' own
        errors; `NothingNewer`, `ChannelOver`, `TooManyChannels`, `BudgetExhausted`; `StandingBy`, `JournalError`.
        """
        (found,) = self.accept_all([data])
        if isinstance(found, Exception):
            raise found
        return found

    def accept_all(self, bodies: Iterable[bytes]) -> list[AppointmentReceipt | Exception]:
        """Accept appointments; all are in one commit, and on disk when this returns. Returns for each its receipt, or
        what `accept` raises: one that is refused takes no other with it. Raises `StandingBy` and `JournalError` where
        none could be written down."""
        guard, fresh, added = self._require_driving(), _Fresh(), Counter[bytes]()
        outcomes = [self._accept(guard, each, fresh, added) for each in bodies]
        try:
            guard.keep(fresh.values())
        except LeaseNotHeld:
            self._guard = None
            raise StandingBy(self._name.chain_id, self.account) from None
        return [each if isinstance(each, Exception) else self._receipt(*each) for each in outcomes]

    def _receipt(self, accepted: AcceptedAppointment, appointment: Appointment) -> AppointmentReceipt:
        return give_receipt(appointment, accepted.signed, accepted.client, accepted.accepted_at, self._key)

    def _require_driving(self) -> ChannelGuard:
        if self._guard is None:
            raise StandingBy(self._name.chain_id, self.account)
        return self._guard

    def _accept(
        self, guard: ChannelGuard, data: bytes, fresh: _Fresh, added: Counter[bytes]
    ) -> tuple[AcceptedAppointment, Appointment] | Exception:
        """An appointment as it is accepted, and its content; or why it is refused. A new one is added to `fresh`.
        `added`: for how many channels each client has appointments there that it had none for."""
        try:
            received = read(data, self.account, self._served)
            client, id_, appointment = received.client, received.channel_id, received.appointment
            watch = self._watch_for(guard, appointment)
            watched = watch.channels.get(id_)
            held = watched.accepted.get(client) if watched is not None else None
            known, _ = fresh.get((id_, client), (held, None))
            if known is not None and known.signed.content == received.signed.content:
                return known, appointment
            if watched is not None and watched.is_over(watch.time):
                raise ChannelOver(id_)
            if known is not None:
                require_newer(appointment, known)
            elif guard.channels_of[client] + added[client] >= self._settings.max_channels:
                raise TooManyChannels(client, self._settings.max_channels)
            left = guard.sender.left(client)
            if left <= 0:
                raise BudgetExhausted(client, id_, left, 1)
            require_proved(appointment, self._apps)
            added[client] += known is None
            fresh[id_, client] = AcceptedAppointment.of(received, watch.time), appointment
            return fresh[id_, client]
        except Exception as error:  # whatever one appointment leads to is its own
            return error

    def _watch_for(self, guard: ChannelGuard, appointment: Appointment) -> ChainWatch:
        """The watch of an appointment's adjudicator. Before all endpoints have shown the time, which receipts and plans
        need, nothing is accepted."""
        domain = appointment.agreement.domain
        watch = guard.watches.get(domain.adjudicator) if domain.chain_id == self._name.chain_id else None
        if watch is None or not watch.time:
            raise NotWatched(domain.chain_id, domain.adjudicator)
        return watch

    # ---------------------------------------------------------------------------------------------------- what it knows

    @property
    def is_driving(self) -> bool:
        """Whether this process drives the tower, as of the last poll; else another process does."""
        return self._guard is not None

    @property
    def channels(self) -> tuple[bytes, ...]:
        """The ids of the channels that the tower watches."""
        return tuple(chain.from_iterable(each.channels for each in self._watches))

    @property
    def looked_at(self) -> float | None:
        """When the tower has last read the chain (seconds of its clock); of several adjudicators, when the one that was
        not read for longest was read. None where one was not read through all endpoints yet, or this process does not
        drive."""
        read = [watch.looked_at if watch.time else None for watch in self._watches]
        known = [each for each in read if each is not None]
        return min(known) if known and len(known) == len(read) else None

    def left(self, client: bytes) -> int:
        """What may still be spent for a client, in wei; pending transactions count as spent. Raises
        `StandingBy`."""
        return self._require_driving().sender.left(client)

    @property
    def _watches(self) -> Sequence[ChainWatch]:
        return () if self._guard is None else tuple(self._guard.watches.values())

    # ----------------------------------------------------------------------------------------------------- what it does

    def poll(self) -> bool:
        """Read the chain, submit the answers that are due, and read what became of those that were sent. Returns
        whether anything has happened. `on_error` is called with what fails, and the next poll tries it again."""
        try:
            guard = self._take_lease()
            return guard is not None and guard.poll()
        except LeaseNotHeld as error:
            self._guard = None
            self._on_error(error)
        except Exception as error:  # whatever a journal has led to ends no tower
            self._on_error(error)
        return False

    # -------------------------------------------------------------------------------------------------------- the lease

    def _take_lease(self) -> ChannelGuard | None:
        """What guards the channels where this process drives the tower. A process that has lost the lease begins again
        from the journal when it has the lease again."""
        now, again = self._clock(), self._settings.lease * RENEW_AFTER
        if self._asked_at is not None and now - self._asked_at < again:
            return self._guard
        if self._guard is not None and self._name not in self._journal.leases.renew(self._settings.lease):
            self._guard = None
        if self._guard is None and self._journal.leases.take([self._name], self._settings.lease).granted:
            self._guard = self._new_guard()
        self._asked_at = now
        return self._guard

    def _new_guard(self) -> ChannelGuard:
        """Begin to drive, with all appointments and transactions of the journal."""
        watches = [self._new_watch(address) for address in dict.fromkeys(each.address for each in self._adjudicators)]
        errors = NO_ERRORS
        for each in self._adjudicators:
            errors |= each.errors
        endpoints = {id(each.chain): each.chain for each in self._adjudicators}
        settings, own_time = self._settings, own_clock(self._name.chain_id)
        terms = SpendingTerms(self._served, settings.max_cost, self._confirmations, settings.bump_after, own_time)
        sender = BudgetedSender(self._journal, self._key, tuple(endpoints.values()), errors, terms)
        reports = self._on_answer, self._on_error
        return ChannelGuard(self._journal, self._name, watches, sender, settings, *reports)

    def _new_watch(self, address: bytes) -> ChainWatch:
        endpoints = [each for each in self._adjudicators if each.address == address]
        return ChainWatch(
            endpoints, self._settings.first_block, self._confirmations, self._clock, own_clock(self._name.chain_id)
        )

    def release(self) -> None:
        """Give the lease back, so that another process need not wait until it ends. Do not poll after this."""
        self._guard = None
        self._journal.leases.release([self._name])
