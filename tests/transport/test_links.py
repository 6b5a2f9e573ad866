"""Links to hand to a friend: what is written is read, what was cut or mistyped is told, and no shell or chat has a hold
on it."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from forcemove.errors import InvalidValue, MalformedBytes, UnknownVersion
from forcemove.transport.errors import LinkCut
from forcemove.transport.links import Link, parse_link

OFFER, TABLE = bytes(range(32)), bytes(range(32, 64))
LINK = Link("wss://relay.example:4600", OFFER)
TEXT = (
    "forcemove2xaa7qaaabaibqibiga4eascqlbqgq4dyqcejbgfavcylrqgi2dmob2hq7o5zxgorpf5zgk3dbpexgk6dbnvygyzj2gq3damho6lk5k"
)
OLD = f"forcemove://join/1?relay=wss%3A%2F%2Frelay.example%3A4600&offer={OFFER.hex()}"
LINKS = [
    LINK,
    Link("ws://127.0.0.1:1", OFFER, TABLE),
    Link("wss://relay.example/a/long/path?b=c&d='$(e)'#f", OFFER),
    Link("ws://[2001:db8::1]:80/a?b=c&d", OFFER),
    Link("nats://nats.example:4222", OFFER),
    Link("tls://nats.example", OFFER, TABLE),
    Link("wss://" + "x" * 506, OFFER, TABLE),
]


def test_a_link_says_where_and_what() -> None:
    assert str(LINK) == TEXT


@pytest.mark.parametrize("link", LINKS)
def test_what_is_written_is_read(link: Link) -> None:
    assert parse_link(str(link)) == link


@pytest.mark.parametrize("link", LINKS)
def test_threat_61_a_link_is_one_word_of_letters_and_digits(link: Link) -> None:
    """So that nothing in it means anything to bash, zsh, fish, cmd, PowerShell, Markdown, or whatever finds addresses
    in a chat."""
    assert re.fullmatch("[a-z][a-z0-9]*", str(link))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash"])
@pytest.mark.parametrize("link", LINKS[:4])
def test_threat_61_a_shell_hands_a_link_on_as_it_is(shell: str, link: Link) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    done = subprocess.run(  # noqa: S603  # the shell that a player types into
        [program, "-c", f"echo {link}"], capture_output=True, text=True, check=True
    )
    assert parse_link(done.stdout) == link


@pytest.mark.parametrize("around", ["  {}\n", "<{}>", '"{}"', "`{}`", "({}).", "{},"])
def test_what_people_and_chats_put_around_a_link_is_passed_over(around: str) -> None:
    assert parse_link(around.format(TEXT)) == LINK


def test_a_link_that_a_mail_has_broken_or_a_telephone_has_capitalised_is_read() -> None:
    assert parse_link(TEXT[:76] + "\n" + TEXT[76:]) == LINK
    assert parse_link(TEXT.capitalize()) == LINK
    assert parse_link(TEXT.upper()) == LINK


@pytest.mark.parametrize("link", LINKS)
def test_a_link_that_was_cut_says_so_wherever_that_was(link: Link) -> None:
    text = str(link)
    for length in range(len("forcemove2x"), len(text)):
        with pytest.raises(LinkCut) as cut:
            parse_link(text[:length])
        assert cut.value.present == length
        assert cut.value.expected == len(text) or length < len("forcemove2x") + 4


def test_a_link_with_a_wrong_letter_is_none_wherever_that_is() -> None:
    for at in range(len("forcemove2x"), len(TEXT)):
        for other in "a7":
            if TEXT[at] != other:
                with pytest.raises((MalformedBytes, LinkCut)):
                    parse_link(TEXT[:at] + other + TEXT[at + 1 :])


@pytest.mark.parametrize("version", [3, 65_535])
def test_a_link_of_a_newer_version_is_recognised(version: int) -> None:
    with pytest.raises(UnknownVersion) as newer:
        parse_link(TEXT.replace("2x", f"{version}x") + "~more!")
    assert newer.value.is_newer


@pytest.mark.parametrize("length", [18, 30, 58, len(OLD)])
def test_a_link_of_the_old_kind_is_recognised_also_where_a_shell_has_cut_it(length: int) -> None:
    with pytest.raises(UnknownVersion) as older:
        parse_link(OLD[:length])
    assert not older.value.is_newer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "forcemove",
        "https://relay.example",
        TEXT + "0",
        TEXT + "a",
        TEXT + TEXT,
        TEXT[1:],
        TEXT.replace("2x", "x"),
        TEXT.replace("2x", "0x"),
        TEXT.replace("2x", "02x"),
        TEXT.replace("2x", "2y"),
        TEXT.replace("2x", "99999999x"),
        TEXT[:40] + "-" + TEXT[40:],
        TEXT.replace("qibiga", "qib\u00efga"),
        "forcemove2x" + "7" * 5_000,
        "forcemove2x" + "%" * 1_000,
        "forcemove2x" + "a" * 63,
    ],
)
def test_what_is_no_link_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        parse_link(text)


@pytest.mark.parametrize(
    "relay", ["", "http://relay", "ws://" + "x" * 600, "nats:", "natss://relay", "ws://a b", "ws://a\x1b[2J"]
)
def test_a_link_has_a_relay(relay: str) -> None:
    with pytest.raises(InvalidValue):
        Link(relay, OFFER)


@pytest.mark.parametrize("scheme", ["ws", "wss", "nats", "tls"])
@pytest.mark.parametrize("secret", ["alice:secret", "token", "a:b@c"])
def test_a_link_shows_no_password(scheme: str, secret: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Link(f"{scheme}://{secret}@relay.example:1/a@b", OFFER)
    assert refused.value.value == f"{scheme}://relay.example:1/a@b"
