"""Requests that wait together go out in one transaction, the adjudicator's `batch`, and its outcome is taken apart
again. Pure.

In a batch an operation costs about half of what it costs alone, and endpoints are asked about one transaction instead
of hundreds. An operation that fails in it fails for itself. Whatever has failed once, and whatever is left of a batch
that endpoints do not take, goes out alone: no batch is in the way of its parts for longer than a part of their time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from forcemove.chain.answers import RawLog, Receipt
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.prices import MAX_TX_GAS
from forcemove.protocol.codec.packed import SELECTORS
from forcemove.protocol.codec.packed_writer import batch_call
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import UINT256_MAX
from forcemove.sender.pricing import gas_limit
from forcemove.sender.transactions import BatchTx, ClientTx, Confirmed, TxFailed, TxRequest, channel_of

_CHECKS = {SELECTORS["respond"], SELECTORS["checkpoint"]}
_PAYOUTS = {SELECTORS["conclude"], SELECTORS["transfer"]}
_CHECKS_SHARE = 3
"""What checks states is counted for this part of our own table's row, which it needs less of in honest use. What pays
is counted in full: its payees decide how much they use."""
_MAX_BYTES = 120_000
"""Bytes of calldata: nodes take transactions of 131,072 bytes."""
_ITEM_HEAD = 5
_MAX_ITEM_BYTES, _MAX_ITEM_GAS = 2**16 - 1, 2**24 - 1
_BATCH_FAILED = keccak256(b"BatchFailed(uint256,bytes4)")


def can_be_batched(request: TxRequest) -> bool:
    """Whether a request is an operation that the adjudicator does the same in a batch: an answer, or a payout. A
    challenge is not: who sends it counts."""
    is_operation = request.data[:4] in _CHECKS | _PAYOUTS and len(request.data) <= _MAX_ITEM_BYTES
    return is_operation and request.gas is not None and not request.pays_in and not request.parts


def batches_of(requests: Iterable[TxRequest]) -> list[TxRequest]:
    """The batches of requests that can be batched, each of two parts at least. In one batch are operations of one
    adjudicator, for one client of a watchtower, and with a deadline or without; those with the nearest deadlines go
    first."""
    alike: dict[tuple[object, ...], list[TxRequest]] = defaultdict(list)
    for each in requests:
        client = each.request_id.client if isinstance(each.request_id, ClientTx) else None
        alike[each.to, client, each.deadline is None].append(each)
    found = (part for group in alike.values() for part in _filled(sorted(group, key=lambda each: each.deadline or 0)))
    return [_batch(each) for each in found if len(each) > 1]


def _filled(requests: Sequence[TxRequest]) -> Iterator[list[TxRequest]]:
    """The requests, as many at a time as one transaction has room for."""
    parts, gas, size = list[TxRequest](), 0, 0
    for each in requests:
        gas, size = gas + _counted(each), size + _ITEM_HEAD + len(each.data)
        if gas > MAX_TX_GAS or size > _MAX_BYTES:
            yield parts
            parts, gas, size = [], _counted(each), _ITEM_HEAD + len(each.data)
        parts.append(each)
    yield parts


def _counted(request: TxRequest) -> int:
    row = request.gas or 0
    return row // _CHECKS_SHARE if request.data[:4] in _CHECKS else gas_limit(row, (), 0)


def _batch(parts: Sequence[TxRequest]) -> TxRequest:
    data = batch_call([(min(gas_limit(each.gas, (), 0), _MAX_ITEM_GAS), each.data) for each in parts])
    max_cost = min(sum(each.max_cost for each in parts), UINT256_MAX)
    gas = sum(each.gas or 0 for each in parts)
    return TxRequest(
        BatchTx(keccak256(data)), parts[0].to, data, 0, max_cost, parts[0].deadline, gas=gas, parts=tuple(parts)
    )


def failed_items(logs: Iterable[RawLog], request: TxRequest) -> tuple[int, ...]:
    """The places of the parts of a batch that have failed, from the logs of its transaction."""
    places = {int.from_bytes(each.data[:32]) for each in logs if _is_failure(each, request)}
    return tuple(sorted(each for each in places if each < len(request.parts)))


def _is_failure(log: RawLog, request: TxRequest) -> bool:
    return log.address == request.to and log.topics == (_BATCH_FAILED,)


def shares(request: TxRequest, amount: int) -> list[int]:
    """An amount divided among what was asked for, by the gas that each part may use; nothing is lost."""
    found, left, gas = list[int](), amount, sum(each.gas or 1 for each in request.asked)
    for each in request.asked:
        share = left * (each.gas or 1) // gas
        found.append(share)
        left, gas = left - share, gas - (each.gas or 1)
    return found


def outcomes_of(
    request: TxRequest, receipt: Receipt[RawLog], price: int, failed: Collection[int]
) -> tuple[Confirmed | TxFailed, ...]:
    """What has become of each part of a batch that is mined: each has used a share of its gas, and has the logs of its
    own channel. Why a part has failed is not known yet.

    - `request`: the batch.
    - `receipt`: of its transaction.
    - `price`: what a unit of gas has cost, in wei.
    - `failed`: the places of the parts that have failed.
    """
    logs = _logs_by_channel(request, receipt.logs)
    found = list[Confirmed | TxFailed]()
    for place, (part, gas) in enumerate(zip(request.parts, shares(request, receipt.gas_used), strict=True)):
        id_ = part.request_id
        if place in failed:
            error = TransactionReverted(receipt.transaction_hash, receipt.block_number, gas, None)
            found.append(TxFailed(id_, error, gas * price))
        else:
            found.append(Confirmed(id_, replace(receipt, gas_used=gas, logs=tuple(logs[channel_of(id_)]))))
    return tuple(found)


def _logs_by_channel(request: TxRequest, logs: Iterable[RawLog]) -> Mapping[bytes | None, list[RawLog]]:
    """The logs of a batch by channel: those that name none, as of payments, are of the channel of the log before. Those
    of failures are of none."""
    found: dict[bytes | None, list[RawLog]] = defaultdict(list)
    channels, channel = {channel_of(each.request_id) for each in request.parts}, None
    for each in logs:
        if _is_failure(each, request):
            continue
        named = each.topics[1] if len(each.topics) > 1 else None
        channel = named if named in channels else channel
        found[channel].append(each)
    return found
