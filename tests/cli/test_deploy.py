"""`forcemove deploy` and `forcemove verify` against a real node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.chain.addresses import show_address
from forcemove.chain.create2 import CUSTOMARY_FACTORY, SALT
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.keys.key_files import write_key_file
from scripts.measuring.bench import chain_of_fork
from tests.chain.nodes import forgets, node_before, wants_replay_protection
from tests.cli.command import Command
from tests.installed import CONTRACTS
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
    assert set(book["contracts"]) == set(CONTRACTS)
    assert all(Path(entry["standardJson"]).is_file() for entry in book["contracts"].values())
    assert verified.code == 0
    content = json.loads(verified.out)
    assert (content["genuine"], content["factory"]) == (True, book["factory"])
    for found in content["contracts"]:
        address = book["contracts"][found["contract"]]["address"]
        assert (found["address"], found["derivedAddress"], found["hasCode"]) == (address, address, True)


def test_people_are_told_what_stands_where(forcemove: Command) -> None:
    with AnvilChain("--disable-default-create2-deployer") as anvil:
        said = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")

        assert f"CREATE2 factory: deployed, at {show_address(CUSTOMARY_FACTORY)}" in said.err
        assert show_address(CUSTOMARY_FACTORY) in said.out
        for contract in CONTRACTS:
            assert contract in said.out
            assert f"{contract}: deployed" in said.err
        assert "book.json" in said.out
        again = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
        assert (again.code, again.out) == (0, said.out)
        assert "Adjudicator: already there, at" in again.err
        verified = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json")
        assert "The deployment is genuine." in verified.out
        assert verified.out.count("where there is code") == len(CONTRACTS)


@pytest.mark.parametrize("fork", ["osaka", "amsterdam"])
def test_a_deployment_is_made_and_verified_under_each_fork(forcemove: Command, fork: str) -> None:
    """Under Amsterdam the adjudicator takes more gas than one transaction may have today."""
    with chain_of_fork(fork) as chain:
        assert forcemove("deploy", "--chain", chain.endpoint, "--key", "a.key", "--out", "book.json").code == 0
        asked = ("verify", "--chain", chain.endpoint, "--book", "book.json")
        said, content = forcemove(*asked), json.loads(forcemove(*asked, "--json").out)
    assert f"Gas costs what it does under {fork.capitalize()}: a small challenge takes about" in said.out
    assert (said.code, content["fork"]) == (0, fork.capitalize())


def test_what_somebody_else_has_deployed_is_told_with_its_block(forcemove: Command, anvil: AnvilChain) -> None:
    first = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "a.json", "--json")
    said = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "b.json", "--json")

    assert "Adjudicator: already there, deployed by somebody, at" in said.err
    block = json.loads(said.out)["contracts"]["Adjudicator"]["block"]
    assert f"since block {block}" in said.err
    assert json.loads(said.out)["deploymentBlock"] == json.loads(first.out)["deploymentBlock"]


def test_a_node_that_keeps_no_old_states_is_told(forcemove: Command, anvil: AnvilChain) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "a.json")
    anvil.rpc.ask("evm_mine")
    with node_before(anvil, forgets(anvil.block_number(), admits_it=True)) as node:
        said = forcemove("deploy", "--chain", node.endpoint, "--key", "a.key", "--out", "b.json")

    assert said.code == 0
    assert "the node keeps no old states" in said.err
    assert "from block 0 on" in said.err


def test_the_other_commands_take_the_factory_from_the_book(forcemove: Command) -> None:
    """A node that refuses the customary factory's transaction, and a factory of our own."""
    with AnvilChain("--disable-default-create2-deployer") as anvil, node_before(anvil, wants_replay_protection) as node:
        deployed = forcemove("deploy", "--chain", node.endpoint, "--key", "a.key", "--json")
        assert json.loads(deployed.out)["factory"] != show_address(CUSTOMARY_FACTORY)
        assert forcemove("verify", "--chain", node.endpoint).code == 0
        played = forcemove("demo", "--chain", node.endpoint, "--key", "a.key", "--json", *_ONE_STORY, "--save", ".")
        (story,) = json.loads(played.out)["scenarios"]
        assert (played.code, story["balancesAsExpected"], story["asExpected"]) == (0, True, True)

        state = next(map(str, Path().glob("tic-tac-toe-*-turn-5.json")))
        found = forcemove("inspect", story["channelId"], "--chain", node.endpoint, "--json")
        assert json.loads(found.out)["closed"]
        found = forcemove("inspect", state, "--chain", node.endpoint, "--json")
        assert json.loads(found.out)["app"]["knownBy"] == "code"
        Path("forcemove-31337.json").unlink()
        refused = forcemove("inspect", state, "--chain", node.endpoint)
        assert "address book that names the factory" in refused.err


_ONE_STORY = ("--game", "tic-tac-toe", "--scenario", "honest")


