"""What a screen says is what the overview says: balances, and what silence leads to."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from forcemove.history.history import ChannelHistory
from forcemove.history.overview import overview
from forcemove.node.histories import load_history
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.inputs import ChallengeWanted
from forcemove.tables.playing.content import TableContent, content_of
from forcemove.tables.playing.person import Person
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.rock_paper_scissors.openings import decode_openings
from forcemove_games.rock_paper_scissors.position import Weapon
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.node.test_friendly import Table
from tests.scenarios.story import Player, Playground, Story
from tests.simulation.chain import MemoryChain

TURN = 6
NAMES = ("Ann", "Ben")


@pytest.fixture(scope="module")
def playground() -> Playground:
    return Playground.on(MemoryChain())


@pytest.fixture
def played(playground: Playground) -> Story:
    """Ben is to move."""
    made = playground.story(TIC_TAC_TOE)
    made.play_until(TURN)
    return made


def content(player: Player, silence_left: float = 30) -> TableContent:
    channel, now = player.client.channel, player.client.managed.time()
    seen = overview(channel, ChannelHistory(), now)
    return content_of(TIC_TAC_TOE, channel, seen, now, silence_left=silence_left, names=NAMES)


def test_who_waits_is_told_when_the_mover_is_challenged_and_the_mover_what_that_leads_to(played: Story) -> None:
    waiting, asked = content(played.alice), content(played.bob)
    assert waiting.headline.startswith("Turn 7.")
    assert waiting.money == "Ann (you) 0.6 ether (+0.1 ether), Ben 0.4 ether (-0.1 ether)"
    assert asked.money == "Ann 0.6 ether (+0.1 ether), Ben (you) 0.4 ether (-0.1 ether)"
    assert waiting.outlook == (
        "If Ben stays silent for 0:30 more, it is challenged, and has 1:00:00 to answer, or the channel pays what is "
        "said above."
    )
    assert asked.outlook == (
        "If you stay silent, Ann can challenge you; then you have 1:00:00 to answer, or the channel pays what is said "
        "above."
    )
    assert content(played.alice, math.inf).outlook == "Ben is to move."


def test_who_has_paid_in_is_told_how_deep_that_is(playground: Playground) -> None:
    """Block by block, until the deposit is as deep as it is believed."""
    made = playground.story(TIC_TAC_TOE, confirmations=3)
    said = list[str]()
    for _ in range(12):
        for player in made.players:
            player.client.poll()
        said.append(_opening(made.alice))
        made.mine()
    deep = [each for each in dict.fromkeys(said) if "deposit" in each]
    assert deep == [f"Funding. Your deposit is {count} of 3 blocks deep." for count in (1, 2)]
    assert _opening(made.alice).startswith("Turn ")


def _opening(player: Player) -> str:
    managed = player.client.managed
    seen = overview(managed.channel, load_history(player.journal, managed.id), managed.time())
    shown = content_of(
        TIC_TAC_TOE, managed.channel, seen, managed.time(), silence_left=30, names=NAMES, depth=managed.depth
    )
    return shown.headline


def test_the_board_is_the_viewers_own(playground: Playground) -> None:
    """Who has hidden a weapon sees it on its own screen, and nobody else does."""
    made = playground.story(ROCK_PAPER_SCISSORS)
    made.play_until(4)
    boards = []
    for player in made.players:
        channel, now = player.client.channel, player.client.managed.time()
        seen = overview(channel, ChannelHistory(), now)
        shown = content_of(ROCK_PAPER_SCISSORS, channel, seen, now, silence_left=30, own=channel.secrets)
        boards.append(shown.board[0])
    (opening,) = decode_openings(made.alice.client.channel.secrets).values()
    assert boards[0].endswith(f"{Weapon(opening.choice).name.lower()}, hidden ({opening.commitment.hex()})")
    assert boards[1].split(": ")[1].strip() == f"hidden ({opening.commitment.hex()})"


def test_a_challenge_says_how_long_it_runs(played: Story) -> None:
    played.alice.client.feed(ChallengeWanted())
    for player in (*played.players, *played.players):
        player.client.poll()
    played.chain.travel_to(played.finalizes_at - 600)
    played.mine()
    played.alice.client.poll()
    assert content(played.alice).outlook == (
        "A challenge is running: Ben has 9:59 to answer. At zero the channel pays what is said above."
    )


def test_without_a_deposit_no_move_is_offered_and_it_is_said_why(playground: Playground) -> None:
    story = playground.story(TIC_TAC_TOE)
    before = story.chain.block_number()
    story.play_until(TURN)
    ben, person = story.bob, Person(TIC_TAC_TOE)
    person.attach(ben.client.managed)
    assert ben.question is not None
    person.choose(ben.question)
    before_it = tuple(person.choices)
    assert before_it
    story.reorganise(before)
    story.mine(6)
    ben.client.poll()
    offered = [word for word, _ in person.options]
    assert (person.choices, person.is_asked, offered) == ((), False, ["challenge", "leave", "help"])
    assert content(ben).outlook.startswith("Your move waits. A deposit is missing on the chain in channel 0x")
    story.play()
    assert person.choices == before_it


def test_where_nothing_can_be_signed_a_challenge_is_offered_and_it_is_said_why(played: Story) -> None:
    client, person = played.bob.client.managed.client, Person(TIC_TAC_TOE)
    client.channel = replace(client.channel, final_outcome=bytes(32), leaving=True)
    person.attach(played.bob.client.managed)
    assert [word for word, _ in person.options] == ["challenge", "help"]
    assert content(played.bob).outlook.startswith("Your move waits. We have signed an end")


def test_of_a_game_for_nothing_no_amounts_are_said(tmp_path: Path) -> None:
    table = Table(tmp_path, TIC_TAC_TOE)
    person = Person(TIC_TAC_TOE)
    (played, _), nodes = table.players, table.nodes
    while played.phase is not Phase.PLAYING:
        for each in nodes:
            each.poll()
    person.attach(played)
    channel, now = played.channel, played.time()
    shown = content_of(TIC_TAC_TOE, channel, overview(channel, ChannelHistory(), now), now, silence_left=math.inf)
    assert (shown.money, shown.outlook) == ("", "Nothing is at stake: nobody loses anything by leaving.")
    assert dict(person.options)["leave"] == "end the game with your next turn"
    table.close()
