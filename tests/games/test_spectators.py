"""A third client follows a game of rock-paper-scissors, and gets nothing that it must not know."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channel.flow.queue import ActionQueue
from channel.flow.steps import NothingHeard, UnexpectedSender, repeat, run
from channel.flow.transport import MemoryTransport
from games.commitment import Opening
from games.spectator import SPECTACLE, Host, Shown, Spectator, Viewed, watching
from games.views import DisclosureMalformed, DisclosuresLeft, NoDisclosure, ReplayMismatch, apply_update, filter_state
from tests.flow.virtual_time import run_virtual

HOUR = 3600.0


class RockPaperScissors:
    """Everybody's opening is its own secret until it is revealed; then the result is for all."""

    def update_state(self, state: Any, action: Any) -> None:
        who = action["who"]

        def commit(state: Any) -> None:
            secret = state["secrets"][who]
            state["plays"][who] = Opening(secret["weapon"], bytes.fromhex(secret["salt"])).commitment.hex()

        def reveal(state: Any) -> None:
            state["reveals"][who] = state["secrets"][who]

        apply_update(state, commit if action["type"] == "play" else reveal)

    def filters(self, state: Any) -> dict[str, Any]:
        def view_of(who: str | None) -> Any:
            def view(state: Any) -> None:
                state["secrets"] = {name: secret for name, secret in state["secrets"].items() if name == who}

            return view

        return {"public": view_of(None)} | {name: view_of(name) for name in state["secrets"]}


class Leaky(RockPaperScissors):
    """The same, but every action says too much."""

    def update_state(self, state: Any, action: Any) -> None:
        state["last"] = state["secrets"].get("alice")
        super().update_state(state, action)


PLAYS = [{"type": "play", "who": "alice"}, {"type": "play", "who": "bob"}]
REVEALS = [{"type": "reveal", "who": "bob"}, {"type": "reveal", "who": "alice"}]
SALTS = {"alice": "a1" * 32, "bob": "b0" * 32}


def dealt(alice: int = 0, bob: int = 1) -> Any:
    secrets = {name: {"weapon": weapon, "salt": SALTS[name]} for name, weapon in (("alice", alice), ("bob", bob))}
    return {"secrets": secrets, "plays": {}, "reveals": {}}


def host_of(log: MemoryTransport, state: Any = None, game: Any = None) -> Host:
    queue = ActionQueue(log, SPECTACLE)
    return Host("host", game or RockPaperScissors(), state or dealt(), "public", queue)


async def watched(log: MemoryTransport, times: int) -> Spectator:
    spectator = Spectator(RockPaperScissors(), "host")
    await run(repeat(watching(within=HOUR), times), ActionQueue(log, SPECTACLE), spectator)
    return spectator


async def all_bytes(log: MemoryTransport) -> bytes:
    reader = log.reader()
    return b"".join([await reader.read() for _ in range(log.length())])


@given(st.integers(0, 2), st.integers(0, 2), st.permutations(PLAYS), st.permutations(REVEALS))
def test_a_spectator_sees_what_the_public_may_see_after_every_action(
    alice: int, bob: int, plays: Any, reveals: Any
) -> None:
    async def story() -> None:
        log = MemoryTransport()
        host = host_of(log, dealt(alice, bob))
        await host.begin()
        spectator, queue = Spectator(RockPaperScissors(), "host"), ActionQueue(log, SPECTACLE)
        await run(watching(), queue, spectator)
        for action in (*plays, *reveals):
            await host.play(action)
            await run(watching(), queue, spectator)
            assert spectator.view == filter_state(RockPaperScissors(), host.state, "public")

    run_virtual(story())


def test_nothing_that_a_spectator_receives_holds_a_secret_before_it_is_revealed() -> None:
    async def story() -> None:
        log = MemoryTransport()
        host = host_of(log)
        await host.begin()
        hidden = {"alice", "bob"}
        for action in (*PLAYS, *REVEALS):
            await host.play(action)
            if action["type"] == "reveal":
                hidden.remove(action["who"])
            received = await all_bytes(log)
            assert {name for name in SALTS if SALTS[name].encode() not in received} == hidden
            assert (b'"weapon"' in received) is (len(hidden) < 2)

    run_virtual(story())


def test_who_comes_in_the_middle_sees_the_same() -> None:
    async def story() -> None:
        log = MemoryTransport()
        host = host_of(log)
        await host.begin()
        for action in (*PLAYS, *REVEALS):
            await host.play(action)
        late = await watched(log, 5)
        assert late.view == filter_state(RockPaperScissors(), host.state, "public")
        assert set(late.view["reveals"]) == {"alice", "bob"}

    run_virtual(story())


def test_a_game_that_would_give_a_secret_away_is_not_shown() -> None:
    async def story() -> None:
        log = MemoryTransport()
        host = host_of(log, game=Leaky())
        await host.begin()
        with pytest.raises(ReplayMismatch):
            await host.play(PLAYS[0])
        assert log.length() == 1
        assert host.state == dealt()
        assert json.dumps(SALTS["alice"]).encode() not in await all_bytes(log)

    run_virtual(story())


def test_only_the_hosts_word_counts() -> None:
    async def story() -> None:
        log = MemoryTransport()
        await ActionQueue(log, SPECTACLE).enqueue(Viewed("mallory", {}))
        with pytest.raises(UnexpectedSender):
            await watched(log, 1)

    run_virtual(story())


@pytest.mark.parametrize("new_info", [[], 5, [[]] * 2, [5]])
def test_a_host_who_shows_rubbish_changes_no_view(new_info: Any) -> None:
    async def story() -> None:
        log = MemoryTransport()
        await host_of(log).begin()
        await ActionQueue(log, SPECTACLE).enqueue(Shown("host", PLAYS[0], new_info))
        spectator, queue = Spectator(RockPaperScissors(), "host"), ActionQueue(log, SPECTACLE)
        await run(watching(), queue, spectator)
        before = json.dumps(spectator.view)
        with pytest.raises((DisclosureMalformed, DisclosuresLeft, NoDisclosure)):
            await run(watching(), queue, spectator)
        assert json.dumps(spectator.view) == before

    run_virtual(story())


def test_a_host_who_falls_silent_hangs_nobody() -> None:
    async def story() -> None:
        with pytest.raises(NothingHeard):
            await watched(MemoryTransport(), 1)

    run_virtual(story())
