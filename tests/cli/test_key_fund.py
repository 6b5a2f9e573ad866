"""`forcemove key fund`: ether on development chains, and on no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.addresses import show_address
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import AnvilChain, EmbeddedChain
from forcemove.cli.errors import Explained
from forcemove.cli.funding import NotADevelopmentChain, fund, require_development_chain
from forcemove.keys.key_files import write_key_file
from tests.cli.command import Command
from tests.protocol.builders import ALICE

SHOWN = show_address(ALICE.address)
WELL_KNOWN = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


@pytest.fixture
def key_file(forcemove: Command, tmp_path: Path) -> str:  # in its folder
    write_key_file(tmp_path / "alice.json", ALICE, "open sesame", scrypt_work=2**4)
    return "alice.json"


@pytest.fixture
def anvil(request: pytest.FixtureRequest) -> Iterator[AnvilChain]:
    with AnvilChain(*getattr(request, "param", ())) as chain:
        yield chain


def test_an_unlocked_account_gives_ether(forcemove: Command, anvil: AnvilChain, key_file: str) -> None:
    said = forcemove("key", "fund", key_file, "--chain", anvil.endpoint)

    assert (said.code, said.err) == (0, "")
    first, before, now = said.out.splitlines()
    assert first == f"{SHOWN}  alice.json"
    assert before == "before      0 ether"
    assert now.startswith("now         10 ether, from 0x")
    assert now.endswith(", which the node holds unlocked")
    assert anvil.balance(ALICE.address) == 10 * 10**18


def test_programs_are_told_exactly(forcemove: Command, anvil: AnvilChain, key_file: str) -> None:
    forcemove("key", "fund", key_file, "--chain", anvil.endpoint, "--amount", "1")
    said = forcemove("key", "fund", key_file, "--chain", anvil.endpoint, "--amount", "2 ether", "--json")

    assert json.loads(said.out) == {
        "address": SHOWN,
        "file": key_file,
        "before": "1",
        "after": "2000000000000000001",
    }


class Dumb:
    """A node that knows fewer requests than it does: `without` them."""

    def __init__(self, chain: Any, *without: str, **answers: object) -> None:
        self._ask, self._without, self._answers = chain.rpc.ask, without, answers

    def __call__(self, method: str, *params: Any) -> Any:
        if method in self._without:
            raise EndpointFailed(method, "the method does not exist")
        return self._answers.get(method) or self._ask(method, *params)


def test_the_account_that_everybody_knows_gives_it_where_none_is_unlocked(
    anvil: AnvilChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anvil.rpc, "ask", Dumb(anvil, "eth_accounts"))

    funded = fund(anvil, ALICE.address, 10**18)

    assert (funded.before, funded.after) == (0, 10**18)
    assert funded.giver == f"{WELL_KNOWN}, whose key everybody knows"


@pytest.mark.parametrize("anvil", [("--balance", "1")], indirect=True)
def test_the_node_sets_the_balance_where_nobody_has_so_much(anvil: AnvilChain) -> None:
    funded = fund(anvil, ALICE.address, 10**24)

    assert funded.after == 10**24
    assert funded.giver == "the node itself (anvil_setBalance)"


@pytest.mark.parametrize("anvil", [("--balance", "1")], indirect=True)
def test_where_nobody_can_give_so_much_that_is_said(anvil: AnvilChain, monkeypatch: pytest.MonkeyPatch) -> None:
    setters = ("anvil_setBalance", "hardhat_setBalance", "evm_setAccountBalance")
    monkeypatch.setattr(anvil.rpc, "ask", Dumb(anvil, *setters))

    with pytest.raises(Explained, match="No account of this chain has 1000000 ether to give"):
        fund(anvil, ALICE.address, 10**24)
    assert anvil.balance(ALICE.address) == 0


@pytest.mark.parametrize("anvil", [("--chain-id", id_) for id_ in ("1", "5", "10", "11155111")], indirect=True)
def test_a_chain_with_another_id_is_refused_whatever_its_node_says(
    forcemove: Command, anvil: AnvilChain, key_file: str
) -> None:
    """Also a copy of the main network that a development node serves."""
    said = forcemove("key", "fund", key_file, "--chain", anvil.endpoint, code=1)

    assert "This is not a development chain: its id is" in said.err
    assert "Nothing was sent" in said.err
    assert anvil.balance(ALICE.address) == 0


@pytest.mark.parametrize("version", ["Geth/v1.14", "erigon/3", "Nethermind/v1", "not anvil/1", ""])
def test_a_node_that_is_none_for_development_is_refused_whatever_its_chains_id(
    anvil: AnvilChain, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(anvil.rpc, "ask", Dumb(anvil, web3_clientVersion=version or "-"))

    with pytest.raises(NotADevelopmentChain):
        fund(anvil, ALICE.address, 10**18)
    assert anvil.balance(ALICE.address) == 0


@pytest.mark.parametrize("anvil", [("--chain-id", "1337")], indirect=True)
@pytest.mark.parametrize("version", ["Geth/v1.14", "HardhatNetwork/2.22", "Ganache/v7", "EthereumJS TestRPC/v2"])
def test_development_nodes_are_known_by_what_they_are(
    anvil: AnvilChain, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(anvil.rpc, "ask", Dumb(anvil, web3_clientVersion=version))

    assert require_development_chain(anvil) == version


def test_a_chain_in_this_process_is_none() -> None:
    with pytest.raises(NotADevelopmentChain):
        fund(EmbeddedChain(), ALICE.address, 1)


def test_a_node_that_is_away_is_told(forcemove: Command, key_file: str) -> None:
    said = forcemove("key", "fund", key_file, "--chain", "http://127.0.0.1:9", code=1)

    assert "127.0.0.1:9" in said.err


def test_a_file_that_is_no_key_file_is_refused_before_anybody_is_asked(forcemove: Command, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")

    said = forcemove("key", "fund", "no.json", "--chain", "http://127.0.0.1:9", code=1)

    assert "127.0.0.1:9" not in said.err
