"""When two worlds are the same: nothing that can happen from now on tells them apart.

Times count from now, and what is past is past, however long. Signatures are deterministic, so that a signed state is
the state and who has signed it. Logs that Alice has read are left out where nothing can make her read them again.
"""

from __future__ import annotations

from collections.abc import Hashable

from forcemove.protocol.adjudication import Adjudication
from forcemove.protocol.logs import ChallengeRegistered, Log
from forcemove.protocol.machine.automatic_actions import answer_margin
from forcemove.protocol.machine.channel import Accepted, Channel
from forcemove.protocol.machine.record import Record
from forcemove.protocol.types import ETHER
from forcemove.protocol.words import Status
from tests.checking.world import DURATION, Block, Setting, World

__all__ = ["Keys"]

_MARGIN = answer_margin(DURATION)


class Keys:
    """Of the worlds of one setting. Values that are alike are one number here."""

    def __init__(self, setting: Setting) -> None:
        self._id, self._rereads = setting.agreement.channel_id, setting.bounds.rereads
        self._numbers: dict[Hashable, int] = {}

    def of(self, world: World) -> tuple[object, ...]:
        """Equal where the worlds are the same."""
        now = world.now
        logs = world.logs if self._rereads else world.logs[max(world.seen, 0) :]
        return (
            self._channel(world.alice, now),
            self._chain(world.chain, now),
            world.transactions,
            world.crashes,
            world.drops,
            world.reorganisations,
            world.told,
            tuple([self._log(each, now) for each in logs]),
            world.seen if self._rereads else 0,
            tuple([(self._number(each.submission), each.age) for each in world.waiting]),
            tuple([self._number(each) for each in world.failed]),
            tuple([self._number(each.state) for each in world.signed]),
            world.balance,
            world.paid_in,
            self._record(world.record, now),
            tuple([self._block(each, now) for each in world.blocks]),
            self._number(world.due),
            world.is_void,
            world.is_compared,
            world.stops,
        )

    def _number(self, value: Hashable) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def _channel(self, channel: Channel, now: int) -> tuple[object, ...]:
        asked = channel.asked
        if asked is not None and asked[1] is not None:
            # It is compared with the time at which a running challenge is to be answered, and with nothing else.
            asked = (asked[0], asked[1] - channel.status.finalizes_at + _MARGIN)
        return (
            tuple([_accepted(each) for each in channel.accepted]),
            tuple([_accepted(each) for each in channel.superseded]),
            channel.last_signed,
            channel.final_outcome,
            channel.leaving,
            self._record(channel.record, now),
            channel.holdings,
            asked,
            None if channel.conclude_at is None else max(channel.conclude_at - now, 0),
            tuple([self._number(each) for each in channel.requested]),
            channel.was_griefed,
            channel.genuine,
            channel.is_denied,
            tuple([(_status(each.status, now), each.recorded is None) for each in channel.differences.clocks]),
            tuple([self._number(each) for each in channel.differences.payouts]),
        )

    def _record(self, record: Record, now: int) -> tuple[object, ...]:
        recorded, owed = None if record.closed else record.recorded, record.owed  # what follows does not depend on it
        return (
            _status(record.status, now),
            None if recorded is None else (recorded.hashes.state, self._number(recorded.signatures)),
            None if owed is None else (owed.state_hash, self._number(owed.outcome)),
            record.payout_begun,
            record.closed,
        )

    def _chain(self, chain: Adjudication, now: int) -> tuple[object, ...]:
        return _status(chain.status_of(self._id), now), chain.holdings_of(self._id, ETHER), bool(chain.credits)

    def _log(self, log: Log, now: int) -> object:
        if isinstance(log, ChallengeRegistered):
            return self._number(log.state), self._number(log.signatures), max(log.finalizes_at - now, 0)
        return self._number(log)

    def _block(self, block: Block, now: int) -> tuple[object, ...]:
        hers = None if block.hers is None else self._number(block.hers)
        return (
            self._chain(block.chain, now),
            block.logs,
            self._record(block.record, now),
            block.balance,
            block.paid_in,
            hers,
        )


def _accepted(accepted: Accepted) -> tuple[bytes, tuple[int, ...]]:
    return accepted.hashes.state, tuple(sorted(accepted.signed.signatures))


def _status(status: Status, now: int) -> tuple[int, int | None, int]:
    left = max(status.finalizes_at - now, 0) if status.finalizes_at else None
    return status.turn_num_record, left, status.fingerprint
