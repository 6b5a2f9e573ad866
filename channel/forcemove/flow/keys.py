"""Key exchange: how clients that know each other's addresses find each other on a log, and sign from then on.

Each client posts its public key, signed with that key; each waits until every expected address has posted. All read the
same log, so all end with the same keys or with the same error. The keys are the participants' secp256k1 keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from forcemove.errors import CounterpartyError, ForcemoveError, InvalidValue, MalformedBytes
from forcemove.flow.actions import Action, ActionCodec, MalformedAction, client_of
from forcemove.flow.history import History
from forcemove.flow.queue import ActionQueue, said_before
from forcemove.flow.signed import ENVELOPE_VERSION, SignedTransport
from forcemove.flow.steps import Step, local, repeat, run, sequence, transition
from forcemove.flow.transport import Transport
from forcemove.protocol.codec.json_text import hex_text, parse_hex_text, require_version
from forcemove.protocol.codec.limits import MAX_ACTION
from forcemove.protocol.encoding import key_digest
from forcemove.protocol.signing import Key, public_key_address, recover
from forcemove.protocol.types import Signature, require_bytes

__all__ = [
    "KEYS",
    "ClientTwice",
    "KeyContext",
    "KeyExchange",
    "KeyNotExpected",
    "KeyNotProven",
    "KeyTwice",
    "KeysMissing",
    "Table",
    "exchange_keys",
    "key_exchange",
    "next_in_turn",
]


class KeyExchange(Action, frozen=True):
    """`public_key`: 33 bytes, compressed, as hex with 0x. `signature`: 64 bytes (EIP-2098) by that key over
    `key_digest`, as hex with 0x. `version`: of all that the client signs around this table, see
    `signed.ENVELOPE_VERSION`."""

    public_key: str
    signature: str
    version: int = ENVELOPE_VERSION


class _Versioned(msgspec.Struct, frozen=True):
    version: object = None


class _KeyCodec(ActionCodec[KeyExchange]):
    """Tells keys of another version from bytes that are not keys, whatever other fields they have."""

    def __init__(self) -> None:
        super().__init__(KeyExchange)

    def decode(self, data: bytes) -> KeyExchange:
        """Raises `MalformedAction` and `UnknownVersion`."""
        if len(data) <= MAX_ACTION:
            _require_version(data)
        return super().decode(data)


def _require_version(data: bytes) -> None:
    client_id = client_of(data)
    try:
        require_version(_VERSIONED.decode(data).version, "key of a table", ENVELOPE_VERSION)
    except MalformedBytes as error:
        raise MalformedAction(error.reason, client_id) from None


_VERSIONED = msgspec.json.Decoder(_Versioned)
KEYS: ActionCodec[KeyExchange] = _KeyCodec()
"""The codec of an exchange."""


class ClientTwice(CounterpartyError):
    """Two messages name the same client; the second has the key of `address`."""

    client_id: str
    address: bytes


class KeyTwice(CounterpartyError):
    """A key that another client has posted already, under its own name."""

    client_id: str
    address: bytes


class KeyNotExpected(CounterpartyError):
    """A client has come that was not invited."""

    client_id: str
    address: bytes


class KeyNotProven(CounterpartyError):
    """A client has posted a key without its signature for this table and name: somebody else's, maybe."""

    client_id: str


class KeysMissing(CounterpartyError):
    """These addresses (20 bytes each) have not posted their keys within this many seconds."""

    addresses: tuple[bytes, ...]
    seconds: float


