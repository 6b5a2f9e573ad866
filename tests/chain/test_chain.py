"""Transactions from signing to the receipt, reads, and whatever a node may do to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove.chain.chain import Call, Chain, Fees, SignedTransaction, contract_address
from forcemove.chain.errors import EndpointFailed, InsufficientFunds, NotMined, TransactionRefused
from forcemove.chain.local import AnvilChain
from forcemove.chain.token import Token
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ZERO_ADDRESS
from tests.chain.world import MINER, World, deploy_contract
from tests.expected import raising
from tests.protocol.builders import ALICE, BOB

POOR = Key(b"\x77" * 32)
NOTHING = Call(BOB.address, b"", 1)


@pytest.fixture
def stalled(anvil_world: World) -> Iterator[Chain]:
    """An anvil that mines only on demand."""
    anvil_world.chain.rpc.ask("evm_setAutomine", False)
    yield anvil_world.chain
    anvil_world.chain.rpc.ask("evm_mine")
    anvil_world.chain.rpc.ask("evm_setAutomine", True)


def test_a_receipt_tells_what_it_cost(world: World) -> None:
    before, paid = world.chain.balance(BOB.address), world.chain.balance(ALICE.address)

    receipt = world.chain.send(NOTHING, ALICE)

    assert world.chain.balance(BOB.address) == before + 1
    assert paid - world.chain.balance(ALICE.address) == 1 + receipt.gas_used * receipt.gas_price
    assert receipt.block_number == world.chain.block_number()
    assert receipt.gas_used == 21_000


@pytest.mark.parametrize("nonce", [0, 1, 127, 128, 255, 256, 70_000])
def test_addresses_of_new_contracts_are_foreseen(nonce: int) -> None:
    from eth._utils.address import generate_contract_address
    from eth_typing import Address

    assert contract_address(ALICE.address, nonce) == generate_contract_address(Address(ALICE.address), nonce)


@pytest.mark.parametrize("world", ["eth-tester", "anvil"], indirect=True)  # pyrevm counts no transactions
def test_a_contract_stands_where_it_was_foreseen(world: World) -> None:
    nonce = world.chain.rpc.number("eth_getTransactionCount", "0x" + MINER.address.hex(), "latest")

    assert deploy_contract(world.chain, "CountingApp") == contract_address(MINER.address, nonce)


def test_an_account_that_cannot_pay_is_named(world: World) -> None:
    with pytest.raises(InsufficientFunds) as caught:
        world.chain.send(NOTHING, POOR)

    assert caught.value.account == POOR.address


def test_waiting_ends(stalled: Chain) -> None:
    signed = stalled.sign(NOTHING, ALICE)
    stalled.broadcast(signed)

    with raising(NotMined(signed.hash, 0.05)):
        stalled.wait(signed, timeout=0.05)


def again(chain: Chain, first: SignedTransaction, times: int, parts: int) -> SignedTransaction:
    """Another version of it, which offers this many times a part of what the first has offered."""
    offered = Fees(first.fees.max_fee_per_gas * times // parts, first.fees.max_priority_fee_per_gas * times // parts)
    return chain.sign_as(first.call, ALICE, first.nonce, first.gas, offered)


def test_a_second_version_takes_the_place_of_the_first(stalled: Chain) -> None:
    first = stalled.sign(NOTHING, ALICE)
    stalled.broadcast(first)

    second = again(stalled, first, 5, 4)
    stalled.broadcast(second)
    stalled.rpc.ask("evm_mine")

    assert stalled.wait(second).transaction_hash == second.hash
    assert not stalled.knows(first.hash)


def test_a_second_version_of_what_was_mined_is_refused(stalled: Chain) -> None:
    first = stalled.sign(NOTHING, ALICE)
    stalled.broadcast(first)
    stalled.rpc.ask("evm_mine")

    with pytest.raises(TransactionRefused):
        stalled.broadcast(again(stalled, first, 5, 4))


def test_a_second_version_that_offers_too_little_is_refused(stalled: Chain) -> None:
    first = stalled.sign(NOTHING, ALICE)
    stalled.broadcast(first)

    with pytest.raises(TransactionRefused) as caught:
        stalled.broadcast(again(stalled, first, 99, 100))

    assert "underpriced" in caught.value.reason


def test_sending_the_same_bytes_twice_is_no_failure(stalled: Chain) -> None:
    signed = stalled.sign(NOTHING, ALICE)
    stalled.broadcast(signed)

    stalled.broadcast(signed)

    stalled.rpc.ask("evm_mine")
    assert stalled.wait(signed).transaction_hash == signed.hash


def test_a_used_nonce_is_refused(anvil_world: World) -> None:
    signed = anvil_world.chain.sign(NOTHING, ALICE)
    anvil_world.chain.send(NOTHING, ALICE)

    with pytest.raises(TransactionRefused):
        anvil_world.chain.broadcast(signed)


def test_a_method_that_the_node_lacks_is_refused_in_its_words(anvil: AnvilChain) -> None:
    with pytest.raises(EndpointFailed) as caught:
        anvil.rpc.ask("eth_noSuchMethod")

    assert caught.value.method == "eth_noSuchMethod"


def test_there_is_no_block_of_the_future(world: World) -> None:
    with pytest.raises(EndpointFailed):
        world.chain.block(10**9)


def test_no_code_stands_at_an_account(world: World) -> None:
    assert world.chain.code(ALICE.address) == b""
    assert world.chain.code(world.app) != b""


def test_a_call_that_only_fails_costs_nothing_and_says_so(world: World) -> None:
    with pytest.raises(EndpointFailed):
        world.chain.call(Call(_invalid(world.chain), b""))


def _invalid(chain: Chain) -> bytes:
    """A contract of one byte, the invalid opcode."""
    address = chain.send(Call(None, bytes.fromhex("60fe60005360016000f3")), ALICE).contract_address
    return address or ZERO_ADDRESS


def test_a_token_is_approved_and_counted(world: World) -> None:
    from forcemove.chain.codec import function

    token = Token(world.chain, deploy_contract(world.chain, "TestToken"))
    mint = function("mint", "TestToken").encode(ALICE.address, 50)
    world.chain.send(Call(token.address, mint), MINER)

    world.chain.send(token.approve(BOB.address, 20), ALICE)

    assert token.balance_of(ALICE.address) == 50
    assert token.allowance(ALICE.address, BOB.address) == 20
