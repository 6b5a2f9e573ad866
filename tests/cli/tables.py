"""Players at tables, as `forcemove play` seats them: a server that carries the tables, a machine for each player, and
for games that are played for a stake a chain with the contracts."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from forcemove import ETHER, Adjudicator, Channel, Key, deploy, local_keys, open_journal, write_key_file
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.registry import installed_games
from forcemove.store.records import Ownership
from forcemove.transport.links import LINK_HEAD
from tests.cli.nodes import PASSPHRASE, Demo, Node, start, wait_until
from tests.cli.screens import COMMAND, Screen
from tests.store.server import Server
from tests.transport.carriers import Process

HOST, GUEST = local_keys()[1:3]
STAKE = 10**16
"""Wei, of a round."""
DEPOSIT = 5 * STAKE
START = 10**18
"""Wei that each player begins with."""
GAS_AT_MOST = 10**16
BOOK = "forcemove-31337.json"
_LINK = re.compile(rf"{LINK_HEAD}\w+")
_COLUMNS = 220
"""Wide enough for a link."""
_LEAVING = "leave     end the game"


class House:
    """`alice` and `bob`: the folders of the host and of the guest. `server`: where the journals are, if they are
    not files."""

    def __init__(self, folder: Path, carrier: Process, server: Server | None = None) -> None:
        self.folder, self.carrier, self._server = folder, carrier, server
        self._stores: dict[Path, str] = {}
        self._started: list[Demo] = []
        self.alice, self.bob = self.home("alice", HOST), self.home("bob", GUEST)

    def home(self, name: str, key: Key) -> Path:
        """A new machine, with a key file."""
        home = self.folder / name
        home.mkdir()
        write_key_file(home / "key.json", key, PASSPHRASE, scrypt_work=2**4)
        self._stores[home] = str(home / "forcemove.journal") if self._server is None else self._server.schema()
        return home

    def arguments(self, home: Path, game: str) -> tuple[str, ...]:
        """Of each `forcemove play` on that machine, but where."""
        return ("play", game, "--key", "key.json", "--store", self._stores[home])

    def browse_arguments(self, home: Path) -> tuple[str, ...]:
        """Of `forcemove browse` on that machine."""
        return ("browse", "--key", "key.json", "--store", self._stores[home], "--relay", self.carrier.url)

    def play(self, home: Path, *arguments: str, game: str = "rock-paper-scissors", before: str = "") -> Demo:
        """A bot on that machine. `before`: as of `warm.start`."""
        command = (*self.arguments(home, game), *self._where(arguments), "--bot", *arguments)
        return self.run(home, *command, before=before)

    def _where(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """A link names the relay."""
        return () if "--join" in arguments else ("--relay", self.carrier.url)

    def run(self, home: Path, *arguments: str, before: str = "") -> Demo:
        """Any command on that machine, which is killed in the end."""
        self._started.append(start(home, *arguments, before=before))
        return self._started[-1]

    def sit(self, home: Path, *arguments: str, game: str = "rock-paper-scissors") -> Person:
        """A person at a terminal of that machine."""
        command = (*self.arguments(home, game), *self._where(arguments), *arguments)
        return Person(Screen(COMMAND, *command, columns=_COLUMNS, folder=home))

    def share(self, home: Path, other: Path) -> None:
        """Let one machine have the journal of another."""
        self._stores[home] = self._stores[other]

    def saved(self, home: Path) -> Channel:
        """The one channel of a journal, as it was saved last."""
        return self._kept(home)[0]

    def is_finished(self, home: Path) -> bool:
        """Whether the one channel of a journal is."""
        return self._kept(home)[1] is Ownership.FINISHED

    def store(self, home: Path) -> str:
        """Where a machine's journal is."""
        return self._stores[home]

    def channel(self, home: Path) -> Channel:
        """The one channel of a journal, which is finished."""
        channel, standing = self._kept(home)
        assert standing is Ownership.FINISHED
        return channel

    def meetings(self, home: Path) -> int:
        """How many are in a journal."""
        with open_journal(self._stores[home], owner=os.urandom(16)) as journal:
            return len(journal.meetings.all())

    def leave(self) -> None:
        """Nobody plays on when a test has failed."""
        for each in self._started:
            each.process.send_signal(signal.SIGKILL)

    def _kept(self, home: Path) -> tuple[Channel, Ownership]:
        with open_journal(self._stores[home], owner=os.urandom(16)) as journal:
            (kept,) = journal.channels()
        return CHANNELS.decode(kept.snapshot), kept.ownership


