"""What a screen says is what the overview says: balances, and what silence leads to."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import ChallengeWanted, ChannelHistory, Game, ManagedChannel, Phase, load_history, overview
from forcemove.sessions.playing.content import TableContent, content_of
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.text.durations import local_time
from forcemove.text.situation.moment import Moment
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.rock_paper_scissors.openings import decode_openings
from forcemove_games.rock_paper_scissors.position import Weapon, decode
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.expected import known
from tests.node.test_friendly import Table
from tests.scenarios.story import DURATION, Player, Playground, Story
from tests.simulation.chain import MemoryChain

TURN = 6
NOTHING = ChannelHistory()
NAMES = ("Ann", "Ben")


@pytest.fixture
def played(playground: Playground) -> Story:
    """Ben is to move."""
    made = playground.story(TIC_TAC_TOE)
    made.play_until(TURN)
    return made


def content(player: Player, silence_left: float = 30) -> TableContent:
    return content_of(moment_of(player.client.managed, TIC_TAC_TOE, silence_left=silence_left))


def moment_of(managed: ManagedChannel, game: Game, history: ChannelHistory = NOTHING, **others: Any) -> Moment:
    """The channel now, where a block's time is the reader's time of day."""
    channel, now = managed.channel, managed.time()
    return Moment(game, channel, history, overview(channel, history, now), now, now, NAMES, **others)


def test_who_waits_is_told_when_the_mover_is_challenged_and_the_mover_what_that_leads_to(played: Story) -> None:
    waiting, asked = content(played.alice), content(played.bob)
    assert waiting.headline.startswith(("You placed an X in the ", "You placed an X on the "))
    assert waiting.money == "Ann (you) 0.6 ether (+0.1 ether), Ben 0.4 ether (-0.1 ether)"
    assert asked.money == "Ann 0.6 ether (+0.1 ether), Ben (you) 0.4 ether (-0.1 ether)"
    now = played.bob.client.managed.time()
    (_, until), (_, from_hers) = local_time(now + DURATION), local_time(played.alice.client.managed.time() + DURATION)
    assert waiting.outlook == (
        "After 0:30 more your client challenges. Then Ben has 1:00:00 to answer, or you are paid 0.6 ether and Ben "
        "0.4 ether."
    )
    assert asked.outlook == (
        f"Ann can challenge you. After a challenge now you have until {until} to answer, or you are paid 0.4 ether "
        "and Ann 0.6 ether."
    )
    assert content(played.alice, math.inf).outlook == (
        f"You can challenge. After a challenge now Ben has until {from_hers} to answer, or you are paid 0.6 ether and "
        "Ben 0.4 ether."
    )


def test_the_headline_says_what_is_waited_for_before_and_after_the_game(playground: Playground) -> None:
    """Whose deposit is missing, and how deep our own is, block by block, until it is as deep as it is believed."""
    made = playground.story(TIC_TAC_TOE, confirmations=3)
    made.alice.leave_after = TURN
    ann, ben = _headlines(made)
    ours = [f"Your deposit is {count} of 3 blocks deep." for count in (1, 2)]
    assert ann[:4] == ["Starting the game. Waiting for Ben.", *ours, "Waiting for Ben's deposit."]
    assert ben[:4] == ["Waiting for Ann's deposit.", *ours, "Ann's turn to place the first X."]
    ends = ["The game is over. Waiting for the chain to pay.", "The game is over."]
    assert ann[-3:] == ["The game is over. Waiting for Ben to sign the end.", *ends]
    assert ben[-2:] == ends


def test_who_pays_in_is_told_that_the_chain_has_not_mined_it(playground: Playground) -> None:
    made = playground.story(TIC_TAC_TOE)
    assert isinstance(made.chain, MemoryChain)
    made.chain.node.is_mining = False
    for player in (*made.players, *made.players):
        player.client.poll()
    assert _opening(made.alice) == "Waiting for your deposit to reach the chain."
    made.chain.node.is_mining = True


def _headlines(made: Story) -> list[list[str]]:
    """What each player's screen says in turn, block after block, until nothing happens."""
    said: list[list[str]] = [[], []]
    for _ in range(30):
        for player, lines in zip(made.players, said, strict=True):
            player.client.poll()
            lines.append(_opening(player))
        made.mine()
    return [list(dict.fromkeys(each)) for each in said]


