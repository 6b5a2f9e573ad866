"""A chain on paper: blocks, statuses and logs that a test has written down, behind an endpoint that takes this many
seconds for each request, on a clock that it moves itself. Thousands of channels cost it nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from eth_abi.abi import encode

from forcemove import ETHER, Adjudicator, Agreement, FixedPart, VariablePart
from forcemove.chain import codec, errors, rpc, worker
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.follower import Follower, FollowerLook
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.encoding import Domain, fingerprint, hash_state
from forcemove.protocol.types import SupportProof
from forcemove.protocol.words import Status, late_key, word_key
from tests.simulation.chain import MemoryChain
from tests.simulation.state import CHAIN_ID, from_hex

ADJUDICATOR, BLOCK_SECONDS, GENESIS = bytes(19) + b"\x77", 12, 1_800_000_000
WORDS, CREDIT = (codec.function(each).selector for each in ("wordsOf", "creditOf"))
CLOSED = 1 << 255
DURATION = 240


@cache
def agreement(number: int) -> Agreement:
    """The agreement of one of many channels."""
    accounts = (bytes(19) + b"\x01", bytes(19) + b"\x02")
    fixed_part = FixedPart(accounts, number, bytes(19) + b"\x55", DURATION)
    destinations = tuple(bytes(12) + each for each in accounts)
    made = Agreement(Domain(CHAIN_ID, ADJUDICATOR), fixed_part, destinations, ((ETHER, (1, 1)),), b"")
    _LATE_KEYS.add(_late_key(made.channel_id))
    return made


_LATE_KEYS: set[bytes] = set()


def wanted_by(data: bytes) -> str:
    """What a call asks for: `statuses`, `holdings` or `credits`; empty for anything else. Of holdings both words of
    each channel are asked for."""
    if data[:4] == WORDS:
        return "holdings" if data[4 + 3 * 32 : 4 + 4 * 32] in _LATE_KEYS else "statuses"
    return "credits" if data[:4] == CREDIT else ""


@cache
def _key(id_: bytes) -> bytes:
    return word_key(id_, ETHER)


@cache
def _late_key(id_: bytes) -> bytes:
    return late_key(id_, ETHER)


class PaperNode(rpc.Rpc):
    """`seconds`: of each exchange; `height`: of the newest block. `most_blocks`, `most_logs`: in one answer.
    `most_at_once`: requests in one exchange. `asked`: what was asked, by method."""

    def __init__(self, height: int, seconds: float = 0.0) -> None:
        self.endpoint, self.time, self.height, self.seconds = "paper", 0.0, height, seconds
        self.most_blocks, self.most_logs, self.most_at_once = 10**9, 10**9, 1
        self.statuses: dict[bytes, int] = {}
        self.closed: set[bytes] = set()
        self.logs: list[tuple[int, bytes, dict[str, Any]]] = []
        self.asked: Counter[str] = Counter()

    def ask(self, method: str, *params: Any) -> Any:
        self.asked[method] += 1
        self.time += self.seconds
        answers: dict[str, Callable[..., Any]] = {
            "eth_chainId": lambda: CHAIN_ID,
            "eth_getBlockByNumber": self._block,
            "eth_getCode": lambda *_: b"\x01",
            "eth_call": self._call,
            "eth_getLogs": self._found,
        }
        return answers[method](*params)

    def request_some(self, requests: Sequence[tuple[str, tuple[Any, ...]]]) -> list[object]:
        before, found = self.time, list[object]()
        for each in requests[: self.most_at_once]:
            found += super().request_some([each])
        self.time = before + self.seconds
        return found

    def mine(self, blocks: int = 1) -> None:
        self.height += blocks

    @property
    def now(self) -> int:
        return GENESIS + BLOCK_SECONDS * self.height

    def log(self, block: int, name: str, id_: bytes, data: bytes = b"") -> None:
        """Write down a log; blocks rise."""
        (topic,) = (topic for topic, event in codec._events().items() if event.name == name)
        place = {"blockNumber": block, "blockHash": _hash(block), "transactionHash": bytes(32)}
        made = {"address": ADJUDICATOR, "topics": [topic, id_], "data": data, "logIndex": len(self.logs)}
        self.logs.append((block, id_, made | place))

    def challenge(self, number: int) -> bytes:
        """Somebody challenges this channel with its opening, in a new block. Returns the channel's id."""
        self.mine()
        state, id_ = agreement(number).setup_state(0), agreement(number).channel_id
        opening = VariablePart(state.outcome, b"", 0, is_final=False)
        hashes, finalizes_at = hash_state(id_, opening), self.now + DURATION
        self.statuses[id_] = Status(0, finalizes_at, fingerprint(hashes.state, hashes.outcome)).pack()
        arguments = checkpoint_call(agreement(number).fixed_part, SupportProof((opening,), (), 0))[4:]
        self.log(self.height, "ChallengeRegistered", id_, encode(["uint48", "bytes"], [finalizes_at, arguments]))
        return id_

    def close(self, numbers: Iterable[int]) -> None:
        """These channels end, in a new block."""
        self.mine()
        for number in numbers:
            self.closed.add(agreement(number).channel_id)
            self.statuses.pop(agreement(number).channel_id, None)
            self.log(self.height, "Closed", agreement(number).channel_id)

    def _block(self, asked: str, _: bool) -> dict[str, Any] | None:
        number = self.height + (asked == "pending") if not asked.startswith("0x") else int(asked, 16)
        if number > self.height + (asked == "pending"):
            return None
        parent, time = _hash(max(number - 1, 0)), GENESIS + BLOCK_SECONDS * number
        return {"number": number, "hash": _hash(number), "parentHash": parent, "timestamp": time}

    def _call(self, request: dict[str, str], _: str) -> bytes:
        data = from_hex(request["data"])
        selector, arguments = data[:4], data[4:]
        if selector == WORDS:
            keys = [arguments[start : start + 32] for start in range(64, len(arguments), 32)]
            words = {_key(id_): CLOSED for id_ in self.closed} | {_late_key(id_): 2 for id_ in self.statuses}
            words |= {_key(id_): word for id_, word in self.statuses.items()}
            return arguments[:64] + b"".join(words.get(each, 0).to_bytes(32) for each in keys)
        assert selector == CREDIT
        return (7).to_bytes(32)

    def _found(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        first, last = int(request["fromBlock"], 16), int(request["toBlock"], 16)
        if last - first >= self.most_blocks:
            raise errors.EndpointFailed("eth_getLogs", "the range is too large")
        start, end = (bisect_left(self.logs, at, key=lambda each: each[0]) for at in (first, last + 1))
        ids = frozenset(map(from_hex, request["topics"][1])) if request["topics"] else None
        found = [made for _, id_, made in self.logs[start:end] if ids is None or id_ in ids]
        if len(found) > self.most_logs:
            raise errors.EndpointFailed("eth_getLogs", "there are too many logs")
        return found


def _hash(number: int) -> bytes:
    return b"\xbb" * 24 + number.to_bytes(8)


class PaperReader:
    """A follower of a chain on paper. `views`: of each channel, as it was shown last."""

    def __init__(self, node: PaperNode, pending_every: float = 0.0) -> None:
        """`pending_every`: as of `Follower`."""
        self.node = node
        adjudicator = Adjudicator(MemoryChain(node), ADJUDICATOR)
        self.follower = Follower(adjudicator, clock=lambda: node.time, pending_every=pending_every)
        self.views: dict[bytes, Any] = {}
        self.errors: dict[bytes, Exception] = {}

    def follow(self, numbers: Iterable[int], from_block: int, payees: bool = False) -> None:
        for each in numbers:
            payee = each.to_bytes(20) if payees else None
            self.follower.follow(FollowRequest(agreement(each), payee, from_block, is_new=False))

    def look(self) -> FollowerLook:
        found = worker.wait_for(self.follower.look())
        self.views |= found.views
        self.errors = dict(found.errors)
        assert found.failure is None
        return found

    def shows_clock(self, id_: bytes) -> bool:
        return id_ in self.views and self.views[id_].shows_clock(self.node.now)

    def is_settled(self, id_: bytes) -> bool:
        return id_ in self.views and self.views[id_].error is None

    @property
    def open(self) -> tuple[int, int, int]:
        """What is still to be read: blocks of logs, holdings, credits. Of what is first more leads to what is later."""
        channels, last = self.follower._followed.values(), self.follower._last
        blocks = self.node.height - self.follower._logs.read_to if last else self.node.height
        blocks += sum(end + 1 - first for each in channels for first, end in each.missing)
        return blocks, sum(each.wants_holdings for each in channels), sum(len(each.credits_due) for each in channels)

    @property
    def decoded(self) -> int:
        return sum(len(each._logs) for each in self.follower._followed.values())
