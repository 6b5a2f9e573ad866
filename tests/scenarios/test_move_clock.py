"""The time for a move runs out at each turn of each game: what that costs is said before, the mover is challenged, and
the chain pays what was said. No real time passes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from forcemove.game import Game
from forcemove.protocol.machine.channel import Phase
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.playing.played_channel import PlayedChannel
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.scenarios.story import Player, Playground, Story

MOVE_TIME, PATIENCE = 60, 5.0
NAMES = ("Ann", "Ben")
FIRST = 3
"""The turn of the first state that anybody moves from."""


class Watcher:
    """Who waits at a table, with a clock of its own. `said`: all lines; `content`: what the screen shows."""

    def __init__(self, story: Story, waiting: Player, move_time: int = MOVE_TIME) -> None:
        self.said, self.content, self.now = list[str](), TableContent(""), 1_000.0
        self._managed = waiting.client.managed
        self._match = PlayedChannel(
            story.game, waiting.choose, PATIENCE, self, NAMES, move_time=move_time, clock=lambda: self.now
        )
        self.clock = self._match.move_clock
        self.look(0)

    def look(self, seconds: float) -> None:
        """So much later."""
        self.now += seconds
        self._match.look(self._managed)

    def say(self, text: str) -> None:
        self.said.append(text)

    def note(self, text: str) -> None:
        self.said.append(text)

    def show(self, content: TableContent) -> None:
        self.content = content


def played_until(playground: Playground, game: Game, turn: int) -> Story:
    """Nobody has left by then."""
    story = playground.story(game)
    for player in story.players:
        player.leave_after = turn
    story.play_until(turn)
    return story


def by_turn(story: Story) -> tuple[Player, Player]:
    """Who waits, and who is to move."""
    turn = story.alice.newest.state.turn_num
    return story.players[turn % 2], story.players[(turn + 1) % 2]


def each_turn_of_a_round(playground: Playground, game: Game) -> Iterator[Story]:
    """A channel that has come to that turn, until a round has ended."""
    for turn in count(FIRST):
        story = played_until(playground, game, turn)
        has_ended = game.result(story.alice.newest.state) is not None
        yield story
        if has_ended:
            return


def test_a_clock_that_runs_out_challenges_and_pays_at_each_turn(playground: Playground, game: Game) -> None:
    for story in each_turn_of_a_round(playground, game):
        waiting, mover = by_turn(story)
        who = NAMES[mover.seat]
        watcher = Watcher(story, waiting)
        assert (
            f"{who}'s time for this move: 1:00 left. When it is out, your client challenges by itself, for about "
            in (watcher.content.outlook)
        )
        assert "You have 1:00 for the next one." in watcher.content.outlook
        paid = waiting.newest.state.outcome
        watcher.look(MOVE_TIME - 1)
        story.play()
        assert (watcher.said, story.record[1]) == ([], False)
        assert "0:01 left" in watcher.content.outlook
        watcher.look(1)
        (line,) = watcher.said
        assert line.startswith(f"{who}'s time is out: a challenge asks the chain (about ")
        story.play()
        assert story.record[1]
        story.expire()
        story.mine()
        story.play()
        story.ends_with(paid)


def test_the_mover_sees_the_same_clock_and_is_never_told_to_challenge(playground: Playground) -> None:
    story = played_until(playground, TIC_TAC_TOE, 4)
    waiting, mover = by_turn(story)
    watcher = Watcher(story, mover)
    watcher.look(MOVE_TIME - 17.5)
    who = NAMES[waiting.seat]
    assert (
        f"Your time for this move: 0:18 left. When it is out, {who} can challenge you. Then you have 1:00:00 to "
        in (watcher.content.outlook)
    )
    assert f"{who} has 1:00 for the next one." in watcher.content.outlook
    watcher.look(MOVE_TIME)
    assert "It is out: " in watcher.content.outlook
    assert watcher.said == []


def test_a_clock_begins_with_each_move_and_is_right_at_once(playground: Playground) -> None:
    story = played_until(playground, TIC_TAC_TOE, 4)
    waiting, mover = by_turn(story)
    watcher = Watcher(story, waiting)
    watcher.look(50)
    mover.decide_at_last()
    story.play()
    assert watcher.clock.left() == MOVE_TIME  # before it looks again
    watcher.look(MOVE_TIME - 1)
    assert (watcher.said, story.record[1]) == ([], False)


def test_paying_in_takes_longer_than_a_move(playground: Playground) -> None:
    """A deposit takes as many blocks as the chain wants: there each has its own patience, as without a clock."""
    story = playground.story(TIC_TAC_TOE, confirmations=3)
    waiting = story.alice
    while not (waiting.phase is Phase.FUNDING and waiting.client.channel.holdings):
        story.play()
        story.mine()
    watcher = Watcher(story, waiting, move_time=1)
    watcher.look(PATIENCE - 1)
    assert watcher.said == []
    watcher.look(1)
    assert watcher.said[0].startswith("Nothing was heard for 5 seconds: a challenge asks the chain (about ")
