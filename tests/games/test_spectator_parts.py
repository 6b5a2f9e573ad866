"""What is too large for one message of a feed: it travels in parts, and whatever parts come, their cost is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from forcemove import MAX_ACTION, ActionQueue, ForcemoveError
from forcemove.flow.actions import MalformedAction
from forcemove.flow.steps import ActionMissing, UnexpectedAction, UnexpectedSender, run
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove_games.spectator import FEED, Disclosure, Part, PartRefused, Relay, Spectator, Start, following
from forcemove_games.views import Json, apply_update, play_action
from tests.expected import raising
from tests.flow.table import Delayed, signed

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0


class Everything:
    """A game in which nothing happens, and all is seen."""

    def update_state(self, state: Json, action: Json) -> None:
        pass


async def settle() -> None:
    """In virtual time, a second passes when nobody has anything left to do."""
    await asyncio.sleep(1)


async def received(log: MemoryTransport) -> list[bytes]:
    reader = log.reader()
    return [await reader.read() for _ in range(log.length())]


class Archive:
    """A game whose every action shows a page, and of which nobody sees the drawer."""

    def update_state(self, state: Json, action: Json) -> None:
        apply_update(state, lambda draft: draft["pages"].append(draft["drawer"][action]))
        state["turn"] += 1

    def filters(self, state: Json) -> Callable[[Json], None]:
        def without_drawer(state: Json) -> None:
            del state["drawer"]

        return without_drawer


PAGES = ("plain " * 60_000, 'quo"ted\\' * 20_000, "\x01\x7f" * 20_000, "\U0001f600" * 50_000, "short")


def has_all(view: Json) -> bool:
    return len(view["pages"]) == len(PAGES)


async def read_all(feed: Transport, client_id: str = "alice") -> Json:
    spectator = Spectator(Archive(), client_id)
    await run(following(has_all, within=HOUR), ActionQueue(feed, FEED), spectator)
    return spectator.view


async def test_a_view_of_many_messages_is_followed_live_and_from_the_middle() -> None:
    """Over a signed log, with a megabyte in the end; a spectator who comes late is shown it at once."""

    log, late = MemoryTransport(), MemoryTransport()
    state: Json = {"drawer": list(PAGES), "pages": [], "turn": 0}
    relay = Relay("alice", Archive(), state)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(read_all(signed(Delayed(log, Random(0)), "carol")))
        group.create_task(relay.feed(signed(log, "alice")))
        for page in range(len(PAGES)):
            await settle()
            if page == len(PAGES) - 1:
                group.create_task(relay.feed(signed(late, "alice")))
                await settle()
            played = play_action(Archive(), state, page)
            state = played.state
            relay.show(page, played)
        relay.close()
    assert watching.result() == await read_all(signed(late, "carol")) == {"pages": list(PAGES), "turn": len(PAGES)}
    assert max(map(len, await received(log))) < MAX_ACTION + 512
    beginning = FEED.decode(await signed(late, "carol").reader(0).read())
    assert isinstance(beginning, Part)
    assert beginning.count > 40


@pytest.mark.parametrize(("excess", "messages"), [(0, 1), (1, 5)])
async def test_only_what_no_message_holds_goes_in_parts(excess: int, messages: int) -> None:
    empty = len(FEED.encode(Start("alice", "")))
    feed = MemoryTransport()
    relay = Relay("alice", Everything(), "x" * (MAX_ACTION - empty + excess))
    relay.close()
    await relay.feed(feed)
    assert feed.length() == messages


async def test_a_part_has_room_for_any_text_and_any_client() -> None:
    client_id = "\x01" * 64
    feed = MemoryTransport()
    relay = Relay(client_id, Archive(), {"drawer": [], "pages": ["\U0001f600" * 40_000] * 5, "turn": 0})
    relay.close()
    await relay.feed(feed)
    assert (await read_all(feed, client_id))["pages"] == ["\U0001f600" * 40_000] * 5


async def parts_of(message: Start) -> list[Part]:
    """As an honest relay sends them."""
    feed, relay = MemoryTransport(), Relay(message.client_id, Everything(), message.view)
    relay.close()
    await relay.feed(feed)
    parts = [FEED.decode(each) for each in await received(feed)]
    return [part for part in parts if isinstance(part, Part)]


Altered = Callable[[list[Part]], list[Part | Start | Disclosure]]
ALTERED: dict[str, tuple[Altered, type[ForcemoveError]]] = {
    "the first is missing": (lambda parts: [*parts[1:]], PartRefused),
    "one in the middle is missing": (lambda parts: [*parts[:2], *parts[3:]], PartRefused),
    "the last is missing": (lambda parts: [*parts[:-1]], ActionMissing),
    "the first comes again": (lambda parts: [parts[0], *parts], PartRefused),
    "two have changed places": (lambda parts: [parts[1], parts[0], *parts[2:]], PartRefused),
    "something comes in between": (lambda parts: [*parts[:2], Start("alice", 1), *parts[2:]], UnexpectedAction),
    "a message comes in between": (lambda parts: [*parts[:2], *parts], PartRefused),
    "one is another client's": (lambda parts: [*parts[:2], replace(parts[2], client_id="mallory")], UnexpectedSender),
    "they are another client's": (lambda parts: [replace(each, client_id="mallory") for each in parts],
                                  UnexpectedSender),
    "their number changes": (lambda parts: [parts[0], replace(parts[1], count=90)], PartRefused),
    "they are too many": (lambda parts: [replace(parts[0], count=10_000)], PartRefused),
    "there is but one": (lambda parts: [replace(parts[0], count=1)], PartRefused),
    "there are none": (lambda parts: [replace(parts[0], count=0)], PartRefused),
    "a number is negative": (lambda parts: [replace(parts[0], index=-1)], PartRefused),
    "one is short": (lambda parts: [replace(parts[0], text="{")], PartRefused),
    "one is long": (lambda parts: [replace(parts[0], text=parts[0].text + "x")], PartRefused),
    "the last is empty": (lambda parts: [*parts[:-1], replace(parts[-1], text="")], PartRefused),
    "they are not JSON": (lambda parts: [replace(each, text="x" * len(each.text)) for each in parts],
                         MalformedAction),
    "they are in another form": (lambda parts: [*parts[:-1], replace(parts[-1], text=parts[-1].text + " ")],
                                 MalformedAction),
    "they would have done as one": (lambda _: in_parts(FEED.encode(Start("alice", "x" * 20_000))), MalformedAction),
    "they name another client": (lambda _: in_parts(large(Start("mallory", "x" * MAX_ACTION))), MalformedAction),
    "they are too large": (lambda _: in_parts(large(Start("alice", "\U0001f600" * 2**20))), MalformedAction),
    "they are parts again": (lambda parts: in_parts(large(Part("alice", 0, 2, parts[0].text * 6))), MalformedAction),
    "they show an action first": (
        lambda _: in_parts(large(Disclosure("alice", "x" * MAX_ACTION, []))),
        UnexpectedAction,
    ),
}  # fmt: skip


def large(message: Start | Disclosure | Part) -> bytes:
    return msgspec.json.Encoder(order="sorted").encode(message)


def in_parts(data: bytes) -> list[Part | Start | Disclosure]:
    text = data.decode()
    texts = [text[start : start + 16_000] for start in range(0, len(text), 16_000)]
    return [Part("alice", index, len(texts), each) for index, each in enumerate(texts)]


@pytest.mark.parametrize(("altered", "error"), ALTERED.values(), ids=ALTERED.keys())
async def test_parts_that_are_none_are_refused(altered: Altered, error: type[ForcemoveError]) -> None:
    feed = MemoryTransport()
    parts = await parts_of(Start("alice", "x" * 5 * MAX_ACTION))
    assert [each.index for each in parts] == list(range(21))
    for each in altered(parts):
        await ActionQueue(feed, FEED).enqueue(each)
    spectator = Spectator(Everything(), "alice")
    with pytest.raises(error):
        await run(following(lambda _: True, within=HOUR), ActionQueue(feed, FEED), spectator)
    assert spectator.view is None


async def test_a_refused_part_says_what_was_due() -> None:
    feed = MemoryTransport()
    for part in (await parts_of(Start("alice", "x" * MAX_ACTION)))[::2]:
        await ActionQueue(feed, FEED).enqueue(part)
    with raising(PartRefused("alice", 2, 5, 1, "it is not the next")):
        await run(following(lambda _: True, within=HOUR), ActionQueue(feed, FEED), Spectator(Everything(), "alice"))
