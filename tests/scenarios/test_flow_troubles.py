"""Transports, endpoints and players that fail while a flow runs: it goes on, and the money ends where it must."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from forcemove import Game, Phase, Step, VariablePart, repeat, sequence
from forcemove.chain.errors import NotGenuine, Unreachable
from forcemove.flow import channel
from forcemove.flow.transport import MemoryTransport, Reader
from forcemove.store.errors import JournalBusy
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.chain.world import deploy_contract
from tests.node.test_troubles import over_flaky_chain
from tests.process import wrap_commits
from tests.scenarios.story import Playground, Story
from tests.scenarios.test_flows import NAMES, TICK
from tests.scenarios.test_flows import bot_of as plays_and_concludes
from tests.scenarios.test_flows import play as play_strictly

# What a seat makes of troubles where nobody says otherwise: a warning.
play = partial(play_strictly, on_error=channel.Seat("nobody", None, channel.Line()).on_error)  # type: ignore[arg-type]  # of no use here


class FlakyLog(MemoryTransport):
    """A log whose posts and reads fail now and then: before the message is there, or only the answer is lost."""

    def __init__(self, seed: int, *, fails: float) -> None:
        super().__init__()
        self._chance, self._fails, self.failures = Random(seed), fails, 0

    def fail_sometimes(self) -> None:
        if self._chance.random() < self._fails:
            self.failures += 1
            raise ConnectionResetError("the relay has hung up")

    async def post(self, message: bytes) -> None:
        self.fail_sometimes()
        await super().post(message)
        self.fail_sometimes()

    def reader(self, start: int = 0) -> Reader:
        return _FlakyReader(self, super().reader(start))


class _FlakyReader:
    def __init__(self, log: FlakyLog, inner: Reader) -> None:
        self._log, self._inner = log, inner

    async def read(self) -> bytes:
        self._log.fail_sometimes()
        return await self._inner.read()


@pytest.mark.parametrize("seed", range(4))
def test_a_game_goes_to_its_end_over_a_transport_that_often_fails(playground: Playground, seed: int) -> None:
    story, log = playground.story(TIC_TAC_TOE), FlakyLog(seed, fails=0.2)
    play(story, plays_and_concludes(story, 0), plays_and_concludes(story, 1), log=log)
    assert log.failures > 5
    assert not story.alice.faults + story.bob.faults
    story.ends_with(story.alice.newest.state.outcome)


def test_a_lost_acknowledgement_makes_nobody_talk_without_end(playground: Playground) -> None:
    """Each post that fails is posted again: sends stay within a small multiple of the turns."""
    story, log = playground.story(TIC_TAC_TOE), FlakyLog(7, fails=0.3)
    play(story, plays_and_concludes(story, 0), plays_and_concludes(story, 1), log=log)
    assert log.length() <= 8 * (story.alice.newest.state.turn_num + 1)


@pytest.mark.parametrize("seed", range(4))
def test_a_game_goes_to_its_end_over_an_endpoint_that_often_fails(playground: Playground, seed: int) -> None:
    story, chance = playground.story(TIC_TAC_TOE), Random(seed)
    failures = 0

    def fails(_: str) -> bool:
        nonlocal failures
        failed = chance.random() < 0.03
        failures += failed
        return failed

    start = story.start

    def start_over_flaky_chain(player: object, *arguments: object, **options: object) -> None:
        over_flaky_chain(story, fails, lambda: start(player, *arguments, **options))  # type: ignore[arg-type]

    story.start = start_over_flaky_chain  # type: ignore[method-assign]
    play(story, plays_and_concludes(story, 0), plays_and_concludes(story, 1))
    assert failures > 5
    story.ends_with(story.alice.newest.state.outcome)


class BrokenError(Exception):
    """What a player's own function may raise."""


def failing(
    times: int, choose: Callable[[VariablePart], channel.MoveChosen | object]
) -> Callable[[VariablePart], object]:
    left = times

    def chosen(state: VariablePart) -> object:
        nonlocal left
        if left:
            left -= 1
            raise BrokenError
        return choose(state)

    return chosen


