"""What a demonstration keeps of a channel, and its bytes: JSON, versioned, with a digest. Pure.

What has been signed and accepted is kept: with it nobody signs two states for one turn, and the channel can be brought
to its end. What is known of the chain is not: it is read again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from forcemove.channel.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.channel import Accepted, Channel
from forcemove.channel.protocol.encoding import Domain, decode_variable_part, encode_variable_part, hash_state
from forcemove.channel.protocol.hashing import keccak256
from forcemove.channel.protocol.json_text import require_format, require_shallow
from forcemove.channel.protocol.state import SignedState
from forcemove.channel.protocol.types import FixedPart, Signature

__all__ = ["FORMAT", "VERSION", "Kept", "Ledger", "decode_ledger", "encode_ledger"]

_FAMILY = "forcemove-demo-channels"
VERSION = 1
"""The version of files that this program writes and reads."""
FORMAT = f"{_FAMILY}/{VERSION}"
"""The first field of a file: what it is."""
_WHAT = "record of unfinished channels"


@dataclass(slots=True)
class Kept:
    """One channel: the game's name, the number and hash of the newest block when it began, and each seat's view once
    there is one. It has no logs before that block, and a chain without that block is another one, whatever its id."""

    agreement: Agreement
    game: str
    from_block: int
    block_hash: bytes
    seats: dict[int, Channel] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The channels of one payer (20 bytes) on one chain."""

    chain_id: int
    payer: bytes
    channels: dict[bytes, Kept] = field(default_factory=dict)


# -------------------------------------------------------------------------------------------------- as it is written


class _State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    state: bytes
    signatures: dict[int, bytes]


class _Seat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    accepted: tuple[_State, ...]
    kept: tuple[_State, ...]
    last_signed: tuple[int, bytes] | None
    final_outcome: bytes | None
    leaving: bool


class _Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    game: str
    from_block: int
    block_hash: bytes
    chain_id: int
    adjudicator: bytes
    participants: tuple[bytes, ...]
    nonce: int
    app: bytes
    duration: int
    destinations: tuple[bytes, ...]
    deposits: tuple[tuple[bytes, tuple[str, ...]], ...]
    app_data: bytes
    seats: dict[int, _Seat]


class _Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    chain_id: int
    payer: bytes
    channels: tuple[_Channel, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    digest: str
    content: msgspec.Raw


class _Head(msgspec.Struct, frozen=True):
    format: str


def encode_ledger(ledger: Ledger) -> bytes:
    """The bytes of a file."""
    channels = tuple(map(_channel_record, ledger.channels.values()))
    content = msgspec.json.encode(_Content(ledger.chain_id, ledger.payer, channels))
    return msgspec.json.encode(_File(FORMAT, keccak256(content).hex(), msgspec.Raw(content))) + b"\n"


def _channel_record(kept: Kept) -> _Channel:
    agreement, fixed_part = kept.agreement, kept.agreement.fixed_part
    return _Channel(
        kept.game,
        kept.from_block,
        kept.block_hash,
        agreement.domain.chain_id,
        agreement.domain.adjudicator,
        fixed_part.participants,
        fixed_part.channel_nonce,
        fixed_part.app_definition,
        fixed_part.challenge_duration,
        agreement.destinations,
        tuple((asset, tuple(map(str, amounts))) for asset, amounts in agreement.deposits),
        agreement.app_data,
        {seat: _seat_record(channel) for seat, channel in sorted(kept.seats.items())},
    )


def _seat_record(channel: Channel) -> _Seat:
    accepted, kept = (tuple(map(_state_record, states)) for states in (channel.signed_states, channel.kept_states))
    return _Seat(accepted, kept, channel.last_signed, channel.final_outcome, channel.leaving)


def _state_record(signed: SignedState) -> _State:
    signatures = {index: signature.compact for index, signature in sorted(signed.signatures.items())}
    return _State(encode_variable_part(signed.state), signatures)


# ----------------------------------------------------------------------------------------------------- as it is read


def decode_ledger(data: bytes) -> Ledger:
    """The inverse. Raises `UnknownVersion`; `MalformedBytes` where anything in it is missing, wrong, unknown or
    changed, even a single bit."""
    try:
        require_shallow(data, _WHAT)
        require_format(msgspec.json.decode(data, type=_Head).format, _FAMILY, VERSION, _WHAT)
        file = msgspec.json.decode(data, type=_File)
        if keccak256(bytes(file.content)).hex() != file.digest:
            raise MalformedBytes(_WHAT, "its content is not what was written: the digest differs")
        return _ledger(msgspec.json.decode(file.content, type=_Content))
    except (MalformedBytes, UnknownVersion):
        raise
    except (msgspec.DecodeError, ForcemoveError, ValueError) as error:
        raise MalformedBytes(_WHAT, str(error)) from None


def _ledger(content: _Content) -> Ledger:
    channels = map(_kept, content.channels)
    return Ledger(content.chain_id, content.payer, {each.agreement.channel_id: each for each in channels})


def _kept(record: _Channel) -> Kept:
    agreement = Agreement(
        Domain(record.chain_id, record.adjudicator),
        FixedPart(record.participants, record.nonce, record.app, record.duration),
        record.destinations,
        tuple((asset, tuple(map(int, amounts))) for asset, amounts in record.deposits),
        record.app_data,
    )
    seats = {index: _seat(agreement, index, seat) for index, seat in record.seats.items()}
    return Kept(agreement, record.game, record.from_block, record.block_hash, seats)


def _seat(agreement: Agreement, index: int, record: _Seat) -> Channel:
    return Channel(
        agreement,
        index,
        accepted=tuple(_accepted(agreement.channel_id, each) for each in record.accepted),
        kept=tuple(_accepted(agreement.channel_id, each) for each in record.kept),
        last_signed=record.last_signed,
        final_outcome=record.final_outcome,
        leaving=record.leaving,
    )


def _accepted(channel_id: bytes, record: _State) -> Accepted:
    state = decode_variable_part(record.state)
    signatures = {index: Signature(compact) for index, compact in record.signatures.items()}
    return Accepted(SignedState(state, signatures), hash_state(channel_id, state))
