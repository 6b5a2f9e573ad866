"""The gas of an operation before it is sent, beside the receipt of the same operation: in channels of all installed
games, with honest ends and with disputes, on both kinds of chain."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Call, Chain, SignedTransaction
from forcemove.chain.errors import InsufficientFunds, NotAnEthereumEndpoint
from forcemove.chain.local import AnvilChain, EmbeddedChain, connect, local_keys
from forcemove.game import Game
from forcemove.protocol.machine.inputs import ChallengeWanted
from forcemove.protocol.rule_errors import HoldingsBelowExpected
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER
from tests.installed import GAMES_FOR_TWO
from tests.liars.proxy import Ask, NodeError, lying
from tests.scenarios.story import BOB, MINER, Playground, Story

WITHIN = 0.05


class Asking:
    """Asks before each transaction what it will use."""

    def __init__(self, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chain, self.gas = chain, dict[bytes, int]()
        self._broadcast = chain.broadcast
        monkeypatch.setattr(chain, "broadcast", self._ask_first)

    def _ask_first(self, signed: SignedTransaction) -> None:
        self.gas[signed.hash] = self.chain.gas_used(signed.call, signed.sender)
        self._broadcast(signed)

    def require_right(self) -> None:
        assert len(self.gas) >= 3
        for hash_, expected in self.gas.items():
            assert expected == pytest.approx(self.chain.wait_for(hash_).gas_used, rel=WITHIN)


@pytest.fixture(scope="module", params=["eth-tester", "anvil"])
def venue(request: pytest.FixtureRequest) -> Playground:
    if request.param == "eth-tester":
        return Playground.on(EmbeddedChain())
    anvil: AnvilChain = request.getfixturevalue("anvil")
    return Playground.on(anvil)


def honest(played: Story) -> None:
    played.play()


def expired(played: Story) -> None:
    played.play_until(6)
    played.alice.client.feed(ChallengeWanted())
    played.expire()
    played.play(played.alice)


def answered(played: Story) -> None:
    played.play_until(6)
    played.alice.client.feed(ChallengeWanted())
    played.bob.client.poll()
    played.bob.decide_at_last()
    played.play()
    played.go_on()


@pytest.mark.parametrize("game", GAMES_FOR_TWO, ids=lambda game: game.name)
@pytest.mark.parametrize("end", [honest, expired, answered])
def test_every_operation_of_every_game_uses_the_gas_that_was_said(
    venue: Playground, game: Game, end: Callable[[Story], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, played = Asking(venue.chain, monkeypatch), venue.story(game)
    end(played)
    asking.require_right()


def test_what_would_be_refused_is_refused(venue: Playground) -> None:
    adjudicator = Adjudicator(venue.chain, venue.book.adjudicator)
    operation, height = adjudicator.deposit(b"\x22" * 32, ETHER, 5, 1), venue.chain.block_number()
    with pytest.raises(HoldingsBelowExpected):
        adjudicator.gas_of(operation, BOB.address)
    with pytest.raises(InsufficientFunds):
        adjudicator.gas_of(adjudicator.deposit(b"\x11" * 32, ETHER, 0, 1), Key(b"\x77" * 32).address)
    assert venue.chain.block_number() == height


@pytest.mark.parametrize(
    "answer",
    [
        NodeError({"code": -32601, "message": "the method does not exist"}),
        [],
        [{"calls": []}],
        [{"calls": [{"status": "0x1", "gasUsed": hex(2**65)}]}],
        [{"calls": [{"status": "0x0", "returnData": "nonsense"}]}],
    ],
)
def test_a_node_that_simulates_nothing_is_asked_for_its_estimate_and_nonsense_is_refused(
    anvil: AnvilChain, answer: object
) -> None:
    def answer_as(ask: Ask, method: str, *parameters: object) -> object:
        if method != "eth_simulateV1":
            return ask(method, *parameters)
        if isinstance(answer, NodeError):
            raise answer
        return answer

    with lying(anvil.endpoint, answer_as) as url:
        chain, call = connect(url), Call(BOB.address, b"", 1)
        if isinstance(answer, NodeError):
            assert chain.gas_used(call, MINER.address) == pytest.approx(21_000, rel=WITHIN)
        else:
            with pytest.raises(NotAnEthereumEndpoint):
                chain.gas_used(call, MINER.address)


def test_any_number_of_threads_use_the_chain_in_this_process() -> None:
    """One moves the clock all the time, as a person does who looks at a challenge, while the others pay and read."""
    chain, is_over = EmbeddedChain(), threading.Event()
    keys = local_keys()[1:4]

    def travel() -> int:
        times = 0
        while not is_over.is_set():
            chain.travel_to(chain.next_time() + 60)
            times += 1
        return times

    def pay(key: Key) -> list[int]:
        call = Call(BOB.address, b"", 1)
        return [chain.gas_used(call, key.address) + chain.send(call, key).gas_used for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        travelling = pool.submit(travel)
        try:
            assert [set(each) for each in pool.map(pay, keys)] == [{42_000}] * 3
        finally:
            is_over.set()
        assert travelling.result() > 0