def test_what_is_not_deep_enough_fails_the_verification(forcemove: Command, anvil: AnvilChain) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")

    said = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json", "--confirmations", "1000000", code=1)

    assert "Adjudicator: not deep enough yet" in said.out


def test_a_chain_that_began_anew_fails_the_verification(forcemove: Command, anvil: AnvilChain) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
    with AnvilChain() as fresh:
        said = forcemove("verify", "--chain", fresh.endpoint, "--book", "book.json")

    assert said.code == 1
    assert "Adjudicator: missing; its address is" in said.out
    assert said.out.count("where there is no code") == len(CONTRACTS)


def test_a_different_contract_fails_the_verification(forcemove: Command, anvil: AnvilChain) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
    book = json.loads(Path("book.json").read_text())
    book["contracts"]["Adjudicator"]["address"] = book["contracts"]["TicTacToe"]["address"]
    Path("book.json").write_text(json.dumps(book))

    said = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json", code=1)

    assert "Adjudicator: different" in said.out
    assert f"the book says {book['contracts']['TicTacToe']['address']}, which is another contract" in said.out


@pytest.mark.parametrize("contract", CONTRACTS)
def test_only_a_deployment_without_its_adjudicator_fails_the_verification(
    forcemove: Command, anvil: AnvilChain, contract: str
) -> None:
    forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--out", "book.json")
    book = json.loads(Path("book.json").read_text())
    del book["contracts"][contract]
    book["deploymentBlock"] = min(entry["block"] for entry in book["contracts"].values())
    Path("book.json").write_text(json.dumps(book))

    said = forcemove("verify", "--chain", anvil.endpoint, "--book", "book.json")

    assert said.code == (1 if contract == "Adjudicator" else 0)
    assert f"{contract}: not deployed" in said.out


def test_the_main_network_wants_to_be_asked_for(forcemove: Command, mainnet: AnvilChain) -> None:
    refused = forcemove("deploy", "--chain", mainnet.endpoint, "--key", "a.key", code=1)

    assert "--allow-mainnet" in refused.err
    assert mainnet.block_number() == 0
    assert forcemove("deploy", "--chain", mainnet.endpoint, "--key", "a.key", "--allow-mainnet").code == 0
    assert mainnet.block_number() == len(CONTRACTS)


def test_an_account_without_ether_is_told(forcemove: Command) -> None:
    write_key_file(Path("poor.key"), MALLORY, OPEN, scrypt_work=2**4)
    with AnvilChain() as anvil:
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
        (("deploy", "--chain", "{anvil}", "--key", "bad.key"), "not a usable key file"),
        (("deploy", "--chain", "{anvil}", "--key", "a.key", "--out", "none/book.json"), "cannot be written"),
        (("deploy", "--chain", "{anvil}", "--key", "a.key", "--out", "bad.key"), "not a well-formed address book"),
        (("verify", "--chain", "{anvil}"), "There is no address book"),
        (("verify", "--chain", "{anvil}", "--book", "bad.key"), "not a well-formed address book"),
        (("verify", "--chain", "{anvil}", "--book", "book-of-5.json"), "not of chain 5"),
        (("verify", "--chain", "{anvil}", "--book", "old.json"), "an older version of Forcemove"),
        (("deploy", "--chain", "{anvil}", "--key", "a.key", "--out", "old.json"), "The old contracts stay where they"),
        (("verify", "--chain", "{anvil}", "--book", "new.json"), "Update Forcemove"),
    ],
)
def test_bad_input_is_told(forcemove: Command, anvil: AnvilChain, arguments: tuple[str, ...], words: str) -> None:
    Path("bad.key").write_text("{")
    Path("book-of-5.json").write_text(json.dumps(_EMPTY_BOOK | {"chainId": "5"}))
    Path("old.json").write_text(json.dumps(_EMPTY_BOOK | {"format": "forcemove-address-book/1"}))
    Path("new.json").write_text(json.dumps(_EMPTY_BOOK | {"format": "forcemove-address-book/3"}))

    said = forcemove(*(argument.replace("{anvil}", anvil.endpoint) for argument in arguments))

    assert (said.code, said.out) == (1, "")
    assert words in said.err


def test_a_wrong_passphrase_is_told(forcemove: Command, anvil: AnvilChain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", "wrong")

    said = forcemove("deploy", "--chain", anvil.endpoint, "--key", "a.key", code=1)

    assert "passphrase does not open" in said.err


_EMPTY_BOOK = {
    "format": "forcemove-address-book/2",
    "chainId": "31337",
    "factory": show_address(CUSTOMARY_FACTORY),
    "salt": "0x" + SALT.hex(),
    "deploymentBlock": 0,
    "contracts": {},
    "pending": None,
    "compiler": {"version": "0.8.37", "settings": {}},
}
