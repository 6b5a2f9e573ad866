"""Two people at a table say something to each other while they play."""

from __future__ import annotations

from tests.cli.tables import House

CREATE = ("--create", "--stake", "0")


def test_what_one_types_after_say_is_on_both_screens(house: House) -> None:
    host = house.sit(house.alice, *CREATE, "--name", "Ann", game="tic-tac-toe")
    guest = house.sit(house.bob, "--join", host.link(), "--yes", "--name", "Ben", game="tic-tac-toe")
    for each in (host, guest):
        each.reach("Turn 4.")
    guest.type("say Good luck, Ann")
    host.reach("Ben says: Good luck, Ann")
    host.type("Say Thanks")
    guest.reach("Ann says: Thanks")
    host.reach("You say: Thanks")
    host.type("help")
    host.reach("say and some words")
    host.type("leave")
    guest.reach("the game is over")
    assert (host.end().code, guest.end().code) == (0, 0)
