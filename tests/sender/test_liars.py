"""One endpoint of two that lies costs an answer to a challenge no time that matters, and little gas: holes 22 to 24, 27
and 28 of the second series. An answer is what costs gas alone, and has a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from forcemove.chain.asking import Steps, asking
from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import EndpointFailed, TransactionReverted
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.chain.prices import MAX_TX_GAS
from forcemove.chain.reverts import ErrorTable
from forcemove.chain.rpc import Reverted
from forcemove.errors import PassingError
from forcemove.sender.errors import NotTaken, OpinionsDiffer, RevertsAgain
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Confirmed, TxFailed, TxOutcome, TxRequest
from tests.chain.world import place
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.grounds import AnvilGround
from tests.simulation.tx_store import MemoryTxStore

KEY, OTHER, PAYEE = local_keys()[:3]
GWEI, ETHER = 10**9, 10**18
HOUR, BLOCK, PATIENCE = 3_600, 12, 60
BEFORE = 3
"""Transactions that the account has sent before."""


class Estimating(MemoryChain):
    """With an estimate that a test may choose."""

    estimate: int | None = None

    @asking
    def gas_for(self, call: Call, sender: bytes, errors: ErrorTable, max_gas: int = MAX_TX_GAS) -> Steps[int]:
        found = yield from super().gas_for.steps(call, sender, errors, max_gas)
        return found if self.estimate is None else self.estimate


class Table:
    """A sender with two endpoints of one node, of which one may lie."""

    def __init__(self, liar: int = 0, count: int = 2) -> None:
        self.chain, self.time = MemoryChain(), 0.0
        self.node = self.chain.node
        for _ in range(BEFORE):
            self.chain.send(Call(OTHER.address, b"", 1), KEY)
        self.node.is_mining = False
        self.endpoints = [Endpoint(self.node, str(number)) for number in range(count)]
        self.chains = [Estimating(each) for each in self.endpoints]
        self.liar, self.lying = self.endpoints[liar], self.chains[liar]
        self.kept = MemoryTxStore()
        self.outcomes: list[TxOutcome] = []
        self.troubles: list[PassingError] = []
        self.began = len(self.node.blocks)
        self.restart()

    def restart(self) -> None:
        first, *others = self.chains
        self.sender = Sender(first, KEY, self.kept, bump_after=PATIENCE, clock=lambda: self.time, others=others)

    def want(self, name: bytes = b"answer", value: int = 0, most: int = ETHER // 2, blocks: int = 0) -> None:
        """`blocks`: that pass then."""
        deadline = None if value else self.chain.now() + HOUR
        self.sender.submit(TxRequest(name, PAYEE.address, b"", value, most, deadline, gas=21_000))
        self.pass_blocks(blocks)

    def pass_blocks(self, count: int = 1) -> None:
        for _ in range(count):
            try:
                self.outcomes += self.sender.look()
            except PassingError as error:
                self.troubles.append(error)
            self.time += BLOCK
            self.node.next_time += BLOCK
            self.node.mine()

    @property
    def answered(self) -> int:
        """How many transactions to the payee are mined."""
        mined = [each for block in self.node.blocks[self.began :] for each in block.transactions]
        return sum(each.to == PAYEE.address for each in mined)

    @property
    def cost(self) -> int:
        hashes = ["0x" + each.hash.hex() for block in self.node.blocks[self.began :] for each in block.transactions]
        receipts = [self.node.ask("eth_getTransactionReceipt", each) for each in hashes]
        return sum(each["gasUsed"] * each["effectiveGasPrice"] for each in receipts)


def refuse(words: str) -> Callable[[Any], Any]:
    def refusing(_: Any) -> Any:
        raise EndpointFailed("eth_sendRawTransaction", words)

    return refusing


def swallow(table: Table) -> None:
    """It takes what it is sent, and shows it to nobody."""
    honest = table.liar.answer

    def answer(method: str, *params: Any) -> Any:
        return bytes(32) if method == "eth_sendRawTransaction" else honest(method, *params)

    table.liar.answer = answer


def refuse_all_calls(table: Table) -> None:
    honest = table.liar.answer

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call":
            raise Reverted(b"")
        return honest(method, *params)

    table.liar.answer = answer


def replace(method: str, answer: object) -> Callable[[Table], None]:
    return lambda table: table.liar.replace(method, lambda _: answer)


def refuse_with(words: str) -> Callable[[Table], None]:
    def lie(table: Table) -> None:
        swallow(table)
        table.liar.replace("eth_sendRawTransaction", refuse(words))

    return lie


def head(**fields: object) -> Callable[[Table], None]:
    return lambda table: table.liar.replace("eth_getBlockByNumber", lambda found: {**found, **fields})


def time_off_by(seconds: int) -> Callable[[Table], None]:
    def lie(table: Table) -> None:
        table.liar.replace("eth_getBlockByNumber", lambda found: {**found, "timestamp": found["timestamp"] + seconds})

    return lie


def estimate(gas: int) -> Callable[[Table], None]:
    def lie(table: Table) -> None:
        table.lying.estimate = gas

    return lie


def invent_receipts(status: int) -> Callable[[Table], None]:
    """All that the account has sent is mined, says it, and shows receipts."""

    def lie(table: Table) -> None:
        swallow(table)
        honest = table.liar.answer

        def answer(method: str, *params: Any) -> Any:
            if method == "eth_getTransactionCount":
                return BEFORE + 1 if table.kept.all() else BEFORE
            if method == "eth_getTransactionReceipt":
                block = table.node.latest
                return {
                    "transactionHash": params[0],
                    "blockNumber": block.number - 3,
                    "blockHash": block.hash,
                    "gasUsed": 21_000,
                    "effectiveGasPrice": 2**255,
                    "status": status,
                    "logs": [],
                }
            return honest(method, *params)

        table.liar.answer = answer

    return lie


LIES: dict[str, Callable[[Table], None]] = {
    "the pool is full": refuse_with("txpool is full"),
    "too many requests": refuse_with("rate limit exceeded"),
    "no funds": refuse_with("insufficient funds for gas * price + value"),
    "it is taken and kept": swallow,
    "it would fail": refuse_all_calls,
    "nonce far ahead": replace("eth_getTransactionCount", BEFORE + 1_000),
    "nonce a little ahead": replace("eth_getTransactionCount", BEFORE + 3),
    "nonce 2**64": replace("eth_getTransactionCount", 2**64),
    "nonce 2**256-1": replace("eth_getTransactionCount", 2**256 - 1),
    "nonce behind": replace("eth_getTransactionCount", 0),
    "estimate 0": estimate(0),
    "estimate 2**40": estimate(2**40),
    "estimate too low": estimate(20_000),
    "base fee 0": head(baseFeePerGas=0),
    "base fee 2**256-1": head(baseFeePerGas=2**256 - 1),
    "base fee absent": head(baseFeePerGas=None),
    "price 2**200": lambda table: (head(baseFeePerGas=None)(table), replace("eth_gasPrice", 2**200)(table))[0],
    "tip 2**200": replace("eth_maxPriorityFeePerGas", 2**200),
    "tip 0": replace("eth_maxPriorityFeePerGas", 0),
    "balance 0": replace("eth_getBalance", 0),
    "balance 2**256-1": replace("eth_getBalance", 2**256 - 1),
    "time far ahead": time_off_by(2 * HOUR),
    "time behind": time_off_by(-2 * HOUR),
    "time 2**70": head(timestamp=2**70),
    "height 2**64": head(number=2**64),
    "invented success": invent_receipts(1),
    "invented failure": invent_receipts(0),
    "all is known": replace("eth_getTransactionByHash", {}),
    "null": replace("eth_getBlockByNumber", None),
    "a list": replace("eth_getTransactionCount", []),
    "an odd library": lambda table: table.liar.replace("eth_getBlockByNumber", lambda _: 1 // 0),
}


@pytest.fixture(scope="module")
def honest_cost() -> int:
    table = Table()
    table.want(blocks=3)
    assert table.answered == 1
    return table.cost


@pytest.mark.parametrize("place_", [0, 1])
@pytest.mark.parametrize("lie", LIES)
def test_holes_23_and_24_one_that_lies_keeps_no_answer_from_the_chain(lie: str, place_: int, honest_cost: int) -> None:
    table = Table(place_)
    LIES[lie](table)
    table.want(blocks=2)
    assert table.answered >= 1
    table.pass_blocks(40)
    assert table.cost <= 3 * honest_cost
    assert any(isinstance(each, Confirmed) for each in table.outcomes)


@pytest.mark.parametrize("lie", LIES)
def test_hole_23_a_liar_alone_ends_nothing_and_when_it_says_the_truth_it_is_answered(lie: str) -> None:
    """Also after a restart."""
    table = Table(count=1)
    LIES[lie](table)
    table.want(blocks=2)
    table.liar.be_honest()
    table.lying.estimate = None
    table.restart()
    if not table.answered:
        table.want()
    table.pass_blocks(12)
    assert table.answered >= 1


@pytest.mark.parametrize("place_", [0, 1])
@pytest.mark.parametrize("lie", ["nonce far ahead", "nonce behind"])
def test_hole_22_what_pays_in_waits_until_the_nonces_agree_and_is_paid_once(lie: str, place_: int) -> None:
    table = Table(place_)
    LIES[lie](table)
    table.want(value=7)
    table.pass_blocks(3)
    assert table.answered == 0
    assert not table.kept.all()
    assert {type(each) for each in table.troubles} == {OpinionsDiffer}
    table.liar.be_honest()
    table.pass_blocks(3)
    assert table.answered == 1


@pytest.mark.parametrize("place_", [0, 1])
def test_hole_23_each_endpoint_is_given_an_answer_with_its_own_nonce_at_once(place_: int) -> None:
    table = Table(place_)
    LIES["nonce far ahead"](table)
    table.want(blocks=1)
    assert table.answered == 1


def test_hole_22_a_nonce_far_ahead_disturbs_no_other_numbering() -> None:
    table = Table()
    LIES["nonce far ahead"](table)
    for name in (b"a", b"b", b"c"):
        table.want(name)
        table.pass_blocks(3)
    assert table.answered == 3
    assert [each.nonce for each in table.kept.all() if each.nonce < 1_000] == []


def test_hole_23_a_refusal_by_all_is_told_and_offered_again() -> None:
    table = Table(count=1)
    refuse_with("txpool is full")(table)
    table.want(blocks=2)
    assert {type(each) for each in table.troubles} == {NotTaken}
    assert table.outcomes == []
    table.liar.be_honest()
    table.pass_blocks(2)
    assert table.answered == 1


def test_hole_24_a_tip_is_never_beyond_our_own() -> None:
    table = Table(count=1)
    LIES["tip 2**200"](table)
    table.want(blocks=1)
    (kept,) = table.kept.all()
    assert kept.newest.tip == 2 * GWEI


def test_threat_44_what_one_keeps_to_itself_is_raised_at_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The miners leave us out; each endpoint is offered the same version, and no other."""
    table = Table()
    monkeypatch.setattr(table.node, "_take", lambda: ())
    table.want(blocks=60)
    (waiting,) = table.node.waiting
    (kept,) = table.kept.all()
    assert waiting.hash == kept.newest.hash


