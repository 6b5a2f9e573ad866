"""A transport on which every message is known to be its author's: it wraps any transport, and is one.

Each message travels in an envelope, a JSON array without spaces:

    [version, sequence, count, "0x" hash, "0x" signature, message]

`sequence` is the client's own number of the message, from 0. `count` and `hash` name what the client had read of the
log before, see `flow.history`; `signature` (64 bytes) is over all of it and the table's id, see
`encoding.message_digest`. Hex is in lower case, so one message has one envelope. The version is that of EIP-712's
domain: a signature of one version is not valid in another.

Messages are verified one by one in the log's order, history included. If two clients were given different logs, each of
them finds it out when it reads a message that the other wrote later.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from forcemove.errors import ForcemoveError, MalformedBytes
from forcemove.flow.actions import MalformedAction, client_of, require_shallow
from forcemove.flow.history import HASH_SIZE, NOTHING_READ, History, running_hash
from forcemove.flow.transport import TRANSPORT_FAULTS, Reader, Transport, TransportFault
from forcemove.protocol.codec.json_text import hex_text, parse_hex_text, require_version
from forcemove.protocol.codec.limits import MAX_ENVELOPE
from forcemove.protocol.encoding import message_digest
from forcemove.protocol.signing import Key, recover
from forcemove.protocol.types import UINT64_MAX, Signature, require_bytes

__all__ = [
    "ENVELOPE_VERSION",
    "BadSignature",
    "LogChanged",
    "LogsDiffer",
    "MessageReplayed",
    "MessagesMissing",
    "SignedTransport",
    "UnknownClient",
    "UnsignedMessage",
]

ENVELOPE_VERSION = 1
"""The version of signed actions that this program writes and reads."""


class UnsignedMessage(TransportFault):
    """The message has no signature, or is not a message at all."""

    reason: str


class UnknownClient(TransportFault):
    """The message names a client whose key is not known."""

    client_id: str


class BadSignature(TransportFault):
    """The client that the message names has not signed it: not this text, not at this place, or not at this table."""

    client_id: str
    sequence: int


class MessageReplayed(TransportFault):
    """The client has posted this message before; its next message has the number `expected`."""

    client_id: str
    expected: int
    sequence: int


class MessagesMissing(TransportFault):
    """The messages that the client has posted before this one are not there; its next message has the number
    `expected`."""

    client_id: str
    expected: int
    sequence: int


class LogsDiffer(TransportFault):
    """The log's carrier gave the client and us different logs, or the client lies: its message, entry `position` of the
    log (from 0), was written after `read` entries that are not the ones that we have read."""

    client_id: str
    position: int
    read: int


class LogChanged(TransportFault):
    """The log's carrier gave us another log before: entry `position` (from 0), or one before it, is not what it was."""

    position: int


