"""A transport on which everybody knows who said what: it wraps any transport, and is one.

Each message travels in an envelope with its client's sequence number (from 0) and a signature over both and the table's
id, see `encoding.message_digest`. What arrives is verified message by message in the log's order, history included.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from channel.errors import ForcemoveError
from channel.flow.actions import MalformedAction, client_of, require_shallow
from channel.flow.transport import Reader, Transport, TransportFault
from channel.protocol.encoding import message_digest
from channel.protocol.limits import MAX_ACTION
from channel.protocol.signing import Key, recover
from channel.protocol.types import Signature, require_bytes

__all__ = [
    "BadSignature",
    "MessageReplayed",
    "MessagesMissing",
    "SignedTransport",
    "UnknownClient",
    "UnsignedMessage",
]

_MAX_ENVELOPE = MAX_ACTION + 512


@dataclass(eq=False)
class UnsignedMessage(TransportFault):
    """It has no signature, or is no message at all."""

    reason: str


@dataclass(eq=False)
class UnknownClient(TransportFault):
    """It names a client whose key nobody knows."""

    client_id: str


@dataclass(eq=False)
class BadSignature(TransportFault):
    """The client that it names has not signed it: not this text, not at this place, or not at this table."""

    client_id: str
    sequence: int


@dataclass(eq=False)
class MessageReplayed(TransportFault):
    """The client has said this before; its next message has the number `expected`."""

    client_id: str
    expected: int
    sequence: int


@dataclass(eq=False)
class MessagesMissing(TransportFault):
    """What the client has said before this is not there; its next message has the number `expected`."""

    client_id: str
    expected: int
    sequence: int


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: msgspec.Raw
    sequence: int
    signature: str


_DECODER = msgspec.json.Decoder(_Envelope)
_ENCODER = msgspec.json.Encoder(order="sorted")


class SignedTransport:
    """One client's signed view of a log."""

    def __init__(
        self,
        transport: Transport,
        table_id: bytes,
        key: Key,
        keys: Mapping[str, bytes],
        *,
        start: int = 0,
    ) -> None:
        """`table_id`: 32 bytes. `keys`: the address of each client, by client id. `start`: where in the log what is
        signed begins."""
        require_bytes("table_id", table_id, 32)
        self._transport, self._table_id, self._key = transport, table_id, key
        self._keys, self._start = dict(keys), start
        self._sequence: int | None = None
        self._posting = asyncio.Lock()

    async def post(self, message: bytes) -> None:
        """Sign and post an action's bytes.

        Raises `UnknownClient` where they name another client than our key's. Our sequence goes on where the log ends,
        so a client that has been away needs to remember nothing, and after a failure it may just post again.
        """
        client_id = client_of(message)
        if self._keys.get(client_id) != self._key.address:
            raise UnknownClient(client_id)
        async with self._posting:
            if self._sequence is None:
                self._sequence = await self._said_so_far(client_id)
            sequence, self._sequence = self._sequence, None
            await self._transport.post(self._seal(sequence, message))
            self._sequence = sequence + 1

    def reader(self, start: int = 0) -> Reader:
        """See `Transport.reader`. What comes before `start` is verified, too, and faults in it are passed over."""
        return _SignedReader(self, self._transport.reader(self._start), start)

    def length(self) -> int:
        """See `Transport.length`."""
        return max(0, self._transport.length() - self._start)

    def _seal(self, sequence: int, message: bytes) -> bytes:
        signature = self._key.sign(message_digest(self._table_id, sequence, message))
        return _ENCODER.encode(_Envelope(msgspec.Raw(message), sequence, signature.compact.hex()))

    async def _said_so_far(self, client_id: str) -> int:
        reader = _SignedReader(self, self._transport.reader(self._start), 0)
        for _ in range(self.length()):
            with contextlib.suppress(TransportFault):
                await reader.read()
        return reader.next_sequence(client_id)

    def verify(self, data: bytes, expected: Callable[[str], int]) -> tuple[str, bytes]:
        """The client and the message in an envelope. `expected` tells each client's next sequence number. Raises a
        `TransportFault`."""
        envelope = _decode(data)
        message, sequence = bytes(envelope.message), envelope.sequence
        try:
            client_id = client_of(message)
        except MalformedAction as error:
            raise UnsignedMessage(error.reason) from None
        address = self._keys.get(client_id)
        if address is None:
            raise UnknownClient(client_id)
        if not self._is_signed_by(address, envelope):
            raise BadSignature(client_id, sequence)
        if sequence < expected(client_id):
            raise MessageReplayed(client_id, expected(client_id), sequence)
        if sequence > expected(client_id):
            raise MessagesMissing(client_id, expected(client_id), sequence)
        return client_id, message

    def _is_signed_by(self, address: bytes, envelope: _Envelope) -> bool:
        to_sign = message_digest(self._table_id, envelope.sequence, bytes(envelope.message))
        try:
            return recover(to_sign, Signature(bytes.fromhex(envelope.signature))) == address
        except (ValueError, ForcemoveError):
            return False


class _SignedReader:
    def __init__(self, transport: SignedTransport, inner: Reader, start: int) -> None:
        self._transport, self._inner, self._before = transport, inner, start
        self._sequences: dict[str, int] = {}

    async def read(self) -> bytes:
        while self._before:
            with contextlib.suppress(TransportFault):
                await self._next_message()
        return await self._next_message()

    async def _next_message(self) -> bytes:
        """The next message of the log, verified."""
        try:
            data = await self._inner.read()
        except TransportFault:
            self._pass_one()
            raise
        self._pass_one()
        client_id, message = self._transport.verify(data, self.next_sequence)
        self._sequences[client_id] = self.next_sequence(client_id) + 1
        return message

    def _pass_one(self) -> None:
        """A message, or a fault in its place; a wait that was cancelled was for none."""
        self._before = max(0, self._before - 1)

    def next_sequence(self, client_id: str) -> int:
        return self._sequences.get(client_id, 0)


def _decode(data: bytes) -> _Envelope:
    if len(data) > _MAX_ENVELOPE:
        raise UnsignedMessage(f"it has {len(data)} bytes; {_MAX_ENVELOPE} are allowed")
    try:
        require_shallow(data)
        envelope = _DECODER.decode(data)
        if not 0 <= envelope.sequence < 2**64 or _ENCODER.encode(envelope) != data:
            raise UnsignedMessage("its envelope is not in canonical form")
    except (msgspec.DecodeError, UnicodeDecodeError, MalformedAction) as error:
        raise UnsignedMessage(str(error)) from None
    return envelope
