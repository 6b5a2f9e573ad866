"""The gas of each item of a batch: fifty operations alike in one transaction, see `scripts/measuring/gas.py`."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove.chain.adjudicator import Operation
from forcemove.protocol.codec.packed_writer import batch_call
from forcemove.protocol.state import VariablePart
from scripts.measuring.bench import ETH, Bench, Channel
from scripts.measuring.cases import Measured, require

__all__ = ["TARGETS", "measured_on"]

TARGETS = {"batch_respond": 25_320, "batch_checkpoint_one_state": 27_760, "batch_conclude": 38_220}
_ITEMS = 50
_ITEM_GAS = 200_000


def measured_on(bench: Bench, state: Sequence[VariablePart]) -> Measured:
    """The rows. `state`: those of any channel of two on the bench, by turn, 0 to 13."""
    answered, cleared, happy = (_funded(bench) for _ in range(3))
    for channels in (answered, cleared):
        _sent(bench, [channel.challenging(*state[10:12]) for channel in channels])
    batches = {
        "batch_respond": [channel.responding(*state[11:13]) for channel in answered],
        "batch_checkpoint_one_state": [channel.checkpointing(state[13]) for channel in cleared],
        "batch_conclude": [channel.concluding(14) for channel in happy],
    }
    return {name: -(-_sent(bench, operations) // _ITEMS) for name, operations in batches.items()}


def _funded(bench: Bench) -> list[Channel]:
    """Channels of two, for each of which one has paid everything in."""
    channels = [bench.channel() for _ in range(_ITEMS)]
    for channel in channels:
        bench.send(channel.keys[0], bench.adjudicator.deposit(channel.id, channel.asset, 0, 2 * ETH))
    return channels


def _sent(bench: Bench, operations: Sequence[Operation]) -> int:
    """The gas of a batch of operations, each of which logs one thing where it does not fail."""
    data = batch_call([(_ITEM_GAS, operation.data) for operation in operations])
    receipt = bench.adjudicator.send(Operation("batch", data), bench.keys[1])
    require(len(receipt.logs) == len(operations), "an item of a batch failed")
    return receipt.gas_used