class World(House):
    """A house with a chain: each machine has the address book, and its key some ether. `endpoints`: of the chain, as
    players are told of them."""

    def __init__(self, node: Node, folder: Path, carrier: Process, server: Server | None = None) -> None:
        self.node, self.endpoints = node, [node.endpoint]
        self.adjudicator = Adjudicator(
            node.chain, deploy(node.chain, local_keys()[0], folder / BOOK, installed_games().games).adjudicator
        )
        super().__init__(folder, carrier, server)

    def home(self, name: str, key: Key) -> Path:
        home = super().home(name, key)
        (home / BOOK).write_bytes((self.folder / BOOK).read_bytes())
        self.node.give(key.address, START)
        return home

    def arguments(self, home: Path, game: str) -> tuple[str, ...]:
        chains = [part for each in self.endpoints for part in ("--chain", each)]
        return (*super().arguments(home, game), *chains)

    def browse_arguments(self, home: Path) -> tuple[str, ...]:
        chains = [part for each in self.endpoints for part in ("--chain", each)]
        return (*super().browse_arguments(home), *chains)

    def travel(self, seconds: int) -> None:
        """Let the chain's clock go on."""
        self.node.chain.rpc.ask("evm_increaseTime", seconds)
        self.node.chain.rpc.ask("evm_mine")

    def held(self, channel: Channel) -> int:
        """What the channel holds on the chain."""
        return self.adjudicator.holdings_of(channel.agreement.channel_id, ETHER, 0).amount

    def await_answer(self, channel: Channel, turn_num: int) -> None:
        """Until the chain knows of a later turn, and no challenge runs."""

        def is_answered() -> bool:
            status = self.adjudicator.status_of(channel.agreement.channel_id, ETHER)
            return not status.finalizes_at and status.turn_num_record > turn_num

        wait_until(is_answered)

    def require_right_ends(self) -> Channel:
        """Both journals have the same final state, which everybody was paid by."""
        last = self.require_same_ends(self.alice, self.bob)
        assert last.newest is not None
        assert last.newest.state.is_final
        return last

    def require_same_ends(self, host: Path, guest: Path, keys: Sequence[Key] = (HOST, GUEST)) -> Channel:
        """Both journals have the same newest state, which everybody was paid by."""
        ours, theirs = self.channel(host), self.channel(guest)
        assert ours.newest is not None
        assert theirs.newest is not None
        assert ours.newest.state == theirs.newest.state
        self.require_paid(ours, keys)
        return ours

    def require_paid(self, last: Channel, keys: Sequence[Key] = (HOST, GUEST)) -> None:
        """The channel is empty, and each account has what its newest state pays, less gas."""
        assert last.newest is not None
        assert self.held(last) == 0
        outcome = last.newest.state.outcome
        assert sum(each.amount for each in outcome) == 2 * DEPOSIT
        for key, each in zip(keys, outcome, strict=True):
            most = START - DEPOSIT + each.amount
            assert most - GAS_AT_MOST < self.node.chain.balance(key.address) < most


WorldT = TypeVar("WorldT", bound=World)


class Person:
    """At a terminal."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.reach, self.end = screen.reach, screen.end

    def link(self) -> str:
        """What is to be handed to a friend."""
        self.reach(LINK_HEAD)
        return next(filter(None, map(_LINK.search, self.screen.lines)))[0]

    def type(self, text: str) -> None:
        """And press Enter."""
        self.screen.type(f"{text}\r")

    def answer(self, question: str, text: str) -> None:
        """Type this once the question is on the screen."""
        self.reach(question)
        self.type(text)

    def leave(self) -> None:
        """And say yes, if it is asked whether the stake may be lost."""
        self.reach(_LEAVING)
        self.type("leave")
        self.screen.lose(_LEAVING)
        self.type("yes")


@contextmanager
def world_on(carrier: Process, folder: Path, server: Server | None = None) -> Iterator[World]:
    """A world with a new node."""
    with on_new_node(folder, lambda node: World(node, folder, carrier, server)) as world:
        yield world


@contextmanager
def on_new_node(folder: Path, make: Callable[[Node], WorldT]) -> Iterator[WorldT]:
    """What is made on a new node, until everybody leaves."""
    node = Node(folder)
    try:
        world = make(node)
        try:
            yield world
        finally:
            world.leave()
    finally:
        node.stop()


def link_of(host: Demo) -> str:
    """What is to be handed to a friend."""
    host.reach(LINK_HEAD)
    found = _LINK.search(host.said)
    assert found, host.said
    return found[0]
