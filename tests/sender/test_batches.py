"""Answers and payouts that wait together go out in one transaction, and one by one where that fails: on a real EVM."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from forcemove import PassingError, local_keys
from forcemove.chain.chain import Call, Fees
from forcemove.chain.errors import EndpointFailed, TransactionReverted, Unreachable
from forcemove.chain.prices import AMSTERDAM, MAX_TX_GAS, OSAKA, Prices
from forcemove.chain.reverts import adjudicator_errors
from forcemove.protocol.codec.packed import BatchCall, BatchItem
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.effects import Submission, SubmitChallenge, SubmitCheckpoint, SubmitTransfer
from forcemove.sender.batches import batches_of, can_be_batched, shares
from forcemove.sender.errors import Overtaken
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import (
    BatchTx,
    ClientTx,
    Confirmed,
    NonceUsedElsewhere,
    PendingTx,
    Reorged,
    TxFailed,
    TxOutcome,
    TxRequest,
    Version,
)
from forcemove.sender.tx_codec import decode_tx, encode_tx
from forcemove.workers.tx_requests import tx_request_for
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, BOB, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.state import from_hex
from tests.simulation.tx_store import MemoryTxStore

KEY = local_keys()[6]
ETHER, PATIENCE = 10**18, 60
COUNT = 5


class Desk:
    """Channels that are challenged with an old state, and a sender that is to answer. No block takes anything until the
    test says so."""

    def __init__(self, count: int = COUNT, endpoints: int = 1) -> None:
        self.chain = MemoryChain()
        self.node = self.chain.node
        playground = Playground.on(self.chain)
        self.stories = [playground.story(GAME) for _ in range(count)]
        for each in self.stories:
            each.play_until(6)
            each.challenge(1, *each.opening()[2:4])
        self.node.is_mining = False
        self.endpoints = [Endpoint(self.node, str(number)) for number in range(endpoints)]
        self.kept, self.time = MemoryTxStore(), 0.0
        self.outcomes: list[TxOutcome] = []
        self.restart()

    def restart(self) -> None:
        """Another process, with the same journal."""
        first, *others = (MemoryChain(each) for each in self.endpoints)
        options: dict[str, Any] = {"others": others, "error_table": adjudicator_errors(), "bump_after": PATIENCE}
        self.sender = Sender(first, KEY, self.kept, clock=lambda: self.time, **options)

    def answer(self, story: Story) -> TxRequest:
        submission = SubmitCheckpoint(story.proof(story.players[0].states[-2:]))
        return request(submission, story, deadline=story.finalizes_at)

    def want_all(self) -> list[TxRequest]:
        requests = [self.answer(each) for each in self.stories]
        for each in requests:
            self.sender.submit(each)
        return requests

    def look(self) -> None:
        with suppress(PassingError):
            self.outcomes += self.sender.look()

    def mine(self) -> None:
        self.node.mine()
        self.look()

    def wait(self, seconds: float) -> None:
        """Time goes by, on the chain, too; nothing is mined meanwhile."""
        self.time += seconds
        self.node.next_time += int(seconds)

    def overtake(self, stories: Iterable[Story]) -> None:
        """Bob answers these challenges himself, before what waits is mined."""
        waiting, self.node.waiting, self.node.is_mining = self.node.waiting, [], True
        for each in stories:
            each.send(1, each.adjudicator.checkpoint(each.agreement.fixed_part, each.proof(each.bob.states[-2:])))
        self.node.waiting, self.node.is_mining = waiting, False

    def rest(self) -> None:
        """Until nothing is left to send."""
        for _ in range(20):
            self.mine()
            self.wait(1)
            if self.sender.is_idle:
                return
        raise AssertionError("it never comes to rest")

    @property
    def sizes(self) -> list[int]:
        """How many requests each transaction on its way does."""
        return [len(each.request.asked) for each in self.kept.all()]

    @property
    def records(self) -> list[tuple[int, bool]]:
        return [each.record for each in self.stories]


ANSWERED, CHALLENGED = (6, False), (3, True)
LARGE = 800
"""Bytes of a transaction; a batch has more, an answer less."""


def refuse_large(endpoint: Endpoint) -> None:
    """As a node with a bound of its own."""
    before = endpoint.answer

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction" and len(params[0]) > 2 * LARGE:
            raise EndpointFailed(method, "oversized data")
        return before(method, *params)

    endpoint.answer = answer


def drop_all(endpoint: Endpoint) -> None:
    """It says that it takes each transaction."""
    before = endpoint.answer

    def answer(method: str, *params: Any) -> Any:
        is_offer = method == "eth_sendRawTransaction"
        return keccak256(from_hex(params[0])) if is_offer else before(method, *params)

    endpoint.answer = answer


def down(endpoint: Endpoint) -> None:
    def answer(method: str, *_: Any) -> Any:
        raise Unreachable(endpoint.endpoint, "down")

    endpoint.answer = answer


def pay_away(desk: Desk, left: int) -> None:
    """Leave the account this much, in wei."""
    price = desk.node.base_fee
    call = Call(BOB.address, b"", desk.chain.balance(KEY.address) - left - 21_000 * price)
    desk.chain.broadcast(desk.chain.sign_as(call, KEY, 0, 21_000, Fees(price, 0)))
    desk.node.mine()
    assert desk.chain.balance(KEY.address) == left


def test_answers_that_wait_together_are_one_transaction() -> None:
    desk = Desk()
    requests = desk.want_all()
    desk.look()
    assert desk.sizes == [COUNT]
    assert len(requests[0].data) + 200 < LARGE < len(desk.kept.all()[0].newest.raw)
    assert desk.sender.request_ids == {each.request_id for each in requests}
    desk.mine()
    assert desk.records == [ANSWERED] * COUNT
    assert [each.request_id for each in desk.outcomes] == [each.request_id for each in requests]
    assert {type(each) for each in desk.outcomes} == {Confirmed}
    desk.rest()
    assert desk.kept.all() == []


def test_each_is_told_its_share_of_the_gas_and_the_logs_of_its_channel() -> None:
    desk = Desk()
    desk.want_all()
    desk.look()
    (pending,) = desk.kept.all()
    desk.mine()
    found = desk.chain.receipt(pending.newest.hash)
    assert found is not None
    receipt, _ = found
    told = [each.receipt for each in desk.outcomes if isinstance(each, Confirmed)]
    assert sum(each.gas_used for each in told) == receipt.gas_used
    assert max(each.gas_used for each in told) - min(each.gas_used for each in told) < receipt.gas_used // 100
    for story, each in zip(desk.stories, told, strict=True):
        assert [log.topics[1] for log in each.logs] == [story.agreement.channel_id]


def test_shares_lose_nothing() -> None:
    parts = tuple(TxRequest(b"%d" % gas, bytes(20), b"", 0, 1, gas=gas) for gas in (7, 11, 13))
    batch = TxRequest(b"", bytes(20), b"", 0, 3, gas=31, parts=parts)
    assert shares(batch, 100) == [22, 35, 43]
    assert shares(parts[0], 100) == [100]


def test_one_that_fails_harms_no_other_and_goes_alone_from_then_on() -> None:
    desk = Desk()
    requests, story = desk.want_all(), desk.stories[2]
    desk.look()
    desk.overtake([story])
    desk.mine()
    assert desk.records == [ANSWERED] * COUNT
    failed = [each for each in desk.outcomes if isinstance(each, TxFailed)]
    assert [each.request_id for each in failed] == [requests[2].request_id]
    for each, done in zip(desk.stories, desk.outcomes, strict=True):
        if isinstance(done, Confirmed):
            (log,) = each.adjudicator.placed(done.receipt).logs
            assert log.log.channel_id == each.agreement.channel_id  # type: ignore[union-attr]
    assert isinstance(failed[0].error, Overtaken)
    assert failed[0].cost == failed[0].error.cost > 0
    desk.want_all()
    desk.look()
    assert all(not each.request.parts for each in desk.kept.all() if each.nonce > 0)


MANY, AT_A_TIME = 250, 40
"""Requests; how many failures a fast endpoint is asked about for one opinion."""


@pytest.mark.parametrize(
    ("gas", "error"), [(12_000, TransactionReverted), (40_000, Overtaken)], ids=["the whole", "its parts"]
)
def test_why_many_have_failed_is_asked_some_at_a_time(gas: int, error: type[TransactionReverted]) -> None:
    """250 answers to one challenge, in one transaction: with so little gas that all of it reverts, or with enough that
    the first part answers and all others come too late. Each look's outcomes are given at once."""
    desk = Desk(1)
    endpoint, (story,) = desk.endpoints[0], desk.stories
    submission = SubmitCheckpoint(story.proof(story.players[0].states[-2:]))
    ids = [ClientTx(ALICE.address, number.to_bytes(32), submission) for number in range(MANY)]
    for each in ids:
        desk.sender.submit(replace(desk.answer(story), request_id=each, gas=gas))
    desk.look()
    assert desk.sizes == [MANY]
    desk.node.mine()
    while len(desk.outcomes) < MANY:
        asked, told = endpoint.counts["eth_call"], len(desk.outcomes)
        desk.look()
        assert endpoint.counts["eth_call"] - asked <= AT_A_TIME + 1
        assert len(desk.outcomes) - told >= min(AT_A_TIME, MANY - told)
        left = set(ids[len(desk.outcomes) :])
        assert desk.sender.request_ids == left
        assert left <= set(desk.sender.unsettled)
    assert [each.request_id for each in desk.outcomes] == ids
    failed = [each.error for each in desk.outcomes if isinstance(each, TxFailed)]
    assert {type(each) for each in failed} == {error}
    assert len(failed) == MANY - desk.records.count(ANSWERED)
    desk.rest()


