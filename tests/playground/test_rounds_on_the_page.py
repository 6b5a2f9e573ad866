"""Every end of a round is on the page until the person goes on, and its words and score are right: compared with what
the states' first words and the balances say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import pytest

from forcemove import Game, VariablePart, local_table, moves_of
from forcemove.browser.drawing.rounds import RoundPanel, round_of
from forcemove.browser.render import channel_panels
from forcemove.browser.table_pages import TablePages
from forcemove.game import Level
from forcemove.sessions.playing.human_player import HumanPlayer
from tests.installed import GAMES_FOR_TWO

STAKE = 10**15
ENDS = {"tic-tac-toe": (2, 3), "rock-paper-scissors": (3,), "discard": (8, 10)}
"""The types of positions that end a round, by game: the first word of appData."""
WORDS = {-1: "Guest wins the round: ", 0: "The round is drawn: ", 1: "You win the round: "}


@dataclass
class Oracle:
    """The score, by balances alone."""

    ends: tuple[int, ...]
    amount: int
    turn: int = 0
    score: dict[int, int] = field(default_factory=lambda: {-1: 0, 0: 0, 1: 0})
    """Rounds that the person has lost, drawn and won, by the sign of what changed."""
    last: int = 0

    def look(self, states: tuple[VariablePart, ...]) -> None:
        for state in states:
            kind = int.from_bytes(state.app_data[:32], "big")
            if state.turn_num > self.turn and not state.is_final and kind in self.ends:
                change = state.outcome[0].amount - self.amount
                self.last, self.amount, self.turn = (change > 0) - (change < 0), state.outcome[0].amount, state.turn_num
                self.score[self.last] += 1

    @property
    def text(self) -> str:
        drawn = f", drawn {self.score[0]}" if self.score[0] else ""
        return f"You {self.score[1]}, Guest {self.score[-1]}{drawn}"


def test_each_game_for_two_has_its_ends() -> None:
    assert ENDS.keys() == {game.name for game in GAMES_FOR_TWO}


@pytest.mark.parametrize(
    ("name", "rounds", "seed"),
    [
        ("tic-tac-toe", 12, 46),
        ("rock-paper-scissors", 30, 46),
        ("discard", 2, 46),
        *(pytest.param("tic-tac-toe", 40, seed, marks=pytest.mark.long) for seed in range(13)),
        *(pytest.param("rock-paper-scissors", 250, seed, marks=pytest.mark.long) for seed in range(2)),
        *(pytest.param("discard", 10, seed, marks=pytest.mark.long) for seed in range(50)),
    ],
)
def test_each_end_of_a_round_is_seen_until_one_goes_on(name: str, rounds: int, seed: int) -> None:
    game = next(each for each in GAMES_FOR_TWO if each.name == name)
    oracle = Oracle(ENDS[name], STAKE * 1_000)
    seen = 0
    for panel, states, chosen, panels in played(game, rounds, seed):
        oracle.look(states)
        assert (oracle.text in panels["board"]) == bool(oracle.turn)
        if oracle.turn <= chosen - 1 or not oracle.turn:
            assert panel is None
            assert " hidden" in panels["round"]
            continue
        assert panel is not None
        assert panel.tone == {-1: "bad", 0: "", 1: "good"}[oracle.last]
        assert panel.text.startswith(WORDS[oracle.last])
        assert panel.text in panels["round"]
        seen += 1
    assert sum(oracle.score.values()) >= rounds
    assert seen >= rounds


def played(
    game: Game, rounds: int, seed: int
) -> Iterator[tuple[RoundPanel | None, tuple[VariablePart, ...], int, dict[str, str]]]:
    """A person at a page, who chooses at random, against a careless bot: what the page shows each time that the person
    is asked, the states so far, the turn of the person's last choice, and the page's panels."""
    random, person = Random(seed), HumanPlayer(game)
    bot = moves_of(game.bot(1, level=Level.EASY), another_round=lambda _: True)
    table = local_table(game, person.choose, bot, stake=STAKE, deposit=STAKE * 1_000)
    person.attach(table.channels[0])
    pages = TablePages(table.nodes[0]._journal, [game])
    pages.seat(game, table.channels[0].channel.agreement, person)
    over = 0
    while over < rounds:
        table.play()
        pages.on_committed(None)
        view = pages.view(table.channels[0].id, None, "token")
        assert view is not None
        yield round_of(view), view.history.states, person.chosen_turn, channel_panels(view)
        over = sum(int.from_bytes(each.app_data[:32], "big") in ENDS[game.name] for each in view.history.states[4:])
        assert person.take(random.choice(person.choices).word) == ""
