"""The cost of a watchtower: an appointment and an idle poll with 10,000 channels, in CPU time of the process; and how
many channels of one client are lost that are challenged in one block, with the default budget.

Towers run on SQLite files, and on the tests' node in memory. Appointments come through `ServiceWorker`, as those of the
network do. Clients have states that both players have signed, so that no app's rules are needed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove.chain.adjudicator import Adjudicator  # noqa: E402
from forcemove.node.assemble import assemble  # noqa: E402
from forcemove.protocol.agreement import Agreement  # noqa: E402
from forcemove.protocol.encoding import digest, hash_state  # noqa: E402
from forcemove.protocol.rules import build_support_proof  # noqa: E402
from forcemove.protocol.state import SignedState, VariablePart  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove.watchtower.appointment import Appointment, sign_appointment  # noqa: E402
from forcemove.watchtower.errors import BudgetExhausted  # noqa: E402
from forcemove.watchtower.service.worker import ServiceWorker  # noqa: E402
from forcemove.watchtower.settings import TowerSettings  # noqa: E402
from forcemove.watchtower.tower import Tower  # noqa: E402
from forcemove_games.rock_paper_scissors import GAME  # noqa: E402
from tests.scenarios.story import KEYS, Playground  # noqa: E402
from tests.simulation.chain import MemoryChain  # noqa: E402
from tests.simulation.state import GAS  # noqa: E402
from tests.watchtower.keeper import TOWER  # noqa: E402

__all__ = ["tower_appointment_ms", "tower_idle_poll_ms", "tower_lost"]

CHANNELS = 10_000
CROWD = 1_000
_DEFAULT_BUDGET = 10**17
_TOGETHER = 16
"""Appointments that a client sends at the same time: as many connections as one address may have."""
_TIMED = 640
_POLLS = 21
_DURATION = 3_600
_BLOCK_TIME = 12
_POLLS_A_BLOCK = 12


def _signed(agreement: Agreement, turn: int) -> SignedState:
    """A state of this turn that both have signed."""
    state = VariablePart(agreement.outcome, agreement.setup_state(0).app_data, turn)
    to_sign = digest(agreement.domain, hash_state(agreement.channel_id, state).state)
    return SignedState(state, {seat: key.sign(to_sign) for seat, key in enumerate(KEYS)})


def _appointment(agreement: Agreement, turn: int) -> bytes:
    """What Alice sends to the tower when the state of this turn is supported."""
    return sign_appointment(Appointment(agreement, 0, (_signed(agreement, turn),)), TOWER.address, KEYS[0])


@dataclass
class Served:
    """A tower and what calls it. `agreements`: of its client's channels."""

    tower: Tower
    playground: Playground
    worker: ServiceWorker = field(init=False)
    agreements: list[Agreement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.worker = ServiceWorker(
            self.tower, (KEYS[0].address,), look_every=3_600, max_waiting=_TOGETHER, on_error=_fail
        )

    def add(self, count: int) -> None:
        """So many channels more."""
        chain, book, players = self.playground.chain, self.playground.book, [key.address for key in KEYS]
        for nonce in range(len(self.agreements), len(self.agreements) + count):
            made = assemble(chain, book, GAME, players, stake=1, deposit=1, duration=_DURATION, nonce=nonce)
            self.agreements.append(made.agreement)

    async def give(self, bodies: Sequence[bytes]) -> None:
        """Give the tower appointments, as many at a time as one address may."""
        left = iter(bodies)
        while group := list(islice(left, _TOGETHER)):
            await asyncio.gather(*map(self.worker.accept, group))


def _fail(error: Exception) -> None:
    """A budget that is reserved for now is not a failure: what waits is answered when the first answers are mined."""
    if not isinstance(error, BudgetExhausted):
        raise SystemExit(f"the tower has failed: {error!r}")


@contextmanager
def served(budget: int = _DEFAULT_BUDGET) -> Iterator[Served]:
    """A tower without channels that has read the chain."""
    playground = Playground.on(MemoryChain())
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator)
    with TemporaryDirectory() as folder, open_journal(str(Path(folder, "tower")), owner=os.urandom(16)) as journal:
        settings = TowerSettings(confirmations=1, max_channels=2 * CHANNELS)
        tower = Tower(journal, TOWER, [adjudicator], {KEYS[0].address: budget}, settings=settings, on_error=_fail)
        tower.poll()
        yield Served(tower, playground)


