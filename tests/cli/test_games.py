"""`forcemove games`: the list, a replay, and a record that a stranger checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forcemove.chain.addresses import show_address
from forcemove.cli.channel import games
from tests.cli.test_channel import Home, ground, home

__all__ = ["ground", "home"]
END = 100


def test_games_are_listed_with_the_open_ones_first(home: Callable[..., Home]) -> None:
    alice = home(14)
    said = alice.forcemove("games", "--store", "0.journal").out
    assert "Tic-tac-toe" in said
    assert said == alice("list", "--all").out
    assert "rounds: You " in said
    _, advised, _ = said.split("`")  # of which the list is told by another command
    words = advised.replace("URL", alice.house.chain.endpoint).split()[1:]
    assert "on the chain: " in alice.forcemove(*words, "--all", "--store", "0.journal", code=0).out


def test_a_game_is_replayed_by_its_id_and_by_its_record(home: Callable[..., Home], tmp_path: Path) -> None:
    alice = home(8)
    id_, store = alice.ids[0].hex(), ("--store", "0.journal")
    whole = alice.forcemove("games", "replay", id_, *store).out
    assert [f"move {place} of 5" in whole for place in range(7)] == [True] * 6 + [False]
    third = alice.forcemove("games", "replay", id_, *store, "--at", "3").out
    assert third.strip() in whole
    assert "You placed" in whole
    record = alice.forcemove("games", "record", id_, *store).out
    (tmp_path / "game.json").write_text(record)
    said = alice.forcemove("games", "replay", "game.json", "--at", "3").out
    assert "move 3 of 5" in said
    assert "Host placed" in said
    (tmp_path / "game.json").write_text(record.replace('"turnNum": 7', '"turnNum": 9'))
    assert "the state of turn 7 is missing" in alice.forcemove("games", "replay", "game.json", code=1).err


def test_a_record_is_checked_by_anybody_and_paid_by_the_chain(home: Callable[..., Home], tmp_path: Path) -> None:
    alice = home(END)
    (tmp_path / "game.json").write_text(
        alice.forcemove("games", "record", alice.ids[0].hex(), "--store", "0.journal").out
    )
    said = alice.forcemove("inspect", "game.json").out
    assert "each state follows from the one before by the rules of Tic-tac-toe" in said
    assert "all have signed the end" in said
    assert "--chain asks it" in said
    where = (
        "--chain",
        alice.house.chain.endpoint,
        "--adjudicator",
        show_address(alice.house.assemblies[0].adjudicator.address),
    )
    assert "this is what the chain has paid" in alice.forcemove("inspect", "game.json", *where).out
    found = json.loads(alice.forcemove("inspect", "game.json", "--json", *where).out)
    assert (found["kind"], found["payment"]) == ("game-record", "paid")
    assert sum(int(each["payable"]) for each in found["result"]) == sum(
        int(each["deposited"]) for each in found["result"]
    )


def test_a_channel_of_which_nothing_is_known_has_no_replay(home: Callable[..., Home]) -> None:
    alice = home(payers=1)
    said = alice.forcemove("games", "replay", alice.ids[0].hex(), "--store", "0.journal", code=1)
    assert "No move was made" in said.err


@pytest.mark.parametrize(
    "keys",
    [
        ("\x1b[D", "\x1b[D", "q"),
        ("p", "p", "q"),
        ("g", "n", "n", "n", "q"),
        *((first, "\x1bOC", "\x1b[C", " ", "q") for first in ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~")),
        *((last, "\x1bOD", "\x1b[D", "q") for last in ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~")),
    ],
    ids=repr,
)
def test_keys_go_back_and_forth(
    home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    """Terminals have several codes for Home and End, and others for arrows while a program has asked for them."""
    alice = home(8)
    game, positions, names = games._from_journal("0.journal", alice.ids[0].hex())
    typed = iter(keys)
    shown: list[str] = []
    monkeypatch.setattr("click.getchar", lambda: next(typed))
    monkeypatch.setattr("click.clear", lambda: None)
    monkeypatch.setattr(games, "echo", shown.append)
    games._turn_pages(game, positions, names)
    assert "move 5 of 5" in shown[0]
    assert "move 3 of 5" in shown[-2]
