"""The game for people: what a command line shows of it, and a person who plays."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.flow.actions import MalformedAction
from forcemove_games.discard_sra import GAME, picture, rules, table
from forcemove_games.discard_sra.cards import PLAIN_SUITS, SUITS

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
NAMES = ("Alice", "Bob")


@cache
def shown(encoding: str) -> tuple[list[str], dict[str, object]]:
    lines: list[str] = []
    return lines, dict(asyncio.run(GAME.demonstrate(lines.append, NAMES, encoding=encoding)))


def test_the_game_is_announced_as_a_table_game_and_as_no_game_of_a_channel() -> None:
    groups = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]
    assert groups["forcemove.table_games"] == {"discard-sra": "forcemove_games.discard_sra:GAME"}
    assert "discard-sra" not in groups["forcemove.games"]
    assert (GAME.name, GAME.title) == ("discard-sra", "Discard over a log")


def test_two_bots_play_a_game_and_every_line_of_it_is_told() -> None:
    lines, result = shown("utf-8")
    assert not [line for line in lines if "\n" in line]
    turns = [line for line in lines if line.startswith(NAMES) and line.split()[1] in {"discards", "draws", "can't"}]
    assert len(turns) == result["turns"]
    assert [line.split()[0] for line in turns] == [NAMES[number % 2] for number in range(len(turns))]
    assert lines[-2] == "The deck had all 24 cards, each once, and every turn was legal."
    assert lines[-1].startswith("Nobody wins" if result["winner"] is None else f"{result['winner']} wins")


def test_bobs_cards_do_not_show_before_he_lays_them() -> None:
    lines, _ = shown("utf-8")
    hidden = [line for line in lines if line.startswith(("  Bob", "Bob draws"))]
    assert hidden
    assert not [line for line in hidden if set(line) & set(SUITS)]


def test_how_it_has_ended_is_json() -> None:
    _, result = shown("utf-8")
    assert json.loads(json.dumps(result)) == result
    assert set(result) == {"winner", "stuck", "turns", "counts", "messages", "seconds"}
    assert result["stuck"] == (result["winner"] is None)
    counts = result["counts"]
    assert isinstance(counts, dict)
    assert counts.keys() == set(NAMES)
    assert (0 in counts.values()) == (result["winner"] is not None)


def test_a_terminal_without_signs_for_suits_gets_letters() -> None:
    lines, _ = shown("latin-1")
    assert "".join(lines).isascii()


@pytest.mark.parametrize(
    ("encoding", "suits"),
    [("utf-8", SUITS), ("ascii", PLAIN_SUITS), ("latin-1", PLAIN_SUITS), ("none", PLAIN_SUITS)],
)
def test_which_signs_a_terminal_can_show(encoding: str, suits: str) -> None:
    assert picture.suits_for(encoding) == suits
    assert picture.suits_for(None) == PLAIN_SUITS


@pytest.mark.parametrize("names", [("Alice", "Alice"), ("", "Bob"), ("x" * 65, "Bob")])
def test_names_that_are_none_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises((InvalidValue, MalformedAction)):
        asyncio.run(GAME.demonstrate(lambda _: None, names))


# ------------------------------------------------------------------------------------------------------------ a person


class TypingPerson:
    """Takes the option that a script names, else the last one."""

    def __init__(self, *script: int) -> None:
        self._script = list(script)
        self.asked: list[tuple[str, list[str]]] = []

    async def ask(self, prompt: str, options: Sequence[str]) -> int:
        self.asked.append((prompt, list(options)))
        await asyncio.sleep(0)
        return self._script.pop(0) if self._script else len(options) - 1


def test_a_person_plays_against_the_bot() -> None:
    lines: list[str] = []
    person = TypingPerson(0, 0, 0)
    result = asyncio.run(GAME.play(lines.append, person.ask, NAMES, encoding="utf-8"))
    taken = [line for line in lines if line.startswith("Alice ") and line.split()[1] in {"discards", "draws", "can't"}]
    assert len(person.asked) == len(taken)
    for (prompt, options), line in zip(person.asked, taken, strict=True):
        headline, *board = prompt.splitlines()
        assert headline == "Alice, it is your turn"
        assert [row.split("  ")[1].strip() for row in board] == ["Bob", "table", "Alice (you)"]
        done = line.removeprefix("Alice ").rstrip(".")
        assert done.replace("discards", "discard").split()[0] in {"discard", "draws", "can't"}
        if done.startswith("discards"):
            assert done.replace("discards", "discard") in options
    assert isinstance(result["turns"], int)
    assert len(taken) in {result["turns"] // 2, result["turns"] // 2 + 1}


@pytest.mark.parametrize("answer", [-1, 99, True, "0", None])
def test_an_answer_that_is_no_option_is_refused(answer: int) -> None:
    with pytest.raises(InvalidValue):
        asyncio.run(GAME.play(lambda _: None, TypingPerson(answer).ask, NAMES))


def test_what_a_person_is_interrupted_with_comes_through_alone() -> None:
    class Gone(ForcemoveError):
        """The terminal was closed."""

        def __str__(self) -> str:
            return "gone"

    async def leave(_prompt: str, _options: Sequence[str]) -> int:
        raise Gone

    with pytest.raises(Gone):
        asyncio.run(GAME.play(lambda _: None, leave, NAMES))


# ------------------------------------------------------------------------------------------------------------- pictures


def test_the_screen_has_the_own_hand_and_the_others_count() -> None:
    assert picture.screen(rules.Position((0, 7, 23), (3, 12), 8, 2), NAMES).splitlines() == [
        "  Bob    [] [] (2)",
        "  table  9♦ on top, 8 cards in the pile",
        "  Alice  9♠ 10♥ A♣",
    ]
    assert picture.screen(rules.Position((), (3,), 1, 0), ("Al", "Roberta"), PLAIN_SUITS).splitlines() == [
        "  Roberta  no cards",
        "  table    Qs on top, 1 card in the pile",
        "  Al       no cards",
    ]


def test_moves_and_endings_have_a_text() -> None:
    assert picture.move_text(rules.Move(rules.Kind.DISCARD, 7)) == "discard 10♥"
    assert picture.move_text(rules.Move(rules.Kind.DRAW)) == "draw a card"
    assert picture.move_text(rules.Move(rules.Kind.CANNOT_MOVE)) == "say that you can't move"
    won = table.DiscardResult("Alice", is_stuck=False, counts={"Alice": 0, "Bob": 1}, turns=9)
    assert picture.result_text(won) == "Alice wins after 9 turns; Bob holds 1 card."
    stuck = table.DiscardResult(None, is_stuck=True, counts={"Alice": 3, "Bob": 2}, turns=40)
    assert (
        picture.result_text(stuck)
        == "Nobody wins: neither can move. Alice holds 3 cards, Bob holds 2 cards, after 40 turns."
    )
