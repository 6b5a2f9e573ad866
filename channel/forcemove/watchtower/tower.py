"""A watchtower: accepts appointments, watches the chain for their channels, and answers challenges in time.

A tower has an account of its own that pays for gas, and no key that could move a participant's money. An appointment is
in the journal before the tower gives a receipt for it. Of several processes on one journal one drives, the others stand
by. Of several towers that watch one channel the first answer wins: answers that would come too late are only simulated,
and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.reverts import NO_ERRORS
from forcemove.errors import ForcemoveError, InvalidValue, PassingError, RuleError
from forcemove.node.clock import seconds
from forcemove.node.policy import default_confirmations, own_clock
from forcemove.node.polling import ParallelPolls
from forcemove.protocol.signing import Key
from forcemove.store.errors import LeaseNotHeld
from forcemove.store.journal import Journal
from forcemove.store.leases import RENEW_AFTER
from forcemove.store.records import Account, AppointmentRecord
from forcemove.watchtower.acceptance import (
    AcceptedAppointment,
    Apps,
    ReceivedAppointment,
    read,
    require_newer,
    require_proved,
)
from forcemove.watchtower.budgeted_sender import AnswerResult, BudgetedSender, SpendingTerms
from forcemove.watchtower.chain_watch import ChainWatch
from forcemove.watchtower.errors import BudgetExhausted, ChannelOver, NotWatched, StandingBy, TooManyChannels
from forcemove.watchtower.receipts import AppointmentReceipt, give_receipt
from forcemove.watchtower.settings import TowerSettings
from forcemove.watchtower.watched_channel import Due, WatchedChannel

__all__ = ["Tower"]

_NO_APPS: Apps = MappingProxyType({})


_SETTINGS = TowerSettings()


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
        self._on_event, self._on_error, self._clock = on_answer, on_error, clock
        self._name = Account(chains.pop(), key.address)
        self._confirmations = settings.confirmations or default_confirmations(self._name.chain_id)
        self._sender: BudgetedSender | None = None
        self._watches: dict[bytes, ChainWatch] = {}
        self._polls = ParallelPolls(on_error)
        self._asked_at: float | None = None

    # ------------------------------------------------------------------------------------------------- what it is given

    def accept(self, data: bytes) -> AppointmentReceipt:
        """Accept an appointment: the bytes that `appointment.sign` makes. The appointment is on disk when this returns
        its receipt.

        The same appointment again gives the same receipt. Raises, and has changed nothing then: `MalformedBytes`,
        `UnknownVersion`; `NotServed`, `NotAParticipant`, `NotWatched`, `NotProved`, `AppNotKnown`, and the rules' own
        errors; `NothingNewer`, `ChannelOver`, `TooManyChannels`, `BudgetExhausted`; `StandingBy`, `JournalError`.
        """
        sender = self._sender
        if sender is None:
            raise StandingBy(self._name.chain_id, self.account)
        received = read(data, self.account, self._served)
        watch, time = self._watch_for(received)
        watched = watch.channels.get(received.channel_id)
        known = watched.accepted.get(received.client) if watched is not None else None
        if known is not None and known.signed.content == received.signed.content:
            accepted = known
        else:
            self._require_welcome(sender, received, watched, time)
            accepted = AcceptedAppointment(received.client, received.appointment, received.signed, time)
            self._save(accepted)
            watch.guard(accepted)
        return give_receipt(accepted.appointment, accepted.signed, accepted.client, accepted.accepted_at, self._key)

    def _watch_for(self, received: ReceivedAppointment) -> tuple[ChainWatch, int]:
        """The watch of an appointment's adjudicator, and the chain's time as it was read last. Before the tower has
        read the chain, it accepts nothing."""
        domain = received.appointment.agreement.domain
        watch = self._watches.get(domain.adjudicator) if domain.chain_id == self._name.chain_id else None
        if watch is None or watch.looked_at is None:
            raise NotWatched(domain.chain_id, domain.adjudicator)
        return watch, watch.time

    def _require_welcome(
        self, sender: BudgetedSender, received: ReceivedAppointment, watched: WatchedChannel | None, time: int
    ) -> None:
        client, appointment = received.client, received.appointment
        if watched is not None and watched.is_over(time):
            raise ChannelOver(watched.id)
        known = watched.accepted.get(client) if watched is not None else None
        if known is not None:
            require_newer(appointment, known.appointment)
        elif sum(client in each.accepted for each in self._watched()) >= self._settings.max_channels:
            raise TooManyChannels(client, self._settings.max_channels)
        left = sender.left(client)
        if left <= 0:
            raise BudgetExhausted(client, received.channel_id, left, 1)
        require_proved(appointment, self._apps)

    def _save(self, accepted: AcceptedAppointment) -> None:
        row = AppointmentRecord(accepted.channel_id, accepted.client, accepted.encode())
        try:
            self._journal.towers.keep(self._name, row)
        except LeaseNotHeld:
            self._stand_by()
            raise StandingBy(self._name.chain_id, self.account) from None

    # ---------------------------------------------------------------------------------------------------- what it knows

    @property
    def is_driving(self) -> bool:
        """Whether this process drives the tower, as of the last poll; else another process does."""
        return self._sender is not None

    @property
    def channels(self) -> tuple[bytes, ...]:
        """The ids of the channels that the tower watches."""
        return tuple(each.id for each in self._watched())

    @property
    def looked_at(self) -> float | None:
        """When the tower has last read the chain (seconds of its clock); of several adjudicators, when the one that was
        not read for longest was read. None where one was not read yet, or this process does not drive."""
        read = [watch.looked_at for watch in self._watches.values()]
        known = [each for each in read if each is not None]
        return min(known) if known and len(known) == len(read) else None

    def left(self, client: bytes) -> int:
        """What may still be spent for a client, in wei; pending transactions count as spent. Raises
        `StandingBy`."""
        if self._sender is None:
            raise StandingBy(self._name.chain_id, self.account)
        return self._sender.left(client)

    def _watched(self) -> list[WatchedChannel]:
        return [watched for watch in self._watches.values() for watched in watch.channels.values()]

    # ----------------------------------------------------------------------------------------------------- what it does

    def poll(self) -> bool:
        """Read the chain, submit the answers that are due, and read what became of those that were sent. Returns
        whether anything has happened. `on_error` is called with what fails, and the next poll tries it again."""
        if not self._attempt(self._take_lease):
            return False
        # One endpoint that hangs delays the others once, by a moment.
        self._polls.look([worker for watch in self._watches.values() for worker in watch.workers])
        happened = [bool(self._attempt(self._take_in_looks, watch)) for watch in self._watches.values()]
        for watch in self._watches.values():
            for watched in tuple(watch.channels.values()):
                self._attempt(self._attend, watch, watched)
        happened += [bool(self._attempt(self._send)) for _ in range(2)]  # on a chain that mines at once it is mined now
        return any(happened)

    def _attempt(self, part: Callable[..., object], *arguments: object) -> object:
        """Call one part of a poll; its error is reported, and ends no other part."""
        try:
            return part(*arguments)
        except LeaseNotHeld as error:
            self._stand_by()
            self._on_error(error)
        except Exception as error:  # whatever an answer has led to ends no tower
            self._on_error(error)
        return None

    def _take_in_looks(self, watch: ChainWatch) -> bool:
        has_updates, errors = watch.take_in()
        for error in errors:
            self._on_error(error)
        return has_updates

    def _attend(self, watch: ChainWatch, watched: WatchedChannel) -> None:
        """Submit the answer that is due for a channel, or forget a channel that has been over for long."""
        now, sender = watch.time, self._sender
        if watch.looked_at is None or sender is None:
            return
        if not watched.is_over(now):
            self._plan(watched, now)
        if self._is_buried(watched, watch.number, now):
            self._journal.towers.forget(self._name, watched.id)
            watch.remove(watched.id)
        elif watch.looks >= watched.retry_from and not sender.is_busy_with(watched.id):
            for due in watched.due(now, watch.latest_time, self._settings.head_start):
                if self._ask(sender, watch, watched, due):
                    break

    def _plan(self, watched: WatchedChannel, now: int) -> None:
        """Plan when to conclude a finished channel, which is left to its participants for as long as a challenge would
        last; the plan is in the journal."""
        for each in watched.without_conclusion_time():
            planned = replace(each, conclude_at=now + watched.agreement.fixed_part.challenge_duration)
            self._save(planned)
            watched.accepted[each.client] = planned

    def _is_buried(self, watched: WatchedChannel, number: int, now: int) -> bool:
        if not watched.is_over(now) or watched.differences.clocks or watched.differences.is_denied:
            watched.over_at = None
        elif watched.over_at is None:
            watched.over_at = number
        return watched.over_at is not None and number - watched.over_at >= self._settings.buried

    def _ask(self, sender: BudgetedSender, watch: ChainWatch, watched: WatchedChannel, due: Due) -> bool:
        """Submit an answer; returns whether it was requested. One that fails is tried again at the next block: it may
        fail since another one was faster."""
        try:
            sender.submit(due.client, watched.id, due.submission, watch.call_of(watched, due), due.deadline)
        except BudgetExhausted as error:
            self._on_error(error)
        except PassingError:
            raise
        except ForcemoveError as error:
            self._notify(AnswerResult(due.client, watched.id, due.submission, error, None, 0))
        else:
            return True
        watched.retry_from = watch.looks + 1
        return False

    def _send(self) -> bool:
        if self._sender is None or self._sender.is_idle:
            return False
        try:
            paid = self._sender.look()
        finally:
            for error in self._sender.take_errors():
                self._on_error(error)
        for each in paid:
            self._take_in(each)
        return bool(paid)

    def _take_in(self, paid: AnswerResult) -> None:
        """Report an answer, and leave its channel until the follower can see it, which is `confirmations` blocks
        later."""
        self._notify(paid)
        for watch in self._watches.values():
            watched = watch.channels.get(paid.channel_id)
            if watched is not None:
                mined = self._confirmations * len(watch.workers) if paid.block is not None else 0
                watched.retry_from = watch.looks + 1 + mined if mined or paid.error else 0

    def _notify(self, paid: AnswerResult) -> None:
        """Report an answer. One that the rules refuse was not needed any more; any other error is given to
        `on_error`."""
        self._on_event(paid)
        if paid.error is not None and not isinstance(paid.error, RuleError | TransactionReverted):
            self._on_error(paid.error)

    # -------------------------------------------------------------------------------------------------------- the lease

    def _take_lease(self) -> bool:
        """Whether this process drives the tower. One that has lost the lease begins again from the journal when it has
        the lease again."""
        now, again = self._clock(), self._settings.lease * RENEW_AFTER
        if self._asked_at is not None and now - self._asked_at < again:
            return self._sender is not None
        if self._sender is not None and self._name not in self._journal.leases.renew(self._settings.lease):
            self._stand_by()
        if self._sender is None and self._journal.leases.take([self._name], self._settings.lease).granted:
            self._begin()
        self._asked_at = now
        return self._sender is not None

    def _begin(self) -> None:
        """Begin to drive, with all appointments and transactions of the journal."""
        self._watches = {
            address: self._new_watch(address) for address in dict.fromkeys(each.address for each in self._adjudicators)
        }
        for row in self._journal.towers.appointments(self._name):
            self._attempt(self._restore, row)
        errors = NO_ERRORS
        for each in self._adjudicators:
            errors |= each.errors
        endpoints = {id(each.chain): each.chain for each in self._adjudicators}
        settings = self._settings
        terms = SpendingTerms(
            self._served, settings.max_cost, self._confirmations, settings.bump_after, own_clock(self._name.chain_id)
        )
        self._sender = BudgetedSender(self._journal, self._key, tuple(endpoints.values()), errors, terms)

    def _new_watch(self, address: bytes) -> ChainWatch:
        endpoints = [each for each in self._adjudicators if each.address == address]
        return ChainWatch(
            endpoints, self._settings.first_block, self._confirmations, self._clock, own_clock(self._name.chain_id)
        )

    def _restore(self, row: AppointmentRecord) -> None:
        accepted = AcceptedAppointment.decode(row.client, row.body)
        domain = accepted.appointment.agreement.domain
        watch = self._watches.get(domain.adjudicator)
        if watch is None:
            raise NotWatched(domain.chain_id, domain.adjudicator)
        watch.guard(accepted)

    def _stand_by(self) -> None:
        self._sender, self._watches = None, {}

    def release(self) -> None:
        """Give the lease back, so that another process need not wait until it ends. Do not poll after this."""
        self._stand_by()
        self._journal.leases.release([self._name])
