"""`forcemove channel`: the group, and the commands that only look at a journal, or move channels between journals."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.channel.acting import challenge, collect, conclude
from forcemove.cli.channel.options import ID, IDS, STORE
from forcemove.cli.channel.pruning import prune
from forcemove.cli.deploy import open_node
from forcemove.cli.errors import EXIT_ERROR, Explained
from forcemove.cli.json_output import print_document
from forcemove.cli.pages import page
from forcemove.cli.parameters import ENDPOINT, JSON
from forcemove.cli.terminal import waiting
from forcemove.cli.wrapping import echo
from forcemove.program import program
from forcemove.protocol.codec.json_text import hex_text
from forcemove.store.errors import AlreadyMoved
from forcemove.store.private_file import write_private
from forcemove.store.records import ExportKind, Ownership

if TYPE_CHECKING:
    from forcemove.chain.adjudicator import Adjudicator
    from forcemove.chain.chain import Chain
    from forcemove.inspect.journal_channel import JournalChannel
    from forcemove.inspect.listed_channel import ListedChannel
    from forcemove.inspect.onchain import ChannelOnChain
    from forcemove.inspect.signed_state import SignedStateReport
    from forcemove.store.journal import Journal


@click.group()
def channel() -> None:
    """See, defend, end and move the channels that a journal keeps.

    A journal is a file, or a PostgreSQL database: anyone who played has left there what was signed. Name it with
    --store, or with the environment variable FORCEMOVE_STORE.

    Looking changes nothing, and may be done while another process plays.
    """


channel.add_command(challenge)
channel.add_command(conclude)
channel.add_command(collect)
channel.add_command(prune)


@channel.command("list")
@STORE
@click.option("--all", "wants_all", is_flag=True, help="List finished and moved channels, too.")
@ENDPOINT
@JSON
def list_(store: str, wants_all: bool, endpoint: str | None, as_json: bool) -> int:
    """List the channels of a journal.

    With --chain it also shows what the chain has of each, and which of them did not begin on that chain, though its
    chain id is the same.
    """
    from forcemove.cli.channel import pages
    from forcemove.cli.channel.stores import list_all, open_store
    from forcemove.inspect.channel_json import ChannelListDocument, DamagedChannelJson, listed_json
    from forcemove.node.histories import load_history
    from forcemove.text.played_games import with_scores

    over = () if wants_all else (Ownership.FINISHED, Ownership.MOVED, Ownership.PUT_AWAY)
    with open_store(store) as journal:
        found, damaged = list_all(journal, int(time.time()))
        listed = [each for each in found if each.ownership not in over]
        shown = sorted(listed, key=lambda each: each.urgency)
        if not as_json:  # which has no scores
            shown = with_scores(shown, partial(load_history, journal))
        on_chain = _on_chain(journal, shown, endpoint) if endpoint else None
    if as_json:
        broken = [DamagedChannelJson(hex_text(id_), problem) for id_, problem in damaged]
        print_document(ChannelListDocument([listed_json(each, on_chain) for each in shown], broken))
    else:
        echo(pages.table(shown) if shown else "There are no open channels.")
        for id_, each in (on_chain or {}).items():
            echo(pages.elsewhere_line(id_) if each is None else pages.on_chain_line(each))
        if shown and on_chain is None:
            echo(f"So the journal last saw them; `{program()} channel list --chain URL` asks the chain.")
        if more := len(found) - len(shown):
            echo(f"--all shows {more} more, over or moved away.")
        for id_, problem in damaged:
            click.echo(f"{hex_text(id_)} cannot be read: {problem}", err=True)
    return EXIT_ERROR if damaged else 0


def _on_chain(journal: Journal, listed: Sequence[ListedChannel], endpoint: str) -> dict[bytes, ListedChannel | None]:
    """By id, the channels with the chain's id as the chain has them; None of those that did not begin on it."""
    from forcemove.cli.channel.stores import find_channel
    from forcemove.follower.errors import AnotherChain

    found: dict[bytes, ListedChannel | None] = {}
    chain = open_node(endpoint)
    for each in (each for each in listed if each.summary.chain_id == chain.chain_id):
        stored = find_channel(journal, hex_text(each.id))
        try:
            found[each.id] = _as_read(stored, _read_chain(stored, chain)[1])
        except AnotherChain:
            found[each.id] = None
    return found


