"""How a tower pays: its account's transactions, and what was spent for whom.

What a transaction has cost is kept by its nonce. So it may be heard of twice, as after a crash, and is charged once.
Where a reorganisation has undone it, it is charged to nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.reverts import ErrorTable
from forcemove.errors import ForcemoveError, PassingError
from forcemove.node.journalled import JournalledTransactions
from forcemove.node.orders import gas_of
from forcemove.protocol.effects import Submission
from forcemove.protocol.signing import Key
from forcemove.protocol.values import SUBMISSIONS
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import FLYING, Failed, Flying, Landed, Outcome, Undone, Version, Wanted
from forcemove.store.journal import Journal
from forcemove.store.records import Account, Spent
from forcemove.tower.errors import BudgetExhausted

__all__ = ["Desk", "Paid", "Terms"]

_ADDRESS, _ID = 20, 32


@dataclass(frozen=True, slots=True)
class Paid:
    """What became of a transaction for a client (20 bytes). `error`: why it did not happen, None where it did. `block`:
    the number of the block that it is in, None where it is in none; where both are None a reorganisation has undone it.
    `cost`: in wei."""

    client: bytes
    channel_id: bytes
    submission: Submission
    error: ForcemoveError | None
    block: int | None
    cost: int


@dataclass(frozen=True, slots=True)
class Terms:
    """`budgets`: what may be spent for each client (20 bytes) in all; `most`: for one transaction; in wei.
    `confirmations`, `patience`, `own_time`: as of `Sender`."""

    budgets: Mapping[bytes, int]
    most: int
    confirmations: int
    patience: float
    own_time: Callable[[], float] | None


class Desk:
    """Of an account whose lease is ours. Goes on with what the journal has on its way."""

    def __init__(self, journal: Journal, key: Key, chains: Sequence[Chain], errors: ErrorTable, terms: Terms) -> None:
        """`chains`: the same one through each endpoint: all are asked, and offered everything. `errors`: what the
        contracts revert with. Raises `JournalError`, `MalformedBytes`, `UnknownVersion`."""
        self._journal, self._terms = journal, terms
        self._account = Account(chains[0].chain_id, key.address)
        self._spent = {each.nonce: each for each in journal.towers.spent(self._account)}
        self._outcomes: deque[Outcome] = deque()
        self._sender = Sender(
            chains[0],
            key,
            JournalledTransactions(journal, self._account),
            confirmations=terms.confirmations,
            patience=terms.patience,
            errors=errors,
            others=chains[1:],
            own_time=terms.own_time,
        )
        flying = self._flying()
        self._asked = {each.wanted.purpose: each.wanted.most for each in flying if each.nonce not in self._spent}
        self._nonces = {each.wanted.purpose: each.nonce for each in flying}

    def _flying(self) -> list[Flying]:
        return [FLYING.decode(row.body) for row in self._journal.transactions.in_flight(self._account)]

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to send, nothing on its way and nothing to charge."""
        return self._sender.is_idle and not self._outcomes

    def is_busy_with(self, channel_id: bytes) -> bool:
        """Whether something is on its way for this channel."""
        return any(_channel_of(purpose) == channel_id for purpose in self._sender.purposes)

    def left(self, client: bytes) -> int:
        """What may still be spent for a client, in wei: what is on its way is taken for spent."""
        spent = sum(each.wei for each in self._spent.values() if each.client == client)
        asked = sum(most for purpose, most in self._asked.items() if _client_of(purpose) == client)
        return self._terms.budgets.get(client, 0) - spent - asked

    def want(self, client: bytes, channel_id: bytes, submission: Submission, call: Call, deadline: int | None) -> None:
        """Ask for a transaction for a client, to be mined by a block time (seconds), if any. The next look sends it.

        What it needs is reckoned by our own table, at the lowest price that an endpoint shows: none can use a budget
        up by a high one. Raises `BudgetExhausted`, and `PassingError` where no endpoint answers.
        """
        gas = gas_of(submission, call.data)
        left, needed = self.left(client), gas * self._sender.lowest_price() // 2
        if left < needed:
            raise BudgetExhausted(client, channel_id, left, needed)
        purpose, most = client + channel_id + SUBMISSIONS.encode(submission), min(left, self._terms.most)
        self._sender.want(Wanted(purpose, call.to or b"", call.data, call.value, most, deadline, gas=gas))
        if purpose in self._sender.purposes:
            self._asked[purpose] = most

    def look(self) -> list[Paid]:
        """Send what is wanted, see what became of what was sent, and charge it. Nothing that came out is lost where
        this raises: a `ChainError` where no endpoint answers, or a `JournalError`."""
        paid = self._charge_all()
        self._outcomes += self._sender.look()
        return paid + self._charge_all()

    def take_troubles(self) -> list[PassingError]:
        """How endpoints have failed since this was last asked, also where others have answered."""
        return self._sender.take_troubles()

    # ------------------------------------------------------------------------------------------------------- the money

    def _charge_all(self) -> list[Paid]:
        """The next look of the sender forgets what has come out: it is on disk before that."""
        paid: list[Paid] = []
        for outcome in self._outcomes:
            paid += self._charge(outcome)
        self._outcomes.clear()
        return paid

    def _charge(self, outcome: Outcome) -> list[Paid]:
        client, channel_id = _client_of(outcome.purpose), _channel_of(outcome.purpose)
        submission = SUBMISSIONS.decode(outcome.purpose[_ADDRESS + _ID :])
        match outcome:
            case Landed(_, receipt):
                cost = self._keep(client, receipt.transaction_hash, receipt.gas_used, receipt.gas_price)
                paid = Paid(client, channel_id, submission, None, receipt.block_number, cost)
            case Failed(_, TransactionReverted() as error, cost):
                cost = self._keep(client, error.transaction_hash, error.gas_used, cost // max(error.gas_used, 1))
                paid = Paid(client, channel_id, submission, error, error.block_number, cost)
            case Failed(_, error):
                paid = Paid(client, channel_id, submission, error, None, 0)
            case Undone():
                self._give_back(outcome.purpose)
                paid = Paid(client, channel_id, submission, None, None, 0)
            case _:
                return []  # it was sent again with another nonce
        self._asked.pop(outcome.purpose, None)
        return [paid]

    def _keep(self, client: bytes, transaction_hash: bytes, gas: int, price: int) -> int:
        """What it has cost, and no more than we have offered, whatever a receipt says. A node that does not say its
        price is taken to mean the highest that was offered."""
        found = self._find(transaction_hash)
        if found is None:
            return 0
        flying, version = found
        cost = min(gas, flying.gas) * min(price or version.max_fee, version.max_fee)
        spent = Spent(flying.nonce, client, cost)
        self._journal.towers.charge(self._account, spent)
        self._spent[flying.nonce] = spent
        self._nonces[flying.wanted.purpose] = flying.nonce
        return cost

    def _find(self, transaction_hash: bytes) -> tuple[Flying, Version] | None:
        for flying in self._flying():
            for version in flying.versions:
                if version.hash == transaction_hash:
                    return flying, version
        return None

    def _give_back(self, purpose: bytes) -> None:
        """What was undone has a nonce that is not used any more."""
        nonce = self._nonces.pop(purpose, None)
        if nonce is not None:
            self._journal.towers.give_back(self._account, nonce)
            self._spent = {each: spent for each, spent in self._spent.items() if each < nonce}


def _client_of(purpose: bytes) -> bytes:
    return purpose[:_ADDRESS]


def _channel_of(purpose: bytes) -> bytes:
    return purpose[_ADDRESS : _ADDRESS + _ID]
