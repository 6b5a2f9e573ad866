"""Whether a proof lets its connection post at its table. Pure."""

from __future__ import annotations

from collections.abc import Set

from forcemove.errors import ForcemoveError
from forcemove.protocol.signing import recover
from forcemove.protocol.types import Signature
from forcemove.transport.errors import Reason
from forcemove.transport.terms import proof_digest
from forcemove.transport.wire import Prove

__all__ = ["LONGEST_PROOF", "fault_of"]

LONGEST_PROOF = 3_600
"""Seconds from now until which a proof may be good."""
_MOST_WORDS = 200


def fault_of(prove: Prove, table: bytes, nonce: bytes, urls: Set[str], now: int) -> tuple[Reason, str] | None:
    """What is wrong with a proof, None if nothing is.

    - `prove`: the proof.
    - `table`: the id of its table, 32 bytes.
    - `nonce`: of the connection, 32 bytes.
    - `urls`: the addresses of this relay.
    - `now`: Unix seconds.
    """
    if prove.relay not in urls:
        return Reason.WRONG_RELAY, f"this is {', '.join(sorted(urls))}"[:_MOST_WORDS]
    if prove.expiry <= now:
        return Reason.EXPIRED, f"here it is {now}, and the proof was good until {prove.expiry}"
    if prove.expiry > now + LONGEST_PROOF:
        return Reason.EXPIRED, f"here it is {now}, and a proof may be good for {LONGEST_PROOF} seconds"
    if prove.participant not in prove.table.participants:
        return Reason.NOT_A_PARTICIPANT, "the table is others'"
    digest = proof_digest(prove.relay, table, prove.participant, prove.expiry, nonce)
    if not _is_signed_by(prove.participant, digest, prove.signature):
        return Reason.BAD_SIGNATURE, "the participant has not signed this proof, or not for this connection"
    return None


def _is_signed_by(address: bytes, digest: bytes, signature: bytes) -> bool:
    try:
        return recover(digest, Signature(signature)) == address
    except ForcemoveError:
        return False
