"""A process that starts, or stood still, between an endpoint that lies and answers at once, and an honest one that
takes two seconds: who answers first decides nothing alone. Row 54 of the list of attacks, and holes 39, 40 and 49."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from forcemove import ETHER, Chain, ConcludeWanted, ManagedChannel, PassingError, moves_of
from forcemove.chain.asking import Steps
from forcemove.chain.errors import Unreachable
from forcemove.chain.worker import EndpointWorker, Look, wait_for
from forcemove.follower.errors import EndpointLeftOut
from forcemove.node import assemble, events
from forcemove.protocol.errors import EndpointsDiffer
from forcemove.protocol.rules import build_support_proof
from forcemove.workers.polling import poll_once
from forcemove_games.tic_tac_toe import GAME
from tests.node.test_node import House
from tests.sampled import sampled
from tests.scenarios.story import BOB, DEPOSIT, DURATION, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode

TURN = 0.1
AT_ONCE, SLOW = 0.1, 2.0
"""Seconds for a look: of who lies, and of who is honest."""
MID_GAME = 7
"""The newest turn: the next move is Alice's."""
STOPS = (5, 40, 400)
SKEWS = (0, -7_200, 7_200)
"""Seconds by which the system's clock is set ahead at the stop or the start."""


class _Held(EndpointWorker):
    """Asks what it is given when it is let go, and everything from then on at once."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        self._held: list[tuple[Future[Any], Callable[[], Future[Any]]]] | None = []

    def begin(self, steps: Steps[Any], *options: Any) -> Future[Any]:
        if self._held is None:
            return super().begin(steps, *options)
        self._held.append((Future(), partial(super().begin, steps, *options)))
        return self._held[-1][0]

    def let_go(self) -> None:
        """Ask."""
        for future, ask in self._held or ():
            asked = ask()
            if (error := asked.exception()) is None:
                future.set_result(asked.result())
            else:
                future.set_exception(error)
        self._held = None


class Machine:
    """Alice's process: its loop turns each tenth of a second, by a clock that the test moves, and looks again as soon
    as a look has ended. `takes`: the seconds of a look, for each endpoint. `skew`: of her system's clock, seconds."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *takes: float) -> None:
        """Alice and Bob are to play, and then Alice's process is to `start`, without Bob's."""
        playground = Playground.on(MemoryChain())
        assert isinstance(playground.chain, MemoryChain)
        self.chain, self.takes, self.skew = playground.chain, takes, 0
        self.endpoints = [Endpoint(self.chain.node, str(number)) for number in range(len(takes))]
        monkeypatch.setattr("forcemove.node.workers.own_clock", lambda _: lambda: self.node.next_time + self.skew)
        self.home = home = House(playground, folder, 1)
        home.stops_at = MID_GAME
        self.adjudicator = home.assemblies[0].adjudicator
        self.alice, self._began = home.processes[0], 0.0
        self._looks: dict[int, tuple[Look[None], _Held, float]] = {}

    @property
    def node(self) -> MemoryNode:
        return self.chain.node

    @property
    def channel(self) -> ManagedChannel:
        (managed,) = self.alice.node.channels.values()
        return managed

    @property
    def signed(self) -> list[tuple[int, bool]]:
        """What Alice has signed and sent since her last start: turns, and whether they were final."""
        sent = [event.signed for event in self.alice.events if isinstance(event, events.Sent)]
        return [(each.state.turn_num, each.state.is_final) for each in sent if 0 in each.signatures]

    def challenge(self, first: int = -2) -> None:
        """By Bob, with two states of those that Alice has, the newest unless another is the first."""
        channel = self.channel.channel
        fixed_part = channel.agreement.fixed_part
        proof = build_support_proof(fixed_part, channel.signed_states[first:][:2])
        assert proof is not None
        self.adjudicator.send(self.adjudicator.challenge(fixed_part, proof), BOB)

    @property
    def is_answered(self) -> bool:
        status = self.adjudicator.status_of(self.channel.id, ETHER)
        return status.finalizes_at == 0 and status.turn_num_record >= MID_GAME

    @property
    def held(self) -> int:
        return self.adjudicator.holdings_of(self.channel.id, ETHER, 0).amount

    def start(self) -> None:
        """Alice's process, again, with all endpoints."""
        assembly = self.home.assemblies[0]
        first, *others = map(MemoryChain, self.endpoints)
        self.home.assemblies[0] = assemble.reassemble(
            first,
            assembly.agreement,
            GAME,
            from_block=assembly.from_block,
            origin_hash=assembly.origin_hash,
            others=others,
        )
        self.alice.die()
        self.alice.told.clear()
        self.alice.troubles.clear()
        self._looks.clear()
        self._began = self.alice.now

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self.alice.now - self._began

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / TURN)):
            self.alice.now += TURN
            self.node.next_time += int(self.seconds) - int(self.seconds - TURN)
            self._turn()

    def stop(self, seconds: int) -> None:
        """The process stands still, and the world does not. What it had asked is answered as late as if it were asked
        when it goes on."""
        self.alice.now += seconds
        self.node.next_time += seconds
        self._looks = {
            each: (look, held, self.alice.now + self.takes[each]) for each, (look, held, _) in self._looks.items()
        }

    def _turn(self) -> None:
        for worker in self.alice.node._workers.chains.values():
            for index, viewer in enumerate(worker.viewers):
                if index not in self._looks:
                    chain, look = viewer.adjudicator.chain, viewer.look()
                    chain.worker = held = _Held(chain)
                    next(look)
                    chain.worker = EndpointWorker(chain)  # for who sends
                    self._looks[index] = look, held, self.alice.now + self.takes[index]
                look, held, ends = self._looks[index]
                if self.alice.now >= ends:
                    held.let_go()
                    with suppress(PassingError):
                        wait_for(look)
                    del self._looks[index]
        for account in self.alice.node._workers.accounts.values():
            if not account.is_idle:
                poll_once(account, self.alice.troubles.append)
        self.alice.node.step()

    def close(self) -> None:
        self.home.close()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Machine]:
    made = Machine(tmp_path, monkeypatch, *request.param)
    yield made
    made.close()


