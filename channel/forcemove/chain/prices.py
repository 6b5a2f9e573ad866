"""What gas costs under a fork: the one table that sender, policy, watchtower and screens read. Pure.

The numbers of Osaka are bounds of the rows that `scripts/measure gas` measures, those of Amsterdam of its
`gas_amsterdam`. When Amsterdam comes is known for no chain, so a chain is asked what a slot of storage costs (see
`ReadingChain.ask_prices`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_TX_GAS = 2**24
"""Every fork lets a transaction have this much gas, and under Osaka no more (EIP-7825)."""
PROBE = bytes.fromhex("5a 6001 6000 55 5a 90 03 6000 52 6020 6000 f3")
"""Creation code that returns what it costs to make a slot of storage, one word (gas, push, push, sstore, gas, swap,
sub, mstore, return)."""
PROBE_GAS = 1_000_000
"""Gas for it: enough under any fork, and less than `MAX_TX_GAS`, beyond which a slot is paid for out of sight."""
_DEAR_SLOT = 60_000
"""A slot costs 22,100 under Osaka, and at least 97,920 under Amsterdam."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Units of gas. `fork`: its name; `max_tx_gas`: the most for one transaction, where an estimate says that it needs
    more than `MAX_TX_GAS`, as deploying does.

    In honest use at the most: `byte` of calldata; `deposit`, and `token` beyond that; `record`, to record or clear a
    status; `signature`; `allocation` of a state; `step` that an app is asked about; `app_byte` of appData and evidence;
    `payment`, with all that a payee or token may use, and what the adjudicator uses; `approval` of a token. `push`:
    what a payee may use, in units of 16,384, so that it can make two slots.

    As small channels of two use them: `usual_deposit`, `usual_conclude`, and `usual_dispute`, a challenge. More than
    under Osaka, where calldata decides: `calldata_quarters` of it."""

    fork: str
    max_tx_gas: int
    byte: int
    deposit: int
    token: int
    record: int
    payment: int
    push: int
    approval: int
    usual_deposit: int
    usual_conclude: int
    usual_dispute: int
    calldata_quarters: int = 4
    signature: int = 5_000
    allocation: int = 1_500
    step: int = 50_000
    app_byte: int = 10

    def dispute(self, gas: int) -> int:
        """The dearest dispute of a game that says that it takes this much gas under Osaka (`Game.dispute_gas`)."""
        return gas * self.calldata_quarters // 4


OSAKA = Prices(
    fork="Osaka",
    max_tx_gas=MAX_TX_GAS,
    byte=42,  # EIP-7623: 40, and copying and hashing it
    deposit=50_000,
    token=150_000,
    record=70_000,
    payment=200_000,  # 114,688 that a payee or token may use, and what the adjudicator uses, also where it fails
    push=7,
    approval=100_000,
    usual_deposit=46_500,
    usual_conclude=60_800,
    usual_dispute=56_150,
)
AMSTERDAM = Prices(
    fork="Amsterdam",
    max_tx_gas=50_000_000,  # what nodes simulate; gas for state does not count against the limit (EIP-8037)
    byte=66,  # EIP-7976: 64
    deposit=140_000,
    token=350_000,
    record=160_000,
    payment=640_000,  # an account that is new, or the slot of a credit, and one that is made to measure it
    push=18,
    approval=220_000,
    usual_deposit=134_600,
    usual_conclude=67_000,
    usual_dispute=57_750,
    calldata_quarters=7,  # a byte costs 64 in place of 16 or 40, and a new slot 97,920, where these decide what is paid
)


def prices_by_slot(answer: bytes) -> Prices | None:
    """The prices of the fork under which `PROBE` returns this; None where it cannot have returned it: some nodes answer
    a creation with an address."""
    gas = int.from_bytes(answer)
    if len(answer) != 32 or not 0 < gas < PROBE_GAS:
        return None
    return AMSTERDAM if gas >= _DEAR_SLOT else OSAKA


def dearest(prices: Iterable[Prices]) -> Prices:
    """Of what several endpoints of one chain say the dearest, so that one honest one is enough: what a transaction may
    use and does not need costs nothing, but one that may use too little fails. Osaka's where none has said."""
    return max(prices, key=lambda each: each.payment, default=OSAKA)
