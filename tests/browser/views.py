"""Views of real channels in every state that a page has to show, for the tests of the page."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove import Channel, ChannelHistory, Choice, ForcemoveError, Game, VariablePart, load_history
from forcemove.browser.view import ChannelView
from forcemove.browser.wallet.view import SentState, WalletRow, WalletView
from forcemove.history.overview import Overview, overview
from forcemove.playground.controls import Control, ControlGroup
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.scenarios.story import Player, Playground, Story

__all__ = ["GAMES", "GROUPS", "WALL", "Looks", "button", "view_of"]

WALL = 1_800_000_000
GAS = {"challenge": 92_400, "respond": 80_000, "conclude": 65_000}


def button(name: str, text: str, reason: str = "") -> Control:
    """One that does nothing."""
    return Control(name, text, lambda: None, reason)


SHUT = button("out", "run out", "no clock runs")
GROUPS = (
    ControlGroup(
        "Let Bob", (button("silent", "go silent"), button("late", "answer late"), button("old", "use turn 4"))
    ),
    ControlGroup("Let the chain's clock", (button("ten", "go on 10 minutes"), SHUT)),
)


def random_bytes(count: int) -> bytes:
    return bytes(range(count))


def history_of(player: Player, channel: Channel) -> ChannelHistory:
    return load_history(player.journal, channel.agreement.channel_id)


def view_of(story: Story, seat: int = 0, **changes: object) -> ChannelView:
    """What the player of a seat sees now."""
    player = story.players[seat]
    channel, now = player.client.channel, player.client.managed.time()
    seen, history = seen_by(story, player, channel, now), history_of(player, channel)
    values: dict[str, object] = {
        "game": story.game,
        "channel": channel,
        "history": history,
        "seen": seen,
        "now": now,
        "wall": WALL,
        "names": ("Alice", "Bob"),
        "own": player.bot.secrets(),
        "path": f"/c/0x{channel.agreement.channel_id.hex()}",
        "at": None,
        "form_token": "form-token",
        "groups": GROUPS,
    }
    return ChannelView(**{**values, **changes})  # type: ignore[arg-type]


def seen_by(story: Story, player: Player, channel: Channel, now: int) -> Overview:
    choices: tuple[Choice, ...] = ()
    if channel.is_our_turn and channel.newest is not None and channel.next_turn >= 2 * channel.agreement.count:
        try:
            choices = tuple(story.game.choices(channel.newest.state, random_bytes, player.bot.secrets()))
        except ForcemoveError:
            choices = ()
    return overview(channel, history_of(player, channel), now, choices=choices, gas=GAS)


@dataclass
class Looks:
    """Channels of one playground, played until they look as they should."""

    playground: Playground

    def story(self, game: Game = TIC_TAC_TOE) -> Story:
        return self.playground.story(game)

    def ours(self, game: Game = TIC_TAC_TOE) -> Story:
        """In the middle of a round; Alice is to move."""
        story = self.story(game)
        story.play_until(7)
        return story

    def theirs(self, game: Game = TIC_TAC_TOE) -> Story:
        story = self.story(game)
        story.play_until(8)
        return story

    def opening(self) -> Story:
        story = self.story()
        for player in story.players:
            player.is_silent = True
        for _ in range(3):
            story.alice.client.poll()
        return story

    def fault(self) -> Story:
        """Bob has sent another state for a turn of his, and is challenged."""
        story = self.theirs()
        newest = story.bob.newest.state
        bad = VariablePart(newest.outcome, b"nonsense", newest.turn_num + 1)
        story.say(1, story.sign(bad, 1))
        return self.challenged(story)

    def challenged(self, story: Story | None = None, seat: int = 0) -> Story:
        story = story or self.theirs()
        story.players[seat].client.feed(ChallengeWanted())
        for player in story.players:
            player.client.poll()
            player.client.poll()
        return story

    def paid(self) -> Story:
        """A clock has run out, and the chain has paid."""
        story = self.challenged()
        story.expire()
        story.play(story.alice)
        story.mine()
        story.play(story.alice)
        return story

    def concluded(self, game: Game = TIC_TAC_TOE) -> Story:
        story = self.theirs(game)
        for player in story.players:
            player.client.feed(ConcludeWanted())
        story.play()
        return story

    def answered(self) -> Story:
        """An old state was challenged, and the answer stopped the clock."""
        story = self.theirs()
        story.challenge(1, *story.opening()[2:])
        story.play()
        return story

    def long(self, turns: int = 150) -> Story:
        """Many rounds in one channel."""
        story = self.story()
        for player in story.players:
            player.leave_after = turns
        story.play(rounds=10 * turns)
        return story


GAMES = (TIC_TAC_TOE, ROCK_PAPER_SCISSORS)


def wallet_view() -> WalletView:
    """A wallet that is asked for a deposit, and whose challenge no node knows any more."""
    details = (("amount", "0.05 ether, and the gas"), ("contract", "0x" + "a1" * 20), ("channel", "0x" + "c4" * 32))
    rows = (
        WalletRow(
            "0" * 16, "Pay in", details, "0x" + "a1" * 20, "0x" + "52" * 100, "0xb1a2bc2ec50000", SentState.WAITING
        ),
        WalletRow("1" * 16, "Challenge", details, "0x" + "a1" * 20, "0x00", "0x0", SentState.LOST, "0x" + "7e" * 32),
    )
    return WalletView("0x" + "5c" * 20, "0x" + "5C" * 20, 31_337, rows, "token", has_tower=False)
