"""Transactions come to their end whatever fees, nodes, reorganisations and crashes do: rows 44 to 46 of the list of
attacks, and holes 3, 4 and 5 of the former client."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest

from forcemove import Key, PassingError
from forcemove.chain import errors
from forcemove.chain.chain import Call, Fees
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.sender import transactions
from forcemove.sender.errors import CannotPay, CannotPayAnswer, GasTooDear
from forcemove.sender.sender import Sender
from forcemove.text import amounts, durations, explanations
from tests.chain.world import place
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint, FlakyNode
from tests.simulation.tx_store import MemoryTxStore

KEY, OTHER, PAYEE = local_keys()[:3]
GWEI = 10**9
ETHER = 10**18
PATIENCE = 60
HOUR = 3600


class Desk:
    """A sender on a chain that mines when it is told to, and a clock that goes when it is told to."""

    def __init__(self, **options: Any) -> None:
        self.chain, self.kept, self.time = MemoryChain(), MemoryTxStore(), 0.0
        self.node = self.chain.node
        self.node.is_mining = False
        self.options = options
        self.outcomes: list[transactions.TxOutcome] = []
        self.restart()

    def restart(self) -> None:
        """Another process, with the same journal."""
        options = {"bump_after": PATIENCE} | self.options
        self.sender = Sender(self.chain, KEY, self.kept, clock=lambda: self.time, **options)

    def look(self) -> None:
        self.outcomes += self.sender.look()

    def want(self, name: str, *, most: int = ETHER, deadline: int | None = None, value: int = 1) -> None:
        self.sender.submit(transactions.TxRequest(name.encode(), PAYEE.address, b"", value, most, deadline))

    def send(self, name: str, *, most: int = ETHER, deadline: int | None = None, value: int = 1) -> None:
        self.want(name, most=most, deadline=deadline, value=value)
        self.look()

    def wait(self, seconds: float) -> None:
        """Time goes by, on the chain, too; what the blocks of that time take is mined."""
        self.time += seconds
        self.node.next_time += int(seconds)
        self.node.mine()

    def wait_and_look(self, seconds: float) -> None:
        self.wait(seconds)
        self.look()

    @property
    def fees(self) -> list[int]:
        """What each of those that wait offers, by nonce."""
        return [each.max_fee for each in sorted(self.node.waiting, key=lambda each: each.nonce)]

    @property
    def landed(self) -> list[str]:
        outcomes = (each for each in self.outcomes if isinstance(each, transactions.Confirmed))
        return [each.request_id.decode() for each in outcomes if isinstance(each.request_id, bytes)]

    @property
    def received(self) -> int:
        return self.chain.balance(PAYEE.address) - 10**24


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_what_is_asked_for_is_mined_and_told_once(desk: Desk) -> None:
    desk.want("a")
    desk.want("a")
    desk.want("b")
    for _ in range(3):
        desk.look()
        desk.wait(1)
    assert desk.landed == ["a", "b"]
    assert desk.received == 2
    assert not desk.kept.all()
    assert not desk.sender.request_ids


def test_what_is_withdrawn_is_not_sent_unless_it_has_a_nonce(desk: Desk) -> None:
    desk.send("sent")
    desk.want("unsent")
    desk.sender.withdraw([b"sent", b"unsent"])
    for _ in range(3):
        desk.look()
        desk.wait(1)
    assert desk.landed == ["sent"]
    desk.want("unsent")
    for _ in range(3):
        desk.look()
        desk.wait(1)
    assert desk.landed == ["sent", "unsent"]
    assert not desk.kept.all()


def test_threat_46_a_look_never_waits(desk: Desk) -> None:
    """It used to wait for each transaction, and everything else of the process with it."""
    desk.want("a")
    for _ in range(5):
        desk.look()
    assert desk.outcomes == []
    assert len(desk.node.waiting) == 1


def test_with_nothing_to_do_nothing_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk.node, "ask", None)
    desk.look()


# -------------------------------------------------------------------------------------------------------- the spike


def spike(desk: Desk, times: int = 20) -> None:
    desk.node.base_fee *= times


def test_threat_44_the_lowest_nonce_is_raised_first_and_both_are_mined(desk: Desk) -> None:
    """The lowest one used to be forgotten, and the next one was raised in vain."""
    desk.send("deposit", most=10**17)
    spike(desk)
    desk.wait(1)
    desk.send("answer", deadline=desk.chain.now() + HOUR)
    for _ in range(4):
        desk.wait_and_look(12)
    assert desk.landed == ["deposit", "answer"]


def test_threat_44_a_cheap_one_never_holds_up_an_answer(desk: Desk) -> None:
    """Its own cap does not let it be mined; the answer's does, for both."""
    desk.send("cheap", most=5 * 10**16)
    spike(desk)
    desk.wait_and_look(1)
    desk.wait(1)
    assert desk.outcomes == []
    desk.want("answer", deadline=desk.chain.now() + HOUR)
    for _ in range(4):
        desk.look()
        desk.wait(12)
    desk.look()
    assert desk.landed == ["cheap", "answer"]


