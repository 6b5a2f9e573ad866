"""A command with `--json` that fails: one JSON error on standard output, the same words and exit code as without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import click
import pytest

from forcemove.chain.errors import NotMined, TransactionReverted, Unreachable
from forcemove.cli.errors import Explained, run
from forcemove.cli.json_output import detail_json, error_json, wants_json
from forcemove.cli.main import forcemove as group
from forcemove.protocol.rule_errors import NothingToClaim
from tests.cli.command import Command, Said
from tests.cli.test_main import raising

ADDRESS = bytes.fromhex("5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
SHOWN = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
PATH_SECRET, USER_SECRET, KEY_SECRET = "PathSecret77", "UserSecret88", "KeySecret99"
ENDPOINT = f"http://me:{USER_SECRET}@127.0.0.1:1/v3/{PATH_SECRET}"


def with_json(command: click.Command, path: str = "") -> Iterator[str]:
    """The names of the commands that have `--json`."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from with_json(found, f"{path} {name}".strip())
    elif any("--json" in each.opts for each in command.params):
        yield path


COMMANDS = list(with_json(group))
WAYS = {
    "demo": ("--game", "chess"),
    "deploy": ("--chain", ENDPOINT, "--key", "none.json"),
    "verify": ("--chain", ENDPOINT),
    "key fund": ("none.json", "--chain", ENDPOINT),
    "key import": ("new.json",),
    "key new": ("there.json",),
    "key show": ("none.json",),
    "lobby": ("--relay", "nowhere"),
    "relay": ("--tls-cert", "there.json"),
    "watch": ("--chain", ENDPOINT, "--key", "none.json", "--for", SHOWN, "--for", SHOWN),
    "channel history": ("0x1234", "--store", "none.db"),
    "channel list": ("--store", "none.db"),
    "channel prune": ("--store", "none.db"),
    "channel show": ("0x1234", "--store", "none.db"),
    "channel verify": ("0x1234", "--store", "none.db"),
    "inspect": ("none.json",),
}
"""The cheapest way in which each fails once its options were understood."""


def said_error(said: Said) -> Any:
    """The error, which is all that standard output has."""
    content = json.loads(said.out)
    assert said.err.strip()
    first = content["error"]["message"].splitlines()[0]
    assert "".join(first.split()) in "".join(said.err.split())
    return content["error"]


def test_each_command_with_json_has_a_way_to_fail() -> None:
    assert set(COMMANDS) == set(WAYS)


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_usage_is_a_json_error(forcemove: Command, command: str) -> None:
    said = forcemove(*command.split(), "--json", "--no-such-option")

    assert (said.code, said_error(said)["type"]) == (2, "NoSuchOption")
    assert "--no-such-option" in said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_failure_is_one_json_error_beside_the_same_words(
    forcemove: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("FORCEMOVE_PRIVATE_KEY", KEY_SECRET)
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", KEY_SECRET)
    Path("there.json").write_text("{}", "utf-8")

    words = forcemove(*command.split(), *WAYS[command])
    said = forcemove(*command.split(), *WAYS[command], "--json")

    error = said_error(said)
    assert words.code in (1, 2)
    assert (said.code, said.err, words.out) == (words.code, words.err, "")
    assert set(error) == {"type", "message", "details"}
    assert not [secret for secret in (PATH_SECRET, USER_SECRET, KEY_SECRET) if secret in said.out + said.err]


def test_the_error_of_a_missing_key_file_names_it(forcemove: Command) -> None:
    error = said_error(forcemove("key", "show", "none.json", "--json"))

    assert (error["type"], error["details"]) == ("KeyFileMissing", {"path": "none.json"})


def test_without_json_and_for_help_there_is_no_json_error(forcemove: Command) -> None:
    assert forcemove("inspect", "--json", "--help").out.startswith("Usage:")
    assert forcemove("play", "--json").out == ""
    assert forcemove("chess", "--json").out == ""


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--debug key show none.json --json", True),
        ("channel --json", False),
        ("lobby --relay nowhere -- --json", False),
        ("demo --json", False),  # it has the error within its results
        ("play --json", False),
    ],
)
def test_json_is_wanted_where_the_command_takes_it(arguments: str, wanted: bool) -> None:
    assert wants_json(group, arguments.split()) is wanted


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (Explained("What happened.", "What to do.", needed=1 << 60), 1),
        (Unreachable("http://127.0.0.1:1", "refused"), 1),
        (OSError("without a number"), 1),
        (ZeroDivisionError("our own mistake"), 1),
    ],
    ids=repr,
)
def test_whatever_ends_a_command_is_a_json_error(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int
) -> None:
    assert run(raising(error), lambda: True) == code

    assert said_error(Said(code, *capsys.readouterr()))["type"] == type(error).__name__


# ------------------------------------------------------------------------------------------------------------- details


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, None),
        (True, True),
        (7, "7"),
        (-(1 << 60), str(-(1 << 60))),
        (0.5, 0.5),
        (float("inf"), None),
        (b"\x01\xff", "0x01ff"),
        (b"", "0x"),
        (ADDRESS, SHOWN),
        (Colour.RED, "red"),
        (Path("a.json"), "a.json"),
        ((1, b"\x01"), ["1", "0x01"]),
        ({"seen": (1 << 60,)}, {"seen": [str(1 << 60)]}),
        (object, "of the kind type"),
    ],
    ids=repr,
)
def test_a_detail_has_the_form_of_the_other_documents(value: object, encoded: object) -> None:
    assert detail_json(value) == encoded


def test_fields_are_in_camel_case_and_errors_inside_are_objects() -> None:
    inside = NothingToClaim(ADDRESS, bytes(20))

    details = error_json(TransactionReverted(b"\x01" * 32, 7, 21_000, inside), "").details

    assert (details["transactionHash"], details["blockNumber"]) == ("0x" + "01" * 32, "7")
    assert (details["reason"]["type"], details["reason"]["details"]["account"]) == ("NothingToClaim", SHOWN)


def test_an_error_that_explains_another_has_its_type_and_details() -> None:
    explained = Explained("What happened.")
    explained.__cause__ = NotMined(b"\x01" * 32, 120.0)

    error = error_json(explained, "What happened.")

    assert (error.type, error.details["seconds"]) == ("NotMined", 120.0)


def test_a_url_in_a_detail_keeps_its_secrets() -> None:
    shown = detail_json((ENDPOINT, f"refused by {ENDPOINT} and wss://b.example/{PATH_SECRET}?key=1"))

    assert shown == ["http://127.0.0.1:1", "refused by http://127.0.0.1:1 and wss://b.example"]
