"""A participant of channels in this process: an account, a journal, and a node that can be killed and started again."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from forcemove.node.assemble import Assembly
from forcemove.node.effect_executor import MoveChooser
from forcemove.node.events import Event
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.ports import Messenger
from forcemove.node.setup import ChannelSetup
from forcemove.protocol.signing import Key
from forcemove.store.journal import Journal
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH
from forcemove.workers.clock import seconds


class LocalParticipant:
    """A participant. Its node has no policy: what is played here need not be worth its disputes. `managed`: the channel
    that it has joined last, once there is one; `is_gone`: whether its process has ended; `on_committed`: called after
    each commit of the journal."""

    def __init__(
        self,
        name: str,
        key: Key,
        on_error: Callable[[Exception], None],
        *,
        clock: Callable[[], float] = seconds,
        journal: Journal | None = None,
    ) -> None:
        """Make a participant, which drives nothing yet.

        - `name`: as it is shown.
        - `key`: of the account.
        - `on_error`: called with each error of the node, after which it is polled again; it may raise.
        - `clock`: seconds that go on steadily; those of the running event loop unless given.
        - `journal`: a new one in memory unless given.
        """
        self.name, self.key = name, key
        self.journal = journal or open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH))
        self.managed: ManagedChannel
        self.is_gone = False
        self.on_committed: Callable[[], None] = lambda: None
        self._clock, self._on_error = clock, on_error
        self._setups: dict[bytes, ChannelSetup] = {}
        self.node = self._new_node()

    def _new_node(self) -> Node:
        node = Node(self.journal, policy=None, on_error=self._on_error, clock=self._clock)
        node.on_committed(lambda _: self.on_committed())
        return node

    def join(
        self,
        assembly: Assembly,
        messenger: Messenger,
        choose: MoveChooser,
        *,
        on_event: Callable[[Event], None] = lambda _: None,
        max_cost: int | None = None,
        silence: float = 5.0,
        block_time: float | None = None,
        names: tuple[str, ...] = (),
    ) -> ManagedChannel:
        """Drive a channel. Raises as `Node.add`.

        - `assembly`: the channel, with its chain.
        - `messenger`: carries its messages.
        - `choose`: decides.
        - `on_event`: called with each event.
        - `max_cost`: what the gas of a transaction may cost, in wei.
        - `silence`: seconds to wait for a message before asking whether one was lost.
        - `block_time`: seconds from block to block, see `ChannelSetup`.
        - `names`: of all players, by seat.
        """
        setup = ChannelSetup(
            assembly,
            self.key,
            messenger,
            choose,
            on_event=on_event,
            max_cost=max_cost,
            silence=silence,
            block_time=block_time,
            names=names,
        )
        self.managed = self.node.add(setup)
        self._setups[setup.id] = setup
        return self.managed

    def leave(self, channel_id: bytes) -> None:
        """Drive a channel no longer, which the journal keeps."""
        if self._setups.pop(channel_id, None) is not None and channel_id in self.node.channels:
            self.node.release_channel(channel_id)

    def leave_all(self) -> None:
        """Drive no channel any longer, and be there again where the process has ended."""
        for channel_id in list(self._setups):
            self.leave(channel_id)
        if self.is_gone:
            self.restart()

    def die(self) -> None:
        """End the process: nothing is driven any more, and only the journal is left."""
        self.is_gone = True
        self.node.release()

    def restart(self) -> None:
        """Begin the process again, with what its journal has."""
        self.is_gone, self.node = False, self._new_node()
        for setup in self._setups.values():
            self.managed = self.node.add(setup)

    def poll(self) -> bool:
        """Do what there is to do now; returns whether anything has happened. Raises what `on_error` raises."""
        if self.is_gone:
            return False
        try:
            return self.node.poll()
        except Exception as error:
            self._on_error(error)
            return False

    @property
    def is_sending(self) -> bool:
        """Whether a transaction has to be sent, or is on its way."""
        return not self.is_gone and self.node.is_sending
