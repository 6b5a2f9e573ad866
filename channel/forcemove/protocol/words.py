"""What the adjudicator remembers of one asset of one channel, in one 32-byte word: the record, or what is held. The
twin of `Words.sol`.

Where a state is recorded, the word of the channel's home asset has it; what the channel holds is then its total, if it
is full, and what the late word holds.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import MAX_AMOUNT, UINT256_MAX, require_uint

MAX_TURN_RECORD = 2**32 - 1
"""The highest turn number that can be recorded."""
MAX_FINALIZES_AT = 2**34 - 1
"""The last second at which a clock can run out."""
_FINGERPRINT_MAX = 2**186 - 1
_CLOSED, _RECORDED, _PAYOUT_BEGUN, _FULL = 1 << 255, 1 << 254, 1 << 253, 1 << 253
_SURPLUS = 1 << 252
_TURN_AT, _FINALIZES_AT = 220, 186


def word_key(channel_id: bytes, asset: bytes) -> bytes:
    """The storage slot of an asset's word: keccak256 of the channel's id and the asset as a word."""
    return keccak256(channel_id + bytes(12) + asset)


def late_key(channel_id: bytes, asset: bytes) -> bytes:
    """The storage slot of what a recorded channel holds of its home asset beside its total: the asset + 2**160."""
    return keccak256(channel_id + bytes(11) + b"\x01" + asset)


class Mode(Enum):
    """Derived from the clock, never stored."""

    OPEN = "Open"
    CHALLENGE = "Challenge"
    FINALIZED = "Finalized"


class Status(Struct, frozen=True):
    """A record. `turn_num_record` below 2**32, `finalizes_at` below 2**34 (a block time in seconds; 0: no clock),
    `fingerprint` below 2**186."""

    turn_num_record: int
    finalizes_at: int
    fingerprint: int

    def __post_init__(self) -> None:
        require_uint("turn_num_record", self.turn_num_record, MAX_TURN_RECORD)
        require_uint("finalizes_at", self.finalizes_at, MAX_FINALIZES_AT)
        require_uint("fingerprint", self.fingerprint, _FINGERPRINT_MAX)

    @classmethod
    def unpack(cls, word: int) -> Status:
        """From the word of a home asset: RECORDED (bit 254), FULL (253), SURPLUS (252), then 32 | 34 | 186 bits. Empty
        where nothing is recorded."""
        require_uint("status", word, UINT256_MAX)
        if not word & _RECORDED:
            return EMPTY_STATUS
        return cls(
            word >> _TURN_AT & MAX_TURN_RECORD, word >> _FINALIZES_AT & MAX_FINALIZES_AT, word & _FINGERPRINT_MAX
        )

    def pack(self) -> int:
        """The word, without FULL and SURPLUS; 0 where nothing is recorded."""
        if self.is_empty:
            return 0
        return _RECORDED | self.turn_num_record << _TURN_AT | self.finalizes_at << _FINALIZES_AT | self.fingerprint

    @property
    def is_empty(self) -> bool:
        """Whether nothing is recorded."""
        return self.fingerprint == 0 and self.finalizes_at == 0 and self.turn_num_record == 0

    def mode(self, now: int) -> Mode:
        """At block time `now`, seconds. At exactly `finalizes_at` it is too late to answer and time to pay."""
        if self.finalizes_at == 0:
            return Mode.OPEN
        return Mode.FINALIZED if now >= self.finalizes_at else Mode.CHALLENGE


def status_word(word: int) -> int:
    """The word of a home asset where it has a record, else 0."""
    return word if word & _RECORDED else 0


EMPTY_STATUS = Status(0, 0, 0)
"""Nothing recorded."""


class Holdings(Struct, frozen=True):
    """What a channel holds of one asset, in its smallest unit.

    `payout_begun`: deposits are refused. `closed`: so is everything, forever. `full`: a state is recorded, and the
    channel held its total then: it takes nothing more in, until it pays out in part.
    """

    amount: int = 0
    payout_begun: bool = False
    closed: bool = False
    full: bool = False

    @property
    def is_used(self) -> bool:
        """Whether something is held, or the channel pays or has paid out."""
        return self.amount > 0 or self.payout_begun or self.closed

    def fits(self, more: int) -> bool:
        """Whether `more` can be added."""
        return self.amount + more <= MAX_AMOUNT

    def plus(self, more: int) -> Holdings:
        """With `more` added."""
        return replace(self, amount=self.amount + more)


NO_HOLDINGS = Holdings()


def holdings_in(word: int, late: int, total: int) -> Holdings:
    """What a channel holds of an asset, from its words. `total`: what the channel is funded with, if it is the home
    asset."""
    if word & _CLOSED:
        return Holdings(word & MAX_AMOUNT, payout_begun=True, closed=True)
    if not word & _RECORDED:
        return Holdings(word & MAX_AMOUNT, bool(word & _PAYOUT_BEGUN))
    is_full, later = bool(word & _FULL), late & MAX_AMOUNT
    return Holdings(later + (total if is_full else 0), bool(late & _PAYOUT_BEGUN), full=is_full)


def words_of(status: Status, holdings: Holdings, total: int) -> tuple[int, int]:
    """The word of an asset and the late word from which `holdings_in` and `Status.unpack` read these. `total`: as of
    `holdings_in`."""
    held = holdings.amount
    if holdings.closed:
        return _CLOSED | held, 0
    counted = held | (_PAYOUT_BEGUN if holdings.payout_begun else 0)
    if status.is_empty:
        return counted, 0
    if not holdings.full:
        return status.pack(), counted
    late = held - total
    return status.pack() | _FULL | (_SURPLUS if late else 0), late