# --------------------------------------------------------------------------------------------------- what reverts


def costly(table: Table) -> bytes:
    """A contract that takes some 130,000 gas."""
    table.node.is_mining = True
    made = place(table.chain, bytes.fromhex("60005b60010180611388116002") + b"\x57\x00")
    table.node.is_mining = False
    return made


def test_hole_27_what_reverts_is_given_more_gas_then_more_time_and_then_its_owner_is_told() -> None:
    """Our own table says too little here, and the endpoint, too."""
    table = Table(count=1)
    wanted = TxRequest(b"transfer", costly(table), b"", 0, ETHER, gas=30_000)
    gas: list[int] = []
    times: list[float] = []
    for _ in range(60):
        table.sender.submit(wanted)
        before = {each.nonce for each in table.kept.all()}
        table.pass_blocks()
        for each in table.kept.all():
            if each.nonce not in before:
                gas.append(each.gas)
                times.append(table.time)
    errors = [each.error for each in table.outcomes if isinstance(each, TxFailed)]
    assert gas[:3] == [45_000, 90_000, 90_000]
    assert [type(each) for each in errors[:3]] == [TransactionReverted, TransactionReverted, RevertsAgain]
    assert len(errors) < 8
    assert times[3] - times[2] > times[2] - times[1] > times[1] - times[0]
    assert all(each.cost > 0 for each in table.outcomes if isinstance(each, TxFailed))


