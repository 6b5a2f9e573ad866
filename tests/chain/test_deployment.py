"""Deployments: whole, killed in the middle, dropped by the node, made by two at once, compared with what is there."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from forcemove import Key, deploy, load_book, save_book
from forcemove.chain.book import AddressBook, GameOfContract, Pending
from forcemove.chain.chain import Call, Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY, deploying_calldata, derived_address
from forcemove.chain.errors import NotMined, WrongChain
from forcemove.chain.genuine import adjudicator_artifact
from forcemove.chain.local import AnvilChain, EmbeddedChain, local_keys
from forcemove.chain.progress import BookOfOtherContracts, ContractNamedTwice, DeploymentStage, Progress
from forcemove.chain.verification import ContractStatus, verify
from forcemove.contracts import artifact
from tests.chain.world import bring_factory
from tests.cli import warm
from tests.expected import raising
from tests.installed import CONTRACTS, GAMES
from tests.viem.table import COUNTING

KEY = local_keys()[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.json"


@pytest.fixture(scope="module")
def own_anvil() -> Iterator[AnvilChain]:
    with AnvilChain() as chain:
        yield chain


@pytest.fixture
def fresh(own_anvil: AnvilChain) -> Iterator[AnvilChain]:
    """An anvil on which nothing was deployed yet."""
    before = own_anvil.rpc.ask("evm_snapshot")
    assert not own_anvil.code(derived_address(artifact("Adjudicator")))
    yield own_anvil
    assert own_anvil.rpc.ask("evm_revert", before)


@pytest.fixture
def stalled(fresh: AnvilChain) -> Iterator[AnvilChain]:
    """An anvil that mines only on demand."""
    fresh.rpc.ask("evm_setAutomine", False)
    yield fresh
    fresh.rpc.ask("anvil_dropAllTransactions")
    fresh.rpc.ask("evm_setAutomine", True)


def stages(chain: Chain, path: Path) -> dict[str, list[DeploymentStage]]:
    """Deploy, and tell what happened to each contract."""
    progress: list[Progress] = []
    deploy(chain, KEY, path, on_progress=progress.append)
    return {name: [each.stage for each in progress if each.contract == name] for name in CONTRACTS}


def genuine(chain: Chain, path: Path) -> bool:
    verdicts = verify(chain, load_book(path))
    return {verdict.contract for verdict in verdicts} == set(CONTRACTS) and all(
        verdict.status is ContractStatus.GENUINE for verdict in verdicts
    )


NEW, AGAIN = [DeploymentStage.SENT, DeploymentStage.DEPLOYED], [DeploymentStage.RESUMED, DeploymentStage.DEPLOYED]


@pytest.mark.parametrize("kind", ["eth-tester", "anvil"])
def test_the_adjudicator_and_every_game_are_deployed(request: pytest.FixtureRequest, kind: str, path: Path) -> None:
    chain = EmbeddedChain() if kind == "eth-tester" else request.getfixturevalue("fresh")

    assert stages(chain, path) == dict.fromkeys(CONTRACTS, NEW)

    assert CONTRACTS[0] == "Adjudicator"
    assert genuine(chain, path)
    for name, entry in load_book(path).contracts.items():
        assert entry.standard_json is not None
        assert json.loads(path.with_name(entry.standard_json).read_text()) == artifact(name).standard_json
        assert (entry.creation_code_hash, entry.source_hash) == (
            artifact(name).creation_code_hash,
            artifact(name).source_hash,
        )


def test_what_stands_is_kept(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)
    before, block = path.read_text(), embedded.block_number()

    assert stages(embedded, path) == {name: [DeploymentStage.KEPT] for name in CONTRACTS}

    assert (path.read_text(), embedded.block_number()) == (before, block)


_KILLED = """
import os, signal
from pathlib import Path
from forcemove.chain.deployment import deploy
from forcemove.chain.local import connect, local_keys

def kill(progress):
    if (progress.contract, progress.stage.name) == ({contract!r}, {stage!r}):
        os.kill(os.getpid(), signal.SIGKILL)

