"""The lobby on a terminal: open games as they come and go, joined by a number; and in `play` without a link."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.addresses import short_address, show_address
from forcemove.cli.play.choosing import Numbers, rows
from forcemove.text.names import full_name
from forcemove.transport import connect, joins, links
from forcemove.transport.offers import Offer, SignedOffer
from tests.cli.command import Command
from tests.cli.screens import COMMAND, Screen
from tests.cli.tables import GUEST, HOST, House, World, link_of
from tests.transport.carriers import CARRIERS, Process
from tests.transport.offered import FRIENDLY, PAYOUT, new_offer
from tests.transport.people import ALICE, run

CREATE = ("--create", "--stake", "0")
STAKE = {"stake": 10**16, "deposit": 5 * 10**16}


@pytest.fixture(params=list(CARRIERS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Process]:
    with CARRIERS[request.param].running(tmp_path) as process:
        yield process


def offered(process: Process, *offers: Offer) -> None:
    async def story() -> None:
        async with connect.connect_relay(process.url) as connection:
            for offer in offers:
                await connection.lobby.make(offer, ALICE)

    run(story())


def withdrawn(process: Process, offer: Offer) -> None:
    async def story() -> None:
        async with connect.connect_relay(process.url) as connection:
            await connection.lobby.withdraw(offer.hash, ALICE)

    run(story())


def test_the_list_is_printed_once_where_there_is_no_terminal(forcemove: Command, place: Process) -> None:
    offers = [new_offer(**STAKE), new_offer(**FRIENDLY), new_offer(game="chess")]
    offered(place, *offers)
    said = forcemove("lobby", "--relay", place.url, code=0)
    head, *others = said.out.splitlines()
    assert head.split() == ["No.", "Game", "Stake", "Seats", "Chain", "Answer", "in", "Open", "for", "Host"]
    assert [line.split()[0] for line in others] == ["1", "2", "3"]
    (staked,) = (line for line in others if "0.01 ether" in line)
    assert staked.split()[1:9] == ["tic-tac-toe", "0.01", "ether", "1", "of", "2", "31337", "1"]
    assert "59 min" in staked
    assert any("nothing" in line and "none" in line for line in others)
    only = forcemove("lobby", "--relay", place.url, "--game", "chess").out.splitlines()
    assert len(only) == 2
    assert "chess" in only[1]


def test_the_list_is_for_programs_too(forcemove: Command, place: Process) -> None:
    offer = new_offer(**STAKE)
    offered(place, offer)
    said = json.loads(forcemove("lobby", "--relay", place.url, "--json").out)
    assert (said["relay"], said["isAll"]) == (place.url, True)
    (found,) = said["offers"]
    assert links.parse_link(found.pop("link")) == links.Link(place.url, offer.hash)
    assert found["stake"] == "10000000000000000"
    assert (found["game"], found["chainId"], found["duration"]) == ("tic-tac-toe", "31337", 3_600)
    assert (found["expires"], found["seats"], found["free"]) == (offer.expires, 2, 1)


async def test_the_list_says_how_many_seats_are_taken_and_by_whom(forcemove: Command, relay: Process) -> None:
    async with connect.connect_relay(relay.url) as hosts, connect.connect_relay(relay.url) as guests:
        offer = new_offer(**FRIENDLY, seats=3, name="Alice")
        await hosts.lobby.make(offer, ALICE)
        await guests.lobby.join(offer.hash, GUEST, PAYOUT, chain_id=0, name="Mal\x1blory")
        said = await asyncio.to_thread(forcemove, "lobby", "--relay", relay.url)
        head, line = said.out.splitlines()
        assert head.split()[-2:] == ["Host", "Waiting"]
        assert line.split()[3:6] == ["2", "of", "3"]
        assert line.endswith(f"{full_name('Alice', ALICE.address)}  Mal\\x1blory {short_address(GUEST.address)}")
        said = await asyncio.to_thread(forcemove, "lobby", "--relay", relay.url, "--json")
        (found,) = json.loads(said.out)["offers"]
        assert (found["seats"], found["free"], found["name"]) == (3, 1, "Alice")
        assert found["guests"] == [{"address": show_address(GUEST.address), "name": "Mal\\x1blory"}]


def test_where_nobody_offers_anything_it_is_said_what_to_do(forcemove: Command, place: Process) -> None:
    said = forcemove("lobby", "--relay", place.url, code=0)
    assert "There are no open games" in said.out
    assert f"\nforcemove play discard --relay {place.url} --create --stake 0\n" in said.out


def test_on_a_terminal_games_come_and_go_and_keep_their_numbers(place: Process, tmp_path: Path) -> None:
    screen = Screen(COMMAND, "lobby", "--relay", place.url, columns=80, folder=tmp_path)
    screen.reach("There are no open games")
    first, second = new_offer(game="first-game"), new_offer(game="second-game")
    offered(place, first)
    screen.reach("1    first-game")
    offered(place, second)
    screen.reach("2    second-game")
    withdrawn(place, first)
    while any("first-game" in line for line in screen.lines):
        screen.look()
    assert any("2    second-game" in line for line in screen.lines)
    screen.type("1\r")
    screen.answer("Game 1 is no longer open.", "7\r")
    screen.answer("There is no game 7.", "\x03")
    assert screen.end().code == 130


@pytest.mark.parametrize("options", [(), ("--once",)], ids=["the live list", "once"])
def test_a_relay_that_says_nothing_is_named_and_need_not_be_waited_for(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ws://127.0.0.1:{silent.getsockname()[1]}"
        screen = Screen(COMMAND, "lobby", "--relay", url, *options, columns=80, folder=tmp_path)
        screen.reach(f"Asking {url}")
        assert screen.end_by(signal.SIGINT) == 130
    assert [line for line in screen.end().lines if line] == ["Error: Interrupted."]


def test_a_game_is_joined_by_its_number_and_played(house: House) -> None:
    host = house.play(house.alice, *CREATE, game="tic-tac-toe")
    host.reach("Hand this link")
    command = ("lobby", "--relay", house.carrier.url, "--", "--bot")
    guest = Screen(COMMAND, *command, columns=80, folder=house.bob)
    guest.answer("1    tic-tac-toe", "1\r")
    guest.answer("Your key file", "key.json\r")
    guest.answer("Join on these terms?", "y\r")
    shown = guest.end()
    assert shown.code == 0, shown.lines
    assert host.end() == 0, host.complained
    assert any("$ forcemove play --join" in line for line in shown.lines)
    assert "Nothing was at stake" in " ".join(" ".join(shown.lines).split())


def test_play_without_a_link_shows_what_can_be_joined_with_it(world: World) -> None:
    """Only the game, the chain and the contracts of the command."""
    others = [new_offer(**FRIENDLY), new_offer(game="rock-paper-scissors"), new_offer(chain_id=5)]
    offered(world.carrier, *others, new_offer(**STAKE))
    host = world.play(world.alice, "--create", "--stake", "0.01 ether", game="tic-tac-toe")
    host.reach("Hand this link")
    guest = world.sit(world.bob, game="tic-tac-toe")
    guest.reach("1    tic-tac-toe")
    assert not any(line.strip().startswith("2 ") for line in guest.screen.lines)
    guest.type("1")
    guest.answer("Join on these terms?", "y")
    guest.reach("place an ")
    guest.leave()
    shown = guest.end()
    assert shown.code == 0, shown.lines
    assert host.end() == 0, host.complained
    world.require_same_ends(world.alice, world.bob, (HOST, GUEST))


def test_play_without_a_link_lets_a_person_offer(house: House) -> None:
    host = house.sit(house.alice, game="tic-tac-toe")
    host.answer("There are no open games of tic-tac-toe", "new")
    guest = house.play(house.bob, "--join", host.link(), "--yes", game="tic-tac-toe")
    host.reach("place an ")
    host.leave()
    assert host.end().code == 0
    assert guest.end() == 0, guest.complained


def test_an_offer_for_one_player_is_for_nobody_else(house: House, forcemove: Command) -> None:
    away = show_address(PAYOUT)
    host = house.play(house.alice, *CREATE, "--for", away, "--move-time", "90", game="tic-tac-toe")
    link = link_of(host)
    late = house.play(house.bob, "--join", link, "--yes", game="tic-tac-toe")
    assert late.end() == 1
    assert f"The offer is for {away} alone" in late.complained
    guest = house.sit(house.bob, game="tic-tac-toe")
    guest.answer("There are no open games of tic-tac-toe", "\x03")
    assert guest.end().code == 130
    listed = "lobby", "--relay", house.carrier.url, "--once"
    assert "There are no open games" in forcemove(*listed).out
    assert "tic-tac-toe" in forcemove(*listed, "--key", str(house.alice / "key.json")).out
    asked = json.loads(forcemove(*listed, "--json", "--key", str(house.alice / "key.json")).out)["offers"]
    assert [(each["invited"], each["moveTime"]) for each in asked] == [(away, 90)]


def test_a_bot_is_not_asked_what_to_join(house: House) -> None:
    bot = house.play(house.alice)
    assert bot.end() == 1
    assert "Offer a game with --create" in bot.complained


# ------------------------------------------------------------------------------------------------------------ strangers


def test_threat_61_a_game_that_is_called_as_an_option_is_none(house: House) -> None:
    offered(house.carrier, new_offer(**FRIENDLY, game="--fresh"))
    guest = Screen(COMMAND, "lobby", "--relay", house.carrier.url, "--key", "key.json", columns=80, folder=house.bob)
    guest.answer("--fresh", "1\r")
    shown = guest.end()
    assert shown.code == 1
    assert any("There is no game '--fresh'" in line for line in shown.lines)


def test_threat_61_strangers_that_fill_a_lobby_fill_no_screen(place: Process, tmp_path: Path) -> None:
    host_keys = 20
    offered(place, *(new_offer(game=f"game-{number}") for number in range(host_keys)))
    screen = Screen(COMMAND, "lobby", "--relay", place.url, columns=80, rows=24, folder=tmp_path)
    screen.reach("Only 13 are shown.")
    shown = [line for line in screen.lines if "1 of 2" in line]
    assert len(shown) == 13
    assert any(line.startswith("> ") for line in screen.lines)
    screen.type("\x03")
    screen.end()


def _open(offer: Offer) -> joins.OfferStatus:
    """Alice's, that nobody has joined."""
    return joins.OfferStatus(SignedOffer.sign(offer, ALICE), (), 0, False)


