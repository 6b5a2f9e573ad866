"""The blocks that a follower has read: by them it finds where the chain has forked, and whether it is another chain."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import as_bytes, as_number
from forcemove.follower.errors import BehindItself
from forcemove.follower.head import Head
from forcemove.follower.on_chain_view import Checkpoint

__all__ = ["Block", "Blocks", "ask_block"]

_REMEMBERED = 256
"""How many blocks' hashes are remembered to find a fork; beyond that everything is read again."""
_LOOKS_BEHIND = 3
"""How often an endpoint must show a shorter chain until it is believed."""
_ROOT = 64
"""So many blocks behind the head no reorganisation replaces a block: two epochs of Ethereum."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block's number, its hash and that of the block before it (32 bytes each)."""

    number: int
    hash: bytes
    parent: bytes


def ask_block(chain: Chain, number: int) -> Block:
    """The block of this number. Raises `ChainError`, and errors that `making_sense` turns into one."""
    answer: Mapping[str, Any] = chain.block(number)
    return Block(as_number(answer["number"]), as_bytes(answer["hash"]), as_bytes(answer["parentHash"]))


class Blocks:
    """The blocks of one chain that were read through one endpoint."""

    def __init__(self) -> None:
        self._read: deque[Block] = deque(maxlen=_REMEMBERED)
        self._root: Block | None = None
        self._behind = 0

    def at(self, chain: Chain, number: int, head: Head) -> Block | None:
        """The block of this number; None where the number is negative."""
        if number < 0:
            return None
        if number == head.number:
            return Block(number, head.hash, head.parent)
        return ask_block(chain, number)

    def require_not_behind(self, chain: Chain, last: Block) -> None:
        """Raise `BehindItself` where the endpoint shows fewer blocks than before on the same chain: it lags. At the
        third such look it is believed: a shorter chain has won, which is seldom."""
        read_up_to = self._read[-1].number if self._read else -1
        is_behind = last.number < read_up_to and not self.is_another_chain(chain, last)
        self._behind = self._behind + 1 if is_behind else 0
        if 0 < self._behind < _LOOKS_BEHIND:
            raise BehindItself(chain.endpoint, last.number, read_up_to)

    def fork(self, chain: Chain, last: Block) -> int:
        """The number of the newest block that was read and is still on the chain; -1 where none is."""
        return next((block.number for block in reversed(self._read) if _is_there(chain, block, last)), -1)

    def has_forked(self, fork: int) -> bool:
        """Whether a block was read that is not on the chain any more."""
        return bool(self._read) and fork != self._read[-1].number

    def is_there(self, chain: Chain, checkpoint: Checkpoint, last: Block) -> bool:
        """Whether the checkpoint's block is part of the chain that ends with `last`."""
        return checkpoint.block_number <= last.number and _is_there(
            chain, Block(checkpoint.block_number, checkpoint.block_hash, b""), last
        )

    def is_another_chain(self, chain: Chain, last: Block) -> bool:
        """Whether the early block that was read first is not on the chain any more: then it is another chain."""
        return self._root is not None and not _is_there(chain, self._root, last)

    def take(self, chain: Chain, fork: int, last: Block) -> None:
        """All logs are read up to block `last`; `fork`: as `fork` returned it."""
        if self._root is None or fork < 0:
            self._root = ask_block(chain, min(max(last.number - _ROOT, 1), last.number))
        self._read = deque((each for each in self._read if each.number <= fork), _REMEMBERED)
        if last.number > fork:
            self._read.append(last)


def _is_there(chain: Chain, block: Block, last: Block) -> bool:
    if block.number == last.number:
        return block.hash == last.hash
    if block.number == last.number - 1:
        return block.hash == last.parent
    try:
        return ask_block(chain, block.number).hash == block.hash
    except EndpointFailed:
        return False  # a shorter chain has won
