"""Moves that a relay carries as players make them: 100 pairs, a connection for each of the 200. Each move goes to the
relay's disk, while the other player reads it.

A pair moves in turns: who has read the other's move posts its own, of 300 bytes. First all play as fast as they can:
that gives moves a second, and how long one takes from its post until the other has read it. Then they play at half of
that rate, each move at a moment of its own; there a move's time counts from the moment when it was due, so that what is
late because of the one before it is not overlooked.

The players are bare sockets in this process, which waits for all of them at once, and knows of WebSocket only what a
relay sends: the relay, not its clients, is to be what is measured. What both cost is printed, too.

    relay_moves.py [--against CHECKOUT] [--folder FOLDER] [--rounds N] [--seconds S]

`--against`: another checkout of this project, whose relay is measured in the same run, round by round; `--folder`:
where the stores are, so that a disk can be compared with memory.
"""

from __future__ import annotations

import argparse
import os
import select
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove.transport.terms import TableKind, TableTerms  # noqa: E402
from scripts.relay_player import ADDRESSES, PATIENCE, Player  # noqa: E402
from scripts.relay_speed import started_relay  # noqa: E402

__all__ = ["Moves", "measure", "relay_move_spread", "relay_moves_per_second"]

PAIRS = 100
SECONDS = 5.0
ROUNDS = 3
_WARM_UP = 1.0
_HERE = Path(__file__).resolve().parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """The result of one stretch of playing. `rate`: moves a second; `times`: of each move, in seconds; `relay_cpu`,
    `our_cpu`: seconds of processor for each move."""

    rate: float
    times: Sequence[float]
    relay_cpu: float
    our_cpu: float

    def ms(self, share: float) -> float:
        """The time, in milliseconds, that this share of all moves stayed below."""
        return 1e3 * sorted(self.times)[int(share * (len(self.times) - 1))]

    def __str__(self) -> str:
        return (
            f"{self.rate:7,.0f} moves/s, p50 {self.ms(0.5):6.1f} ms, p99 {self.ms(0.99):6.1f} ms; processor for a move:"
            f" relay {1e6 * self.relay_cpu:4.0f} us, players {1e6 * self.our_cpu:4.0f} us"
        )


@dataclass(frozen=True)
class Moves:
    """The results of a relay at its highest rate, and at half of that."""

    full: Load
    half: Load


def relay_moves_per_second() -> float:
    """At the highest rate; the median of the rounds."""
    return statistics.median(each.full.rate for each in _rounds())


def relay_move_spread() -> float:
    """The 99th percentile of a move's time over its median, at half of the highest rate."""
    return statistics.median(each.half.ms(0.99) / each.half.ms(0.5) for each in _rounds())


def _rounds() -> Iterator[Moves]:
    for _ in range(ROUNDS):
        yield measure()


def measure(checkout: Path = _HERE, folder: str | None = None, seconds: float = SECONDS) -> Moves:
    """One round with a relay of its own. `checkout`: whose relay; `folder`: for its store; `seconds`: of each part."""
    with ExitStack() as stack:
        place = stack.enter_context(TemporaryDirectory(dir=folder))
        url, relay = stack.enter_context(started_relay(Path(place), str(checkout / "channel")))
        players = [
            stack.enter_context(Player(url, pair, seat, TableTerms(TableKind.CHANNEL, ADDRESSES, pair.to_bytes(32))))
            for pair in range(PAIRS)
            for seat in (0, 1)
        ]
        game = Game(players, relay)
        full = game.play(seconds, None)
        return Moves(full, game.play(seconds, full.rate / 2))


class Game:
    """All players, and when each is to move."""

    def __init__(self, players: list[Player], relay: int) -> None:
        self._players, self._relay = {each.socket.fileno(): each for each in players}, relay
        self._poll = select.epoll()
        for number in self._players:
            self._poll.register(number, select.EPOLLIN)
        self._posted: dict[int, float] = {}
        """When the move that each pair waits for was posted, or was due."""

    def play(self, seconds: float, rate: float | None) -> Load:
        """Play for so long, after a second to warm up. `rate`: moves a second; None for as many as possible."""
        self._rate, self._began = rate, time.perf_counter()
        self._due: list[tuple[float, int]] = []
        self._base = {each.pair: each.length for each in self._players.values()}
        times: list[float] = []
        for number, player in self._players.items():
            self._move(number, player)
        self._go_on(self._began + _WARM_UP, [])
        relay_cpu, our_cpu, began = _cpu_of(self._relay), time.process_time(), time.perf_counter()
        self._go_on(began + seconds, times)
        took, count = time.perf_counter() - began, len(times)
        relay_cpu, our_cpu = _cpu_of(self._relay) - relay_cpu, time.process_time() - our_cpu
        self._rate, self._due = None, []
        self._finish()
        return Load(count / took, times, relay_cpu / count, our_cpu / count)

    def _move(self, number: int, player: Player) -> None:
        """Make this player's move, if it is its turn: now, or when it is due."""
        if player.length % 2 != player.seat:
            return
        now = time.perf_counter()
        if self._rate is not None:
            turn = player.length - self._base[player.pair]
            due = self._began + (turn * PAIRS + player.pair) / self._rate
            if due > now:
                heappush(self._due, (due, number))
                return
            now = due
        self._posted[player.pair] = now
        player.post()

    def _go_on(self, until: float, times: list[float]) -> None:
        while (now := time.perf_counter()) < until:
            while self._due and self._due[0][0] <= now:
                number = heappop(self._due)[1]
                self._move(number, self._players[number])
            next_due = min(self._due[0][0], until) if self._due else until
            self._receive(max(0.0, next_due - now), times, is_over=False)

    def _finish(self) -> None:
        """Wait until both of each pair have read all moves."""
        while self._posted or any(len(set(lengths)) > 1 for lengths in self._lengths().values()):
            if not self._receive(PATIENCE, [], is_over=True):
                raise TimeoutError(f"the relay has said nothing for {PATIENCE:.0f} seconds")

    def _lengths(self) -> dict[int, list[int]]:
        lengths: dict[int, list[int]] = {}
        for player in self._players.values():
            lengths.setdefault(player.pair, []).append(player.length)
        return lengths

    def _receive(self, timeout: float, times: list[float], *, is_over: bool) -> int:
        ready = self._poll.poll(timeout)
        for number, _ in ready:
            player = self._players[number]
            if player.read() and player.length % 2 == player.seat:
                times.append(time.perf_counter() - self._posted.pop(player.pair))
                if not is_over:
                    self._move(number, player)
        return len(ready)


def _cpu_of(process: int) -> float:
    """Seconds of processor that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--against", type=Path, help="another checkout, measured in the same run")
    parser.add_argument("--folder", help="where the stores are")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    asked = parser.parse_args()
    checkouts = {"before": asked.against, "now": _HERE} if asked.against else {"now": _HERE}
    for _ in range(asked.rounds):
        for name, checkout in checkouts.items():
            moves = measure(checkout.resolve(), asked.folder, asked.seconds)
            print(f"{name:6} full {moves.full}\n{name:6} half {moves.half}", flush=True)


if __name__ == "__main__":
    _main()