def _run(action: Callable[[Served], Awaitable[float]], count: int = 0) -> float:
    """What an action returns with a served tower that has this many channels."""

    async def acted(made: Served) -> float:
        running = asyncio.create_task(made.worker.run())
        made.add(count)
        await made.give([_appointment(each, 4) for each in made.agreements])
        found = await action(made)
        made.worker.stop()
        await running
        return found

    with served() as made:
        return asyncio.run(acted(made))


async def _appointment_ms(made: Served) -> float:
    made.add(_TIMED // 2)
    new = [_appointment(each, 4) for each in made.agreements[-_TIMED // 2 :]]
    newer = [_appointment(each, 5) for each in made.agreements[: _TIMED // 2]]
    bodies = [each for pair in zip(new, newer, strict=True) for each in pair]
    begun = time.process_time()
    await made.give(bodies)
    return (time.process_time() - begun) * 1e3 / len(bodies)


async def _idle_poll_ms(made: Served) -> float:
    costs = list[float]()
    await made.worker.poll()
    for _ in range(_POLLS):
        begun = time.process_time()
        await made.worker.poll()
        costs.append(time.process_time() - begun)
    return median(costs) * 1e3


async def _block_poll_ms(made: Served) -> float:
    costs = list[float]()
    for _ in range(_POLLS):
        made.playground.chain.node.mine()  # type: ignore[attr-defined]
        begun = time.process_time()
        await made.worker.poll()
        costs.append(time.process_time() - begun)
    return median(costs) * 1e3


def tower_appointment_ms(channels: int = CHANNELS) -> float:
    """CPU milliseconds of an appointment, of which every second one is for a new channel, with this many channels."""
    return _run(_appointment_ms, channels)


def tower_idle_poll_ms(channels: int = CHANNELS) -> float:
    """CPU milliseconds of a poll with this many channels while there is no new block."""
    return _run(_idle_poll_ms, channels)


def tower_block_poll_ms(channels: int = CHANNELS) -> float:
    """CPU milliseconds of a poll with this many idle channels after a new block; most of it is the follower's."""
    return _run(_block_poll_ms, channels)


def tower_lost(crowd: int = CROWD) -> float:
    """How many of `crowd` channels of one client are lost where all are challenged in one block."""

    async def lost(made: Served) -> float:
        node = made.playground.chain.node  # type: ignore[attr-defined]
        adjudicator = Adjudicator(made.playground.chain, made.playground.book.adjudicator)
        node.is_mining = False
        for nonce, each in enumerate(made.agreements, made.playground.chain.nonce_of(KEYS[1].address)):
            _challenge(adjudicator, each, nonce)
        node.mine()
        ends = node.next_time + _DURATION
        while node.next_time < ends and _recorded(adjudicator, made.agreements).count(4) < crowd:
            for _ in range(_POLLS_A_BLOCK):
                await made.worker.poll()
            node.next_time += _BLOCK_TIME - 1
            node.mine()
        print(f"the last answer after {node.next_time - ends + _DURATION} s of {_DURATION}", file=sys.stderr)
        return float(crowd - _recorded(adjudicator, made.agreements).count(4))

    return _run(lost, crowd)


def _challenge(adjudicator: Adjudicator, agreement: Agreement, nonce: int) -> None:
    """Bob challenges with a stale state; no block is made."""
    proof = build_support_proof(agreement.fixed_part, [_signed(agreement, 3)])
    if proof is None:
        raise SystemExit("a state that both have signed proves nothing")
    call, chain = adjudicator.call_of(adjudicator.challenge(agreement.fixed_part, proof)), adjudicator.chain
    chain.broadcast(chain.sign_as(call, KEYS[1], nonce, GAS, chain.fees()))


def _recorded(adjudicator: Adjudicator, agreements: Sequence[Agreement]) -> list[int]:
    """The turn that the adjudicator has recorded of each channel."""
    return [each.turn_num_record for each in adjudicator.statuses_of([each.channel_id for each in agreements])]


def tower_few_lost() -> float:
    """The same with sixteen channels."""
    return tower_lost(16)


if __name__ == "__main__":
    rows = (tower_appointment_ms, tower_idle_poll_ms, tower_block_poll_ms, tower_few_lost, tower_lost)
    chosen = [row for row in rows if row.__name__ in sys.argv[1:]] or rows
    for row in chosen:
        print(f"{row.__name__:24} {row():8.2f}", flush=True)
