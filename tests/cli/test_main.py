"""The frame of the command line: help, exit codes, errors in words, and a start that imports little."""

from __future__ import annotations

import ast
import dataclasses
import errno
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import click
import pytest

import forcemove as forcemove_package
from forcemove import Action, AppError, ForcemoveError, InvalidValue, LocalError, MalformedBytes, UnknownVersion
from forcemove.chain.errors import NoContract, NotMined, TransactionReverted, Unreachable, WrongChain
from forcemove.cli.errors import Explained, MainnetRefused, run
from forcemove.cli.main import forcemove as group
from forcemove.flow.steps import UnexpectedAction
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS, NothingToClaim, TurnNumberNotConsecutive
from forcemove.registry import installed_games
from forcemove.sessions.errors import ChallengeTooShort, OfferOver
from forcemove.text.explanations import EXPLANATIONS, describe, explain
from forcemove.transport.errors import refusal
from forcemove_games.two_player import MalformedPosition
from tests.cli.command import Command

ROOT = Path(__file__).parents[2]
VERBS = group.list_commands(click.Context(group))
HEAVY = {"web3", "rich", "eth_account", "eth_keyfile", "eth_tester", "requests", "sqlalchemy", "aiohttp", "jinja2"}
"""What takes long to import."""
ADDRESS = bytes.fromhex("5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")


def test_help_names_every_command(forcemove: Command) -> None:
    said = forcemove("--help", code=0)

    for command in VERBS:
        assert f"\n  {command} " in said.out


@pytest.mark.parametrize("command", [*VERBS, "key new", "key import", "key show"])
def test_each_command_has_help(forcemove: Command, command: str) -> None:
    said = forcemove(*command.split(), "--help", code=0)

    assert said.out.startswith(f"Usage: forcemove {command} ")


def test_the_version_is_told(forcemove: Command) -> None:
    said = forcemove("--version")

    assert (said.code, said.out.startswith("forcemove ")) == (0, True)


