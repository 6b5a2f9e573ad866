"""How a tower pays: its account's transactions, and what was spent for whom.

What a transaction has cost is kept by its nonce. So it may be heard of twice, as after a crash, and is charged once.
Where a reorganisation has undone it, it is charged to nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forcemove.channel.chain.chain import Call, Chain
from forcemove.channel.chain.errors import TransactionReverted
from forcemove.channel.chain.reverts import ErrorTable
from forcemove.channel.chain.rpc import as_number, making_sense
from forcemove.channel.errors import ForcemoveError, PassingError
from forcemove.channel.node.journalled import JournalledTransactions
from forcemove.channel.protocol.effects import Submission
from forcemove.channel.protocol.signing import Key
from forcemove.channel.protocol.values import SUBMISSIONS
from forcemove.channel.sender.sender import Sender
from forcemove.channel.sender.transactions import FLYING, Failed, Flying, Landed, Outcome, Undone, Wanted
from forcemove.channel.store.journal import Journal
from forcemove.channel.store.records import Account, Spent
from forcemove.channel.tower.errors import BudgetExhausted

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
    `confirmations`, `patience`: as of `Sender`."""

    budgets: Mapping[bytes, int]
    most: int
    confirmations: int
    patience: float


class Desk:
    """Of an account whose lease is ours. Goes on with what the journal has on its way."""

    def __init__(self, journal: Journal, key: Key, chains: Sequence[Chain], errors: ErrorTable, terms: Terms) -> None:
        """`chains`: the same one through each endpoint; where one fails, the next is asked. `errors`: what the
        contracts revert with. Raises `JournalError`, `MalformedBytes`, `UnknownVersion`."""
        self._journal, self._key, self._chains = journal, key, deque(chains)
        self._errors, self._terms = errors, terms
        self._account = Account(chains[0].chain_id, key.address)
        self._spent = {each.nonce: each for each in journal.towers.spent(self._account)}
        self._outcomes: deque[Outcome] = deque()
        self._begin()

    def _begin(self) -> None:
        """From the journal, through the endpoint that is asked now."""
        self._sender = Sender(
            self._chain,
            self._key,
            JournalledTransactions(self._journal, self._account),
            confirmations=self._terms.confirmations,
            patience=self._terms.patience,
            errors=self._errors,
        )
        self._asked = {each.wanted.purpose: each.wanted.most for each in self._flying()}

    @property
    def _chain(self) -> Chain:
        return self._chains[0]

    def _flying(self) -> list[Flying]:
        rows = self._journal.transactions.in_flight(self._account)
        return [FLYING.decode(row.body) for row in rows if row.nonce not in self._spent]

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

        It is tried on the node first, which costs nothing. Raises `BudgetExhausted`, what it would fail with, and
        `ChainError`.
        """
        with making_sense(self._chain.endpoint):
            gas = self._chain.gas_for(call, self._account.address, self._errors)
            needed = gas * self._chain.fees().max_fee_per_gas // 2
        left = self.left(client)
        if left < needed:
            raise BudgetExhausted(client, channel_id, left, needed)
        purpose, most = client + channel_id + SUBMISSIONS.encode(submission), min(left, self._terms.most)
        self._sender.want(Wanted(purpose, call.to or b"", call.data, call.value, most, deadline))
        self._asked[purpose] = most

    def look(self) -> list[Paid]:
        """Send what is wanted, see what became of what was sent, and charge it. Nothing that came out is lost where
        this raises: a `ChainError`, after which the next endpoint is asked, or a `JournalError`."""
        try:
            paid = self._charge_all()
            self._outcomes += self._sender.look()
            return paid + self._charge_all()
        except PassingError:
            self.ask_the_next()
            raise

    def ask_the_next(self) -> None:
        """From now on, through the next endpoint, where there is one: what is on its way is in the journal."""
        if len(self._chains) > 1:
            self._chains.rotate(-1)
            self._begin()

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
            case Failed(_, TransactionReverted() as error):
                cost = self._keep(client, error.transaction_hash, error.gas_used, self._price(error.transaction_hash))
                paid = Paid(client, channel_id, submission, error, error.block_number, cost)
            case Failed(_, error):
                paid = Paid(client, channel_id, submission, error, None, 0)
            case Undone():
                self._give_back()
                paid = Paid(client, channel_id, submission, None, None, 0)
            case _:
                return []  # it was sent again with another nonce
        self._asked.pop(outcome.purpose, None)
        return [paid]

    def _keep(self, client: bytes, transaction_hash: bytes, gas: int, price: int) -> int:
        """What it has cost. A node that does not say its price is taken to mean the highest that was offered."""
        flying = self._find(transaction_hash)
        if flying is None:
            return 0
        cost = gas * (price or flying.newest.max_fee)
        spent = Spent(flying.nonce, client, cost)
        self._journal.towers.charge(self._account, spent)
        self._spent[flying.nonce] = spent
        return cost

    def _find(self, transaction_hash: bytes) -> Flying | None:
        for row in self._journal.transactions.in_flight(self._account):
            flying = FLYING.decode(row.body)
            if any(version.hash == transaction_hash for version in flying.versions):
                return flying
        return None

    def _price(self, transaction_hash: bytes) -> int:
        """What a unit of gas of it has cost; 0 where that cannot be found out now."""
        try:
            with making_sense(self._chain.endpoint):
                answer = self._chain.rpc.ask("eth_getTransactionReceipt", "0x" + transaction_hash.hex())
                return as_number(answer["effectiveGasPrice"])
        except PassingError:
            return 0

    def _give_back(self) -> None:
        """What was undone has a nonce that is not used any more."""
        with making_sense(self._chain.endpoint):
            nonce = self._chain.nonce_of(self._account.address)
        self._journal.towers.give_back(self._account, nonce)
        self._spent = {each: spent for each, spent in self._spent.items() if each < nonce}


def _client_of(purpose: bytes) -> bytes:
    return purpose[:_ADDRESS]


def _channel_of(purpose: bytes) -> bytes:
    return purpose[_ADDRESS : _ADDRESS + _ID]
