"""What a tower attends and when, in which order it answers, and what it forgets: nothing costs more with the number of
channels for which there is nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.errors import Unreachable
from forcemove.protocol.machine.effects import SubmitCheckpoint
from forcemove.watchtower import chain_watch, errors, watched_channel
from forcemove.watchtower.budgeted_sender import BudgetedSender
from scripts.measuring.tower import crowd
from tests.scenarios.story import ALICE, Story
from tests.watchtower.keeper import ETHER, SETTINGS, Keeper, finished, stale, three_stories

Make = Callable[..., Keeper]


@pytest.fixture
def stories() -> list[Story]:
    return three_stories()


@pytest.fixture
def make(stories: Sequence[Story], tmp_path: Path) -> Iterator[Make]:
    made: list[Keeper] = []

    def keeper(**options: Any) -> Keeper:
        made.append(Keeper.of(stories[0], tmp_path, **options))
        return made[-1]

    yield keeper
    for each in made:
        each.close()


@pytest.fixture
def attended(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The ids of channels, each time a tower looks for what is due."""
    found, due = list[bytes](), watched_channel.WatchedChannel.due

    def noted(self: watched_channel.WatchedChannel, *times: int) -> Iterator[watched_channel.Due]:
        found.append(self.id)
        return due(self, *times)

    monkeypatch.setattr(watched_channel.WatchedChannel, "due", noted)
    return found


def watch_of(keeper: Keeper) -> chain_watch.ChainWatch:
    (watch,) = keeper.guard.watches.values()
    return watch


def poll_with_blocks(keeper: Keeper, story: Story, count: int) -> None:
    for _ in range(count):
        story.mine()
        keeper.tower.poll()


# ---------------------------------------------------------------------------------------------------- what is attended


def test_idle_channels_are_attended_once(stories: Sequence[Story], make: Make, attended: list[bytes]) -> None:
    keeper = make()
    for each in stories[:2]:
        keeper.give_newest(each)
    keeper.give(finished(stories[2]))
    poll_with_blocks(keeper, stories[0], 2)
    assert set(attended) == {each.agreement.channel_id for each in stories}
    attended.clear()
    poll_with_blocks(keeper, stories[0], 5)
    assert attended == []
    stories[1].challenge(1, *stale(stories[1]))
    keeper.rest()
    assert set(attended) == {stories[1].agreement.channel_id}
    assert stories[1].record == (6, False)


