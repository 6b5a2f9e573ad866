"""`forcemove watch`: answer challenges for participants who are away."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forcemove.chain.addresses import show_address
from forcemove.cli.endpoints import endpoint_name, open_nodes
from forcemove.cli.errors import Explained
from forcemove.cli.parameters import ADDRESS, AMOUNT, FILE, KEY_FILE, Typed
from forcemove.cli.serving import json_option, listen_option, log_to_stderr, say_ready, with_limits
from forcemove.cli.terminal import waiting
from forcemove.text.amounts import exact_amount
from forcemove.watchtower.service.limits import ServiceLimits
from forcemove.watchtower.settings import TowerSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.chain.adjudicator import Adjudicator
    from forcemove.chain.book import AddressBook
    from forcemove.chain.chain import Chain
    from forcemove.game import Game
    from forcemove.protocol.app import Rules
    from forcemove.protocol.signing import Key

_ROOM = "forcemove.watchtower"
_LOG = logging.getLogger(f"{_ROOM}.command")
_BUDGET = 10**17
_TOWER = TowerSettings()
_LIMITS = {
    "connections": "Connections at once.",
    "per_address": "Connections at once from one IP address; raise it behind a proxy.",
    "bytes_per_second": "Bytes of appointments from one IP address; more is refused for a while. "
    "Raise it behind a proxy.",
}


def _client(text: str) -> tuple[bytes, int]:
    address, separator, budget = text.partition("=")
    return ADDRESS.read(address), AMOUNT.read(budget) if separator else _BUDGET


@click.command()
@click.option(
    "--chain",
    "endpoints",
    required=True,
    multiple=True,
    metavar="URL",
    help="The node: http(s)://, ws(s)://, or an IPC path; given several times, other nodes of the same chain, of which "
    "one honest one is enough.",
)
@click.option(
    "--key",
    "key_file",
    required=True,
    type=KEY_FILE,
    help="The key file of the watchtower's own account, which pays the gas and signs receipts (see `forcemove key`).",
)
@click.option(
    "--for",
    "clients",
    required=True,
    multiple=True,
    type=Typed("ADDRESS[=BUDGET]", _client),
    help="A participant to work for, and what may be spent for it in all, such as 0x…='0.5 ether'; may be given "
    f"several times.  [default budget: {exact_amount(_BUDGET)}]",
)
@click.option(
    "--store",
    default="tower.journal",
    show_default=True,
    metavar="PATH|URL",
    help="The watchtower's journal: a file, or postgresql://user:password@host/database; it is made if it is missing.",
)
@listen_option("127.0.0.1:4700")
@click.option(
    "--book",
    type=FILE,
    help="The address book that `forcemove deploy` wrote.  [default: forcemove-CHAINID.json]",
)
@click.option(
    "--max-cost",
    "max_cost",
    type=AMOUNT,
    default=_TOWER.max_cost,
    show_default=exact_amount(_TOWER.max_cost),
    help="What the gas of one answer may cost.",
)
@click.option(
    "--head-start",
    type=click.IntRange(0),
    default=_TOWER.head_start,
    show_default=True,
    help="Seconds of a challenge that are left to participants and other watchtowers, at most half of its time.",
)
@click.option(
    "--confirmations",
    type=click.IntRange(1),
    help="How many blocks deep a log must be to be believed.  [default: 1 on a local chain, else 6]",
)
@click.option(
    "--lease",
    type=click.FloatRange(1),
    default=_TOWER.lease,
    show_default=True,
    help="Seconds after which another process on the same store takes over from one that died.",
)
@click.option(
    "--max-channels",
    "max_channels",
    type=click.IntRange(1),
    default=_TOWER.max_channels,
    show_default=True,
    help="Channels of one participant.",
)
@with_limits(ServiceLimits(), _LIMITS)
@json_option
def watch(
    endpoints: tuple[str, ...],
    key_file: Path,
    clients: tuple[tuple[bytes, int], ...],
    store: str,
    listen: tuple[str, int],
    book: Path | None,
    as_json: bool,
    **numbers: Any,
) -> None:
    """Answer challenges for participants who are away: a watchtower.

    Participants that are named with --for send appointments with their newest proof (POST /appointments), and get a
    signed receipt. If somebody then challenges with an older state, the watchtower answers on the chain, and pays the
    gas from its own account, up to the participant's budget.

    A watchtower has no key of a participant. It can neglect a challenge, which its receipt proves; it cannot take
    money. Send its account some of the chain's ether: without that it can answer no challenge.

    Several processes may have the same --store and --key: one works, the others stand by. After a crash the next one
    begins when the --lease of the last one has ended. The limits on connections go by IP address; it speaks http://
    alone, so put a proxy with TLS before it where strangers can listen.

    http://HOST:PORT/health says whether it works, /metrics has numbers for Prometheus. SIGTERM or Ctrl-C stops it:
    appointments with a receipt are kept.
    """
    import asyncio

    from forcemove.chain.book_file import chain_ids_of_books
    from forcemove.chain.chain import answering
    from forcemove.cli.channel.stores import open_store
    from forcemove.cli.deploy import open_book
    from forcemove.cli.games import usable_games
    from forcemove.cli.key import open_key_file
    from forcemove.sessions.standby import when_answered
    from forcemove.watchtower.service.server import MakeTower, ServiceSettings, serve
    from forcemove.watchtower.tower import Tower

    served = dict(clients)
    if len(served) < len(clients):
        raise click.UsageError("--for names an address twice.")
    log_to_stderr(_ROOM, as_json)
    games = usable_games()
    with waiting(f"Asking {', '.join(map(endpoint_name, endpoints))}") as terminal:

        def warn(text: str) -> None:
            terminal.close()  # the log has the line
            _LOG.warning("a node does not answer, or is left out", extra={"facts": {"error": text}})

        chains = open_nodes(endpoints, expected=chain_ids_of_books(book), notify=warn)
        there = asyncio.run(when_answered(lambda: answering(chains), warn))
        chains = (*there, *(each for each in chains if each not in there))
        book_ = open_book(book, chains[0])
        apps, adjudicators = _contracts(games, book_, chains)
    key = open_key_file(key_file)
    _warn_of_an_empty_account(chains[0], key)
    limits = ServiceLimits(**{name: numbers.pop(name) for name in _LIMITS})
    settings = TowerSettings(first_block=book_.deployment_block, **numbers)
    with open_store(store, may_be_new=True) as journal:
        make: MakeTower = lambda on_answer, on_error: Tower(  # noqa: E731  # its type is the service's
            journal, key, adjudicators, served, apps=apps, settings=settings, on_answer=on_answer, on_error=on_error
        )
        asyncio.run(
            serve(
                ServiceSettings(*listen, tuple(served), limits),
                make,
                lambda url: _say_ready(url, key, journal.where, chains[0].chain_id, as_json),
            )
        )


def _say_ready(url: str, key: Key, store: str, chain_id: int, as_json: bool) -> None:
    account = show_address(key.address)
    ready = {"ready": url, "account": account, "store": store, "chainId": str(chain_id)}
    words = f"The watchtower {account} listens at {url}, watches chain {chain_id}, and keeps what it has in {store}."
    say_ready(ready, words, as_json)


def _contracts(
    games: Sequence[Game], book: AddressBook, chains: Sequence[Chain]
) -> tuple[dict[bytes, Rules], list[Adjudicator]]:
    """The rules of the installed games, by their contracts' addresses; and the adjudicator through each endpoint, which
    is genuine, and knows the games' errors."""
    from forcemove.chain.adjudicator import Adjudicator
    from forcemove.chain.create2 import derived_address
    from forcemove.chain.genuine import adjudicator_artifact, require_genuine_contract
    from forcemove.chain.reverts import NO_ERRORS, app_errors

    require_genuine_contract(chains[0], adjudicator_artifact(), book.adjudicator, book.factory)
    apps: dict[bytes, Rules] = {}
    errors = NO_ERRORS
    for game in games:
        entry = book.contracts.get(game.artifact.name)
        if entry is not None and entry.address == derived_address(game.artifact, book.factory):
            apps[entry.address] = game
            errors |= app_errors(game.artifact, game.errors)
    if not apps:
        raise Explained(
            "The address book has no contract of an installed game: this watchtower could check no move.",
            "Install the games that it is to watch, or name another book with --book.",
        )
    return apps, [Adjudicator(chain, book.adjudicator, errors) for chain in chains]


def _warn_of_an_empty_account(chain: Chain, key: Key) -> None:
    if not chain.balance(key.address):
        facts = {"account": "0x" + key.address.hex()}
        _LOG.warning("the tower's account has no ether: it can answer nothing", extra={"facts": facts})