def test_a_number_is_never_given_to_another_offer() -> None:
    numbers, offers = Numbers(), [_open(new_offer()) for _ in range(4)]
    numbers.take(offers[:2])
    numbers.take(offers[1:])
    assert [number for number, _ in numbers.open] == [2, 3, 4]
    assert numbers.find("1") == (None, "Game 1 is no longer open.")
    assert numbers.find("2") == (offers[1].offer, "")
    for typed in ("", "0", "-1", "1.0", "x", "\u0661", "9" * 5_000):
        assert numbers.find(typed)[0] is None
    numbers.take(offers[:1])
    assert numbers.find("1")[0] == offers[0].offer


def test_what_a_row_says_of_an_offer() -> None:
    now = float(int(time.time()))
    token = new_offer(asset=b"\x77" * 20, stake=5, deposit=25, expires=int(now + 90_100), duration=86_400)
    long = new_offer(game="x" * 64, expires=int(now) + 30)
    head, one, other = rows([(1, _open(token)), (20, _open(long))], now)
    assert "5 of token 0x7777777777777777777777777777777777777777" in one
    assert "1 d " in one
    assert "1 d 1 h" in one
    assert "x" * 64 in other
    assert "30 s" in other
    assert head.index("Stake") == one.index("5 of token") == other.index("1 ether")


