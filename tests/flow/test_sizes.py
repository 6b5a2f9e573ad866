"""What a state takes on its way, and that the largest one that the protocol allows goes through every path."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from forcemove import ActionQueue, Channel, MemoryTransport, Phase, SignedState, VariablePart, exchange_keys
from forcemove.flow.actions import MalformedAction
from forcemove.flow.seat import UPDATES, Line, Seat, Update, drive, receive_next
from forcemove.flow.signed import SignedTransport, UnsignedMessage
from forcemove.protocol.codec import limits
from forcemove.protocol.codec.wire import SignedStateFile, decode_file, decode_message, encode_file, encode_message
from forcemove.protocol.encoding import Domain, channel_id, digest, encode_variable_part, hash_state
from forcemove.protocol.machine.inputs import Input, StateReceived
from forcemove.protocol.rules import require_valid_state
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.types import (
    MAX_ALLOCATIONS,
    MAX_APP_DATA,
    MAX_ASSETS,
    MAX_PARTICIPANTS,
    UINT48_MAX,
    FixedPart,
    Outcome,
)
from tests.flow.test_signed import envelope, packed
from tests.flow.virtual_time import run_virtual
from tests.protocol.builders import DOMAIN, allocation, fixed_part, outcome, players

MOST_ON_THE_LOG = 1_650
"""Bytes that the usual state of a two-player game may take, with everything around it."""


@dataclass
class Speaker:
    """A participant that says what it is given to say, and decodes what it hears."""

    line: Line
    to_say: list[bytes] = field(default_factory=list)
    received: list[tuple[bytes, object]] = field(default_factory=list)
    phase = Phase.PLAYING

    @property
    def channel(self) -> Channel:
        raise NotImplementedError

    def feed(self, input_: Input) -> None:
        raise NotImplementedError

    async def catch_up(self) -> bool:
        received = self.line.receive()
        self.received += map(decode_message, received)
        for message in self.to_say:
            self.line.send(message)
        changed = bool(received or self.to_say)
        self.to_say = []
        return changed


def seat_of(name: str, *to_say: bytes) -> tuple[Seat, Speaker]:
    line = Line()
    speaker = Speaker(line, list(to_say))
    return Seat(name, speaker, line), speaker


def carried(message: bytes, keys: Sequence[Key]) -> tuple[list[tuple[bytes, object]], bytes]:
    """What the second participant decodes of what the first one's flow says around a signed table, and the entry on the
    log."""

    async def scenario() -> tuple[list[tuple[bytes, object]], bytes]:
        log, expected = MemoryTransport(), [key.address for key in keys]
        joining = (exchange_keys(log, bytes(32), name, key, expected) for name, key in zip(NAMES, keys, strict=False))
        tables = await asyncio.gather(*joining)
        (alice, _), (bob, hearer) = seat_of("alice", message), seat_of("bob")
        queues = [ActionQueue(table.transport, UPDATES) for table in tables]
        await drive(queues[0], alice)
        assert await receive_next(queues[1], bob, 1.0)
        await drive(queues[1], bob)
        assert not bob.faults
        return hearer.received, await log.reader(len(keys)).read()

    return run_virtual(scenario())


NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", *(f"player {n}" for n in range(8, 32)))


def signed_by_all(state: VariablePart, fixed: FixedPart, keys: Sequence[Key], domain: Domain = DOMAIN) -> SignedState:
    to_sign = digest(domain, hash_state(channel_id(fixed, domain), state).state)
    return SignedState(state, {index: key.sign(to_sign) for index, key in enumerate(keys)})


def largest_outcome() -> Outcome:
    """So many allocations of as many assets as may be."""
    share = MAX_ALLOCATIONS // MAX_ASSETS
    return tuple(
        allocation(bytes([index + 1]) * 32, 2**256 // share - 1, bytes([index // share]) * 20)
        for index in range(MAX_ALLOCATIONS)
    )


def largest() -> tuple[FixedPart, tuple[Key, ...], SignedState]:
    """A legal channel, its participants, and a legal state of it that all have signed."""
    keys = players(MAX_PARTICIPANTS)
    fixed = fixed_part(keys, nonce=2**64 - 1)
    state = VariablePart(largest_outcome(), b"\xff" * MAX_APP_DATA, UINT48_MAX)
    require_valid_state(channel_id(fixed, DOMAIN), DOMAIN.adjudicator, fixed, state)
    return fixed, keys, signed_by_all(state, fixed, keys)


def test_a_usual_state_takes_less_than_1650_bytes_on_the_log() -> None:
    """Two participants and 288 bytes of appData, as rock-paper-scissors has, and both signatures: 768 bytes as ABI
    encodes the state, and 128. It used to be 3,112 without the envelope."""
    keys, fixed = players(2), fixed_part()
    state = VariablePart(outcome(10**18, 10**18), b"\xff" * 288, 17)
    signed = signed_by_all(state, fixed, keys)
    assert len(encode_variable_part(state)) == 768
    received, entry = carried(encode_message(channel_id(fixed, DOMAIN), signed), keys)
    assert received == [(channel_id(fixed, DOMAIN), StateReceived(signed))]
    assert len(entry) < MOST_ON_THE_LOG


def test_the_largest_legal_state_goes_through_every_path() -> None:
    """Message, line, action, signed envelope, log, and back; and a file."""
    fixed, keys, signed = largest()
    id_ = channel_id(fixed, DOMAIN)
    message = encode_message(id_, signed)
    received, entry = carried(message, keys)
    assert received == [(id_, StateReceived(signed))]
    assert len(message) <= limits.MAX_MESSAGE < len(entry) <= limits.MAX_ENVELOPE
    state = received[0][1]
    assert isinstance(state, StateReceived)
    for index, signature in state.signed.signatures.items():
        require_signer(digest(DOMAIN, hash_state(id_, signed.state).state), signature, keys[index].address)
    file = SignedStateFile(DOMAIN, fixed, signed)
    assert decode_file(encode_file(file)) == file
    assert len(encode_file(file)) <= limits.MAX_STATE_FILE


def test_the_largest_message_goes_whatever_its_client_is_called() -> None:
    name = "\0" * limits.MAX_CLIENT_ID
    message = encode_message(bytes(32), largest()[2])
    data = UPDATES.encode(Update(name, msgspec.Raw(message)))
    assert len(data) - len(message) == limits.MAX_UPDATE - limits.MAX_MESSAGE
    assert len(data) <= limits.MAX_UPDATE <= limits.MAX_ACTION


@pytest.mark.virtual_time
async def test_the_largest_action_goes_into_the_largest_envelope() -> None:
    """At the last place of the longest log; there is room for a longer version number besides."""
    key = players(1)[0]
    room = limits.MAX_ACTION - len(UPDATES.encode(Update("alice", msgspec.Raw(b'""'))))
    action = UPDATES.encode(Update("alice", msgspec.Raw(b'"' + b"x" * room + b'"')))
    entry = packed(envelope(action, 2**64 - 1, key, read=(2**64 - 1, b"\xff" * 32)))
    assert len(action) == limits.MAX_ACTION
    assert len(entry) == limits.MAX_ENVELOPE - len("65535") + len("1")
    with pytest.raises(MalformedAction):
        UPDATES.encode(Update("alice", msgspec.Raw(b'"' + b"x" * room + b' "')))
    log = MemoryTransport()
    transport = SignedTransport(log, bytes(32), key, {"alice": key.address})
    await transport.post(action)
    assert await transport.reader().read() == action


@pytest.mark.virtual_time
async def test_a_larger_action_goes_into_no_envelope() -> None:
    """However well it is signed."""
    key = players(1)[0]
    action = b'{"client_id":"alice","text":"' + b"x" * limits.MAX_ENVELOPE + b'"}'
    log = MemoryTransport()
    await log.post(packed(envelope(action, 0, key)))
    with pytest.raises(UnsignedMessage):
        await SignedTransport(log, bytes(32), key, {"alice": key.address}).reader().read()
