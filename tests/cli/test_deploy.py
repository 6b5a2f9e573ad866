"""`forcemove deploy` and `forcemove verify` against a real node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from channel.chain.deployment import contracts_to_deploy
from channel.chain.local import AnvilChain, local_keys
from channel.node.keys import write_key_file
from tests.cli.command import Command
from tests.protocol.builders import MALLORY

OPEN = "open sesame"


@pytest.fixture(autouse=True)
def _key_file(forcemove: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", OPEN)
    write_key_file(Path("a.key"), local_keys()[3], OPEN, scrypt_work=2**4)


@pytest.fixture(scope="module")
def mainnet() -> Iterator[AnvilChain]:
    """A chain that says that it is Ethereum's main network."""
    with AnvilChain("--chain-id", "1") as chain:
        yield chain


def test_a_deployment_is_written_down_and_verified(forcemove: Command, anvil: AnvilChain) -> None:
    deployed = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--json")
    verified = forcemove("verify", "--chain", anvil.endpoint, "--json")

    book = json.loads(Path("forcemove-31337.json").read_text())
    assert (deployed.code, json.loads(deployed.out)) == (0, book)
    assert set(book["contracts"]) == set(contracts_to_deploy())
    assert Path(book["standardJson"]).is_file()
    assert verified.code == 0
    assert json.loads(verified.out)["genuine"] is True


def test_people_are_told_what_stands_where(forcemove: Command, anvil: AnvilChain) -> None:
    said = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")

    for contract in contracts_to_deploy():
        assert contract in said.out
        assert f"{contract}: deployed" in said.err
    assert "book.json" in said.out
    again = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
    assert (again.code, again.out) == (0, said.out)
    verified = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json")
    assert "Everything stands as it should." in verified.out


def test_a_different_contract_fails_the_verification(forcemove: Command, anvil: AnvilChain) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
    book = json.loads(Path("book.json").read_text())
    book["contracts"]["Adjudicator"]["address"] = book["contracts"]["TicTacToe"]["address"]
    Path("book.json").write_text(json.dumps(book))

    said = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json")

    assert said.code == 1
    assert "Adjudicator: different" in said.out


def test_an_unfinished_deployment_fails_the_verification(forcemove: Command, anvil: AnvilChain) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
    book = json.loads(Path("book.json").read_text())
    del book["contracts"]["TicTacToe"]
    Path("book.json").write_text(json.dumps(book))

    said = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json")

    assert said.code == 1
    assert "TicTacToe: not deployed" in said.out


def test_the_main_network_wants_to_be_asked_for(forcemove: Command, mainnet: AnvilChain) -> None:
    refused = forcemove("deploy", "--chain", mainnet.endpoint, "--key", "a.key")

    assert refused.code == 1
    assert "--allow-mainnet" in refused.err
    assert mainnet.block_number() == 0
    assert forcemove("deploy", "--chain", mainnet.endpoint, "--key", "a.key", "--allow-mainnet").code == 0
    assert mainnet.block_number() == len(contracts_to_deploy())


def test_an_account_without_ether_is_told(forcemove: Command, anvil: AnvilChain) -> None:
    write_key_file(Path("poor.key"), MALLORY, OPEN, scrypt_work=2**4)
    anvil.rpc.ask("anvil_setBalance", "0x" + MALLORY.address.hex(), "0x0")

    said = forcemove("deploy", "--chain", anvil.endpoint, "--key", "poor.key", "--out", "book.json")

    assert said.code == 1
    assert "cannot pay" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("deploy", "--chain", "http://127.0.0.1:1", "--key", "a.key"), "Nobody answers"),
        (("deploy", "--chain", "eth-tester", "--key", "a.key"), "ends with this command"),
        (("verify", "--chain", "ftp://nowhere"), "Nobody answers"),
        (("deploy", "--chain", "{anvil}", "--key", "none.key"), "There is no key file"),
        (("deploy", "--chain", "{anvil}", "--key", "bad.key"), "no usable key file"),
        (("deploy", "--chain", "{anvil}", "--key", "a.key", "--out", "none/book.json"), "cannot be written"),
        (("deploy", "--chain", "{anvil}", "--key", "a.key", "--out", "bad.key"), "not a well-formed address book"),
        (("verify", "--chain", "{anvil}"), "There is no address book"),
        (("verify", "--chain", "{anvil}", "--book", "bad.key"), "not a well-formed address book"),
        (("verify", "--chain", "{anvil}", "--book", "book-of-5.json"), "is of chain 5"),
    ],
)
def test_bad_input_is_told(forcemove: Command, anvil: AnvilChain, arguments: tuple[str, ...], words: str) -> None:
    Path("bad.key").write_text("{")
    Path("book-of-5.json").write_text(json.dumps(_EMPTY_BOOK | {"chainId": 5}))

    said = forcemove(*(argument.replace("{anvil}", anvil.endpoint) for argument in arguments))

    assert (said.code, said.out) == (1, "")
    assert words in said.err


def test_a_wrong_passphrase_is_told(forcemove: Command, anvil: AnvilChain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", "wrong")

    said = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key")

    assert said.code == 1
    assert "passphrase does not open" in said.err


_EMPTY_BOOK = {
    "format": "forcemove-address-book/1",
    "chainId": 31_337,
    "deploymentBlock": 0,
    "contracts": {},
    "pending": None,
    "compiler": {"version": "0.8.37", "settings": {}},
    "sourceHash": "0x" + "00" * 32,
    "standardJson": "a.json",
}
