"""Deposits of a token: what the contract may take is what one deposit needs, and no other deposit uses it up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.chain.token import Token
from forcemove.errors import PassingError
from forcemove.sender.errors import AllowanceStays
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Allowance, Confirmed, TxFailed, TxOutcome, TxRequest
from tests.chain.world import World, deploy_contract, make_world, place
from tests.simulation.chain import MemoryChain
from tests.simulation.tx_store import MemoryTxStore

MINTER, KEY = local_keys()[:2]
DEPOSIT, HAS = 5, 100
LOOKS = 20


class Desk:
    """A sender on a chain that mines when it is told to. `token`: of which nothing is allowed at first."""

    def __init__(self, chain: AnvilChain, contract: str = "TestToken") -> None:
        self.world: World = make_world(chain)
        self.chain, self.adjudicator = chain, self.world.adjudicator
        self.token = Token(chain, deploy_contract(chain, contract))
        chain.send(Call(self.token.address, function("mint", "TestToken").encode(KEY.address, HAS)), MINTER)
        chain.rpc.ask("evm_setAutomine", False)
        chain.rpc.is_here = True  # it is asked at once
        self.sender = Sender(chain, KEY, MemoryTxStore())
        self.outcomes: list[TxOutcome] = []
        self.begun_at = chain.nonce_of(KEY.address)

    def want(self, *, token: bytes | None = None) -> bytes:
        """Ask for a deposit in a new channel; its id."""
        id_, asset = self.world.id_of(self.world.channel()), token or self.token.address
        call = self.adjudicator.call_of(self.adjudicator.deposit(id_, asset, 0, DEPOSIT))
        allowance = Allowance(asset, self.adjudicator.address, DEPOSIT)
        self.sender.submit(TxRequest(id_, self.adjudicator.address, call.data, 0, 10**18, None, allowance, 200_000))
        return id_

    def work(self) -> None:
        for _ in range(LOOKS):
            self.outcomes += self.sender.look()
            self.chain.rpc.ask("evm_mine")
            if self.sender.is_idle:
                return
        raise AssertionError("it does not come to an end")

    def held(self, id_: bytes, token: bytes | None = None) -> int:
        return self.adjudicator.holdings_of(id_, token or self.token.address, 0).amount

    @property
    def allowance(self) -> int:
        return self.token.allowance(KEY.address, self.adjudicator.address)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with AnvilChain() as chain:
        yield Desk(chain)


def test_a_deposit_is_allowed_exactly_and_leaves_no_allowance(desk: Desk) -> None:
    id_ = desk.want()
    desk.sender.look()
    desk.chain.rpc.ask("evm_mine")
    assert desk.allowance == DEPOSIT
    desk.work()
    assert (desk.held(id_), desk.allowance) == (DEPOSIT, 0)


def test_two_tables_deposits_of_one_token_do_not_use_up_each_others_allowance(desk: Desk) -> None:
    """The second of them used to be mined, and to fail."""
    ids = [desk.want(), desk.want()]
    desk.work()
    assert [desk.held(each) for each in ids] == [DEPOSIT, DEPOSIT]
    assert [type(each) for each in desk.outcomes] == [Confirmed, Confirmed]
    assert desk.chain.nonce_of(KEY.address) - desk.begun_at == 4
    assert desk.allowance == 0


@pytest.mark.parametrize("token", ["TestToken", "StubbornToken"])
def test_what_an_earlier_approval_has_left_is_taken_back_before(token: str) -> None:
    """Else a token that refuses to change it takes no deposit any more."""
    with AnvilChain() as chain:
        desk = Desk(chain, token)
        chain.rpc.ask("evm_setAutomine", True)
        chain.send(desk.token.approve(desk.adjudicator.address, DEPOSIT - 1), KEY)
        chain.rpc.ask("evm_setAutomine", False)
        id_ = desk.want()
        desk.work()
        assert (desk.held(id_), desk.allowance) == (DEPOSIT, 0)
        assert [type(each) for each in desk.outcomes] == [Confirmed]


def test_a_deposit_does_not_wait_for_one_of_another_token(desk: Desk) -> None:
    desk.chain.rpc.ask("evm_setAutomine", True)
    other = deploy_contract(desk.chain, "TestToken")
    desk.chain.send(Call(other, function("mint", "TestToken").encode(KEY.address, HAS)), MINTER)
    desk.chain.rpc.ask("evm_setAutomine", False)
    first, second = desk.want(), desk.want(token=other)
    for _ in range(2):
        desk.outcomes += desk.sender.look()
        desk.chain.rpc.ask("evm_mine")
    assert (desk.held(first), desk.held(second, other)) == (DEPOSIT, DEPOSIT)


def test_threat_98_approvals_without_effect_are_told_and_come_to_an_end() -> None:
    """One in each block, as long as the deposit was wanted: a token says yes, and lets nobody take anything."""
    chain, time = MemoryChain(), [0.0]
    token = place(chain, bytes.fromhex("5f5f5260205ff3"))
    sender = Sender(chain, KEY, MemoryTxStore(), bump_after=60, clock=lambda: time[0])
    wanted = TxRequest(b"deposit", token, b"", 0, 10**18, None, Allowance(token, token, DEPOSIT), 200_000)
    chain.node.is_mining = False
    outcomes, errors, sent = list[TxOutcome](), list[PassingError](), list[float]()
    for _ in range(100):
        sender.submit(wanted)
        outcomes += sender.look()
        errors += sender.take_errors()
        time[0] += 12
        chain.node.mine()
        sent += [time[0]] * len(chain.node.latest.transactions)
    first, second, third = sent
    assert third - second > 60 > second - first
    (told,) = errors
    assert isinstance(told, AllowanceStays)
    assert (told.token, told.amount, told.allowed, told.times) == (token, DEPOSIT, 0, 2)
    (failed,) = outcomes
    assert isinstance(failed, TxFailed)
    assert isinstance(failed.error, AllowanceStays)
    assert (failed.request_id, failed.error.times) == (b"deposit", 3)