def test_threat_44_it_goes_on_after_a_restart(desk: Desk) -> None:
    desk.send("deposit")
    spike(desk)
    desk.wait(PATIENCE)
    desk.restart()
    desk.look()
    desk.wait_and_look(1)
    assert desk.landed == ["deposit"]
    assert desk.received == 1


def test_threat_45_forty_rounds_never_go_beyond_the_cap(desk: Desk) -> None:
    """Each round used to add a quarter: 0.458 ether for one answer."""
    most = 10**16
    desk.want("answer", most=most, deadline=desk.chain.now() + HOUR)
    desk.node.base_fee = 10**6 * GWEI
    for _ in range(40):
        desk.look()
        desk.wait(PATIENCE)
    (waiting,) = desk.node.waiting
    assert waiting.max_fee * waiting.gas <= most
    (kept,) = desk.kept.all()
    assert len(kept.versions) < 5


def test_an_offer_that_is_good_enough_is_not_raised_before_its_time(desk: Desk) -> None:
    desk.send("a")
    before = desk.fees
    desk.time += 5 * PATIENCE
    desk.look()
    assert desk.fees == before
    desk.time += 5 * PATIENCE
    desk.look()
    assert before[0] * 9 // 8 <= desk.fees[0] <= before[0] * 3 // 2


def require_all_offered(desk: Desk) -> None:
    """For the only transaction that waits, all that it is worth."""
    (waiting,) = desk.node.waiting
    assert ETHER * 9 // 10 < waiting.max_fee * waiting.gas <= ETHER


