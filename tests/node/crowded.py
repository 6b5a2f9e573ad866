"""A process that drives all channels of a journal through endpoints that may stall, and says what that costs it; and
the endpoints: a node's, seen through a relay that counts what is asked and answers nothing while a test says so."""

from __future__ import annotations

import asyncio
import http.client
import resource
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import loads
from multiprocessing.connection import Connection
from threading import Event, Lock, Thread, Timer, main_thread
from threading import enumerate as enumerate_threads
from typing import Any
from urllib.parse import urlsplit

from forcemove import ChannelSetup, ChooseMove, MemoryMessenger, MoveChosen, Node, Phase, connect, open_journal
from forcemove.node.assemble import Assembly, reassemble
from forcemove.node.metadata import METADATA
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove_games.tic_tac_toe import GAME
from tests.forked import CONTEXT
from tests.scenarios.story import ALICE

__all__ = ["Crowded", "Endpoint", "Report"]


@dataclass(frozen=True)
class Report:
    """What the process says of itself. `idle_bytes`, `bytes`: its largest memory before it had a channel, and until
    now. `cpu`: seconds of all its threads since it began to run, `cpu_from_start` since it began to read the journal.
    `threads`: their names, but for the main one's and those that wait to copy the journal's newest commits. `phases`,
    `troubles`: how many, by name."""

    channels: int
    phases: dict[str, int]
    has_looked: bool
    idle_bytes: int
    bytes: int
    cpu: float
    cpu_from_start: float
    threads: tuple[str, ...]
    troubles: dict[str, int]

    @property
    def bytes_per_channel(self) -> float:
        return (self.bytes - self.idle_bytes) / self.channels


class Crowded:
    """The test's end of such a process."""

    def __init__(self, journal: str, urls: Sequence[str], chain_id: int, timeout: float, look_every: float) -> None:
        """`timeout`: of its requests, `look_every`: between two looks at the chain; seconds."""
        self._pipe, there = CONTEXT.Pipe()
        self._process = CONTEXT.Process(
            target=_drive, args=(journal, tuple(urls), chain_id, timeout, look_every, there), daemon=True
        )
        self._process.start()

    def report(self, timeout: float = 60.0) -> Report:
        self._pipe.send("report")
        assert self._pipe.poll(timeout), "the process says nothing"
        report: Report = self._pipe.recv()
        return report

    def wait_until_it_has_looked(self, timeout: float = 120.0) -> None:
        deadline = time.monotonic() + timeout
        while not (report := self.report(timeout)).has_looked:
            assert time.monotonic() < deadline, report
            time.sleep(0.05)

    def wait_until_it_knows_of_no_challenge(self, timeout: float) -> Report:
        deadline = time.monotonic() + timeout
        while Phase.CHALLENGED.name in (report := self.report()).phases:
            assert time.monotonic() < deadline, report
            time.sleep(0.05)
        return report

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _drive(
    journal_url: str, urls: tuple[str, ...], chain_id: int, timeout: float, look_every: float, said: Connection
) -> None:
    started = time.process_time()
    first, *others = (connect(url, expected_chain_id=chain_id, timeout=timeout) for url in urls)
    journal = open_journal(journal_url, owner=secrets.token_bytes(16))
    idle, troubles = _largest(), Counter[str]()
    node = Node(journal, on_error=lambda error: troubles.update([type(error).__name__]))
    assemblies = list[Assembly]()
    for each in journal.channels():
        agreement, about = CHANNELS.decode(each.snapshot).agreement, METADATA.decode(each.metadata)
        assemblies.append(reassemble(first, agreement, GAME, from_block=about.from_block, others=others))
    node.reserve(assemblies, ALICE)
    for assembly in assemblies:
        node.add(ChannelSetup(assembly, ALICE, MemoryMessenger(), _choose))
    asyncio.run(_run(node, look_every, said, idle, troubles, started))


def _choose(question: ChooseMove) -> MoveChosen | None:
    """Only what must be chosen."""
    if question.answer_by is None:
        return None
    move = GAME.bot(0).move(question.state, another_round=True)
    return None if move is None else MoveChosen(*move)


async def _run(
    node: Node, look_every: float, said: Connection, idle: int, troubles: Counter[str], started: float
) -> None:
    begun, running = time.process_time(), asyncio.create_task(node.run(look_every=look_every))
    while not running.done():
        if said.poll():
            said.recv()
            managed = node.channels.values()
            said.send(
                Report(
                    channels=len(managed),
                    phases=dict(Counter(each.phase.name for each in managed)),
                    has_looked=all(each.chain.time and each.channel.holdings for each in managed),
                    idle_bytes=idle,
                    bytes=_largest(),
                    cpu=time.process_time() - begun,
                    cpu_from_start=time.process_time() - started,
                    threads=tuple(sorted(each.name for each in enumerate_threads() if _is_counted(each))),
                    troubles=dict(troubles),
                )
            )
        await asyncio.sleep(0.05)
    running.result()


def _is_counted(thread: Thread) -> bool:
    return thread is not main_thread() and not isinstance(thread, Timer)


def _largest() -> int:
    """The largest memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


# ----------------------------------------------------------------------------------------------------------- endpoints


class Endpoint:
    """A node's endpoint over HTTP, which takes `seconds` for each exchange. `counts`: what was asked, by method,
    answered or not; a batch is all of its requests. `exchanges`: how many there were, and `before_offer` before the
    first one with a transaction."""

    def __init__(self, node_url: str, seconds: float = 0.0) -> None:
        self.counts: Counter[str] = Counter()
        self.exchanges, self.before_offer = 0, 0
        self._seconds = seconds
        self._flowing, self._lock = Event(), Lock()
        self._flowing.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, urlsplit(node_url).netloc))
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stall(self) -> None:
        """From now on connections are accepted, and nothing is answered."""
        self._flowing.clear()

    def flow(self) -> None:
        """What was asked meanwhile is answered now."""
        self._flowing.set()

    def pass_on(self, body: bytes) -> None:
        asked = loads(body)
        methods = [str(each["method"]) for each in (asked if isinstance(asked, list) else [asked])]
        with self._lock:
            self.counts.update(methods)
            self.exchanges += 1
            if not self.before_offer and "eth_sendRawTransaction" in methods:
                self.before_offer = self.exchanges - 1
        time.sleep(self._seconds)
        self._flowing.wait()

    def close(self) -> None:
        self.flow()
        self._server.shutdown()
        self._server.server_close()


def _handler(endpoint: Endpoint, node: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", -1  # an answer leaves whole

        def setup(self) -> None:
            super().setup()
            self.node = http.client.HTTPConnection(node)

        def handle(self) -> None:
            with suppress(ConnectionError):  # who has asked is killed in the end
                super().handle()

        def finish(self) -> None:
            self.node.close()
            super().finish()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            endpoint.pass_on(body)
            self.node.request("POST", "/", body, {"Content-Type": "application/json"})
            answer = self.node.getresponse().read()
            with suppress(OSError):  # who has asked has not waited
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
