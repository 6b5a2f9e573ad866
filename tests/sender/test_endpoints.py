"""An endpoint with a transaction pool of its own: it takes what it is sent, and no miner ever sees it. Rows 44 and 46
of the list of attacks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from forcemove.chain import errors, local, rpc
from forcemove.protocol.hashing import keccak256
from forcemove.sender.errors import StillToSend
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Confirmed, TxFailed, TxOutcome, TxRequest
from forcemove.text.explanations import headline
from tests.simulation.chain import MemoryChain
from tests.simulation.grounds import AnvilGround, Ground, MemoryGround
from tests.simulation.tx_store import MemoryTxStore

KEY, PAYEE = local.local_keys()[0], local.local_keys()[2]
ETHER = 10**18
PATIENCE = 60


class Pool:
    """An endpoint that keeps what it is sent. `shows`: whether it says that it has it; `refuses`: whether it finds that
    every call would fail."""

    def __init__(self, ground: Ground, *, shows: bool = False, refuses: bool = False) -> None:
        self._ground, self._shows, self._refuses = ground, shows, refuses
        self.kept: dict[str, str] = {}

    def answer(self, method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction":
            hash_ = "0x" + keccak256(bytes.fromhex(params[0][2:])).hex()
            self.kept[hash_] = params[0]
            return hash_
        if method == "eth_call" and self._refuses:
            raise rpc.Reverted(b"")
        if method == "eth_getTransactionByHash" and params[0] in self.kept:
            return {"hash": params[0]} if self._shows else None
        return self._ground.ask(method, *params)


class Desk:
    """A sender that asks the pool first."""

    def __init__(self, ground: Ground, **pool: bool) -> None:
        self.ground, self.pool, self.time = ground, Pool(ground, **pool), 0.0
        self.outcomes: list[TxOutcome] = []
        self.before = ground.chain.balance(PAYEE.address)
        first, second = ground.through(self.pool.answer), ground.through(ground.ask)
        self.sender = Sender(first, KEY, MemoryTxStore(), bump_after=PATIENCE, clock=lambda: self.time, others=[second])

    def want(self, deadline: int | None = None) -> None:
        self.sender.submit(TxRequest(b"a", PAYEE.address, b"", 1, ETHER, deadline))

    def look(self, seconds: int = 1) -> None:
        """After this many seconds, and a block."""
        self.outcomes += self.sender.look()
        self.time += seconds
        self.ground.mine(seconds)

    @property
    def landed(self) -> int:
        """How often, as its owner hears; what was paid must fit."""
        count = sum(isinstance(each, Confirmed) for each in self.outcomes)
        paid = self.ground.chain.balance(PAYEE.address) - self.before
        assert paid == count
        return count


def memory() -> Ground:
    return MemoryGround(MemoryChain())


@pytest.fixture(params=["memory", "anvil"])
def ground(request: pytest.FixtureRequest) -> Any:
    if request.param == "memory":
        yield memory()
        return
    with local.AnvilChain() as chain:
        yield AnvilGround(chain)


def test_threat_44_an_answer_is_shown_to_every_endpoint_at_once(ground: Ground) -> None:
    desk = Desk(ground)
    desk.want(deadline=ground.chain.now() + 3_600)
    desk.look()
    desk.look()
    assert desk.landed == 1


def test_threat_44_what_an_endpoint_does_not_show_is_sent_through_another(ground: Ground) -> None:
    """It has taken it, and has never heard of it."""
    desk = Desk(ground)
    desk.want()
    for _ in range(4):
        desk.look()
    assert desk.landed == 1
    assert len(desk.pool.kept) == 1


def test_threat_44_what_is_shown_and_never_mined_is_sent_through_another(ground: Ground) -> None:
    """At once: the others are offered everything, too."""
    desk = Desk(ground, shows=True)
    desk.want()
    for _ in range(3):
        desk.look(PATIENCE // 4)
    assert desk.landed == 1
    assert desk.pool.kept


def test_threat_43_what_one_endpoint_refuses_alone_is_sent_all_the_same() -> None:
    desk = Desk(memory(), refuses=True)
    desk.want()
    for _ in range(3):
        desk.look()
    assert desk.landed == 1


def test_what_every_endpoint_refuses_is_refused_once() -> None:
    ground = memory()
    desk = Desk(ground)
    desk.sender.submit(TxRequest(b"a", PAYEE.address, b"", 10**30, ETHER))
    for _ in range(3):
        desk.look()
    assert [type(each) for each in desk.outcomes] == [TxFailed]


def test_threat_46_an_endpoint_that_is_down_is_shown_nothing_for_a_while() -> None:
    """Each time it may take ten seconds to fail, in which nothing else is sent."""
    asked, ground = list[str](), memory()

    def down(method: str, *params: Any) -> Any:
        asked.append(method)
        if method == "eth_chainId":
            return ground.ask(method, *params)
        raise errors.Unreachable("memory", "down")

    desk = Desk(ground)
    second = ground.through(down)
    desk.sender = Sender(
        ground.through(desk.pool.answer), KEY, MemoryTxStore(), clock=lambda: desk.time, others=[second]
    )
    desk.want()
    for _ in range(5):
        desk.look()
    assert asked == ["eth_chainId", "eth_getBlockByNumber"]


def test_threat_46_an_endpoint_that_has_failed_holds_up_no_other_and_is_told() -> None:
    asked, ground = list[str](), memory()

    def down(method: str, *params: Any) -> Any:
        if method == "eth_chainId":
            return ground.ask(method, *params)
        asked.append(method)
        raise errors.Unreachable("memory", "down")

    desk = Desk(ground)
    desk.sender = Sender(
        ground.through(down), KEY, MemoryTxStore(), clock=lambda: desk.time, others=[ground.through(ground.ask)]
    )
    desk.want(deadline=ground.chain.now() + 3_600)
    for _ in range(3):
        desk.look()
    assert desk.landed == 1
    assert len(asked) == 1
    assert [type(each) for each in desk.sender.take_errors()] == [errors.Unreachable]


def test_threat_48_an_endpoint_that_rests_is_asked_again_wherever_the_clock_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hole 49: by two hours back, while the honest one rests for seconds."""
    ground, is_down, wall = memory(), [True], [1_800_000_000]

    def flaky(method: str, *params: Any) -> Any:
        if is_down and method != "eth_chainId":
            raise errors.Unreachable("memory", "down")
        return ground.ask(method, *params)

    desk = Desk(ground)
    clocks = SimpleNamespace(time=lambda: wall[0] + desk.time, monotonic=lambda: desk.time)
    monkeypatch.setattr("forcemove.sender.sender.time", clocks)
    first, second = ground.through(desk.pool.answer), ground.through(flaky)
    desk.sender = Sender(first, KEY, MemoryTxStore(), bump_after=PATIENCE, others=[second])
    desk.want()
    desk.look()
    is_down.clear()
    wall[0] -= 7_200
    for _ in range(3):
        desk.look(PATIENCE // 4)
    assert desk.landed == 1


def test_threat_48_more_is_offered_wherever_the_clock_is_set() -> None:
    ground = memory()
    desk = Desk(ground, shows=True)
    desk.sender = Sender(
        ground.through(desk.pool.answer), KEY, MemoryTxStore(), bump_after=PATIENCE, clock=lambda: desk.time
    )
    desk.time = 7_200
    desk.want(deadline=ground.chain.now() + 3_600)
    for _ in range(2):
        desk.look()
    assert len(desk.pool.kept) == 1
    ground.chain.travel_to(ground.chain.now() + 3_300)
    desk.time = 0
    desk.look()
    assert len(desk.pool.kept) == 2


def test_hole_51_what_waits_for_an_endpoint_is_said_after_half_a_minute() -> None:
    ground, is_down = memory(), [True]

    def flaky(method: str, *params: Any) -> Any:
        if is_down[0] and method != "eth_chainId":
            raise errors.Unreachable("memory", "down")
        return ground.ask(method, *params)

    desk, said = Desk(ground), list[str]()
    desk.sender = Sender(ground.through(flaky), KEY, MemoryTxStore(), clock=lambda: desk.time)
    desk.want(deadline=ground.chain.now() + 3_600)
    for _ in range(8):
        with pytest.raises(errors.Unreachable):
            desk.look()
        said += [headline(each) for each in desk.sender.take_errors() if isinstance(each, StillToSend)]
        desk.time += 10
    assert said == [
        "Nobody answers at memory: down. For 30 seconds nothing could be sent; waiting: the answer to a challenge.",
        "Nobody answers at memory: down. For 60 seconds nothing could be sent; waiting: the answer to a challenge.",
    ]
    is_down[0] = False
    for _ in range(2):
        desk.look()
    assert desk.landed == 1


def test_a_new_transaction_is_not_given_up_before_the_endpoint_that_has_timed_out_has_answered() -> None:
    """One endpoint lies, or lags: it says that we cannot pay. The other one does not answer the first offer."""
    ground, is_away = memory(), [True]

    def poor(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction":
            raise errors.EndpointFailed("eth_sendRawTransaction", "insufficient funds for gas * price + value")
        return ground.ask(method, *params)

    def slow(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction" and is_away:
            is_away.clear()
            raise errors.Unreachable("http://slow", "it did not answer in time")
        return ground.ask(method, *params)

    desk, chains = Desk(ground), [ground.through(each) for each in (slow, poor)]
    desk.sender = Sender(
        chains[0], KEY, MemoryTxStore(), bump_after=PATIENCE, clock=lambda: desk.time, others=chains[1:]
    )
    desk.want()
    for _ in range(30):
        desk.look()
    assert not is_away
    assert {type(each) for each in desk.outcomes} == {Confirmed}
    assert desk.landed == 1
