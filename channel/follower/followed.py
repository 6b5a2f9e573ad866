"""What a follower has read of one channel, and what of it is news to the channel's client. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forcemove.channel.chain.adjudicator import Holdings, PlacedLog
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.inputs import ChainRead, CreditSeen, HoldingsSeen, LogSeen, News
from forcemove.channel.protocol.logs import Closed, PartlyPaid
from forcemove.channel.protocol.record import EMPTY_RECORD, Record, fold
from forcemove.channel.protocol.status import Status

__all__ = ["Followed", "Known", "Origin"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a channel from before: all that was logged up to and with the block of this number and hash (32
    bytes) has led to `record`."""

    block_number: int
    block_hash: bytes
    record: Record


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a channel began: no log of it is in an earlier block than `number`, whose hash was `hash` (32 bytes), empty
    where nobody knows. `is_doubted`: whether the chain may be another one by now."""

    number: int
    hash: bytes = b""
    is_doubted: bool = False


class Followed:
    """One channel. Everything is as of the last block that was read. `anew`: nothing that was told before counts.
    `is_doubted`: whether it is still to be found out that this is the chain on which it began."""

    def __init__(
        self, agreement: Agreement, payee: bytes | None, origin: Origin, *, is_new: bool, known: Known | None = None
    ) -> None:
        """`payee`: the account that we are paid at (20 bytes). `is_new`: whether we have signed nothing in it yet.
        `known`: its owner has been told that, and only what comes after it is news."""
        self.agreement, self.payee, self.origin, self.known = agreement, payee, origin, known
        self.id, self._is_new = agreement.channel_id, is_new
        self.assets = tuple(asset for asset, _ in agreement.deposits)
        self.is_doubted = origin.is_doubted
        self.anew, self._is_untold = known is None, True
        self._logs: list[PlacedLog] = []
        self._untold: list[PlacedLog] = []
        self._holdings: dict[bytes, Holdings] = {}
        self._credits: dict[bytes, int] = {}
        self._news: dict[tuple[type, bytes], HoldingsSeen | CreditSeen] = {}
        self.record: Record = known.record if known else EMPTY_RECORD
        self._word = self.record.status.pack()

    @property
    def reads_from(self) -> int:
        """The block from which its logs are to be read."""
        return self.origin.number if self.known is None else self.known.block_number + 1

    def forget(self) -> None:
        """What was known from before does not count."""
        self.known, self.anew = None, True

    # --------------------------------------------------------------------------------------------- what is taken in

    def begin(self, logs: Iterable[PlacedLog], now: int) -> None:
        """These are the logs of the channel that were to be read."""
        if self.known is None:
            self.begin_anew(logs, now)
        else:
            self.add((each for each in logs if each.place.block_number >= self.reads_from), now)

    def begin_anew(self, logs: Iterable[PlacedLog], now: int) -> None:
        """These are all logs of the channel; nothing that was told before counts."""
        self._logs, self._untold, self._news = [], [], {}
        self._holdings, self._credits, self.record = {}, {}, EMPTY_RECORD
        self.known, self.anew = None, True
        self.add(logs, now)

    def add(self, logs: Iterable[PlacedLog], now: int) -> None:
        """More logs, in their order."""
        for each in logs:
            self._logs.append(each)
            self._untold.append(each)
            self.record = fold(self.record, each.log, self.agreement.domain, now)
        self._word = self.record.status.pack()

    def logs_up_to(self, block: int) -> list[PlacedLog]:
        """Those that are in this block or an earlier one."""
        return [each for each in self._logs if each.place.block_number <= block]

    def take_holdings(self, asset: bytes, holdings: Holdings) -> None:
        """What the channel holds of an asset; only what has changed is news."""
        known = self._holdings.get(asset)
        if known is None or known.held != holdings.held:
            self._news[HoldingsSeen, asset] = HoldingsSeen(asset, holdings.held)
        self._holdings[asset] = holdings

    def take_credit(self, asset: bytes, amount: int) -> None:
        """What of an asset could not be pushed to us; only what has changed is news."""
        if amount != self._credits.get(asset, 0):
            self._news[CreditSeen, asset] = CreditSeen(asset, amount)
        self._credits[asset] = amount

    # ------------------------------------------------------------------------------------------- what follows from it

    @property
    def has_news(self) -> bool:
        """Whether there are logs, or anything else, to tell."""
        return self.anew or self._is_untold or bool(self._untold) or bool(self._news)

    @property
    def wants_holdings(self) -> bool:
        """Whether what it holds may have changed: something was logged, or nothing was read yet."""
        return self.anew or self._is_untold or bool(self._untold)

    @property
    def wants_credits(self) -> bool:
        """Whether we may be owed what could not be pushed: it has paid out since we asked."""
        if self.payee is None:
            return False
        pays = any(isinstance(each.log, Closed | PartlyPaid) for each in self._untold)
        return pays or ((self.anew or self._is_untold) and self.record.payout_begun)

    @property
    def is_unheard_of(self) -> bool:
        """Whether the adjudicator has logged nothing of it, holds nothing for it, and never has."""
        has_held = any(each.held or each.payout_begun or each.closed for each in self._holdings.values())
        return not self._logs and self.record.status.is_empty and not has_held

    @property
    def was_used_before(self) -> bool:
        """Whether a channel of this id has paid out before we have signed anything."""
        return self._is_new and not self._logs and any(each.payout_begun for each in self._holdings.values())

    def agrees_with(self, word: int) -> bool:
        """Whether the logs say what the adjudicator's own word says, the packed status. When a channel was concluded no
        log says, nor what is recorded once it pays out in part."""
        return word == self._word or self._may_be(Status.unpack(word))

    def _may_be(self, status: Status) -> bool:
        ours = self.record.status
        if self.record.payout_begun and not self.record.closed:
            return status.finalizes_at != 0 and (ours.fingerprint in (0, status.fingerprint))
        return ours == status

    @property
    def agrees_with_holdings(self) -> bool:
        """Whether the logs say that it is closed where the adjudicator says so."""
        return self.record.closed or not any(each.closed for each in self._holdings.values())

    def take_news(self) -> ChainRead:
        """Everything that was not told yet; it is told now."""
        news: list[News] = [LogSeen(each.log) for each in self._untold]
        news += sorted(self._news.values(), key=lambda each: isinstance(each, CreditSeen))
        read = ChainRead(tuple(news), self.anew)
        self._untold, self._news, self.anew, self._is_untold = [], {}, False, False
        return read
