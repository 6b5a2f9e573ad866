"""Links to hand to a friend: what is written is read, and nothing else."""

from __future__ import annotations

import pytest

from forcemove.channel.errors import InvalidValue, MalformedBytes, UnknownVersion
from forcemove.channel.line.links import Link, parse_link

OFFER, TABLE = bytes(range(32)), bytes(range(32, 64))
LINK = Link("wss://relay.example:4600", OFFER)
TEXT = f"forcemove://join/1?relay=wss%3A%2F%2Frelay.example%3A4600&offer={OFFER.hex()}"


def test_a_link_says_where_and_what() -> None:
    assert str(LINK) == TEXT


@pytest.mark.parametrize(
    "link",
    [
        LINK,
        Link("ws://127.0.0.1:1", OFFER, TABLE),
        Link("ws://[::1]:80/a?b=c&d", OFFER),
        Link("nats://nats.example:4222", OFFER),
        Link("tls://nats.example", OFFER, TABLE),
    ],
)
def test_what_is_written_is_read(link: Link) -> None:
    assert parse_link(f"  {link}\n") == link


@pytest.mark.parametrize("version", [2, 65_535])
def test_a_link_of_another_version_is_recognised(version: int) -> None:
    with pytest.raises(UnknownVersion) as newer:
        parse_link(TEXT.replace("join/1", f"join/{version}") + "&more=things")
    assert newer.value.is_newer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://relay.example",
        TEXT[:-1],
        TEXT + "0",
        TEXT.replace("offer", "offers"),
        TEXT.replace("join/1", "join/"),
        TEXT.replace("join/1", "join/0"),
        TEXT.replace("join/1", "join/one"),
        TEXT.replace("join/1", "join/99999999"),
        TEXT.replace("join/1", "join/01"),
        TEXT.replace("wss", "http"),
        TEXT.replace("%3A", ":"),
        TEXT.replace(OFFER.hex(), OFFER.hex().upper()),
        TEXT + "&offer=" + OFFER.hex(),
        TEXT + "&more=things",
        TEXT + "&table=00",
        TEXT + "#here",
        TEXT.replace("example", "ex\u00e4mple"),
        TEXT.replace("relay.example", "x" * 5_000),
        "forcemove://join/1?" + "%" * 1_000,
    ],
)
def test_what_is_no_link_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        parse_link(text)


@pytest.mark.parametrize("relay", ["", "http://relay", "ws://" + "x" * 600, "nats:", "natss://relay"])
def test_a_link_has_a_relay(relay: str) -> None:
    with pytest.raises(InvalidValue):
        Link(relay, OFFER)


@pytest.mark.parametrize("scheme", ["ws", "wss", "nats", "tls"])
@pytest.mark.parametrize("secret", ["alice:secret", "token", "a:b@c"])
def test_a_link_shows_no_password(scheme: str, secret: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Link(f"{scheme}://{secret}@relay.example:1/a@b", OFFER)
    assert refused.value.value == f"{scheme}://relay.example:1/a@b"
