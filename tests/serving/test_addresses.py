"""Whose account an address is, and for whom a proxy asks."""

from __future__ import annotations

import pytest

from forcemove.errors import InvalidValue
from forcemove.serving.addresses import Proxies, account_of


@pytest.mark.parametrize(
    ("host", "account"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("somewhere", "somewhere"),
        ("", ""),
    ],
)
def test_threat_59_who_has_a_whole_network_is_one(host: str, account: str) -> None:
    assert account_of(host) == account


OURS = Proxies(("10.0.0.0/8", "2001:db8::1"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.7", ["198.51.100.1"], "192.0.2.7"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("2001:db8::1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.1, 10.2.3.4"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8:5::1]:4711"], "2001:db8:5::1"),
        ("10.0.0.1", ["2001:db8:5::1"], "2001:db8:5::1"),
        ("10.0.0.1", ["10.0.0.9"], "10.0.0.9"),
        ("10.0.0.1", ["198.51.100.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense, 10.2.3.4"], "10.2.3.4"),
        ("10.0.0.1", [","], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("", ["198.51.100.1"], ""),
    ],
)
def test_threat_59_only_named_proxies_are_believed_and_only_what_they_have_added(
    peer: str, forwarded: list[str], client: str
) -> None:
    assert OURS.client(peer, forwarded) == client


def test_a_proxy_is_an_address_or_a_network() -> None:
    with pytest.raises(InvalidValue):
        Proxies(("proxy.example",))
