"""`forcemove channel challenge`, `conclude` and `collect`: what a participant does when others are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forcemove.channel.cli.channel.options import ID, IDS, KEY, MOST, NODE, STORE
from forcemove.channel.cli.errors import Explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from forcemove.channel.cli.channel.session import Session
    from forcemove.channel.inspect.kept import KeptChannel
    from forcemove.channel.node.driven import Driven

__all__ = ["challenge", "collect", "conclude"]

_WAIT = click.option("--wait", "waits", is_flag=True, help="Stay until the clock has run out and all is paid.")


@click.command()
@STORE
@ID
@NODE
@KEY
@MOST
@_WAIT
def challenge(store: str, id_: str, endpoint: str, key_file: str, most: int | None, waits: bool) -> None:
    """Challenge with the newest state that can be proved: others must move before the clock runs out, or the outcome of
    that state is paid.

    If it is answered, the clock stops, and play can go on.
    """
    from forcemove.channel.cli.channel.session import opened
    from forcemove.channel.cli.channel.stores import find_channel
    from forcemove.channel.cli.layout import show_time
    from forcemove.channel.protocol.channel import Phase
    from forcemove.channel.protocol.inputs import ChallengeWanted

    with opened(store, endpoint, key_file, most) as session:
        kept = find_channel(session.journal, id_)
        session.require_ours(kept)
        _require_begun(kept)
        driven = session.drive(kept)
        session.run(lambda: True, lambda: "Reading the chain")
        if driven.phase is not Phase.CHALLENGED:
            driven.feed(ChallengeWanted())
        session.run(lambda: driven.channel.status.finalizes_at != 0 or driven.phase is Phase.CLOSED, _status(driven))
        if driven.phase is Phase.CHALLENGED:
            click.echo(f"The clock runs until {show_time(driven.channel.status.finalizes_at)}.")
        if waits:
            session.run(lambda: driven.phase not in (Phase.CHALLENGED, Phase.FINALIZED), _status(driven))
            _tell_end(driven)
        else:
            click.echo("After that, `forcemove channel collect` brings home what is paid.")


def _require_begun(kept: KeptChannel) -> None:
    channel = kept.channel
    if channel.next_turn < 2 * channel.agreement.count:
        raise Explained(
            "Play has not begun in this channel: there is no move to wait for.",
            "`forcemove channel conclude` takes back what was paid in.",
        )


@click.command()
@STORE
@ID
@NODE
@KEY
@MOST
def conclude(store: str, id_: str, endpoint: str, key_file: str, most: int | None) -> None:
    """Leave a channel: sign its final state, and have it paid out.

    Where all have signed a final state that is one transaction. Where others are gone it takes a challenge, and the
    time that it leaves them to answer. Whoever interrupts this loses nothing: the same command goes on.
    """
    from forcemove.channel.cli.channel.session import opened
    from forcemove.channel.cli.channel.stores import find_channel
    from forcemove.channel.protocol.inputs import ConcludeWanted

    with opened(store, endpoint, key_file, most) as session:
        kept = find_channel(session.journal, id_)
        session.require_ours(kept)
        if kept.channel.record.closed:
            click.echo("All is paid out already.")
            return
        driven = session.drive(kept)
        driven.feed(ConcludeWanted())  # before anything else is done, such as paying in
        session.run(lambda: _is_left(driven), _status(driven))
        _tell_end(driven)


def _is_left(driven: Driven) -> bool:
    """Whether nothing is left to be paid. Where others keep us waiting, the chain is asked to decide."""
    from forcemove.channel.flow.channel import is_stuck
    from forcemove.channel.inspect.kept import left_in
    from forcemove.channel.protocol.inputs import ChallengeWanted

    channel = driven.channel
    if not driven.chain.time:  # what is remembered may be old
        return False
    if not left_in(channel):
        return True
    if is_stuck(channel, driven.phase) and not channel.requested:
        driven.feed(ChallengeWanted())
    return False


@click.command()
@STORE
@IDS
@NODE
@KEY
@MOST
@_WAIT
def collect(store: str, ids: tuple[str, ...], endpoint: str, key_file: str, most: int | None, waits: bool) -> int:
    """Bring home what the channels of this key still have on this chain: all of them, or those that are named.

    Answers challenges with what is kept, concludes what all have signed, pays out what the chain has decided, and takes
    credits. It signs nothing new, and starts no challenge: a channel that goes on with its players is left to them, or
    to `forcemove channel conclude`.

    Exits with 1 if something is left on the chain.
    """
    from forcemove.channel.cli.channel.session import opened
    from forcemove.channel.inspect.kept import left_in
    from forcemove.channel.protocol.channel import Phase

    with opened(store, endpoint, key_file, most) as session:
        chosen = _chosen(session, ids)
        if not chosen:
            click.echo("No open channel of this key is of this chain.")
            return 0
        driven = [session.drive(kept, signs=False) for kept in chosen]
        running = (Phase.CHALLENGED, Phase.FINALIZED)
        session.run(
            lambda: not waits or not any(each.phase in running or each.channel.conclude_at for each in driven),
            _statuses(driven),
        )
        left = [each for each in driven if left_in(each.channel)]
        for kept, each in zip(chosen, driven, strict=True):
            click.echo(_what_is_left(kept, each))
    return 1 if left else 0


def _chosen(session: Session, ids: tuple[str, ...]) -> list[KeptChannel]:
    """Those that are named; else all of this key and chain that are not finished, damaged ones aside."""
    from forcemove.channel.cli.channel.stores import find_channels, read_all
    from forcemove.channel.store.records import Standing

    if ids:
        return find_channels(session.journal, ids)
    found, damaged = read_all(session.journal)
    for id_, problem in damaged:
        click.echo(f"0x{id_.hex()} cannot be read: {problem}", err=True)
    open_ = (each for each in found if each.standing in (Standing.ACTIVE, Standing.BACKUP))
    return [each for each in open_ if _is_of(session, each)]


def _is_of(session: Session, kept: KeptChannel) -> bool:
    agreement = kept.channel.agreement
    is_of_chain = agreement.domain.chain_id == session.chain.chain_id
    return is_of_chain and agreement.fixed_part.participants[kept.channel.index] == session.account


# ------------------------------------------------------------------------------------------------------------- telling


def _status(driven: Driven) -> Callable[[], str]:
    return _statuses([driven])


def _statuses(driven: list[Driven]) -> Callable[[], str]:
    def status() -> str:
        ends = [each.channel.status.finalizes_at - each.chain.time for each in driven if _has_clock(each)]
        left = f"; {max(ends):,} seconds until the clock runs out" if ends else ""
        return f"Waiting for the chain{left}"

    return status


def _has_clock(driven: Driven) -> bool:
    return driven.channel.status.finalizes_at > driven.chain.time


def _tell_end(driven: Driven) -> None:
    from forcemove.channel.inspect.kept import left_in
    from forcemove.channel.protocol.channel import Phase

    if driven.phase is Phase.CLOSED:
        click.echo("All is paid out.")
    elif left_in(driven.channel):
        click.echo("The challenge was answered: play can go on.")
    else:
        click.echo("Nothing is left on the chain.")


def _what_is_left(kept: KeptChannel, driven: Driven) -> str:
    from forcemove.channel.cli.channel.pages import advice, short_id
    from forcemove.channel.cli.layout import show_asset, show_time
    from forcemove.channel.inspect.kept import left_in

    channel, phase = driven.channel, driven.phase
    held = ", ".join(show_asset(asset, amount) for asset, amount in left_in(channel))
    start = f"{short_id(kept.id)} {kept.title}: {phase.value}"
    if not held:
        return f"{start}; nothing is left on the chain"
    until = channel.status.finalizes_at or channel.conclude_at
    then = f"`collect` again after {show_time(until)}" if until else advice(phase)
    return f"{start}; {held} are there. {then}"
