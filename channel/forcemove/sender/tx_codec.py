"""The bytes of requests and transactions for a journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, assert_never

from msgspec import UNSET, Struct, UnsetType

from forcemove.errors import InvalidValue, MalformedBytes, UnknownVersion
from forcemove.protocol.codec.msgpack_codec import SUBMISSIONS, Codec
from forcemove.sender import transactions

ValueT = TypeVar("ValueT")
_ADDRESS, _CHANNEL, _HASH = 20, 32, 32
_APPROVAL, _BATCH, _GAP = b"approval of ", b"batch of ", b"gap at "


class _StoredRequest(Struct, frozen=True, rename={"request_id": "purpose", "max_cost": "most"}):
    """A request as journals have it."""

    request_id: bytes
    to: bytes
    data: bytes
    value: int
    max_cost: int
    deadline: int | None = None
    allowance: transactions.Allowance | None = None
    gas: int | UnsetType = UNSET


class _StoredTx(Struct, frozen=True):
    """A transaction on its way as journals have it."""

    wanted: _StoredRequest
    nonce: int
    gas: int
    begun_at: int
    versions: tuple[transactions.Version, ...]


class _StoredBatch(_StoredTx, frozen=True):
    """The same of a batch. Programs that know none refuse its version, and open the journal all the same."""

    parts: tuple[_StoredRequest, ...]


_REQUESTS: Codec[_StoredRequest] = Codec("wanted transaction", _StoredRequest)
_TXS: Codec[_StoredTx] = Codec("transaction", _StoredTx)
_BATCHES: Codec[_StoredBatch] = Codec("transaction", _StoredBatch, 2)


def encode_request(request: transactions.TxRequest) -> bytes:
    """The bytes of a request without parts."""
    return _REQUESTS.encode(_stored(request))


def decode_request(data: bytes) -> transactions.TxRequest:
    """The request of these bytes. Raises `MalformedBytes`, `UnknownVersion`."""
    stored = _REQUESTS.decode(data)
    return _sound("wanted transaction", lambda: _request_of(stored))


def encode_tx(pending: transactions.PendingTx) -> bytes:
    """The bytes of a transaction on its way."""
    facts = _stored(pending.request), pending.nonce, pending.gas, pending.begun_at, pending.versions
    if parts := tuple(map(_stored, pending.request.parts)):
        return _BATCHES.encode(_StoredBatch(*facts, parts))
    return _TXS.encode(_StoredTx(*facts))


def decode_tx(data: bytes) -> transactions.PendingTx:
    """The transaction on its way of these bytes. Raises `MalformedBytes`, `UnknownVersion`."""
    try:
        stored, parts = _TXS.decode(data), tuple[_StoredRequest, ...]()
    except UnknownVersion:
        batch = _BATCHES.decode(data)
        stored, parts = batch, batch.parts
    rest = (stored.nonce, stored.gas, stored.begun_at, stored.versions)
    return _sound("transaction", lambda: transactions.PendingTx(_request_of(stored.wanted, parts), *rest))


def _sound(what: str, make: Callable[[], ValueT]) -> ValueT:
    """The value of a journal's bytes. Raises `MalformedBytes` where they encode no such value."""
    try:
        return make()
    except InvalidValue as error:
        raise MalformedBytes(what, f"{error!s:.200}") from None


def _stored(request: transactions.TxRequest) -> _StoredRequest:
    id_, call = _encode_id(request.request_id), (request.to, request.data, request.value)
    gas = UNSET if request.gas is None else request.gas
    return _StoredRequest(id_, *call, request.max_cost, request.deadline, request.allowance, gas)


def _request_of(stored: _StoredRequest, parts: Sequence[_StoredRequest] = ()) -> transactions.TxRequest:
    gas = None if isinstance(stored.gas, UnsetType) else stored.gas
    id_, call = _decode_id(stored.request_id), (stored.to, stored.data, stored.value)
    return transactions.TxRequest(
        id_, *call, stored.max_cost, stored.deadline, stored.allowance, gas, tuple(map(_request_of, parts))
    )


def _encode_id(request_id: transactions.RequestId) -> bytes:
    match request_id:
        case transactions.ChannelTx(channel_id, submission):
            return channel_id + SUBMISSIONS.encode(submission)
        case transactions.ClientTx(client, channel_id, submission):
            return client + channel_id + SUBMISSIONS.encode(submission)
        case transactions.Approval(needed_by):
            return _APPROVAL + _encode_id(needed_by)
        case transactions.BatchTx(hash):
            return _BATCH + hash
        case transactions.GapFiller(nonce):
            return _GAP + str(nonce).encode()
        case bytes():
            return request_id
        case _:
            assert_never(request_id)


def _decode_id(data: bytes) -> transactions.RequestId:
    """A request's id. Whether a submission begins after one or two fields shows whose it is: no other bytes decode as
    one."""
    if data.startswith(_APPROVAL):
        return transactions.Approval(_decode_id(data.removeprefix(_APPROVAL)))
    if data.startswith(_BATCH) and len(data) == len(_BATCH) + _HASH:
        return transactions.BatchTx(data.removeprefix(_BATCH))
    if data.startswith(_GAP) and data.removeprefix(_GAP).isdigit():
        return transactions.GapFiller(int(data.removeprefix(_GAP)))
    for client in (b"", data[:_ADDRESS]):
        channel_id, rest = data[len(client) :][:_CHANNEL], data[len(client) + _CHANNEL :]
        try:
            submission = SUBMISSIONS.decode(rest)
        except (MalformedBytes, UnknownVersion):
            continue
        return (
            transactions.ClientTx(client, channel_id, submission)
            if client
            else transactions.ChannelTx(channel_id, submission)
        )
    return data
