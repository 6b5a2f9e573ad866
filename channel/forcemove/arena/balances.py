"""Compares the participants' balances after a channel with what they must be: what they had, less deposits and gas,
and with what the channel pays. Everything is read from the chain; no client is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.arena.chain import ArenaChain
from forcemove.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.logs import ChallengeRegistered, Closed, Concluded, Deposited, PartlyPaid, recorded_state
from forcemove.protocol.machine.results import payable
from forcemove.protocol.types import ETHER, Outcome


@dataclass(frozen=True, slots=True)
class BalanceCheck:
    """One participant's end of a channel. Amounts are in the asset's smallest unit, `gas_cost` in wei.

    - `name`: the participant's; `address`: of the account, 20 bytes.
    - `asset`: 20 bytes, zeros for ether.
    - `before`: the balance before the channel; `found`: the balance after it.
    - `deposit`: what was paid in; `due`: what the channel pays by the outcome that was paid out.
    """

    name: str
    address: bytes
    asset: bytes
    before: int
    deposit: int
    due: int
    gas_cost: int
    found: int

    @property
    def _left(self) -> int:
        """The balance if the channel had paid nothing: gas is paid in ether."""
        return self.before - self.deposit - (self.gas_cost if self.asset == ETHER else 0)

    @property
    def expected(self) -> int:
        """The balance as it must be."""
        return self._left + self.due

    @property
    def received(self) -> int:
        """What the channel has paid, by the balance that was found."""
        return self.found - self._left

    @property
    def net(self) -> int:
        """What was won or lost after the deposit, and after the gas where it is paid in the same asset."""
        return self.found - self.before

    @property
    def is_right(self) -> bool:
        """Whether the balance is as it must be."""
        return self.expected == self.found


def check_balances(
    chain: ArenaChain,
    adjudicator: Adjudicator,
    agreement: Agreement,
    names: Sequence[str],
    before: Sequence[int],
    agreed: Outcome | None,
) -> tuple[BalanceCheck, ...]:
    """How every player's balance compares, in the order of seats, in a channel in ether.

    - `chain`: where the balances are.
    - `adjudicator`: of the channel.
    - `agreement`: of the channel.
    - `names`: of the players.
    - `before`: their balances before the game, in wei.
    - `agreed`: the outcome of the final state that all have signed, None where there is none.
    """
    logs = adjudicator.logs(agreement.channel_id, chain.first_block)
    total = max((each.log.held for each in logs if isinstance(each.log, Deposited)), default=0)
    deposits = _deposits(agreement, total)
    paid = payable(outcome, {ETHER: total}) if (outcome := _paid_outcome(chain, logs, agreed)) else [0] * len(deposits)
    seats = zip(names, agreement.fixed_part.participants, before, deposits, paid, strict=True)
    return tuple(
        BalanceCheck(name, address, ETHER, had, deposit, due, chain.gas_paid(address), chain.balance(address))
        for name, address, had, deposit, due in seats
    )


def _deposits(agreement: Agreement, total: int) -> list[int]:
    """What each participant has paid in, where so much has come in: they pay in their order."""
    ((_, amounts),) = agreement.deposits
    return [min(amount, max(0, total - sum(amounts[:index]))) for index, amount in enumerate(amounts)]


def _paid_outcome(chain: ArenaChain, logs: Sequence[PlacedLog], agreed: Outcome | None) -> Outcome | None:
    """The outcome that was paid: that of the state whose clock has run out, else the one that all have agreed on; None
    where nothing was paid."""
    recorded, paid_at = None, None
    for each in logs:
        if recorded_state(each.log) is not None:
            recorded = each.log
        if isinstance(each.log, Closed | PartlyPaid | Concluded) and paid_at is None:
            paid_at = chain.header(each.place.block_number).time
    if paid_at is None:
        return None
    if isinstance(recorded, ChallengeRegistered) and recorded.finalizes_at <= paid_at:
        return recorded.state.outcome
    return agreed
