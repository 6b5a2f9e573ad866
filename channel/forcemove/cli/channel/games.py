"""`forcemove games`: the games of a journal, to look at again, and as records that anybody can check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.cli.channel.command import list_
from forcemove.cli.channel.options import ID, STORE, find_store
from forcemove.cli.errors import Explained
from forcemove.cli.terminal import has_screen
from forcemove.cli.wrapping import echo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.game import Game, Names
    from forcemove.history.history import ChannelHistory
    from forcemove.inspect.journal_channel import JournalChannel
    from forcemove.text.played_games import PlayedPosition

_STEPS = {"\x1b[C": 1, " ": 1, "n": 1, "\x1b[D": -1, "p": -1}
_LEAPS = {
    **dict.fromkeys(("\x1b[H", "\x1b[1~", "\x1b[7~", "g"), 0),
    **dict.fromkeys(("\x1b[F", "\x1b[4~", "\x1b[8~", "G"), -1),
}
"""The keys of a replay: the arrows, Home and End, and letters for terminals without them."""

_STORE = click.option(
    "--store", envvar="FORCEMOVE_STORE", metavar="PATH|URL", help="The journal.  [default: the only one here]"
)
"""As `STORE`, and looked for only where it is needed."""


@click.group(invoke_without_command=True)
@_STORE
@click.pass_context
def games(ctx: click.Context, store: str | None) -> int:
    """List your games: with whom, when, how they ended and what they paid; open ones first.

    `forcemove channel list --all` says the same, asks the chain, and prints JSON.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    found: int = ctx.invoke(list_, store=find_store(ctx, None, store), wants_all=True, endpoint=None, as_json=False)
    return found


@games.command()
@_STORE
@click.argument("what", metavar="ID|FILE")
@click.option("--at", type=click.IntRange(0), metavar="N", help="Print the position after N moves, and nothing else.")
@click.pass_context
def replay(ctx: click.Context, store: str | None, what: str, at: int | None) -> None:
    """Look at a game again: one of the journal, by its channel's id, or that of a record.

    On a terminal the arrow keys go back and forth, Home and End to the first and the last position, and q ends it.
    Elsewhere every position is printed. A record is checked first.
    """
    file = Path(what)
    game, positions, names = _from_record(file) if file.is_file() else _from_journal(find_store(ctx, None, store), what)
    if not positions:
        raise Explained("No move was made in this game.")
    if at is not None:
        echo(_page(game, positions, names, min(at, len(positions) - 1)))
    elif has_screen():
        _turn_pages(game, positions, names)
    else:
        echo("\n\n".join(_page(game, positions, names, place) for place in range(len(positions))))


def _from_journal(store: str, id_: str) -> tuple[Game, Sequence[PlayedPosition], Names]:
    from forcemove.inspect.game_record import played_states
    from forcemove.text.played_games import names_of, positions_in

    stored, history = _stored(store, id_)
    game, names = stored.require_game(), names_of(stored)
    states = played_states(stored.channel, history, game)
    return game, positions_in(game, states, names, stored.channel.index), names


def _from_record(file: Path) -> tuple[Game, Sequence[PlayedPosition], Names]:
    from forcemove.cli.games import usable_games
    from forcemove.inspect.game_record import decode_game_record
    from forcemove.inspect.game_record_report import report_record
    from forcemove.text.names import shown_names
    from forcemove.text.played_games import positions_in

    report = report_record(decode_game_record(file.read_text("utf-8", "replace")), usable_games())
    record, game = report.record, report.app.game
    names = shown_names(record.names, record.fixed_part.participants)
    return game, positions_in(game, record.states, names), names


def _page(game: Game, positions: Sequence[PlayedPosition], names: Names, place: int) -> str:
    """A position as text."""
    shown = positions[place]
    head = click.style(f"{game.title}, move {place} of {len(positions) - 1}", bold=True)
    lines = [head, game.board(shown.state, names), shown.words, shown.score]
    return "\n".join(each for each in lines if each)


def _turn_pages(game: Game, positions: Sequence[PlayedPosition], names: Names) -> None:
    """Show the last position, and then those that keys lead to."""
    place, last = len(positions) - 1, len(positions) - 1
    while True:
        click.clear()
        echo(_page(game, positions, names, place))
        echo("\n\N{LEFTWARDS ARROW} \N{RIGHTWARDS ARROW} Home End, q to end")
        key = click.getchar().replace("\x1bO", "\x1b[")  # so they are while a program has asked for it
        if key in ("q", "\x1b", "\x03", "\x04"):
            return
        place = _LEAPS[key] % (last + 1) if key in _LEAPS else min(max(place + _STEPS.get(key, 0), 0), last)


@games.command()
@STORE
@ID
def record(store: str, id_: str) -> None:
    """Print the record of a game: all of its signed states, which anybody can check with `forcemove inspect`.

    Write it to a file: forcemove games record ID > game.json. It has no secrets. A game that goes on has a record up to
    now.
    """
    from forcemove.text.played_games import names_of, record_text

    stored, history = _stored(store, id_)
    click.echo(record_text(stored.channel, history, stored.require_game(), names_of(stored)), nl=False)


def _stored(store: str, id_: str) -> tuple[JournalChannel, ChannelHistory]:
    from forcemove.cli.channel.stores import find_channel, open_store
    from forcemove.node.histories import load_history

    with open_store(store) as journal:
        stored = find_channel(journal, id_)
        return stored, load_history(journal, stored.id)
