"""A tower's signed receipt for an appointment, which proves it if the tower does not answer. Pure."""

from __future__ import annotations

from msgspec import Struct

from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.record import Record
from forcemove.protocol.machine.responses import best_answer
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.types import UINT48_MAX, Signature, require_bytes, require_uint
from forcemove.protocol.words import Mode
from forcemove.watchtower.appointment import APPOINTMENTS, Appointment, SignedAppointment, content_hash, tower_digest
from forcemove.watchtower.errors import OtherReceipt

RECEIPT_TYPE = b"Receipt(bytes32 channelId,address client,uint48 turnNum,bytes32 accepted,uint48 time)"
_TYPEHASH = keccak256(RECEIPT_TYPE)


class AppointmentReceipt(Struct, frozen=True, tag="Receipt"):
    """The tower has accepted, for `client` (20 bytes), an appointment that answers in a channel up to `turn_num`, and
    has it on disk.

    `accepted`: the hash of the appointment (32 bytes). `time`: the block time (seconds) that the tower had read last.
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
"""Encodes and decodes receipts."""


def give_receipt(
    appointment: Appointment, signed: SignedAppointment, client: bytes, time: int, key: Key
) -> AppointmentReceipt:
    """The tower's receipt for an appointment.

    - `appointment`: the content.
    - `signed`: the same as signed bytes.
    - `client`: who has signed it, 20 bytes.
    - `time`: the block time (seconds) that the tower had read last when it accepted the appointment.
    - `key`: the tower's.
    """
    id_, turn_num, accepted = appointment.agreement.channel_id, appointment.turn_num, content_hash(signed.content)
    to_sign = receipt_digest(id_, client, turn_num, accepted, time)
    return AppointmentReceipt(id_, client, turn_num, accepted, time, key.sign(to_sign))


def receipt_digest(channel_id: bytes, client: bytes, turn_num: int, accepted: bytes, time: int) -> bytes:
    """The 32 bytes that the tower signs (EIP-712, domain "Forcemove tower" version "1").

    - `channel_id`: 32 bytes.
    - `client`: who has signed the appointment, 20 bytes.
    - `turn_num`: the turn up to which the appointment can answer.
    - `accepted`: the hash of the appointment, 32 bytes.
    - `time`: the block time (seconds) that the tower had read last when it accepted the appointment.
    """
    fields = (channel_id, bytes(12) + client, word(turn_num), accepted, word(time))
    return tower_digest(_TYPEHASH + b"".join(fields))


def verify_receipt(
    receipt: AppointmentReceipt, tower: bytes, client: bytes, appointment: Appointment, *, now: int | None = None
) -> None:
    """Refuse a receipt that is not the tower's for this appointment of the client's.

    - `receipt`: to be verified.
    - `tower`: the tower's account, 20 bytes.
    - `client`: who has signed the appointment, 20 bytes.
    - `appointment`: that the tower was given.
    - `now`: the chain's time (seconds) as the client has read it; a receipt from later than that promises too little.
      None for no such check.

    Raises `OtherReceipt`, and what `require_signer` raises.
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
    """Whether the tower has not kept its promise: the clock has run out on a state that the accepted appointment would
    have answered, and the tower had `margin` seconds for that, counted from the receipt.

    - `receipt`: the tower's.
    - `tower`: the tower's account, 20 bytes.
    - `client`: who has signed the appointment, 20 bytes.
    - `appointment`: that the receipt is for.
    - `record`: what the adjudicator's logs say of the channel, before it pays.
    - `now`: the chain's time (seconds).
    - `margin`: seconds that a tower must have to answer.

    Anybody can check this with the receipt, the appointment and the chain. Raises as `verify`.
    """
    verify_receipt(receipt, tower, client, appointment)
    if record.recorded is None or record.payout_begun or record.status.mode(now) is not Mode.FINALIZED:
        return False
    fixed_part = appointment.agreement.fixed_part
    challenged = record.recorded.signed_by(fixed_part.participants)
    had_answer = any(best_answer(fixed_part, challenged, held) for held in (appointment.supported, appointment.replies))
    return had_answer and receipt.time + margin <= record.status.finalizes_at