def _as_read(stored: JournalChannel, read: ChannelOnChain) -> ListedChannel:
    """The channel as its chain has it."""
    return replace(stored, channel=read.seen_by(stored.channel)).listed(read.now)


@channel.command()
@STORE
@ID
@ENDPOINT
@JSON
def show(store: str, id_: str, endpoint: str | None, as_json: bool) -> None:
    """Show a channel: where it is, the board, what it would pay, and what each could do now.

    With --chain what the chain has is shown beside it.
    """
    from forcemove.cli.channel import pages
    from forcemove.cli.channel.stores import find_channel, open_store
    from forcemove.inspect.channel_json import channel_document, listed_json
    from forcemove.inspect.report_json import signed_state_document

    with open_store(store) as journal:
        stored = find_channel(journal, id_)
    now, read = int(time.time()), _read_chain(stored, open_node(endpoint)) if endpoint else None
    report, on_chain = _report(stored, read), None if read is None else _as_read(stored, read[1])
    if as_json:
        listed = listed_json(stored.listed(now), None if on_chain is None else {stored.id: on_chain})
        print_document(channel_document(listed, None if report is None else signed_state_document(report)))
        return
    echo(pages.channel_page(stored, now))
    if on_chain is not None:
        echo("\n" + pages.on_chain_line(on_chain))
    if report is not None:
        echo("\n" + page(report))


def _report(stored: JournalChannel, read: tuple[Adjudicator, ChannelOnChain] | None) -> SignedStateReport | None:
    """The report of the newest state; None where there is none. `read`: as of `_read_chain`, None where no chain was
    asked."""
    from forcemove.inspect.apps import KnownApp, KnownBy
    from forcemove.inspect.signed_state import report_signed_state

    if stored.newest_file is None:
        return None
    app = KnownApp(stored.game, KnownBy.BOOK) if stored.game else None
    return report_signed_state(stored.newest_file, app, read)


def _read_chain(stored: JournalChannel, chain: Chain) -> tuple[Adjudicator, ChannelOnChain]:
    """The adjudicator, and the channel as its chain has it. Raises `WrongChain`, `AnotherChain`, and what reading a
    chain raises."""
    from forcemove.chain.adjudicator import Adjudicator
    from forcemove.chain.errors import WrongChain
    from forcemove.chain.reverts import NO_ERRORS, app_errors
    from forcemove.inspect.onchain import read_channel

    domain = stored.channel.agreement.domain
    if chain.chain_id != domain.chain_id:
        raise WrongChain(chain.endpoint, domain.chain_id, chain.chain_id)
    errors = app_errors(stored.game.artifact, stored.game.errors) if stored.game else NO_ERRORS
    adjudicator = Adjudicator(chain, domain.adjudicator, errors)
    outcome = stored.newest.state.outcome if stored.newest else ()
    with waiting("Reading the chain"):
        if (elsewhere := stored.elsewhere(chain)) is not None:
            raise elsewhere
        participants = stored.channel.agreement.fixed_part.participants
        return adjudicator, read_channel(adjudicator, stored.id, stored.metadata.from_block, participants, outcome)


@channel.command()
@STORE
@ID
@ENDPOINT
@JSON
def history(store: str, id_: str, endpoint: str | None, as_json: bool) -> None:
    """Show what has happened in a channel, in order: states signed and received, logs, transactions, refusals, faults.

    It reads the journal alone: no chain need be at hand. What a reorganisation has removed is marked. Then come the
    states that are kept, what the chain has logged (with --chain), and what counterparties did wrong.
    """
    from forcemove.cli.channel import pages
    from forcemove.cli.channel.stores import find_channel, open_store
    from forcemove.inspect.channel_json import history_document
    from forcemove.node.histories import load_history

    with open_store(store) as journal:
        stored = find_channel(journal, id_)
        evidence, history = journal.evidence(stored.id), load_history(journal, stored.id)
    logs = _read_chain(stored, open_node(endpoint))[1].logs if endpoint else None
    if as_json:
        print_document(history_document(stored, history, evidence, logs))
    else:
        echo(pages.history_page(stored, history, evidence, logs))


