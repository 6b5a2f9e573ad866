"""Status words, signatures and records of the golden vectors, whole ones and such as are refused. See
`scripts/vectors.py`."""

from __future__ import annotations

from typing import Any

from forcemove import UINT48_MAX, VariablePart
from forcemove.protocol.encoding import digest, encode_record, word
from forcemove.protocol.signing import HALF_ORDER, ORDER
from forcemove.protocol.status import Status
from scripts.vector_values import HERE, KEYS, allocation_to, hex_, sign, state_to_json

__all__ = ["record_vectors", "signature_vectors", "status_vectors"]


def status_vectors() -> list[dict[str, Any]]:
    """Status words and their fields."""
    return [_status_vector(status) for status in _statuses()]


def _statuses() -> tuple[Status, ...]:
    return (
        Status(0, 0, 0),
        Status(11, 0, 2**160 - 1),
        Status(14, 1_900_000_000, 0x1234),
        Status(UINT48_MAX, UINT48_MAX, 2**159),
    )


def _status_vector(status: Status) -> dict[str, Any]:
    return {
        "word": hex_(word(status.pack())),
        "turnNumRecord": status.turn_num_record,
        "finalizesAt": status.finalizes_at,
        "fingerprint": hex_(status.fingerprint.to_bytes(20, "big")),
    }


def signature_vectors() -> list[dict[str, Any]]:
    """Signatures of one digest: a good one, and what is made of it that nobody takes."""
    said = digest(HERE, word(1))
    good = KEYS[0].sign(said)
    cases: list[tuple[str, bytes, str | None]] = [
        ("as it was made", good.compact, None),
        ("s is half the order and one", good.r + word(HALF_ORDER + 1), "SignatureMalleable"),
        ("r is zero", bytes(32) + good.vs, "SignatureUnrecoverable"),
        ("s is zero", good.r + bytes(32), "SignatureUnrecoverable"),
        ("r is not below the order", word(ORDER) + good.vs, "SignatureUnrecoverable"),
    ]
    return [
        {
            "name": name,
            "digest": hex_(said),
            "signature": hex_(compact),
            "signer": hex_(KEYS[0].address),
            "error": error,
        }
        for name, compact, error in cases
    ]


def record_vectors() -> dict[str, Any]:
    """Records with fewer signatures than participants, as `respond` and proofs from the record leave them, and bytes
    that are not records."""
    state = VariablePart((allocation_to(0, 1), allocation_to(1, 2)), b"abc", 12)
    signature = sign(KEYS[0], 0, state)
    record = encode_record(state, [signature])
    whole = [
        {"channel": 0, "record": hex_(encode_record(state, given)), "state": state_to_json(state)}
        | {"signatures": [hex_(each.compact) for each in given]}
        for given in ([signature], [])
    ]
    return {"whole": whole, "refused": [{"name": name, "record": hex_(data)} for name, data in _no_records(record)]}


def _no_records(record: bytes) -> list[tuple[str, bytes]]:
    return [
        ("empty", b""),
        ("cut inside of its head", record[:9]),
        ("cut after its head", record[:12]),
        ("cut inside of an allocation", record[:100]),
        ("cut inside of appData", record[:194]),
        ("cut inside of a signature", record[:-1]),
        ("one byte too long", record + b"\x00"),
        ("isFinal is 2", record[:6] + b"\x02" + record[7:]),
        ("no allocations", record[:7] + b"\x00" + record[8:]),
        ("more allocations than it has", record[:7] + b"\x04" + record[8:]),
        ("more appData than it has", record[:8] + b"\xff\xff" + record[10:]),
        ("the head's last two bytes are not zero", record[:11] + b"\x01" + record[12:]),
        ("an asset is wider than an address", record[:96] + b"\x01" + record[97:]),
    ]
