"""Who watches sees how many cards everybody holds and the cards that were laid, and no byte more."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from random import Random
from typing import Any

import pytest

from forcemove import ActionQueue, run
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.discard_sra.table import DiscardTable
from forcemove_games.discard_sra.view import PUBLIC, ClientView, HiddenHands, NotLegal, is_over
from forcemove_games.spectator import FEED, Disclosure, FalseDisclosure, Relay, Spectator, Start, following
from forcemove_games.sra.table import AllKeys
from forcemove_games.views import filter_state, replay_action
from tests.flow.virtual_time import run_virtual
from tests.games.discard_sra.mallory import honest_against, only
from tests.games.discard_sra.referee import CLIENTS
from tests.games.discard_sra.tables import HOUR, Choose, anything, best, by, client, seated
from tests.games.sra.shuffled import ALICE, BOB

View = Any


async def watch(feed: Transport) -> View:
    spectator = Spectator(HiddenHands(), "alice")
    await run(following(is_over, within=HOUR), ActionQueue(feed, FEED), spectator)
    return spectator.view


class Watched:
    """A game of two honest clients, and two spectators, of whom one comes late; alice relays."""

    def __init__(self, number: int, chooses: tuple[Choose, Choose] = (best, best)) -> None:
        self.feeds = (MemoryTransport(), MemoryTransport())
        self.alice, self.bob = seated(number)
        self.seen = ClientView(CLIENTS, "alice")
        self.relay = Relay("alice", HiddenHands(), self.seen.state, PUBLIC)
        self.seen.show = self.relay.show
        self.late = asyncio.Event()
        self.alice.watch = self.watch
        self.views = run_virtual(self.scenario(chooses))

    def watch(self, table: DiscardTable) -> None:
        self.seen.watch(table)
        if len(table.history) == 5:
            self.late.set()

    async def scenario(self, chooses: tuple[Choose, Choose]) -> list[View]:
        log = MemoryTransport()
        async with asyncio.TaskGroup() as group:
            views = [group.create_task(watch(feed)) for feed in self.feeds]
            group.create_task(self.relay.feed(self.feeds[0]))
            group.create_task(self.feed_late())
            group.create_task(client(log, self.bob, chooses[BOB]))
            await client(log, self.alice, chooses[ALICE])
            self.relay.close()
        return [view.result() for view in views]

    async def feed_late(self) -> None:
        await self.late.wait()
        await self.relay.feed(self.feeds[1])


@cache
def watched(number: int) -> Watched:
    random = Random(number)
    return Watched(number, (best, best) if number else (by(anything(random)), by(anything(random))))


def received(feed: MemoryTransport) -> list[bytes]:
    async def read() -> list[bytes]:
        return [await feed.message(index) for index in range(feed.length())]

    return run_virtual(read())


@pytest.mark.parametrize("number", [0, 1])
def test_a_spectator_sees_the_counts_and_the_laid_cards(number: int) -> None:
    game = watched(number)
    pile, result = game.alice.player.pile, game.alice.result
    assert result is not None
    for view in game.views:
        assert view == {
            "clients": ["alice", "bob"],
            "counts": dict(result.counts),
            "left": pile.left,
            "laid": list(pile.laid),
            "turns": result.turns,
            "stuck": 2 if result.is_stuck else 0,
            "result": {"winner": result.winner},
        }


def expected_from_what_is_public(game: Watched) -> list[bytes]:
    """What the first feed must be, made only of laid cards and of the players that have drawn."""
    beginning = {**BEGUN, "counts": {"alice": 0, "bob": 0}, "left": SIZE, "laid": []}
    messages: list[Start | Disclosure] = [Start("alice", beginning)]
    cards = list(game.alice.player.pile.laid)
    actions: list[dict[str, object]] = [{"type": "Begin", "card": cards.pop(0)}]
    for number, (before, after) in enumerate(zip(game.alice.history, game.alice.history[1:], strict=False)):
        action: dict[str, object] = {"client_id": CLIENTS[number % 2]}
        if after.top > before.top:
            action["type"] = "Draw"
        elif len(after.opened) > len(before.opened):
            action |= {"type": "Discard", "card": cards.pop(0)}
        else:
            action["type"] = "CannotMove"
        actions.append(action)
    actions.append({"type": "Result"})
    return [FEED.encode(message) for message in [*messages, *(Disclosure("alice", action, [[]]) for action in actions)]]


@pytest.mark.parametrize("number", [0, 1])
def test_no_byte_of_what_a_spectator_receives_depends_on_what_is_hidden(number: int) -> None:
    """Hands, keys and the order of the deck included: the feed can be made without them."""
    game = watched(number)
    early, late = map(received, game.feeds)
    assert early == expected_from_what_is_public(game)
    assert late[1:] == early[-len(late) + 1 :]


@pytest.mark.parametrize("number", [0, 1])
def test_neither_a_hidden_card_nor_a_key_is_in_what_a_spectator_receives(number: int) -> None:
    game = watched(number)
    public = set(game.alice.player.pile.laid)
    texts: list[str] = []
    cards: set[int] = set()

    def search(value: object, under: str) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                texts.append(key)
                search(each, key)
        elif isinstance(value, list):
            for each in value:
                search(each, under)
        elif isinstance(value, str):
            texts.append(value)
        elif isinstance(value, int) and under in {"card", "laid", "value"}:
            cards.add(value)

    for message in [*received(game.feeds[0]), *received(game.feeds[1])]:
        search(json.loads(message), "")
    assert cards == public
    assert cards != set(range(SIZE))
    assert max(map(len, texts)) < 20
    secret_texts = {key.disclose().encode() for side in (game.alice, game.bob) for key in side.player.keys}
    feed = b"".join(received(game.feeds[0]) + received(game.feeds[1])).decode()
    assert not [text for text in secret_texts if text in feed]
    assert '"hands"' not in feed


def test_the_client_itself_sees_its_own_hand_and_no_other() -> None:
    game = watched(1)
    view = filter_state(HiddenHands(), game.seen.state, "alice")
    assert view["hands"] == {"alice": sorted(card for _, card in game.alice.player.hand)}


def test_a_game_without_a_result_shows_none() -> None:
    alice, bob = seated()
    seen = ClientView(CLIENTS, "alice")
    alice.watch = seen.watch
    end = honest_against(alice, bob, only(AllKeys, keys=()))
    assert end is not None
    assert not is_over(seen.state)
    assert seen.state["turns"] == len(alice.history) - 1


# ------------------------------------------------------------------------------------------------------ false relays

BEGUN: View = {
    "clients": ["alice", "bob"],
    "counts": {"alice": 5, "bob": 5},
    "left": 13,
    "laid": [0],
    "turns": 0,
    "stuck": 0,
    "result": None,
}
EMPTY = {**BEGUN, "left": 0}
WON = {**BEGUN, "counts": {"alice": 0, "bob": 5}, "turns": 1}


@pytest.mark.parametrize(
    ("view", "action"),
    [
        (BEGUN, {"type": "Begin", "card": 3}),
        (BEGUN, {"type": "Discard", "client_id": "alice", "card": 7}),
        (BEGUN, {"type": "Discard", "client_id": "alice", "card": 0}),
        (BEGUN, {"type": "Discard", "client_id": "alice", "card": 24}),
        (BEGUN, {"type": "Discard", "client_id": "alice", "card": True}),
        (BEGUN, {"type": "Discard", "client_id": "bob", "card": 1}),
        (BEGUN, {"type": "Draw", "client_id": "bob"}),
        (BEGUN, {"type": "Draw", "client_id": "carol"}),
        (BEGUN, {"type": "CannotMove", "client_id": "alice"}),
        (BEGUN, {"type": "Result"}),
        (BEGUN, {"type": "Show"}),
        (EMPTY, {"type": "Draw", "client_id": "alice"}),
        (WON, {"type": "Draw", "client_id": "bob"}),
        ({**WON, "result": {"winner": "alice"}}, {"type": "Result"}),
    ],
)
def test_a_spectator_holds_every_turn_to_the_rules(view: View, action: View) -> None:
    with pytest.raises(NotLegal):
        replay_action(HiddenHands(), view, action, [[]])


def test_who_relays_what_breaks_the_rules_is_named() -> None:
    async def scenario() -> None:
        feed = MemoryTransport()
        await feed.post(FEED.encode(Start("alice", BEGUN)))
        await feed.post(FEED.encode(Disclosure("alice", {"type": "Result"}, [[]])))
        await watch(feed)

    with pytest.raises(FalseDisclosure) as refused:
        run_virtual(scenario())
    assert refused.value.client_id == "alice"