@dataclass
class KeyContext:
    """What a key exchange needs and finds. `expected`: the addresses that are to come. `history`: the messages of the
    exchange, so that a log that showed them to somebody else in another order is found out later."""

    table_id: bytes
    client_id: str
    key: Key
    expected: frozenset[bytes]
    found: dict[str, bytes] = field(default_factory=dict)
    history: History = field(default_factory=History)


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose clients know each other's keys. `keys`: the address of each client by client id, in the order in
    which they came (which is also their turn order). `transport`: signed; it begins with the first message after the
    exchange."""

    table_id: bytes
    keys: Mapping[str, bytes]
    transport: SignedTransport


def key_exchange(count: int) -> Step[KeyContext]:
    """The exchange among `count` clients, as a step over a `KeyContext`."""
    return sequence(local(_post), repeat(transition(_store, expects=KeyExchange), count))


async def exchange_keys(
    transport: Transport,
    table_id: bytes,
    client_id: str,
    key: Key,
    expected: Collection[bytes],
    *,
    within: float | None = None,
    start: int = 0,
) -> Table:
    """Post our key unless the log has it already, wait for the others' keys, and upgrade to a signed transport.

    - `transport`: the table's log.
    - `table_id`: 32 bytes, a channel's id or an invitation's hash.
    - `client_id`: our name at the table.
    - `key`: our key.
    - `expected`: the addresses of all clients, ours among them.
    - `within`: seconds for the whole exchange; None waits forever.
    - `start`: the index in the log at which the exchange begins.

    Raises `MalformedAction`, `UnknownVersion`, `KeyNotProven`, `KeyNotExpected`, `ClientTwice`, `KeyTwice`,
    `KeysMissing`, and `InvalidValue` where our own key is not expected.
    """
    require_bytes("table_id", table_id, 32)
    context = KeyContext(table_id, client_id, key, frozenset(expected))
    if key.address not in context.expected:
        raise InvalidValue("key", key.address, "one of the expected ones")
    try:
        async with asyncio.timeout(within) as limit:
            said = await said_before(transport, KEYS, client_id, start=start)
            queue = ActionQueue(transport, KEYS, start=start, said=[each for each in said if each == _ours(context)])
            await run(key_exchange(len(context.expected)), queue, context)
    except TimeoutError:
        if within is None or not limit.expired():
            raise
        missing = context.expected - set(context.found.values())
        raise KeysMissing(tuple(sorted(missing)), within) from None
    if context.found.get(client_id) != key.address:
        raise KeyTwice(client_id, key.address)
    signed_from, read = start + len(context.expected), context.history.hashes
    signed = SignedTransport(transport, table_id, key, context.found, start=signed_from, read=read)
    return Table(table_id, MappingProxyType(context.found), signed)


def next_in_turn(keys: Mapping[str, bytes], client_id: str) -> str:
    """The client that comes after another in the order of their arrival. Raises `InvalidValue` on an unknown id."""
    order = tuple(keys)
    if client_id not in keys:
        raise InvalidValue("client_id", client_id, f"one of {', '.join(order)}")
    return order[(order.index(client_id) + 1) % len(order)]


async def _post(queue: ActionQueue[KeyExchange], context: KeyContext) -> None:
    await queue.enqueue(_ours(context))


def _ours(context: KeyContext) -> KeyExchange:
    """Our message: always the same bytes, since signatures are deterministic (RFC 6979)."""
    key = context.key
    signature = key.sign(key_digest(context.table_id, context.client_id, key.public_key))
    return KeyExchange(context.client_id, hex_text(key.public_key), hex_text(signature.compact))


def _store(action: KeyExchange, context: KeyContext) -> None:
    context.history.add(KEYS.encode(action))
    address = _proven_address(action, context.table_id)
    if address not in context.expected:
        raise KeyNotExpected(action.client_id, address)
    if action.client_id in context.found:
        raise ClientTwice(action.client_id, address)
    if address in context.found.values():
        raise KeyTwice(action.client_id, address)
    context.found[action.client_id] = address


def _proven_address(action: KeyExchange, table_id: bytes) -> bytes:
    """The address of a key whose owner has signed this message."""
    try:
        public_key = parse_hex_text(action.public_key, "public key", 33)
        signature = parse_hex_text(action.signature, "signature", 64)
        address = public_key_address(public_key)
        signer = recover(key_digest(table_id, action.client_id, public_key), Signature(signature))
    except (MalformedBytes, InvalidValue) as error:
        raise MalformedAction(str(error), action.client_id) from None
    except ForcemoveError:
        raise KeyNotProven(action.client_id) from None
    if signer != address:
        raise KeyNotProven(action.client_id)
    return address
