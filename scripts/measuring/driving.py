"""Nodes that drive channels, on journals in files: new channels of two players, or many that a journal already has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forcemove import Chain, ChannelSetup, FriendlyAssembly, Key, ManagedChannel, MemoryMessenger, Node, open_journal
from forcemove.chain.local import AnvilChain
from forcemove.node.assemble import Assembly, reassemble
from forcemove.node.metadata import METADATA
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.journal import Journal
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, Playground
from tests.simulation import crowd

__all__ = ["crowded_journal", "drive", "drive_all", "journal_at", "stored"]


def journal_at(*path: str | Path) -> Journal:
    """The journal in a file, or on a server, for an owner of its own."""
    return open_journal(os.path.join(*path), owner=os.urandom(16))


def drive(node: Node, assembly: Assembly | FriendlyAssembly, key: Key = ALICE, **options: Any) -> ManagedChannel:
    """Have a node drive a channel. `options`: of `ChannelSetup`; nobody answers without a messenger, and nobody moves
    without a player."""
    nobody = {"messenger": MemoryMessenger(), "choose": lambda _: None}
    return node.add(ChannelSetup(assembly, key, **{**nobody, **options}))


def drive_all(node: Node, assemblies: Sequence[Assembly], **options: Any) -> None:
    """The same of many channels of Alice's, as a service does."""
    node.reserve(assemblies, ALICE)
    for each in assemblies:
        drive(node, each, **options)


def stored(journal: Journal, chain: Chain, limit: int | None = None) -> list[Assembly]:
    """The channels of a journal, or the first of them."""
    found = list[Assembly]()
    for each in journal.channels()[:limit]:
        agreement, metadata = CHANNELS.decode(each.snapshot).agreement, METADATA.decode(each.metadata)
        found.append(reassemble(chain, agreement, GAME, from_block=metadata.from_block))
    return found


@contextmanager
def crowded_journal(
    count: int, *flags: str, duration: int = 86_400, last_turn: int = 4, confirmations: int = 1
) -> Iterator[tuple[AnvilChain, Path]]:
    """An anvil, and the file of Alice's journal with this many open channels of tic-tac-toe. `flags`: anvil's;
    `duration`: of a challenge, seconds; `last_turn`: hers, so that it is Bob's turn."""
    with TemporaryDirectory() as folder, AnvilChain(*flags) as chain:
        playground, first, path = Playground.on(chain), chain.block_number(), Path(folder, "journal")
        agreements = crowd.agreements(playground, count, duration)
        crowd.fund(chain, agreements)
        for _ in range(confirmations - 1):
            chain.rpc.ask("evm_mine")
        with journal_at(path) as journal:
            matches = [crowd.played(each, last_turn) for each in agreements]
            crowd.write(journal, matches, playground, first, confirmations)
        yield chain, path