def _opening(player: Player) -> str:
    managed = player.client.managed
    history = load_history(player.journal, managed.id)
    return content_of(moment_of(managed, TIC_TAC_TOE, history, depth=managed.depth)).headline


def test_the_board_is_the_viewers_own(playground: Playground) -> None:
    """Who has hidden a weapon sees it on its own screen, and nobody else does."""
    made = playground.story(ROCK_PAPER_SCISSORS)
    made.play_until(4)
    boards = []
    for player in made.players:
        managed = player.client.managed
        boards.append(content_of(moment_of(managed, ROCK_PAPER_SCISSORS), managed.channel.secrets).board[0])
    (opening,) = decode_openings(made.alice.client.channel.secrets)
    pre_commit = decode(known(made.alice.client.channel.newest).state.app_data).pre_commit.hex()
    assert boards[0].endswith(f"{Weapon(opening.choice).name.lower()}, hidden ({pre_commit})")
    assert boards[1].split(": ")[1].strip() == f"hidden ({pre_commit})"


def test_a_challenge_says_how_long_it_runs(played: Story) -> None:
    played.alice.client.feed(ChallengeWanted())
    for player in (*played.players, *played.players):
        player.client.poll()
    played.chain.travel_to(played.finalizes_at - 600)
    played.mine()
    played.alice.client.poll()
    _, until = local_time(played.finalizes_at)
    assert content(played.alice).outlook == (
        f"A clock is running: 9:59 left. If Ben does not answer by {until}, you are paid 0.6 ether and Ben 0.4 ether."
    )


def test_without_a_deposit_no_move_is_offered_and_it_is_said_why(playground: Playground) -> None:
    story = playground.story(TIC_TAC_TOE)
    before = story.chain.block_number()
    story.play_until(TURN)
    ben, person = story.bob, HumanPlayer(TIC_TAC_TOE)
    person.attach(ben.client.managed)
    assert ben.question is not None
    person.choose(ben.question)
    before_it = tuple(person.choices)
    assert before_it
    story.reorganise(before, mined=6)
    ben.client.poll()
    offered = [word for word, _ in person.options]
    assert (person.choices, person.is_asked, offered) == ((), False, ["challenge", "leave", "help"])
    assert content(ben).outlook.startswith("Your move waits. A deposit is missing on the chain in channel 0x")
    story.play()
    assert person.choices == before_it


def test_where_nothing_can_be_signed_a_challenge_is_offered_and_it_is_said_why(played: Story) -> None:
    client, person = played.bob.client.managed.client, HumanPlayer(TIC_TAC_TOE)
    client.channel = replace(client.channel, final_outcome=bytes(32), leaving=True)
    person.attach(played.bob.client.managed)
    assert [word for word, _ in person.options] == ["challenge", "help"]
    assert content(played.bob).outlook.startswith("Your move waits. We have signed an end")


def test_of_a_game_for_nothing_no_amounts_are_said(tmp_path: Path) -> None:
    table = Table(tmp_path, TIC_TAC_TOE)
    person = HumanPlayer(TIC_TAC_TOE)
    (played, _), nodes = table.players, table.nodes
    assert content_of(moment_of(played, TIC_TAC_TOE)).headline == "Starting the game."
    while played.phase is not Phase.PLAYING:
        for each in nodes:
            each.poll()
    person.attach(played)
    shown = content_of(moment_of(played, TIC_TAC_TOE))
    assert (shown.money, shown.outlook) == ("", "Nobody loses anything by leaving.")
    assert dict(person.options)["leave"] == "end the game with your next turn"
    table.close()
