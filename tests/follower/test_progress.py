"""The property of a follower's look: whatever there is of channels, blocks, logs and payouts, and however slow the
endpoint is, each look leaves less undone than the one before, and a challenge is shown within two. What leads to it is
measured, too: what defends costs a few questions, however many channels there are; what was answered is not asked
again, however many want it; what was refused is rarely tried again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from forcemove.chain.errors import EndpointFailed
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.followed_channel import FollowedChannel
from tests.follower.paper import PaperNode, PaperReader, agreement, wanted_by
from tests.progress import cells
from tests.simulation.state import from_hex

CHALLENGED, CHALLENGED_LATER = 20_000, 20_001
"""The numbers of the channels that somebody challenges."""
LOOKS, ENOUGH = 30, 4
"""How many looks are watched; how many are enough for all that is left then, where the endpoint answers at once."""


class CountingNode(PaperNode):
    """Counts what it was asked: `of_look`, by what it is of, since a test has cleared it; `answered`: each question but
    for heads and statuses, while there is no new block; `all`: of these, in all, at most `most`; `refused`: those of a
    wrong size."""

    def __init__(self, height: int) -> None:
        super().__init__(height)
        self.of_look, self.answered = Counter[str](), Counter[str]()
        self.all = self.refused = 0
        self.most = 100

    def ask(self, method: str, *params: Any) -> Any:
        word = wanted_by(from_hex(params[0]["data"])) if method == "eth_call" else method
        self.of_look[word] += 1
        try:
            found = super().ask(method, *params)
        except EndpointFailed:
            self.refused += 1
            raise
        if word in ("eth_getLogs", "holdings", "credits"):
            self.answered[f"{word} {params}"] += 1
            self.all += 1
            assert self.all <= self.most
        return found

    def challenge(self, number: int) -> bytes:
        self.answered.clear()
        return super().challenge(number)


class Progress:
    """Says how much a follower has not read of what is on the paper."""

    def __init__(self, node: CountingNode, reader: PaperReader) -> None:
        self.node, self.reader = node, reader

    @property
    def undone(self) -> int:
        """Blocks whose logs are still to be read, holdings, and credits: of each channel. What an unread log leads to
        counts already, so that this never rises while there is no new block."""
        logs = Counter(id_ for _, id_, _ in self.node.logs)
        return sum(self._undone_of(each, logs[each.id]) for each in self.reader.follower._followed.values())

    def _undone_of(self, each: FollowedChannel, logs: int) -> int:
        is_unread, follower = len(each._logs) < logs, self.reader.follower
        wants_holdings = each.wants_holdings or is_unread
        is_owed = each.payee is not None and each.id in self.node.closed and (bool(each.credits_due) or is_unread)
        if each.id in follower._added:
            blocks = self.node.height + 1 - each.reads_from
        else:
            blocks = sum(last + 1 - first for first, last in each.missing)
            blocks += 0 if each.record.closed else self.node.height - follower._logs.read_to
        return blocks + wants_holdings + is_owed


def many_channels(node: CountingNode, reader: PaperReader, count: int) -> int:
    """They were just added, and each has lived for another number of blocks; the endpoint gives the logs of 500."""
    node.most_blocks = 500
    for each in range(count):
        reader.follow([each], node.height - 1_000 + each % 500)
    return 40 + count // 500


def many_blocks(node: CountingNode, reader: PaperReader, count: int) -> int:
    """They have come since the last look, and the endpoint gives the logs of ten at once."""
    node.most_blocks = 10
    node.mine(count)
    return 40 + count // 7


def many_older_blocks(node: CountingNode, reader: PaperReader, count: int) -> int:
    """Each of ten channels has lived for `count` blocks."""
    node.most_blocks = 10
    reader.follow(range(10), node.height - count)
    return 40 + count // 7


def many_logs(node: CountingNode, reader: PaperReader, count: int) -> int:
    """A stranger has made them, in one block; the endpoint gives no more than 50 at once."""
    node.most_logs = 50
    node.mine()
    for number in range(count):
        node.log(node.height, "Closed", number.to_bytes(32))
    return 40


def many_payouts(node: CountingNode, reader: PaperReader, count: int) -> int:
    """So many channels have ended since the last look, and each may owe somebody else what could not be paid."""
    end(node, reader, count, lambda number: (number + 1).to_bytes(20))
    return 40 + count // 500 + count


def many_payouts_to_one(node: CountingNode, reader: PaperReader, count: int) -> int:
    """So many channels have ended since the last look, all of which owe what could not be paid to the same account."""
    end(node, reader, count, lambda _: bytes(19) + b"\x01")
    return 40 + count // 500


def end(node: CountingNode, reader: PaperReader, count: int, payee: Callable[[int], bytes]) -> None:
    for each in range(count):
        reader.follower.follow(FollowRequest(agreement(each), payee(each), node.height - 20, is_new=False))
    read_all(reader)
    node.close(range(count))


def read_all(reader: PaperReader) -> None:
    for _ in range(ENOUGH):
        reader.look()


KINDS = (many_channels, many_payouts, many_payouts_to_one, many_blocks, many_older_blocks, many_logs)


@pytest.mark.parametrize(("kind", "seconds", "count"), cells(KINDS, lambda _, count: count > 1_000))
def test_each_look_leaves_less_undone_and_shows_a_challenge_within_two(
    kind: Callable[[CountingNode, PaperReader, int], int], seconds: float, count: int
) -> None:
    node = CountingNode(20_000)
    reader = PaperReader(node)
    progress, challenged = Progress(node, reader), dict[bytes, int]()
    reader.follow([CHALLENGED, CHALLENGED_LATER], node.height - 20)
    read_all(reader)
    node.most, node.all, node.refused, node.seconds = kind(node, reader, count), 0, 0, seconds
    undone = 0
    for look in range(LOOKS):
        if look in (0, 3):
            challenged[node.challenge(CHALLENGED + bool(look))] = look
            undone = progress.undone
        before, began, refused = undone, node.time, node.refused
        if not before and look > 4:
            break
        node.of_look.clear()
        reader.look()
        undone = progress.undone
        assert not before or undone < before or node.refused > refused
        assert node.time - began <= 5 + 6 * seconds
        assert node.of_look["eth_getBlockByNumber"] + node.of_look["statuses"] <= 5 + count // 5_000
        assert all(reader.shows_clock(id_) for id_, at in challenged.items() if look > at)
        assert max(node.answered.values(), default=0) <= 1
        assert node.refused <= 14 + node.all // 20
    node.seconds = 0
    read_all(reader)
    assert progress.undone == 0
    assert all(map(reader.is_settled, challenged))
    assert reader.errors == {}
