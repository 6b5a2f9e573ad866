"""Spectators: they see what the public may see, as it happens, and no byte of what it may not."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import MAX_RELAYED, ActionQueue, ForcemoveError
from forcemove.flow.actions import MalformedAction
from forcemove.flow.signed import BadSignature
from forcemove.flow.steps import ActionMissing, UnexpectedAction, UnexpectedSender, run
from forcemove.flow.transport import MemoryTransport, Reader, Transport
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors.position import Weapon
from forcemove_games.rock_paper_scissors.table import (
    ACTIONS,
    PUBLIC,
    HiddenRound,
    Play,
    Reveal,
    Round,
    commitment_of,
    plays_and_reveals,
)
from forcemove_games.spectator import FEED, Disclosure, FalseDisclosure, Relay, Spectator, Start, following
from forcemove_games.views import Json, PlayResult, UnknownViewer, filter_state
from tests.expected import raising
from tests.flow.table import TABLE_ID, Delayed, signed
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_virtual

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0
CLIENTS = ("alice", "bob")
ROCK, PAPER, SCISSORS = Weapon
ALICE, BOB = Opening(ROCK, b"\xa1" * 32), Opening(PAPER, b"\xb0" * 32)
OPENINGS = {"alice": ALICE, "bob": BOB}
WEAPONS = st.sampled_from(Weapon)
ROUND = HiddenRound()
Said = Play | Reveal
BEGINNING: Json = {"table_id": TABLE_ID.hex(), "clients": ["alice", "bob"], "plays": {}, "reveals": {}, "result": None}


def sit(name: str, opening: Opening) -> Round:
    """A client that will play this weapon with this salt."""
    return Round(TABLE_ID, CLIENTS, name, lambda _: Weapon(opening.choice), lambda _: opening.salt)


def relay_of(round_: Round) -> Relay:
    """Shows the public what this client's table lets it see."""
    relay = Relay(round_.client_id, ROUND, round_.state, PUBLIC)
    round_.show = relay.show
    return relay


def is_over(view: Json) -> bool:
    return view["result"] is not None


async def watch(feed: Transport) -> Json:
    """What a spectator, who has no key, sees in the end."""
    spectator = Spectator(ROUND, "alice")
    await run(following(is_over, within=HOUR), ActionQueue(feed, FEED), spectator)
    return spectator.view


def play(name: str, opening: Opening | None = None) -> Play:
    return Play(name, commitment_of(TABLE_ID, name, opening or OPENINGS[name]).hex())


def reveal(name: str, opening: Opening | None = None) -> Reveal:
    opening = opening or OPENINGS[name]
    return Reveal(name, opening.choice, opening.salt.hex())


def opening_of(name: str, choice: Json, salt: Json) -> Json:
    return [[{"op": "add", "path": f"/reveals/{name}", "value": {"choice": choice, "salt": salt}}]]


SCRIPT = (play("bob"), play("alice"), reveal("alice"), reveal("bob"))


async def settle() -> None:
    """In virtual time, a second passes when nobody has anything left to do."""
    await asyncio.sleep(1)


class Mute:
    """A log on which nothing that its client posts arrives."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def post(self, message: bytes) -> None:
        pass

    def reader(self, start: int = 0) -> Reader:
        return self._inner.reader(start)

    def length(self) -> int:
        return self._inner.length()


class Table:
    """Alice's side of a round of which the test says what she hears, and her relay."""

    def __init__(self, group: asyncio.TaskGroup, opening: Opening = ALICE) -> None:
        self.alice, self._log, self._group = sit("alice", opening), MemoryTransport(), group
        self.relay = relay_of(self.alice)
        self.playing = group.create_task(
            run(plays_and_reveals(within=HOUR), ActionQueue(Mute(self._log), ACTIONS), self.alice)
        )

    async def receives(self, *actions: Said) -> None:
        """These come over the log, and all that follows from them happens."""
        for action in actions:
            await self._log.post(ACTIONS.encode(action))
        await settle()

    async def feeds(self, feed: Transport) -> asyncio.Task[None]:
        """The task that lets spectators of this feed follow from now on."""
        task = self._group.create_task(self.relay.feed(feed))
        await settle()
        return task


@asynccontextmanager
async def table(opening: Opening = ALICE) -> AsyncIterator[Table]:
    async with asyncio.TaskGroup() as group:
        ours = Table(group, opening)
        yield ours
        ours.relay.close()
        ours.playing.cancel()


async def received(log: MemoryTransport) -> list[bytes]:
    reader = log.reader()
    return [await reader.read() for _ in range(log.length())]


# -------------------------------------------------------------------------------------------------------- what they see


