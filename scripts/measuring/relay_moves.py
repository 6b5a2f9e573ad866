"""Moves that a relay carries as players make them: 100 pairs, a connection for each of the 200. Each move goes to the
relay's disk, while the other player reads it.

A pair moves in turns: who has read the other's move posts its own, of 300 bytes. First all play as fast as they can:
that gives moves a second, and how long one takes from its post until the other has read it. Then they play at half of
that rate, each move at a moment of its own; there a move's time counts from the moment when it was due, so that what is
late because of the one before it is not overlooked.

The players are bare sockets in this process, which waits for all of them at once, and knows of WebSocket only what a
relay sends: what is measured must be the relay, not its clients.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from forcemove.transport import wire
from forcemove.transport.terms import TableKind, TableTerms, proof_digest
from scripts.measuring.cases import ADDRESSES, KEYS, Measured, Row, case, medians
from scripts.measuring.processes import started_relay

_M = TypeVar("_M", bound=wire.FromRelay)
PAIRS = 100
_WARM_UP = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")
_SIZE = 300
"""Bytes of a move, as a signed one in rock-paper-scissors has them."""
_PATIENCE = 20.0
"""Seconds."""
_BINARY, _PING = 2, 9
_LENGTHS = {126: 2, 127: 8}
"""Bytes of a length that does not fit into a head's second byte. Where the disk has made posts wait, a frame has the
longest."""


class _Player:
    """One connection of one player, who has proved who it is, and reads."""

    def __init__(self, url: str, pair: int, seat: int, table: TableTerms) -> None:
        self.pair, self.seat, self._table = pair, seat, table.id
        self.length = 0
        """Moves that it has read."""
        host, _, port = url.removeprefix("ws://").rpartition(":")
        self.socket = socket.create_connection((host, int(port)), _PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._shake_hands(host)
        nonce = self._wait_for(wire.Welcome).nonce
        key, expiry = KEYS[seat], int(time.time()) + 600
        signature = key.sign(proof_digest(url, table.id, key.address, expiry, nonce)).compact
        self._say(wire.Prove(table, key.address, url, expiry, signature))
        self._say(wire.Open(table.id, 0, None))
        self._wait_for(wire.Opened)
        self.socket.setblocking(False)

    def post(self) -> None:
        """Post the next move of the table."""
        number = self.length
        self._say(wire.PostEntry(self._table, number.to_bytes(16), number.to_bytes(_SIZE), None))

    def read(self) -> int:
        """Read what has come; the number of moves."""
        before = self.length
        self._received += self.socket.recv(65_536)
        for message in self._messages():
            match message:
                case wire.Coming(_, entry):  # a move is its own number
                    self.length = max(self.length, int.from_bytes(entry) + 1)
                case wire.Entries(_, first, entries):
                    self.length = max(self.length, first + len(entries))
        return self.length - before

    def _shake_hands(self, host: str) -> None:
        asks = f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        asks += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        self.socket.sendall(asks.encode())
        while b"\r\n\r\n" not in self._received:
            self._received += self.socket.recv(65_536)
        self._received = self._received.partition(b"\r\n\r\n")[2]

    def _wait_for(self, kind: type[_M]) -> _M:
        while True:
            for message in self._messages():
                if isinstance(message, kind):
                    return message
            self._received += self.socket.recv(65_536)

    def _say(self, message: wire.Message) -> None:
        self._send(_BINARY, wire.VERSION.to_bytes(2) + b"\x91" + wire.encode(message))

    def _send(self, opcode: int, payload: bytes) -> None:
        """Send a frame, masked with zeros: nothing is hidden from a relay that we trust."""
        size = len(payload)
        head = bytes([0x80 | opcode, 0x80 | size]) if size < 126 else bytes([0x80 | opcode, 0xFE]) + size.to_bytes(2)
        self.socket.sendall(head + bytes(4) + payload)

    def _messages(self) -> Iterator[wire.FromRelay]:
        """The messages of the frames that have come whole."""
        received, at = self._received, 0
        while len(received) >= at + 2:
            size, start = received[at + 1], at + 2
            if size in _LENGTHS:
                start += _LENGTHS[size]
                size = int.from_bytes(received[at + 2 : start])
            if len(received) < start + size:
                break
            opcode, payload, at = received[at] & 15, bytes(received[start : start + size]), start + size
            if opcode == _BINARY:
                yield from wire.decode_from_relay(payload)
            elif opcode == _PING:
                self._send(_PING + 1, payload)
        del received[:at]


@case(
    Row(
        "relay_moves_per_second",
        "/s",
        "200 players, turn by turn, a connection for each, on disk",
        3_400,
        at_least=True,
    ),
    Row("relay_move_spread", "x", "99th percentile of a move's time at half of that rate / its median", 5),
)
def moves(rounds: int = 3, seconds: float = 5.0, folder: str = "", against: str = "") -> Measured:
    """Moves that a relay carries as 200 players make them, at its highest rate and at half of it.

    `seconds`: of each; `folder`: where the stores are, so that a disk can be compared with memory; `against`: another
    checkout of this project, whose relay is measured in the same run, round by round (`before`). `slow_move`: the 99th
    percentile; `relay`, `players`: processor for a move.
    """
    checkouts = ({"before_": Path(against)} if against else {}) | {"": Path(__file__).parents[2]}

    def measure() -> Measured:
        return {
            f"{when}{name}": value
            for when, checkout in checkouts.items()
            for name, value in asyncio.run(_measured(checkout.resolve(), folder or None, seconds)).items()
        }

    return medians(rounds, measure)


async def _measured(checkout: Path, folder: str | None, seconds: float) -> Measured:
    """One round with a relay of its own."""
    with started_relay(folder, PYTHONPATH=str(checkout / "channel")) as (url, relay):
        tables = [TableTerms(TableKind.CHANNEL, ADDRESSES, pair.to_bytes(32)) for pair in range(PAIRS)]
        players = [_Player(url, pair, seat, tables[pair]) for pair in range(PAIRS) for seat in (0, 1)]
        game = Game(players, relay)
        full = await game.play(seconds)
        half = await game.play(seconds, full["moves_per_second"] / 2)
        for each in players:
            each.socket.close()
    found = {
        "relay_moves_per_second": full["moves_per_second"],
        "relay_move_spread": half["slow_move_ms"] / half["move_ms"],
    }
    return found | {f"{name}_{row}": load[row] for name, load in (("full", full), ("half", half)) for row in load}


class Game:
    """All players, those of a pair side by side, and when each is to move. `relay`: its process."""

    def __init__(self, players: Sequence[_Player], relay: int) -> None:
        self._players, self._relay = players, relay
        self._posted: dict[int, float] = {}
        """When the move that each pair waits for was posted, or was due."""
        self._times: list[float] = []
        self._is_over = True

    async def play(self, seconds: float, rate: float | None = None) -> Measured:
        """Play for this long, after a second to warm up. `rate`: moves a second; None for as many as possible."""
        self._loop = asyncio.get_running_loop()
        self._rate, self._began, self._is_over = rate, self._loop.time(), False
        self._base = {each.pair: each.length for each in self._players}
        for each in self._players:
            self._loop.add_reader(each.socket, self._receive, each)
            self._move(each)
        await asyncio.sleep(_WARM_UP)
        self._times.clear()
        relay_cpu, our_cpu, began = _cpu_of(self._relay), time.process_time(), self._loop.time()
        await asyncio.sleep(seconds)
        took, times = self._loop.time() - began, sorted(self._times)
        relay_cpu, our_cpu = _cpu_of(self._relay) - relay_cpu, time.process_time() - our_cpu
        self._is_over = True
        async with asyncio.timeout(_PATIENCE):
            while not self._is_quiet:
                await asyncio.sleep(0.01)
        return {
            "moves_per_second": len(times) / took,
            "move_ms": times[len(times) // 2] * 1e3,
            "slow_move_ms": times[int(0.99 * (len(times) - 1))] * 1e3,
            "relay_us": relay_cpu / len(times) * 1e6,
            "players_us": our_cpu / len(times) * 1e6,
        }

    @property
    def _is_quiet(self) -> bool:
        """Whether both of each pair have read all moves."""
        pairs = zip(self._players[::2], self._players[1::2], strict=True)
        return not self._posted and all(one.length == other.length for one, other in pairs)

    def _move(self, player: _Player) -> None:
        """Let this player move, if it is its turn: now, or when its move is due."""
        if player.length % 2 != player.seat:
            return
        due = self._loop.time()
        if self._rate is not None:
            turn = player.length - self._base[player.pair]
            due = self._began + (turn * PAIRS + player.pair) / self._rate
        if due > self._loop.time():
            self._loop.call_at(due, self._post, player, due)
        else:
            self._post(player, due)

    def _post(self, player: _Player, due: float) -> None:
        if not self._is_over:
            self._posted[player.pair] = due
            player.post()

    def _receive(self, player: _Player) -> None:
        if player.read() and player.length % 2 == player.seat:
            self._times.append(self._loop.time() - self._posted.pop(player.pair))
            self._move(player)


def _cpu_of(process: int) -> float:
    """Seconds of processor that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
