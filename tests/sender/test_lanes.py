"""A lane for each endpoint: an answer is given to every endpoint, however slow it is, and however fast another lies.
Hole 38, and hole 41 among several. Time is virtual."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from forcemove.chain import asking, errors, reverts, rpc
from forcemove.chain.chain import Call, Fees
from forcemove.sender import lanes, observations, offers, opinions, pricing, transactions
from forcemove.sender.errors import OpinionsDiffer, StillToSend
from forcemove.sender.sender import Sender
from tests.liars.lies import MONEY
from tests.sender.slowly import KEY, PAYEE, SlowWorld
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.tx_store import MemoryTxStore

NEVER = 1e9


def swallow(world: SlowWorld) -> None:
    """The first endpoint takes what it is sent, and shows it to nobody."""
    liar = world.endpoints[0]

    def answer(method: str, *params: Any) -> Any:
        return bytes(32) if method == "eth_sendRawTransaction" else world.node.ask(method, *params)

    liar.answer = answer


@pytest.mark.parametrize("count", [1, 10, 50])
@pytest.mark.parametrize("seconds", [0.25, 1.0, 3.0])
def test_hole_38_who_is_slower_than_a_liar_is_given_every_answer(seconds: float, count: int) -> None:
    """None used to be: an opinion that came a second after the liar's was thrown away."""
    world = SlowWorld(0.0, seconds)
    swallow(world)
    for number in range(count):
        world.want(number)
    world.run(240, lambda: len(world.mined_at()) == count)
    assert len(world.mined_at()) == count
    assert max(world.mined_at()) < 240


def test_hole_41_two_hundred_and_fifty_challenges_are_answered_in_time_through_two_endpoints() -> None:
    """150 of them used to be lost."""
    world, count = SlowWorld(0.1, 0.1), 250
    for number in range(0, count, 25):
        for each in range(number, number + 25):
            world.want(each)
        world.run(1)
    world.run(600, lambda: world.sender.is_idle)
    assert len(world.confirmed) == count == len(world.mined_at())
    assert max(world.mined_at()) < 120
    assert max(sum(each.counts.values()) for each in world.endpoints) <= 1_000


def count_ahead(world: SlowWorld) -> None:
    """The first endpoint adds a thousand to our nonce."""
    world.endpoints[0].replace("eth_getTransactionCount", lambda nonce: nonce + 1_000)


def test_a_slow_one_is_given_no_answer_again_for_the_nonces_of_a_liar() -> None:
    """It was mined once, and reverted every half minute after that: of the two that were signed the one that can never
    be mined was left."""
    world = SlowWorld(0.0, 3.0)
    count_ahead(world)
    world.want(0)
    world.run(240)
    assert len(world.mined_at()) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_slow_one_is_given_no_answer_again_though_a_liar_says_that_its_nonce_is_taken(fails: bool) -> None:
    """The liar hides our receipt, as if the nonce were somebody else's. `fails`: whether the call would fail."""
    world = SlowWorld(0.0, 3.0)
    count_ahead(world)
    world.endpoints[0].replace("eth_getTransactionReceipt", lambda _: None)
    world.endpoints[0].replace("eth_getTransactionByHash", lambda _: None)

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call" and fails and world.mined_at():
            raise rpc.Reverted(b"")
        return world.node.ask(method, *params)

    world.endpoints[1].answer = answer
    world.want(0)
    world.run(240)
    assert len(world.mined_at()) == 1


def test_hole_54_an_answer_that_was_mined_is_sent_again_only_when_a_slow_one_has_had_time_to_refuse_it() -> None:
    """A fast liar says that the clock runs on, and that another answer would stop it. The slow one is asked first, and
    says that it would fail; then the answer waits for an eighth of the time."""
    world = SlowWorld(0.0, 3.0)

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call" and world.mined_at():
            raise rpc.Reverted(b"")
        return world.node.ask(method, *params)

    world.endpoints[1].answer = answer
    for _ in range(240):
        world.want(0, 3_600 - int(world.now))  # as a channel does
        world.run(1)
    assert world.confirmed == {b"0"}
    assert len(world.mined_at()) == 1
    world.run(600)
    assert len(world.mined_at()) == 2


def test_one_that_reverts_is_sent_again_later_and_later_to_a_slow_one_beside_a_liar() -> None:
    world = SlowWorld(0.0, 3.0)
    count_ahead(world)
    for each in world.endpoints:
        each.replace("eth_getTransactionReceipt", lambda found: found and {**found, "status": 0})
    world.want(0, 3_600)
    world.run(900)
    mined = world.mined_at()
    assert len(mined) > 3
    assert mined[-1] - mined[-2] > 2 * (mined[2] - mined[1]) > 0