class _Envelope(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    version: int
    sequence: int
    count: int
    hash: str
    signature: str
    message: msgspec.Raw


class _Head(msgspec.Struct, frozen=True, array_like=True):
    version: object


_DECODER = msgspec.json.Decoder(_Envelope)
_HEAD = msgspec.json.Decoder(_Head)
_ENCODER = msgspec.json.Encoder()


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
        read: bytes = NOTHING_READ,
    ) -> None:
        """Read and post at a table.

        - `transport`: the table's log, unsigned.
        - `table_id`: 32 bytes.
        - `key`: signs what we post.
        - `keys`: the address (20 bytes) of each client, by client id.
        - `start`: the index in the log of the first signed message.
        - `read`: the running hashes (`History.hashes`) over what all have read just before that; the entries in it are
          counted before those that are signed.
        """
        require_bytes("table_id", table_id, 32)
        self._transport, self._table_id, self._key = transport, table_id, key
        self._keys, self._start = dict(keys), start
        self._history = History(read)
        self._begun = self._history.count
        self._sequence: int | None = None
        self._unsure: _Unsure | None = None
        self._own_reader: _SignedReader | None = None
        self._posting = asyncio.Lock()

    async def post(self, message: bytes) -> None:
        """Sign and post an action's bytes.

        Raises `UnknownClient` where they name another client than our key's. Our sequence goes on where the log ends,
        so a client that has been away needs to remember nothing, and after a failure it may just post again: the same
        bytes are posted then, which count once, or nothing, where the log has them.
        """
        client_id = client_of(message)
        if self._keys.get(client_id) != self._key.address:
            raise UnknownClient(client_id)
        async with self._posting:
            is_known = self._sequence is not None
            while (saying := await self._next(client_id, message)) is not None:
                self._sequence, self._unsure = None, saying  # until the log acknowledges the message
                await self._transport.post(saying.sealed)
                if is_known or await self._counts(client_id, saying):
                    self._sequence, self._unsure = saying.sequence + 1, None
                    return

    async def _next(self, client_id: str, message: bytes) -> _Unsure | None:
        """The message to be posted, in its envelope; None where the log has it already."""
        sequence, unsure = self._sequence, self._unsure
        if sequence is None:
            while self._own.count < self.length():
                await self._read_on()
            sequence = self._own.next_sequence(client_id)
        if unsure is not None and unsure.message == message:
            if sequence == unsure.sequence:
                return unsure
            if sequence > unsure.sequence and self._own.said.get(client_id) == unsure.sealed:
                self._sequence, self._unsure = sequence, None
                return None
        return _Unsure(sequence, message, self._seal(sequence, message))

    async def _counts(self, client_id: str, said: _Unsure) -> bool:
        """Whether the message that the log has taken counts as our next one there: it is a replay where more of our
        messages came before it than was known. Where nothing can have come between, nothing is read: a carrier may show
        late what it has acknowledged, or never. A message that cannot be read may have been ours."""
        end = self.length()
        if end <= self._own.count + 1:
            return True
        while self._own.count < end:
            expected = self._own.next_sequence(client_id)
            await self._read_on()
            if self._own.entry in (said.sealed, b""):
                return expected == said.sequence
        return True

    @property
    def _own(self) -> _SignedReader:
        """Our own reader, which knows the messages that we have posted."""
        if self._own_reader is None:
            self._own_reader = self._reader(0)
        return self._own_reader

    async def _read_on(self) -> None:
        with contextlib.suppress(*TRANSPORT_FAULTS):
            await self._own.read()

    def reader(self, start: int = 0) -> Reader:
        """See `Transport.reader`. The messages before `start` are verified, too, and faults in them are passed over."""
        return self._reader(start)

    def _reader(self, start: int) -> _SignedReader:
        return _SignedReader(self._verify, self._history, self._begun, self._transport.reader(self._start), start)

    def length(self) -> int:
        """See `Transport.length`."""
        return max(0, self._transport.length() - self._start)

    def _seal(self, sequence: int, message: bytes) -> bytes:
        """The envelope of a message; it names all entries that any of our readers has read."""
        count = self._history.count
        hash_ = self._history.at(count)
        signature = self._key.sign(message_digest(self._table_id, sequence, count, hash_, message)).compact
        return _encode(_Statement("", message, sequence, count, hash_, signature))

    def _verify(self, data: bytes, expected: Callable[[str], int]) -> _Statement:
        """The content of an envelope. `expected` returns each client's next sequence number. Raises `UnknownVersion`,
        or a `TransportFault`."""
        said = _decode(data)
        client_id, sequence = said.client_id, said.sequence
        address = self._keys.get(client_id)
        if address is None:
            raise UnknownClient(client_id)
        if not self._is_signed_by(address, said):
            raise BadSignature(client_id, sequence)
        if sequence < expected(client_id):
            raise MessageReplayed(client_id, expected(client_id), sequence)
        if sequence > expected(client_id):
            raise MessagesMissing(client_id, expected(client_id), sequence)
        return said

    def _is_signed_by(self, address: bytes, said: _Statement) -> bool:
        to_sign = message_digest(self._table_id, said.sequence, said.count, said.hash, said.message)
        try:
            return recover(to_sign, Signature(said.signature)) == address
        except ForcemoveError:
            return False


@dataclass(frozen=True, slots=True)
class _Unsure:
    """Our message that the log has not acknowledged, and its envelope."""

    sequence: int
    message: bytes
    sealed: bytes