@channel.command()
@STORE
@ID
@ENDPOINT
@JSON
def verify(store: str, id_: str, endpoint: str | None, as_json: bool) -> int:
    """Check that what is kept of a channel is sound: every signature, every rule, and with --chain the contracts, the
    deposits, and that the chain has nothing newer. Exits with 1 if anything is wrong."""
    from forcemove.cli.channel import pages
    from forcemove.cli.channel.stores import find_channel, open_store
    from forcemove.inspect.channel_json import soundness_document
    from forcemove.inspect.soundness import examine, examine_on_chain

    with open_store(store) as journal:
        stored = find_channel(journal, id_)
    read = _read_chain(stored, open_node(endpoint)) if endpoint else None
    with waiting("Comparing"):
        on_chain = () if read is None else examine_on_chain(stored, *read)
    findings = [*examine(stored), *on_chain]
    is_sound = not any(each.is_wrong for each in findings)
    if as_json:
        print_document(soundness_document(stored.id, findings))
    else:
        echo(click.style(f"{stored.title} in channel {hex_text(stored.id)}", bold=True))
        echo("\n".join(map(pages.finding_line, findings)) or "  nothing was signed yet")
        echo("It is sound." if is_sound else "It is NOT sound.")
    return 0 if is_sound else EXIT_ERROR


# --------------------------------------------------------------------------------------------------- between journals


@channel.command()
@STORE
@IDS
@click.option("--all", "wants_all", is_flag=True, help="All channels of the journal that were not moved away.")
@click.option("--move", is_flag=True, help="Move the channels away from this journal: it never signs in them again.")
@click.option("--backup", is_flag=True, help="Copy the channels: those that are imported from a backup sign nothing.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
def export(store: str, ids: tuple[str, ...], wants_all: bool, move: bool, backup: bool, out: Path) -> None:
    """Write channels to a file: a move to another journal, or a backup.

    The file has what players hide, such as salts: keep it as private as the journal. It has no key. A channel that
    another process plays is not moved. A move is to be imported once: it cannot be told that two journals have it.
    """
    from forcemove.cli.channel.stores import find_channels, holding, moved_before, open_store

    if move == backup:
        raise click.UsageError("Say either --move or --backup.")
    if bool(ids) == wants_all:
        raise click.UsageError("Name channels, or say --all.")
    with open_store(store) as journal:
        if wants_all:
            chosen = journal.ids(Ownership.ACTIVE, Ownership.FINISHED, Ownership.BACKUP)
        else:
            chosen = tuple(each.id for each in find_channels(journal, ids))
        kind = ExportKind.MOVE if move else ExportKind.BACKUP
        if out.exists():
            raise Explained(f"There is a file at {out} already; nothing was changed.", "Choose another name.")
        partial = out.with_name(f"{out.name}.partial")
        try:
            with holding(journal, chosen if move else ()):
                journal.export(chosen, kind, lambda data: write_private(partial, data))
        except AlreadyMoved as error:
            raise moved_before(error, partial) from error
        partial.rename(out)
    echo(f"{len(chosen)} {'moved' if move else 'copied'} to {out}.")
    if move:
        echo("Import it once, into one journal, and delete it then: two journals would sign twice for one turn.")


@channel.command("import")
@STORE
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_(store: str, file: Path) -> None:
    """Take all channels of a file, or none: of one that `export` has written, or of a copy that a page has saved. The
    journal is made if there is none.

    What was moved is played on from here. What comes from a backup signs nothing, but answers challenges and collects.
    """
    from forcemove.cli.channel import pages
    from forcemove.cli.channel.stores import find_channel, open_store
    from forcemove.cli.key import open_with_passphrase
    from forcemove.keys.key_files import read_copied_channels
    from forcemove.store.transfer import read_parcel

    data = file.read_bytes()
    if data.startswith(b"{"):
        data = open_with_passphrase(file, read_copied_channels)
    read_parcel(data)  # before a journal is made
    with open_store(store, may_be_new=True) as journal:
        ids = journal.import_(data)
        stored = [find_channel(journal, hex_text(id_)) for id_ in ids]
    now = int(time.time())
    echo(pages.table([each.listed(now) for each in stored]))