def down(method: str, *_: Any) -> Any:
    raise Unreachable("memory", "down")


def between(liar: int) -> tuple[float, float]:
    return (AT_ONCE, SLOW) if liar == 0 else (SLOW, AT_ONCE)


def in_time(machine: Machine, liar: int, seconds: int) -> None:
    """The liar's time is so far ahead, from now on."""
    honest = machine.node.ask

    def answer(method: str, *params: Any) -> Any:
        found = honest(method, *params)
        is_head = method == "eth_getBlockByNumber" and params[0] in ("latest", "pending")
        return {**found, "timestamp": found["timestamp"] + seconds} if is_head else found

    machine.endpoints[liar].answer = answer


ALMOST_OVER = DURATION - 300
LIARS = [(between(liar), liar) for liar in (0, 1)]


@pytest.mark.parametrize(("stopped", "skew"), sampled(list(product(STOPS, SKEWS)), 4))
@pytest.mark.parametrize(("machine", "liar"), LIARS, indirect=["machine"])
def test_threat_54_after_a_standstill_who_answers_first_ends_no_game(
    machine: Machine, liar: int, stopped: int, skew: int
) -> None:
    """Hole 39. Alice thinks about a move that she is challenged for; the liar says that her time is almost over."""
    machine.home.play()
    machine.challenge()
    machine.start()
    in_time(machine, liar, ALMOST_OVER)
    machine.run(10)
    assert not machine.channel.channel.is_denied
    machine.skew = skew
    machine.stop(stopped)
    machine.run(40)
    assert machine.signed == []
    assert not machine.channel.channel.is_denied
    assert not any(isinstance(each, EndpointLeftOut) for each in machine.alice.troubles)


@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize(("machine", "liar"), LIARS, indirect=["machine"])
def test_threat_54_after_a_start_who_answers_first_ends_no_game(machine: Machine, liar: int, skew: int) -> None:
    """Hole 40: the record of the challenge is in the journal."""
    machine.home.play()
    machine.challenge()
    machine.home.play()
    in_time(machine, liar, ALMOST_OVER)
    for _ in range(3):
        machine.start()
        machine.skew = skew
        machine.run(1)
        assert machine.channel.time() == 0
        machine.run(9)
        assert machine.channel.time() > 0
    assert machine.signed == []


@pytest.mark.parametrize(("stopped", "forks"), sampled(list(product([0, *STOPS], [False, True])), 3))
@pytest.mark.parametrize(("machine", "honest"), [(between(1 - each), each) for each in (0, 1)], indirect=["machine"])
def test_threat_54_after_a_standstill_nothing_is_signed_on_a_deposit_that_the_first_one_invents(
    machine: Machine, honest: int, stopped: int, forks: bool
) -> None:
    """Hole 39, and after a start: what Bob pays in here is on no chain that the honest one knows."""
    alice, bob = machine.home.processes
    while not machine.held:
        bob.node.poll()
        alice.node.poll()
    machine.start()
    machine.run(stopped and 10)
    machine.endpoints[honest].stay_at(machine.node.latest.number, forks=forks)
    while machine.held < 2 * DEPOSIT:
        bob.node.poll()
    machine.stop(stopped)
    machine.run(60)
    assert machine.signed == []
    machine.endpoints[honest].be_honest()
    machine.run(5)
    assert machine.signed == [(2, False)]