deploy(connect({endpoint!r}), local_keys()[2], Path({path!r}), on_progress=kill)
"""


def kill_at(chain: Chain, path: Path, contract: str, stage: DeploymentStage) -> None:
    """Let a process deploy that kills itself as it tells of this."""
    text = _KILLED.format(contract=contract, stage=stage.name, endpoint=chain.endpoint, path=str(path))
    killed = warm.run([], folder=path.parent, environment=os.environ, before=text)
    assert killed.returncode == -signal.SIGKILL


class Killed(Exception):
    """Somebody has interrupted the deployment."""


def kill_on(contract: str) -> Callable[[Progress], None]:
    """Interrupts a deployment as soon as it has sent this."""

    def kill(progress: Progress) -> None:
        if (progress.contract, progress.stage) == (contract, DeploymentStage.SENT):
            raise Killed

    return kill


def sent_by(chain: Chain, key: Key) -> int:
    """How many transactions the account has sent, in blocks or on their way to one."""
    return chain.rpc.number("eth_getTransactionCount", "0x" + key.address.hex(), "pending")


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("stage", [DeploymentStage.SENT, DeploymentStage.DEPLOYED])
def test_a_killed_deployment_goes_on_where_it_stood(
    fresh: AnvilChain, path: Path, contract: str, stage: DeploymentStage
) -> None:
    kill_at(fresh, path, contract, stage)
    done = CONTRACTS.index(contract)
    nonce = sent_by(fresh, KEY)

    progress = stages(fresh, path)

    for index, name in enumerate(CONTRACTS):
        resumed = AGAIN if stage is DeploymentStage.SENT else [DeploymentStage.KEPT]
        assert progress[name] == ([DeploymentStage.KEPT] if index < done else resumed if index == done else NEW)
    assert genuine(fresh, path)
    left = len(CONTRACTS) - done - 1
    assert sent_by(fresh, KEY) == nonce + left


def test_what_was_sent_of_another_game_is_waited_for_and_found_by_those_who_want_it(
    fresh: AnvilChain, path: Path
) -> None:
    """Else the book would forget what is still on its way."""
    first, other = GAMES[:2]
    with pytest.raises(Killed):
        deploy(fresh, KEY, path, [first], on_progress=kill_on(first.artifact.name))
    sent = sent_by(fresh, KEY)

    progress: list[Progress] = []
    book = deploy(fresh, KEY, path, [other], on_progress=progress.append)

    assert (progress[0].contract, progress[0].stage) == (first.artifact.name, DeploymentStage.RESUMED)
    assert set(book.contracts) == {CONTRACTS[0], other.artifact.name}
    assert book.pending is None
    assert sent_by(fresh, KEY) == sent + 1, "for the other game alone"
    assert stages(fresh, path)[first.artifact.name] == [DeploymentStage.FOUND]


def test_two_contracts_of_one_name_are_deployed_by_nobody(embedded: EmbeddedChain, path: Path) -> None:
    game = GAMES[0]
    look_alike = SimpleNamespace(artifact=replace(game.artifact, creation_code_hash=bytes(32)), name="other")
    before = embedded.block_number()

    with raising(ContractNamedTwice(game.artifact.name)):
        deploy(embedded, KEY, path, [game, look_alike])
    assert (path.exists(), embedded.block_number()) == (False, before)


def test_a_contract_that_came_without_its_sources_is_deployed_without_them(embedded: EmbeddedChain, path: Path) -> None:
    book = deploy(embedded, KEY, path, [COUNTING])
    entry = book.find("CountingApp")

    assert entry.standard_json is None
    assert entry.game == GameOfContract("counting", None, artifact("CountingApp").compiler_version)
    assert load_book(path) == book
    assert not list(path.parent.glob("*CountingApp*"))


@pytest.mark.parametrize(("happens", "stage"), [("evm_mine", AGAIN), ("anvil_dropAllTransactions", NEW)])
def test_a_transaction_that_waits_is_waited_for_and_a_dropped_one_sent_anew(
    stalled: AnvilChain, path: Path, happens: str, stage: list[DeploymentStage]
) -> None:
    with pytest.raises(NotMined):
        deploy(stalled, KEY, path, timeout=0.05)
    stalled.rpc.ask(happens)
    stalled.rpc.ask("evm_setAutomine", True)

    progress = stages(stalled, path)

    assert progress["Adjudicator"] == stage
    assert genuine(stalled, path)


def test_a_chain_that_began_anew_gets_everything_again(path: Path) -> None:
    stages(EmbeddedChain(), path)
    chain = EmbeddedChain()

    assert stages(chain, path) == dict.fromkeys(CONTRACTS, NEW)
    assert genuine(chain, path)


def test_a_book_of_another_chain_is_left_alone(embedded: EmbeddedChain, anvil: AnvilChain, path: Path) -> None:
    stages(embedded, path)
    before = path.read_text()

    with pytest.raises(WrongChain):
        deploy(anvil, KEY, path)

    assert path.read_text() == before


def swapped(book: AddressBook) -> AddressBook:
    """The book of somebody who has mixed up two contracts."""
    first, second = CONTRACTS[:2]
    return replace(book, contracts={**book.contracts, first: book.contracts[second]})


def test_a_book_of_other_contracts_is_left_alone(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)
    book = swapped(load_book(path))
    save_book(book, path)

    with pytest.raises(BookOfOtherContracts):
        deploy(embedded, KEY, path)

    assert load_book(path) == book


def test_verifying_tells_what_is_different(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)

    verdicts = {verdict.contract: verdict for verdict in verify(embedded, swapped(load_book(path)))}

    adjudicator = verdicts["Adjudicator"]
    assert (adjudicator.status, adjudicator.has_code) == (ContractStatus.DIFFERENT, True)
    assert adjudicator.derived == derived_address(artifact("Adjudicator")) != adjudicator.address
    assert [verdict.status for name, verdict in verdicts.items() if name != "Adjudicator"] == [
        ContractStatus.GENUINE
    ] * (len(CONTRACTS) - 1)


def test_verifying_tells_what_is_missing(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)

    verdicts = verify(EmbeddedChain(), load_book(path))

    assert {verdict.status for verdict in verdicts} == {ContractStatus.MISSING}
    assert {verdict.has_code for verdict in verdicts} == {False}


def test_verifying_tells_what_is_not_deep_enough(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)
    book = load_book(path)
    depth = embedded.block_number() - book.find("Adjudicator").block_number + 1

    verdicts = {verdict.contract: verdict.status for verdict in verify(embedded, book, confirmations=depth)}

    others = dict.fromkeys(CONTRACTS[1:], ContractStatus.UNCONFIRMED)
    assert verdicts == {"Adjudicator": ContractStatus.GENUINE} | others


def test_verifying_derives_with_the_books_factory(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)

    verdicts = verify(embedded, replace(load_book(path), factory=b"\x4f" * 20))

    assert {verdict.status for verdict in verdicts} == {ContractStatus.DIFFERENT}
    assert {verdict.has_code for verdict in verdicts} == {False}


def test_verifying_wants_the_books_chain(embedded: EmbeddedChain, anvil: AnvilChain, path: Path) -> None:
    stages(embedded, path)

    with pytest.raises(WrongChain):
        verify(anvil, load_book(path))


def test_what_an_earlier_version_has_sent_is_left_alone(embedded: EmbeddedChain, path: Path) -> None:
    stages(embedded, path)
    first = CONTRACTS[0]
    old = embedded.send(Call(CUSTOMARY_FACTORY, deploying_calldata(artifact("CountingApp").bytecode)), KEY)
    pending = Pending(first, derived_address(artifact("CountingApp")), old.transaction_hash, old.block_number)
    save_book(replace(load_book(path), contracts={}, pending=pending), path)

    with raising(BookOfOtherContracts(str(path), first, derived_address(artifact("CountingApp")))):
        deploy(embedded, KEY, path)


@pytest.mark.parametrize(
    "address", [derived_address(adjudicator_artifact()), b"\x01" * 20], ids=["ours", "another version's"]
)
def test_a_creation_that_failed_is_sent_anew(embedded: EmbeddedChain, path: Path, address: bytes) -> None:
    stages(EmbeddedChain(), path)
    bring_factory(embedded)
    empty = embedded.sign(Call(None, b""), KEY)
    # Past the simulation, which would refuse it: a constructor that is the invalid opcode.
    signed = embedded.sign_as(Call(None, b"\xfe"), KEY, empty.nonce, empty.gas, empty.fees)
    embedded.broadcast(signed)
    pending = Pending("Adjudicator", address, signed.hash, 0)
    save_book(replace(load_book(path), contracts={}, pending=pending), path)

    assert stages(embedded, path)["Adjudicator"] == [DeploymentStage.RESUMED, *NEW]
    assert load_book(path).pending is None
