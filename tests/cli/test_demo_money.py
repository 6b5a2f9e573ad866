"""What the demonstration needs and has: refused before anything is sent, told in the end, and in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.addresses import parse_address
from forcemove.chain.chain import Call
from forcemove.chain.create2 import PRESIGNED_COST
from forcemove.chain.local import LOCAL_BALANCE, AnvilChain, EmbeddedChain, local_keys
from forcemove.cli.parameters import AMOUNT
from forcemove.contracts import artifact, artifact_names
from forcemove.demo import environment
from forcemove.demo.environment import counterparty_key
from forcemove.keys.key_files import write_key_file
from forcemove.protocol.types import UINT256_MAX
from forcemove.text.amounts import exact_amount, format_amount
from tests.cli.command import Command, Said

PAYER, OTHER = local_keys()[0], counterparty_key(local_keys()[0])
ONE = ("--game", "tic-tac-toe", "--scenario", "honest")
MOST = (2**253 - 1) // 10


class Node:
    """A node that lives on, and the payer's key file."""

    def __init__(self, forcemove: Command, chain: AnvilChain) -> None:
        self.chain, self._forcemove = chain, forcemove

    def demo(self, *arguments: str) -> Said:
        return self._forcemove("demo", "--chain", self.chain.endpoint, "--key", "alice.json", *arguments)

    def give(self, account: bytes, balance: int) -> None:
        self.chain.rpc.ask("anvil_setBalance", "0x" + account.hex(), hex(balance))


