"""Two processes on one journal with the same account: one of them sends for both. Row 48 of the list of attacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forcemove import MemoryMessenger, Phase, assemble
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.worker import wait_for
from forcemove.node.events import Mined
from forcemove.sender.transactions import Confirmed
from forcemove.sender.tx_codec import decode_tx
from forcemove.store.records import Account
from forcemove.workers.errors import AccountInUse
from forcemove_games.tic_tac_toe import GAME
from tests.node.test_node import House, Process
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode


class Home(House):
    """Alice has two processes on one journal: the first plays channel 0 and has the account, the second channel 1.
    Bob's process plays both."""

    def __init__(self, folder: Path) -> None:
        chain = MemoryChain()
        self.node: MemoryNode = chain.node
        self.endpoint = Endpoint(self.node, "the second")
        playground = Playground.on(chain)
        super().__init__(playground, folder, 1)
        addresses = [key.address for key in KEYS]
        through = Playground(MemoryChain(self.endpoint), playground.book)
        terms = {"stake": STAKE, "deposit": DEPOSIT, "duration": DURATION}
        self.assemblies.append(assemble(through.chain, through.book, GAME, addresses, **terms))  # type: ignore[arg-type]
        self.lines.append(MemoryMessenger.table(2))
        self.first, self.bob = self.processes
        self.first.node.poll()
        self.bob.drive(1)
        self.second = Process(self, 0, self.first.path)
        self.second.start()
        self.second.drive(1)

    @property
    def account(self) -> Account:
        return Account(self.chain.chain_id, KEYS[0].address)

    def go_on(self, *processes: Process, rounds: int = 60) -> None:
        """Some seconds each, and a block."""
        for _ in range(rounds):
            for each in processes:
                each.node.poll()
            self.node.mine()
            for each in (self.first, self.second, self.bob):
                each.now += 1.5

    @property
    def sent_by_second(self) -> int:
        return self.endpoint.counts["eth_sendRawTransaction"]

    @property
    def is_over(self) -> bool:
        return self.second.phases == {Phase.CLOSED}

    @property
    def wishes(self) -> int:
        return len(self.second.journal.transactions.outbox(self.account))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.close()
    made.second.journal.close()


def test_threat_48_one_process_sends_for_all(home: Home) -> None:
    home.go_on(home.first, home.second, home.bob)
    assert home.first.phases == home.second.phases == home.bob.phases == {Phase.CLOSED}
    assert home.sent_by_second == 0
    assert home.wishes == 0
    assert home.first.troubles == home.second.troubles == []
    deposits = [each for each in home.bob.events if isinstance(each, Mined)]
    assert len(deposits) >= 2
    assert home.held() == 0


def test_what_waits_is_sent_by_whoever_has_the_account_next(home: Home) -> None:
    """The first process has stopped in good order."""
    home.go_on(home.second, home.bob, rounds=5)
    assert home.wishes == 1
    home.first.node.release()
    home.go_on(home.second, home.bob)
    assert home.is_over
    assert home.sent_by_second > 0
    assert home.wishes == 0


def test_what_waits_is_sent_after_the_first_process_has_died(home: Home) -> None:
    home.go_on(home.second, home.bob, rounds=5)
    assert home.wishes == 1
    home.first.journal.leases.close()
    home.first.now += 3_600
    home.second.now += 3_600
    home.go_on(home.second, home.bob)
    assert home.is_over
    assert home.wishes == 0


def test_threat_21_a_process_that_starts_again_asks_once(home: Home) -> None:
    home.go_on(home.second, home.bob, rounds=5)
    for _ in range(3):
        home.second.node.release()
        home.second.journal.close()
        home.second.start()
        home.second.drive(1)
        home.go_on(home.second, home.bob, rounds=3)
        assert home.wishes == 1
    home.go_on(home.first, home.second, home.bob)
    assert home.is_over
    assert home.held() == 0


def test_what_another_wants_becomes_a_transaction_in_one_commit(home: Home) -> None:
    """Or a crash would leave both, and it would be sent twice."""
    home.go_on(home.second, home.bob, rounds=5)
    assert (home.wishes, len(home.first.journal.transactions.in_flight(home.account))) == (1, 0)
    home.node.is_mining = False
    home.first.node.release()
    home.second.now += 2
    home.second.node.poll()
    assert (home.wishes, len(home.first.journal.transactions.in_flight(home.account))) == (0, 1)


def be_poor(home: Home, refused: str) -> list[bool]:
    """Until the list is empty the account cannot pay: these requests are refused."""
    ask, is_poor = home.node.ask, [True]

    def asked(method: str, *params: object) -> object:
        if method == refused and is_poor and (method != "eth_call" or params[1] == "pending"):
            raise EndpointFailed(method, "insufficient funds for gas * price + value")
        return ask(method, *params)

    home.node.ask = asked  # type: ignore[method-assign]
    return is_poor


def test_what_is_refused_waits_no_more(home: Home) -> None:
    be_poor(home, "eth_call")
    home.go_on(home.second, home.bob, rounds=5)
    assert home.wishes == 1
    home.go_on(home.first, rounds=3)
    assert home.wishes == 0


def test_what_is_not_wanted_any_more_waits_no_more(home: Home) -> None:
    """The process that had the account has stopped, and the channel does not want what was asked of it."""
    home.go_on(home.second, home.bob, rounds=5)
    (worker,) = home.second.node._workers.accounts.values()
    (id_,) = home.second.node.channels
    assert (home.wishes, worker.is_sending) == (1, True)
    worker.withdraw(id_, ())
    home.first.node.release()
    home.node.is_mining = False
    home.second.now += 2
    home.second.node.poll()
    assert (home.wishes, worker.is_sending, home.node.waiting) == (0, False, [])