def test_threat_44_the_offer_rises_as_the_deadline_comes_near(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.send("answer", deadline=desk.chain.now() + 20 * PATIENCE)
    first = desk.fees[0]
    monkeypatch.setattr(desk.node, "_take", lambda: ())  # miners that leave us out
    for _ in range(18):
        desk.wait_and_look(PATIENCE)
    assert 7 * first < desk.fees[0] <= 10 * first
    for _ in range(2):
        desk.wait_and_look(PATIENCE)
    require_all_offered(desk)
    monkeypatch.undo()
    desk.wait_and_look(1)
    assert desk.landed == ["answer"]


def test_threat_44_what_is_on_its_way_becomes_an_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conclusion that costs more than it may is on its way when an older state is challenged: it answers that."""
    desk.send("end", most=ETHER // 4, value=0)
    monkeypatch.setattr(desk.node, "_take", lambda: ())  # no block takes it
    desk.wait_and_look(PATIENCE)
    desk.send("end", deadline=desk.chain.now() + 20 * PATIENCE, value=0)
    for _ in range(20):
        desk.wait_and_look(PATIENCE)
    require_all_offered(desk)
    monkeypatch.undo()
    desk.wait_and_look(1)
    assert desk.landed == ["end"]


def test_threat_44_what_is_to_be_sent_becomes_an_answer(desk: Desk) -> None:
    """It was not sent yet, since nodes did not say what it needs."""
    desk.want("end", most=ETHER // 4, value=0)
    desk.send("end", deadline=desk.chain.now() + 20 * PATIENCE, value=0)
    (kept,) = desk.kept.all()
    assert (kept.request.deadline, kept.request.max_cost) == (desk.chain.now() + 20 * PATIENCE, ETHER)


# ------------------------------------------------------------------------------------------------- nodes and crashes


def test_threat_44_what_the_node_has_dropped_is_sent_again_as_it_was(desk: Desk) -> None:
    desk.send("a")
    before = [each.hash for each in desk.node.waiting]
    desk.node.waiting.clear()
    desk.look()
    assert [each.hash for each in desk.node.waiting] == before


class DiedError(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("after", range(8))
def test_threat_44_a_crash_at_any_request_forgets_nothing_and_pays_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """The owner asks again after a restart, as machines do; the journal knows that it is on its way."""
    ask, left = desk.node.ask, [after]

    def dying(method: str, *params: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise DiedError
        return ask(method, *params)

    monkeypatch.setattr(desk.node, "ask", dying)
    desk.want("a")
    try:
        desk.look()
    except DiedError:
        desk.restart()
        desk.want("a")
    for _ in range(3):
        desk.look()
        desk.wait(1)
    assert desk.landed == ["a"]
    assert desk.received == 1


def test_threat_44_what_its_owner_has_not_taken_in_is_told_again_and_not_paid_twice(desk: Desk) -> None:
    desk.send("a")
    desk.wait(1)
    desk.sender.look()  # ... and the process dies with what it was told
    desk.restart()
    desk.send("a")
    desk.wait(1)
    assert desk.landed == ["a"]
    assert desk.received == 1


def test_threat_44_it_is_written_down_before_it_is_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bool] = []
    ask = desk.node.ask

    def watching(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction":
            newest = desk.kept.all()[-1].newest
            sent.append("0x" + newest.raw.hex() == params[0])
        return ask(method, *params)

    monkeypatch.setattr(desk.node, "ask", watching)
    desk.send("a")
    spike(desk)
    desk.wait_and_look(1)
    assert sent == [True, True]


@pytest.mark.parametrize("seed", range(20))
def test_threat_43_a_node_that_fails_at_random_costs_time_only(desk: Desk, seed: int) -> None:
    """Also where it has taken what it says it has not, forgets what it has taken, and we start again and again."""
    random, names = Random(seed), [f"{number}" for number in range(5)]
    node = FlakyNode(desk.node, random, 0.1)
    for name in names:
        desk.want(name)
    for _ in range(200):
        with node.flaky():
            desk.look()
        if random.random() < 0.2:
            desk.node.waiting.clear()
        if random.random() < 0.2:
            desk.restart()
            for name in set(names) - set(desk.landed):
                desk.want(name)
        desk.wait(random.choice((1, 30, 90)))
    assert set(desk.landed) == set(names)
    assert desk.received == len(names)


@pytest.mark.parametrize("nonsense", [None, "0x", {}, [], {"number": "x"}, b"", "<html>", -1])
@pytest.mark.parametrize(
    "method",
    ["eth_getBlockByNumber", "eth_getTransactionCount", "eth_getTransactionReceipt", "eth_maxPriorityFeePerGas"],
)
def test_threat_43_nonsense_costs_time_only(desk: Desk, method: str, nonsense: object) -> None:
    endpoint = Endpoint(desk.node)
    desk.chain.rpc = endpoint
    desk.want("a")
    desk.want("b")
    for _ in range(3):
        endpoint.replace(method, lambda _: nonsense)
        for _ in range(2):
            with suppress(PassingError):
                desk.look()
        endpoint.be_honest()
        desk.look()
        desk.wait(1)
    desk.look()
    assert not [each for each in desk.outcomes if not isinstance(each, transactions.Confirmed)]
    assert sorted(desk.landed) == ["a", "b"]
    assert desk.received == 2


def test_a_nonce_that_another_program_has_used_is_told_and_the_transaction_sent_with_the_next(desk: Desk) -> None:
    desk.send("a")
    (ours,) = desk.node.waiting
    desk.node.waiting.clear()
    foreign = desk.chain.sign_as(Call(OTHER.address, b"", 5), KEY, ours.nonce, 21_000, Fees(9 * GWEI, GWEI))
    desk.chain.broadcast(foreign)
    desk.node.mine()
    for _ in range(3):
        desk.look()
        desk.wait(1)
    assert desk.outcomes[0] == transactions.NonceUsedElsewhere(b"a", ours.nonce)
    assert desk.landed == ["a"]
    assert desk.received == 1


def test_a_transaction_of_another_program_that_waits_is_not_replaced(desk: Desk) -> None:
    foreign = desk.chain.sign_as(Call(OTHER.address, b"", 5), KEY, 0, 21_000, Fees(9 * GWEI, GWEI))
    desk.chain.broadcast(foreign)
    desk.send("a")
    assert [each.nonce for each in desk.node.waiting] == [0, 1]


def test_threat_44_a_nonce_that_no_node_has_any_more_holds_up_no_answer(desk: Desk) -> None:
    """Another program's was dropped; at first it is left alone."""
    foreign = desk.chain.sign_as(Call(OTHER.address, b"", 5), KEY, 0, 21_000, Fees(GWEI // 2, GWEI // 2))
    desk.chain.broadcast(foreign)
    desk.send("answer", deadline=desk.chain.now() + HOUR)
    desk.wait_and_look(PATIENCE // 2)
    assert foreign.hash in {each.hash for each in desk.node.waiting}
    desk.node.waiting = [each for each in desk.node.waiting if each.nonce == 1]
    for _ in range(5):
        desk.wait_and_look(PATIENCE)
    assert [type(each) for each in desk.outcomes] == [transactions.Confirmed]
    assert (desk.landed, desk.received) == (["answer"], 1)
    assert desk.chain.nonce_of(KEY.address) == 2
    assert not desk.kept.all()


@pytest.mark.parametrize("comes_back", [False, True])
def test_threat_49_what_was_forgotten_and_is_undone_holds_up_no_answer(desk: Desk, comes_back: bool) -> None:
    """Deeper than we wait for; and where the first one turns up again, nothing is done twice."""
    desk.send("a")
    before = desk.chain.block_number()
    for _ in range(2):
        desk.wait_and_look(1)
    assert not desk.kept.all()
    (first,) = desk.node.revert_to(before)
    desk.node.waiting.append(first)
    desk.send("answer", deadline=desk.chain.now() + HOUR)
    desk.node.waiting.remove(first)
    (answer,) = desk.node.waiting
    desk.wait_and_look(PATIENCE)
    assert [each.nonce for each in sorted(desk.node.waiting, key=lambda each: each.nonce)] == [0, 1]
    if comes_back:
        desk.node.waiting = [first, answer]
    for _ in range(4):
        desk.wait_and_look(1)
    assert desk.landed == ["a", "answer"]
    assert desk.received == 1 + comes_back
    assert desk.chain.nonce_of(KEY.address) == 2
    assert not desk.kept.all()
    assert not desk.sender.request_ids


@pytest.mark.parametrize("is_kept", [True, False])
def test_threat_22_a_transaction_that_a_reorganisation_has_taken_away_is_waited_for_or_given_up(is_kept: bool) -> None:
    """Where the node has put it back among those that wait, it is mined again; else its owner asks again."""
    desk = Desk(confirmations=3)
    desk.send("a")
    before = desk.chain.block_number()
    desk.wait_and_look(1)
    assert desk.landed == ["a"]
    desk.wait_and_look(1)
    gone = desk.node.revert_to(before)
    desk.node.waiting += gone if is_kept else ()
    desk.look()
    if not is_kept:
        assert desk.outcomes[-1] == transactions.Reorged(b"a")
        assert not desk.kept.all()
        desk.want("a")
    for _ in range(6):
        desk.look()
        desk.wait(1)
    assert desk.landed == ["a", "a"]
    assert desk.received == 1
    assert not desk.kept.all()


def test_what_is_undone_and_asked_for_again_is_not_told_as_undone() -> None:
    desk = Desk(confirmations=3)
    desk.send("a")
    before = desk.chain.block_number()
    desk.wait_and_look(1)
    desk.node.revert_to(before)
    desk.send("a")
    assert [type(each) for each in desk.outcomes] == [transactions.Confirmed]
    assert len(desk.node.waiting) == 1


def test_a_refusal_of_the_node_is_told_and_the_nonce_is_free_again(desk: Desk) -> None:
    desk.want("dear", value=10**25)
    desk.send("a")
    desk.wait_and_look(1)
    (refused,) = [each for each in desk.outcomes if isinstance(each, transactions.TxFailed)]
    assert refused.request_id == b"dear"
    assert isinstance(refused.error, CannotPay)
    has, needs = refused.error.balance, refused.error.needed
    assert has <= 10**24 < 10**25 < needs < 10**25 + 10**18
    assert f"has {amounts.format_amount(has)}" in explanations.headline(refused.error)
    assert desk.landed == ["a"]


def test_an_answer_that_we_cannot_pay_for_is_told_with_what_is_needed_and_by_when_at_each_look(desk: Desk) -> None:
    desk.sender = Sender(desk.chain, Key(bytes(31) + b"\x07"), desk.kept, clock=lambda: desk.time)
    deadline = desk.chain.now() + HOUR
    desk.want("answer", deadline=deadline, value=0)
    for _ in range(2):
        with pytest.raises(CannotPayAnswer) as caught:
            desk.look()
        desk.wait(1)
        assert (caught.value.account, caught.value.balance, caught.value.deadline) == (desk.sender.account, 0, deadline)
        assert durations.show_time(deadline) in explanations.headline(caught.value)
    assert desk.outcomes == []


def test_a_transaction_that_fails_in_its_block_is_told_with_the_reason(desk: Desk) -> None:
    """Its simulation had succeeded: the contract refuses from the next second on."""
    desk.node.is_mining = True
    # It reverts where the time of the block is beyond the first word of its calldata.
    picky = place(desk.chain, bytes.fromhex("6000354211600957005b600080fd"))
    desk.node.is_mining = False
    desk.sender.submit(transactions.TxRequest(b"late", picky, desk.node.next_time.to_bytes(32), 0, ETHER))
    desk.look()
    assert desk.outcomes == []
    desk.wait_and_look(1)
    (refused,) = desk.outcomes
    assert isinstance(refused, transactions.TxFailed)
    assert isinstance(refused.error, errors.TransactionReverted)
    assert refused.error.reason == errors.CallRefused(picky)


def test_a_replacement_that_the_node_finds_too_low_is_survived(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.send("a")
    ask = desk.node.ask

    def picky(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction":
            raise errors.EndpointFailed(method, "replacement transaction underpriced")
        return ask(method, *params)

    monkeypatch.setattr(desk.node, "ask", picky)
    spike(desk)
    desk.wait_and_look(PATIENCE)
    monkeypatch.setattr(desk.node, "ask", ask)
    desk.wait_and_look(PATIENCE)
    desk.wait_and_look(1)
    assert desk.landed == ["a"]


def test_what_has_come_out_is_told_before_what_fails(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.send("a")
    desk.wait(1)
    desk.want("b")
    ask = desk.node.ask

    def failing(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise errors.Unreachable("memory", "down")
        return ask(method, *params)

    monkeypatch.setattr(desk.node, "ask", failing)
    desk.look()
    assert desk.landed == ["a"]
    with pytest.raises(errors.Unreachable):
        desk.look()
    monkeypatch.setattr(desk.node, "ask", ask)
    desk.look()
    desk.wait_and_look(1)
    assert desk.landed == ["a", "b"]


# ------------------------------------------------------------------------------------------------------ real nodes


@pytest.fixture(params=["london", "berlin"])
def real(request: pytest.FixtureRequest) -> Any:
    """With a base fee, and from before there was one."""
    with AnvilChain("--hardfork", request.param, "--no-mining") as chain:
        chain.rpc.is_here = True  # it is asked at once
        yield chain


def test_on_a_real_node_both_markets_raise_what_waits(real: AnvilChain) -> None:
    kept, now = MemoryTxStore(), [0.0]
    sender = Sender(real, KEY, kept, bump_after=PATIENCE, clock=lambda: now[0])
    before = real.balance(PAYEE.address)
    for name in (b"a", b"b"):
        sender.submit(transactions.TxRequest(name, PAYEE.address, b"", 7, ETHER))
    assert sender.look() == []
    first = kept.all()[0].newest.fees
    now[0] += 10 * PATIENCE
    assert sender.look() == []
    lowest, next_ = kept.all()
    assert (len(lowest.versions), len(next_.versions)) == (2, 1)
    assert lowest.newest.fees.max_fee_per_gas > first.max_fee_per_gas
    assert lowest.newest.is_legacy == ("berlin" in str(real.rpc.ask("anvil_nodeInfo")["hardFork"]).lower())
    real.rpc.ask("evm_mine")
    outcomes = sender.look()
    assert [each.request_id for each in outcomes if isinstance(each, transactions.Confirmed)] == [b"a", b"b"]
    assert real.balance(PAYEE.address) - before == 14
    assert sender.look() == []
    assert not kept.all()


def test_threat_44_on_a_real_node_a_spike_and_a_restart(real: AnvilChain) -> None:
    kept = MemoryTxStore()
    Sender(real, KEY, kept).submit(
        transactions.TxRequest(b"lost", PAYEE.address, b"", 1, ETHER)
    )  # asked for, never looked at
    sender = Sender(real, KEY, kept)
    sender.submit(transactions.TxRequest(b"a", PAYEE.address, b"", 1, ETHER))
    sender.look()
    if not kept.all()[0].newest.is_legacy:
        real.rpc.ask("anvil_setNextBlockBaseFeePerGas", hex(500 * GWEI))
        real.rpc.ask("evm_mine")
    real.rpc.ask("anvil_dropAllTransactions")
    again = Sender(real, KEY, kept, bump_after=0.001)
    for _ in range(3):
        again.look()
        real.rpc.ask("evm_mine")
    assert again.look() == []
    assert not kept.all()


def test_threat_44_on_a_real_node_a_dropped_transaction_of_another_program_holds_up_no_answer(real: AnvilChain) -> None:
    kept = MemoryTxStore()
    sender, before = Sender(real, KEY, kept), real.nonce_of(KEY.address)
    foreign = real.sign(Call(OTHER.address, b"", 5), KEY)
    real.broadcast(foreign)
    sender.submit(transactions.TxRequest(b"answer", PAYEE.address, b"", 7, ETHER, real.now() + HOUR))
    sender.look()
    real.rpc.ask("anvil_dropTransaction", "0x" + foreign.hash.hex())
    real.rpc.ask("evm_mine")
    assert real.nonce_of(KEY.address) == before
    outcomes = []
    for _ in range(3):
        real.rpc.ask("evm_increaseTime", PATIENCE)
        real.rpc.ask("evm_mine")
        outcomes += sender.look()
    assert [each.request_id for each in outcomes] == [b"answer"]
    assert real.nonce_of(KEY.address) == before + 2
    assert not kept.all()


def test_what_costs_more_than_it_is_worth_is_refused_and_an_answer_is_offered_what_it_is_worth(desk: Desk) -> None:
    desk.send("cheap", most=10**16)
    (failed,) = desk.outcomes
    assert isinstance(failed, transactions.TxFailed)
    assert isinstance(failed.error, GasTooDear)
    assert not desk.kept.all()
    desk.send("answer", most=10**16, deadline=desk.chain.now() + HOUR)
    (waiting,) = desk.node.waiting
    assert waiting.max_fee * waiting.gas <= 10**16