def test_what_an_endpoint_does_not_say_of_a_failure_keeps_nothing_back() -> None:
    desk = Desk()
    requests, before = desk.want_all(), desk.endpoints[0].answer
    desk.look()
    desk.overtake(desk.stories)

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise Unreachable("memory", "too long")
        return before(method, *params)

    desk.endpoints[0].answer = answer
    desk.mine()
    assert [each.request_id for each in desk.outcomes] == [each.request_id for each in requests]
    for outcome in desk.outcomes:
        assert isinstance(outcome, TxFailed)
        assert isinstance(outcome.error, TransactionReverted)
        assert outcome.error.reason is None


@pytest.mark.parametrize("count", [1, 2])
def test_a_batch_that_no_endpoint_takes_is_taken_apart_at_once(count: int) -> None:
    desk = Desk(endpoints=count)
    for each in desk.endpoints:
        refuse_large(each)
    desk.want_all()
    desk.rest()
    assert desk.records == [ANSWERED] * COUNT
    assert [type(each) for each in desk.outcomes] == [Confirmed] * COUNT


@pytest.mark.parametrize("first", [0, 1])
def test_a_batch_that_only_a_liar_takes_is_taken_apart_in_time(first: int) -> None:
    """It says that it has it, and drops it."""
    desk = Desk(endpoints=2)
    liar, honest = desk.endpoints[first], desk.endpoints[1 - first]
    refuse_large(honest)
    drop_all(liar)
    desk.want_all()
    began = desk.node.next_time
    for _ in range(200):
        desk.mine()
        desk.wait(10)
        if desk.records == [ANSWERED] * COUNT:
            break
    assert desk.records == [ANSWERED] * COUNT
    assert desk.node.next_time - began <= (desk.stories[0].agreement.fixed_part.challenge_duration) // 4


