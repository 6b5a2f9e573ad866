"""A terminal calls its person by its bell, and says whether the other is there."""

from __future__ import annotations

from tests.cli.tables import House

CREATE = ("--create", "--stake", "0")


def test_the_bell_rings_when_it_is_the_persons_turn_unless_switched_off(house: House) -> None:
    host = house.sit(house.alice, *CREATE, "--name", "Ann", game="tic-tac-toe")
    join = ("--join", host.link(), "--yes", "--name", "Ben", "--no-bell")
    guest = house.sit(house.bob, *join, game="tic-tac-toe")
    host.reach("Heard from Ben")
    guest.reach("Heard from Ann")
    host.type("5")
    guest.answer("Your turn", "1")
    host.answer("Ben placed an O", "leave")
    guest.reach("the game is over")
    ends = host.end(), guest.end()
    assert [each.code for each in ends] == [0, 0]
    assert [each.data.count(b"\a") for each in ends] == [2, 0]