def test_a_channel_that_was_over_by_a_clock_that_is_set_back_is_answered(
    stories: Sequence[Story], make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that was away shows an earlier time than the one by which the channel was over."""
    keeper, (story, *_) = make(), stories
    keeper.give_newest(story)
    keeper.tower.poll()
    story.challenge(1, *stale(story))
    shown = [story.finalizes_at]
    monkeypatch.setattr(chain_watch.ChainWatch, "time", property(lambda _: shown[0]))
    for _ in range(2):
        keeper.tower.poll()
    assert (keeper.sent, story.record) == (0, (3, True))
    shown[0] -= 100
    keeper.tower.poll()
    assert story.record == (6, False)


@pytest.mark.parametrize("channels", [16, pytest.param(1_000, marks=pytest.mark.long)])
def test_threat_95_a_crowd_that_is_challenged_in_one_block_loses_nothing(channels: int) -> None:
    """With the default budget."""
    assert crowd(channels)["tower_lost"] == 0


# --------------------------------------------------------------------------------------------------------- its answers


def challenged(keeper: Keeper, stories: Sequence[Story]) -> None:
    for each in stories:
        keeper.give_newest(each)
        each.challenge(1, *stale(each))


def test_the_nearest_deadline_is_answered_first(
    stories: Sequence[Story], make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, deadlines, submit = make(), list[int](), BudgetedSender.submit

    def noted(self: BudgetedSender, *arguments: Any) -> None:
        deadlines.append(arguments[4])
        submit(self, *arguments)

    monkeypatch.setattr(BudgetedSender, "submit", noted)
    challenged(keeper, stories)
    keeper.tower.poll()
    assert deadlines == sorted(deadlines)
    assert len(set(deadlines)) == len(stories)


def test_the_price_is_asked_for_once(stories: Sequence[Story], make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, asked, price = make(), list[int](), BudgetedSender.lowest_price

    def noted(self: BudgetedSender) -> int:
        asked.append(price(self))
        return asked[-1]

    monkeypatch.setattr(BudgetedSender, "lowest_price", noted)
    challenged(keeper, stories)
    keeper.tower.poll()
    assert len(asked) == 1
    keeper.rest()
    assert [each.record for each in stories] == [(6, False)] * 3


def test_an_answer_whose_price_nobody_tells_is_tried_at_the_next_poll(
    stories: Sequence[Story], make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no new block meanwhile."""
    keeper, price, fails = make(), BudgetedSender.lowest_price, [True]

    def failing(self: BudgetedSender) -> int:
        if fails:
            fails.pop()
            raise Unreachable("memory", "not now")
        return price(self)

    monkeypatch.setattr(BudgetedSender, "lowest_price", failing)
    challenged(keeper, stories)
    keeper.tower.poll()
    assert [type(each) for each in keeper.troubles] == [Unreachable]
    assert keeper.sent == 0
    keeper.rest()
    assert [each.record for each in stories] == [(6, False)] * 3


def test_a_reservation_for_what_is_confirmed_already_ends(stories: Sequence[Story], make: Make) -> None:
    """The endpoint that shows the clock still is behind the one that shows the answer."""
    keeper, (story, *_) = make(settings=replace(SETTINGS, confirmations=3)), stories
    keeper.give_newest(story)
    story.challenge(1, *stale(story))
    poll_with_blocks(keeper, story, 3)
    (told,) = keeper.told
    (watched,) = keeper.watched
    assert isinstance(told.submission, SubmitCheckpoint)
    due = watched_channel.Due(told.client, told.submission, story.chain.now() + 100)
    call = watch_of(keeper).call_of(watched, due)
    keeper.guard.sender.submit(due.client, watched.id, due.submission, call, due.deadline, 10**9)
    assert keeper.tower.left(ALICE.address) < ETHER - told.cost
    poll_with_blocks(keeper, story, 8)
    assert keeper.tower.left(ALICE.address) == ETHER - told.cost


# ---------------------------------------------------------------------------------------------------- what is forgotten


def conclude(keeper: Keeper, story: Story) -> None:
    """The channel ends, and is forgotten."""
    keeper.give(finished(story))
    keeper.face_stale_challenge(story)
    assert story.held == 0
    poll_with_blocks(keeper, story, SETTINGS.buried + 1)
    assert keeper.tower.channels == ()


def test_what_is_forgotten_leaves_nothing_and_makes_room(stories: Sequence[Story], make: Make) -> None:
    keeper = make(settings=replace(SETTINGS, max_channels=1))
    keeper.give(finished(stories[0]))
    with pytest.raises(errors.TooManyChannels):
        keeper.give_newest(stories[1])
    keeper.tower.poll()
    conclude_given(keeper, stories[0])
    assert keeper.kept == 0
    assert keeper.guard.channels_of == {}
    (viewer,) = watch_of(keeper).workers
    assert (viewer.views, viewer._followings, viewer._follower._followed) == ({}, {}, {})
    keeper.give_newest(stories[1])


def conclude_given(keeper: Keeper, story: Story) -> None:
    keeper.face_stale_challenge(story)
    poll_with_blocks(keeper, story, SETTINGS.buried + 2)
    assert keeper.tower.channels == ()


def test_the_heap_keeps_nothing_of_channels_that_are_gone(stories: Sequence[Story], make: Make) -> None:
    keeper = make()
    for each in stories:
        conclude(keeper, each)
    assert watch_of(keeper)._heap == []


def test_an_appointment_that_comes_again_for_a_forgotten_channel_is_forgotten_again(
    stories: Sequence[Story], make: Make
) -> None:
    """Nothing of it is known, so it is accepted; the chain then shows that it is over."""
    keeper, (story, *_) = make(), stories
    conclude(keeper, story)
    keeper.give(finished(story))
    keeper.tower.poll()
    with pytest.raises(errors.ChannelOver):
        keeper.give_newest(story, 1)
    poll_with_blocks(keeper, story, SETTINGS.buried + 2)
    assert (keeper.tower.channels, keeper.kept, keeper.troubles) == ((), 0, [])


def test_a_forgotten_channel_that_a_reorganisation_opens_again_is_guarded_when_it_is_given_again(
    stories: Sequence[Story], make: Make
) -> None:
    keeper, (story, *_) = make(), stories
    keeper.tower.poll()
    height = story.chain.block_number()
    conclude(keeper, story)
    story.reorganise(height, mined=2 * SETTINGS.buried + 4)
    keeper.rest()
    assert story.held > 0
    keeper.give_newest(story)
    keeper.face_stale_challenge(story)
    assert story.record == (6, False)
