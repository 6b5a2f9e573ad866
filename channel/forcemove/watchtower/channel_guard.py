"""Guards the channels of a tower whose process has the lease: sees what happens to them, answers, pays, and forgets the
channels that are over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from math import inf

from forcemove.chain.errors import TransactionReverted
from forcemove.errors import ForcemoveError, RuleError
from forcemove.store.errors import LeaseNotHeld
from forcemove.store.journal import Journal
from forcemove.store.records import Account, AppointmentRecord
from forcemove.watchtower.acceptance import AcceptedAppointment
from forcemove.watchtower.appointment import Appointment
from forcemove.watchtower.budgeted_sender import AnswerResult, BudgetedSender
from forcemove.watchtower.chain_watch import ChainWatch
from forcemove.watchtower.errors import BudgetExhausted, NotWatched
from forcemove.watchtower.settings import TowerSettings
from forcemove.watchtower.watched_channel import Due, WatchedChannel
from forcemove.workers.polling import ParallelPolls

_ROUNDS, _WAIT_SECONDS = 4, 1.0
"""How often the sender's look goes on where an endpoint that is alone answers soon, and how soon that is."""


class ChannelGuard:
    """Guards channels, from the journal's appointments on. `watches`: by the address (20 bytes) of the adjudicator;
    `sender`: pays; `channels_of`: how many channels are guarded for each client (20 bytes). What the journal refuses
    because the lease was lost raises `LeaseNotHeld`: then the guard is over."""

    def __init__(
        self,
        journal: Journal,
        account: Account,
        watches: Sequence[ChainWatch],
        sender: BudgetedSender,
        settings: TowerSettings,
        on_answer: Callable[[AnswerResult], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        """Begin with what the journal has. An appointment in it that cannot be read is reported, and harms no other.

        - `journal`: has the appointments.
        - `account`: of the tower.
        - `watches`: one for each adjudicator.
        - `sender`: of the account.
        - `settings`: the tower's.
        - `on_answer`: as of `Tower`.
        - `on_error`: as of `Tower`.
        """
        self.watches = {each.adjudicator.address: each for each in watches}
        self.sender, self.channels_of = sender, Counter[bytes]()
        self._journal, self._account, self._settings = journal, account, settings
        self._on_answer, self._on_error, self._polls = on_answer, on_error, ParallelPolls(on_error)
        for row in journal.towers.appointments(account):
            self._attempt(self._restore, row)

    def _restore(self, row: AppointmentRecord) -> None:
        accepted, appointment = AcceptedAppointment.decode(row.client, row.body)
        domain = appointment.agreement.domain
        if domain.adjudicator not in self.watches:
            raise NotWatched(domain.chain_id, domain.adjudicator)
        self._watch(accepted, appointment)

    def _watch(self, accepted: AcceptedAppointment, appointment: Appointment) -> None:
        watch = self.watches[appointment.agreement.domain.adjudicator]
        self.channels_of[accepted.client] += watch.guard(accepted, appointment)

    def keep(self, accepted: Collection[tuple[AcceptedAppointment, Appointment]]) -> None:
        """Write appointments down, each with its content, in one commit, and guard their channels. Raises
        `JournalError`, and has changed nothing then."""
        rows = [AppointmentRecord(each.channel_id, each.client, each.encode()) for each, _ in accepted]
        if rows:
            self._journal.towers.keep(self._account, *rows)
        for each in accepted:
            self._watch(*each)

    # ------------------------------------------------------------------------------------------------------- one poll

    def poll(self) -> bool:
        """As of `Tower.poll`. Raises `LeaseNotHeld`."""
        # One endpoint that hangs delays the others once, by a moment.
        self._polls.look([worker for watch in self.watches.values() for worker in watch.workers])
        happened = [bool(self._attempt(self._take_in_looks, watch)) for watch in self.watches.values()]
        for watch in self.watches.values():
            self._attempt(self._attend, watch)
        happened += [bool(self._attempt(self._send)) for _ in range(2)]  # on a chain that mines at once it is mined now
        return any(happened)

    def _attempt(self, part: Callable[..., object], *arguments: object) -> object:
        """Call one part of a poll; its error is reported, and ends no other part."""
        try:
            return part(*arguments)
        except LeaseNotHeld:
            raise
        except Exception as error:  # whatever an answer has led to ends no tower
            self._on_error(error)
        return None

    def _take_in_looks(self, watch: ChainWatch) -> bool:
        has_updates, errors = watch.take_in()
        for error in errors:
            self._on_error(error)
        return has_updates

    def _attend(self, watch: ChainWatch) -> None:
        """Do what there is to do for the channels of a watch. Answers are submitted by their deadlines: where a budget
        does not suffice for all at once, those with more time wait. What fails is tried again at the next poll."""
        due, over, answers = watch.take_due(), list[bytes](), list[tuple[float, WatchedChannel, Sequence[Due]]]()
        busy = self.sender.busy_channels if due else {}
        for watched in due:
            found = self._attempt(self._answers, watch, watched, busy)
            if not isinstance(found, Sequence):
                watch.mark(watched.id)
            elif self._is_buried(watched, watch.number, watch.time):
                over.append(watched.id)
            elif found:
                answers.append((found[0].deadline or inf, watched, found))
        if over:
            self._attempt(self._forget, watch, over)
        price = self._attempt(self.sender.lowest_price) if answers else None
        for _, watched, found in sorted(answers, key=lambda each: each[0]):
            if not isinstance(price, int) or not self._attempt(self._answer, watch, watched, found, price):
                watch.mark(watched.id)

    def _answers(self, watch: ChainWatch, watched: WatchedChannel, busy: Mapping[bytes, bool]) -> Sequence[Due]:
        """The answers that may be submitted for a channel now, the best first. `busy`: see `BudgetedSender`; what is on
        its way without a deadline becomes an answer where one is due."""
        now, is_answered = watch.time, busy.get(watched.id)
        watch.settle(watched)
        if watch.looks < watched.retry_from or is_answered:
            return ()
        due = watched.due(now, watch.latest_time, self._settings.head_start)
        return tuple(each for each in due if each.deadline is not None or is_answered is None)

    def _is_buried(self, watched: WatchedChannel, number: int, now: int) -> bool:
        if not watched.is_over(now) or watched.differences.clocks or watched.differences.is_denied:
            watched.over_at = None
        elif watched.over_at is None:
            watched.over_at = number
        return watched.over_at is not None and number - watched.over_at >= self._settings.buried

    def _forget(self, watch: ChainWatch, channel_ids: Sequence[bytes]) -> None:
        """Keep nothing of channels that are over, in the journal or in memory. An appointment for one that comes again
        is accepted like the first one, and forgotten again where the channel is over still: if a reorganisation that is
        deeper than `buried` has opened it, it is guarded from then on, and not before."""
        self._journal.towers.forget(self._account, *channel_ids)
        for id_ in channel_ids:
            self.channels_of.subtract(watch.remove(id_).accepted.keys())
        self.channels_of = +self.channels_of

    def _answer(self, watch: ChainWatch, watched: WatchedChannel, answers: Sequence[Due], price: int) -> bool:
        """Submit the first of these answers that can be. Where none can they are tried again at the next block: one may
        fail since another one was faster. `price`: of a unit of gas, wei."""
        for due in answers:
            try:
                call = watch.call_of(watched, due)
                self.sender.submit(due.client, watched.id, due.submission, call, due.deadline, price)
            except BudgetExhausted as error:
                self._on_error(error)
            except ForcemoveError as error:
                self._notify(AnswerResult(due.client, watched.id, due.submission, error, None, 0))
            else:
                return True
        watched.retry_from = watch.looks + 1
        return True

    def _send(self) -> bool:
        has_paid = False
        for each in range(_ROUNDS):
            if self.sender.is_idle:
                break
            paid = self._look(is_new=each == 0)
            has_paid = has_paid or bool(paid)
            for result in paid:
                self._take_in(result)
            awaited = self.sender.awaited
            if not awaited or not wait(awaited, _WAIT_SECONDS, FIRST_COMPLETED).done:
                break
        return has_paid

    def _look(self, *, is_new: bool) -> list[AnswerResult]:
        try:
            return self.sender.look(is_new=is_new)
        finally:
            for error in self.sender.take_errors():
                self._on_error(error)

    def _take_in(self, paid: AnswerResult) -> None:
        """Report an answer, and leave its channel until the follower can see it, which is `confirmations` blocks
        later."""
        self._notify(paid)
        for watch in self.watches.values():
            watched = watch.channels.get(paid.channel_id)
            if watched is not None:
                mined = watch.confirmations * len(watch.workers) if paid.block is not None else 0
                watched.retry_from = watch.looks + 1 + mined if mined or paid.error else 0
                watch.mark(watched.id)

    def _notify(self, paid: AnswerResult) -> None:
        """Report an answer. One that the rules refuse was not needed any more; any other error is reported as one."""
        self._on_answer(paid)
        if paid.error is not None and not isinstance(paid.error, RuleError | TransactionReverted):
            self._on_error(paid.error)