def test_failures_that_a_liar_invents_hold_back_no_answer_from_a_slow_one() -> None:
    """Whatever it is sent has failed, it says, before the slow one has said anything."""
    world = SlowWorld(0.0, 3.0)
    liar = world.endpoints[0]

    def answer(method: str, *params: Any) -> Any:
        match method:
            case "eth_sendRawTransaction":
                return bytes(32)
            case "eth_getTransactionCount":
                return 1_000 + liar.counts["eth_sendRawTransaction"]
            case _:
                return MONEY["receipts of failure invented"](world.node.ask, method, *params)

    liar.answer = answer
    for _ in range(60):
        world.want(0, 3_600)  # as a channel does
        world.run(1)
    assert world.mined_at()


@pytest.mark.parametrize("count", [1, 10])
def test_hole_38_receipts_that_a_fast_one_invents_keep_no_answer_from_a_slow_one(count: int) -> None:
    """By its word all is mined, and buried, before the honest one has formed an opinion."""
    world = SlowWorld(0.0, 1.0)
    liar = world.endpoints[0]

    def answer(method: str, *params: Any) -> Any:
        match method:
            case "eth_sendRawTransaction":
                return bytes(32)
            case "eth_getTransactionCount":
                return len(world.kept.all())
            case _:
                return MONEY["receipts invented"](world.node.ask, method, *params)

    liar.answer = answer
    for number in range(count):
        world.want(number)
    world.run(60, lambda: len(world.mined_at()) >= count)
    assert len(world.mined_at()) >= count


def test_hole_38_what_was_signed_with_an_invented_nonce_is_signed_for_a_slow_one_as_soon_as_it_answers() -> None:
    world = SlowWorld(0.0, 1.0)
    world.endpoints[0].replace("eth_getTransactionCount", lambda _: 1_000)
    for number in range(10):
        world.want(number)
    world.run(60, lambda: len(world.mined_at()) == 10)
    assert len(world.mined_at()) == 10
    assert max(world.mined_at()) < 40


@pytest.mark.parametrize("deadline", [240, None])
def test_hole_38_what_a_fast_one_finds_would_fail_is_not_refused_before_a_slow_one_has_said_so(
    deadline: int | None,
) -> None:
    world = SlowWorld(0.0, 3.0)

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise rpc.Reverted(b"")
        return world.node.ask(method, *params)

    world.endpoints[0].answer = answer
    world.want(1, deadline)
    world.run(60, lambda: bool(world.mined_at()))
    assert len(world.mined_at()) == 1
    assert world.errors == []


def test_hole_22_what_pays_in_waits_for_the_word_of_a_slow_one() -> None:
    world = SlowWorld(0.0, 3.0)
    world.endpoints[0].replace("eth_getTransactionCount", lambda _: 3)
    world.want(1, None, value=7)
    world.run(30)
    assert world.kept.all() == []
    assert {type(each) for each in world.errors} == {OpinionsDiffer}
    world.endpoints[0].be_honest()
    world.run(60, lambda: bool(world.mined_at()))
    assert len(world.mined_at()) == 1


def test_threat_46_a_look_waits_for_no_endpoint_and_one_that_is_silent_for_half_a_minute_is_not_waited_for() -> None:
    world = SlowWorld(0.5, NEVER)
    world.want(1)
    world.look()
    assert [each.counts.total() for each in world.endpoints] == [1, 1]  # its chain's id, before
    world.run(20)
    assert len(world.confirmed) == len(world.kept.all()) == 1  # the other one may still say something else
    world.run(60, lambda: world.sender.is_idle)
    assert world.sender.is_idle


def test_threat_46_time_in_which_nothing_was_asked_is_no_silence() -> None:
    """What pays in is signed by one word alone only after the other endpoint was asked, and has said nothing."""
    world = SlowWorld(0.5, NEVER)
    world.want(1)
    world.run(90, lambda: world.sender.is_idle)
    world.pass_(600)
    world.want(2, None, value=7)
    world.run(20)
    assert len(world.mined_at()) == 1
    world.run(60, lambda: len(world.mined_at()) == 2)
    assert len(world.mined_at()) == 2


def test_hole_51_what_waits_for_all_of_several_endpoints_is_said_after_half_a_minute() -> None:
    world = SlowWorld(0.1, 0.1)
    for each in world.endpoints:
        each.replace("eth_getBlockByNumber", lambda _: None)
    world.want(1)
    world.run(45)
    assert [each.seconds for each in world.errors if isinstance(each, StillToSend)] == [30]


def test_hole_56_prices_and_nonces_of_long_ago_are_not_taken_for_an_answer() -> None:
    world = SlowWorld(3.0, 3.0)
    world.want(1)
    world.run(60, lambda: world.sender.is_idle)
    world.pass_(600)
    world.node.base_fee *= 100
    world.want(2)
    world.run(60, lambda: bool(world.kept.all()))
    (kept,) = world.kept.all()
    assert kept.newest.max_fee > world.node.base_fee