def test_a_batch_that_nothing_refuses_is_not_taken_apart_while_it_waits() -> None:
    desk = Desk()
    desk.want_all()
    for _ in range(5):
        desk.look()
        desk.wait(120)
    assert desk.sizes == [COUNT]


def test_a_batch_that_an_endpoint_has_is_not_taken_apart_because_it_refuses_more_for_it() -> None:
    """It may be in a block already: then its nonce must not be used for something else."""
    desk = Desk()
    desk.want_all()
    desk.look()
    before = desk.endpoints[0].answer

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction":
            raise EndpointFailed(method, "replacement transaction underpriced")
        return before(method, *params)

    desk.endpoints[0].answer = answer
    desk.node.base_fee *= 10
    desk.node.mine()
    for _ in range(10):
        desk.wait(120)
        desk.look()
    assert desk.sizes == [COUNT]
    assert len(desk.kept.all()[0].versions) > 1


def test_an_account_that_cannot_pay_for_a_batch_pays_for_what_it_can() -> None:
    desk = Desk()
    row = desk.answer(desk.stories[0]).gas
    assert row is not None
    pay_away(desk, 2 * row * (2 * desk.node.base_fee + 2 * 10**9))
    desk.want_all()
    for _ in range(COUNT):
        desk.mine()
        desk.wait(60)
    assert desk.records == [ANSWERED] * COUNT


