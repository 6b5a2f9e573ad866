"""The keys, channels and values of the golden vectors, and their JSON. See `scripts/vectors.py`."""

from __future__ import annotations

from typing import Any

from forcemove import Allocation, Key, Outcome, VariablePart, address_destination, keccak256
from forcemove.protocol.encoding import Domain, channel_id, digest, hash_state
from forcemove.protocol.types import ETHER, MAX_AMOUNT, UINT64_MAX, FixedPart, Signature

KEYS = tuple(Key(keccak256(b"forcemove vector key %d" % index)) for index in range(8))
"""The participants' keys. Everybody knows them: they are worth nothing."""
HERE = Domain(31_337, bytes.fromhex("ad" * 20))
"""A chain on which a test can put the adjudicator at this address."""
ELSEWHERE = Domain(2**63 + 29, bytes.fromhex("ae" * 20))
"""A chain whose id no JSON number of most languages holds."""
APP = bytes.fromhex("a9" * 20)
"""The counting app: appData is one word that counts up by one each turn."""
TOKENS = tuple(bytes([byte]) * 20 for byte in (0x11, 0x22, 0x33))
"""Addresses of ERC-20s that nobody asks."""

_ADDRESSES = tuple(key.address for key in KEYS)
_SMALL = FixedPart(_ADDRESSES[:2], 0, APP, 86_400)
CHANNELS = (
    (HERE, _SMALL),
    (HERE, FixedPart(_ADDRESSES[:3], UINT64_MAX, APP, 60, ETHER, 20)),
    (HERE, FixedPart(_ADDRESSES, 2**53 + 1, APP, 31_536_000)),
    (ELSEWHERE, _SMALL),
    (HERE, FixedPart(_ADDRESSES[:2], 7, APP, 3_600, TOKENS[0], MAX_AMOUNT)),
)
"""Of two, three (with a total), eight, the first one on another chain, and one whose home asset is a token of which it
has as much as there may be."""


def id_of(channel: int) -> bytes:
    """The id of one of the channels."""
    domain, fixed = CHANNELS[channel]
    return channel_id(fixed, domain)


def sign(key: Key, channel: int, state: VariablePart) -> Signature:
    """A signature of a state of one of the channels."""
    return key.sign(digest(CHANNELS[channel][0], hash_state(id_of(channel), state).state))


def allocation_to(participant: int, amount: int) -> Allocation:
    """Ether, to a participant's own address."""
    return Allocation(ETHER, address_destination(_ADDRESSES[participant]), amount)


def hex_(data: bytes) -> str:
    """Bytes in the form of the files."""
    return "0x" + data.hex()


def fingerprint_to_json(fingerprint: int) -> str:
    """The 186 bits of a fingerprint in 24 bytes."""
    return hex_(fingerprint.to_bytes(24, "big"))


def fixed_part_to_json(fixed: FixedPart) -> dict[str, Any]:
    """A fixed part as in a signed-state file."""
    return {
        "participants": [hex_(participant) for participant in fixed.participants],
        "channelNonce": str(fixed.channel_nonce),
        "appDefinition": hex_(fixed.app_definition),
        "challengeDuration": fixed.challenge_duration,
        "asset": hex_(fixed.asset),
        "total": str(fixed.total),
    }


def outcome_to_json(outcome: Outcome) -> list[dict[str, str]]:
    """Allocations as in a signed-state file."""
    return [
        {"asset": hex_(each.asset), "destination": hex_(each.destination), "amount": str(each.amount)}
        for each in outcome
    ]


def state_to_json(state: VariablePart) -> dict[str, Any]:
    """A state as in a signed-state file, which is also the form of typed data."""
    return {
        "outcome": outcome_to_json(state.outcome),
        "appData": hex_(state.app_data),
        "evidence": hex_(state.evidence),
        "turnNum": state.turn_num,
        "isFinal": state.is_final,
    }
