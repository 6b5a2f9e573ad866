"""Byte layouts: EIP-712 typed hashes and the ABI encoding of states. The only module that knows them.

The hashes are those of `Hashing.sol`, packed by hand because a general encoder is twenty times slower. The ABI
encodings are those of Solidity's `abi.encode`; decoding is strict: only what `encode_*` would have written is accepted,
so that one value has one encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import force_setattr

from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import (
    MAX_ALLOCATIONS,
    MAX_APP_DATA,
    MAX_PARTICIPANTS,
    UINT48_MAX,
    UINT256_MAX,
    Allocation,
    FixedPart,
    Outcome,
    Signature,
    VariablePart,
    require_bytes,
    require_uint,
)

DOMAIN_TYPE = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
ALLOCATION_TYPE = b"Allocation(address asset,bytes32 destination,uint256 amount)"
STATE_TYPE = (
    b"State(bytes32 channelId,Allocation[] outcome,bytes appData,bytes evidence,uint48 turnNum,bool isFinal)"
    + ALLOCATION_TYPE
)
CHALLENGE_TYPE = b"Challenge(bytes32 channelId,uint48 turnNum,bytes32 stateHash)"

_DOMAIN_TYPEHASH = keccak256(DOMAIN_TYPE)
_NAME_HASH = keccak256(b"Forcemove")
_VERSION_HASH = keccak256(b"2")
_CHALLENGE_TYPEHASH = keccak256(CHALLENGE_TYPE)
_STATE_TYPEHASH = keccak256(STATE_TYPE)
_ALLOCATION_PREFIX = keccak256(ALLOCATION_TYPE) + bytes(12)
_WORDS = (bytes(32), bytes(31) + b"\x01")
EMPTY_HASH = keccak256(b"")
"""The hash of no bytes: of a final state's appData and evidence."""


def word(value: int) -> bytes:
    """An unsigned integer as one 32-byte big-endian word."""
    return value.to_bytes(32, "big")


NO_CHAIN = 0
"""The chain id of friendly games, which have no chain."""


class Domain(Struct, frozen=True):
    """Where signatures are good: one adjudicator (20 bytes) on one chain (EIP-712's domain, name "Forcemove" version
    "2"). `separator` is its 32-byte hash."""

    chain_id: int
    adjudicator: bytes
    separator: bytes = b""

    def __post_init__(self) -> None:
        require_uint("chain_id", self.chain_id, UINT256_MAX)
        require_bytes("adjudicator", self.adjudicator, 20)
        fields = (_DOMAIN_TYPEHASH, _NAME_HASH, _VERSION_HASH, word(self.chain_id), bytes(12) + self.adjudicator)
        force_setattr(self, "separator", keccak256(b"".join(fields)))


def channel_id(fixed_part: FixedPart, domain: Domain) -> bytes:
    """The 32-byte id of a channel: keccak256 of one word each of chain id, adjudicator, nonce, app, duration, asset,
    total, and the participants."""
    padding = bytes(12)
    return keccak256(
        b"".join(
            (
                word(domain.chain_id),
                padding,
                domain.adjudicator,
                word(fixed_part.channel_nonce),
                padding,
                fixed_part.app_definition,
                word(fixed_part.challenge_duration),
                padding,
                fixed_part.asset,
                word(fixed_part.total),
                *(padding + participant for participant in fixed_part.participants),
            )
        )
    )


class StateHashes(NamedTuple):
    """The four 32-byte hashes of one state: what states are compared and recorded by."""

    outcome: bytes
    app_data: bytes
    evidence: bytes
    state: bytes


def outcome_hash(outcome: Outcome) -> bytes:
    """The EIP-712 hash of a list of allocations."""
    prefix = _ALLOCATION_PREFIX
    return keccak256(
        b"".join(
            [
                keccak256(prefix + entry.asset + entry.destination + entry.amount.to_bytes(32, "big"))
                for entry in outcome
            ]
        )
    )


def state_hash(
    id_: bytes, outcome_hash_: bytes, app_data_hash: bytes, evidence_hash: bytes, turn_num: int, is_final: bool
) -> bytes:
    """The EIP-712 struct hash of a state.

    - `id_`: the channel's id, 32 bytes.
    - `outcome_hash_`: 32 bytes, see `outcome_hash`.
    - `app_data_hash`: 32 bytes, of the `bytes` member appData.
    - `evidence_hash`: 32 bytes, of the `bytes` member evidence.
    - `turn_num`: of the state.
    - `is_final`: whether the state is final.
    """
    hashes = _STATE_TYPEHASH + id_ + outcome_hash_ + app_data_hash + evidence_hash
    return keccak256(hashes + turn_num.to_bytes(32, "big") + _WORDS[is_final])


def hash_state(id_: bytes, state: VariablePart) -> StateHashes:
    """All four hashes of a state of channel `id_`."""
    return hash_with(id_, outcome_hash(state.outcome), state)


