"""What the adjudicator itself says of channels at a block: one question for thousands of channels. What was answered is
kept where a later question fails or is not asked any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.asking import Steps, together
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.learned import Learned
from forcemove.errors import ForcemoveError
from forcemove.follower.blocks import Block
from forcemove.follower.followed_channel import FollowedChannel, StatusTime
from forcemove.protocol.words import status_word

Value = TypeVar("Value")
_STATUSES, _HOLDINGS, _CREDITS = 5_000, 1_000, 20
"""How many channels' statuses and holdings are asked for in one call, and how many credits side by side."""


class _HasStatus(Protocol):
    @property
    def id(self) -> bytes: ...

    @property
    def word_key(self) -> bytes: ...

    def take_status(self, word: int | None, time: StatusTime) -> None: ...


@dataclass(slots=True)
class WatchedStatus:
    """The adjudicator's own status of a channel that is not followed, packed, as of a block; None where it was not
    read. `word_key`: of its home asset's word."""

    id: bytes
    word_key: bytes
    status: int | None = None
    status_time: StatusTime = field(default_factory=StatusTime)

    def take_status(self, word: int | None, time: StatusTime) -> None:
        """Take in the status as of a block; None where it could not be read."""
        self.status, self.status_time = word, time


@dataclass(frozen=True, slots=True)
class _Reading:
    """The statuses of some channels: what was asked, what was answered last, packed, and as of which block that is."""

    channels: tuple[_HasStatus, ...]
    keys: bytes
    words: bytes = b""
    time: StatusTime = field(default_factory=StatusTime)


class ContractViews:
    """Asks one adjudicator through one endpoint, in calls as large as the endpoint takes. `last_asked`: the hash of the
    last block at which statuses were asked for, empty for none."""

    def __init__(self, adjudicator: Adjudicator) -> None:
        self._adjudicator = adjudicator
        self._statuses, self._holdings = Learned(_STATUSES), Learned(_HOLDINGS)
        self._readings: dict[bytes, _Reading] = {}
        self.last_asked = b""

    def read_statuses(self, followed: Sequence[_HasStatus], block: Block) -> Steps[None]:
        """Let each of these channels take in its status. Where the same is answered of the same channels as the last
        time no channel is looked at: it is the answer as of another block."""
        if not followed:
            return
        known, fresh = self._readings, dict[bytes, _Reading]()
        self.last_asked = block.hash
        self._readings = {}  # unless all is answered: then some of these channels have other statuses

        def read(part: Sequence[_HasStatus]) -> Steps[None]:
            channels = tuple(part)
            was = known.get(channels[0].id)
            if was is None or was.channels != channels:
                was = _Reading(channels, b"".join([each.word_key for each in channels]))
            words = yield from self._adjudicator.packed_words.steps(was.keys, block=block.number)
            if words == was.words:
                was.time.block_hash = block.hash
            else:
                was = _Reading(channels, was.keys, words, StatusTime(block.hash))
                for index, each in enumerate(channels):
                    word = int.from_bytes(words[32 * index : 32 * index + 32])
                    each.take_status(status_word(word), was.time)
            fresh[channels[0].id] = was

        yield from _in_parts(followed, read, self._statuses)
        self._readings = fresh

    def read_holdings(self, followed: Sequence[FollowedChannel], block: Block) -> Steps[None]:
        """Let each of these channels take in what it holds."""

        def read(part: Sequence[FollowedChannel]) -> Steps[None]:
            fixed_parts = [(each, each.agreement.fixed_part) for each in part]
            keys = [(each.id, asset, fixed.total_of(asset)) for each, fixed in fixed_parts for asset in each.assets]
            found = iter((yield from self._adjudicator.holdings_of_list.steps(keys, block=block.number)))
            for each in part:
                each.take_holdings({asset: next(found) for asset in each.assets}, block.number)

        yield from _in_parts(followed, read, self._holdings)

    def read_credits(self, followed: Iterable[FollowedChannel], block: Block) -> Steps[None]:
        """Let each of these channels take in what could not be pushed to its payee. Each payee is asked for once."""
        asking: dict[tuple[bytes, bytes], list[FollowedChannel]] = {}
        for each in followed:
            for asset in each.credits_due:
                asking.setdefault((each.payee or b"", asset), []).append(each)
        owed = list(asking)
        for start in range(0, len(owed), _CREDITS):
            keys = owed[start : start + _CREDITS]
            parts = (self._adjudicator.credit_of.steps(*key, block=block.number) for key in keys)
            failure: ForcemoveError | None = None
            for key, amount in zip(keys, (yield from together(parts)), strict=True):
                if isinstance(amount, ForcemoveError):
                    failure = failure or amount
                    continue
                for each in asking[key]:
                    each.take_credit(key[1], amount)
            if failure is not None:
                raise failure


def _in_parts(values: Sequence[Value], read: Callable[[Sequence[Value]], Steps[None]], width: Learned) -> Steps[None]:
    """Read all values. A part that the endpoint refuses is halved; one value that it refuses alone is refused for
    another reason."""
    before = width.value
    while values:
        part = values[: width.value]
        try:
            yield from read(part)
        except EndpointFailed:
            if len(part) == 1:
                width.value = before
                raise
            width.on_refusal(len(part))
            continue
        width.on_answer(len(part))
        values = values[len(part) :]