def test_another_process_goes_on_with_a_batch() -> None:
    desk = Desk()
    requests = desk.want_all()
    desk.look()
    desk.restart()
    assert desk.sender.request_ids == {each.request_id for each in requests}
    desk.want_all()
    desk.look()
    assert desk.sizes == [COUNT]
    desk.mine()
    desk.restart()
    desk.mine()
    assert {each.request_id for each in desk.outcomes} == {each.request_id for each in requests}
    assert desk.records == [ANSWERED] * COUNT


def test_a_batch_that_a_reorganisation_removes_is_told_for_each() -> None:
    desk = Desk()
    requests, height = desk.want_all(), desk.chain.block_number()
    desk.look()
    desk.mine()
    desk.outcomes.clear()
    desk.node.revert_to(height)
    desk.node.waiting.clear()
    desk.mine()
    desk.mine()
    assert desk.outcomes == [Reorged(each.request_id) for each in requests]
    assert desk.records == [CHALLENGED] * COUNT


def test_where_another_program_has_used_the_nonce_each_is_sent_again() -> None:
    desk = Desk()
    requests = desk.want_all()
    desk.look()
    desk.node.waiting.clear()
    (pending,) = desk.kept.all()
    desk.node.is_mining = True
    desk.chain.send(Call(ALICE.address, b"", 1), KEY)
    desk.node.is_mining = False
    desk.look()
    used = [each for each in desk.outcomes if isinstance(each, NonceUsedElsewhere)]
    assert used == [NonceUsedElsewhere(each.request_id, pending.nonce) for each in requests]
    desk.rest()
    assert desk.records == [ANSWERED] * COUNT


def test_what_is_withdrawn_before_it_is_signed_is_not_sent() -> None:
    desk = Desk()
    down(desk.endpoints[0])
    requests = desk.want_all()
    desk.look()
    desk.sender.withdraw([requests[0].request_id])
    desk.endpoints[0].be_honest()
    desk.wait(60)
    desk.rest()
    assert desk.records == [CHALLENGED] + [ANSWERED] * (COUNT - 1)


def test_what_waits_alone_and_what_came_later_is_no_batch() -> None:
    desk = Desk()
    for each in desk.stories:
        desk.sender.submit(desk.answer(each))
        desk.look()
    assert desk.sizes == [1] * COUNT


# ------------------------------------------------------------------------------------------------- what may be together


def request(submission: Submission, story: Story, prices: Prices = OSAKA, **changes: Any) -> TxRequest:
    made = tx_request_for(story.players[0].client.channel, submission, story.adjudicator, prices)
    return replace(made, **changes)


