"""Two people at a table say something to each other while they play."""

from __future__ import annotations

from pathlib import Path

from tests.cli.nodes import wait_until
from tests.cli.tables import House
from tests.relay.process import RelayProcess

CREATE = ("--create", "--stake", "0")


def test_what_one_types_after_say_is_on_both_screens_and_in_the_relays_store(house: House, relay: RelayProcess) -> None:
    host = house.sit(house.alice, *CREATE, "--name", "Ann", game="tic-tac-toe")
    guest = house.sit(house.bob, "--join", host.link(), "--yes", "--name", "Ben", game="tic-tac-toe")
    for each in (host, guest):
        each.reach("turn to ")
    guest.type("say Good luck, Ann")
    host.answer("Ben says: Good luck, Ann", "Say Thanks")
    guest.reach("Ann says: Thanks")
    host.answer("You say: Thanks", "help")
    host.answer("The relay keeps them, and its operator can read them.", "leave")
    guest.reach("the game is over")
    assert (host.end().code, guest.end().code) == (0, 0)
    wait_until(lambda: b"Good luck, Ann" in contents(relay.store))
    assert b"Good luck" not in contents(house.alice / "forcemove.journal")


def contents(database: Path) -> bytes:
    """Of its file, and of what SQLite has beside it."""
    return b"".join(file.read_bytes() for file in database.parent.glob(f"{database.name}*"))
