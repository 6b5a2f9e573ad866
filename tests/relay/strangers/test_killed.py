"""A relay that is killed while strangers attack it continues with the same command, and has lost nothing that it has
acknowledged."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from forcemove.transport.websocket.connection import RelayConnection
from tests.relay.process import RelayProcess, running_relay
from tests.relay.strangers.attacks import ATTACKS
from tests.relay.strangers.crowd import Strangers
from tests.transport.people import ALICE, BOB, new_table, read, run

STRANGERS = [f"127.0.0.{number}" for number in range(2, 12)]
KILLS, POSTS = 3, 20
STARTED = 60.0
"""Seconds until a relay listens again."""


@pytest.mark.long
@pytest.mark.parametrize("name", ["lobby", "small_posts", "tables", "offers", "connections"])
def test_threat_59_a_relay_killed_under_an_attack_goes_on(name: str, tmp_path: Path) -> None:
    with running_relay(tmp_path) as relay, closing(Strangers(ATTACKS[name], relay.url, STRANGERS)) as strangers:
        run(_story(relay), patience=120)
        assert strangers.count() > len(STRANGERS)  # they came again


async def _story(relay: RelayProcess) -> None:
    table, said = new_table(), list[bytes]()
    async with RelayConnection(relay.url) as first, RelayConnection(relay.url) as second:
        alice, bob = await first.join(table, ALICE), await second.join(table, BOB)
        for kill in range(KILLS):
            for number in range(POSTS):
                said.append(b"%d of %d" % (number, kill))
                await alice.post(said[-1])
            relay.kill()
            began = time.monotonic()
            relay.start()
            assert time.monotonic() - began < STARTED
        said.append(b"still here")
        await alice.post(said[-1])
        assert await read(bob.reader(), len(said)) == said
