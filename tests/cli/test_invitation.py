"""What a host hands to a friend: a link and a command, each whole on a line of its own."""

from __future__ import annotations

import shlex

import pytest

from forcemove.cli.play.port import join_command, say_invitation
from forcemove.cli.terminal import Terminal
from forcemove.transport.links import Link, parse_link
from tests.transport.offered import FRIENDLY, new_offer

OFFER, FRIENDLY_OFFER = new_offer(), new_offer(**FRIENDLY)


def test_link_and_command_stand_alone(capsys: pytest.CaptureFixture[str]) -> None:
    link = Link("wss://relay.example", OFFER.hash)
    say_invitation(Terminal(), OFFER, link, link.relay)
    lines = capsys.readouterr().out.splitlines()
    for alone in (str(link), join_command(OFFER, link, link.relay)):
        at = lines.index(alone)
        assert (lines[at - 1], lines[at + 1]) == ("", "")


@pytest.mark.parametrize("offer", [OFFER, FRIENDLY_OFFER])
def test_the_command_is_what_the_other_one_needs(offer: object) -> None:
    assert isinstance(offer, type(OFFER))
    link = Link("wss://relay.example", offer.hash)
    words = shlex.split(join_command(offer, link, link.relay, ["http://127.0.0.1:8545"]))
    assert words[:4] == ["forcemove", "play", "tic-tac-toe", "--join"]
    assert parse_link(words[4]) == link
    assert words[5:] == ([] if offer.is_friendly else ["--chain", "URL"])


def test_a_friend_at_this_machine_is_given_our_node(capsys: pytest.CaptureFixture[str]) -> None:
    """Of several nodes those that are here too: the address of another may have somebody's secret in it."""
    link, nodes = Link("ws://127.0.0.1:4600", OFFER.hash), ["http://127.0.0.1:8545", "https://node.example"]
    command = join_command(OFFER, link, link.relay, nodes)
    assert command == f"forcemove play tic-tac-toe --join {link} --chain http://127.0.0.1:8545"
    say_invitation(Terminal(), OFFER, link, link.relay, nodes)
    said = capsys.readouterr().out
    assert command in said
    assert "URL is a node" not in said


def test_the_command_asks_for_a_password_and_does_not_give_ours_away() -> None:
    link = Link("nats://nats.example:4222", OFFER.hash)
    command = join_command(OFFER, link, "nats://alice:secret@nats.example:4222")
    assert command.endswith(" --relay nats://NAME:PASSWORD@nats.example:4222")
    assert "secret" not in command
    assert "alice" not in command


@pytest.mark.parametrize(
    ("relay", "is_told"),
    [
        ("ws://127.0.0.1:4600", True),
        ("ws://[::1]:4600", True),
        ("nats://localhost", True),
        ("wss://relay.example", False),
        ("ws://192.168.1.2:4600", False),
    ],
)
def test_a_relay_that_only_this_machine_reaches_is_told(
    capsys: pytest.CaptureFixture[str], relay: str, is_told: bool
) -> None:
    say_invitation(Terminal(), FRIENDLY_OFFER, Link(relay, FRIENDLY_OFFER.hash), relay)
    assert ("Only this machine can reach" in capsys.readouterr().out) is is_told
