"""One participant of one channel, for tests: a node that drives nothing else, and raises what goes wrong."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from forcemove import Channel, ChannelSetup, Node, Phase
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.inputs import Input
from forcemove.store.journal import Journal
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH, Batch, ChannelUpdate
from forcemove.workers.clock import seconds

__all__ = ["Process", "memory_journal", "remembering", "wrap_commits"]

_MOST = 100
"""Polls in a row in which something happens."""
_PATIENCE = 20
"""Polls in a row for which a transaction is waited for that the chain has not mined yet."""


def memory_journal() -> Journal:
    """One that is gone with the process."""
    return open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH))


class Process:
    """A process that plays one channel. Another one on the same journal continues it."""

    def __init__(
        self,
        setup: ChannelSetup,
        journal: Journal | None = None,
        *,
        bump_after: float = 60.0,
        clock: Callable[[], float] = seconds,
    ) -> None:
        self.journal = memory_journal() if journal is None else journal
        self._errors: list[Exception] = []
        self.node = Node(self.journal, policy=None, bump_after=bump_after, on_error=self._errors.append, clock=clock)
        self.managed = self.node.add(setup)

    @property
    def channel(self) -> Channel:
        return self.managed.channel

    @property
    def phase(self) -> Phase:
        return self.managed.phase

    def poll(self) -> bool:
        """Do all that can be done now; whether there was anything. Raises the first thing that has gone wrong."""
        was_busy = self._act(self.node.poll)
        self._raise()
        return was_busy

    def feed(self, input_: Input) -> None:
        """Apply one input, and do what follows from it. Raises as `poll`."""
        self.managed.feed(input_)
        self._act(lambda: self.node.step() or (self.node.is_sending and self.node.poll()))
        self._raise()

    async def catch_up(self) -> bool:
        """`poll`, for a flow."""
        return self.poll()

    def _act(self, part: Callable[[], bool]) -> bool:
        """Again and again, until nothing happens, also with what is on its way, or something goes wrong."""
        was_busy, left = False, _PATIENCE
        for _ in range(_MOST):
            is_busy = part()
            was_busy, left = was_busy or is_busy, _PATIENCE if is_busy else left - 1
            if not self.node.is_sending:
                if self._errors or not is_busy:
                    return was_busy
            elif not left:
                return was_busy  # a chain that does not mine
        raise AssertionError("it never comes to rest")

    def _raise(self) -> None:
        errors, self._errors[:] = list(self._errors), []
        if errors:
            raise errors[0]


def wrap_commits(journal: Journal, around: Callable[[Callable[[], frozenset[bytes]]], frozenset[bytes]]) -> None:
    """From now on a commit of channels is what `around` makes of it; that is given the commit, to be called or not."""
    commit = journal.commit
    journal.commit = lambda batch: around(lambda: commit(batch))  # type: ignore[method-assign]  # the same, in pieces


def remembering(channel: Channel) -> Journal:
    """A journal that has this channel."""
    journal = memory_journal()
    metadata = METADATA.encode(ChannelMetadata("TicTacToe", 0, CUSTOMARY_FACTORY, 1))
    journal.commit(Batch((ChannelUpdate(channel.agreement.channel_id, 0, CHANNELS.encode(channel), metadata),)))
    return journal
