"""`forcemove channel challenge`, `conclude` and `collect`: what a participant does when others are gone."""

from __future__ import annotations

from typing import Any

import click

from forcemove.cli.channel.options import ACCOUNT, ID, IDS, KEY, MAX_COST, NODES, STORE
from forcemove.cli.parameters import together

_SESSION = together(STORE, NODES, KEY, ACCOUNT, MAX_COST)
"""The options of a session on a journal, as `SessionOptions` names them."""
_WAIT = click.option("--wait", "waits", is_flag=True, help="Stay until the clock has run out and all is paid.")


@click.command()
@ID
@_SESSION
@_WAIT
def challenge(id_: str, waits: bool, **session: Any) -> None:
    """Challenge with the newest state that can be proved: others must move before the clock runs out, or the outcome of
    that state is paid.

    If it is answered, the clock stops, and play can go on.
    """
    from forcemove.cli.channel import settling
    from forcemove.cli.channel.session import SessionOptions

    settling.challenge(SessionOptions(**session), id_, waits=waits)


@click.command()
@ID
@_SESSION
def conclude(id_: str, **session: Any) -> None:
    """Leave a channel: sign its final state, and have it paid out.

    Where all have signed a final state that is one transaction. Where others are gone it takes a challenge, and the
    time that it leaves them to answer. Anyone who interrupts this loses nothing: the same command goes on.
    """
    from forcemove.cli.channel import settling
    from forcemove.cli.channel.session import SessionOptions

    settling.conclude(SessionOptions(**session), id_)


@click.command()
@IDS
@_SESSION
@_WAIT
def collect(ids: tuple[str, ...], waits: bool, **session: Any) -> int:
    """Bring home what the channels of this key still have on this chain: all of them, or those that are named.

    Answers challenges with what is kept, concludes what all have signed, pays out what the chain has decided, and takes
    credits. It signs nothing new, and starts no challenge: a channel that its players continue is left to them, or
    to `forcemove channel conclude`.

    Exits with 1 if something is left on the chain.
    """
    from forcemove.cli.channel import settling
    from forcemove.cli.channel.session import SessionOptions

    return settling.collect(SessionOptions(**session), ids, waits=waits)