@given(WEAPONS, WEAPONS, st.randoms(use_true_random=False))
def test_who_watches_a_round_sees_how_it_ends(first: Weapon, second: Weapon, random: Random) -> None:
    async def scenario() -> None:
        log, feed = MemoryTransport(), MemoryTransport()
        alice, bob = sit("alice", Opening(first, ALICE.salt)), sit("bob", Opening(second, BOB.salt))
        relay = relay_of(alice)

        async def client(round_: Round) -> None:
            queue = ActionQueue(signed(Delayed(log, random), round_.client_id), ACTIONS)
            await run(plays_and_reveals(within=HOUR), queue, round_)

        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch(Delayed(feed, random)))
            group.create_task(relay.feed(Delayed(feed, random)))
            await asyncio.gather(client(alice), client(bob))
            relay.close()
        view = watching.result()
        assert view == filter_state(ROUND, alice.state, PUBLIC) == filter_state(ROUND, bob.state, PUBLIC)
        assert alice.result is not None
        assert view["result"]["winner"] == alice.result.winner
        assert {name: each["choice"] for name, each in view["reveals"].items()} == {"alice": first, "bob": second}

    run_virtual(scenario())


async def test_all_that_they_are_told_stands_in_these_messages() -> None:
    def added(name: str) -> Json:
        return opening_of(name, OPENINGS[name].choice, OPENINGS[name].salt.hex())[0][0]

    def played(name: str) -> Json:
        return {"type": "Play", "client_id": name, "commitment": play(name).commitment}

    feed = MemoryTransport()
    async with table() as ours:
        await ours.feeds(feed)
        await ours.receives(*SCRIPT)
    assert [FEED.decode(each) for each in await received(feed)] == [
        Start("alice", BEGINNING),
        Disclosure("alice", played("bob"), [[]]),
        Disclosure("alice", played("alice"), [[]]),
        Disclosure("alice", {"type": "Reveal", "client_id": "alice"}, [[added("alice")]]),
        Disclosure("alice", {"type": "Reveal", "client_id": "bob"}, [[added("bob")]]),
    ]


@settings(max_examples=50)
@given(st.permutations(CLIENTS), st.permutations(CLIENTS), st.integers(0, 4))
def test_whenever_they_come_replaying_gives_what_filtering_gives(
    players: Sequence[str], revealers: Sequence[str], joined: int
) -> None:
    script: list[Said] = [*map(play, players), *map(reveal, revealers)]
    expected: list[Json] = []
    replayed: list[Json] = []

    def note(view: Json) -> bool:
        replayed.append(view)
        return is_over(view)

    async def scenario() -> None:
        feed = MemoryTransport()
        async with table() as ours:
            await ours.receives(*script[:joined])
            await ours.feeds(feed)
            expected.append(filter_state(ROUND, ours.alice.state, PUBLIC))
            for action in script[joined:]:
                await ours.receives(action)
                expected.append(filter_state(ROUND, ours.alice.state, PUBLIC))
        await run(following(note, within=HOUR), ActionQueue(feed, FEED), Spectator(ROUND, "alice"))

    run_virtual(scenario())
    assert replayed == expected


async def test_who_comes_after_the_end_sees_the_end() -> None:
    feed = MemoryTransport()
    async with table() as ours:
        await ours.receives(*SCRIPT)
    await ours.relay.feed(feed)
    assert (await watch(feed))["result"] == {"winner": "bob"}
    assert feed.length() == 1


async def test_a_game_with_one_view_for_all_can_be_watched_too() -> None:
    class Chalk:
        def update_state(self, state: Json, action: Json) -> None:
            state["written"].append(action)

    state: Json = {"written": []}
    feed = MemoryTransport()
    relay = Relay("alice", Chalk(), state)
    relay.show("hello", PlayResult({"written": ["hello"]}, []))
    relay.close()
    await relay.feed(feed)
    assert [FEED.decode(each) for each in await received(feed)] == [Start("alice", {"written": ["hello"]})]
    with pytest.raises(UnknownViewer):
        Relay("alice", Chalk(), state, "public")


# ------------------------------------------------------------------------------------------------------ and what do not


