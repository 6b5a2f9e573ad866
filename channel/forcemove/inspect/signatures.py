"""The real signers of a state: every signature is recovered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from forcemove.errors import ForcemoveError
from forcemove.protocol.signing import recover
from forcemove.protocol.types import Signature


class SignatureVerdict(Enum):
    """Whether a participant's signature is good."""

    SIGNED = "signed"
    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """The check of one participant's signature. `address`: the participant's, None for an index that is not a
    participant's; `recovered`: the account that has made the signature (20 bytes each); `problem`: why nobody can have
    made it."""

    participant: int
    address: bytes | None
    given: bool
    recovered: bytes | None = None
    problem: ForcemoveError | None = None

    @property
    def verdict(self) -> SignatureVerdict:
        """Whether the participant itself has signed."""
        if not self.given:
            return SignatureVerdict.MISSING
        is_good = self.recovered is not None and self.recovered == self.address
        return SignatureVerdict.SIGNED if is_good else SignatureVerdict.WRONG


def check_signatures(
    participants: tuple[bytes, ...], digest: bytes, signatures: Mapping[int, Signature]
) -> tuple[SignatureCheck, ...]:
    """Recover every signature of `digest`; one check for each participant, and for each index that is nobody's."""
    indices = sorted({*range(len(participants)), *signatures})
    return tuple(_check(index, participants, digest, signatures.get(index)) for index in indices)


def _check(index: int, participants: tuple[bytes, ...], digest: bytes, signature: Signature | None) -> SignatureCheck:
    address = participants[index] if index < len(participants) else None
    if signature is None:
        return SignatureCheck(index, address, given=False)
    try:
        return SignatureCheck(index, address, True, recover(digest, signature))
    except ForcemoveError as error:
        return SignatureCheck(index, address, True, None, error)