def hash_with(id_: bytes, outcome: bytes, state: VariablePart) -> StateHashes:
    """The same, where the hash of the outcome (32 bytes) is known."""
    app_data = keccak256(state.app_data)
    evidence = keccak256(state.evidence) if state.evidence else state.evidence_hash or EMPTY_HASH
    hashed = state_hash(id_, outcome, app_data, evidence, state.turn_num, state.is_final)
    return StateHashes(outcome, app_data, evidence, hashed)


def challenge_hash(id_: bytes, turn_num: int, state_hash_: bytes) -> bytes:
    """The EIP-712 struct hash of a challenge with the state that hashes to `state_hash_`."""
    return keccak256(_CHALLENGE_TYPEHASH + id_ + word(turn_num) + state_hash_)


def digest(domain: Domain, struct_hash: bytes) -> bytes:
    """The 32 bytes that get signed (EIP-712)."""
    return keccak256(b"\x19\x01" + domain.separator + struct_hash)


def fingerprint(state_hash_: bytes, outcome_hash_: bytes) -> int:
    """What the adjudicator keeps of a state and what it still owes: the 186 low bits of a hash of both."""
    return int.from_bytes(keccak256(state_hash_ + outcome_hash_)[8:], "big") & (2**186 - 1)


# ----------------------------------------------------------------------------------------- what is said around a table

TABLE_DOMAIN_TYPE = b"EIP712Domain(string name,string version)"
MESSAGE_TYPE = b"Message(bytes32 tableId,uint64 sequence,uint64 readCount,bytes32 readHash,bytes message)"
KEY_TYPE = b"Key(bytes32 tableId,string clientId,bytes publicKey)"
_TABLE_SEPARATOR = keccak256(keccak256(TABLE_DOMAIN_TYPE) + keccak256(b"Forcemove table") + keccak256(b"1"))
_MESSAGE_TYPEHASH, _KEY_TYPEHASH = keccak256(MESSAGE_TYPE), keccak256(KEY_TYPE)


def message_digest(table_id: bytes, sequence: int, read_count: int, read_hash: bytes, message: bytes) -> bytes:
    """What a client signs of a message at a table (EIP-712, domain "Forcemove table" version "1"). No signature of a
    state can be taken for it, and no signature of a message at another table, at another place, or after another
    history.

    - `table_id`: 32 bytes.
    - `sequence`: the number of the message among the client's own.
    - `read_count`: how many entries of the table's log the client had read before.
    - `read_hash`: 32 bytes, the running hash over these entries.
    - `message`: the bytes that are posted.
    """
    said = word(sequence) + word(read_count) + read_hash + keccak256(message)
    return _table_digest(_MESSAGE_TYPEHASH + table_id + said)


def key_digest(table_id: bytes, client_id: str, public_key: bytes) -> bytes:
    """What a client signs to show that a public key (33 bytes, compressed) is its own at this table."""
    return _table_digest(_KEY_TYPEHASH + table_id + keccak256(client_id.encode()) + keccak256(public_key))


def _table_digest(struct: bytes) -> bytes:
    return keccak256(b"\x19\x01" + _TABLE_SEPARATOR + keccak256(struct))


# ------------------------------------------------------------------------------------------------------ ABI encoding

_HEAD = 5 * 32
_ALLOCATION_SIZE = 3 * 32


def encode_variable_part(state: VariablePart) -> bytes:
    """`abi.encode(VariablePart)`: an offset word (32), then the tuple (offsets of outcome, appData and evidence,
    turnNum, isFinal), the allocations (length, then asset, destination, amount each), appData and evidence (length,
    bytes padded to words). Raises `InvalidValue` where only the hash of the evidence is known."""
    return word(32) + encode_variable_part_tail(state)


def encode_variable_part_tail(state: VariablePart) -> bytes:
    """The same without the leading offset, for a state in an array or among other arguments."""
    outcome, app_data, evidence = state.outcome, state.app_data, state.full_evidence()
    padding = bytes(12)
    app_data_at = _HEAD + 32 + _ALLOCATION_SIZE * len(outcome)
    parts = [
        word(_HEAD),
        word(app_data_at),
        word(app_data_at + 32 + len(app_data) + -len(app_data) % 32),
        word(state.turn_num),
        _WORDS[state.is_final],
        word(len(outcome)),
    ]
    for entry in outcome:
        parts += (padding, entry.asset, entry.destination, entry.amount.to_bytes(32, "big"))
    for data in (app_data, evidence):
        parts += (word(len(data)), data, bytes(-len(data) % 32))
    return b"".join(parts)


def decode_variable_part(data: bytes) -> VariablePart:
    """The inverse of `encode_variable_part`. Raises `MalformedBytes` on anything that it would not have written."""
    try:
        state = _decode_variable_part(data)
    except MalformedBytes:
        raise
    except ForcemoveError as error:
        raise MalformedBytes("state", str(error)) from None
    if encode_variable_part(state) != data:
        raise MalformedBytes("state", "it is not in canonical form")
    return state


