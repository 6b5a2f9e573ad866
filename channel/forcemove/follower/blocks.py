"""The blocks that a follower has seen, whether or not their logs are read: by them it finds where the chain has forked,
and whether it is another chain."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from forcemove.chain.asking import Steps
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import as_bytes, as_number
from forcemove.follower.errors import BehindItself, HeadTooFar
from forcemove.follower.head import Head
from forcemove.follower.on_chain_view import Checkpoint

_REMEMBERED = 256
"""How many blocks' hashes are remembered to find a fork, besides the early one."""
_LOOKS_BEHIND = 3
"""How often an endpoint must show a shorter chain until it is believed."""
_FARTHEST = 10**9
"""The most new blocks: more than any chain has."""
_ROOT = 64
"""This many blocks behind the head no reorganisation replaces a block: two epochs of Ethereum."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block's number, its hash and that of the block before it (32 bytes each)."""

    number: int
    hash: bytes
    parent: bytes


def ask_block(chain: Chain, number: int) -> Steps[Block]:
    """Ask for the block of this number. Raises `ChainError`, and errors that `making_sense` turns into one."""
    answer: Mapping[str, Any] = yield from chain.block.steps(number)
    return Block(as_number(answer["number"]), as_bytes(answer["hash"]), as_bytes(answer["parentHash"]))


class Blocks:
    """The blocks of one chain that were seen through one endpoint."""

    def __init__(self) -> None:
        self._seen: list[Block] = []
        self._root: Block | None = None
        self._behind = 0

    def at(self, chain: Chain, number: int, head: Head) -> Steps[Block | None]:
        """The block of this number; None where the number is negative. Raises `HeadTooFar`."""
        seen_up_to = self._seen[-1].number if self._seen else 0
        if number - seen_up_to > _FARTHEST:
            raise HeadTooFar(chain.endpoint, number, seen_up_to)
        if number < 0:
            return None
        if number == head.number:
            return Block(number, head.hash, head.parent)
        return (yield from ask_block(chain, number))

    def require_not_behind(self, chain: Chain, last: Block) -> Steps[None]:
        """Raise `BehindItself` where the endpoint shows fewer blocks than before on the same chain: it lags. At the
        third such look it is believed: a shorter chain has won, which is rare."""
        seen_up_to = self._seen[-1].number if self._seen else -1
        is_behind = last.number < seen_up_to and not (yield from self.is_another_chain(chain, last))
        self._behind = self._behind + 1 if is_behind else 0
        if 0 < self._behind < _LOOKS_BEHIND:
            raise BehindItself(chain.endpoint, last.number, seen_up_to)

    def fork(self, chain: Chain, last: Block) -> Steps[int | None]:
        """The number of the newest block that was seen and is still on the chain that ends with `last`, -1 where none
        is; None where no block has gone."""
        if not self._seen or (yield from _is_there(chain, self._seen[-1], last)):
            return None
        first, gone = 0, len(self._seen) - 1  # those before the first are there, those from `gone` on are not
        while first < gone:
            middle = (first + gone) // 2
            is_there = yield from _is_there(chain, self._seen[middle], last)
            first, gone = (middle + 1, gone) if is_there else (first, middle)
        fork = self._seen[first - 1].number if first else -1
        is_root_gone = self._root is None or (yield from self.is_another_chain(chain, last))
        return fork if is_root_gone or self._root is None else max(fork, self._root.number)

    def is_there(self, chain: Chain, checkpoint: Checkpoint, last: Block) -> Steps[bool]:
        """Whether the checkpoint's block is part of the chain that ends with `last`; it counts as seen then."""
        block = Block(checkpoint.block_number, checkpoint.block_hash, b"")
        found = block.number <= last.number and (yield from _is_there(chain, block, last))
        if found and all(each.number != block.number for each in self._seen):
            insort(self._seen, block, key=attrgetter("number"))
        return found

    def is_another_chain(self, chain: Chain, last: Block) -> Steps[bool]:
        """Whether the early block that was seen first is not on the chain any more: then it is another chain."""
        return self._root is not None and not (yield from _is_there(chain, self._root, last))

    def take(self, chain: Chain, fork: int | None, last: Block) -> Steps[None]:
        """The chain ends with block `last`; `fork`: as `fork` returned it."""
        if self._root is None or (fork is not None and fork < self._root.number):
            self._root = yield from ask_block(chain, min(max(last.number - _ROOT, 1), last.number))
        if fork is not None:
            self._seen = [each for each in self._seen if each.number <= fork]
        if not self._seen or self._seen[-1].number < last.number:
            self._seen = [*self._seen[1 - _REMEMBERED :], last]


def _is_there(chain: Chain, block: Block, last: Block) -> Steps[bool]:
    if block.number == last.number:
        return block.hash == last.hash
    if block.number == last.number - 1:
        return block.hash == last.parent
    try:
        return (yield from ask_block(chain, block.number)).hash == block.hash
    except EndpointFailed:
        return False  # a shorter chain has won
