"""What a page does not do for money, with any player: two pages over a real chain and a real relay, without a
browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forcemove import Key, deploy, local_keys
from forcemove.chain.addresses import show_address
from forcemove.link_page.friends import FriendsTab
from forcemove.link_page.stake_settings import StakeForm, StakeSettings, read_typed
from forcemove.protocol.types import ETHER
from forcemove.registry import installed_games
from forcemove.sessions.errors import StakesRefused
from forcemove.sessions.meetings.stake_limits import StakeLimits
from tests.cli.nodes import Node
from tests.link_page.tabs import html, send, shows, until
from tests.link_page.test_friends import PAGE, Browser, Player
from tests.relay.process import running_relay

KEYS = local_keys()[5:8]
CHAIN_ID = 31_337
TOWER = f"{show_address(local_keys()[9].address)}@http://127.0.0.1:1"


class Ground:
    """A chain with the contracts, and a relay."""

    def __init__(self, node: Node, folder: Path, relay: str) -> None:
        self.node, self.relay = node, relay
        deploy(node.chain, local_keys()[0], folder / "book.json", installed_games().games)
        for key in KEYS:
            node.give(key.address, 10**19)

    def gambler(self, name: str, key: Key, *, most: str = "0.5 ether", tower: str = "", is_kept: bool = True) -> Player:
        """A player whose page was told how to play for a stake."""
        player = Player(self.relay, name)
        player.browser = Browser(is_kept=is_kept)
        typed = StakeForm(self.node.endpoint, show_address(key.address), most, tower, has_agreed=True)
        settings = read_typed(typed)
        assert isinstance(settings, StakeSettings)
        player.files[3].data = replace(settings, chain_id=CHAIN_ID).encode()
        return player


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("ground")
    node = Node(folder)
    with running_relay(folder) as relay:
        yield Ground(node, folder, relay.url)
    node.stop()


async def offer(host: FriendsTab, stake: str = "0.1 ether", duration: str = "3600") -> None:
    fields = {"game": "rock-paper-scissors", "stake": stake, "seats": "2", "duration": duration, "move_time": "0"}
    assert (await send(host, "/offers", "/lobby", **fields)).status == 200


async def links(host: FriendsTab, count: int) -> list[str]:
    """What the host hands to friends, once there are `count` of them."""
    found: list[str] = []

    async def are_there() -> bool:
        found[:] = re.findall(rf'value="{re.escape(PAGE)}#(\w+)"', await html(host, "/lobby"))
        return len(found) == count

    await until(are_there)
    return found


async def join(guest: FriendsTab, link: str) -> None:
    path = await guest.follow(link)
    assert path.startswith("/offers/")
    assert 'id="join"' in await html(guest, path)
    await send(guest, f"{path}/join", path)


async def test_two_channels_that_begin_at_once_do_not_pass_the_limit(ground: Ground, tmp_path: Path) -> None:
    alice, bob, carol = map(ground.gambler, ("Alice", "Bob", "Carol"), KEYS)
    async with alice as host, bob as one, carol as other:
        await offer(host)
        await offer(host)
        first, second = await links(host, 2)
        await join(one, first)
        await join(other, second)
        await until(shows(host, "more than your limit of 0.5 ether", "/lobby"))
        assert len(set(re.findall("/c/0x[0-9a-f]{64}", await html(host, "/games")))) == 1
        await require_kept_to_its_chain(host, tmp_path)


async def require_kept_to_its_chain(host: FriendsTab, folder: Path) -> None:
    """Nobody would defend the open channel on another one."""
    other = Node(folder, "--chain-id", "5")
    try:
        deploy(other.chain, local_keys()[0], folder / "book.json", installed_games().games)
        typed = {"endpoints": other.endpoint, "account": show_address(KEYS[0].address), "most": "1 ether"}
        await send(host, "/stake", "/stake", **typed, agreed="yes")
        await until(shows(host, "games on chain 31337 are not closed", "/stake"))
    finally:
        other.stop()


def test_a_stake_in_tokens_has_no_limit_and_is_refused() -> None:
    limits = StakeLimits(10**18, 3600)
    limits.require(ETHER, 1, 3600, 0)
    with pytest.raises(StakesRefused, match="tokens"):
        limits.require(b"\x07" * 20, 1, 3600, 0)


async def test_an_offer_beyond_the_limit_is_not_made(ground: Ground) -> None:
    async with ground.gambler("Alice", KEYS[0], most="0.49 ether") as host:
        await offer(host)
        await until(shows(host, "more than your limit of 0.49 ether", "/lobby"))


async def test_a_challenge_has_an_hour_at_least(ground: Ground) -> None:
    async with ground.gambler("Alice", KEYS[0]) as host, ground.gambler("Bob", KEYS[1]) as guest:
        await offer(host, duration="3599")
        await until(shows(host, "3,599 seconds", "/lobby"))
        assert guest.path


@pytest.mark.parametrize(("is_kept", "tower", "refuses"), [(False, "", True), (True, "", False), (False, TOWER, False)])
async def test_the_browser_keeps_the_page_or_a_tower_answers(
    ground: Ground, tower: str, *, is_kept: bool, refuses: bool
) -> None:
    async with ground.gambler("Alice", KEYS[0], is_kept=is_kept, tower=tower) as host:
        await offer(host)
        if refuses:
            await until(shows(host, "no watchtower is named", "/lobby"))
        else:
            await links(host, 1)


async def test_a_browser_in_which_python_cannot_wait_plays_friendly_games(ground: Ground) -> None:
    alice = ground.gambler("Alice", KEYS[0])
    alice.browser.suspends = False
    async with alice as host:
        assert "This browser lacks what a stake needs" in await html(host, "/stake")
        await offer(host)
        await until(shows(host, "A stake needs a chain", "/lobby"))
        await offer(host, "0")
        await links(host, 1)
