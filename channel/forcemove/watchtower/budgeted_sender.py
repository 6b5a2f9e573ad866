"""How a tower pays: its account's transactions, and what was spent for each client.

The cost of a transaction is kept by its nonce. So a transaction whose receipt is seen twice, as after a crash, is
charged once. A transaction that a reorganisation has removed is charged to no client.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.prices import dearest
from forcemove.chain.reverts import ErrorTable
from forcemove.errors import ForcemoveError, PassingError
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.signing import Key
from forcemove.sender.batches import shares
from forcemove.sender.pricing import gas_limit
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import (
    ClientTx,
    Confirmed,
    NonceUsedElsewhere,
    PendingTx,
    Reorged,
    RequestId,
    TxFailed,
    TxOutcome,
    TxRequest,
    Version,
)
from forcemove.store.journal import Journal
from forcemove.store.records import Account, Spent
from forcemove.watchtower.errors import BudgetExhausted
from forcemove.workers.outbox import JournalledTxStore
from forcemove.workers.tx_requests import gas_of


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """What became of a transaction for a client (20 bytes). `error`: why it has failed, None where it has not. `block`:
    the number of the block that the transaction is in, None where it is in none; where both are None a reorganisation
    has removed the transaction. `cost`: in wei."""

    client: bytes
    channel_id: bytes
    submission: Submission
    error: ForcemoveError | None
    block: int | None
    cost: int


@dataclass(frozen=True, slots=True)
class SpendingTerms:
    """`budgets`: what may be spent for each client (20 bytes) in all; `max_cost`: for one transaction; in wei.
    `confirmations`, `bump_after`, `own_time`: as of `Sender`."""

    budgets: Mapping[bytes, int]
    max_cost: int
    confirmations: int
    bump_after: float
    own_time: Callable[[], float] | None


class BudgetedSender:
    """Sends and pays for an account whose lease is ours. Continues the transactions that the journal has pending."""

    def __init__(
        self, journal: Journal, key: Key, chains: Sequence[Chain], errors: ErrorTable, terms: SpendingTerms
    ) -> None:
        """Read what the journal has of the account.

        - `journal`: has the transactions and what was spent.
        - `key`: the account's.
        - `chains`: the same chain through each endpoint; all are asked, and sent every transaction.
        - `errors`: the errors that the contracts revert with.
        - `terms`: what may be spent, and how transactions are sent.

        Raises `JournalError`, `MalformedBytes`, `UnknownVersion`.
        """
        self._journal, self._terms = journal, terms
        self._chains = tuple(chains)
        self._account = Account(chains[0].chain_id, key.address)
        self._spent = {each.nonce: each for each in journal.towers.spent(self._account)}
        self._outcomes: deque[TxOutcome] = deque()
        store = JournalledTxStore(journal, self._account)
        self._sender = Sender(
            chains[0],
            key,
            store,
            confirmations=terms.confirmations,
            bump_after=terms.bump_after,
            error_table=errors,
            others=chains[1:],
            own_time=terms.own_time,
        )
        self._asked: dict[RequestId, int] = {}
        self._answers: set[RequestId] = set()
        self._costs: dict[int, dict[ClientTx, int | None]] = {}
        """Of transactions that are not forgotten, by nonce and request, of which a batch has several: wei, None where
        it is not known yet."""
        self._nonces: dict[RequestId, int] = {}
        for pending in store.all():
            wei = min(2 * pending.gas * pending.versions[0].max_fee, pending.request.max_cost)
            for asked, share in zip(pending.request.asked, shares(pending.request, wei), strict=True):
                self._nonces[asked.request_id] = pending.nonce
                self._answers |= set() if asked.deadline is None else {asked.request_id}
                if pending.nonce not in self._spent:
                    self._asked[asked.request_id] = share
        self._paid = Counter[bytes]()
        for each in self._spent.values():
            self._paid[each.client] += each.wei
        self._reserve()

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is to be sent, pending, or to be charged."""
        return self._sender.is_idle and not self._outcomes

    @property
    def busy_channels(self) -> dict[bytes, bool]:
        """The channels that have a transaction which waits to be sent or to be mined, by id: whether one of these has a
        deadline."""
        found = dict[bytes, bool]()
        for each in self._sender.request_ids:
            if isinstance(each, ClientTx):
                found[each.channel_id] = found.get(each.channel_id, False) or each in self._answers
        return found

    def lowest_price(self) -> int:
        """As of `Sender`."""
        return self._sender.lowest_price()

    def left(self, client: bytes) -> int:
        """What may still be spent for a client, in wei; what is reserved for its pending transactions counts as
        spent."""
        return self._terms.budgets.get(client, 0) - self._paid[client] - self._reserved_for[client]

    def _reserve(self) -> None:
        """Reserve for each transaction twice what it was to be offered at first, or what it is offered now, where that
        is more; nothing more for one with an outcome that was charged."""
        offered = self._sender.offered()
        open_ = {*self._sender.unsettled, *(each.request_id for each in self._outcomes)}
        self._asked = {id_: wei for id_, wei in self._asked.items() if id_ in open_}
        self._answers &= open_
        self._reserved: dict[ClientTx, int] = {}
        self._reserved_for = Counter[bytes]()
        for id_, wei in self._asked.items():
            if isinstance(id_, ClientTx):
                self._reserved[id_] = max(wei, offered.get(id_, 0))
                self._reserved_for[id_.client] += self._reserved[id_]

    def submit(
        self, client: bytes, channel_id: bytes, submission: Submission, call: Call, deadline: int | None, price: int
    ) -> None:
        """Request a transaction for a client. The next `look` sends it.

        - `client`: on whose budget the transaction is; 20 bytes.
        - `channel_id`: the id of the channel, 32 bytes.
        - `submission`: what the transaction does.
        - `call`: the same as a call of the adjudicator.
        - `deadline`: the block time (seconds) by which it must be mined, None where it may wait.
        - `price`: `lowest_price` now.

        What the gas will cost is estimated from our own table, at the lowest price that an endpoint shows: no endpoint
        can use a budget up by a high price. Raises `BudgetExhausted`.
        """
        gas = gas_of(submission, call.data, dearest(each.prices for each in self._chains))
        request_id, needed = ClientTx(client, channel_id, submission), gas * price // 2
        left = self.left(client) + self._reserved.get(request_id, 0)
        if left < needed:
            raise BudgetExhausted(client, channel_id, left, needed)
        max_cost = min(left, self._terms.max_cost)
        self._answers |= set() if deadline is None else {request_id}
        self._sender.submit(TxRequest(request_id, call.to or b"", call.data, call.value, max_cost, deadline, gas=gas))
        wei = min(2 * gas_limit(gas, (), 0) * price, max_cost)
        self._asked[request_id] = wei
        self._reserved_for[client] += wei - self._reserved.get(request_id, 0)
        self._reserved[request_id] = wei

    @property
    def awaited(self) -> list[Future[Any]]:
        """As of `Sender`."""
        return self._sender.awaited

    def look(self, *, is_new: bool = True) -> list[AnswerResult]:
        """Send the requested transactions, read what became of those that were sent, and charge them. `is_new`: as of
        `Sender.look`. No outcome is lost where this raises: a `ChainError` where no endpoint answers, or a
        `JournalError`."""
        paid = self._charge_all()
        self._share()
        try:
            self._outcomes += self._sender.look(is_new=is_new)
            paid += self._charge_all()
        finally:
            self._reserve()
        return paid

    def _share(self) -> None:
        """Divide what each client has left among its answers: each may cost an equal part, or what is reserved for it
        already, where that is more. So all of a client's answers together never cost more than its budget."""
        self._reserve()
        caps: dict[RequestId, int] = {}
        shares = dict(Counter(id_.client for id_ in self._reserved))
        to_share = {client: self.left(client) + self._reserved_for[client] for client in shares}
        for id_, wei in sorted(self._reserved.items(), key=lambda each: -each[1]):
            cap = max(to_share[id_.client] // shares[id_.client], wei)
            caps[id_] = min(cap, self._terms.max_cost)
            to_share[id_.client] -= cap
            shares[id_.client] -= 1
        self._sender.limit(caps)

    def take_errors(self) -> list[PassingError]:
        """How endpoints have failed since the last call, also where others have answered."""
        return self._sender.take_errors()

    # ------------------------------------------------------------------------------------------------------- the money

    def _charge_all(self) -> list[AnswerResult]:
        """Charge the outcomes. Their costs are on disk before the sender's next look forgets them."""
        if not self._outcomes:
            return []
        paid = [each for outcome in self._outcomes for each in self._charge(outcome)]
        self._record()
        for outcome in self._outcomes:
            if not isinstance(outcome, NonceUsedElsewhere):  # that one was sent again with another nonce
                self._asked.pop(outcome.request_id, None)
        self._outcomes.clear()
        self._nonces = {id_: nonce for id_, nonce in self._nonces.items() if self._sender.copies(id_)}
        requests = {id_ for each in self._costs.values() for id_ in each}
        left = {each.nonce for id_ in requests for each in self._sender.copies(id_)}
        self._costs = {nonce: each for nonce, each in self._costs.items() if nonce in left}
        return paid

    def _charge(self, outcome: TxOutcome) -> list[AnswerResult]:
        """What became of a transaction; its cost is noted."""
        request = outcome.request_id
        if not isinstance(request, ClientTx):
            return []
        client, channel_id, submission = request.client, request.channel_id, request.submission
        match outcome:
            case Confirmed(_, receipt):
                found = self._sent(request, receipt.transaction_hash)
                cost = self._cost(request, found, receipt.gas_used, receipt.gas_price)
                return [AnswerResult(client, channel_id, submission, None, receipt.block_number, cost)]
            case TxFailed(_, TransactionReverted() as error, cost):
                found, price = self._sent(request, error.transaction_hash), cost // max(error.gas_used, 1)
                cost = self._cost(request, found, error.gas_used, price)
                return [AnswerResult(client, channel_id, submission, error, error.block_number, cost)]
            case TxFailed(_, error):
                return [AnswerResult(client, channel_id, submission, error, None, 0)]
            case Reorged():
                self._record()
                self._give_back(request)
                return [AnswerResult(client, channel_id, submission, None, None, 0)]
            case _:
                return []

    def _sent(self, request_id: RequestId, hash_: bytes) -> tuple[PendingTx, Version] | None:
        """The version with this hash, of the request's transactions."""
        versions = ((each, version) for each in self._sender.copies(request_id) for version in each.versions)
        return next((each for each in versions if each[1].hash == hash_), None)

    def _cost(self, request: ClientTx, found: tuple[PendingTx, Version] | None, gas: int, price: int) -> int:
        """What a transaction has cost, which is no more than we have offered, whatever a receipt says. Where a node
        does not say the price, it is taken to be the highest that was offered. What was offered beyond the
        transaction's own cap, for others behind it, is not charged."""
        if found is None:
            return 0
        pending, version = found
        cost = min(gas, pending.gas) * min(price or version.max_fee, version.max_fee)
        asked = {each.request_id: each for each in pending.request.asked if isinstance(each.request_id, ClientTx)}
        self._costs.setdefault(pending.nonce, dict.fromkeys(asked))[request] = min(cost, asked[request].max_cost)
        self._nonces[request] = pending.nonce
        return cost

    def _record(self) -> None:
        """Write new costs down, in one commit, and charge them."""
        spent = [each for each in map(self._spent_with, self._costs) if self._spent.get(each.nonce) != each]
        if spent:
            self._journal.towers.charge(self._account, *spent)
        for each in spent:
            if (before := self._spent.get(each.nonce)) is not None:
                self._paid[before.client] -= before.wei
            self._paid[each.client] += each.wei
            self._spent[each.nonce] = each

    def _spent_with(self, nonce: int) -> Spent:
        """What the transaction with this nonce has cost. A batch is of one client; what its parts have cost is learned
        one after the other, and the process before this one may have known more."""
        costs, before = self._costs[nonce], self._spent.get(nonce)
        wei = sum(each or 0 for each in costs.values())
        if before is not None and None in costs.values():
            wei = max(wei, before.wei)
        return Spent(nonce, next(iter(costs)).client, wei)

    def _give_back(self, request_id: RequestId) -> None:
        """Charge no client for a removed transaction: its nonce, and those after it, are not used any more."""
        nonce = self._nonces.pop(request_id, None)
        if nonce is not None:
            self._journal.towers.give_back(self._account, nonce)
            for each in [each for each in self._spent if each >= nonce]:
                removed = self._spent.pop(each)
                self._paid[removed.client] -= removed.wei
                self._costs.pop(each, None)