def _decode_variable_part(data: bytes) -> VariablePart:
    def number(position: int, maximum: int, what: str) -> int:
        if position + 32 > len(data):
            raise MalformedBytes("state", f"it ends inside {what}")
        value = int.from_bytes(data[position : position + 32], "big")
        if value > maximum:
            raise MalformedBytes("state", f"{what} is out of range")
        return value

    number(0, 32, "the offset of the state")
    number(32, _HEAD, "the offset of the outcome")
    number(64, len(data), "the offset of appData")
    number(96, len(data), "the offset of evidence")
    turn_num = number(128, UINT48_MAX, "turnNum")
    is_final = bool(number(160, 1, "isFinal"))
    count = number(192, MAX_ALLOCATIONS, "the number of allocations")
    position = 224
    outcome = []
    for _ in range(count):
        asset = number(position, 2**160 - 1, "an asset").to_bytes(20, "big")
        destination = word(number(position + 32, UINT256_MAX, "a destination"))
        outcome.append(Allocation(asset, destination, number(position + 64, UINT256_MAX, "an amount")))
        position += _ALLOCATION_SIZE
    found = []
    for what in ("appData", "evidence"):
        length = number(position, MAX_APP_DATA, f"the length of {what}")
        found.append(data[position + 32 : position + 32 + length])
        if len(found[-1]) != length:
            raise MalformedBytes("state", f"it ends inside {what}")
        position += 32 + length + -length % 32
    app_data, evidence = found
    return VariablePart(tuple(outcome), app_data, turn_num, is_final, evidence)


# ------------------------------------------------------------------------------------------------------------ records

_RECORD_HEAD = 12
_SIGNATURE_SIZE = 64
_PADDING = bytes(12)
"""Before an address in a word."""


def encode_record(state: VariablePart, signatures: Sequence[Signature]) -> bytes:
    """A state and its signatures as the adjudicator logs them (`Records.sol`): the allocations, 96 bytes each (asset,
    destination and amount as words); appData; evidence; the signatures, 64 bytes each. The 12 bytes before the first
    asset hold the head: turnNum 6 bytes, isFinal 1, number of allocations 1, length of appData 2, of evidence 2.

    Raises `InvalidValue` on a state or signatures that no adjudicator would have logged.
    """
    evidence = state.full_evidence()
    _require_recordable(len(state.outcome), len(state.app_data) + len(evidence), len(signatures))
    lengths = len(state.outcome) << 32 | len(state.app_data) << 16 | len(evidence)
    parts: list[bytes] = []
    for entry in state.outcome:
        parts += (_PADDING, entry.asset, entry.destination, entry.amount.to_bytes(32, "big"))
    parts[0] = (state.turn_num << 48 | state.is_final << 40 | lengths).to_bytes(12, "big")
    return b"".join((*parts, state.app_data, evidence, *[signature.compact for signature in signatures]))


def decode_record(data: bytes) -> tuple[VariablePart, tuple[Signature, ...]]:
    """The inverse of `encode_record`. Raises `MalformedBytes` on anything that it would not have written."""
    if len(data) < _RECORD_HEAD or data[6] > 1:
        raise MalformedBytes("record", "its head is too short or its isFinal neither 0 nor 1")
    app_data_at = _ALLOCATION_SIZE * data[7]
    evidence_at = app_data_at + int.from_bytes(data[8:10], "big")
    signatures_at = evidence_at + int.from_bytes(data[10:12], "big")
    if signatures_at > len(data) or (len(data) - signatures_at) % _SIGNATURE_SIZE:
        raise MalformedBytes("record", f"it has {len(data)} bytes, which do not fit its head")
    try:
        _require_recordable(data[7], signatures_at - app_data_at, (len(data) - signatures_at) // _SIGNATURE_SIZE)
    except InvalidValue as error:
        raise MalformedBytes("record", str(error)) from None
    words = bytes(_RECORD_HEAD) + data[_RECORD_HEAD:]
    outcome = tuple([_decode_allocation(words, at) for at in range(0, app_data_at, _ALLOCATION_SIZE)])
    app_data, evidence = data[app_data_at:evidence_at], data[evidence_at:signatures_at]
    state = VariablePart(outcome, app_data, int.from_bytes(data[:6], "big"), bool(data[6]), evidence)
    ends = range(signatures_at + _SIGNATURE_SIZE, len(data) + 1, _SIGNATURE_SIZE)
    return state, tuple([Signature(data[end - _SIGNATURE_SIZE : end]) for end in ends])


def _require_recordable(allocations: int, data: int, signatures: int) -> None:
    if not 1 <= allocations <= MAX_ALLOCATIONS:
        raise InvalidValue("allocations", allocations, f"1 to {MAX_ALLOCATIONS}")
    if data > MAX_APP_DATA:
        raise InvalidValue("appData", data, f"at most {MAX_APP_DATA} bytes with evidence")
    if signatures > MAX_PARTICIPANTS:
        raise InvalidValue("signatures", signatures, f"at most {MAX_PARTICIPANTS}")


def _decode_allocation(data: bytes, at: int) -> Allocation:
    if data[at : at + 12] != _PADDING:
        raise MalformedBytes("record", "an asset is wider than an address")
    amount = int.from_bytes(data[at + 64 : at + 96], "big")
    return Allocation(data[at + 12 : at + 32], data[at + 32 : at + 64], amount)