class _SignedReader:
    """Verifies a log from its first signed message on. `entry`: the last entry that was read, whatever is wrong with
    it, or empty where it could not be read. `said`: by client, the last entry that counts."""

    def __init__(
        self,
        verify: Callable[[bytes, Callable[[str], int]], _Statement],
        history: History,
        begun: int,
        inner: Reader,
        start: int,
    ) -> None:
        """`history`: what all our readers have read. `begun`: the entries in it that come before the first."""
        self._verify, self._history, self._inner, self._before = verify, history, inner, start
        self._begun, self._position, self._hash = begun, begun, history.at(begun)
        self._has_gap = self._has_changed = False
        self.entry = b""
        self.said: dict[str, bytes] = {}
        self._sequences: dict[str, int] = {}

    async def read(self) -> bytes:
        while self._before:
            with contextlib.suppress(*TRANSPORT_FAULTS):
                await self._next_message()
        return await self._next_message()

    async def _next_message(self) -> bytes:
        """The next message of the log, verified."""
        position = self._position
        try:
            data = await self._inner.read()
        except TRANSPORT_FAULTS:
            self._pass_one()
            self._has_gap = True  # the entry's bytes are not known, so no hash is known from here on
            self.entry = b""
            raise
        self._pass_one()
        self.entry = data
        self._on_entry(data)
        said = self._verify(data, self.next_sequence)
        self._sequences[said.client_id] = self.next_sequence(said.client_id) + 1
        self.said[said.client_id] = data
        if self._has_changed:
            raise LogChanged(position)
        if not self._is_same_log(said, position):
            raise LogsDiffer(said.client_id, position, said.count)
        return said.message

    def _pass_one(self) -> None:
        """Read a message, or a fault in its place; a wait that was cancelled read neither."""
        self._position += 1
        self._before = max(0, self._before - 1)

    def _on_entry(self, data: bytes) -> None:
        """Every entry counts, whatever is wrong with it."""
        if not self._has_gap and not self._has_changed:
            self._hash = running_hash(self._hash, data)
            self._has_changed = not self._history.accept_hash(self._position, self._hash)

    def _is_same_log(self, said: _Statement, position: int) -> bool:
        """Whether the client had read the same entries as we have. A hash over entries beyond a gap cannot be checked.
        The client cannot have read entries that come later in the log."""
        if said.count > position:
            return False
        return said.count > self._history.count or self._history.at(said.count) == said.hash

    @property
    def count(self) -> int:
        """Entries that were read, faults among them."""
        return self._position - self._begun

    def next_sequence(self, client_id: str) -> int:
        return self._sequences.get(client_id, 0)


# ----------------------------------------------------------------------------------------------------------- envelopes


@dataclass(frozen=True, slots=True)
class _Statement:
    """The content of an envelope: a message, its client, its number, and what the client had read before."""

    client_id: str
    message: bytes
    sequence: int
    count: int
    hash: bytes
    signature: bytes


def _encode(said: _Statement) -> bytes:
    numbers = (ENVELOPE_VERSION, said.sequence, said.count)
    return _ENCODER.encode(
        _Envelope(*numbers, hex_text(said.hash), hex_text(said.signature), msgspec.Raw(said.message))
    )


def _decode(data: bytes) -> _Statement:
    """Raises `UnsignedMessage` and `UnknownVersion`."""
    if len(data) > MAX_ENVELOPE:
        raise UnsignedMessage(f"it has {len(data)} bytes; {MAX_ENVELOPE} are allowed")
    try:
        require_shallow(data)
        require_version(_HEAD.decode(data).version, "signed action", ENVELOPE_VERSION)
        envelope = _DECODER.decode(data)
        said = _said(envelope)
    except MalformedAction as error:
        raise UnsignedMessage(error.reason) from None
    except (msgspec.DecodeError, UnicodeDecodeError, MalformedBytes) as error:
        raise UnsignedMessage(str(error)) from None
    if _ENCODER.encode(envelope) != data:
        raise UnsignedMessage("its envelope is not in canonical form")
    return said


def _said(envelope: _Envelope) -> _Statement:
    message, sequence, count = bytes(envelope.message), envelope.sequence, envelope.count
    if not (0 <= sequence <= UINT64_MAX and 0 <= count <= UINT64_MAX):
        raise MalformedBytes("envelope", f"its numbers are not from 0 to {UINT64_MAX}")
    hash_ = parse_hex_text(envelope.hash, "hash", HASH_SIZE)
    return _Statement(
        client_of(message), message, sequence, count, hash_, parse_hex_text(envelope.signature, "signature", 64)
    )