@pytest.fixture(scope="module")
def story() -> Story:
    story = Playground.on(MemoryChain()).story(GAME)
    story.play_until(6)
    return story


def test_answers_and_payouts_of_different_clients_and_adjudicators_are_kept_apart(story: Story) -> None:
    proof = story.proof(story.players[0].states[-2:])
    answer = request(SubmitCheckpoint(proof), story, deadline=100)
    payout = request(SubmitTransfer(bytes(32), story.alice.newest.state.outcome, ()), story)
    elsewhere = replace(answer, to=bytes(20))
    client = replace(answer, request_id=ClientTx(ALICE.address, bytes(32), SubmitCheckpoint(proof)))
    other = replace(answer, request_id=ClientTx(BOB.address, bytes(32), SubmitCheckpoint(proof)))
    kinds = [answer, payout, elsewhere, client, other]
    assert batches_of(kinds) == []
    assert [each.parts for each in batches_of([*kinds, *kinds])] == [(each, each) for each in kinds]


def test_the_nearest_deadlines_go_first_and_are_those_of_their_batch(story: Story) -> None:
    proof = story.proof(story.players[0].states[-2:])
    answers = [request(SubmitCheckpoint(proof), story, deadline=each) for each in (300, 100, 200)]
    (batch,) = batches_of(answers)
    assert [each.deadline for each in batch.parts] == [100, 200, 300]
    assert batch.deadline == 100
    assert batch.max_cost == sum(each.max_cost for each in answers)


def test_a_challenge_a_deposit_and_what_says_no_gas_go_alone(story: Story) -> None:
    proof = story.proof(story.players[0].states[-2:])
    answer = request(SubmitCheckpoint(proof), story)
    assert can_be_batched(answer)
    assert not can_be_batched(request(SubmitChallenge(proof), story))
    assert not can_be_batched(replace(answer, value=1))
    assert not can_be_batched(replace(answer, gas=None))
    assert not can_be_batched(replace(answer, data=answer.data + bytes(2**16)))


@pytest.mark.parametrize("prices", [OSAKA, AMSTERDAM])
def test_a_flood_of_250_is_answered_in_one_or_two_transactions(story: Story, prices: Prices) -> None:
    proof = story.proof(story.players[0].states[-2:])
    answers = [request(SubmitCheckpoint(proof), story, prices, deadline=100)] * 250
    batches = batches_of(answers)
    assert len(batches) <= 2
    assert sum(len(each.parts) for each in batches) == 250
    assert max(len(each.data) for each in batches) < 2**17


def test_a_batch_survives_in_a_journal(story: Story) -> None:
    proof = story.proof(story.players[0].states[-2:])
    answers = [request(SubmitCheckpoint(proof), story, deadline=each) for each in (1, 2)]
    (batch,) = batches_of(answers)
    assert isinstance(batch.request_id, BatchTx)
    pending = PendingTx(batch, 3, 10**6, 0, (Version(bytes(32), b"", 1, 1, False, 0),))
    assert decode_tx(encode_tx(pending)) == pending


def test_what_is_large_is_divided(story: Story) -> None:
    proof = story.proof(story.players[0].states[-2:])
    answer = request(SubmitCheckpoint(proof), story, gas=1_000, deadline=100)
    answer = replace(answer, data=answer.data + bytes(50_000))
    batches = batches_of([answer] * 5)
    assert [len(each.parts) for each in batches] == [2, 2]
    assert max(len(each.data) for each in batches) < 2**17


def test_all_payees_may_use_what_they_are_given(story: Story) -> None:
    """No payee can use up what the other payouts of a batch need."""
    payout = request(SubmitTransfer(bytes(32), story.alice.newest.state.outcome, ()), story)
    for each in batches_of([payout] * 60):
        assert sum(item.gas for item in items_of(each)) <= MAX_TX_GAS


def items_of(batch: TxRequest) -> tuple[BatchItem, ...]:
    call = decode_call(batch.data)
    assert isinstance(call, BatchCall)
    return call.items