@pytest.fixture
def node(forcemove: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", "long enough for a test")
    write_key_file(tmp_path / "alice.json", PAYER, "long enough for a test", scrypt_work=2**4)
    with AnvilChain() as chain:
        yield Node(forcemove, chain)


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("asset", ["ether", "token"])
@pytest.mark.parametrize(
    ("stake", "complaint"),
    [
        ("0", "A stake of 0 plays for nothing"),
        ("0 ether", "A stake of 0 plays for nothing"),
        (str(MOST + 1), "less than 2**253"),
        (str(2**253 + 1), "less than 2**253"),
        (str(UINT256_MAX // 5 + 1), "less than 2**253"),
        (str(UINT256_MAX), "less than 2**253"),
        (str(UINT256_MAX + 1), "more than any asset has"),
        ("1e100 ether", "more than any asset has"),
    ],
)
def test_a_stake_that_nobody_can_play_for_is_wrong_usage(
    forcemove: Command, asset: str, stake: str, complaint: str
) -> None:
    said = forcemove("demo", "--asset", asset, "--stake", stake, *ONE)

    assert said.code == 2
    assert complaint in said.err
    assert said.out == ""


def test_between_processes_a_stake_of_zero_is_wrong_usage_too(forcemove: Command) -> None:
    said = forcemove("demo", "--network", "--stake", "0", "--game", "tic-tac-toe", "--scenario", "honest")
    assert (said.code, "A stake of 0 plays for nothing" in said.err) == (2, True)


def test_the_highest_stake_of_a_token_can_be_played_for(forcemove: Command) -> None:
    said = forcemove("demo", "--asset", "token", "--stake", str(MOST), *ONE)

    assert said.code == 0
    assert forcemove("demo", "--asset", "token", "--stake", str(MOST)).code == 2, (
        "five scenarios need five times as much"
    )


def test_on_a_chain_of_its_own_the_accounts_are_the_limit(forcemove: Command) -> None:
    said = forcemove("demo", "--stake", f"{LOCAL_BALANCE // 5}", *ONE)

    assert said.code == 1
    assert "has 1000000 ether, and needs 1000000." in said.err
    assert "turn" not in said.out


def test_on_a_node_nothing_is_sent_before_the_payer_can_pay_it_all(node: Node, tmp_path: Path) -> None:
    node.give(PAYER.address, 10**18)

    said = node.demo("--stake", "0.3 ether", *ONE)

    assert said.code == 1
    assert "has 1 ether, and needs 3." in said.err
    assert node.chain.balance(PAYER.address) == 10**18
    assert node.chain.block_number() == 0
    assert not (tmp_path / "forcemove-31337.json").exists()


def test_exactly_enough_is_enough_and_a_wei_less_is_not(node: Node) -> None:
    node.give(PAYER.address, 0)
    refused = json.loads(node.demo("--json", *ONE).out)["error"]
    assert (refused["type"], refused["details"]["balance"]) == ("CannotPayIn", "0")

    node.give(PAYER.address, int(refused["details"]["needed"]) - 1)
    assert node.demo(*ONE).code == 1
    assert node.chain.block_number() == 0
    node.give(PAYER.address, int(refused["details"]["needed"]))
    assert node.demo(*ONE).code == 0


def test_a_node_without_a_factory_for_contracts_needs_more(node: Node, forcemove: Command) -> None:
    """The factory itself, and what nodes suggest to pay for gas behind it."""
    node.give(PAYER.address, 0)
    usual = json.loads(node.demo("--json", *ONE).out)["error"]["details"]["needed"]
    with AnvilChain("--disable-default-create2-deployer") as chain:
        bare = Node(forcemove, chain)
        bare.give(PAYER.address, 0)
        refused = bare.demo("--json", *ONE)
        needed = int(json.loads(refused.out)["error"]["details"]["needed"])
        assert needed > int(usual) + PRESIGNED_COST
        bare.give(PAYER.address, needed - 1)
        assert bare.demo(*ONE).code == 1
        assert chain.block_number() == 0
        bare.give(PAYER.address, needed)
        assert bare.demo(*ONE).code == 0


def test_the_payer_needs_both_players_deposits(node: Node) -> None:
    node.give(PAYER.address, 0)
    low, high = (
        int(json.loads(node.demo("--json", "--stake", stake, *ONE).out)["error"]["details"]["needed"])
        for stake in ("100", "300")
    )

    assert high - low == 2 * 5 * 200


def test_what_the_counterparty_has_already_counts(node: Node) -> None:
    node.give(PAYER.address, 0)
    needed = int(json.loads(node.demo("--json", *ONE).out)["error"]["details"]["needed"])
    node.give(OTHER.address, 10**14)

    again = node.demo("--json", *ONE)

    assert int(json.loads(again.out)["error"]["details"]["needed"]) == needed - 10**14


def test_a_token_on_a_node_wants_gas_but_no_deposits(node: Node) -> None:
    node.give(PAYER.address, 0)

    said = node.demo("--asset", "token", *ONE)

    assert said.code == 1
    needed = int(json.loads(node.demo("--asset", "token", "--json", *ONE).out)["error"]["details"]["needed"])
    node.give(PAYER.address, needed)
    assert node.demo("--asset", "token", *ONE).code == 0


def test_the_gas_for_a_deployment_is_more_than_it_takes() -> None:
    chain, key = EmbeddedChain(), local_keys()[0]
    for contract in map(artifact, (*artifact_names(), "DemoToken")):
        used = chain.send(Call(None, contract.bytecode), key).gas_used
        assert used <= environment._gas_to_deploy(contract) <= 1.3 * used


# ------------------------------------------------------------------------------------------------------------- results


def story_of(said: Said) -> Any:
    content = json.loads(said.out)
    assert content["error"] is None
    (story,) = content["scenarios"]
    return story


def test_a_chain_may_be_followed_through_several_nodes(node: Node) -> None:
    said = node.demo(*ONE, "--chain", node.chain.endpoint.replace("127.0.0.1", "localhost"))
    assert said.code == 0, said.err
    assert "ended with the balances that were expected" in said.out


def test_a_chain_of_our_own_has_no_other_nodes(forcemove: Command) -> None:
    said = forcemove("demo", *ONE, "--chain", "eth-tester", "--chain", "http://127.0.0.1:9")
    assert (said.code, "A chain of our own has no other nodes" in said.err) == (2, True)


@pytest.mark.parametrize("asset", ["ether", "token"])
def test_the_json_of_a_story_adds_up(forcemove: Command, asset: str) -> None:
    said = forcemove("demo", "--json", "--asset", asset, "--game", "tic-tac-toe", "--scenario", "stall")
    story = story_of(said)

    assert (said.code, said.err) == (0, "")
    assert (story["game"], story["scenario"], story["balancesAsExpected"], story["asExpected"]) == (
        "tic-tac-toe",
        "stall",
        True,
        True,
    )
    assert len(bytes.fromhex(story["channelId"][2:])) == 32
    assert (parse_address(story["asset"]) == bytes(20)) == (asset == "ether")
    assert story["stake"] == str(2 * 10**17)
    assert [each["operation"] for each in story["transactions"]] == ["deposit", "deposit", "challenge", "transfer"]
    assert sum(int(player["received"]) - int(player["deposit"]) for player in story["players"]) == 0
    for player in story["players"]:
        own = [each for each in story["transactions"] if each["from"] == player["address"]]
        gas = int(player["gasCost"]) if asset == "ether" else 0
        assert player["deposit"] == str(10**18)
        assert int(player["net"]) == int(player["received"]) - int(player["deposit"]) - gas
        assert player["gasUsed"] == sum(each["gasUsed"] for each in own)
        assert int(player["gasCost"]) == sum(int(each["gasCost"]) for each in own)
        assert player["balanceExpected"] == player["balanceFound"]


def test_transactions_beside_the_channels_are_in_the_json_too(node: Node) -> None:
    content = json.loads(node.demo("--json", "--asset", "token", *ONE).out)

    operations = [each["operation"] for each in content["otherTransactions"]]
    assert operations == ["fund", "deploy token", "mint", "approve", "mint", "approve", "return"]
    hashes = [each["hash"] for each in content["otherTransactions"] + content["scenarios"][0]["transactions"]]
    assert len(set(hashes)) == len(hashes)
    for hash_ in hashes:
        assert node.chain.knows(bytes.fromhex(hash_[2:]))


def test_the_end_of_a_story_says_who_won_what(forcemove: Command) -> None:
    out = forcemove("demo", "--game", "tic-tac-toe", "--scenario", "stall").out

    winner, loser = ("Alice", "Bob") if "Alice wins" in out else ("Bob", "Alice")
    ending = out[out.index("result ") :].splitlines()
    words = (f"{winner} wins 0.2 ether", f"{loser} loses 0.2 ether")
    assert ending[0] in {f"result      {'; '.join(order)}." for order in (words, words[::-1])}
    headings = ["result", "gas", "", "net", "", "balance", "", "balance", "", "channel"]
    assert [line[:12].strip() for line in ending[:10]] == headings
    nets = {line[12:].partition(":")[0]: float(line.split()[-2]) for line in ending[3:5]}
    assert 0.19 < nets[winner] < 0.2
    assert -0.21 < nets[loser] < -0.2


def test_a_node_is_asked_for_the_channel_that_the_story_names(node: Node, forcemove: Command) -> None:
    said = node.demo(*ONE)
    id_ = next(line.split()[1] for line in said.out.splitlines() if line.startswith("channel"))

    found = forcemove("inspect", id_, "--chain", node.chain.endpoint, "--json")

    assert found.code == 0
    assert json.loads(found.out)["closed"]


@pytest.mark.parametrize(
    ("arguments", "code", "type_"),
    [
        (("--stake", "0"), 2, "UsageError"),
        (("--stake", "lots"), 2, "BadParameter"),
        (("--no-such-flag",), 2, "NoSuchOption"),
        (("--game", "chess"), 1, "Explained"),
        (("--stake", "300000 ether"), 1, "CannotPayIn"),
        (("--chain", "http://127.0.0.1:1", "--key", "nowhere.json"), 1, "Unreachable"),
    ],
)
def test_errors_are_json_where_that_was_asked_for(
    forcemove: Command, arguments: tuple[str, ...], code: int, type_: str
) -> None:
    said = forcemove("demo", "--json", *arguments)
    content = json.loads(said.out)

    assert said.code == code
    assert (content["scenarios"], content["error"]["type"]) == ([], type_)
    assert content["error"]["message"].splitlines()[0] in said.err
    assert forcemove("demo", *arguments).out == ""


# ------------------------------------------------------------------------------------------------------------- amounts


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0.2 ether", 2 * 10**17),
        ("5gwei", 5 * 10**9),
        ("1e18", 10**18),
        ("1234567890123.123456789012345678 ether", 1234567890123123456789012345678),
        (str(UINT256_MAX), UINT256_MAX),
    ],
)
def test_amounts_are_exact(text: str, amount: int) -> None:
    assert AMOUNT.convert(text, None, None) == amount


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "0 ether"),
        (1, "1 wei"),
        (10**9 - 1, "999999999 wei"),
        (180 * 10**9, "180 gwei"),
        (10**12 - 1, "999.999999 gwei"),
        (10**12, "0.000001 ether"),
        (10**18 - 1, "0.999999 ether"),
        (10**18, "1 ether"),
        (162930506425937, "0.000162 ether"),
        (10**24 + 5 * 10**17 + 7, "1000000.5 ether"),
    ],
)
def test_people_are_shown_six_digits_and_never_nothing_for_something(amount: int, shown: str) -> None:
    assert format_amount(amount) == shown


def test_what_somebody_needs_is_rounded_up() -> None:
    assert format_amount(10**18 - 1, is_needed=True) == "1 ether"
    assert format_amount(10**18, is_needed=True) == "1 ether"
    assert format_amount(10**18 + 1, is_needed=True) == "1.000001 ether"


def test_a_token_has_no_smaller_units() -> None:
    assert format_amount(5, "DEMO") == "< 0.000001 DEMO"
    assert format_amount(5 * 10**18, "DEMO") == "5 DEMO"


def test_an_exact_amount_has_all_its_digits() -> None:
    assert exact_amount(10**18 + 1) == "1.000000000000000001 ether"


@pytest.mark.parametrize(
    "text", ["", "-1", "-0", "nan", "inf", "0.5 wei", "1e-999999999", "0x10", "1.0000000000000000001 ether"]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="is not an amount"):
        AMOUNT.convert(text, None, None)


@pytest.mark.parametrize("text", [str(UINT256_MAX + 1), "1e999999999", "9" * 5_000])
def test_an_amount_that_nothing_has_is_told(text: str) -> None:
    with pytest.raises(Exception, match="more than any asset has"):
        AMOUNT.convert(text, None, None)
