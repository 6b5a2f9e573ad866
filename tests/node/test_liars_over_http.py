"""A liar before a real anvil, over real HTTP, beside an honest endpoint: a stale challenge is answered whatever it does
to its connections, in bounded memory. What it may say is in tests/liars/test_defence.py."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from forcemove import Adjudicator, ForcemoveError
from forcemove.chain.local import AnvilChain, connect
from forcemove.node.assemble import reassemble
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER
from forcemove_games.tic_tac_toe import GAME
from tests.liars.lies import LIES, MONEY, Lie, Lies
from tests.liars.misbehaviour import MISBEHAVIOUR
from tests.liars.proxy import Ask, lying
from tests.node.test_node import House
from tests.sampled import with_sample
from tests.scenarios.story import KEYS, Playground
from tests.watchtower.keeper import Keeper, stale

LAST = 7
SECONDS, REQUEST = 40.0, 1.0
"""For a whole test, and for a request to the liar."""
MOST_MEMORY = 200 * 2**20
FEW = 3
"""Blocks, of which only what is sent makes any."""


class Misbehaving:
    """To every request the same is done."""

    def __init__(self, name: str) -> None:
        self._lie = LIES[f"eth_call: {name}"]
        assert isinstance(self._lie, Lie)
        self._tell = self._lie.tell

    def __call__(self, ask: Ask, method: str, *params: object) -> object:
        return self._tell(ask, method, *params)


TELLS: dict[str, Misbehaving | Lie | Lies] = {**{name: Misbehaving(name) for name in MISBEHAVIOUR}, **MONEY}
SAMPLE = [
    ("silent", 0),
    ("dripped", 1),
    ("oversized", 0),
    ("oversized in chunks", 1),
    ("gzip bomb", 0),
    ("nested in an answer", 1),
    ("nothing in much", 0),
    ("a redirect", 1),
    ("latest two hours ahead", 0),
    ("logs left out", 1),
    ("an estimate of 2**40", 0),
    ("a nonce 1,000 ahead", 1),
]
CASES = list(product(TELLS, (0, 1)))


@contextmanager
def in_bounded_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


@contextmanager
def endpoints(anvil: AnvilChain, tell: str, place: int) -> Iterator[list[str]]:
    with lying(anvil.endpoint, TELLS[tell]) as url:
        urls = [anvil.endpoint]
        urls.insert(place, url)
        yield urls


async def wait_for(condition: Callable[[], bool], step: Callable[[], object]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            step()
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(("tell", "place"), with_sample(CASES, SAMPLE[::2]))
def test_threat_43_a_node_answers_beside_a_liar_over_http(
    anvil: AnvilChain, tmp_path: Path, tell: str, place: int
) -> None:
    home = House(Playground.on(anvil), tmp_path, 1)
    home.stops_at = LAST
    home.play()
    alice, assembly = home.processes[0], home.assemblies[0]
    fixed_part, id_ = assembly.agreement.fixed_part, assembly.agreement.channel_id
    with endpoints(anvil, tell, place) as urls:
        first, *others = [connect(each, expected_chain_id=anvil.chain_id, timeout=REQUEST) for each in urls]
        home.assemblies[0] = reassemble(
            first,
            assembly.agreement,
            GAME,
            from_block=assembly.from_block,
            origin_hash=assembly.origin_hash,
            others=others,
        )
        alice.die()
        (managed,) = alice.node.channels.values()
        proof = build_support_proof(fixed_part, managed.channel.signed_states[:2])
        assert proof is not None
        assembly.adjudicator.send(assembly.adjudicator.challenge(fixed_part, proof), KEYS[1])
        challenged_at, before = anvil.block_number(), anvil.balance(KEYS[0].address)

        def is_answered() -> bool:
            status = assembly.adjudicator.status_of(id_, ETHER)
            return status.finalizes_at == 0 and status.turn_num_record == LAST

        async def answer() -> None:
            running = asyncio.create_task(alice.node.run(look_every=0.05))
            await wait_for(lambda: is_answered() or running.done(), lambda: None)
            assert not running.done()
            running.cancel()

        with in_bounded_memory():
            asyncio.run(answer())
        assert anvil.block_number() <= challenged_at + FEW
        assert before - anvil.balance(KEYS[0].address) < 10**16
    assert all(isinstance(each, ForcemoveError) for each in alice.troubles)
    home.close()


@pytest.mark.parametrize(("tell", "place"), with_sample(CASES, SAMPLE[1::2]))
def test_threat_43_a_tower_answers_beside_a_liar_over_http(
    anvil: AnvilChain, tmp_path: Path, tell: str, place: int
) -> None:
    story = Playground.on(anvil).story(GAME)
    story.play_until(LAST)
    with endpoints(anvil, tell, place) as urls:
        chains = [connect(each, expected_chain_id=anvil.chain_id, timeout=REQUEST) for each in urls]
        keeper = Keeper.of(story, tmp_path)
        keeper.give_newest(story)
        keeper.adjudicators = [Adjudicator(each, story.adjudicator.address) for each in chains]
        keeper.die()
        story.challenge(1, *stale(story))
        challenged_at = anvil.block_number()
        with in_bounded_memory():
            asyncio.run(wait_for(lambda: story.record == (LAST, False), keeper.tower.poll))
        assert anvil.block_number() <= challenged_at + FEW
    assert all(isinstance(each, ForcemoveError) for each in keeper.troubles)
    keeper.close()
