"""The lobby's pages over a real relay: offers are made once, read, joined and taken back; what is refused says why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from forcemove import connect_relay, local_keys
from forcemove.protocol.codec.json_text import hex_text
from forcemove.sessions.meetings.venues import FriendlyGame, new_offer
from forcemove.sessions.watching.watch_link import WATCH_HEAD, WatchLink
from forcemove.transport.errors import TransportError
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer
from tests.browser.html import elements, find
from tests.browser.served.asking import Asker
from tests.browser.served.lobby import BOB, ServedLobby, served_lobby
from tests.browser.served.serving import until
from tests.protocol.builders import DOMAIN, fixed_part
from tests.relay.process import RelayProcess, running_relay
from tests.sampled import sampled
from tests.transport.offered import new_offer as new_offered

OFFER = {"game": "tic-tac-toe", "stake": "0", "seats": "2", "duration": "3600", "made": "0"}
EVE = local_keys()[3]
NO_OFFER = "/offers/0x" + "00" * 32


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RelayProcess]:
    with running_relay(tmp_path) as relay:
        yield relay


@pytest.fixture
def alice(relay: RelayProcess) -> Iterator[Asker]:
    with served_lobby(relay.url, name="Ann") as lobby:
        yield Asker(lobby)


@pytest.fixture
def bob(relay: RelayProcess) -> Iterator[Asker]:
    with served_lobby(relay.url, BOB, name="Bob") as lobby:
        yield Asker(lobby)


def lobby_of(asker: Asker) -> ServedLobby:
    assert isinstance(asker.served, ServedLobby)
    return asker.served


def strange_offer(relay: str, name: str) -> None:
    """Somebody offers a game, and does not come to its table."""
    venue = FriendlyGame("tic-tac-toe", "Tic-tac-toe")
    offer = new_offer(venue, EVE.address, EVE.address, 0, 3_600)
    asyncio.run(_make(relay, replace(offer, name=name)))


async def _make(relay: str, offer: Offer) -> None:
    async with connect_relay(relay) as connection:
        await connection.lobby.make(offer, EVE)


def withdraw_all(relay: str) -> None:
    """Nobody offers anything any more."""

    async def main() -> None:
        async with connect_relay(relay) as connection:
            for each in await connection.lobby.list():
                with suppress(TransportError):
                    await connection.lobby.withdraw(each.offer.hash, EVE)

    asyncio.run(main())


def skeleton(page: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.name, tuple(each.attributes)) for each in elements(page)]


def states(asker: Asker) -> list[str]:
    """How far the tables are."""
    return asker.served.call(lambda: [each.state.value for each in lobby_of(asker).tables.tables.values()])


def kept_meetings(asker: Asker) -> int:
    """How many offers and meetings the journal has that may be continued."""
    journal = lobby_of(asker).tables.service.journal
    return asker.served.call(lambda: len(list(journal.meetings.all())))


def offered(asker: Asker, **fields: str) -> str:
    """Make an offer, and wait until it is in the lobby; the path of its page."""
    assert asker.post("/offers", OFFER | fields).headers["location"] == "/lobby"
    return shown(asker)


def shown(asker: Asker) -> str:
    """The path of the first open game, once it is listed."""
    follower = lobby_of(asker).follower
    until(lambda: asker.served.call(lambda: bool(follower.offers)))
    return "/offers/" + asker.served.call(lambda: hex_text(follower.offers[0].offer.hash))


def notice(asker: Asker, path: str = "/lobby") -> str:
    return find(asker.get(path).body, "notice").text


def test_one_field_takes_every_link(alice: Asker, relay: RelayProcess) -> None:
    strange_offer(relay.url, "Eve")
    path = shown(alice)
    link = Link(relay.url, bytes.fromhex(path.rpartition("0x")[2]))
    watch = WatchLink(relay.url, "tic-tac-toe", DOMAIN, fixed_part())
    assert find(alice.get("/lobby").body, "any-link").attributes["name"] == "link"
    assert alice.post("/link", {"link": f" {link}\n"}).headers["location"] == path
    assert alice.post("/link", {"link": str(watch).upper()}).headers["location"] == f"/watch/{watch}"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("hello", "it does not begin with forcemove2x"),
        (str(Link("ws://elsewhere.example", bytes(32))), "This game is offered at ws://elsewhere.example, and this"),
        (f"{WATCH_HEAD}abc", "link to watch with"),
    ],
)
def test_a_link_that_leads_nowhere_here_says_why(alice: Asker, link: str, words: str) -> None:
    refused = alice.post("/link", {"link": link})
    assert refused.status == 404
    assert words in refused.body


def test_a_link_to_a_game_that_cannot_be_played_here_says_why(alice: Asker, relay: RelayProcess) -> None:
    venue = FriendlyGame("tic-tac-toe", "Tic-tac-toe")
    friendly = new_offer(venue, EVE.address, EVE.address, 0, 3_600)
    unknown, on_chain = replace(friendly, game="chess"), new_offered(host=EVE.address)
    for offer, words in (
        (unknown, "is not installed here"),
        (on_chain, "for a stake on chain 31337"),
    ):
        asyncio.run(_make(relay.url, offer))
        refused = alice.get(f"/offers/{hex_text(offer.hash)}")
        assert refused.status == 404
        assert words in refused.body, refused.body
    assert "This game is no longer open." in alice.get(NO_OFFER).body


def test_an_offer_for_one_player_is_seen_and_joined_by_nobody_else(
    alice: Asker, bob: Asker, relay: RelayProcess
) -> None:
    venue = FriendlyGame("tic-tac-toe", "Tic-tac-toe")
    private = new_offer(venue, EVE.address, EVE.address, 0, 3_600, move_time=60, guest=BOB.address)
    asyncio.run(_make(relay.url, private))
    strange_offer(relay.url, "Eve")  # is listed with the private one, or after it
    path = "/offers/" + hex_text(private.hash)
    until(lambda: bob.served.call(lambda: len(lobby_of(bob).follower.offers)) == 2)
    until(lambda: alice.served.call(lambda: bool(lobby_of(alice).follower.offers)))
    assert path in bob.get("/lobby").body
    assert "for you alone" in bob.get("/lobby").body
    assert "1 min for each move; after that the others can put it away" in bob.get(path).body
    assert path not in alice.get("/lobby").body
    refused = alice.get(path)
    assert (refused.status, "The offer is for" in refused.body) == (404, True)
    alice.post(path + "/join", {})
    assert (states(alice), notice(alice)) == ([], "This game is no longer open.")


def test_an_offer_for_what_is_not_an_address_is_refused(alice: Asker) -> None:
    alice.post("/offers", OFFER | {"guest": "Bob"})
    assert "is not 0x and 40 hex digits" in notice(alice)
    assert states(alice) == []


def test_the_first_page_is_the_lobby(alice: Asker) -> None:
    assert alice.page == "/lobby"
    page = alice.get("/lobby")
    assert page.status == 200
    assert "There are no open games yet" in page.body or "Asking" in page.body


def test_an_offer_is_made_once_however_often_its_form_is_sent(alice: Asker) -> None:
    for _ in range(3):
        assert alice.post("/offers", OFFER).status == 303
    assert len(states(alice)) == 1
    assert notice(alice) == ""  # such as a second click
    alice.post("/offers", OFFER | {"move_time": "60"})
    assert len(states(alice)) == 1
    assert notice(alice) == "That offer has already been made."
    alice.post("/offers", OFFER | {"made": "1"})
    assert len(states(alice)) == 2


def test_an_offer_is_read_joined_and_played_at(alice: Asker, bob: Asker) -> None:
    offered(alice)
    path = shown(bob)
    page = bob.get(path)
    assert "Ann 0x" in page.body
    assert "Join on these terms" in page.body
    assert bob.post(path + "/join", {}).headers["location"] == path
    until(lambda: states(alice) == states(bob) == ["playing"])
    channel = bob.get(path)
    assert channel.status == 303
    assert alice.get(channel.headers["location"]).status == bob.get(channel.headers["location"]).status == 200
    assert "The game has begun" not in bob.get("/lobby").body


def test_a_line_that_is_not_said_stays_in_the_field_of_a_live_page(
    alice: Asker, bob: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forcemove.sessions.chat._LINES_PER_SECOND", 1e-6)  # how slow the machine is changes nothing
    offered(alice)
    path = shown(bob)
    bob.post(path + "/join", {})
    until(lambda: states(bob) == ["playing"])
    table = bob.get(path).headers["location"]
    answers = [bob.post(table + "/say", {"text": f"Line {number}"}, X_Live="1") for number in range(6)]
    assert [each.status for each in answers] == [204] * 5 + [409]
    assert "too much at once" in answers[5].body
    assert bob.post(table + "/say", {"text": "Line 6"}).status == 303  # without the script the page says it
    assert "too much at once" in notice(bob, table)


def test_an_offer_is_taken_back(alice: Asker, bob: Asker) -> None:
    path = offered(alice)
    shown(bob)
    assert alice.post(path + "/withdraw", {}).headers["location"] == "/lobby"
    until(lambda: states(alice) == [])
    until(lambda: bob.served.call(lambda: lobby_of(bob).follower.offers) == ())
    assert bob.get(path).status == 404
    bob.post(path + "/join", {})
    assert states(bob) == []
    assert notice(bob) == "This game is no longer open."


def test_a_seat_is_left_before_the_game_has_begun(relay: RelayProcess, bob: Asker) -> None:
    strange_offer(relay.url, "Eve")
    path = shown(bob)
    bob.post(path + "/join", {})
    until(lambda: "Waiting for the host to come to the table" in bob.get(path).body)
    assert bob.post(path + "/join", {}).status == 303  # clicked twice
    assert states(bob) == ["waiting"]
    assert bob.post(path + "/withdraw", {}).status == 303
    until(lambda: states(bob) == [])
    until(lambda: "Join on these terms" in bob.get(path).body)  # the lobby does not list a game while it is full
    bob.post(path + "/withdraw", {})
    assert "cannot be taken back" in notice(bob)


def test_who_has_left_a_seat_does_not_go_on_with_the_game_later(relay: RelayProcess, bob: Asker) -> None:
    strange_offer(relay.url, "Eve")
    path = shown(bob)
    bob.post(path + "/join", {})
    until(lambda: kept_meetings(bob) == 1)
    bob.post(path + "/withdraw", {})
    until(lambda: states(bob) == [])
    assert kept_meetings(bob) == 0
    withdraw_all(relay.url)
    bob.post("/lobby/resume", {})
    assert states(bob) == []


@pytest.mark.parametrize("words", sampled(["</td><script>alert(1)</script>", "\u202eeve\x1b[2J", "{{7*7}}"], every=3))
def test_a_hostile_hosts_words_stay_in_their_place(relay: RelayProcess, bob: Asker, words: str) -> None:
    strange_offer(relay.url, "Eve")
    tame = [skeleton(bob.get(path).body) for path in ("/lobby", shown(bob))]
    withdraw_all(relay.url)
    until(lambda: bob.served.call(lambda: lobby_of(bob).follower.offers) == ())
    strange_offer(relay.url, words)
    wild = [skeleton(bob.get(path).body) for path in ("/lobby", shown(bob))]
    assert wild == tame
    for path in ("/lobby", shown(bob)):
        assert words not in bob.get(path).body


def test_nobody_joins_an_offer_of_their_own(alice: Asker) -> None:
    path = offered(alice)
    assert "Join on these terms" not in alice.get(path).body
    alice.post(path + "/join", {})
    assert states(alice) == ["waiting"]
    assert notice(alice) == "This is your own offer."
    alice.post("/lobby/dismiss", {"table": "1"})  # only what has ended can be
    assert states(alice) == ["waiting"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"stake": "much"}, "is not a stake"),
        ({"stake": "1e400 ether"}, "is not a stake"),
        ({"stake": "0.1 ether"}, "A stake needs a chain"),
        ({"game": "chess<b>"}, "There is no game"),
        ({"seats": "9"}, "takes 2 players"),
        ({"seats": "\N{ARABIC-INDIC DIGIT TWO}"}, "takes 2 players"),
        ({"duration": "0"}, "a number of seconds"),
        ({"duration": "9" * 30}, "a number of seconds"),
        ({"move_time": "soon"}, "The time for a move is a number of seconds; 0 means any time."),
        ({"move_time": str(2**48)}, "0 means any time."),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_and_kept(alice: Asker, fields: dict[str, str], words: str) -> None:
    assert alice.post("/offers", OFFER | fields).status == 303
    page = alice.get("/lobby").body
    assert words in find(page, "notice").text
    for name, value in fields.items():
        if name not in ("game", "stake", "duration"):  # without a chain nobody is asked for those
            assert find(page, name).attributes["value"] == value
    assert states(alice) == []


def test_the_pages_script_gets_no_page(alice: Asker) -> None:
    assert alice.post("/offers", OFFER, X_Live="1").status == 204
    path = shown(alice)
    assert alice.post(path + "/withdraw", {}, X_Live="1").status == 204


def test_a_relay_that_is_away_is_said_and_ends_nothing(tmp_path: Path) -> None:
    with running_relay(tmp_path) as relay:
        url = relay.url
    with served_lobby(url) as lobby:
        asker = Asker(lobby)
        until(lambda: "Asking" not in lobby.call(lambda: lobby.follower.problem))
        problem = lobby.call(lambda: lobby.follower.problem)
        asker.post("/offers", OFFER)
        until(lambda: states(asker) == ["failed"])
        page = asker.get("/lobby").body
        assert problem in find(page, "offers").text
        assert [each for each in elements(page) if each.attributes.get("class") == "bad"]
        assert asker.post("/lobby/resume", {}).status == 303
        assert asker.post("/lobby/dismiss", {"table": "1"}).status == 303
        assert states(asker) == []
        assert "Dismiss" in page
        assert "Dismiss" not in asker.get("/lobby").body


def test_an_offer_that_is_not_there_has_no_page(alice: Asker) -> None:
    for path in (NO_OFFER, NO_OFFER + "/events", "/offers/0x12", "/offers/" + "g" * 66):
        assert alice.get(path).status == 404