def forms(secret: bytes) -> Iterator[bytes]:
    """How 32 bytes could be written."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield b64encode(secret)[:42]
    yield str(int.from_bytes(secret, "big")).encode()
    yield str(list(secret)).replace(" ", "").encode()


@pytest.mark.parametrize("revealers", [("alice", "bob"), ("bob", "alice")])
async def test_nothing_that_they_receive_holds_a_secret_before_it_is_revealed(revealers: tuple[str, str]) -> None:
    feed, hidden = MemoryTransport(), {"alice", "bob"}

    async def nothing_is_betrayed() -> None:
        shown = b"".join(await received(feed))
        for name, opening in OPENINGS.items():
            assert any(form in shown for form in forms(opening.salt)) is (name not in hidden)
        assert shown.count(b'"choice"') == len(CLIENTS) - len(hidden)
        assert shown.count(b'"secrets"') == 0

    async with table() as ours:
        await ours.feeds(feed)
        script: list[Said] = [play("alice"), play("bob"), *map(reveal, revealers)]
        for action in script:
            await ours.receives(action)
            if isinstance(action, Reveal):
                hidden.discard(action.client_id)
            await nothing_is_betrayed()
    assert not hidden


def test_before_the_reveals_they_are_told_the_same_whatever_was_chosen() -> None:
    """But for the commitments, of which nobody can tell what they hide."""

    async def shown(first: Weapon, second: Weapon) -> list[bytes]:
        feed, one, other = MemoryTransport(), Opening(first, ALICE.salt), Opening(second, BOB.salt)
        commitments = [play("alice", one).commitment.encode(), play("bob", other).commitment.encode()]
        async with table(one) as ours:
            await ours.feeds(feed)
            await ours.receives(play("alice", one), play("bob", other))
        messages = await received(feed)
        assert len(messages) == 3
        return [each.replace(commitments[0], b"A").replace(commitments[1], b"B") for each in messages]

    async def scenario() -> None:
        seen = [await shown(first, second) for first, second in product(Weapon, Weapon)]
        assert all(each == seen[0] for each in seen)

    run_virtual(scenario())


# ----------------------------------------------------------------------------------------------- nobody waits for them


class Stuck(Mute):
    """A feed that takes a message and never comes back."""

    async def post(self, message: bytes) -> None:
        await asyncio.Event().wait()


class Broken(Mute):
    """A feed that breaks with its second message."""

    posts = 0

    async def post(self, message: bytes) -> None:
        self.posts += 1
        if self.posts > 1:
            raise ConnectionResetError


async def test_players_and_other_spectators_wait_for_none_that_is_slow_or_breaks() -> None:
    feed, broken = MemoryTransport(), Broken(MemoryTransport())
    async with table() as ours:
        stuck = await ours.feeds(Stuck(MemoryTransport()))
        failing = asyncio.create_task(ours.relay.feed(broken))
        await ours.feeds(feed)
        await ours.receives(*SCRIPT)
        assert ours.alice.result is not None
        assert ours.alice.result.winner == "bob"
        assert (await watch(feed))["result"] == {"winner": "bob"}
        [error] = await asyncio.gather(failing, return_exceptions=True)
        assert isinstance(error, ConnectionResetError)
        assert broken.posts == 2
        assert not stuck.done()
        stuck.cancel()


async def test_what_no_message_can_carry_is_refused_to_spectators_alone() -> None:
    async with table() as ours:
        large, feed = Relay("alice", _Everything(), "x" * MAX_RELAYED), MemoryTransport()
        with pytest.raises(MalformedAction):
            await large.feed(feed)
        assert feed.length() == 0
        await ours.receives(*SCRIPT)
        assert ours.alice.result is not None


class _Everything:
    def update_state(self, state: Json, action: Json) -> None:
        pass


def test_a_feed_can_be_cancelled_wherever_it_waits() -> None:
    async def scenario(number: int) -> bool:
        async with table() as ours:
            feeding = asyncio.create_task(cancelled_at(number, ours.relay.feed(Delayed(MemoryTransport(), Random(0)))))
            for action in SCRIPT:
                await ours.receives(action)
            assert ours.alice.result is not None
        return await feeding

    assert at_every_wait(scenario) > 6


def test_who_follows_can_be_cancelled_wherever_it_waits() -> None:
    async def scenario(number: int) -> bool:
        feed = MemoryTransport()
        async with table() as ours:
            following = asyncio.create_task(cancelled_at(number, watch(Delayed(feed, Random(0)))))
            await ours.feeds(feed)
            for action in SCRIPT:
                await ours.receives(action)
        cancelled = await following
        assert is_over(await watch(feed))
        return cancelled

    assert at_every_wait(scenario) > 6


# ---------------------------------------------------------------------------------------------------- relays that cheat


SWAPPED: Json = {"op": "replace", "path": "/plays/alice", "value": "bb" * 32}
REVEALED: Json = {"type": "Reveal", "client_id": "bob"}


@pytest.mark.parametrize(
    ("action", "new_info"),
    [
        (REVEALED, opening_of("bob", SCISSORS, BOB.salt.hex())),
        (REVEALED, opening_of("bob", PAPER, "bb" * 32)),
        (REVEALED, opening_of("bob", PAPER, 5)),
        (REVEALED, opening_of("bob", True, BOB.salt.hex())),
        (REVEALED, opening_of("bob", [], BOB.salt.hex())),
        (REVEALED, opening_of("alice", ROCK, ALICE.salt.hex())),
        (REVEALED, [[]]),
        (REVEALED, []),
        (REVEALED, [[], []]),
        (REVEALED, [[{}]]),
        (REVEALED, [[{"op": "replace", "path": "", "value": 5}]]),
        (REVEALED, [[{"op": "replace", "path": "/result", "value": {"winner": "alice"}}]]),
        (REVEALED, [[*opening_of("bob", PAPER, BOB.salt.hex())[0], SWAPPED]]),
        ({"type": "Play", "client_id": "bob", "commitment": "bb" * 32}, [[]]),
        ({"type": "Play", "client_id": "eve", "commitment": "bb" * 32}, [[]]),
        ({"type": "Draw", "client_id": "bob"}, [[]]),
        ({"type": "Reveal", "client_id": "eve"}, opening_of("eve", PAPER, BOB.salt.hex())),
        ({"type": "Play", "client_id": "bob", "commitment": 5}, [[]]),
        ({"type": "Play", "client_id": "bob"}, [[]]),
        ({}, [[]]),
        (None, [[]]),
        (5, [[]]),
    ],
    ids=["another weapon", "another salt", "bytes that are not a salt", "a weapon that is True",
         "a weapon that is a list", "another's opening", "nothing", "too few", "too many", "no patch",
         "another state", "another winner",
         "another's commitment, too", "a second commitment", "a stranger's commitment", "another type",
         "a stranger's opening", "bytes that are not a commitment", "no commitment", "no action", "null", "a number"],
)  # fmt: skip
async def test_what_does_not_follow_from_what_was_shown_before_is_refused(action: Json, new_info: Json) -> None:
    """Even a disclosure: it carries its proof, the opening of the commitment that was shown before."""

    feed = MemoryTransport()
    async with table() as ours:
        await ours.feeds(feed)
        await ours.receives(play("alice"), play("bob"))
    await ActionQueue(feed, FEED).enqueue(Disclosure("alice", action, new_info))
    spectator = Spectator(ROUND, "alice")
    with pytest.raises(FalseDisclosure) as refused:
        await run(following(is_over, within=HOUR), ActionQueue(feed, FEED), spectator)
    assert refused.value.client_id == "alice"
    assert spectator.view == filter_state(ROUND, ours.alice.state, PUBLIC)


async def test_a_play_cannot_smuggle_in_another_change() -> None:
    feed = MemoryTransport()
    async with table() as ours:
        await ours.feeds(feed)
        await ours.receives(play("alice"))
    played = {"type": "Play", "client_id": "bob", "commitment": play("bob").commitment}
    await ActionQueue(feed, FEED).enqueue(Disclosure("alice", played, [[SWAPPED]]))
    with pytest.raises(FalseDisclosure, match="DisclosesMore"):
        await watch(feed)


@pytest.mark.parametrize("view", [None, 5, [], {}, {"result": None}, {**BEGINNING, "clients": 5}])
async def test_a_beginning_that_is_none_is_the_relays_fault(view: Json) -> None:
    feed = MemoryTransport()
    queue = ActionQueue(feed, FEED)
    await queue.enqueue(Start("alice", view))
    await queue.enqueue(Disclosure("alice", {"type": "Reveal", "client_id": "bob"}, [[]]))
    with pytest.raises(FalseDisclosure):
        await watch(feed)


async def test_only_whom_they_follow_can_show_them_anything() -> None:
    scripts: list[tuple[list[Start | Disclosure], type[ForcemoveError]]] = [
        ([Start("mallory", BEGINNING)], UnexpectedSender),
        ([Start("alice", BEGINNING), Disclosure("mallory", REVEALED, [[]])], UnexpectedSender),
        ([Disclosure("alice", REVEALED, [[]])], UnexpectedAction),
        ([Start("alice", BEGINNING), Start("alice", BEGINNING)], UnexpectedAction),
    ]
    for script, error in scripts:
        feed = MemoryTransport()
        for each in script:
            await ActionQueue(feed, FEED).enqueue(each)
        with pytest.raises(error):
            await watch(feed)


async def test_on_a_signed_feed_nobody_speaks_in_the_relays_name() -> None:
    log = MemoryTransport()
    await signed(log, "alice").post(FEED.encode(Start("alice", BEGINNING)))
    [message] = await received(log)
    forged = MemoryTransport()
    await forged.post(message.replace(b'"result":null', b'"result":true'))
    with pytest.raises(BadSignature):
        await watch(signed(forged, "carol"))


async def test_a_relay_that_falls_silent_hangs_nobody() -> None:
    feed = MemoryTransport()
    with raising(ActionMissing(("alice",), HOUR)):
        await watch(feed)
    await ActionQueue(feed, FEED).enqueue(Start("alice", BEGINNING))
    with pytest.raises(ActionMissing):
        await watch(feed)