def test_hole_27_what_needs_more_than_our_own_table_says_lands_at_the_second_try() -> None:
    table = Table(count=1)
    wanted = TxRequest(b"transfer", costly(table), b"", 0, ETHER, gas=70_000)
    for _ in range(6):
        table.sender.submit(wanted)
        table.pass_blocks()
    assert [type(each) for each in table.outcomes][:2] == [TxFailed, Confirmed]


# ------------------------------------------------------------------------------------------------- what hangs


def test_threat_46_one_that_hangs_holds_up_no_other_and_no_process() -> None:
    table, ends = Table(1), threading.Event()
    table.liar.is_here = False
    table.liar.replace("eth_getBlockByNumber", lambda _: ends.wait(60))
    table.want()
    began = time.monotonic()
    table.pass_blocks(4)
    seconds = time.monotonic() - began
    are_daemons = {each.daemon for each in threading.enumerate() if each.name == table.liar.endpoint}
    ends.set()
    assert table.answered == 1
    assert seconds < 10
    assert are_daemons == {True}


# --------------------------------------------------------------------------------------------------- on a real node


@pytest.mark.parametrize("place_", [0, 1])
@pytest.mark.parametrize("hardfork", ["london", "berlin"])
def test_hole_28_on_a_real_node_every_endpoint_gets_what_defends(hardfork: str, place_: int) -> None:
    """One keeps it to itself, shows no funds, a nonce far ahead and a price of 2**200."""
    with AnvilChain("--hardfork", hardfork) as anvil:
        ground = AnvilGround(anvil)

        def lying(method: str, *params: Any) -> Any:
            match method:
                case "eth_sendRawTransaction":
                    return "0x" + bytes(32).hex()
                case "eth_getTransactionCount":
                    return hex(1_000)
                case "eth_gasPrice" | "eth_maxPriorityFeePerGas":
                    return hex(2**200)
                case "eth_getBalance":
                    return "0x0"
                case _:
                    return ground.ask(method, *params)

        chains: list[Chain] = [ground.through(ground.ask)]
        chains.insert(place_, ground.through(lying))
        sender = Sender(chains[0], KEY, MemoryTxStore(), others=chains[1:])
        before = anvil.balance(KEY.address)
        sender.submit(TxRequest(b"answer", PAYEE.address, b"", 0, ETHER // 2, anvil.now() + HOUR, gas=21_000))
        outcomes: list[TxOutcome] = []
        for _ in range(3):
            outcomes += sender.look()
            ground.ask("evm_mine")
        assert [type(each) for each in outcomes] == [Confirmed]
        assert 0 < before - anvil.balance(KEY.address) < 21_000 * 10 * GWEI
