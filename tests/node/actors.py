"""A player's process: a node on a journal and a real chain, which kills itself at a point between two steps."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import connection as sockets
from multiprocessing.connection import Connection, Listener
from threading import Thread
from typing import Any

from forcemove import Agreement, ChannelSetup, ChooseMove, ManagedChannel, Node, Phase, moves_of, open_journal
from forcemove.chain.local import connect, local_keys
from forcemove.node.assemble import reassemble
from forcemove.node.errors import ChannelInUse
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove_games.tic_tac_toe import GAME
from tests.forked import CONTEXT

__all__ = ["Job", "ListeningLine", "play", "start"]

LEASE = 0.3
SILENCE = 0.2


@dataclass(frozen=True)
class Job:
    """What a process is to do. `die_at`: the number of the point at which it kills itself, None where it lives on."""

    url: str
    agreement: Agreement
    from_block: int
    seat: int
    journal: str
    line: str
    die_at: int | None = None


def start(job: Job) -> tuple[Any, Connection]:
    """The process, and where it says how many points it has passed, once the channel is closed."""
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=play, args=(job, there), daemon=True)
    process.start()
    return process, here


def play(job: Job, said: Connection) -> None:
    """Until the channel is closed, or this process is killed."""
    points = _Points(job.die_at)
    chain = connect(job.url)
    journal = open_journal(job.journal, owner=secrets.token_bytes(16))
    line = _Line(job.line)
    points.around(journal, "commit")
    points.around(journal.transactions, "commit")
    points.around(line, "send")
    points.around(chain.rpc, "request", "eth_sendRawTransaction")
    node = Node(journal, lease=LEASE)
    assembly = reassemble(chain, job.agreement, GAME, from_block=job.from_block)
    managed: ManagedChannel | None = None
    while managed is None or managed.phase is not Phase.CLOSED:
        if managed is None or managed.id not in node.channels:
            managed = add(
                lambda: node.add(
                    ChannelSetup(assembly, local_keys()[job.seat], line, choose(job.seat), silence=SILENCE)
                )
            )
        node.poll()
        time.sleep(0.02)
    said.send(points.passed)


def add(once: Callable[[], ManagedChannel]) -> ManagedChannel | None:
    """None while another process has a lease, one that has died or one that lives."""
    try:
        return once()
    except ChannelInUse:
        time.sleep(0.02)
        return None


def choose(seat: int) -> Callable[[ChooseMove], MoveChosen | ConcludeWanted]:
    """A bot that leaves after one round."""
    return moves_of(GAME.bot(seat), another_round=lambda state: state.turn_num < 6)


class _Points:
    """Counts the points before and after each call, and ends this process at one of them."""

    def __init__(self, die_at: int | None) -> None:
        self.passed, self._die_at = 0, die_at

    def around(self, owner: object, name: str, first: str | None = None) -> None:
        """Where `first` is given, of the calls whose first argument it is."""
        call = getattr(owner, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            if first is not None and arguments[0] != first:
                return call(*arguments, **options)
            self._pass()
            result = call(*arguments, **options)
            self._pass()
            return result

        setattr(owner, name, watched)

    def _pass(self) -> None:
        if self.passed == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1


class _Line:
    """The process's end of a local socket."""

    def __init__(self, address: str) -> None:
        self._connection = sockets.Client(address, "AF_UNIX")

    def send(self, message: bytes) -> None:
        self._connection.send_bytes(message)

    def receive(self) -> Sequence[bytes]:
        messages = []
        while self._connection.poll():
            messages.append(self._connection.recv_bytes())
        return messages


class ListeningLine:
    """The test's end: processes come and go, some of them at once. What is sent while nobody is there is lost.
    `heard`: everything."""

    def __init__(self, address: str) -> None:
        self.heard: list[bytes] = []
        self._listener = Listener(address, "AF_UNIX")
        self._connections: list[Connection] = []
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                self._connections.append(self._listener.accept())
            except OSError:
                return

    def send(self, message: bytes) -> None:
        for connection in tuple(self._connections):
            try:
                connection.send_bytes(message)
            except OSError:
                self._connections.remove(connection)

    def receive(self) -> Sequence[bytes]:
        messages: list[bytes] = []
        for connection in tuple(self._connections):
            try:
                while connection.poll():
                    messages.append(connection.recv_bytes())
            except (OSError, EOFError):
                self._connections.remove(connection)
        self.heard += messages
        return messages

    def close(self) -> None:
        self._listener.close()
