"""Words in storage, signatures and records of the golden vectors, whole ones and such as are refused. See
`scripts/vectors.py`."""

from __future__ import annotations

from typing import Any

from forcemove import VariablePart
from forcemove.protocol.curve import ORDER
from forcemove.protocol.encoding import digest, encode_record, word
from forcemove.protocol.signing import HALF_ORDER
from forcemove.protocol.types import MAX_AMOUNT, MAX_APP_DATA
from forcemove.protocol.words import MAX_FINALIZES_AT, MAX_TURN_RECORD, Status, holdings_in
from scripts.vector_values import HERE, KEYS, allocation_to, fingerprint_to_json, hex_, sign, state_to_json

_CLOSED, _PAYOUT_BEGUN, _FULL, _SURPLUS = 1 << 255, 1 << 253, 1 << 253, 1 << 252


def status_vectors() -> list[dict[str, Any]]:
    """Words of records and their fields."""
    return [_status_vector(status, flags) for status, flags in _statuses()]


def _statuses() -> tuple[tuple[Status, int], ...]:
    """Records, each with its flags."""
    return (
        (Status(0, 0, 0), 0),
        (Status(11, 0, 2**186 - 1), 0),
        (Status(14, 1_900_000_000, 0x1234), _FULL),
        (Status(0, 0, 1), _FULL | _SURPLUS),
        (Status(MAX_TURN_RECORD, MAX_FINALIZES_AT, 2**185), 0),
    )


def _status_vector(status: Status, flags: int) -> dict[str, Any]:
    return {
        "word": hex_(word(status.pack() | flags)),
        "isRecorded": not status.is_empty,
        "isFull": bool(flags & _FULL),
        "hasSurplus": bool(flags & _SURPLUS),
        "turnNumRecord": status.turn_num_record,
        "finalizesAt": status.finalizes_at,
        "fingerprint": fingerprint_to_json(status.fingerprint),
    }


def holdings_vectors() -> list[dict[str, Any]]:
    """An asset's word, the late word and the channel's total, and what is held."""
    record = Status(14, 0, 0x1234).pack()
    cases: tuple[tuple[str, int, int, int], ...] = (
        ("nothing", 0, 0, 0),
        ("so much as there may be", MAX_AMOUNT, 0, 7),
        ("after a payout in part", _PAYOUT_BEGUN | 5, 0, 0),
        ("closed", _CLOSED, 0, 7),
        ("closed with something that had nowhere to go", _CLOSED | 5, 0, 0),
        ("recorded before anything was held", record, 0, 7),
        ("recorded, and the money is in the late word", record, 6, 7),
        ("recorded and full", record | _FULL, 0, 7),
        ("recorded, full, and a surplus", record | _FULL | _SURPLUS, 3, 7),
        ("recorded, after a payout in part", record, _PAYOUT_BEGUN | 5, 7),
    )
    return [_holdings_vector(*case) for case in cases]


def _holdings_vector(name: str, own: int, late: int, total: int) -> dict[str, Any]:
    held = holdings_in(own, late, total)
    return {
        "name": name,
        "word": hex_(word(own)),
        "lateWord": hex_(word(late)),
        "total": str(total),
        "held": str(held.amount),
        "payoutBegun": held.payout_begun,
        "closed": held.closed,
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
    state = VariablePart((allocation_to(0, 1), allocation_to(1, 2)), b"abc", 12, evidence=b"defgh")
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
        ("cut inside of evidence", record[:198]),
        ("cut inside of a signature", record[:-1]),
        ("one byte too long", record + b"\x00"),
        ("isFinal is 2", record[:6] + b"\x02" + record[7:]),
        ("no allocations", record[:7] + b"\x00" + record[8:]),
        ("more allocations than it has", record[:7] + b"\x04" + record[8:]),
        ("more appData than it has", record[:8] + b"\xff\xff" + record[10:]),
        ("more evidence than it has", record[:10] + b"\xff\xff" + record[12:]),
        ("appData and evidence of 8,193 bytes together", _stretched(record, MAX_APP_DATA + 1)),
        ("an asset is wider than an address", record[:96] + b"\x01" + record[97:]),
    ]


def _stretched(record: bytes, length: int) -> bytes:
    """The same with this many bytes of appData and evidence together, of which evidence has five."""
    more = length - 5
    return record[:8] + more.to_bytes(2, "big") + record[10:192] + bytes(more) + record[195:]
