"""Which journal a command takes that names none: the one of its key, or the only one that is here."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from forcemove.cli.channel.acting import conclude
from forcemove.cli.channel.command import list_
from forcemove.cli.play.command import play


def taken(command: click.Command, *arguments: str) -> str:
    """The journal that a command takes."""
    return str(command.make_context("command", list(arguments)).params["store"])


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCEMOVE_STORE", raising=False)


def test_each_key_has_a_journal_of_its_own() -> None:
    assert taken(conclude, "0x11", "--chain", "http://127.0.0.1:1", "--key", "keys/alice.json") == "alice.journal"
    assert taken(play, "tic-tac-toe") == "key.journal"
    assert taken(play, "tic-tac-toe", "--key", "bob.json") == "bob.journal"
    assert taken(conclude, "0x11", "--chain", "http://127.0.0.1:1", "--key", "alice.json", "--store", "mine") == "mine"


def test_the_journal_of_an_older_program_is_gone_on_with() -> None:
    """It may have open channels, which are defended nowhere else."""
    Path("forcemove.journal").touch()
    assert taken(conclude, "0x11", "--chain", "http://127.0.0.1:1", "--key", "alice.json") == "forcemove.journal"
    Path("alice.journal").touch()
    assert taken(conclude, "0x11", "--chain", "http://127.0.0.1:1", "--key", "alice.json") == "alice.journal"


def test_without_a_key_it_is_the_only_one_here() -> None:
    assert taken(list_) == "forcemove.journal"
    Path("alice.journal").touch()
    assert taken(list_) == "alice.journal"
    Path("bob.journal").touch()
    with pytest.raises(click.UsageError, match=r"name one with --store \(alice.journal, bob.journal\)"):
        taken(list_)
    assert taken(list_, "--store", "bob.journal") == "bob.journal"
