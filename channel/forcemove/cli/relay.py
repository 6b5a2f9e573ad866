"""`forcemove relay`: carry tables' logs between players."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.errors import Explained
from forcemove.cli.parameters import FILE
from forcemove.cli.serving import json_option, listen_option, log_to_stderr, say_ready, with_limits
from forcemove.relay.limits import Limits
from forcemove.serving.addresses import FORWARDED, Proxies

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from ssl import SSLContext

    from forcemove.relay.settings import Settings

_LIMITS = {
    "connections": "Connections at once.",
    "per_address": "Connections at once from one IP address; all of an IPv6 /64 are one.",
    "tables": "Tables that are kept.",
    "per_connection": "Tables on one connection.",
    "messages_per_second": "Messages that are read from one connection; more wait.",
    "bytes_per_second": "Bytes that are read from one connection; more wait.",
    "address_share": "How many connections' worth of messages and bytes is read from one address.",
    "connects_per_second": "New connections from one address, after the first 25 times as many; more wait.",
    "unread_bytes": "Bytes received from all clients that wait to be looked at.",
    "open_tables": "Tables that are open on all connections together.",
    "watched": "Offers that one connection is told of.",
    "tables_per_hour": "Tables that one address may make in an hour.",
    "joins_per_hour": "Joins from one address that may come to nothing in an hour.",
    "channel_entries": "Entries of a channel's table; then the oldest are dropped.",
    "channel_bytes": "Bytes of a channel's table; then the oldest entries are dropped.",
    "game_entries": "Entries of a game's table; then it is full.",
    "game_bytes": "Bytes of a game's table; then it is full.",
    "store_bytes": "Bytes of the file with all logs; then the oldest tables that nobody uses go, or nothing is taken.",
    "bytes_of_address": "Bytes of the tables that were made from one IP address.",
    "tables_of_address": "Tables that were made from one IP address.",
    "unused_hours": "Delete tables at which nobody has posted for so long.",
    "days": "Delete tables at which nothing happens for so long.",
    "stall": "Seconds that a client may take to read, or to end a frame; then it is cut off.",
    "header_seconds": "Seconds from connecting to the request for a WebSocket; then it is cut off.",
    "idle_seconds": "Seconds without a table, an offer and a question; then a connection is closed.",
    "offers": "Offers in the lobby.",
    "offers_of_a_host": "Offers of one player.",
    "offers_per_address": "Offers made from one address.",
    "join_seconds": "Seconds that all players have to be at their table; then seats are open again.",
    "guest_seconds": "Seconds that the guest of two has to come to the table; that other seats are kept after a cut.",
}


@click.command()
@listen_option("127.0.0.1:4600")
@click.option(
    "--store",
    type=FILE,
    default="relay.sqlite",
    show_default=True,
    help="The file with all logs; it is made if it is not there.",
)
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="URL",
    help="An address by which clients know this relay, ws:// or wss://; may be given several times.  "
    "[default: where it listens]",
)
@click.option(
    "--tls-cert",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Speak wss://: the certificate (PEM).",
)
@click.option(
    "--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The certificate's key (PEM)."
)
@click.option(
    "--chain",
    "chains",
    multiple=True,
    type=click.IntRange(0),
    metavar="ID",
    help="Take only offers for this chain; 0 is games without one. May be given several times.  [default: all]",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS[/BITS]",
    help="A proxy, or a network of them, that is believed when it names its clients; may be given several times.",
)
@click.option(
    "--proxy-header", default=FORWARDED, show_default=True, help="The header in which proxies name their clients."
)
@click.option(
    "--pages",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Serve the page in this folder, on which friends play what a link leads to: `scripts/link_page` builds it.",
)
@with_limits(Limits(), _LIMITS)
@json_option
def relay(
    listen: tuple[str, int],
    store: Path,
    urls: tuple[str, ...],
    chains: tuple[int, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    proxies: tuple[str, ...],
    proxy_header: str,
    pages: Path | None,
    as_json: bool,
    **limits: float,
) -> None:
    """Carry tables' logs between players, and keep them.

    Players connect by WebSocket. What somebody posts at a table is written to the store, and only then sent to all who
    read there, in one order. Players that come back are sent what they have missed. Who takes part at a table, and
    nobody else, may post there; everybody who knows a table may read it.

    A relay holds no key. It can delay or drop what it carries, which costs players time; it cannot forge anything.

    Players sign the relay's address when they connect, so it must be the one that they use: behind a proxy, or with
    --listen 0.0.0.0:4600, name it with --url, such as --url wss://relay.example. Behind a proxy name that, too, with
    --proxy: else all players have its address, and share what one may use.

    With --pages the relay serves a page, too: anyone who opens the link of a friendly game there plays in the browser,
    with nothing installed.

    http://HOST:PORT/health says whether it works, /metrics has numbers for Prometheus. SIGTERM or Ctrl-C stops it:
    what was posted is kept, and players connect again when it is back.
    """
    import asyncio

    from forcemove.relay.page_files import read_pages
    from forcemove.relay.server import serve
    from forcemove.relay.settings import Settings

    granted = Limits(**limits)  # type: ignore[arg-type]  # each option has the type of its field
    certificate, trusted = _certificate(tls_cert, tls_key), Proxies(proxies, proxy_header)
    settings = Settings(*listen, str(store), urls, granted, frozenset(chains), tls=certificate, proxies=trusted)
    settings = replace(settings, pages=None if pages is None else read_pages(pages))
    log_to_stderr("forcemove.relay", as_json)
    with asyncio.Runner(loop_factory=_quick_loop()) as runner:
        runner.run(serve(settings, lambda url: _say_ready(url, settings, as_json)))


def _quick_loop() -> Callable[[], AbstractEventLoop] | None:
    """uvloop's event loop, where it is installed: it is on all systems but Windows. Else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _say_ready(url: str, settings: Settings, as_json: bool) -> None:
    from forcemove.transport.relay_page import page_of

    words = f"The relay listens at {url}, and keeps its logs in {settings.store}."
    if settings.pages is not None:
        words += f" Its page is {page_of((*settings.urls, url)[0])}"
    say_ready({"ready": url, "store": settings.store}, words, as_json)


def _certificate(certificate: Path | None, key: Path | None) -> SSLContext | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise click.UsageError("--tls-cert and --tls-key go together.")
    import ssl

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError) as error:
        raise Explained(
            f"{certificate} and {key} are not a certificate and key: {error}.",
            "Both are PEM files, and belong together.",
        ) from error
    return context