def test_hole_56_an_answer_waits_for_no_opinion() -> None:
    """At three seconds for each request an opinion takes half a minute; the answer goes between its questions."""
    world = SlowWorld(3.0, 3.0)
    world.want(1)
    world.run(60, lambda: bool(world.mined_at()))
    began = world.now
    world.want(2)
    world.run(60, lambda: len(world.mined_at()) == 2)
    assert world.mined_at()[1] - began < 12


def test_what_a_cycle_signs_is_written_in_one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    world, written = SlowWorld(0.1, 0.1), list[int]()
    update = world.kept.update

    def counting(changed: Collection[transactions.PendingTx], forgotten: Collection[int]) -> None:
        written.append(len(changed))
        update(changed, forgotten)

    monkeypatch.setattr(world.kept, "update", counting)
    for number in range(30):
        world.want(number)
    world.run(20, lambda: len(world.confirmed) == 30)
    assert sum(written) == 30
    assert len(written) <= 3


def test_hole_41_an_endpoint_that_is_alone_and_slow_is_given_an_answer_between_questions() -> None:
    """Five seconds for each, about a hundred transactions that may wait: the answer used to wait for a whole look."""
    world = SlowWorld(5.0)
    for number in range(100):
        world.want(number, None)
    world.run(120)
    world.want(100, 240)

    def is_offered() -> bool:
        mined = (each for block in world.node.blocks for each in block.transactions)
        return any(each.data == b"100" for each in (*world.node.waiting, *mined))

    world.run(30, is_offered)
    assert is_offered()


def test_hole_41_what_an_endpoint_that_is_alone_answers_is_waited_for_between_looks() -> None:
    node, answers_now = MemoryChain().node, Event()
    alone = Endpoint(node)
    alone.is_here = False

    def answer(method: str, *params: Any) -> Any:
        answers_now.wait(20)
        return node.ask(method, *params)

    chain = MemoryChain(alone)
    alone.answer = answer
    sender = Sender(chain, KEY, MemoryTxStore())
    sender.submit(transactions.TxRequest(b"a", PAYEE.address, b"a", 0, 10**18, None, gas=50_000))
    assert sender.look() == []
    assert len(sender.awaited) == 1
    answers_now.set()
    outcomes = list[transactions.TxOutcome]()
    while not outcomes:
        wait(sender.awaited, 20, FIRST_COMPLETED)
        outcomes = sender.look(is_new=False)
    assert isinstance(outcomes[0], transactions.Confirmed)


def test_hole_41_of_several_endpoints_none_is_waited_for_between_looks() -> None:
    world = SlowWorld(1.0, 1.0)
    world.want(1)
    world.look()
    assert world.sender.awaited == []


def test_threat_54_what_was_said_of_a_transaction_that_is_over_is_said_of_no_other_with_its_nonce() -> None:
    formed: Future[opinions.Opinion] = Future()
    chain = MemoryChain()
    chain.worker = SimpleNamespace(begin=lambda *_: formed)  # type: ignore[assignment]
    lane = lanes.EndpointLane(chain, lambda: 0.0)
    lane.ask(observations.Question(KEY.address, (), (), 1, reverts.NO_ERRORS, 4), 1)
    lane.forget(5)
    seen = {nonce: observations.TxObservation(observations.TxStatus.MINED) for nonce in (5, 6, 7)}
    formed.set_result(opinions.Opinion(9, 0, 8, 8, pricing.FeeMarket(1), 0, seen))
    assert lane.take_opinion()
    lane.forget(6)
    assert lane.opinion is not None
    assert lane.opinion.seen.keys() == {7}


def test_hole_41_what_an_endpoint_has_taken_before_it_fails_is_not_due_again() -> None:
    node = MemoryChain().node
    node.is_mining = False
    asked = Endpoint(node)
    chain = MemoryChain(asked)
    signed = [chain.sign_as(Call(PAYEE.address, b""), KEY, nonce, 21_000, Fees(10**10, 1)) for nonce in range(4)]

    def answer(method: str, *params: Any) -> Any:
        if asked.counts["eth_sendRawTransaction"] > 2:
            raise errors.Unreachable("memory", "too long")
        return node.ask(method, *params)

    asked.answer = answer
    assert asking.ask_now(asked, offers.offer_all(chain, signed)) == [(signed[0], None), (signed[1], None)]
    ((first, failure),) = asking.ask_now(asked, offers.offer_all(chain, signed[2:]))
    assert first == signed[2]
    assert isinstance(failure, errors.Unreachable)
