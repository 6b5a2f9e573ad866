"""A tower's process on a journal and a real chain, which kills itself at a point between two steps."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from forcemove import Adjudicator, Tower, TowerSettings, connect, open_journal
from forcemove.watchtower.appointment import RECEIPTS
from forcemove_games.tic_tac_toe import GAME
from tests.forked import CONTEXT
from tests.node.actors import _Points
from tests.watchtower.keeper import ETHER, TOWER

__all__ = ["LEASE", "Job", "guard", "start"]

LEASE = 0.3


@dataclass(frozen=True)
class Job:
    """What a process is to do: take these appointments, and answer until no clock runs and the record is at `turn_num`
    at least.
    `die_at`: the number of the point at which it kills itself, None where it lives on."""

    url: str
    adjudicator: bytes
    app: bytes
    channel_id: bytes
    client: bytes
    given: tuple[bytes, ...]
    turn_num: int
    journal: str
    die_at: int | None = None


def start(job: Job) -> tuple[Any, Connection]:
    """The process, and where it says: receipts, one after the other; at last how many points it has passed and what is
    left of the budget."""
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=guard, args=(job, there), daemon=True)
    process.start()
    return process, here


def guard(job: Job, said: Connection) -> None:
    """Until the challenge is answered, or this process is killed."""
    points = _Points(job.die_at)
    chain = connect(job.url)
    journal = open_journal(job.journal, owner=secrets.token_bytes(16))
    points.around(journal.towers, "keep")
    points.around(journal.towers, "charge")
    points.around(journal.transactions, "commit")
    points.around(chain.rpc, "request", "eth_sendRawTransaction")
    adjudicator = Adjudicator(chain, job.adjudicator)
    settings = TowerSettings(confirmations=1, lease=LEASE)
    tower = Tower(journal, TOWER, [adjudicator], {job.client: ETHER}, apps={job.app: GAME}, settings=settings)
    while not tower.poll() and not tower.is_driving:
        time.sleep(0.02)
    for data in job.given:
        said.send(RECEIPTS.encode(tower.accept(data)))
    while not _is_answered(adjudicator, job) or journal.transactions.in_flight(tower._name):
        tower.poll()
        time.sleep(0.02)
    said.send((points.passed, tower.left(job.client)))


def _is_answered(adjudicator: Adjudicator, job: Job) -> bool:
    status = adjudicator.status_of(job.channel_id, bytes(20))
    return status.turn_num_record >= job.turn_num and not status.finalizes_at