def test_what_is_wanted_again_is_sent(home: Home) -> None:
    """A reorganisation brings back what a channel wants before this process has the account: the newest word counts."""
    home.go_on(home.second, home.bob, rounds=5)
    (worker,) = home.second.node._workers.accounts.values()
    (id_,) = home.second.node.channels
    ((_, request),) = worker._outbox.waiting().values()
    worker.withdraw(id_, ())
    home.second.node.poll()
    worker.submit(request)
    home.second.now += 2
    home.second.node.poll()
    home.first.node.release()
    home.go_on(home.second, home.bob)
    assert home.is_over


@pytest.mark.parametrize("is_on_its_way", [False, True])
def test_who_sends_for_another_learns_that_a_request_has_become_an_answer(home: Home, *, is_on_its_way: bool) -> None:
    """Such as a conclusion that nobody hurried with, when an older state is challenged. Also after a restart."""
    home.node.is_mining = False
    home.go_on(home.second, home.bob, rounds=5)
    (worker,) = home.second.node._workers.accounts.values()
    ((_, request),) = worker._outbox.waiting().values()
    if is_on_its_way:
        home.first.node.poll()
    worker.submit(replace(request, deadline=4_102_444_800, max_cost=2 * request.max_cost))
    for each in (home.second, home.first, home.first):
        each.now += 2
        each.node.poll()
    stored = (decode_tx(each.body).request for each in home.first.journal.transactions.in_flight(home.account))
    (sent,) = (asked for each in stored for asked in each.asked if asked.request_id == request.request_id)
    assert (sent.deadline, sent.max_cost, home.wishes) == (4_102_444_800, 2 * request.max_cost, 0)
    home.node.is_mining = True
    home.go_on(home.first, home.second, home.bob)
    assert home.is_over
    assert home.wishes == 0


@pytest.mark.parametrize("refused", ["eth_sendRawTransaction", "eth_call"])
def test_what_is_refused_is_asked_again_and_sent_when_it_can_be(home: Home, refused: str) -> None:
    is_poor = be_poor(home, refused)
    home.go_on(home.first, home.second, home.bob, rounds=12)
    is_poor.clear()
    home.go_on(home.first, home.second, home.bob)
    assert home.is_over
    assert home.sent_by_second == 0


def test_it_is_told_that_nobody_takes_what_waits(home: Home) -> None:
    home.go_on(home.second, home.bob, rounds=5)
    assert home.second.troubles == []
    home.go_on(home.second, home.bob, rounds=15)
    assert {type(each) for each in home.second.troubles} == {AccountInUse}
    home.go_on(home.first, home.second, home.bob)
    assert home.is_over


def test_threat_48_who_loses_the_account_sends_nothing_more_and_asks(home: Home) -> None:
    """It was away for longer than its lease, and its channels are its own still."""
    home.first.now += 3_600
    home.second.now += 3_600
    home.go_on(home.second, rounds=2)
    worker = next(iter(home.second.node._workers.accounts.values()))
    assert worker.is_ours
    home.go_on(home.first, home.second, home.bob)
    assert home.first.phases == home.second.phases == {Phase.CLOSED}
    assert not next(iter(home.first.node._workers.accounts.values())).is_ours


def test_threat_48_what_was_still_to_be_sent_is_asked_of_who_has_the_account_now(home: Home) -> None:
    """The first process has not heard what gas costs before it was away for longer than its lease."""
    ask, is_down = home.node.ask, [True]

    def asked(method: str, *params: object) -> object:
        if method in ("eth_estimateGas", "eth_call") and params[1] == "pending" and is_down:
            raise Unreachable("http://node", "it has not answered")
        return ask(method, *params)

    home.node.ask = asked  # type: ignore[method-assign]
    home.go_on(home.first, home.bob, rounds=5)
    (worker,) = home.first.node._workers.accounts.values()
    assert (worker.is_sending, home.wishes, home.held()) == (True, 0, 0)
    home.first.now += 3_600
    home.second.now += 3_600
    home.go_on(home.second, rounds=2)
    is_down.clear()
    home.first.troubles.clear()
    home.go_on(home.first, home.second, home.bob)
    assert not worker.is_ours
    assert home.first.troubles == []  # an error that does not pass would end its games
    assert home.first.phases == home.second.phases == {Phase.CLOSED}


def test_threat_48_what_another_process_has_given_up_is_asked_again_by_who_has_the_account_then(home: Home) -> None:
    """The first process has refused it and stopped, before the second one has looked again."""
    is_poor = be_poor(home, "eth_sendRawTransaction")
    home.go_on(home.second, home.bob, rounds=5)
    home.go_on(home.first, rounds=3)
    assert home.wishes == 0
    home.first.node.release()
    is_poor.clear()
    home.go_on(home.second, home.bob)
    assert home.is_over


def test_a_transaction_is_sent_for_until_its_outcome_is_taken(home: Home) -> None:
    """Or its channel is left before it was said what became of it."""
    (worker,) = home.first.node._workers.accounts.values()
    (id_,) = home.first.node.channels
    for _ in range(10):
        if not worker.is_sending_for(id_):
            home.go_on(home.first, home.bob, rounds=1)
    wait_for(worker.look())  # sends it
    home.first.now += 1.5
    wait_for(worker.look())  # finds it mined
    assert worker.is_sending_for(id_)
    assert [type(each) for each in worker.take_outcomes()] == [Confirmed]
    assert not worker.is_sending_for(id_)
