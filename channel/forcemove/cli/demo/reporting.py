"""How the end of a demonstration's run is reported: as a document, or in a sentence for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from forcemove.cli.errors import EXIT_ERROR, Explained, words_of
from forcemove.cli.games import game_names, table_game_names
from forcemove.cli.json_output import error_json, print_document
from forcemove.cli.terminal import Terminal

if TYPE_CHECKING:
    from forcemove.cli.demo.network.run import NetworkDemoDocument, NetworkDemoRun
    from forcemove.cli.demo.run import DemoRun
    from forcemove.cli.demo.without_money import TableDemoDocument
    from forcemove.demo.results import DemoDocument


class JsonReport:
    """The document of a run: its results as far as they are known, and the error that ends it."""

    def __init__(self, wanted: bool) -> None:
        """`wanted`: whether it is printed."""
        self._wanted = wanted
        self.document: DemoDocument | NetworkDemoDocument | TableDemoDocument | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and not isinstance(error, click.exceptions.Exit):
            self.print_out(error)

    def print_out(self, error: BaseException | None) -> None:
        """Print the document, once it is complete."""
        if not self._wanted:
            return
        from forcemove.demo.results import DemoDocument

        document = self.document or DemoDocument([], [])
        document.error = None if error is None else error_json(error, words_of(error))
        print_document(document)


class JsonCommand(click.Command):
    """Prints errors as JSON, too, where `--json` was given: within the document that has the results."""

    reports_errors = True
    """See `forcemove.cli.json_output.wants_json`."""

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
        report.document = run.document
    report.print_out(None)
    count, wrong = len(run.verdicts), run.verdicts.count(False)
    if terminal.is_quiet:
        return EXIT_ERROR if wrong else 0
    terminal.say("")
    if wrong:
        raise Explained(
            f"{wrong} of {count} scenarios did not end as they must (see WRONG above).",
            "This is a bug in Forcemove, or somebody else used the accounts meanwhile.",
        )
    what = "The scenario" if count == 1 else f"All {count} scenarios"
    terminal.say(f"{what} ended with the balances that were expected.", "bold")
    return 0
