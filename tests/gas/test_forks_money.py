"""Money under the next fork: what goes in comes out, and to whom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove import Key, keccak256
from forcemove.chain.chain import Call
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.prices import MAX_TX_GAS, PROBE, PROBE_GAS
from forcemove.chain.token import Token
from forcemove.protocol.types import ETHER
from scripts.measuring.bench import DAY, ETH, Bench, Channel, chain_of_fork, minted

AMOUNTS = ETH * 5 // 4, ETH * 3 // 4
PUSH_STEP = 16_384


@pytest.fixture(scope="module", params=[pytest.param("osaka", marks=pytest.mark.long), "amsterdam"])
def fork(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def bench(fork: str) -> Iterator[Bench]:
    with chain_of_fork(fork) as chain:
        yield Bench(chain)


@pytest.fixture(scope="module")
def token(bench: Bench) -> Token:
    return Token(bench.chain, bench.deployed("test/TestToken"))


def new_account(label: str) -> bytes:
    """An address that has nothing on any chain."""
    return Key(keccak256(label.encode())).address


class Paying(Channel):
    """A channel of two that pays these accounts. `asset`: what it pays in."""

    def __init__(self, bench: Bench, payees: tuple[bytes, bytes], asset: bytes = ETHER) -> None:
        fresh = bench.channel()
        super().__init__(bench, fresh.keys, fresh.fixed_part.channel_nonce, bench.app, asset)
        self.payees = payees

    def end(self, is_disputed: bool = False) -> None:
        """With a final state, or a challenge that nobody answers; all is paid out."""
        if is_disputed:
            self.challenge(self.state(10), self.state(11))
            self.bench.chain.travel_to(self.bench.chain.now() + DAY + 1)
            self.transfer(self.state(11))
        else:
            self.conclude(14)

    def balance(self, account: bytes) -> int:
        if self.asset == ETHER:
            return self.bench.chain.balance(account)
        return Token(self.bench.chain, self.asset).balance_of(account)

    @property
    def credits(self) -> list[int]:
        return [self.adjudicator.credit_of(payee, self.asset) for payee in self.payees]

    @property
    def holdings(self) -> tuple[int, bool]:
        """What the channel still holds, and whether it is closed."""
        found = self.adjudicator.holdings_of(self.id, self.asset, 0)
        return found.amount, found.closed


# --------------------------------------------------------------------------------------------------------------- ether


def old_accounts(bench: Bench) -> tuple[bytes, bytes]:
    """Two that have ether."""
    old = Key((101).to_bytes(32)).address, Key((102).to_bytes(32)).address
    for account in old:
        bench.chain.send(Call(account, b"", 1), bench.keys[0])
    return old


def gained(channel: Paying, before: list[int]) -> list[int]:
    return [channel.balance(payee) - had for payee, had in zip(channel.payees, before, strict=True)]


@pytest.mark.parametrize("is_disputed", [False, True], ids=["concluded", "disputed"])
@pytest.mark.parametrize("are_new", [False, True], ids=["to accounts", "to new accounts"])
def test_ether_is_paid_out(bench: Bench, is_disputed: bool, are_new: bool) -> None:
    """Also to accounts that the chain does not know: the payer pays for them, and not the payment's allowance."""
    new = new_account(f"one {is_disputed}"), new_account(f"other {is_disputed}")
    payees = new if are_new else old_accounts(bench)
    channel = Paying(bench, payees)
    before = list(map(channel.balance, payees))
    channel.fund()
    channel.end(is_disputed)
    assert gained(channel, before) == list(AMOUNTS)
    assert channel.holdings == (0, True)


# -------------------------------------------------------------------------------------------------------------- tokens


@pytest.mark.parametrize("is_disputed", [False, True], ids=["concluded", "disputed"])
def test_tokens_are_paid_to_who_has_some(bench: Bench, token: Token, is_disputed: bool) -> None:
    payees = new_account("has some"), new_account("has some, too")
    for payee in payees:
        bench.chain.send(minted(token, payee, 1), bench.keys[0])
    channel = Paying(bench, payees, token.address)
    before = list(map(token.balance_of, payees))
    channel.fund()
    channel.end(is_disputed)
    assert gained(channel, before) == list(AMOUNTS)
    assert channel.holdings == (0, True)


