"""The configuration on the page works as the page says: players play, and may do nothing else."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.errors import TimeoutError as NatsTimeout

from forcemove.transport import connect, errors
from forcemove.transport.jetstream import streams
from tests.jetstream.server import NatsServer, running_server
from tests.transport.offered import CHAIN, PAYOUT, all_seated, join_table, new_offer
from tests.transport.people import ALICE, BOB, new_table, read

PAGE = Path(streams.__file__).with_name("README.md").read_text("utf-8")


def _configuration(folder: Path) -> str:
    """The page's, with our folder in the place of the operator's."""
    (block,) = re.findall(r"^```conf\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert isinstance(block, str)
    assert "/var/lib/nats" in block
    return block.replace("/var/lib/nats", str(folder / "store"))


def _url(server: NatsServer, user: str) -> str:
    return server.url.replace("://", f"://{user}@")


async def test_the_pages_configuration_lets_players_play_and_nothing_else(tmp_path: Path) -> None:
    with running_server(tmp_path, _configuration(tmp_path), has_jetstream=False) as server:
        player, operator = _url(server, "player:and-this"), _url(server, "operator:change-this")
        with pytest.raises(errors.RelayUnreachable):
            async with connect.connect_relay(player, patience=1):
                raise AssertionError("the operator has made no streams yet")
        async with connect.connect_relay(operator):
            pass
        async with connect.connect_relay(player) as hers, connect.connect_relay(player) as his:
            hash_ = await hers.lobby.make(new_offer(), ALICE)
            assert [each.offer.hash for each in await his.lobby.list()] == [hash_]
            table = await join_table(his.lobby, hash_, BOB, PAYOUT, chain_id=CHAIN)
            assert (await all_seated(hers.lobby, hash_)).table == table
            alice, bob = await hers.join(table, ALICE), await his.join(table, BOB)
            await alice.post(b"hers")
            await bob.post(b"his")
            assert await read(bob.reader(), 2) == [b"hers", b"his"]
        await _require_harmless(player)


async def _require_harmless(url: str) -> None:
    """A player may not delete what others have, nor say anything in the place of the server."""
    forbidden = asyncio.Queue[str]()

    async def on_message(error: Exception) -> None:
        forbidden.put_nowait(str(error))

    client = await nats.connect(url, error_cb=on_message)
    js = client.jetstream(timeout=0.3)
    with pytest.raises(NatsTimeout):
        await js.delete_stream("FORCEMOVE_GAMES")
    with pytest.raises(NatsTimeout):
        await js.purge_stream("FORCEMOVE_CHANNELS")
    await client.publish("_INBOX.of.another", b"forged")
    for what in ("stream.delete", "stream.purge", "_inbox"):
        assert what in await forbidden.get()
    await client.close()


async def test_the_pages_example_runs(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    with running_server(tmp_path) as server:
        example = block.replace("nats://player:secret@nats.example", server.url)
        assert example != block
        names: dict[str, Any] = {"table": new_table(), "key": ALICE}
        await eval(compile(example, "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)  # noqa: S307
        assert names["offers"] == ()
        assert names["log"].length() == 1


def test_the_page_names_every_stream_and_its_limits() -> None:
    for config in streams.CONFIGS:
        name = str(config.name).removeprefix("KV_")
        assert f"`{name}`" in PAGE
        assert f"{config.max_age or 0:.0f}" == f"{_days(name) * 86_400}"


def _days(name: str) -> int:
    (row,) = (line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line)
    return int(re.findall(r"(\d+) days", row)[0])
