"""`kill -9` at every point between two persisted steps, on a real chain, with a second crash soon after: the balances
are right, no turn has two signatures, no transaction is forgotten or sent twice."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import pytest

from forcemove import ChannelSetup, ChooseMove, ManagedChannel, Node, Phase, SignedState, assemble, open_journal
from forcemove.chain.local import AnvilChain
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen, StateReceived
from forcemove.protocol.rules import build_support_proof
from forcemove_games.tic_tac_toe import GAME
from tests.node.actors import LEASE, SILENCE, Job, ListeningLine, choose, start
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.store.server import Server

MOST_POINTS = 90
"""More than a player passes in these games."""
SAMPLE = (23,)
PATIENCE = 60.0


@pytest.fixture(scope="module")
def playground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


class Match:
    """Our node against another process, which is started again whenever it has died."""

    def __init__(self, playground: Playground, folder: Path, seat: int) -> None:
        self.chain, self.seat = playground.chain, seat
        addresses = [key.address for key in KEYS]
        self.assembly = assemble(
            self.chain, playground.book, GAME, addresses, stake=STAKE, deposit=DEPOSIT, duration=DURATION
        )
        agreement = self.assembly.agreement
        self.line = ListeningLine(str(folder / "line"))
        where = str(folder / "theirs"), str(folder / "line")
        self.job = Job(self.chain.endpoint, agreement, self.assembly.from_block, seat, *where)
        self.journal = open_journal(str(folder / "ours"), owner=secrets.token_bytes(16))
        self.node = Node(self.journal)
        ours = 1 - seat
        self._choose = choose(ours)
        self._until: int | None = None
        self.managed: ManagedChannel = self.node.add(
            ChannelSetup(self.assembly, KEYS[ours], self.line, self._chosen, silence=SILENCE)
        )
        self.was_challenged = False

    def play(self, *deaths: int | None, stale: bool = False) -> int:
        """To the end; the process dies at these points, one after the other. Returns how many the last one passed."""
        passed = 0
        for die_at in (*deaths, None):
            process, said = start(replace(self.job, die_at=die_at))
            deadline = time.monotonic() + PATIENCE
            while process.is_alive() and not said.poll():
                assert time.monotonic() < deadline, f"it stays {self.managed.phase}: {self.managed.error}"
                self.node.poll()
                if stale:
                    self._challenge_with_the_opening()
                time.sleep(0.02)
            process.join()
            passed = _received(said)
        while self.node.poll() or self.node.is_sending:
            pass
        return passed

    def _chosen(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        if self._until is not None and question.state.turn_num >= self._until:
            return None
        return self._choose(question)

    def keep_playing(self, *, until: int | None) -> None:
        """We make no move after this turn; with None we go on. On a slow machine play may not even have begun."""
        self._until, newest = until, self.managed.channel.newest
        may_move = self.managed.phase in (Phase.PLAYING, Phase.CHALLENGED) and self.managed.channel.is_our_turn
        if until is None and newest is not None and may_move:
            self.managed.feed(self._choose(ChooseMove(newest.state, None)))

    def poll_for(self, seconds: float) -> None:
        """Meanwhile the others do what they do."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.node.poll()
            time.sleep(0.02)

    def _challenge_with_the_opening(self) -> None:
        """Once, in the middle of the game."""
        if self.was_challenged or self.managed.channel.next_turn < 6 or self.managed.phase is not Phase.PLAYING:
            return
        self.was_challenged = True
        agreement, adjudicator = self.assembly.agreement, self.assembly.adjudicator
        proof = build_support_proof(agreement.fixed_part, [self._signed(turn) for turn in (2, 3)])
        assert proof is not None
        adjudicator.send(adjudicator.challenge(agreement.fixed_part, proof), KEYS[1 - self.seat])

    def _signed(self, turn: int) -> SignedState:
        state = self.assembly.agreement.setup_state(turn)
        hashes = hash_state(self.assembly.agreement.channel_id, state)
        return SignedState(state, {turn % 2: KEYS[turn % 2].sign(digest(self.assembly.agreement.domain, hashes.state))})

    def require_right(self) -> None:
        """Closed and paid in full, and no turn signed twice by the one that was killed."""
        assert self.managed.phase is Phase.CLOSED
        holdings = self.assembly.adjudicator.holdings_of(self.assembly.agreement.channel_id, bytes(20), 0)
        assert (holdings.amount, holdings.closed) == (0, True)
        signed: dict[int, set[bytes]] = {}
        for message in self.line.heard:
            said = decode_message(message)[1]
            if isinstance(said, StateReceived) and self.seat in said.signed.signatures:
                turn = said.signed.state.turn_num
                signed.setdefault(turn, set()).add(said.signed.signatures[self.seat].compact)
        assert {len(each) for each in signed.values()} == {1}

    def close(self) -> None:
        self.line.close()
        self.journal.close()


