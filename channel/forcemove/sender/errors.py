"""The errors of a sender: why it refuses a request, and how a transaction has failed."""

from __future__ import annotations

from forcemove.chain.errors import InsufficientFunds, TransactionReverted
from forcemove.errors import ChainError, ForcemoveError, PassingError


class AllowanceStays(PassingError):
    """`times` approvals of a token were confirmed, and what `spender` may take of it is still `allowed`, less than the
    `amount` that a deposit needs; addresses of 20 bytes, amounts in the token's smallest unit. After the third no more
    are sent."""

    token: bytes
    spender: bytes
    amount: int
    allowed: int
    times: int


class CannotPay(InsufficientFunds):
    """The account has the `balance`, and a transaction may take what is `needed`, with its gas at what is offered for
    it; both in wei."""

    balance: int
    needed: int


class CannotPayAnswer(CannotPay, PassingError):
    """The same of an answer to a challenge, which must be mined by the `deadline`, a block time in seconds."""

    deadline: int


class GasTooDear(ChainError):
    """At the node's price the gas would cost `cost`, more than the `max_cost` that the transaction is worth to us; both
    in wei. It was not sent."""

    cost: int
    max_cost: int


class OpinionsDiffer(PassingError):
    """The endpoints say different things, in their order (`said`), of the account (20 bytes): of its next `nonce`, or
    whether its `allowance` is enough (1) or not (0). One of them lags or lies. A transaction that pays in waits until
    they agree; one that defends does not."""

    account: bytes
    what: str
    said: tuple[int, ...]


class NonceBlocked(PassingError):
    """A transaction of another program with the same key waits at the `nonce` of the account (20 bytes), and no block
    takes it: our transactions cannot be mined before it. Where an answer to a challenge waits it is outbid by an empty
    transaction."""

    account: bytes
    nonce: int


class NotTaken(PassingError):
    """No endpoint has taken the transaction (its hash, 32 bytes); `reason` is what the first of them said. The
    transaction is offered to all of them again."""

    transaction_hash: bytes
    reason: str


class StillToSend(PassingError):
    """Nothing could be sent for `seconds` because of `reason`. `waiting`: describes each thing that is to be sent."""

    waiting: tuple[str, ...]
    seconds: int
    reason: ForcemoveError


class Overtaken(TransactionReverted):
    """Another transaction with the same effect, or one that leaves it without any, was mined before ours: `reason` is
    the rule that forbids it now. Nothing but gas is lost: `cost`, in wei."""

    cost: int


class RevertsAgain(TransactionReverted):
    """The transaction was mined and has failed for the third time or more, also with more gas, and cost `cost` this
    time, in wei. It is sent again later and later, as long as it is asked for: look at what it calls."""

    times: int
    cost: int


def after_revert(error: TransactionReverted, cost: int, rule: ForcemoveError | None, times: int) -> TransactionReverted:
    """The error of a transaction that was mined and has failed. `cost`: in wei; `rule`: the protocol's rule that was
    the reason, if one was; `times`: how often in a row it has failed."""
    facts = (error.transaction_hash, error.block_number, error.gas_used, error.reason)
    if times > 2:
        return RevertsAgain(*facts, times, cost)
    return Overtaken(*facts, cost) if rule is not None else TransactionReverted(*facts)
