"""Sends for an account, or asks the process to send that has its lease.

One process on a journal sends for an account: its sender alone gives out nonces. Another process writes its requests
into the outbox; the sender's process makes transactions of them, and takes each request out of the outbox in one commit
with its transaction. When the transaction is over, and the channel still needs it, the channel asks again. When the
lease is free, the other process takes it and sends by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from forcemove.chain.reverts import ErrorTable
from forcemove.chain.worker import Look
from forcemove.errors import PassingError
from forcemove.protocol.machine.effects import Submission
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import (
    Approval,
    ChannelTx,
    Reorged,
    RequestId,
    TxFailed,
    TxOutcome,
    TxRequest,
    channel_of,
)
from forcemove.store.errors import LeaseNotHeld, NotInOutbox
from forcemove.store.records import Account
from forcemove.workers.errors import AccountInUse
from forcemove.workers.outbox import JournalledTxStore, Outbox

_AT_MOST_EVERY, _AT_LEAST_EVERY = 0.1, 1.0
"""Seconds between two looks at the outbox, or at whether the lease is free: while there is something to send, and while
there is nothing."""
_ROUNDS = 4
"""How often a look goes on while an endpoint that is alone answers: to what it says, and to what it is offered then."""
_TAKEN_WITHIN = 15.0
"""Seconds after which it is an error that no process has taken our requests out of the outbox."""
_MAX_ERRORS = 32
LeasedSender = tuple[Sender, JournalledTxStore]


class AccountWorker:
    """Sends the transactions of one account on one chain. `outcomes`: what became of requests. `errors`: how endpoints
    have failed, also where others have answered. The node takes both."""

    def __init__(
        self,
        account: Account,
        outbox: Outbox,
        acquire_sender: Callable[[], LeasedSender | None],
        endpoints: int,
        clock: Callable[[], float],
    ) -> None:
        """Work for one account.

        - `account`: whose transactions are sent.
        - `outbox`: what processes want sent from it.
        - `acquire_sender`: makes a sender where the account's lease is ours or free, else returns None.
        - `endpoints`: see `PollingWorker`.
        - `clock`: seconds.
        """
        self.outcomes: list[TxOutcome] = []
        self.errors: list[PassingError] = []
        self.endpoints = endpoints
        self._account, self._outbox, self._acquire_sender, self._clock = account, outbox, acquire_sender, clock
        self._error_table: ErrorTable | None = None
        self._sender: LeasedSender | None = None
        self._is_dismissed = False
        self._requests: list[TxRequest] = []
        self._new: list[TxRequest] = []
        self._on_their_way: list[RequestId] = []
        self._withdrawn: set[RequestId] = set()
        self._to_withdraw: frozenset[RequestId] = frozenset()
        self._asked: dict[RequestId, float] = {}
        self._new_outcomes: list[TxOutcome] = []
        self._looked_at: float | None = None

    def understand(self, errors: ErrorTable) -> None:
        """Add errors that the contracts which transactions call may revert with."""
        self._error_table = errors if self._error_table is None else self._error_table | errors

    def submit(self, request: TxRequest) -> None:
        """Ask for a transaction; the next look sends it, or asks the other process."""
        self._requests.append(request)
        self._withdrawn.difference_update((request.request_id, Approval(request.request_id)))

    def withdraw(self, channel_id: bytes, wanted: Collection[Submission]) -> None:
        """Send nothing more for a channel but what it still wants. What has a nonce already goes on, and what another
        process is to send is left to it."""
        unwanted = {each for each in self._unsettled if _is_unwanted(each, channel_id, wanted)}
        self._requests = [each for each in self._requests if each.request_id not in unwanted]
        self._withdrawn |= unwanted

    @property
    def is_ours(self) -> bool:
        """Whether this process sends for the account."""
        return self._sender is not None and not self._is_dismissed

    def dismiss(self) -> None:
        """Another process sends for the account now."""
        self._is_dismissed = True

    @property
    def is_sending(self) -> bool:
        """Whether a transaction is to be sent, or on its way, or its outcome was not taken yet."""
        return bool(self._unsettled)

    def is_sending_for(self, channel_id: bytes) -> bool:
        """Whether a transaction for this channel is to be sent, or on its way, or its outcome was not taken yet."""
        return any(channel_of(each) == channel_id for each in self._unsettled)

    @property
    def _unsettled(self) -> list[RequestId]:
        return [*self._on_their_way, *(each.request_id for each in (*self._requests, *self.outcomes))]

    def _note_unsettled(self) -> None:
        """Note what is on its way, between two looks: within one a transaction is mined before its outcome is known."""
        asked = [*(each.request_id for each in self._new), *self._asked]
        self._on_their_way = asked if self._sender is None else asked + self._sender[0].unsettled

    is_quiet = False  # it is idle instead

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to look for yet."""
        return not self.is_sending and not self._has_passed(_AT_LEAST_EVERY)

    def _has_passed(self, seconds: float) -> bool:
        return self._looked_at is None or not 0 <= self._clock() - self._looked_at < seconds

    def look(self) -> Look[None]:
        """Send, or ask the other process. Raises `ChainError`, and `AccountInUse` where no process takes our
        requests."""
        for each in range(_ROUNDS):
            self._prepare()
            try:
                self._look(is_new=each == 0)
            except LeaseNotHeld:  # another process sends for the account now, and nothing was written
                self.dismiss()
                return
            finally:
                self.outcomes += self._new_outcomes
                self._new_outcomes = []
                self._note_unsettled()
            if self._sender is None or not (awaited := self._sender[0].awaited):
                return
            yield awaited

    def _prepare(self) -> None:
        if self._is_dismissed and self._sender is not None:
            self._leave_to_others(self._sender[0])
            self._sender = None
        self._is_dismissed = False
        self._new = [each for each in self._new if each.request_id not in self._withdrawn] + self._requests
        again = {each.request_id for each in self._requests}
        self._to_withdraw = frozenset((self._to_withdraw | self._withdrawn) - again)
        self._requests, self._withdrawn = [], set()
        self._note_unsettled()

    def _leave_to_others(self, sender: Sender) -> None:
        """Another process continues what has a nonce, and knows nothing of the rest: that is over, and its channel
        asks again."""
        for each in sender.request_ids:
            if sender.copies(each):
                self._asked[each] = self._clock()
            else:
                self._new_outcomes.append(Reorged(each))

    def _look(self, *, is_new: bool) -> None:
        is_due = self._has_passed(_AT_MOST_EVERY)
        if is_due:
            self._looked_at = self._clock()
        if self._sender is None and is_due:
            self._sender = self._acquire_sender()
        if self._sender is not None:
            self._send(*self._sender, is_due=is_due, is_new=is_new)
        elif is_due or self._new:
            self._ask()

    def take_outcomes(self) -> list[TxOutcome]:
        """What became of requests since the last call."""
        outcomes, self.outcomes = self.outcomes, []
        return outcomes

    def take_errors(self) -> list[PassingError]:
        """How endpoints have failed since the last call."""
        errors, self.errors = self.errors, []
        return errors

    def _send(self, sender: Sender, transactions: JournalledTxStore, *, is_due: bool, is_new: bool) -> None:
        if self._error_table is not None:
            sender.error_table |= self._error_table
        sender.withdraw(self._to_withdraw)
        waiting = self._outbox.waiting() if is_due else {}
        if self._asked:
            self._end_asked({*waiting, *sender.request_ids})
        if is_due:
            for request_id in self._to_withdraw & waiting.keys():
                self._drop(waiting.pop(request_id)[0])
            self._to_withdraw = frozenset()
            transactions.outbox_numbers = {request_id: number for request_id, (number, _) in waiting.items()}
        for request in self._new:
            sender.submit(request)
        again = [number for number, request in waiting.values() if sender.submit(request)]
        self._new, self._asked = [], {}
        try:
            self._new_outcomes += sender.look(is_new=is_new)
        finally:
            self.errors = [*self.errors, *sender.take_errors()][-_MAX_ERRORS:]
        for each in self._new_outcomes:
            if (
                isinstance(each, TxFailed)
                and (number := transactions.outbox_numbers.pop(each.request_id, None)) is not None
            ):
                self._drop(number)
        for number in again:  # as urgent as it is asked for, in the journal
            self._drop(number)

    def _drop(self, number: int) -> None:
        try:
            self._outbox.dismiss(number)
        except NotInOutbox:
            return  # the request was refused after it had become a transaction, or was moved with its channel

    def _ask(self) -> None:
        """Write new requests into the outbox, and those again that have become more urgent."""
        unsettled, now = self._outbox.unsettled(), self._clock()
        self._end_asked(unsettled)
        while self._new:
            known = unsettled.get(self._new[0].request_id)
            if known is None or known.hurried(self._new[0]) != known:
                self._outbox.add(self._new[0])
            self._asked.setdefault(self._new[0].request_id, now)
            self._new.pop(0)
        waiting = self._outbox.waiting()
        since = min((since for request_id, since in self._asked.items() if request_id in waiting), default=now)
        if not self._new_outcomes and now - since >= _TAKEN_WITHIN:
            raise AccountInUse(self._account.chain_id, self._account.address)

    def _end_asked(self, unsettled: Collection[RequestId]) -> None:
        """What another process was to send, and is neither in the outbox nor on its way any more, is over: if it has
        not happened, its channel asks again."""
        for request_id in [each for each in self._asked if each not in unsettled]:
            del self._asked[request_id]
            self._new_outcomes.append(Reorged(request_id))


def _is_unwanted(request_id: RequestId, channel_id: bytes, wanted: Collection[Submission]) -> bool:
    """Whether a request is the channel's own, or the approval that one needs, and is for nothing that it wants."""
    own = request_id.needed_by if isinstance(request_id, Approval) else request_id
    return isinstance(own, ChannelTx) and own.channel_id == channel_id and own.submission not in wanted
