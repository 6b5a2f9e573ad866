"""An appointment: what a participant gives a watchtower, which is its newest proof and what the tower needs to watch
the channel. And the tower's signed receipt for it, which proves it if the tower does not answer.

An appointment has only signed states, and what all participants know anyway. It has no room for a key, a seed or a
hidden choice: it is made from the channel's accepted states, which were all sent or received.

The bytes, as `Codec` makes them, are a `SignedAppointment`: the bytes of an `Appointment` and a signature over them.
The signature is an EIP-712 one of a domain of its own, and names the tower: it can be taken for no state's, and no
other tower accepts it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from forcemove.errors import MalformedBytes
from forcemove.protocol import types
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.msgpack_codec import Codec, StatesCodec
from forcemove.protocol.encoding import TABLE_DOMAIN_TYPE, word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.record import Record
from forcemove.protocol.machine.responses import best_answer, concluding_answer
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.words import Mode
from forcemove.watchtower.errors import OtherReceipt

_ALLOCATION, _SIGNATURE, _FRAME = 160, 96, 1_024
"""Most bytes of an allocation, a signature, and the names and numbers of a state or an agreement."""
_STATE = types.MAX_ALLOCATIONS * _ALLOCATION + types.MAX_APP_DATA + types.MAX_PARTICIPANTS * _SIGNATURE + _FRAME
_AGREEMENT = 2 * types.MAX_ALLOCATIONS * _ALLOCATION + types.MAX_APP_DATA + _FRAME
MAX_APPOINTMENT = 2 * types.MAX_PARTICIPANTS * _STATE + _AGREEMENT + _FRAME
"""Bytes. The largest legal appointment is smaller: two chains of as many states as there may be participants."""

APPOINTMENT_TYPE = b"HandOver(address tower,bytes content)"
_TYPEHASH = keccak256(APPOINTMENT_TYPE)
_SEPARATOR = keccak256(keccak256(TABLE_DOMAIN_TYPE) + keccak256(b"Forcemove tower") + keccak256(b"1"))


class Appointment(Struct, frozen=True, tag="HandOver"):
    """What defends a channel.

    `from_block`: a block before the channel's first log. `supported`: 1 to n consecutive states, oldest first, with
    signatures that hold every participant to the last one; a single final state that all have signed is the finished
    channel. `replies`: empty, or 2 to n consecutive states of which the first may be recorded on chain (no matter
    who signed it), and each later one is signed by its mover: they answer a challenge with the first one, such as by
    the next move."""

    agreement: Agreement
    from_block: int
    supported: tuple[types.SignedState, ...]
    replies: tuple[types.SignedState, ...] = ()

    def __post_init__(self) -> None:
        types.require_uint("from_block", self.from_block, types.UINT48_MAX)

    @property
    def supported_turn(self) -> int:
        """The turn of the newest supported state; 0 where there is none, which no tower accepts."""
        return self.supported[-1].state.turn_num if self.supported else 0

    @property
    def turn_num(self) -> int:
        """The turn up to which the appointment can answer."""
        return max(self.supported_turn, self.replies[-1].state.turn_num if self.replies else 0)

    @property
    def is_finished(self) -> bool:
        """Whether all have signed the final state."""
        return bool(self.supported) and concluding_answer(self.agreement.fixed_part, self.supported[-1]) is not None


class SignedAppointment(Struct, frozen=True, tag="SignedHandOver"):
    """The bytes of an `Appointment`, and a participant's signature over them."""

    content: bytes
    signature: types.Signature


_VERSION = 2
APPOINTMENTS: Codec[Appointment] = Codec("appointment", Appointment, _VERSION)
"""Encodes and decodes appointments. Who offers one of another version is given `UnknownVersion`."""
KEPT_APPOINTMENTS: Codec[Appointment] = StatesCodec("appointment", Appointment, _VERSION)
"""Decodes those that a tower has kept: raises `ChannelOfOlderContracts` where the contracts are those of version 1."""
_SIGNED: Codec[SignedAppointment] = Codec("signed appointment", SignedAppointment)


def make_appointment(channel: Channel, from_block: int) -> Appointment | None:
    """The appointment that a participant should give a tower now, or None while no state of the channel is supported.
    Make it again after each state that was accepted or signed, and give it where it differs from the last one. Pure."""
    fixed_part, newest = channel.agreement.fixed_part, channel.signed_states
    supported = _supporting(fixed_part, newest)
    replies = () if supported or len(newest) < 2 else newest[-channel.agreement.count :]
    supported = supported or _supporting(fixed_part, channel.superseded_states)
    return Appointment(channel.agreement, from_block, supported, replies) if supported else None


def _supporting(fixed_part: types.FixedPart, states: Sequence[types.SignedState]) -> tuple[types.SignedState, ...]:
    """The newest states, as few as prove the last one; empty where it cannot be proved."""
    proof = build_support_proof(fixed_part, states)
    return tuple(states[-len(proof.states) :]) if proof else ()


def sign_appointment(appointment: Appointment, tower: bytes, key: Key) -> bytes:
    """The bytes to send to a tower, signed for that tower alone. `tower`: its account, 20 bytes."""
    content = APPOINTMENTS.encode(appointment)
    return _SIGNED.encode(SignedAppointment(content, key.sign(appointment_digest(tower, content))))


def decode(data: bytes) -> SignedAppointment:
    """Decode the outer part alone, since the signer is checked before the content is decoded. Raises `MalformedBytes`,
    also where the bytes are more than `MAX_APPOINTMENT`, and `UnknownVersion`."""
    if len(data) > MAX_APPOINTMENT:
        raise MalformedBytes("signed appointment", f"it is longer than {MAX_APPOINTMENT} bytes")
    return _SIGNED.decode(data)


def content_hash(content: bytes) -> bytes:
    """The hash of an appointment's bytes that a receipt names: 32 bytes."""
    return keccak256(content)


def appointment_digest(tower: bytes, content: bytes) -> bytes:
    """The 32 bytes that a participant signs of an appointment (EIP-712, domain "Forcemove tower" version "1")."""
    types.require_bytes("tower", tower, 20)
    return tower_digest(_TYPEHASH + bytes(12) + tower + keccak256(content))


def tower_digest(struct: bytes) -> bytes:
    """The 32 bytes that are signed of an encoded struct of this domain."""
    return keccak256(b"\x19\x01" + _SEPARATOR + keccak256(struct))


# ------------------------------------------------------------------------------------------------------------- receipts

RECEIPT_TYPE = b"Receipt(bytes32 channelId,address client,uint48 turnNum,bytes32 accepted,uint48 time)"
_RECEIPT_TYPEHASH = keccak256(RECEIPT_TYPE)


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
    signature: types.Signature

    def __post_init__(self) -> None:
        types.require_bytes("channel_id", self.channel_id, 32)
        types.require_bytes("client", self.client, 20)
        types.require_uint("turn_num", self.turn_num, types.UINT48_MAX)
        types.require_bytes("accepted", self.accepted, 32)
        types.require_uint("time", self.time, types.UINT48_MAX)


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
    return tower_digest(_RECEIPT_TYPEHASH + b"".join(fields))


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