def _received(said: Connection) -> int:
    """0 from one that was killed before it could say anything."""
    try:
        return int(said.recv())
    except EOFError:
        return 0


@pytest.fixture
def match(playground: Playground, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Match]:
    made = Match(playground, tmp_path, request.param)
    yield made
    made.close()


def points(every: int) -> list[object]:
    """Some in the normal run, and all of them under --long."""
    return [
        point if point in SAMPLE else pytest.param(point, marks=pytest.mark.long)
        for point in range(0, MOST_POINTS, every)
        if point in SAMPLE or every == 1
    ]


@pytest.mark.parametrize("match", [0, 1], indirect=True)
def test_the_points_are_all_tried(match: Match) -> None:
    passed = match.play()
    match.require_right()
    assert max(SAMPLE) < passed < MOST_POINTS


@pytest.mark.parametrize("match", [0, 1], indirect=True)
@pytest.mark.parametrize("point", points(1))
def test_threat_21_a_player_killed_at_any_point_of_an_honest_game_loses_nothing(match: Match, point: int) -> None:
    match.play(point, 3)
    match.require_right()


@pytest.mark.parametrize("match", [0, 1], indirect=True)
@pytest.mark.parametrize("point", points(1))
def test_threat_21_a_player_killed_at_any_point_of_a_dispute_answers_all_the_same(match: Match, point: int) -> None:
    match.play(point, 5, stale=True)
    match.require_right()


@pytest.mark.parametrize("match", [0, 1], indirect=True)
@pytest.mark.parametrize("point", [23, *(pytest.param(point, marks=pytest.mark.long) for point in range(0, 60, 4))])
def test_threat_21_a_player_killed_at_any_point_loses_nothing_on_postgresql(
    match: Match, server: Server, point: int
) -> None:
    match.job = replace(match.job, journal=server.schema())
    match.play(point, 5, stale=True)
    match.require_right()


# ----------------------------------------------------------------------------------------------- two on one journal


@pytest.mark.parametrize("match", [0, 1], indirect=True)
@pytest.mark.parametrize("rounds", [4, pytest.param(100, marks=pytest.mark.long)])
def test_threat_48_of_two_processes_on_one_journal_one_drives_the_channel(match: Match, rounds: int) -> None:
    """They are stopped and killed in turn, in the middle of whatever they do; a stopped one wakes after its lease. In
    the end a third one continues what they have left."""
    random = Random(rounds)
    match.keep_playing(until=6)
    pair = [start(match.job)[0] for _ in range(2)]
    for round_ in range(rounds):
        victim = pair[round_ % 2]
        match.poll_for(random.uniform(0.05, 0.2))
        if random.random() < 0.5:
            os.kill(victim.pid, signal.SIGSTOP)
            match.poll_for(2 * LEASE)
            os.kill(victim.pid, signal.SIGCONT)
        else:
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            pair[round_ % 2] = start(match.job)[0]
    for process in pair:
        process.kill()
        process.join()
    match.keep_playing(until=None)
    match.play()
    match.require_right()