# ----------------------------------------------------------------------------------------------------- lobbies' changes


async def test_a_change_of_a_listed_offer_ends_the_wait_at_once(place: Process) -> None:
    async with connect.connect_relay(place.url) as looks, connect.connect_relay(place.url) as hosts:
        offer = new_offer()
        await hosts.lobby.make(offer, ALICE)
        assert [each.offer for each in await looks.lobby.list()] == [offer]
        changed = asyncio.create_task(_timed(looks.lobby.changed([offer.hash])))
        await asyncio.sleep(0.5)
        assert not changed.done()
        await hosts.lobby.withdraw(offer.hash, ALICE)
        assert await changed < 4.5  # not after the five seconds of one who asks again


async def test_a_new_offer_ends_the_wait_at_once_also_one_from_before_the_wait(place: Process) -> None:
    async with connect.connect_relay(place.url) as looks, connect.connect_relay(place.url) as hosts:
        assert await looks.lobby.list() == ()
        changed = asyncio.create_task(_timed(looks.lobby.changed([])))
        await asyncio.sleep(0.5)
        assert not changed.done()
        first, second = new_offer(), new_offer()
        await hosts.lobby.make(first, ALICE)
        assert await changed < 4.5  # not after the five seconds of one who asks again
        assert [each.offer for each in await looks.lobby.list()] == [first]
        await hosts.lobby.make(second, ALICE)
        assert await _timed(looks.lobby.changed([first.hash])) < 4.5
        assert len(await looks.lobby.list()) == 2


async def test_a_list_is_bounded_and_asks_for_what_is_wanted(place: Process) -> None:
    async with connect.connect_relay(place.url) as connection:
        offers = [new_offer(game="chess" if number % 3 else "go") for number in range(20)]
        for offer in offers:
            await connection.lobby.make(offer, ALICE)
        assert len(await _listed(connection, "chess", 100)) == 13
        found = await _listed(connection, "go", 4)
        assert found == sorted(each.hash for each in offers if each.game == "go")[:4]


async def _listed(connection: connect.Connection, game: str, most: int) -> list[bytes]:
    found = await connection.lobby.list(lambda offer: offer.game == game, most)
    return [each.offer.hash for each in found]


async def _timed(doing: Coroutine[Any, Any, None]) -> float:
    began = time.monotonic()
    await doing
    return time.monotonic() - began
