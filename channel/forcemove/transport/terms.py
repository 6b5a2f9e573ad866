"""What a table is, and the proof that a participant may post there. Pure.

A table's id is a hash over its participants, so nobody can make a table of that id for others. A proof is an EIP-712
message of a type of its own, with the domain "Forcemove relay", version "1". It names the relay's address, so that one
relay cannot use at another a proof that it was given; and it has the relay's nonce, which is new for each connection. A
relay chooses nothing else in it: no bytes of its own are signed.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

from msgspec import Meta, Struct

from forcemove.errors import InvalidValue
from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import (
    MAX_PARTICIPANTS,
    UINT64_MAX,
    ZERO_ADDRESS,
    require_bytes,
    require_uint,
)
from forcemove.transport.limits import MAX_URL

RELAY_DOMAIN_TYPE = b"EIP712Domain(string name,string version)"
TABLE_TYPE = b"Table(uint8 kind,address[] participants,bytes32 salt)"
PROOF_TYPE = b"Proof(string relay,bytes32 table,address participant,uint64 expiry,bytes32 nonce)"
_SEPARATOR = keccak256(keccak256(RELAY_DOMAIN_TYPE) + keccak256(b"Forcemove relay") + keccak256(b"1"))
_TABLE_TYPEHASH, _PROOF_TYPEHASH = keccak256(TABLE_TYPE), keccak256(PROOF_TYPE)

Address = Annotated[bytes, Meta(min_length=20, max_length=20)]
Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]
Number = Annotated[int, Meta(ge=0, le=UINT64_MAX >> 1)]
"""A place in a log, or Unix seconds: databases have 63 bits for it."""


class TableKind(IntEnum):
    """What happens when a table's log is full."""

    CHANNEL = 1
    """The oldest entries are dropped: a channel's client sends a greeting, and gets the states that it lacks."""
    GAME = 2
    """The log takes no more entries: every entry counts."""


class TableTerms(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A table: `participants`, 1 to 8 distinct addresses, may post. `salt`: 32 bytes that tell tables of the same
    participants apart; a channel's table has the channel's id. Raises `InvalidValue`."""

    kind: TableKind
    participants: tuple[Address, ...]
    salt: Hash

    def __post_init__(self) -> None:
        require_bytes("salt", self.salt, 32)
        for participant in self.participants:
            require_bytes("participants", participant, 20)
        count = len(self.participants)
        if not (1 <= count <= MAX_PARTICIPANTS and len(set(self.participants)) == count):
            raise InvalidValue("participants", self.participants, f"1 to {MAX_PARTICIPANTS} distinct addresses")
        if ZERO_ADDRESS in self.participants:
            raise InvalidValue("participants", self.participants, "addresses other than zero")

    @property
    def id(self) -> bytes:
        """The 32 bytes that name the table."""
        participants = keccak256(b"".join(map(address_word, self.participants)))
        return keccak256(_TABLE_TYPEHASH + word(self.kind) + participants + self.salt)


def proof_digest(relay: str, table: bytes, participant: bytes, expiry: int, nonce: bytes) -> bytes:
    """What a participant signs to post. Raises `InvalidValue`.

    - `relay`: the address that the client has dialled.
    - `table`: 32 bytes, the table's id.
    - `participant`: 20 bytes, the participant's address.
    - `expiry`: Unix seconds until which the proof is good.
    - `nonce`: the relay's 32 bytes for this connection.
    """
    if not 0 < len(relay.encode()) <= MAX_URL:
        raise InvalidValue("relay", relay, f"1 to {MAX_URL} bytes")
    require_bytes("table", table, 32)
    require_bytes("participant", participant, 20)
    require_uint("expiry", expiry, UINT64_MAX)
    require_bytes("nonce", nonce, 32)
    return relay_digest(
        _PROOF_TYPEHASH + text_hash(relay) + table + address_word(participant) + word(expiry) + nonce,
    )


def relay_digest(struct: bytes) -> bytes:
    """The EIP-712 digest of an encoded struct in the relay's domain."""
    return keccak256(b"\x19\x01" + _SEPARATOR + keccak256(struct))


def address_word(address: bytes) -> bytes:
    """An address as a word of 32 bytes."""
    return bytes(12) + address


def text_hash(text: str) -> bytes:
    """A string as EIP-712 encodes it."""
    return keccak256(text.encode())
