"""One of the playground's two participants: an account, a journal in memory, and a node that drives its channels."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from forcemove.chain.adjudicator import Adjudicator
from forcemove.node.assemble import Assembly
from forcemove.node.effect_executor import MoveChooser
from forcemove.node.events import Event
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.ports import Messenger
from forcemove.node.setup import ChannelSetup
from forcemove.playground.chain import PlaygroundEndpoint
from forcemove.protocol.signing import Key
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH

__all__ = ["PlaygroundPlayer"]

_SILENCE = 2.0
"""Seconds to wait for a message before asking whether one was lost."""


class PlaygroundPlayer:
    """A participant. `managed`: the channel of the game that is played, and `adjudicator`: the channel's, through this
    participant's endpoint, both once there is a game; `is_gone`: whether its process has ended; `on_committed`: called
    after each commit of the journal."""

    def __init__(
        self,
        name: str,
        key: Key,
        endpoint: PlaygroundEndpoint,
        clock: Callable[[], float],
        on_error: Callable[[str, Exception], None],
    ) -> None:
        """Make a participant, which drives nothing yet.

        - `name`: as it is shown.
        - `key`: of the account.
        - `endpoint`: of the chain.
        - `clock`: seconds that go on steadily.
        - `on_error`: called with the name and each error of the node.
        """
        self.name, self.key, self.endpoint = name, key, endpoint
        self.journal = open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH))
        self.managed: ManagedChannel
        self.adjudicator: Adjudicator
        self.is_gone = False
        self.on_committed: Callable[[], None] = lambda: None
        self._clock, self._on_error = clock, on_error
        self._setup: ChannelSetup | None = None
        self._node = self._new_node()

    def _new_node(self) -> Node:
        node = Node(
            self.journal, policy=None, on_error=lambda error: self._on_error(self.name, error), clock=self._clock
        )
        node.on_committed(lambda _: self.on_committed())
        return node

    def begin(
        self, assembly: Assembly, messenger: Messenger, choose: MoveChooser, on_event: Callable[[Event], None]
    ) -> None:
        """Drive the channel of a new game, and no earlier one.

        - `assembly`: of the channel.
        - `messenger`: carries its messages.
        - `choose`: decides.
        - `on_event`: is called with each event.
        """
        if self.is_gone:
            self.is_gone, self._node = False, self._new_node()
        for id_ in list(self._node.channels):
            self._node.release_channel(id_)
        self.adjudicator = assembly.adjudicator
        self._setup = ChannelSetup(
            assembly, self.key, messenger, choose, on_event=on_event, silence=_SILENCE, block_time=0
        )
        self._drive()

    def _drive(self) -> None:
        if self._setup is not None:
            self.managed = self._node.add(self._setup)

    def die(self) -> None:
        """End the process: nothing is driven any more, and only the journal is left."""
        self.is_gone = True
        self._node.release()

    def restart(self) -> None:
        """Begin the process again, with what its journal has."""
        self.is_gone = False
        self._node = self._new_node()
        self._drive()

    def poll(self) -> bool:
        """Do what is to be done now; returns whether anything has happened. An error that is raised is reported."""
        if self.is_gone:
            return False
        try:
            return self._node.poll()
        except Exception as error:
            self._on_error(self.name, error)
            return False

    @property
    def is_sending(self) -> bool:
        """Whether a transaction is to be sent, or on its way."""
        return not self.is_gone and self._node.is_sending
