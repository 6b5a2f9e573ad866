"""`forcemove key`: made, imported, shown; never overwritten, never printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forcemove.chain.addresses import show_address
from forcemove.keys.key_files import read_key_file, write_key_file
from tests.cli.command import Command
from tests.protocol.builders import ALICE

OPEN = "open sesame"
SHOWN = show_address(ALICE.address)


@pytest.fixture(autouse=True)
def _passphrase(forcemove: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", OPEN)


def test_a_new_key_is_written_and_shown(forcemove: Command) -> None:
    made = forcemove("key", "new", "a.key")
    shown = forcemove("key", "show", "a.key", "--json")

    address = show_address(read_key_file(Path("a.key"), OPEN).address)
    assert (made.code, made.out) == (0, f"{address}  a.key\n")
    assert json.loads(shown.out) == {"address": address, "file": "a.key"}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guess at the passphrase costs a moment, and not a second."""
    monkeypatch.setattr(write_key_file, "__kwdefaults__", {"scrypt_work": 2**4})


@pytest.mark.usefixtures("quick")
def test_a_key_is_imported_from_the_environment(forcemove: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PRIVATE_KEY", "0x" + ALICE.secret.hex())

    said = forcemove("key", "import", "a.key", "--json")

    assert json.loads(said.out) == {"address": SHOWN, "file": "a.key"}
    assert read_key_file(Path("a.key"), OPEN).secret == ALICE.secret
    assert ALICE.secret.hex() not in said.out + said.err


@pytest.mark.usefixtures("quick")
def test_a_file_that_names_no_address_is_opened_to_show_it(forcemove: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    write_key_file(Path("a.key"), ALICE, OPEN)
    Path("a.key").write_text(json.dumps(json.loads(Path("a.key").read_text()) | {"address": None}))

    assert forcemove("key", "show", "a.key").out == f"{SHOWN}  a.key\n"
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", "another")
    said = forcemove("key", "show", "a.key")
    assert (said.code, said.out) == (1, "")
    assert "passphrase" in said.err


@pytest.mark.usefixtures("quick")
def test_a_key_is_imported_from_standard_input(
    forcemove: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(ALICE.secret.hex() + "\n")
    with (tmp_path / "secret").open() as piped:
        monkeypatch.setattr("sys.stdin", piped)

        said = forcemove("key", "import", "a.key")

    assert said.out == f"{SHOWN}  a.key\n"


def test_no_option_takes_a_secret(forcemove: Command) -> None:
    for command in ("new", "import", "show"):
        assert forcemove("key", command, "a.key", ALICE.secret.hex()).code == 2
        for option in ("--passphrase", "--private-key", "--password"):
            assert forcemove("key", command, "a.key", option, "x").code == 2


@pytest.mark.parametrize("command", ["new", "import"])
def test_a_key_is_never_overwritten(forcemove: Command, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PRIVATE_KEY", ALICE.secret.hex())
    Path("a.key").write_text("precious")

    said = forcemove("key", command, "a.key", code=1)

    assert "never overwritten" in said.err
    assert Path("a.key").read_text() == "precious"


def test_without_anybody_to_ask_the_environment_is_named(forcemove: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCEMOVE_PASSPHRASE")

    said = forcemove("key", "new", "a.key", code=1)

    assert "FORCEMOVE_PASSPHRASE" in said.err
    assert not Path("a.key").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "There is no key file"), ("{}", "not a usable key file"), ("hello", "not a usable key file")],
)
def test_a_bad_file_is_told(forcemove: Command, content: str | None, words: str) -> None:
    if content is not None:
        Path("a.key").write_text(content)

    said = forcemove("key", "show", "a.key")

    assert (said.code, said.out) == (1, "")
    assert words in said.err


@pytest.mark.parametrize("text", ["", "0x12", "hello"])
def test_what_is_no_private_key_is_told(forcemove: Command, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("FORCEMOVE_PRIVATE_KEY", text)

    said = forcemove("key", "import", "a.key", code=1)

    assert "64 hex digits" in said.err
    assert not Path("a.key").exists()


def test_an_empty_passphrase_is_refused(forcemove: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", "")

    assert forcemove("key", "new", "a.key").code == 1
    assert not Path("a.key").exists()
