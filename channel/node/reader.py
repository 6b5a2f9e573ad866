"""Reads the chain's news for one client: logs, holdings, credits, and what became of its transactions, at the
confirmation depth. It decides nothing, and forgets nothing before the client has taken it over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.channel.chain.adjudicator import Adjudicator
from forcemove.channel.chain.errors import EndpointFailed
from forcemove.channel.follower.head import Head
from forcemove.channel.node.events import Mined
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.protocol.effects import Submission
from forcemove.channel.protocol.errors import ChannelIdUsed
from forcemove.channel.protocol.inputs import ChainRead, CreditSeen, HoldingsSeen, LogSeen, News, SubmissionFailed
from forcemove.channel.protocol.logs import Closed, PartlyPaid

__all__ = ["ChainReader", "Look"]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has found, up to the block `up_to`, its number and hash."""

    read: ChainRead
    up_to: tuple[int, bytes]
    head: bytes

    @property
    def is_news(self) -> bool:
        """Whether there is anything to take in."""
        return bool(self.read.news) or self.read.anew


class ChainReader:
    """Of one client in one channel."""

    def __init__(self, adjudicator: Adjudicator, from_block: int, confirmations: int) -> None:
        """`from_block`: where the channel's logs can begin. `confirmations`: how many blocks a log must be deep."""
        self._adjudicator, self._from_block, self._confirmations = adjudicator, from_block, confirmations
        self._read_up_to: tuple[int, bytes] | None = None
        self._seen_head: bytes | None = None
        self._mined: list[Mined] = []
        self._failed: list[Submission] = []

    @property
    def has_looked(self) -> bool:
        """Whether anything of the chain was taken over."""
        return self._read_up_to is not None

    def expect(self, mined: Mined) -> None:
        """Look whether this transaction is still there at the confirmation depth."""
        self._mined.append(mined)

    def report_failure(self, submission: Submission) -> None:
        """Tell with the next block's news that this has failed."""
        self._failed.append(submission)

    def look(self, channel: Channel, head: Head) -> Look | None:
        """Read what is new at the confirmation depth: everything, after a restart or a reorganisation. None where there
        is no new block. Raises `ChainError`, and `ChannelIdUsed` where a channel that we know nothing of has paid
        out."""
        if head.hash == self._seen_head:
            return None
        known, last = self._read_up_to, head.number - self._confirmations + 1
        anew = known is None or self._block_hash(known[0], head) != known[1]
        first = self._from_block if anew or known is None else known[0] + 1
        if last < first:
            self._seen_head = head.hash
            return None
        # Before the logs: should the block go, the next look finds out.
        block_hash = head.hash if last == head.number else self._adjudicator.chain.block_hash(last)
        news = (
            *self._failures(last, head),
            *self._new_logs(channel, first, last),
            *self._new_holdings(channel, last, anew),
        )
        news = (*news, *self._new_credits(channel, last, anew, news))
        return Look(ChainRead(news, anew), (last, block_hash), head.hash)

    def taken(self, look: Look) -> None:
        """The client has taken this look over, and saved what follows from it."""
        self._read_up_to, self._seen_head = look.up_to, look.head
        self._mined = [mined for mined in self._mined if mined.receipt.block_number > look.up_to[0]]
        self._failed.clear()

    def _block_hash(self, number: int, head: Head) -> bytes | None:
        if number == head.number:
            return head.hash
        try:
            return self._adjudicator.chain.block_hash(number)
        except EndpointFailed:
            return None  # a shorter chain has won

    def _failures(self, last: int, head: Head) -> list[News]:
        """What was refused, and what was mined in a block that is no longer there."""
        looked_at = [mined for mined in self._mined if mined.receipt.block_number <= last]
        lost = [
            mined.submission
            for mined in looked_at
            if self._block_hash(mined.receipt.block_number, head) != mined.receipt.block_hash
        ]
        return [SubmissionFailed(each) for each in (*self._failed, *lost)]

    def _new_logs(self, channel: Channel, first: int, last: int) -> list[News]:
        placed = self._adjudicator.logs(channel.agreement.channel_id, first, last)
        return [LogSeen(each.log) for each in placed]

    def _new_holdings(self, channel: Channel, block: int, anew: bool) -> list[News]:
        id_, assets = channel.agreement.channel_id, [asset for asset, _ in channel.agreement.deposits]
        holdings = {asset: self._adjudicator.holdings_of(id_, asset, block=block) for asset in assets}
        if channel.last_signed is None and any(each.payout_begun for each in holdings.values()):
            raise ChannelIdUsed(id_)
        held = {asset: each.held for asset, each in holdings.items()}
        return [HoldingsSeen(asset, held[asset]) for asset in assets if anew or held[asset] != channel.held(asset)]

    def _new_credits(self, channel: Channel, block: int, anew: bool, news: Sequence[News]) -> list[News]:
        """What could not be pushed to us, once the channel pays out."""
        payee = channel.payee
        pays = any(isinstance(each, LogSeen) and isinstance(each.log, Closed | PartlyPaid) for each in news)
        if payee is None or not (pays or channel.record.payout_begun):
            return []
        known, assets = dict(channel.credits), [asset for asset, _ in channel.agreement.deposits]
        seen = {asset: self._adjudicator.credit_of(payee, asset, block=block) for asset in assets}
        return [CreditSeen(asset, amount) for asset, amount in seen.items() if anew or amount != known.get(asset, 0)]
