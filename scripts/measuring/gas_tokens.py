"""The gas of a channel whose home asset is a token, see `scripts/measuring/gas.py`."""

from __future__ import annotations

from forcemove import Key, keccak256
from forcemove.chain.token import Token
from scripts.measuring.bench import Bench
from scripts.measuring.cases import Measured, require

__all__ = ["TARGETS", "measured_on"]

TARGETS = {
    "token_deposit_first": 88_350,
    "token_deposit_second": 54_150,
    "token_conclude_held": 63_840,
    "token_conclude_one_new": 81_290,
    "token_conclude_two_new": 98_730,
}


def measured_on(bench: Bench) -> Measured:
    """The rows, of a token that the adjudicator has not held before; all payees are paid."""
    token = Token(bench.chain, bench.deployed("test/TestToken"))
    rows = dict[str, float]()
    for new, name in enumerate(("held", "one_new", "two_new")):
        channel = bench.channel(asset=token.address)
        strangers = tuple(Key(keccak256(f"{name} {seat}".encode())).address for seat in range(new))
        channel.payees = (*channel.payees[: 2 - new], *strangers)
        first, second = channel.fund()
        if not rows:
            rows |= {"token_deposit_first": first, "token_deposit_second": second}
        rows[f"token_conclude_{name}"] = channel.conclude(14)
        credited = [bench.adjudicator.credit_of(payee, token.address) for payee in channel.payees]
        require(credited == [0, 0], "a payment became a credit")
    return rows
