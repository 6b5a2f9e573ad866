"""The frame of the command line: help, exit codes, errors in words, and a start that imports little."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import forcemove.chain.book
import forcemove.chain.deployment
import forcemove.chain.errors
import forcemove.contracts
import forcemove.contracts.compiler
import forcemove.contracts.project
import forcemove.follower.errors
import forcemove.inspect.journal_channel
import forcemove.node.errors
import forcemove.node.keys
import forcemove.node.policy
import forcemove.protocol.errors
import forcemove.relay.errors
import forcemove.scaffold.scaffold
import forcemove.sender.errors
import forcemove.serving.errors
import forcemove.store.errors
import forcemove.tables.errors
import forcemove.transport.errors
import forcemove.watchtower.client_errors
import forcemove.watchtower.errors
from forcemove.chain.errors import NotMined, TransactionReverted, Unreachable
from forcemove.cli.errors import Explained, MainnetRefused, run
from forcemove.errors import (
    AppError,
    ForcemoveError,
    InvalidValue,
    LocalError,
    MalformedBytes,
    UnknownVersion,
)
from forcemove.flow.actions import Action
from forcemove.flow.steps import UnexpectedAction
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS, NothingToClaim, TurnNumberNotConsecutive
from forcemove.text.explanations import EXPLANATIONS, describe, explain
from forcemove_games.two_player import MalformedPosition
from tests.cli.command import Command

ROOT = Path(__file__).parents[2]
ADDRESS = bytes.fromhex("5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")


def test_help_names_every_command(forcemove: Command) -> None:
    said = forcemove("--help")

    assert said.code == 0
    for command in ("demo", "deploy", "verify", "key", "inspect"):
        assert f"\n  {command} " in said.out


@pytest.mark.parametrize("command", ["deploy", "verify", "key", "key new", "key import", "key show"])
def test_each_command_has_help(forcemove: Command, command: str) -> None:
    said = forcemove(*command.split(), "--help")

    assert said.code == 0
    assert said.out.startswith(f"Usage: forcemove {command} ")


def test_the_version_is_told(forcemove: Command) -> None:
    said = forcemove("--version")

    assert (said.code, said.out.startswith("forcemove ")) == (0, True)


@pytest.mark.parametrize(
    "arguments", [(), ("chess",), ("--no-such-flag",), ("deploy",), ("verify", "more"), ("key", "show"), ("key",)]
)
def test_wrong_usage_exits_with_two(forcemove: Command, arguments: tuple[str, ...]) -> None:
    said = forcemove(*arguments)

    assert said.code == 2
    assert "Usage: forcemove" in said.err


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from forcemove.cli.main import forcemove\n"
        "forcemove.main(['--help'], standalone_mode=False)\n"
        "print(sorted({'web3', 'rich', 'eth_account', 'eth_keyfile', 'eth_tester', 'requests'} & set(sys.modules)))\n"
    )
    said = subprocess.run(  # noqa: S603  # this very interpreter
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert said.stdout.splitlines()[-1] == "[]"


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


def test_an_address_is_shown_with_its_checksum() -> None:
    assert "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" in explain(
        forcemove.chain.errors.NoContract("TicTacToe", ADDRESS)
    )


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


def _named_errors() -> list[type[ForcemoveError]]:
    modules = (
        forcemove.chain.errors,
        forcemove.chain.book,
        forcemove.chain.deployment,
        forcemove.follower.errors,
        forcemove.sender.errors,
        forcemove.inspect.journal_channel,
        forcemove.node.errors,
        forcemove.node.keys,
        forcemove.node.policy,
        forcemove.protocol.errors,
        forcemove.contracts,
        forcemove.contracts.compiler,
        forcemove.contracts.project,
        forcemove.scaffold.scaffold,
        forcemove.store.errors,
        forcemove.transport.errors,
        forcemove.relay.errors,
        forcemove.tables.errors,
        forcemove.tables.errors,
        forcemove.serving.errors,
        forcemove.watchtower.errors,
        forcemove.watchtower.client_errors,
    )
    return [
        found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, ForcemoveError) and found.__module__ == module.__name__
    ]


# What a user of these commands cannot meet, or that needs no more than its family says.
_FAMILY_IS_ENOUGH = {
    "AlreadySigned",
    "ChannelIdUsed",
    "FinalStateSigned",
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
    "NotInOutbox",
    "NonceTaken",
    "NotInFlight",
    "Panicked",
    "RevertedWithText",
    "UnknownRevert",
}


def test_the_errors_of_the_chain_and_of_keys_have_their_own_words() -> None:
    named = {error.__name__ for error in _named_errors()}

    assert named - set(EXPLANATIONS) == _FAMILY_IS_ENOUGH
    assert set(EXPLANATIONS) <= named


@pytest.mark.parametrize("name", sorted(ADJUDICATOR_ERRORS))
def test_every_refusal_of_the_adjudicator_is_told(name: str) -> None:
    import dataclasses

    error = ADJUDICATOR_ERRORS[name]
    facts = [bytes(20) if field.type == "bytes" else 1 for field in dataclasses.fields(error)]

    assert name in explain(error(*facts))