@pytest.mark.parametrize("name", ["TestToken", "NotingToken"])
@pytest.mark.parametrize("new", [1, 2])
@pytest.mark.parametrize("is_disputed", [False, True], ids=["concluded", "disputed"])
def test_tokens_are_paid_to_who_has_none(bench: Bench, name: str, new: int, is_disputed: bool) -> None:
    """The payees' gas is that of the table of prices, and the slot of a first balance is made with it; or two slots."""
    token = Token(bench.chain, bench.deployed(f"test/{name}"))
    payees = new_account(f"first of {new} {is_disputed}"), new_account(f"second of {new} {is_disputed}")
    if new == 1:
        bench.chain.send(minted(token, payees[0], 1), bench.keys[0])
    channel = Paying(bench, payees, token.address)
    before = list(map(token.balance_of, payees))
    channel.fund()
    channel.end(is_disputed)
    assert gained(channel, before) == list(AMOUNTS)
    assert channel.credits == [0, 0]
    assert channel.holdings == (0, True)


# ------------------------------------------------------------------------------- payees that refuse, burn, or need much


def succeeds(channel: Paying, push: int, gas: int) -> bool:
    """Whether a transaction with this much gas concludes the channel. Each payee may use `push` units of it."""
    bench = channel.bench
    bench.push, usual = push, bench.push
    call = channel.adjudicator.call_of(channel.concluding(14))
    bench.push = usual
    key, chain = bench.keys[0], bench.chain
    signed = chain.sign_as(call, key, chain.nonce_of(key.address), gas, chain.fees())
    chain.broadcast(signed)
    try:
        chain.wait(signed)
    except TransactionReverted:
        return False
    return True


def test_a_payee_that_burns_its_gas_costs_what_it_was_allowed(bench: Bench) -> None:
    """No more than the table of prices says that a payment may cost; and the other is paid."""
    old = old_accounts(bench)
    honest, burning = Paying(bench, old), Paying(bench, (bench.deployed("test/BurningRecipient"), old[1]))
    before = burning.balance(old[1])
    for channel in (honest, burning):
        channel.fund()
    more = burning.conclude(14) - honest.conclude(14)
    assert bench.push * PUSH_STEP < more < bench.chain.ask_prices().payment
    assert burning.credits == [AMOUNTS[0], 0]
    assert burning.balance(old[1]) == before + 2 * AMOUNTS[1]


def test_a_refusal_counts_from_the_price_of_two_slots_on(bench: Bench) -> None:
    """And what clients allow is as much, under these prices."""
    request = {"data": f"0x{PROBE.hex()}", "gas": hex(PROBE_GAS)}
    slot = int.from_bytes(bench.chain.rpc.data("eth_call", request, "latest"))
    least = -(-(60_000 + 2 * slot) // PUSH_STEP)
    assert least <= bench.push
    channel = Paying(bench, (bench.deployed("test/RevertingRecipient"), old_accounts(bench)[0]))
    channel.fund()
    for push in (0, 1, least // 2, least - 1):
        assert not succeeds(channel, push, MAX_TX_GAS)
        assert channel.credits == [0, 0]
    assert succeeds(channel, least, MAX_TX_GAS)
    assert channel.credits == [AMOUNTS[0], 0]


@pytest.mark.parametrize("beyond", [0, 60_000, 110_000, 160_000, 10**6])
def test_threat_15_gas_beyond_the_limit_makes_no_credit_of_a_good_payment(bench: Bench, fork: str, beyond: int) -> None:
    """Under Amsterdam slots are paid for out of what a transaction has beyond 2^24 as long as there is some: a sender
    gives enough for one slot, and a payment needs two."""
    channel = Paying(
        bench, (new_account(f"beyond {beyond}"), old_accounts(bench)[0]), bench.deployed("test/NotingToken")
    )
    channel.fund()
    gas = MAX_TX_GAS + (beyond if fork == "amsterdam" else 0)
    pushes = (push for push in range(bench.push + 1) if succeeds(channel, push, gas))
    assert next(pushes, None) is not None
    assert channel.credits == [0, 0]
    assert channel.balance(channel.payees[0]) == AMOUNTS[0]
