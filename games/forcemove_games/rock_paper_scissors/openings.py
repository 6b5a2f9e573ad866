"""The openings of a player's commitments, which it must not lose, 64 bytes each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forcemove import LocalError, MalformedBytes
from forcemove_games.commitment import Opening

__all__ = ["UnknownCommitment", "decode_openings", "encode_openings", "opening_of"]

_OPENING_LENGTH = 64


@dataclass(eq=False)
class UnknownCommitment(LocalError):
    """We have to open a commitment whose opening we do not have: the secrets were lost or are another player's."""

    pre_commit: bytes


def decode_openings(data: bytes) -> dict[bytes, Opening]:
    """Openings by their commitments. Raises `MalformedBytes`."""
    if len(data) % _OPENING_LENGTH:
        raise MalformedBytes("secrets", f"{len(data)} bytes are not a number of openings")
    starts = range(0, len(data), _OPENING_LENGTH)
    openings = [Opening.decode(data[start : start + _OPENING_LENGTH]) for start in starts]
    return {opening.commitment: opening for opening in openings}


def encode_openings(openings: Iterable[Opening]) -> bytes:
    """The inverse."""
    return b"".join(opening.encode() for opening in openings)


def opening_of(openings: Mapping[bytes, Opening], pre_commit: bytes) -> Opening:
    """The opening of our commitment. Raises `UnknownCommitment`."""
    opening = openings.get(pre_commit)
    if opening is None:
        raise UnknownCommitment(pre_commit)
    return opening
