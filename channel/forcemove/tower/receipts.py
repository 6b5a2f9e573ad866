"""A tower's signed word that it has taken something, so that one that does nothing can be shown up. Pure."""

from __future__ import annotations

from msgspec import Struct

from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.record import Record
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.status import Mode
from forcemove.protocol.types import UINT48_MAX, Signature, require_bytes, require_uint
from forcemove.protocol.values import Codec
from forcemove.protocol.watch import best_answer
from forcemove.tower.errors import OtherReceipt
from forcemove.tower.handover import HAND_OVERS, HandOver, SignedHandOver, content_hash, tower_digest

__all__ = ["RECEIPTS", "RECEIPT_TYPE", "Receipt", "give_receipt", "is_neglected", "receipt_digest", "verify"]

RECEIPT_TYPE = b"Receipt(bytes32 channelId,address client,uint48 turnNum,bytes32 accepted,uint48 time)"
_TYPEHASH = keccak256(RECEIPT_TYPE)


class Receipt(Struct, frozen=True, tag=True):
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


RECEIPTS: Codec[Receipt] = Codec("receipt of a tower", Receipt)
"""Encodes and decodes them."""


def give_receipt(given: HandOver, signed: SignedHandOver, client: bytes, time: int, key: Key) -> Receipt:
    """The tower's receipt for a hand-over of `client`, which `given` is the content of."""
    id_, turn_num, accepted = given.agreement.channel_id, given.turn_num, content_hash(signed.content)
    to_sign = receipt_digest(id_, client, turn_num, accepted, time)
    return Receipt(id_, client, turn_num, accepted, time, key.sign(to_sign))


def receipt_digest(channel_id: bytes, client: bytes, turn_num: int, accepted: bytes, time: int) -> bytes:
    """What the tower signs (EIP-712, domain "Forcemove tower" version "1")."""
    fields = (channel_id, bytes(12) + client, word(turn_num), accepted, word(time))
    return tower_digest(_TYPEHASH + b"".join(fields))


def verify(receipt: Receipt, tower: bytes, client: bytes, given: HandOver, *, now: int | None = None) -> None:
    """Refuse a receipt that is not the tower's (20 bytes) for what `client` (20 bytes) has given it.

    `now`: the chain's time as the client has read it, if it is to be asked whether the receipt is from later than that:
    such a receipt promises too little. Raises `OtherReceipt`, and what `require_signer` raises.
    """
    to_sign = receipt_digest(receipt.channel_id, receipt.client, receipt.turn_num, receipt.accepted, receipt.time)
    require_signer(to_sign, receipt.signature, tower)
    said = {
        "channel_id": receipt.channel_id == given.agreement.channel_id,
        "client": receipt.client == client,
        "turn_num": receipt.turn_num == given.turn_num,
        "accepted": receipt.accepted == content_hash(HAND_OVERS.encode(given)),
        "time": now is None or receipt.time <= now,
    }
    for field, is_right in said.items():
        if not is_right:
            raise OtherReceipt(field)


def is_neglected(
    receipt: Receipt, tower: bytes, client: bytes, given: HandOver, record: Record, *, now: int, margin: int
) -> bool:
    """Whether the tower has broken its word: the clock has run out on a state that what it had taken would have
    answered, and from the receipt on it had `margin` seconds for that.

    `record`: what the adjudicator's logs say of the channel, before it pays; `now`: the chain's time (seconds). Anybody
    can ask this who is shown receipt, hand-over and chain. Raises as `verify`.
    """
    verify(receipt, tower, client, given)
    if record.recorded is None or record.payout_begun or record.status.mode(now) is not Mode.FINALIZED:
        return False
    fixed_part = given.agreement.fixed_part
    challenged = record.recorded.signed_by(fixed_part.participants)
    had_answer = any(best_answer(fixed_part, challenged, held) for held in (given.supported, given.replies))
    return had_answer and receipt.time + margin <= record.status.finalizes_at
