"""How a tower pays: its account's transactions, and what was spent for each client.

The cost of a transaction is kept by its nonce. So a transaction whose receipt is seen twice, as after a crash, is
charged once. A transaction that a reorganisation has removed is charged to no client.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.reverts import ErrorTable
from forcemove.errors import ForcemoveError, PassingError
from forcemove.node.outbox import JournalledTxStore
from forcemove.node.tx_requests import gas_of
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.signing import Key
from forcemove.sender.pricing import gas_limit
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import (
    ClientTx,
    Confirmed,
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

__all__ = ["BudgetedSender", "AnswerResult", "SpendingTerms"]


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
    """Sends and pays for an account whose lease is ours. Goes on with the transactions that the journal has pending."""

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
        self._account = Account(chains[0].chain_id, key.address)
        self._spent = {each.nonce: each for each in journal.towers.spent(self._account)}
        self._outcomes: deque[TxOutcome] = deque()
        self._store = JournalledTxStore(journal, self._account)
        self._sender = Sender(
            chains[0],
            key,
            self._store,
            confirmations=terms.confirmations,
            bump_after=terms.bump_after,
            error_table=errors,
            others=chains[1:],
            own_time=terms.own_time,
        )
        pending = self._store.all()
        self._asked: dict[RequestId, int] = {
            each.request.request_id: min(2 * each.gas * each.versions[0].max_fee, each.request.max_cost)
            for each in pending
            if each.nonce not in self._spent
        }
        self._nonces = {each.request.request_id: each.nonce for each in pending}

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is to be sent, pending, or to be charged."""
        return self._sender.is_idle and not self._outcomes

    def is_busy_with(self, channel_id: bytes) -> bool:
        """Whether a transaction for this channel is to be sent or pending."""
        return any(isinstance(each, ClientTx) and each.channel_id == channel_id for each in self._sender.request_ids)

    def left(self, client: bytes) -> int:
        """What may still be spent for a client, in wei; what is reserved for its pending transactions counts as
        spent."""
        spent = sum(each.wei for each in self._spent.values() if each.client == client)
        return self._terms.budgets.get(client, 0) - spent - sum(self._reserved(client).values())

    def _reserved(self, client: bytes) -> dict[RequestId, int]:
        """What is reserved for a client's transactions: twice what each was to be offered at first, or what it is
        offered now, where that is more."""
        offered = self._sender.offered()
        ours = {id_: wei for id_, wei in self._asked.items() if isinstance(id_, ClientTx) and id_.client == client}
        return {id_: max(wei, offered.get(id_, 0)) for id_, wei in ours.items()}

    def submit(
        self, client: bytes, channel_id: bytes, submission: Submission, call: Call, deadline: int | None
    ) -> None:
        """Request a transaction for a client. The next `look` sends it.

        - `client`: on whose budget the transaction is; 20 bytes.
        - `channel_id`: the id of the channel, 32 bytes.
        - `submission`: what the transaction does.
        - `call`: the same as a call of the adjudicator.
        - `deadline`: the block time (seconds) by which it must be mined, None where it may wait.

        What the gas will cost is estimated from our own table, at the lowest price that an endpoint shows: no endpoint
        can use a budget up by a high price. Raises `BudgetExhausted`, and `PassingError` where no endpoint answers.
        """
        gas, price = gas_of(submission, call.data), self._sender.lowest_price()
        left, needed = self.left(client), gas * price // 2
        if left < needed:
            raise BudgetExhausted(client, channel_id, left, needed)
        request_id, max_cost = ClientTx(client, channel_id, submission), min(left, self._terms.max_cost)
        self._sender.submit(TxRequest(request_id, call.to or b"", call.data, call.value, max_cost, deadline, gas=gas))
        if request_id in self._sender.request_ids:
            self._asked[request_id] = min(2 * gas_limit(gas, (), 0) * price, max_cost)

    def look(self) -> list[AnswerResult]:
        """Send the requested transactions, read what became of those that were sent, and charge them. No outcome is
        lost where this raises: a `ChainError` where no endpoint answers, or a `JournalError`."""
        paid = self._charge_all()
        self._share()
        self._outcomes += self._sender.look()
        return paid + self._charge_all()

    def _share(self) -> None:
        """Divide what each client has left among its answers: each may cost an equal part, or what is reserved for it
        already, where that is more. So all of a client's answers together never cost more than its budget."""
        caps: dict[RequestId, int] = {}
        for client in {id_.client for id_ in self._asked if isinstance(id_, ClientTx)}:
            reserved = self._reserved(client)
            to_share = self.left(client) + sum(reserved.values())
            for shared, (id_, wei) in enumerate(sorted(reserved.items(), key=lambda each: -each[1])):
                cap = max(to_share // (len(reserved) - shared), wei)
                caps[id_] = min(cap, self._terms.max_cost)
                to_share -= cap
        self._sender.limit(caps)

    def take_errors(self) -> list[PassingError]:
        """How endpoints have failed since the last call, also where others have answered."""
        return self._sender.take_errors()

    # ------------------------------------------------------------------------------------------------------- the money

    def _charge_all(self) -> list[AnswerResult]:
        """Charge the outcomes. Their costs are on disk before the sender's next look forgets them."""
        paid: list[AnswerResult] = []
        for outcome in self._outcomes:
            paid += self._charge(outcome)
        self._outcomes.clear()
        return paid

    def _charge(self, outcome: TxOutcome) -> list[AnswerResult]:
        request = outcome.request_id
        if not isinstance(request, ClientTx):
            return []
        client, channel_id, submission = request.client, request.channel_id, request.submission
        match outcome:
            case Confirmed(_, receipt):
                cost = self._record_cost(client, receipt.transaction_hash, receipt.gas_used, receipt.gas_price)
                paid = AnswerResult(client, channel_id, submission, None, receipt.block_number, cost)
            case TxFailed(_, TransactionReverted() as error, cost):
                cost = self._record_cost(client, error.transaction_hash, error.gas_used, cost // max(error.gas_used, 1))
                paid = AnswerResult(client, channel_id, submission, error, error.block_number, cost)
            case TxFailed(_, error):
                paid = AnswerResult(client, channel_id, submission, error, None, 0)
            case Reorged():
                self._give_back(outcome.request_id)
                paid = AnswerResult(client, channel_id, submission, None, None, 0)
            case _:
                return []  # the transaction was sent again with another nonce
        self._asked.pop(outcome.request_id, None)
        return [paid]

    def _record_cost(self, client: bytes, transaction_hash: bytes, gas: int, price: int) -> int:
        """Record and return what a transaction has cost, which is no more than we have offered, whatever a receipt
        says. Where a node does not say the price, it is taken to be the highest that was offered. What was offered
        beyond the transaction's own cap, for others behind it, is not charged."""
        found = self._find(transaction_hash)
        if found is None:
            return 0
        pending, version = found
        cost = min(gas, pending.gas) * min(price or version.max_fee, version.max_fee)
        spent = Spent(pending.nonce, client, min(cost, pending.request.max_cost))
        self._journal.towers.charge(self._account, spent)
        self._spent[pending.nonce] = spent
        self._nonces[pending.request.request_id] = pending.nonce
        return cost

    def _find(self, transaction_hash: bytes) -> tuple[PendingTx, Version] | None:
        for pending in self._store.all():
            for version in pending.versions:
                if version.hash == transaction_hash:
                    return pending, version
        return None

    def _give_back(self, request_id: RequestId) -> None:
        """Charge no client for a removed transaction: its nonce, and those after it, are not used any more."""
        nonce = self._nonces.pop(request_id, None)
        if nonce is not None:
            self._journal.towers.give_back(self._account, nonce)
            self._spent = {each: spent for each, spent in self._spent.items() if each < nonce}