@pytest.mark.parametrize(
    "arguments", [(), ("chess",), ("--no-such-flag",), ("deploy",), ("verify", "more"), ("key", "show"), ("key",)]
)
def test_wrong_usage_exits_with_two(forcemove: Command, arguments: tuple[str, ...]) -> None:
    said = forcemove(*arguments, code=2)

    assert "Usage: forcemove" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("play",), "Installed are: discard, rock-paper-scissors, tic-tac-toe, discard-sra."),
        (
            ("play", "tic-tac-toe", "--bot", "--relay", "ws://127.0.0.1:1"),
            "There is no key file at key.json. `forcemove key new key.json` makes one.",
        ),
        (("watch", "--chain", "http://127.0.0.1:1"), "`forcemove key new FILE` makes a key file."),
        (("deploy", "--chain", "http://127.0.0.1:1"), "`forcemove key new FILE` makes a key file."),
        (
            ("channel", "conclude", "0x11", "--chain", "http://127.0.0.1:1"),
            "`forcemove key new FILE` makes a key file.",
        ),
        (("new", "tic-tac-toe"), "A game tic-tac-toe is installed already"),
        (("new", "Bad Name"), "The game's name cannot be Bad Name"),
    ],
)
def test_what_is_missing_or_no_name_is_said_with_a_way_on(
    forcemove: Command, arguments: tuple[str, ...], words: str
) -> None:
    said = forcemove(*arguments)

    assert said.code in (1, 2)
    assert words in " ".join(said.err.split())
    assert not Path("tic-tac-toe").exists()


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_imports_nothing_heavy(verb: str) -> None:
    program = (
        "import sys\n"
        "from forcemove.cli.main import forcemove\n"
        f"forcemove.main({[*verb.split(), '--help']}, standalone_mode=False)\n"
        f"print(sorted({HEAVY} & set(sys.modules)))\n"
    )
    said = subprocess.run(  # noqa: S603  # this very interpreter
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert said.stdout.splitlines()[-1] == "[]"


def given_words(file: Path) -> Iterator[str]:
    """The first word of each text that the file gives to a call, or has in a list or a tuple."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Call(args=given) | ast.List(elts=given) | ast.Tuple(elts=given):
                texts = (each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str))
                yield from (text.removeprefix("forcemove ").partition(" ")[0] for text in texts)


def test_a_test_of_the_command_line_runs_each_verb() -> None:
    folders = (ROOT / "tests" / folder for folder in ("cli", "scaffold"))
    files = [file for folder in folders for file in folder.glob("*.py") if file != Path(__file__)]

    assert set(VERBS) - {word for file in files for word in given_words(file)} == set()


# -------------------------------------------------------------------------------------------------------------- errors


def raising(error: BaseException) -> Callable[[], object]:
    def command() -> object:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Unreachable("http://127.0.0.1:1", "Connection refused"), 1),
        (NothingToClaim(ADDRESS, bytes(20)), 1),
        (MainnetRefused(), 1),
        (Explained("What happened.", "What to do."), 1),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.json"), 1),
        (OSError("without a number"), 1),
        (ZeroDivisionError("our own mistake"), 1),
        (KeyboardInterrupt(), 130),
    ],
    ids=repr,
)
def test_whatever_is_raised_ends_in_words_and_a_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int
) -> None:
    assert run(raising(error)) == code

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert "Traceback" not in err


def test_debugging_shows_where(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_DEBUG", "1")

    run(raising(ZeroDivisionError()))

    assert "Traceback" in capsys.readouterr().err


def test_values_are_shown_as_people_write_them() -> None:
    text = explain(NothingToClaim(ADDRESS, bytes(20)))

    assert text.startswith(
        "The adjudicator refused: the account has no credit in this asset (NothingToClaim: account 0x5aAeb6053F3E94C"
    )
    reverted = explain(TransactionReverted(b"\x01" * 32, 7, 21_000, NothingToClaim(ADDRESS, bytes(20))))
    assert "block 7" in reverted
    assert "NothingToClaim" in reverted
    assert "0x" + "01" * 32 in explain(NotMined(b"\x01" * 32, 120.0))


def test_nothing_of_python_is_shown_to_people() -> None:
    class Play(Action, frozen=True, tag="Play"):
        card: int

    error = UnexpectedAction("bob", ("Draw", "Pass"), Play("bob", 3))
    assert explain(error) == (
        "The counterparty is at fault: a client has done something else than what was its turn to do "
        "(UnexpectedAction: client id bob, expected Draw, Pass, action of the kind Play).\nNothing was changed."
    )
    assert describe(TurnNumberNotConsecutive(4, 7)).endswith("(TurnNumberNotConsecutive: from 4, to 7)")
    assert describe(MalformedPosition(2, 512)).startswith("word 2 of the position holds a value that it cannot have")
    assert describe(AppError()) == "a rule of an app forbids it (AppError)"


def test_what_a_game_refuses_is_told_in_a_whole_clause() -> None:
    for game in installed_games().games:
        for error in game.errors.values():
            said = describe(error(*(7 for _ in dataclasses.fields(error))))
            assert said.count("(") == said.count(")"), said


def test_an_address_is_shown_with_its_checksum() -> None:
    assert "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" in explain(NoContract("TicTacToe", ADDRESS))


@pytest.mark.parametrize(
    "error",
    [
        MalformedBytes("state", "it ends inside appData"),
        InvalidValue("stake", -1, "an integer"),
        AppError(),
        MessageRefused(NothingToClaim(ADDRESS, bytes(20)), b"evidence"),
        LocalError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_family_has_words(error: ForcemoveError) -> None:
    assert explain(error)


def test_an_unknown_version_says_who_must_update() -> None:
    newer, older = explain(UnknownVersion("message", 2, 1)), explain(UnknownVersion("key file", 1, 3))
    assert newer.startswith("The message is of version 2; this program knows version 1.\nUpdate this program")
    assert older.startswith("The key file is of version 1, which is older than this program's, 3.\nThe program that")


@pytest.mark.parametrize(
    ("reason", "then"),
    [
        ("expired", "Nothing was changed on your side. Set this machine's clock."),
        (
            "unknown-offer",
            "Nothing was changed on your side. It was taken back, or is over, or was played already. `forcemove lobby` "
            "shows the open games.",
        ),
        ("offer-taken", "Nothing was changed on your side. `forcemove lobby` shows the open games."),
        ("busy", "Nothing was changed on your side."),
    ],
)
def test_a_refusal_of_a_relay_says_what_helps_against_it(reason: str, then: str) -> None:
    assert explain(refusal(bytes(32), reason, "so")) == f"The relay refused: so ({reason}).\n{then}"


@pytest.mark.parametrize(
    ("error", "then"),
    [
        (Unreachable("https://node.example", "no answer"), "The node may be down, or the address mistyped."),
        (WrongChain("https://node.example", 10, 1), ""),
        (OfferOver(bytes(32)), "Nothing was signed."),
        (ChallengeTooShort(60, 89), "At least 89 seconds are needed."),
        (
            refusal(bytes(32), "unknown-offer", "so"),
            "Nothing was changed on your side. It was taken back, or is over, or was played already.",
        ),
    ],
)
def test_a_page_in_a_browser_advises_nothing_that_is_typed_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, error: ForcemoveError, then: str
) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    what, _, advice = explain(error).partition("\n")
    assert what.endswith(".")
    assert advice == then


_FAMILIES = ("forcemove.errors", "forcemove.protocol.rule_errors", "forcemove.flow.", "forcemove.game")
"""Modules whose errors are families, or are told by their family, their name and their values."""


def _named_errors() -> set[str]:
    """The errors of all modules but these, by their names."""
    names = (each.name for each in walk_packages(forcemove_package.__path__, "forcemove."))
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    return {
        found.__name__
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, ForcemoveError)
        and found.__module__ == module.__name__
        and not module.__name__.startswith(_FAMILIES)
    }


def _told_by_screens() -> set[str]:
    """The classes that the command line and the page have cases for."""
    files = [file for room in ("cli", "browser") for file in (ROOT / "channel" / "forcemove" / room).rglob("*.py")]
    cases = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    return {node.cls.id for node in cases if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)}


# What a user of these commands cannot meet, or that needs no more than its family says.
_FAMILY_IS_ENOUGH = {
    "InspectionError",
    "PageRequestRefused",
    "AlreadySigned",
    "ChannelIdUsed",
    "MessageRefused",
    "OpeningMismatch",
    "SignatureMissing",
    "StateConflict",
    "CannotTravel",
    "ContractNamedTwice",
    "LeaseNotHeld",
    "TransportClosed",
    "TransportError",
    "LogBegins",
    "StillReading",
    "NotInOutbox",
    "NonceTaken",
    "NotInFlight",
    "Panicked",
    "RevertedWithText",
    "UnknownRevert",
}


def test_every_error_has_its_own_words() -> None:
    named = _named_errors()

    assert named - set(EXPLANATIONS) - _told_by_screens() == _FAMILY_IS_ENOUGH
    assert set(EXPLANATIONS) <= named


@pytest.mark.parametrize("name", sorted(ADJUDICATOR_ERRORS))
def test_every_refusal_of_the_adjudicator_is_told(name: str) -> None:
    error = ADJUDICATOR_ERRORS[name]
    facts = [bytes(20) if field.type == "bytes" else 1 for field in dataclasses.fields(error)]

    assert name in explain(error(*facts))
