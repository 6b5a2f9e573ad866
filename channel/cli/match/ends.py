"""How a channel has ended: what was paid to whom, and what it has cost us. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forcemove.channel.chain.errors import TransactionReverted
from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.cli.match.scenes import names_for
from forcemove.channel.errors import RuleError
from forcemove.channel.node.events import Mined, Refused
from forcemove.channel.protocol.channel import Channel, Phase
from forcemove.channel.protocol.effects import SubmitDeposit, operation_name
from forcemove.channel.protocol.outcome import Outcome
from forcemove.channel.protocol.types import ETHER

__all__ = ["End", "Ending", "end_lines", "is_over", "race_text"]


@dataclass(frozen=True)
class End:
    """`deposits`: what each participant was to put in; `paid`: what the chain has paid to each; in wei, by participant.
    `is_agreed`: all have signed a final state that says so. `is_unfunded`: somebody has never paid in, and there was
    nothing to win or to lose. `cost`: the gas of our `transactions`, in wei."""

    deposits: tuple[int, ...]
    paid: tuple[int, ...]
    is_agreed: bool
    is_unfunded: bool
    cost: int
    transactions: int


class Ending:
    """Remembers of a channel what nobody knows any more once it is over."""

    def __init__(self) -> None:
        self._outcome: Outcome | None = None
        self._held: int | None = None
        self._cost = self._transactions = 0

    def see(self, channel: Channel) -> None:
        """As it is now."""
        if channel.record.payout_begun:
            return
        self._held = max(self._held or 0, channel.held(ETHER))
        recorded = channel.record.recorded
        self._outcome = recorded.state.outcome if recorded is not None and channel.status.finalizes_at else None

    def add(self, mined: Mined) -> None:
        """A transaction of ours."""
        self._cost += mined.receipt.gas_used * mined.receipt.gas_price
        self._transactions += 1

    def of(self, channel: Channel) -> End:
        """Of a channel that is over."""
        newest, agreement = channel.newest, channel.agreement
        deposits = agreement.deposits[0][1]
        is_agreed = newest is not None and newest.state.is_final and len(newest.signed.signatures) == agreement.count
        newest_outcome = newest.state.outcome if newest is not None else agreement.outcome
        outcome = newest_outcome if is_agreed or self._outcome is None else self._outcome
        has_begun = newest is not None and newest.state.turn_num >= 2 * agreement.count
        held = sum(deposits) if has_begun or self._held is None else self._held
        is_unfunded = held < sum(deposits)
        return End(deposits, _paid(outcome, held), is_agreed, is_unfunded, self._cost, self._transactions)


def is_over(channel: Channel, phase: Phase) -> bool:
    """Whether nothing can come to us any more: all is paid, or what is final was paid as far as it was ever paid in."""
    if channel.is_over_and_paid:
        return True
    is_final = phase is Phase.FINALIZED and channel.record.payout_begun
    is_empty = not any(held for _, held in channel.holdings) and not any(amount for _, amount in channel.credits)
    return is_final and is_empty


def end_lines(end: End, index: int) -> Iterator[str]:
    """For people. `index`: which participant we are."""
    paid = end.paid[index]
    won = paid - end.deposits[index]
    if end.is_unfunded:
        result = f"Not all have paid in; {format_amount(paid)} came back to you."
    else:
        what = "are even" if not won else f"{'win' if won > 0 else 'lose'} {format_amount(abs(won))}"
        result = f"You {what}; {format_amount(paid)} was paid to you."
    yield f"result      {result}"
    if not end.is_agreed:
        yield "            The chain has decided, not a final state that both have signed."
        shares = zip(names_for(index), end.paid, strict=True)
        yield f"paid        {', '.join(f'{name} {format_amount(amount)}' for name, amount in shares)}"
    if end.transactions:
        number = "1 transaction" if end.transactions == 1 else f"{end.transactions} transactions"
        yield f"gas         {format_amount(end.cost)}, for {number} of yours since this command began"


def race_text(refused: Refused) -> str | None:
    """What is said of a transaction of ours that failed because the other's came first; None where that is not why."""
    submission, error = refused.submission, refused.error
    is_race = isinstance(error, TransactionReverted) and isinstance(error.reason, RuleError)
    if not is_race or isinstance(submission, SubmitDeposit) or not isinstance(error, TransactionReverted):
        return None
    return (
        f"chain       {operation_name(submission)}: somebody else was faster, in block {error.block_number:,}. "
        f"Nothing is lost but the gas of ours, {error.gas_used:,}."
    )


def _paid(outcome: Outcome, held: int) -> tuple[int, ...]:
    """Who is first is paid first."""
    paid = []
    for each in outcome:
        paid.append(min(each.amount, held))
        held -= paid[-1]
    return tuple(paid)