def test_a_game_goes_to_its_end_over_a_journal_that_often_fails(playground: Playground) -> None:
    """Another process keeps it, or its disk is full for a while."""
    story, chance, failures = playground.story(TIC_TAC_TOE), Random(1), list[JournalBusy]()

    def fail_sometimes(commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        if chance.random() < 0.3:
            failures.append(JournalBusy("here", "another process writes"))
            raise failures[-1]
        return commit()

    for player in story.players:
        wrap_commits(player.journal, fail_sometimes)
    play(story, plays_and_concludes(story, 0), plays_and_concludes(story, 1))
    assert len(failures) > 5
    story.ends_with(story.alice.newest.state.outcome)


def test_a_player_who_fails_is_asked_again(playground: Playground, caplog: pytest.LogCaptureFixture) -> None:
    """Three times, at a minute each; the counterparty has five minutes of patience."""
    story = playground.story(TIC_TAC_TOE)
    alice, bob = (channel.moves_of(player.bot) for player in story.players)
    flaky: Step[channel.Seat] = channel.turn(failing(3, alice))  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        play(
            story,
            sequence(channel.opening(), flaky, channel.turn(alice), channel.concluding()),
            sequence(channel.opening(), repeat(channel.turn(bob), 2), channel.concluding()),
        )
    assert sum("BrokenError" in record.getMessage() for record in caplog.records) == 3
    assert "SubmitChallenge" not in story.alice.mined + story.bob.mined
    story.ends_with(story.alice.newest.state.outcome)


def test_a_player_who_always_fails_is_challenged_and_its_client_gets_out(playground: Playground) -> None:
    """The client concludes by itself when time runs out. Had the flow ended, nobody would have polled it any more."""
    story = playground.story(TIC_TAC_TOE)

    def broken(_: VariablePart) -> channel.MoveChosen:
        raise BrokenError

    async def alice(queue: object, seat: channel.Seat) -> None:
        await sequence(channel.opening(), channel.turn(broken), channel.collecting())(queue, seat)  # type: ignore[arg-type]

    async def bob_too(queue: object, seat: channel.Seat) -> None:
        with contextlib.suppress(channel.ChannelDecided):
            await sequence(channel.opening(), channel.rounds(story.bob.bot))(queue, seat)  # type: ignore[arg-type]
        await channel.collecting()(queue, seat)  # type: ignore[arg-type]

    play(story, alice, bob_too)
    assert {player.phase for player in story.players} == {Phase.CLOSED}
    assert story.gains == [0, 0]


def test_the_owner_is_told_and_decides_when_to_give_up(playground: Playground) -> None:
    story, told = playground.story(TIC_TAC_TOE), []

    def on_error(error: Exception) -> None:
        told.append(error)
        if len(told) == 5:
            raise error

    def down(_: str) -> bool:
        return True

    over_flaky_chain(story, down)
    seat = channel.Seat(
        NAMES[0], story.alice.client, channel.Line(), within=60 * TICK, look_every=TICK, on_error=on_error
    )

    async def alice(queue: object, _: channel.Seat) -> None:
        await channel.opening()(queue, seat)  # type: ignore[arg-type]

    async def nothing(_queue: object, _seat: channel.Seat) -> None:
        return

    with pytest.raises(ExceptionGroup) as caught:
        play(story, alice, nothing)
    assert [type(error) for error in caught.value.exceptions] == [Unreachable]
    assert len(told) == 5


def test_contracts_that_are_not_genuine_end_a_flow_at_once(playground: Playground) -> None:
    game: Game = TIC_TAC_TOE
    story: Story = playground.story(game, app=deploy_contract(playground.chain, "PermissiveApp"))
    with pytest.raises(ExceptionGroup) as caught:
        play(story, channel.opening(), channel.opening())
    assert {type(error) for error in caught.value.exceptions} == {NotGenuine}


def test_what_a_log_does_not_take_waits_once() -> None:
    """While others are heard, each greeting of theirs asks for it again."""
    line = channel.Line()
    for _ in range(1_000):
        for message in (b"our state", b"our greeting"):
            line.send(message)
    assert list(line.unsent) == [b"our state", b"our greeting"]
