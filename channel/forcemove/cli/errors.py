"""How commands fail: every error becomes a text and an exit code, and JSON where a program asked for it."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from forcemove.cli.json_output import print_failure
from forcemove.cli.terminal import wants_colours
from forcemove.cli.wrapping import echo
from forcemove.errors import ForcemoveError
from forcemove.program import as_called
from forcemove.text.explanations import explain
from forcemove.text.harmless import harmless

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
DEBUG_VARIABLE = "FORCEMOVE_DEBUG"


class Explained(click.ClickException):
    """An error with a text of its own: `what` happened, and what to do `then`. `facts`: values for programs."""

    exit_code = EXIT_ERROR

    def __init__(self, what: str, then: str = "", **facts: Any) -> None:
        super().__init__(as_called(f"{what}\n{then}".strip()))
        self.facts = facts

    @property
    def code(self) -> int:
        """The exit code of the program."""
        return self.exit_code

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error in the form of all errors."""
        _say(self.message, file)


class MainnetRefused(Explained):
    """Real money was about to be spent without permission."""

    def __init__(self) -> None:
        super().__init__(
            "This is Ethereum's main network, where transactions cost real money; nothing was sent.",
            "If that is what you want, say --allow-mainnet.",
        )


def run(command: Callable[[], object], wants_json: Callable[[], bool] = lambda: False) -> int:
    """Run a command and return its exit code, whatever it raises: 0, 1 for an error, 2 for wrong usage, 130 for an
    interrupt. No traceback, unless FORCEMOVE_DEBUG is set or --debug was given. `wants_json`: asked when it fails,
    whether the error is printed as JSON on standard output, too."""
    try:
        result = command()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (KeyboardInterrupt, Exception) as error:
        return _fail(error, wants_json)
    return result if isinstance(result, int) else 0


def _fail(error: BaseException, wants_json: Callable[[], bool]) -> int:
    """Say what has failed, and return the exit code."""
    with _undisturbed():
        return _say_failure(error, wants_json)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C do nothing while the block runs: many press it twice, and want to know all the same what became of
    their money."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return
    earlier = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)


def _say_failure(error: BaseException, wants_json: Callable[[], bool]) -> int:
    words = words_of(error)
    if isinstance(error, click.ClickException):
        error.show()
    else:
        _say(words)
    if wants_json():
        print_failure(error, words)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return EXIT_INTERRUPTED
    _show_cause(error)
    if isinstance(error, Explained):
        return error.code
    return error.exit_code if isinstance(error, click.ClickException) else EXIT_ERROR


def _show_cause(error: BaseException) -> None:
    """Print the traceback, if the debug variable is set. Of an `Explained` it is the traceback of its cause."""
    shown = error.__cause__ if isinstance(error, click.ClickException) else error
    if shown is not None and os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(shown)


def words_of(error: BaseException) -> str:
    """What happened and what to do next, in a line each, of any error."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "Interrupted."
    if isinstance(error, ForcemoveError):
        return explain(error)
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        return f"The system refused{where}: {error.strerror or error}.\nCheck the path."
    # All other errors are our own mistakes.
    return f"Forcemove made a mistake: {type(error).__name__}: {error}\nPlease report it, with what --debug shows."


def _say(message: str, file: IO[Any] | None = None) -> None:
    what, *then = [harmless(line) for line in message.splitlines()] or [""]
    for line in (click.style("Error: ", fg="red", bold=True) + what, *then):
        echo(line, file=file, err=True, color=None if wants_colours() else False)