# ------------------------------------------------------------------------------------------- what is not held up


@pytest.mark.parametrize("machine", [(AT_ONCE,)], indirect=True)
def test_with_one_endpoint_its_first_answer_is_enough(machine: Machine) -> None:
    machine.start()
    machine.run(2 * TURN)
    assert machine.signed == [(0, False)]


@pytest.mark.parametrize("dead", [0, 1])
@pytest.mark.parametrize("machine", [(AT_ONCE, AT_ONCE)], indirect=True)
def test_threat_46_one_that_is_dead_from_the_start_is_waited_for_half_a_minute_and_told(
    machine: Machine, dead: int
) -> None:
    machine.start()
    machine.endpoints[dead].answer = down
    machine.run(29)
    assert (machine.signed, machine.channel.time()) == ([], 0)
    machine.run(2)
    assert machine.signed == [(0, False)]
    assert [each.endpoint for each in machine.alice.troubles if isinstance(each, EndpointLeftOut)] == [str(dead)]


@pytest.mark.parametrize("stopped", [0, *STOPS])
@pytest.mark.parametrize(("machine", "dead"), [((SLOW, AT_ONCE), 1), ((AT_ONCE, SLOW), 0)], indirect=["machine"])
def test_threat_54_a_clock_that_one_shows_is_answered_before_the_first_comparison(
    machine: Machine, dead: int, stopped: int
) -> None:
    """With the states that we hold. The other one answers nothing."""
    machine.home.play()
    machine.start()
    machine.run(stopped and 10)
    machine.endpoints[dead].answer = down
    machine.challenge(0)
    machine.stop(stopped)
    machine.run(4)
    assert machine.is_answered
    assert machine.channel.channel.is_denied or stopped == 5
    assert machine.signed == []


# --------------------------------------------------------------------------------------- what our player may do then


@pytest.mark.parametrize("stopped", [0, 40])
@pytest.mark.parametrize("machine", [(AT_ONCE, SLOW)], indirect=True)
def test_threat_54_nobody_moves_or_leaves_before_all_have_answered(machine: Machine, stopped: int) -> None:
    """Who wants to leave leaves when they have."""
    machine.home.play()
    machine.start()
    machine.run(stopped and 10)
    machine.stop(stopped)
    machine.run(TURN)
    channel = machine.channel.channel
    assert channel.newest is not None
    move = moves_of(GAME.bot(0))(channel.question(channel.newest.state))
    with pytest.raises(EndpointsDiffer):
        machine.channel.feed(move)
    machine.channel.feed(ConcludeWanted())
    machine.run(3 if stopped else 1)  # what was asked before a standstill does not count
    assert machine.signed == []
    machine.run(2)
    assert machine.signed == [(MID_GAME + 1, True)]


@pytest.mark.parametrize("stopped", [0, 40])
@pytest.mark.parametrize("machine", [(AT_ONCE, SLOW)], indirect=True)
def test_threat_54_nobody_agrees_to_an_end_before_all_have_answered(machine: Machine, stopped: int) -> None:
    machine.home.stops_at = MID_GAME + 1
    machine.home.play()
    bob = machine.home.processes[1]
    machine.start()
    machine.run(stopped and 10)
    machine.stop(stopped)
    (bobs,) = bob.node.channels.values()
    bobs.feed(ConcludeWanted())
    bob.node.step()
    machine.run(3 if stopped else 1)
    assert machine.signed == []
    machine.run(2)
    assert machine.signed == [(MID_GAME + 2, True)]


@pytest.mark.parametrize("machine", [(AT_ONCE, SLOW)], indirect=True)
def test_threat_54_who_wants_to_leave_leaves_also_where_one_is_late_for_ever(machine: Machine) -> None:
    alice, bob = machine.home.processes
    while not machine.held:
        bob.node.poll()
        alice.node.poll()
    machine.endpoints[1].stay_at(machine.node.latest.number)
    machine.home.play()
    machine.start()
    machine.channel.feed(ConcludeWanted())
    machine.run(1)
    assert machine.signed == []
    machine.run(4)
    assert machine.signed == [(MID_GAME + 1, True)]


def test_a_standstill_is_no_reason_to_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a commit that takes long would be the reason for the next one."""
    machine, commits = Machine(tmp_path, monkeypatch, AT_ONCE, SLOW), list[object]()
    is_denied = list[bool]()
    machine.home.play()
    machine.start()
    machine.run(10)
    monkeypatch.setattr(machine.alice.journal, "commit", commits.append)
    machine.stop(40)
    for seconds in (1, 9):
        machine.run(seconds)
        is_denied.append(machine.channel.channel.is_denied)
    assert (is_denied, commits) == ([True, False], [])
    machine.close()
