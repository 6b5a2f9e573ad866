"""The settings of a relay."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from ssl import SSLContext

from forcemove.errors import InvalidValue
from forcemove.relay.limits import Limits
from forcemove.relay.page_files import PageFiles
from forcemove.serving.addresses import Proxies
from forcemove.serving.files import raise_open_files

_LOG = logging.getLogger(__name__)
_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104  # compared with, not listened on
_OTHER_FILES = 64
"""Files that a relay has open besides its connections."""


@dataclass(frozen=True)
class Settings:
    """`host`, `port`: where to listen, port 0 for any that is free. `store`: a path, or `:memory:`. `urls`: the
    addresses by which clients know this relay, ws:// or wss://; the one where it listens if none are given.
    `chains`: the ids of the chains for which the lobby takes offers, all if none are given. `heartbeat`: seconds
    between pings. `tls`: the certificate, if the relay itself is to speak wss://. `proxies`: those whose
    header with the client's address is believed. `pages`: the files of a page that plays links; None for none."""

    host: str
    port: int
    store: str
    urls: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    chains: frozenset[int] = frozenset()
    heartbeat: float = 30.0
    tls: SSLContext | None = None
    proxies: Proxies = field(default_factory=Proxies)
    pages: PageFiles | None = None

    def __post_init__(self) -> None:
        if self.host in _EVERYWHERE and not self.urls:
            reason = "an address of this machine, unless the addresses by which clients know it are given, too (--url)"
            raise InvalidValue("listen", self.host or "every address", reason)
        for url in self.urls:
            if not url.startswith(("ws://", "wss://")):
                raise InvalidValue("url", url, "ws://host:port or wss://host:port")


def fitting(settings: Settings) -> Settings:
    """The settings with no more connections than the process may have files open for."""
    files, wanted = raise_open_files(), settings.limits.connections
    fit = max(1, files - _OTHER_FILES)
    if wanted <= fit:
        return settings
    hint = f"raise the limit of open files (`ulimit -n`, or LimitNOFILE= for systemd) to {wanted + _OTHER_FILES}"
    _LOG.warning("fewer connections than allowed", extra={"facts": {"connections": fit, "for more": hint}})
    return replace(settings, limits=replace(settings.limits, connections=fit))
