"""Forty pairs play at a relay while strangers attack it, from one address and from fifty: moves stay quick, newcomers
get in, and memory and disk are bounded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.certificate import tls_options
from tests.relay.process import RelayProcess, running_relay
from tests.relay.strangers.attacks import ATTACKS
from tests.relay.strangers.crowd import Crowd, Report, Strangers

LONG = pytest.mark.long
SHORT = (("lobby", 50), ("wrong_proofs", 1))
OVER_TLS = ("lobby", "connections", "silent", "half_open", "half_headers", "half_frames", "tiny_frames", "small_posts")
PAIRS = 40
MOVE, NEWCOMER = 0.25, 3.0
"""Seconds."""
SHARED = 2.0
"""Seconds for a move where other tests have the cores, too. Undefended, these held all for 38 and 44 seconds."""
MEMORY, DISK = 200 * 2**20, 2**30
ALONE = 60 * 2**20
"""Bytes of memory of a relay that was started by itself; those of the tests are forked from a process that has imported
more."""
ADDRESSES = {1: ["127.0.0.2"], 50: [f"127.0.0.{number}" for number in range(2, 52)]}


class Siege:
    """A relay with forty pairs that is attacked, and beside it, on the same machine in the same seconds, one with a few
    pairs that is not: what both notice is the machine's."""

    def __init__(self, relay: RelayProcess, crowd: Crowd, quiet: Crowd) -> None:
        self.relay, self.crowd, self.quiet = relay, crowd, quiet

    def watch(self, seconds: float) -> Seen:
        """This many seconds of both."""
        self.crowd.report(), self.quiet.report()
        until, memory = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            memory = max(memory, self.relay.memory())
            time.sleep(0.05)
        disk = sum(each.stat().st_size for each in self.relay.store.parent.iterdir())
        return Seen(self.crowd.report(), self.quiet.report(), memory, disk)


@dataclass(frozen=True)
class Seen:
    """`attacked`, `quiet`: what the pairs at both relays have noticed; `memory`, `disk`: bytes of the attacked one."""

    attacked: Report
    quiet: Report
    memory: int
    disk: int

    def __str__(self) -> str:
        size = f"{self.memory >> 20} MiB of memory, {self.disk >> 20} MiB of disk"
        return f"{size}\n  attacked {self.attacked}\n  quiet    {self.quiet}"


@contextmanager
def besieged(tmp_path: Path, *options: str) -> Iterator[Siege]:
    """`options`: of both relays."""
    for name in ("attacked", "quiet"):
        (tmp_path / name).mkdir()
    with (
        running_relay(tmp_path / "attacked", *options) as relay,
        running_relay(tmp_path / "quiet", *options) as other,
        closing(Crowd(relay.url, PAIRS)) as crowd,
        closing(Crowd(other.url, PAIRS // 4)) as quiet,
    ):
        yield Siege(relay, crowd, quiet)


@pytest.fixture
def siege(tmp_path: Path) -> Iterator[Siege]:
    with besieged(tmp_path) as siege:
        yield siege


@pytest.fixture
def siege_over_tls(tmp_path: Path) -> Iterator[Siege]:
    with besieged(tmp_path, *tls_options(tmp_path)) as siege:
        yield siege


@pytest.mark.parametrize(
    ("name", "addresses", "move"),
    [
        *((*each, SHARED) for each in SHORT),
        *(pytest.param(name, count, MOVE, marks=LONG) for name in ATTACKS for count in ADDRESSES),
    ],
)
def test_threat_59_strangers_disturb_nobody(siege: Siege, name: str, addresses: int, move: float) -> None:
    withstand(siege, name, addresses, move)


@pytest.mark.long
@pytest.mark.parametrize("addresses", ADDRESSES)
@pytest.mark.parametrize("name", OVER_TLS)
def test_threat_59_strangers_disturb_nobody_over_tls(siege_over_tls: Siege, name: str, addresses: int) -> None:
    withstand(siege_over_tls, name, addresses, MOVE)


def withstand(siege: Siege, name: str, addresses: int, move: float) -> None:
    """The attack, and the bounds of what is noticed of it. `move`: seconds."""
    idle, before = siege.relay.memory(), siege.watch(2)
    with closing(Strangers(ATTACKS[name], siege.relay.url, ADDRESSES[addresses])):
        during = siege.watch(3 if move == SHARED else 8)
    print(f"\n{name} from {addresses}: before: {before}\n during: {during}")
    assert not during.attacked.failures
    assert during.attacked.p99 < max(3 * before.attacked.p99, 3 * during.quiet.p99, move)
    assert during.attacked.slowest_newcomer < max(3 * during.quiet.slowest_newcomer, NEWCOMER)
    assert during.memory - idle + ALONE < MEMORY
    assert during.disk < DISK
