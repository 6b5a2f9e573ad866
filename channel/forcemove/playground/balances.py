"""Compares the players' balances after a game with what they must be: what they had, less deposits and gas, and with
what the channel has paid. Everything is read from the chain; no client is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.playground.chain import PlaygroundChain
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.logs import ChallengeRegistered, Closed, Concluded, Deposited, PartlyPaid, recorded_state
from forcemove.protocol.machine.results import payable
from forcemove.protocol.outcome import Outcome
from forcemove.protocol.types import ETHER

__all__ = ["BalanceCheck", "check_balances"]


@dataclass(frozen=True, slots=True)
class BalanceCheck:
    """One player's end of a game, in wei: what was paid in, what the channel has paid, the cost of gas, and the balance
    that follows from these, with the one that was found. `name`: the player's."""

    name: str
    paid_in: int
    paid_out: int
    gas_cost: int
    expected: int
    found: int

    @property
    def is_right(self) -> bool:
        """Whether the balance is as it must be."""
        return self.expected == self.found


def check_balances(
    chain: PlaygroundChain,
    adjudicator: Adjudicator,
    agreement: Agreement,
    names: Sequence[str],
    before: Sequence[int],
    agreed: Outcome | None,
) -> tuple[BalanceCheck, ...]:
    """How every player's balance compares, in the order of seats.

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
    return tuple(
        _check(chain, name, address, had, deposit, received)
        for name, address, had, deposit, received in zip(
            names, agreement.fixed_part.participants, before, deposits, paid, strict=True
        )
    )


def _check(chain: PlaygroundChain, name: str, address: bytes, before: int, deposit: int, received: int) -> BalanceCheck:
    gas = chain.gas_paid(address)
    return BalanceCheck(name, deposit, received, gas, before - deposit + received - gas, chain.balance(address))


def _deposits(agreement: Agreement, total: int) -> list[int]:
    """What each participant has paid in, where so much has come in: they pay in their order."""
    ((_, amounts),) = agreement.deposits
    return [min(amount, max(0, total - sum(amounts[:index]))) for index, amount in enumerate(amounts)]


def _paid_outcome(chain: PlaygroundChain, logs: Sequence[PlacedLog], agreed: Outcome | None) -> Outcome | None:
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
