"""A wallet has sent a transaction with the same key that no block takes: hole 55. Answers do not wait for it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from hexbytes import HexBytes

from forcemove.chain.chain import Call, Fees
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.errors import PassingError
from forcemove.sender import errors, sender, transactions
from tests.simulation.chain import MemoryChain
from tests.simulation.grounds import AnvilGround, Ground, MemoryGround
from tests.simulation.tx_store import MemoryTxStore

KEY, OTHER, PAYEE = local_keys()[:3]
GWEI, ETHER = 10**9, 10**18
MINUTES, BLOCK = 240, 12


class WalletGround(AnvilGround):
    """An anvil drops what a block does not take; a wallet sends it again after each block, as other nodes keep it."""

    def __init__(self, chain: AnvilChain) -> None:
        super().__init__(chain)
        self._wallet: list[str] = []

    def ask(self, method: str, *params: Any) -> Any:
        answer = super().ask(method, *params)
        if method == "eth_sendRawTransaction" and self.base_fee == GWEI:
            self._wallet.append(params[0])
        return answer

    def mine(self, later: int) -> None:
        super().mine(later)
        self.ask("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
        for each in self._wallet:
            with suppress(EndpointFailed):
                super().ask("eth_sendRawTransaction", each)
        self.ask("anvil_setNextBlockBaseFeePerGas", hex(self.base_fee))


class Desk:
    """A sender whose account has a wallet's transactions before ours, below the base fee."""

    def __init__(self, ground: Ground, fees: Fees, count: int = 1) -> None:
        self.ground, self.time = ground, 0.0
        self.outcomes: list[transactions.TxOutcome] = []
        self.errors: list[PassingError] = []
        chain = ground.through(ground.ask)
        first = chain.nonce_of(KEY.address)
        for nonce in range(first, first + count):
            chain.broadcast(chain.sign_as(Call(OTHER.address, b"", 5), KEY, nonce, 21_000, fees))
        ground.base_fee = 10 * GWEI
        ground.mine(1)
        self.first, self.before = first, chain.balance(OTHER.address)
        self.sender = sender.Sender(chain, KEY, MemoryTxStore(), clock=lambda: self.time)

    def want(self, name: bytes, deadline: int | None) -> None:
        self.sender.submit(transactions.TxRequest(name, PAYEE.address, b"", 0, ETHER // 10, deadline, gas=50_000))

    def pass_(self, seconds: int) -> None:
        """So many, with a look and a block each twelve seconds."""
        for _ in range(0, seconds, BLOCK):
            self.outcomes += self.sender.look()
            self.errors += self.sender.take_errors()
            self.time += BLOCK
            self.ground.mine(BLOCK)
        self.outcomes += self.sender.look()

    @property
    def confirmed(self) -> list[bytes]:
        found = (each.request_id for each in self.outcomes if isinstance(each, transactions.Confirmed))
        return sorted(each for each in found if isinstance(each, bytes))


@pytest.fixture
def memory() -> Ground:
    return MemoryGround(MemoryChain())


CHEAP = Fees(GWEI, GWEI)
DEAR_TIP = Fees(9 * GWEI, 9 * GWEI)


@pytest.mark.parametrize("fees", [CHEAP, DEAR_TIP], ids=["cheap", "dear tip"])
@pytest.mark.parametrize("count", [1, 3])
def test_hole_55_what_no_block_takes_holds_up_no_answer(memory: Ground, fees: Fees, count: int) -> None:
    """Nine offers used to wait behind it, and nobody was told."""
    desk = Desk(memory, fees, count)
    for number in range(9):
        desk.want(b"%d" % number, desk.ground.chain.now() + MINUTES)
    desk.pass_(MINUTES // 2)
    assert desk.confirmed == [b"%d" % number for number in range(9)]
    blocked = [each for each in desk.errors if isinstance(each, errors.NonceBlocked)]
    assert [(each.account, each.nonce) for each in blocked] == [(KEY.address, desk.first)]
    assert desk.ground.chain.balance(OTHER.address) == desk.before
    assert desk.sender.is_idle


def test_hole_55_what_does_not_hurry_waits_and_that_is_told(memory: Ground) -> None:
    desk = Desk(memory, CHEAP)
    desk.want(b"collect", None)
    desk.pass_(2 * MINUTES)
    assert desk.confirmed == []
    assert [type(each) for each in desk.errors] == [errors.NonceBlocked]
    desk.ground.base_fee = GWEI // 2
    desk.pass_(3 * BLOCK)
    assert desk.confirmed == [b"collect"]
    assert desk.ground.chain.nonce_of(KEY.address) == desk.first + 2
    assert desk.ground.chain.balance(OTHER.address) == desk.before + 5


def test_hole_55_who_refuses_every_offer_is_offered_a_part_of_the_cap_only(memory: Ground) -> None:
    """The part of the time that has gone by: it may have invented what is in the way."""
    desk, offers = Desk(memory, CHEAP), list[int]()

    def refusing(method: str, *params: Any) -> Any:
        if method == "eth_sendRawTransaction":
            offer = TypedTransaction.from_bytes(HexBytes(params[0])).as_dict()
            if offer["nonce"] == desk.first:
                offers.append(offer["maxPriorityFeePerGas"])
                raise EndpointFailed(method, "replacement transaction underpriced")
        return memory.ask(method, *params)

    desk.sender = sender.Sender(memory.through(refusing), KEY, MemoryTxStore(), clock=lambda: desk.time)
    desk.want(b"answer", memory.chain.now() + 4 * MINUTES)
    desk.pass_(2 * MINUTES)
    assert 100 * GWEI < max(offers) < 0.6 * ETHER / 10 / 31_500


@pytest.mark.parametrize("fees", [CHEAP, DEAR_TIP], ids=["cheap", "dear tip"])
def test_hole_55_on_a_real_node_a_challenge_is_answered_before_a_wallets_transaction(fees: Fees) -> None:
    with AnvilChain("--no-mining") as anvil:
        desk = Desk(WalletGround(anvil), fees)
        desk.want(b"answer", anvil.now() + MINUTES)
        desk.pass_(MINUTES // 2)
        assert desk.confirmed == [b"answer"]
        assert [type(each) for each in desk.errors] == [errors.NonceBlocked]
        assert anvil.balance(OTHER.address) == desk.before
