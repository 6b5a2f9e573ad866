"""Sends for an account, or asks the process to send that has its lease.

One process on a journal sends for an account: its sender alone gives out nonces. Another one writes down what it
wants; the first one takes it from there, in one commit with the transaction that it becomes. When that is over, and the
channel still wants it, the channel asks again. When the lease is free, the other one takes it and sends by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from forcemove.chain.reverts import ErrorTable
from forcemove.errors import PassingError
from forcemove.node.errors import AccountInUse
from forcemove.node.journalled import JournalledTransactions, Wishes
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Failed, Outcome, Undone, Wanted
from forcemove.store.errors import NoSuchWish
from forcemove.store.records import Account

__all__ = ["AccountWorker", "Hired"]

_AT_MOST_EVERY, _AT_LEAST_EVERY = 0.1, 1.0
"""Seconds between two looks at what other processes want, or whether the lease is free: while there is something to
send, and while there is nothing."""
_PATIENCE = 15.0
"""Seconds after which it is told that nobody takes what we want."""
_MOST_TROUBLES = 32
Hired = tuple[Sender, JournalledTransactions]


class AccountWorker:
    """Of one account on one chain. `found`: what became of what was wanted. `troubles`: how endpoints have failed, also
    where others have answered, for the node to tell and clear."""

    longest_look: float | None = None

    def __init__(
        self,
        account: Account,
        wishes: Wishes,
        hire: Callable[[], Hired | None],
        endpoints: int,
        clock: Callable[[], float],
    ) -> None:
        """`hire`: a sender, if the account's lease is ours or free. `endpoints`: see `Worker`. `clock`: seconds."""
        self.found: list[Outcome] = []
        self.troubles: list[PassingError] = []
        self.endpoints = endpoints
        self._account, self._wishes, self._hire, self._clock = account, wishes, hire, clock
        self._errors: ErrorTable | None = None
        self._hired: Hired | None = None
        self._is_dismissed = False
        self._wanted: list[Wanted] = []
        self._new: list[Wanted] = []
        self._asked: dict[bytes, float] = {}
        self._outcomes: list[Outcome] = []
        self._looked_at: float | None = None

    def understand(self, errors: ErrorTable) -> None:
        """What the contracts revert with that transactions call."""
        self._errors = errors if self._errors is None else self._errors | errors

    def want(self, wanted: Wanted) -> None:
        """From the next look on."""
        self._wanted.append(wanted)

    @property
    def is_ours(self) -> bool:
        """Whether it sends by itself."""
        return self._hired is not None and not self._is_dismissed

    def dismiss(self) -> None:
        """Another process sends for the account now."""
        self._is_dismissed = True

    @property
    def is_sending(self) -> bool:
        """Whether something is to be sent, or on its way."""
        is_busy = self._hired is not None and not self._hired[0].is_done
        return bool(self._wanted or self._new or self._asked) or is_busy

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to look for yet."""
        return not self.is_sending and not self._has_passed(_AT_LEAST_EVERY)

    def _has_passed(self, seconds: float) -> bool:
        return self._looked_at is None or not 0 <= self._clock() - self._looked_at < seconds

    def prepare(self) -> Callable[[], None]:
        """See `Worker`."""
        if self._is_dismissed:
            self._hired, self._is_dismissed = None, False
        self._new += self._wanted
        self._wanted = []
        return self.look

    def abandon(self) -> None:
        """See `Worker`: its looks end by themselves."""

    def look(self) -> None:
        """See `Worker`. Raises `AccountInUse` where nobody takes what we want, and is waited for."""
        is_due = self._has_passed(_AT_MOST_EVERY)
        if is_due:
            self._looked_at = self._clock()
        if self._hired is None and is_due:
            self._hired = self._hire()
        if self._hired is not None:
            self._send(*self._hired, is_due=is_due)
        elif is_due or self._new:
            self._ask()

    def take(self) -> None:
        """See `Worker`."""
        self.found += self._outcomes
        self._outcomes = []

    def _send(self, sender: Sender, transactions: JournalledTransactions, *, is_due: bool) -> None:
        if self._errors is not None:
            sender.errors |= self._errors
        waiting = self._wishes.waiting() if is_due else {}
        if is_due:
            transactions.wished = {purpose: number for purpose, (number, _) in waiting.items()}
        for wanted in (*self._new, *(wanted for _, wanted in waiting.values())):
            sender.want(wanted)
        self._new, self._asked = [], {}
        try:
            self._outcomes += sender.look()
        finally:
            self.troubles = [*self.troubles, *sender.take_troubles()][-_MOST_TROUBLES:]
        for each in self._outcomes:
            if isinstance(each, Failed) and (number := transactions.wished.pop(each.purpose, None)) is not None:
                self._drop(number)

    def _drop(self, number: int) -> None:
        try:
            self._wishes.dismiss(number)
        except NoSuchWish:
            return  # it was refused after it had become a transaction, or has gone with its channel

    def _ask(self) -> None:
        """What waits nowhere any more, and is on its way nowhere, is over: if it has not happened it is asked again."""
        unsettled, now = self._wishes.unsettled(), self._clock()
        over = [purpose for purpose in self._asked if purpose not in unsettled]
        for purpose in over:
            del self._asked[purpose]
            self._outcomes.append(Undone(purpose))
        while self._new:
            if self._new[0].purpose not in unsettled:
                self._wishes.add(self._new[0])
            self._asked.setdefault(self._new[0].purpose, now)
            self._new.pop(0)
        waiting = self._wishes.waiting()
        since = min((since for purpose, since in self._asked.items() if purpose in waiting), default=now)
        if not self._outcomes and now - since >= _PATIENCE:
            raise AccountInUse(self._account.chain_id, self._account.address)
