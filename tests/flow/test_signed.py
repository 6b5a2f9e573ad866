"""Signed transport: the author of every message is known, or a typed error is in its place."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from eth_account.messages import encode_typed_data

from forcemove import InvalidValue, UnknownVersion, keccak256
from forcemove.flow.signed import (
    BadSignature,
    LogsDiffer,
    MessageReplayed,
    MessagesMissing,
    SignedTransport,
    UnknownClient,
    UnsignedMessage,
)
from forcemove.flow.transport import MemoryTransport, Reader, TransportFault
from forcemove.protocol.codec.limits import MAX_ENVELOPE
from forcemove.protocol.curve import ORDER
from forcemove.protocol.encoding import key_digest, message_digest
from forcemove.protocol.signing import Key
from tests.expected import raising
from tests.flow.table import ADDRESSES, CODEC, KEYS, MALLORY, TABLE_ID, Left, Said, signed
from tests.flow.virtual_time import run_virtual

pytestmark = pytest.mark.virtual_time

ONE, TWO, THREE = (CODEC.encode(Said("alice", number)) for number in (1, 2, 3))


NOTHING = (0, bytes(32))
MEMBERS = ("version", "sequence", "count", "hash", "signature", "message")


def envelope(
    message: bytes, sequence: int, key: Key, *, table: bytes = TABLE_ID, read: tuple[int, bytes] = NOTHING
) -> dict[str, Any]:
    signature = key.sign(message_digest(table, sequence, *read, message)).compact.hex()
    values = (1, sequence, read[0], "0x" + read[1].hex(), "0x" + signature, json.loads(message))
    return dict(zip(MEMBERS, values, strict=True))


def packed(content: dict[str, Any]) -> bytes:
    return json.dumps([*content.values()], separators=(",", ":"), sort_keys=True).encode()


def shown(*entries: bytes) -> tuple[int, bytes]:
    """What a client names that has read these entries of a log."""
    hash_ = bytes(32)
    for each in entries:
        hash_ = keccak256(hash_ + each)
    return len(entries), hash_


def first_fault(*messages: bytes) -> TransportFault:
    """What reading a log with these messages raises first."""

    async def scenario() -> None:
        log = MemoryTransport()
        for message in messages:
            await log.post(message)
        reader = signed(log, "bob").reader()
        for _ in messages:
            await reader.read()

    with pytest.raises(TransportFault) as fault:
        run_virtual(scenario())
    return fault.value


def test_the_envelope_is_canonical_json() -> None:
    async def scenario() -> bytes:
        log = MemoryTransport()
        await signed(log, "alice").post(ONE)
        return await log.reader().read()

    assert run_virtual(scenario()) == packed(envelope(ONE, 0, KEYS["alice"]))


def test_the_digests_are_those_of_eip_712() -> None:
    def typed(kind: str, fields: dict[str, str], values: dict[str, object]) -> bytes:
        signable = encode_typed_data(
            {"name": "Forcemove table", "version": "1"},
            {kind: [{"name": name, "type": type_} for name, type_ in fields.items()]},
            values,
        )
        return keccak256(b"\x19" + signable.version + signable.header + signable.body)

    message = {
        "tableId": "bytes32",
        "sequence": "uint64",
        "readCount": "uint64",
        "readHash": "bytes32",
        "message": "bytes",
    }
    hash_ = keccak256(ONE)
    values: dict[str, object] = {"tableId": TABLE_ID, "sequence": 5, "readCount": 7, "readHash": hash_, "message": ONE}
    assert message_digest(TABLE_ID, 5, 7, hash_, ONE) == typed("Message", message, values)
    key = {"tableId": "bytes32", "clientId": "string", "publicKey": "bytes"}
    public_key = KEYS["bob"].public_key
    values = {"tableId": TABLE_ID, "clientId": "bob", "publicKey": public_key}
    assert key_digest(TABLE_ID, "bob", public_key) == typed("Key", key, values)


def test_a_message_without_a_signature_is_refused() -> None:
    assert isinstance(first_fault(ONE), UnsignedMessage)


def malleated(content: dict[str, Any]) -> dict[str, Any]:
    """The other signature that the same key could have made: s and the parity negated."""
    compact = bytes.fromhex(content["signature"][2:])
    vs = int.from_bytes(compact[32:], "big")
    s, parity = vs & (2**255 - 1), vs >> 255
    other = (ORDER - s) | ((1 - parity) << 255)
    return content | {"signature": "0x" + (compact[:32] + other.to_bytes(32, "big")).hex()}


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content | {"sequence": "0"},
        lambda content: content | {"sequence": -1},
        lambda content: content | {"sequence": 2**64},
        lambda content: content | {"sequence": 10**100},
        lambda content: content | {"count": "0"},
        lambda content: content | {"count": -1},
        lambda content: content | {"count": 2**64},
        lambda content: content | {"count": 0.0},
        lambda content: content | {"hash": content["hash"][2:]},
        lambda content: content | {"hash": content["hash"] + "00"},
        lambda content: content | {"hash": None},
        lambda content: content | {"signature": content["signature"].upper().replace("X", "x")},
        lambda content: content | {"signature": content["signature"][:-2]},
        lambda content: content | {"signature": content["signature"][:-2] + "  "},
        lambda content: content | {"signature": "no hex"},
        lambda content: content | {"version": "1"},
        lambda content: content | {"version": True},
        lambda content: content | {"version": None},
        lambda content: content | {"version": -1},
        lambda content: content | {"version": 2**16},
        lambda content: {name: value for name, value in content.items() if name != "version"},
        lambda content: content | {"extra": 1},
        lambda content: {name: value for name, value in content.items() if name != "signature"},
        lambda content: content | {"message": {"type": "Said", "number": 1}},
        lambda content: content | {"message": [1]},
    ],
)
def test_an_envelope_that_is_none_is_refused(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    assert isinstance(first_fault(packed(change(envelope(ONE, 0, KEYS["alice"])))), UnsignedMessage)


def test_an_envelope_has_one_form() -> None:
    content = envelope(ONE, 0, KEYS["alice"])
    assert isinstance(first_fault(json.dumps([*content.values()], sort_keys=True).encode()), UnsignedMessage)
    assert isinstance(first_fault(json.dumps(content, sort_keys=True).encode()), UnsignedMessage)
    assert isinstance(first_fault(b" " * (MAX_ENVELOPE + 1)), UnsignedMessage)


def test_whatever_byte_of_an_envelope_is_changed_or_cut_off_is_found_out() -> None:
    good = packed(envelope(ONE, 0, KEYS["alice"], read=(3, keccak256(b"three"))))

    def is_refused(data: bytes) -> bool:
        try:
            return isinstance(first_fault(data), TransportFault) and not isinstance(first_fault(data), LogsDiffer)
        except UnknownVersion:
            return not data.startswith(b"[1,")

    assert isinstance(first_fault(good), LogsDiffer)  # genuine, but said after three entries that are not there
    assert all(is_refused(good[:length]) for length in range(len(good)))
    assert all(is_refused(good[start:]) for start in range(1, len(good)))
    for place, value in product(range(len(good)), (0x00, 0x20, 0x22, 0x30, 0x39, 0x61, 0x7B, 0xFF)):
        if value != good[place]:
            assert is_refused(good[:place] + bytes((value,)) + good[place + 1 :])


@pytest.mark.parametrize("version", [2, 3, 65_535])
async def test_an_envelope_of_another_version_says_which(version: int) -> None:
    """Whatever else is in it; and reading goes on after it."""
    other = packed(envelope(ONE, 0, KEYS["alice"]) | {"version": version, "new": [{"any": "thing"}]})
    log = MemoryTransport()
    await log.post(other)
    await signed(log, "alice").post(TWO)
    reader = signed(log, "bob").reader()
    with raising(UnknownVersion("signed action", version, 1)):
        await reader.read()
    assert await reader.read() == await signed(log, "bob").reader(1).read() == TWO


def test_a_client_whose_key_nobody_knows_is_refused() -> None:
    stranger = CODEC.encode(Said("mallory", 1))
    assert first_fault(packed(envelope(stranger, 0, MALLORY))) == UnknownClient("mallory")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content | {"message": json.loads(TWO)},
        lambda content: content | {"sequence": 1},
        lambda content: content | {"count": 1},
        lambda content: content | {"hash": "0x" + "01" * 32},
        lambda content: content | {"signature": "0x" + "00" * 64},
        malleated,
    ],
    ids=["another message", "another place", "another count", "another hash", "zeroes", "malleated"],
)
def test_what_the_client_has_not_signed_like_this_is_refused(
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    fault = first_fault(packed(change(envelope(ONE, 0, KEYS["alice"]))))
    assert isinstance(fault, BadSignature)
    assert fault.client_id == "alice"


def test_nobody_speaks_for_somebody_else() -> None:
    assert first_fault(packed(envelope(ONE, 0, KEYS["bob"]))) == BadSignature("alice", 0)
    assert first_fault(packed(envelope(ONE, 0, MALLORY))) == BadSignature("alice", 0)


def test_a_signature_is_good_at_one_table() -> None:
    elsewhere = envelope(ONE, 0, KEYS["alice"], table=bytes(32))
    assert first_fault(packed(elsewhere)) == BadSignature("alice", 0)


@pytest.mark.parametrize(("said", "forged"), [("é", "è"), ("�", "é"), ("a", "a "), ("\\u0061", "a")])
def test_the_signature_covers_every_byte_of_the_text(said: str, forged: str) -> None:
    """Also where a lossy decoder would make the same of both."""
    first, second = (f'{{"client_id":"alice","text":"{text}"}}'.encode() for text in (said, forged))
    signature = KEYS["alice"].sign(message_digest(TABLE_ID, 0, *NOTHING, first)).compact.hex()
    sent = b'[1,0,0,"0x' + b"0" * 64 + b'","0x' + signature.encode() + b'",' + second + b"]"
    assert first_fault(sent) == BadSignature("alice", 0)
    genuine = sent.replace(second, first)
    assert first_fault(genuine, genuine) == MessageReplayed("alice", 1, 0)


def test_a_replay_is_refused() -> None:
    first, second = (packed(envelope(each, n, KEYS["alice"])) for n, each in enumerate((ONE, TWO)))
    assert first_fault(first, first) == MessageReplayed("alice", 1, 0)
    assert first_fault(first, second, first) == MessageReplayed("alice", 2, 0)


def test_a_gap_is_refused_and_what_overtakes_another_too() -> None:
    first, second = (packed(envelope(each, n, KEYS["alice"])) for n, each in enumerate((ONE, TWO)))
    assert first_fault(second) == MessagesMissing("alice", 0, 1)
    assert first_fault(second, first) == MessagesMissing("alice", 0, 1)


def test_a_message_signed_twice_for_one_place_is_refused_the_second_time() -> None:
    both = (packed(envelope(each, 0, KEYS["alice"])) for each in (ONE, TWO))
    assert first_fault(*both) == MessageReplayed("alice", 1, 0)


def test_after_a_fault_reading_goes_on() -> None:
    async def scenario() -> list[object]:
        log = MemoryTransport()
        alice, bob = signed(log, "alice"), signed(log, "bob").reader()
        await log.post(b"rubbish")
        await alice.post(ONE)
        await log.post(packed(envelope(TWO, 9, KEYS["alice"])))
        await alice.post(TWO)
        return [await _read_or_fault(bob) for _ in range(4)]

    unsigned, one, missing, two = run_virtual(scenario())
    assert isinstance(unsigned, UnsignedMessage)
    assert (one, missing, two) == (ONE, MessagesMissing("alice", 1, 9), TWO)


async def test_history_is_verified_as_well() -> None:
    """A forgery among what was said before is not believed by who comes later, wherever it begins to read."""

    log = MemoryTransport()
    await log.post(packed(envelope(ONE, 0, MALLORY)))
    await signed(log, "alice").post(ONE)
    late = signed(log, "bob")
    with pytest.raises(BadSignature):
        await late.reader().read()
    assert await late.reader(1).read() == ONE
    await log.post(packed(envelope(ONE, 0, KEYS["alice"])))
    with pytest.raises(MessageReplayed):
        await late.reader(2).read()


class Gappy(MemoryTransport):
    """A log that has lost its first message, and says so in its place."""

    def reader(self, start: int = 0) -> Reader:
        return _GappyReader(super().reader(start), is_gap_next=start == 0)


class _GappyReader:
    def __init__(self, inner: Reader, *, is_gap_next: bool) -> None:
        self._inner, self._is_gap_next = inner, is_gap_next

    async def read(self) -> bytes:
        message = await self._inner.read()
        if self._is_gap_next:
            self._is_gap_next = False
            raise TransportFault
        return message


async def test_a_fault_of_the_log_beneath_is_one_message() -> None:
    log = Gappy()
    await log.post(b"lost")
    alice = signed(log, "alice")
    await alice.post(ONE)
    await alice.post(TWO)
    assert await signed(log, "bob").reader(2).read() == TWO


async def test_a_client_that_was_away_goes_on_where_it_was() -> None:
    log = MemoryTransport()
    await signed(log, "alice").post(ONE)
    await log.post(b"rubbish")
    await signed(log, "bob").post(CODEC.encode(Left("bob")))
    restarted = signed(log, "alice")
    await restarted.post(TWO)
    await restarted.post(THREE)
    reader = signed(log, "bob").reader()
    received = [await _read_or_fault(reader) for _ in range(5)]
    assert [*received[:1], *received[2:]] == [ONE, CODEC.encode(Left("bob")), TWO, THREE]


class Failing(MemoryTransport):
    """A log that says that it has failed, before or after it has taken the message."""

    def __init__(self, *, keeps: bool) -> None:
        super().__init__()
        self.fails, self._keeps = True, keeps

    async def post(self, message: bytes) -> None:
        if not self.fails or self._keeps:
            await super().post(message)
        if self.fails:
            self.fails = False
            raise ConnectionError


@pytest.mark.parametrize("keeps", [True, False])
async def test_after_a_failure_the_next_message_has_the_right_place(keeps: bool) -> None:
    """Whether the message has arrived or not: the sequence goes on where the log ends."""

    log = Failing(keeps=keeps)
    alice, bob = signed(log, "alice"), signed(log, "bob").reader()
    with pytest.raises(ConnectionError):
        await alice.post(ONE)
    await alice.post(TWO)
    assert [await bob.read() for _ in range(log.length())] == ([ONE, TWO] if keeps else [TWO])


async def test_we_post_for_nobody_else() -> None:
    log = MemoryTransport()
    with pytest.raises(UnknownClient):
        await signed(log, "alice").post(CODEC.encode(Left("bob")))
    with pytest.raises(UnknownClient):
        await signed(log, "alice").post(CODEC.encode(Left("mallory")))
    assert log.length() == 0


def test_a_table_has_an_id() -> None:
    with pytest.raises(InvalidValue):
        SignedTransport(MemoryTransport(), b"table", KEYS["alice"], ADDRESSES)


async def _read_or_fault(reader: Reader) -> object:
    try:
        return await reader.read()
    except TransportFault as fault:
        return fault


class Slow(MemoryTransport):
    """Fails after it has posted (`fails`: so often), and does not know how long its log is (`lags`: by so much) but by
    what was acknowledged."""

    def __init__(self, fails: int = 0, lags: int = 0) -> None:
        super().__init__()
        self.fails, self.lags, self.known = fails, lags, 0

    async def post(self, message: bytes) -> None:
        await super().post(message)
        if self.fails:
            self.fails -= 1
            raise ConnectionError("the acknowledgement is lost")
        self.known = super().length()

    def length(self) -> int:
        return max(self.known, super().length() - self.lags)


async def is_posted(transport: SignedTransport, message: bytes) -> bool:
    try:
        await transport.post(message)
    except ConnectionError:
        return False
    return True


async def received_by_bob(log: MemoryTransport) -> list[bytes]:
    """What counts in a log."""
    reader, received = signed(log, "bob").reader(), list[bytes]()
    for _ in range(MemoryTransport.length(log)):
        with contextlib.suppress(TransportFault):
            received.append(await reader.read())
    return received


@pytest.mark.parametrize("lags", [0, 1, 5])
@pytest.mark.parametrize("fails", [1, 2])
async def test_a_retry_after_a_lost_acknowledgement_counts_once(fails: int, lags: int) -> None:
    log = Slow(fails, lags)
    alice = signed(log, "alice")
    for message in (ONE, TWO):
        while not await is_posted(alice, message):
            pass
    assert await received_by_bob(log) == [ONE, TWO]
    assert len({await log.message(number) for number in range(MemoryTransport.length(log))}) == 2


@pytest.mark.parametrize("lags", [0, 1, 5])
async def test_what_follows_a_post_that_failed_and_was_given_up_is_not_lost(lags: int) -> None:
    log = Slow(1, lags)
    alice = signed(log, "alice")
    with contextlib.suppress(ConnectionError):
        await alice.post(ONE)
    await alice.post(TWO)
    await alice.post(THREE)
    assert await received_by_bob(log) == [ONE, TWO, THREE]


async def test_who_comes_back_to_a_log_that_is_longer_than_known_loses_nothing() -> None:
    log = Slow(lags=2)
    for message in (ONE, TWO):
        await signed(log, "alice").post(message)
    log.known = 0  # it is another connection
    await signed(log, "alice").post(THREE)
    assert await received_by_bob(log) == [ONE, TWO, THREE]
    assert MemoryTransport.length(log) > 3  # a replay, which counts for nothing
