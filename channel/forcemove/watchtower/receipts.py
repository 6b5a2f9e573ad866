"""A tower's signed word that it has taken something, so that one that does nothing can be shown up. Pure."""

from __future__ import annotations

from msgspec import Struct

from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.record import Record
from forcemove.protocol.machine.responses import best_answer
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.status import Mode
from forcemove.protocol.types import UINT48_MAX, Signature, require_bytes, require_uint
from forcemove.watchtower.appointment import APPOINTMENTS, Appointment, SignedAppointment, content_hash, tower_digest
from forcemove.watchtower.errors import OtherReceipt

__all__ = ["RECEIPTS", "RECEIPT_TYPE", "AppointmentReceipt", "give_receipt", "is_neglected", "receipt_digest", "verify"]

RECEIPT_TYPE = b"Receipt(bytes32 channelId,address client,uint48 turnNum,bytes32 accepted,uint48 time)"
_TYPEHASH = keccak256(RECEIPT_TYPE)


class AppointmentReceipt(Struct, frozen=True, tag="Receipt"):
    """The tower has taken, for `client` (20 bytes), what answers in a channel up to `turn_num`, and has it on disk.

    `accepted`: the hash of the hand-over (32 bytes). `time`: the block time (seconds) that it had read last.
    """

    channel_id: bytes
    client: bytes
    turn_num: int
    accepted: bytes
    time: int
    signature: Signature

    def __post_init__(self) -> None:
        require_bytes("channel_id", self.channel_id, 32)
        require_bytes("client", self.client, 20)
        require_uint("turn_num", self.turn_num, UINT48_MAX)
        require_bytes("accepted", self.accepted, 32)
        require_uint("time", self.time, UINT48_MAX)


RECEIPTS: Codec[AppointmentReceipt] = Codec("receipt of a tower", AppointmentReceipt)
"""Encodes and decodes them."""


def give_receipt(
    appointment: Appointment, signed: SignedAppointment, client: bytes, time: int, key: Key
) -> AppointmentReceipt:
    """The tower's receipt for a hand-over of `client`, which `appointment` is the content of."""
    id_, turn_num, accepted = appointment.agreement.channel_id, appointment.turn_num, content_hash(signed.content)
    to_sign = receipt_digest(id_, client, turn_num, accepted, time)
    return AppointmentReceipt(id_, client, turn_num, accepted, time, key.sign(to_sign))


def receipt_digest(channel_id: bytes, client: bytes, turn_num: int, accepted: bytes, time: int) -> bytes:
    """What the tower signs (EIP-712, domain "Forcemove tower" version "1")."""
    fields = (channel_id, bytes(12) + client, word(turn_num), accepted, word(time))
    return tower_digest(_TYPEHASH + b"".join(fields))


def verify(
    receipt: AppointmentReceipt, tower: bytes, client: bytes, appointment: Appointment, *, now: int | None = None
) -> None:
    """Refuse a receipt that is not the tower's (20 bytes) for what `client` (20 bytes) has given it.

    `now`: the chain's time as the client has read it, if it is to be asked whether the receipt is from later than that:
    such a receipt promises too little. Raises `OtherReceipt`, and what `require_signer` raises.
    """
    to_sign = receipt_digest(receipt.channel_id, receipt.client, receipt.turn_num, receipt.accepted, receipt.time)
    require_signer(to_sign, receipt.signature, tower)
    said = {
        "channel_id": receipt.channel_id == appointment.agreement.channel_id,
        "client": receipt.client == client,
        "turn_num": receipt.turn_num == appointment.turn_num,
        "accepted": receipt.accepted == content_hash(APPOINTMENTS.encode(appointment)),
        "time": now is None or receipt.time <= now,
    }
    for field, is_right in said.items():
        if not is_right:
            raise OtherReceipt(field)


def is_neglected(
    receipt: AppointmentReceipt,
    tower: bytes,
    client: bytes,
    appointment: Appointment,
    record: Record,
    *,
    now: int,
    margin: int,
) -> bool:
    """Whether the tower has broken its word: the clock has run out on a state that what it had taken would have
    answered, and from the receipt on it had `margin` seconds for that.

    `record`: what the adjudicator's logs say of the channel, before it pays; `now`: the chain's time (seconds). Anybody
    can ask this who is shown receipt, hand-over and chain. Raises as `verify`.
    """
    verify(receipt, tower, client, appointment)
    if record.recorded is None or record.payout_begun or record.status.mode(now) is not Mode.FINALIZED:
        return False
    fixed_part = appointment.agreement.fixed_part
    challenged = record.recorded.signed_by(fixed_part.participants)
    had_answer = any(best_answer(fixed_part, challenged, held) for held in (appointment.supported, appointment.replies))
    return had_answer and receipt.time + margin <= record.status.finalizes_at
