"""The entry point. Each command lives in a module of its own, imported when it is called: `--help` answers at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from forcemove.cli.errors import DEBUG_VARIABLE, run
from forcemove.cli.json_output import wants_json
from forcemove.cli.streams import open_streams
from forcemove.cli.terminal import show_cursor, wants_colours

_COMMANDS = {
    "demo": "Watch players open a channel, play, and settle; disputes included.",
    "deploy": "Deploy the adjudicator and the games to a chain.",
    "verify": "Compare a deployment with what is on its chain.",
    "key": "Make, import and show key files.",
    "play": "Play with somebody on another machine, over a relay and on a chain.",
    "browse": "Offer, join and play any number of games on a page in a browser.",
    "lobby": "List the open games of a relay, and join one.",
    "games": "List the games that you have played, look at them again, and make records.",
    "relay": "Carry messages between players on different machines.",
    "watch": "Answer challenges for participants who are away.",
    "new": "Begin a game of your own: a folder with rules, a bot, tests and a page.",
    "compile": "Compile the contracts of a game of your own.",
    "channel": "See, defend, end and move the channels that a journal keeps.",
    "inspect": "Explain a signed state, a game's record, a piece of hex, or a channel on a chain.",
}


_MODULES = {"games": "channel.games"}
"""Where a command is that has no module of its own name."""


class _LazyGroup(click.Group):
    """Knows its commands by name and a line of help, and imports the module of the one that is called."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"forcemove.cli.{_MODULES.get(cmd_name, cmd_name)}")
        return next(each for each in vars(module).values() if isinstance(each, click.Command) and each.name == cmd_name)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"forcemove {_version()}")
        ctx.exit()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("forcemove")
    except PackageNotFoundError:
        return "(a checkout that is not installed)"


def _set_debug(_: click.Context, __: click.Parameter, wanted: bool) -> None:
    if wanted:
        os.environ[DEBUG_VARIABLE] = "1"


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show the version."
)
@click.option("--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error.")
@click.pass_context
def forcemove(ctx: click.Context) -> None:
    """Turn-based games in state channels.

    Players exchange signed states off chain; a contract on a chain holds the money, and decides when somebody stops.

    Begin with `forcemove demo`: it needs no chain, no key and no money. `forcemove COMMAND --help` explains a command.
    """
    if not wants_colours():
        ctx.color = False


def call(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name, and return its exit code; see `forcemove.cli.errors.run`."""
    return run(
        lambda: forcemove.main(list(arguments), prog_name="forcemove", standalone_mode=False),
        lambda: wants_json(forcemove, arguments),
    )


def _terminate(number: int, _: object) -> None:
    """End in order what does nothing else at this signal: a terminal gets its cursor and its echo back."""
    raise SystemExit(128 + number)


def _stop(number: int, _: object) -> None:
    """Stop as this signal has it, with the cursor that a status has hidden: the terminal is the shell's meanwhile."""
    show_cursor()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    signal.signal(number, _stop)  # it goes on


def main() -> None:
    """Run the command line and exit with its code: 0, 1 for an error, 2 for wrong usage, 130 for an interrupt, 143
    where the program was asked to end."""
    # safe-pysha3 is six times as fast as what eth-hash takes on its own.
    os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
    signal.signal(signal.SIGTERM, _terminate)
    if sys.platform != "win32":
        if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:  # a shell with jobs
            signal.signal(signal.SIGTSTP, _stop)
        if sys.argv[1:2] != ["demo"]:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that is closed ends no defence
        elif signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # no `nohup`
            signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))  # in order: it has processes
    finish = open_streams()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # until here there was nothing to tell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code, unwritten = call(sys.argv[1:]), run(finish)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a Python that is about to end would show a traceback
    sys.exit(code or unwritten)


if __name__ == "__main__":
    main()
