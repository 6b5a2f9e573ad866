"""Each lie of the catalogue against each function that reads what it is about: it gives a well-formed value or raises a
typed error, in its time, and raises nothing else."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from typing import Any

import pytest

from forcemove import ETHER, Adjudicator, ChainError, RuleError, connect
from forcemove.chain.chain import Call, Chain
from forcemove.chain.reverts import NO_ERRORS
from forcemove.chain.token import Token
from tests.chain.world import World, make_world
from tests.liars.lies import FIELDS, MONEY, Lie, Lies, lies_of
from tests.liars.misbehaviour import MISBEHAVIOUR
from tests.liars.proxy import lying, through
from tests.protocol.builders import ALICE, BOB
from tests.sampled import sampled
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.structure.imports import ROOT

SECONDS = 0.5
_SLOW = 30.0
"""Seconds more that a machine may take which runs other things meanwhile."""
NOTHING = Call(BOB.address, b"", 1)


@dataclass
class Seen:
    """A chain and its adjudicator, as an endpoint shows them that may lie."""

    chain: Chain
    adjudicator: Adjudicator
    id: bytes
    mined: bytes
    """The hash of a transaction."""
    lie_with: Callable[[Lie | Lies | None], None]


def honest(ask: Any, method: str, *params: Any) -> Any:
    return ask(method, *params)


@contextmanager
def in_memory() -> Iterator[Seen]:
    world = make_world(MemoryChain())
    assert isinstance(world.chain, MemoryChain)
    node = world.chain.node
    endpoint = Endpoint(node)

    def lie_with(lie: Lie | Lies | None) -> None:
        endpoint.answer = through(node, lie or honest)

    yield seen(world, MemoryChain(endpoint), lie_with)


@contextmanager
def over_http(world: World) -> Iterator[Seen]:
    told: list[Lie | Lies | None] = [None]

    def tell(ask: Any, method: str, *params: Any) -> Any:
        return (told[0] or honest)(ask, method, *params)

    def lie_with(lie: Lie | Lies | None) -> None:
        told[0] = lie

    with (
        lying(world.chain.endpoint, tell) as url,
        connect(url, expected_chain_id=world.chain.chain_id, timeout=SECONDS) as chain,
    ):
        chain.block_number()
        yield seen(world, chain, lie_with)


def seen(world: World, chain: Chain, lie_with: Callable[[Lie | Lies | None], None]) -> Seen:
    fixed = world.channel()
    world.fund(fixed)
    mined = world.chain.send(NOTHING, ALICE).transaction_hash
    adjudicator = Adjudicator(chain, world.adjudicator.address)
    return Seen(chain, adjudicator, world.id_of(fixed), mined, lie_with)


def broadcast(it: Seen) -> int:
    """How many transactions more the node has then, mined or not yet: a node may answer before its block is there."""
    before = it.chain.nonce_of(ALICE.address, block="pending")
    it.chain.broadcast(it.chain.sign(NOTHING, ALICE))
    return it.chain.nonce_of(ALICE.address, block="pending") - before


READERS: Mapping[str, tuple[tuple[str, ...], Callable[[Seen], object]]] = {
    "now": (("eth_getBlockByNumber",), lambda it: it.chain.now()),
    "next_time": (("eth_getBlockByNumber",), lambda it: it.chain.next_time()),
    "header": (("eth_getBlockByNumber",), lambda it: it.chain.header()),
    "header of a number": (("eth_getBlockByNumber",), lambda it: it.chain.header(1)),
    "block_hash": (("eth_getBlockByNumber",), lambda it: it.chain.block_hash(1)),
    "block_number": (("eth_blockNumber",), lambda it: it.chain.block_number()),
    "balance": (("eth_getBalance",), lambda it: it.chain.balance(ALICE.address)),
    "code": (("eth_getCode",), lambda it: it.chain.code(it.adjudicator.address)),
    "knows": (("eth_getTransactionByHash",), lambda it: it.chain.knows(it.mined)),
    "wait_for": (("eth_getTransactionReceipt",), lambda it: it.chain.wait_for(it.mined, timeout=0)),
    "placed": (
        ("eth_getTransactionReceipt",),
        lambda it: it.adjudicator.placed(it.chain.wait_for(it.mined, timeout=0)),
    ),
    "nonce_of": (("eth_getTransactionCount",), lambda it: it.chain.nonce_of(ALICE.address, block="pending")),
    "gas_for": (("eth_estimateGas", "eth_call"), lambda it: it.chain.gas_for(NOTHING, ALICE.address, NO_ERRORS)),
    "fees": (
        ("eth_getBlockByNumber", "eth_maxPriorityFeePerGas", "eth_gasPrice"),
        lambda it: it.chain.fees(),
    ),
    "sign": (
        ("eth_estimateGas", "eth_getBlockByNumber", "eth_getTransactionCount", "eth_maxPriorityFeePerGas"),
        lambda it: it.chain.sign(NOTHING, ALICE).raw,
    ),
    "logs": (("eth_getLogs", "eth_blockNumber"), lambda it: it.chain.logs(it.adjudicator.address, (), 0)),
    "logs of a channel": (("eth_getLogs",), lambda it: it.adjudicator.logs(it.id, 0)),
    "status_of": (("eth_call",), lambda it: it.adjudicator.status_of(it.id, ETHER)),
    "words": (("eth_call",), lambda it: it.adjudicator.words([it.id] * 3)),
    "holdings_of": (("eth_call",), lambda it: it.adjudicator.holdings_of(it.id, ETHER, 0)),
    "holdings_of_list": (("eth_call",), lambda it: it.adjudicator.holdings_of_list([(it.id, ETHER, 0)] * 3)),
    "credit_of": (("eth_call",), lambda it: it.adjudicator.credit_of(ALICE.address, ETHER)),
    "balance of a token": (("eth_call",), lambda it: Token(it.chain, it.adjudicator.address).balance_of(ALICE.address)),
    "simulate": (("eth_call",), lambda it: it.chain.simulate(NOTHING, ALICE.address)),
    "broadcast": (("eth_sendRawTransaction",), broadcast),
    "chain id": (("eth_chainId",), lambda it: it.chain.rpc.number("eth_chainId")),
}


def is_well_formed(value: object) -> bool:
    match value:
        case None | bool() | bytes():
            return True
        case int():
            return 0 <= value < 2**256
        case list() | tuple():
            return all(map(is_well_formed, value))
        case _ if is_dataclass(value):
            return all(is_well_formed(getattr(value, each.name)) for each in fields(value))
        case _:  # a value of the protocol, which checks itself
            return type(value).__module__.startswith("forcemove.protocol.")


def require_sense(it: Seen, lies: Mapping[str, Lie | Lies], read: Callable[[Seen], object]) -> None:
    for name, lie in lies.items():
        it.lie_with(lie)
        began = time.monotonic()
        try:
            assert is_well_formed(read(it)), name
        except (ChainError, RuleError):
            pass
        except Exception as error:
            raise AssertionError(f"{name}: {error!r}") from error
        finally:
            it.lie_with(None)
        assert time.monotonic() - began < SECONDS + _SLOW, name


@pytest.fixture(scope="module")
def memory() -> Iterator[Seen]:
    with in_memory() as it:
        yield it


@pytest.fixture(scope="module")
def http(anvil: Chain) -> Iterator[Seen]:
    with over_http(make_world(anvil)) as it:
        yield it


@pytest.mark.parametrize(
    ("kind", "reader"),
    [*product(["memory"], READERS), *sampled(list(product(["http"], READERS)), 3)],
)
def test_every_lie_ends_in_a_value_or_a_typed_error(kind: str, reader: str, request: pytest.FixtureRequest) -> None:
    methods, read = READERS[reader]
    it: Seen = request.getfixturevalue(kind)
    for method in methods:
        require_sense(it, lies_of(method), read)


@pytest.mark.parametrize("reader", READERS)
def test_whatever_is_done_to_the_connection_is_a_typed_error(http: Seen, reader: str) -> None:
    """All of it is done in `test_misbehaviour`; here to each reader some."""
    methods, read = READERS[reader]
    done = ("closed", "nested", "oversized", "an HTTP error", "a redirect", "not JSON", "dripped")
    lies = lies_of(methods[0], with_connections=True)
    require_sense(http, {name: lies[name] for each in done for name in (f"{methods[0]}: {each}",)}, read)


@pytest.mark.parametrize("name", MONEY)
def test_every_lie_for_money_is_told(http: Seen, name: str) -> None:
    """It is not the truth that comes out, or the lie would prove nothing."""
    about = {method for method in FIELDS if name in lies_of(method)}
    readers = {each: read for each, (methods, read) in READERS.items() if about & set(methods)}

    def said() -> dict[str, str]:
        found = {}
        for each, read in readers.items():
            try:
                found[each] = str(read(http))
            except (ChainError, RuleError) as error:
                found[each] = str(error)
        return found | {"pending": str(http.chain.block("pending"))}

    honest = said()
    http.lie_with(MONEY[name])
    try:
        assert said() != honest
    finally:
        http.lie_with(None)


def test_every_method_that_is_used_is_lied_about() -> None:
    """Those aside that development chains alone are asked for, which are our own."""
    used = {
        method
        for path in (ROOT / "channel").rglob("*.py")
        for method in re.findall(r'"(eth_[a-zA-Z]+)"', path.read_text())
    }
    assert used - {"eth_accounts", "eth_sendTransaction"} <= FIELDS.keys()
    assert all(len(lies_of(method)) > 20 for method in FIELDS)
    assert {read for methods, _ in READERS.values() for read in methods} == FIELDS.keys()


def test_what_is_done_to_a_connection_is_no_form_of_an_answer() -> None:
    named = {name for method in FIELDS for name in lies_of(method, with_connections=True)}
    assert all(f"{method}: {each}" in named for method in FIELDS for each in MISBEHAVIOUR)
