"""Play on PostgreSQL and over NATS: a process on another machine takes over from one that dies."""

from __future__ import annotations

import signal

import pytest

from tests.cli.tables import GUEST, World, link_of

ROUNDS = ("--rounds", "4", "--pace", "0.1", "--lease", "5")


@pytest.mark.parametrize("game", ["rock-paper-scissors", pytest.param("tic-tac-toe", marks=pytest.mark.long)])
def test_a_process_elsewhere_stands_by_and_takes_over(elsewhere: World, game: str) -> None:
    """The second process has the key, and the URLs of journal and log; nothing else of the first one's machine."""
    spare = elsewhere.home("spare", GUEST)
    elsewhere.share(spare, elsewhere.bob)
    host = elsewhere.play(elsewhere.alice, "--create", "--stake", "0.01 ether", *ROUNDS, game=game)
    guest = elsewhere.play(elsewhere.bob, "--join", link_of(host), *ROUNDS, "--yes", game=game)
    guest.reach("turn    6")
    standby = elsewhere.play(spare, *ROUNDS, game=game)
    standby.reach("Another process plays this")
    guest.end(by=signal.SIGKILL)
    assert standby.end() == 0, standby.complained
    assert host.end() == 0, host.complained
    assert "turn " in standby.said
    elsewhere.require_right_ends()
