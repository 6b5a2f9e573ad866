"""The account of an address: clients are counted by address, and all addresses of one IPv6 network are one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from forcemove.errors import InvalidValue

FORWARDED = "X-Forwarded-For"
"""The header in which most proxies name the client for which they ask."""
_PREFIX = 64
"""Bits of an IPv6 address that a network is given; its user chooses the other half at will."""
_MAX_HOPS = 16
_Network = IPv4Network | IPv6Network


@lru_cache(maxsize=4_096)
def account_of(host: str) -> str:
    """The account of an IP address: IPv4 as it is, also inside IPv6, and IPv6 by its /64. Other text is an account of
    its own."""
    address = _address(host)
    if address is None:
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> _PREFIX << _PREFIX, _PREFIX)))


@dataclass(frozen=True)
class Proxies:
    """The proxies that are believed when they name a client. `networks`: their addresses and networks, such as
    127.0.0.1 or 10.0.0.0/8; `header`: in which they name the client. Raises `InvalidValue`."""

    networks: tuple[str, ...] = ()
    header: str = FORWARDED

    def __post_init__(self) -> None:
        for network in self.networks:
            _network(network)

    def has(self, host: str) -> bool:
        """Whether this is the address of a named proxy."""
        address = _address(host)
        return address is not None and any(address in _network(each) for each in self.networks)

    def client(self, peer: str, forwarded: Sequence[str]) -> str:
        """The client for which `peer` asks: where `peer` is a named proxy, the last address in the header that is none
        of theirs. A text that is not an address was not written by a named proxy: then the client is the proxy that has
        passed the text on. `forwarded`: all values of the header."""
        hops = [hop.strip() for value in forwarded for hop in value.split(",")][-_MAX_HOPS:]
        client = peer
        while hops and self.has(client):
            address = _address(_without_port(hops.pop()))
            if address is None:
                break
            client = str(address)
        return client


@lru_cache(maxsize=256)
def _network(text: str) -> _Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise InvalidValue("proxy", text, "an IP address or network, such as 10.0.0.0/8") from None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host
