"""The cost of a watchtower: an appointment and an idle poll with 10,000 channels, in CPU time of the process; and how
many channels of one client are lost that are challenged in one block, with the default budget.

Towers run on SQLite files, and on the tests' node in memory. Appointments come through `ServiceWorker`, as those of the
network do. Clients have states that both players have signed, so that no app's rules are needed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from tempfile import TemporaryDirectory

from forcemove import Adjudicator, Agreement, SignedState, Tower, TowerSettings, VariablePart, assemble
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.rules import build_support_proof
from forcemove.watchtower.appointment import Appointment, sign_appointment
from forcemove.watchtower.errors import BudgetExhausted
from forcemove.watchtower.service.worker import ServiceWorker
from forcemove_games.rock_paper_scissors import GAME
from scripts.measuring.cases import Measured, Row, case
from scripts.measuring.processes import journal_at
from tests.scenarios.story import KEYS, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.state import GAS
from tests.watchtower.keeper import TOWER

_CHANNELS = 10_000
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
    """A tower's worker and its chain. `agreements`: of its client's channels."""

    worker: ServiceWorker
    playground: Playground
    agreements: list[Agreement] = field(default_factory=list)

    def add(self, count: int) -> list[bytes]:
        """This many channels more, and their appointments."""
        chain, book, players = self.playground.chain, self.playground.book, [key.address for key in KEYS]
        for nonce in range(len(self.agreements), len(self.agreements) + count):
            made = assemble(chain, book, GAME, players, stake=1, deposit=1, duration=_DURATION, nonce=nonce)
            self.agreements.append(made.agreement)
        return [_appointment(each, 4) for each in self.agreements[-count:]]

    async def give(self, bodies: Sequence[bytes]) -> None:
        """Give the tower appointments, as many at a time as one address may."""
        left = iter(bodies)
        while group := list(islice(left, _TOGETHER)):
            await asyncio.gather(*map(self.worker.accept, group))


def _fail(error: Exception) -> None:
    """A budget that is reserved for now is not a failure: what waits is answered when the first answers are mined."""
    if not isinstance(error, BudgetExhausted):
        raise SystemExit(f"the tower has failed: {error!r}")


@asynccontextmanager
async def served(channels: int) -> AsyncIterator[Served]:
    """A tower that has read the chain, and has this many channels."""
    playground, client = Playground.on(MemoryChain()), KEYS[0].address
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator)
    with TemporaryDirectory() as folder, journal_at(folder, "tower") as journal:
        settings = TowerSettings(confirmations=1, max_channels=2 * _CHANNELS)
        tower = Tower(journal, TOWER, [adjudicator], {client: _DEFAULT_BUDGET}, settings=settings, on_error=_fail)
        tower.poll()
        worker = ServiceWorker(tower, (client,), look_every=3_600, max_waiting=_TOGETHER, on_error=_fail)
        running, made = asyncio.create_task(worker.run()), Served(worker, playground)
        await made.give(made.add(channels))
        yield made
        worker.stop()
        await running


@case(
    Row("tower_appointment_ms", "ms", "CPU time: an appointment for a tower with 10,000 channels", 0.5),
    Row("tower_idle_poll_ms", "ms", "CPU time: a poll of a tower with 10,000 idle channels, without a new block", 1),
)
def tower(channels: int = _CHANNELS) -> Measured:
    """A watchtower with many channels: appointments, of which every second one is for a new channel, and polls."""

    async def measured() -> Measured:
        async with served(channels) as made:
            return {
                "tower_idle_poll_ms": await _poll_ms(made, lambda: None),
                "tower_block_poll_ms": await _poll_ms(made, made.playground.chain.node.mine),  # type: ignore[attr-defined]
                "tower_appointment_ms": await _appointment_ms(made),
            }

    return asyncio.run(measured())


async def _appointment_ms(made: Served) -> float:
    new = made.add(_TIMED // 2)
    newer = [_appointment(each, 5) for each in made.agreements[: _TIMED // 2]]
    bodies = [each for pair in zip(new, newer, strict=True) for each in pair]
    begun = time.process_time()
    await made.give(bodies)
    return (time.process_time() - begun) * 1e3 / len(bodies)


async def _poll_ms(made: Served, happens: Callable[[], object]) -> float:
    """The median of the polls. `happens`: before each."""
    costs = list[float]()
    await made.worker.poll()
    for _ in range(_POLLS):
        happens()
        begun = time.process_time()
        await made.worker.poll()
        costs.append(time.process_time() - begun)
    return median(costs) * 1e3


@case(Row("tower_lost", "", "how many of the channels are lost", 0))
def crowd(channels: int = 1_000) -> Measured:
    """Channels of one client that are all challenged in one block, with the default budget."""

    async def answered() -> Measured:
        async with served(channels) as made:
            return await _answered(made)

    return asyncio.run(answered())


async def _answered(made: Served) -> Measured:
    node = made.playground.chain.node  # type: ignore[attr-defined]
    adjudicator = Adjudicator(made.playground.chain, made.playground.book.adjudicator)
    node.is_mining = False
    for nonce, each in enumerate(made.agreements, made.playground.chain.nonce_of(KEYS[1].address)):
        _challenge(adjudicator, each, nonce)
    node.mine()
    ends = node.next_time + _DURATION
    while node.next_time < ends and _lost(adjudicator, made.agreements):
        for _ in range(_POLLS_A_BLOCK):
            await made.worker.poll()
        node.next_time += _BLOCK_TIME - 1
        node.mine()
    lost = _lost(adjudicator, made.agreements)
    return {"tower_lost": lost, "tower_last_answer_s": node.next_time - ends + _DURATION}


def _challenge(adjudicator: Adjudicator, agreement: Agreement, nonce: int) -> None:
    """Bob challenges with a stale state; no block is made."""
    proof = build_support_proof(agreement.fixed_part, [_signed(agreement, 3)])
    if proof is None:
        raise SystemExit("a state that both have signed proves nothing")
    call, chain = adjudicator.call_of(adjudicator.challenge(agreement.fixed_part, proof)), adjudicator.chain
    chain.broadcast(chain.sign_as(call, KEYS[1], nonce, GAS, chain.fees()))


def _lost(adjudicator: Adjudicator, agreements: Sequence[Agreement]) -> int:
    """How many channels have not the answer of the tower on record."""
    statuses = [adjudicator.status_of(each.channel_id, each.fixed_part.asset) for each in agreements]
    return sum(each.turn_num_record != 4 for each in statuses)
