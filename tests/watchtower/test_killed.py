"""`kill -9` at every point between two of a tower's persisted steps, on a real chain, with a second crash soon after: a
receipt that was given holds, the challenge is answered by one transaction, and that is charged once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from forcemove.chain.local import AnvilChain
from forcemove.store.opening import open_journal
from forcemove.store.records import Account
from forcemove.watchtower.acceptance import STORED_APPOINTMENTS
from forcemove.watchtower.appointment import RECEIPTS, AppointmentReceipt, content_hash, decode, sign_appointment
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, Playground, Story
from tests.store.server import Server
from tests.watchtower.actors import Job, start
from tests.watchtower.keeper import ETHER, TOWER, newest, stale

MOST_POINTS = 16
"""More than a tower passes here."""
PATIENCE = 60


@pytest.fixture(scope="module")
def playground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


class Match:
    """A challenge, and a tower's process that is started again whenever it has died."""

    def __init__(self, playground: Playground, journal: str) -> None:
        self.story: Story = playground.story(GAME)
        self.story.play_until(6)
        later = newest(self.story)
        earlier = structs.replace(later, supported=self.story.alice.states[:2])
        given = (sign_appointment(each, TOWER.address, ALICE) for each in (earlier, later))
        agreement = self.story.agreement
        self.job = Job(
            self.story.chain.endpoint,
            agreement.domain.adjudicator,
            agreement.fixed_part.app_definition,
            agreement.channel_id,
            ALICE.address,
            tuple(given),
            5,
            journal,
        )
        self.before = self._balance, self._sent
        self.receipts: list[AppointmentReceipt] = []
        self.story.challenge(1, *stale(self.story))

    @property
    def _balance(self) -> int:
        return self.story.chain.balance(TOWER.address)

    @property
    def _sent(self) -> int:
        return self.story.chain.nonce_of(TOWER.address)

    def guard(self, *deaths: int) -> int:
        """The process dies at these points, one after the other, and lives then. Returns how many the last one has
        passed."""
        for die_at in deaths:
            self._run(die_at, self.job.given)
            self._require_promises_kept()
        return self._run(None, self._not_taken())

    def _run(self, die_at: int | None, given: Sequence[bytes]) -> int:
        process, said = start(replace(self.job, die_at=die_at, given=tuple(given)))
        passed = 0
        try:
            while not passed:
                assert said.poll(PATIENCE), "it neither answers nor dies"
                passed = self._hear(said.recv())
        except EOFError:
            pass
        process.kill()
        process.join()
        return passed

    def _hear(self, word: object) -> int:
        """A receipt, or the last word."""
        if isinstance(word, bytes):
            self.receipts.append(RECEIPTS.decode(word))
            return 0
        assert isinstance(word, tuple)
        passed, self.left = word
        return int(passed)

    def _not_taken(self) -> list[bytes]:
        """What the client gives again: that which it has no receipt for."""
        taken = {each.accepted for each in self.receipts}
        return [each for each in self.job.given if content_hash(decode(each).content) not in taken]

    def _require_promises_kept(self) -> None:
        """What there is a receipt for is in the journal, or something better is."""
        name = Account(self.story.chain.chain_id, TOWER.address)
        with open_journal(self.job.journal, owner=bytes(16)) as journal:
            rows = [each for each in journal.towers.appointments(name) if each.channel_id == self.job.channel_id]
        kept = [content_hash(STORED_APPOINTMENTS.decode(row.body).signed.content) for row in rows]
        order = [content_hash(decode(each).content) for each in self.job.given]
        for receipt in self.receipts:
            assert kept
            assert order.index(kept[0]) >= order.index(receipt.accepted)

    def require_right(self) -> None:
        """Answered by one transaction, which was charged once. A tower that came back before it was given the newest
        state has answered with the one that it had."""
        balance, sent = self.before
        assert self.story.record in ((5, False), (6, False))
        assert self._sent == sent + 1
        assert 0 < balance - self._balance == ETHER - self.left


def points(every: Sequence[int]) -> list[object]:
    """Some in the normal run, and all of them under --long."""
    return [point if point in every else pytest.param(point, marks=pytest.mark.long) for point in range(MOST_POINTS)]


def test_the_points_are_all_tried(playground: Playground, tmp_path: Path) -> None:
    match = Match(playground, str(tmp_path / "tower"))
    passed = match.guard()
    match.require_right()
    assert 8 < passed <= MOST_POINTS


@pytest.mark.parametrize("point", points((5, 9)))
def test_threat_22_a_tower_killed_at_any_point_answers_once(playground: Playground, tmp_path: Path, point: int) -> None:
    match = Match(playground, str(tmp_path / "tower"))
    match.guard(point, 3)
    match.require_right()


@pytest.mark.parametrize("point", points((6,)))
def test_threat_22_a_tower_killed_at_any_point_answers_once_on_postgresql(
    playground: Playground, server: Server, point: int
) -> None:
    match = Match(playground, server.schema())
    match.guard(point, 3)
    match.require_right()
