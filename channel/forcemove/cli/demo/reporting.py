"""How the end of a demonstration's run is reported: as JSON, or in a sentence for people.

The JSON is what `forcemove.demo.results` says, and `error`. That is null, or has `type`, `message`, and what else there
is to know of it: `locked` (of each channel `channel_id`, `adjudicator`, `asset`, `amount`, and `exact`, false where the
chain could not be asked and it is the most that there can be), `account`, `needed` and `there` (of an account that has
too little), `path`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from forcemove.cli.errors import EXIT_ERROR, Explained, words_of
from forcemove.cli.games import game_names, table_game_names
from forcemove.cli.terminal import Terminal
from forcemove.demo.errors import DemoRefused
from forcemove.text.explanations import show_value

if TYPE_CHECKING:
    from forcemove.cli.demo.network.run import NetworkDemoRun
    from forcemove.cli.demo.run import DemoRun

__all__ = ["JsonCommand", "JsonReport", "report_run"]


class JsonReport:
    """The JSON of a run: its results as far as they are known, and the error that ends it."""

    def __init__(self, wanted: bool) -> None:
        """`wanted`: whether it is printed."""
        self._wanted = wanted
        self.content: dict[str, Any] = {"stories": [], "other_transactions": []}

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and not isinstance(error, click.exceptions.Exit):
            self.print_out(error)

    def print_out(self, error: BaseException | None) -> None:
        """Print the JSON, once it is complete."""
        if not self._wanted:
            return
        click.echo(json.dumps(self.content | {"error": error and _error_json(error)}, indent=1))


_FACTS = ("account", "needed", "there", "path")
"""Facts of errors that the JSON has beside their text."""


def _error_json(error: BaseException) -> dict[str, Any]:
    """See the module."""
    facts = error.facts if isinstance(error, Explained) else {}
    if isinstance(error, DemoRefused):
        facts = {name: str(show_value(value)) for name, value in error.values().items() if name in _FACTS}
    return {"type": type(error).__name__, "message": words_of(error)} | facts


class JsonCommand(click.Command):
    """Prints errors as JSON, too, where `--json` was given: within the document that has the results."""

    reports_errors = True
    """See `forcemove.cli.error_json.wants_json`."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The installed games, which are looked up only when help is asked for."""
        with formatter.section("Games"):
            formatter.write_dl(
                [
                    ("for channels", ", ".join(game_names()) or "none is installed"),
                    ("without money", ", ".join(table_game_names()) or "none is installed"),
                ]
            )
        super().format_epilog(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Command.parse_args`."""
        ctx.obj = JsonReport("--json" in args)
        with ctx.obj:
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """See `click.Command.invoke`."""
        with ctx.obj:
            return super().invoke(ctx)


def report_run(run: DemoRun | NetworkDemoRun, report: JsonReport, terminal: Terminal) -> int:
    """Play, and say how it has ended; the exit code. Raises what the run raises, with its results in the report, and
    `Explained` where a scenario has not ended as it must and people look on.

    - `run`: what is played.
    - `report`: is given the results.
    - `terminal`: where people read; quiet where only the JSON is printed.
    """
    try:
        run.play()
    finally:
        terminal.close()
        report.content = run.to_json()
    report.print_out(None)
    count, wrong = len(run.verdicts), run.verdicts.count(False)
    if terminal.is_quiet:
        return EXIT_ERROR if wrong else 0
    terminal.say("")
    if wrong:
        raise Explained(
            f"{wrong} of {count} scenarios did not end as they must (see WRONG above).",
            "This is a mistake of Forcemove's, or somebody else used the accounts meanwhile.",
        )
    what = "The scenario" if count == 1 else f"All {count} scenarios"
    terminal.say(f"{what} ended with the balances that were expected.", "bold")
    return 0
