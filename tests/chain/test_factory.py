"""Factories: the same addresses everywhere, chains and nodes that lack the customary one, and what others deployed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event

import pytest
from eth_account import Account

from forcemove import AddressBook, Key, deploy, load_book, save_book
from forcemove.chain import create2
from forcemove.chain.addresses import show_address
from forcemove.chain.asking import Steps, asking
from forcemove.chain.chain import Call, Chain, Fees, SignedTransaction, contract_address
from forcemove.chain.create2 import CUSTOMARY_FACTORY, PRESIGNER, deploying_calldata, derived_address
from forcemove.chain.errors import InsufficientFunds, NoContract
from forcemove.chain.factory import FACTORY, FUNDS, deployment_block
from forcemove.chain.genuine import adjudicator_artifact
from forcemove.chain.local import AnvilChain, EmbeddedChain, connect, local_keys
from forcemove.chain.progress import DeploymentStage, NotAFactory, Progress
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.chain.verification import ContractStatus, verify
from forcemove.contracts import artifact
from scripts.compile_contracts import PINNED
from tests.chain.nodes import forgets, node_before, wants_replay_protection
from tests.chain.test_deployment import kill_at, sent_by
from tests.chain.world import MINER, bring_factory, deploy_artifact, place
from tests.installed import CONTRACTS

KEY, OTHER_KEY, POOR = *local_keys()[2:4], Key(b"\x07" * 32)


@pytest.fixture(scope="module")
def bare_anvil() -> Iterator[AnvilChain]:
    with AnvilChain("--disable-default-create2-deployer") as chain:
        yield chain


@pytest.fixture
def bare(bare_anvil: AnvilChain) -> Iterator[AnvilChain]:
    """An anvil that lacks the customary factory."""
    before = bare_anvil.rpc.ask("evm_snapshot")
    assert not bare_anvil.code(CUSTOMARY_FACTORY)
    yield bare_anvil
    assert bare_anvil.rpc.ask("evm_revert", before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.json"


def deployed(chain: Chain, path: Path, key: Key = KEY) -> list[Progress]:
    """What a deployment tells."""
    found: list[Progress] = []
    deploy(chain, key, path, on_progress=found.append)
    return found


def is_genuine(chain: Chain, book: AddressBook) -> bool:
    standings = {verdict.contract: verdict.status for verdict in verify(chain, book)}
    return standings == dict.fromkeys(CONTRACTS, ContractStatus.GENUINE)


def pass_time(chain: Chain, blocks: int) -> None:
    for _ in range(blocks):
        chain.send(Call(b"\x99" * 20, b"", 1), MINER)


# ------------------------------------------------------------------------------------------------------ everywhere


def test_one_commit_has_the_same_addresses_on_every_chain(anvil: AnvilChain, tmp_path: Path) -> None:
    quiet, busy = EmbeddedChain(), EmbeddedChain()
    pass_time(busy, 3)

    books = [
        deploy(chain, key, tmp_path / f"{index}.json")
        for index, (chain, key) in enumerate([(quiet, KEY), (busy, OTHER_KEY), (anvil, KEY)])
    ]

    pinned = {name: entry["address"] for name, entry in json.loads(PINNED.read_text("utf-8")).items()}
    for book in books:
        assert {name: show_address(entry.address) for name, entry in book.contracts.items()} == pinned
    assert books[1].deployment_block == books[0].deployment_block + 3


def test_the_presigned_transaction_brings_the_customary_factory() -> None:
    assert Account.recover_transaction(create2.PRESIGNED) == show_address(PRESIGNER)
    assert contract_address(PRESIGNER, 0) == CUSTOMARY_FACTORY


def test_the_customary_factory_is_the_one_that_others_have(anvil: AnvilChain) -> None:
    """anvil has it from its start."""
    assert anvil.code(CUSTOMARY_FACTORY) == create2.FACTORY_RUNTIME_CODE


# ------------------------------------------------------------------------------------------ chains without the factory


@pytest.mark.parametrize("kind", ["eth-tester", "anvil"])
def test_a_chain_without_the_factory_gets_it(request: pytest.FixtureRequest, kind: str, path: Path) -> None:
    chain = EmbeddedChain() if kind == "eth-tester" else request.getfixturevalue("bare")

    found = deployed(chain, path)

    assert [(each.contract, each.stage) for each in found[:2]] == [
        (FUNDS, DeploymentStage.SENT),
        (FACTORY, DeploymentStage.DEPLOYED),
    ]
    assert load_book(path).factory == CUSTOMARY_FACTORY
    assert is_genuine(chain, load_book(path))


def test_the_contracts_do_not_pay_what_the_presigned_transaction_pays(bare: AnvilChain, path: Path) -> None:
    """The node suggests its price, 100 gwei, right behind it."""
    dearest = 10 * bare.fees().max_fee_per_gas

    found = deployed(bare, path)

    hashes = [each.transaction_hash for each in found if each.stage is DeploymentStage.SENT]
    assert len(hashes) == 1 + len(CONTRACTS)
    for hash_ in hashes:
        assert hash_ is not None
        sent = bare.rpc.ask("eth_getTransactionByHash", "0x" + hash_.hex())
        assert int(sent["maxFeePerGas"], 16) < dearest


def test_what_its_sender_has_already_is_not_paid_again(bare: AnvilChain, path: Path) -> None:
    bare.send(Call(PRESIGNER, b"", create2.PRESIGNED_COST), MINER)

    assert FUNDS not in {each.contract for each in deployed(bare, path)}
    assert is_genuine(bare, load_book(path))


def test_where_the_presigned_price_is_too_low_our_own_factory_serves(path: Path) -> None:
    """The presigned transaction could wait forever."""
    with AnvilChain("--disable-default-create2-deployer", "--base-fee", str(60 * 10**9)) as dear:
        deployed(dear, path)

        assert load_book(path).factory == contract_address(KEY.address, 0)
        assert dear.balance(PRESIGNER) == 0
        assert is_genuine(dear, load_book(path))


def test_a_node_that_refuses_the_presigned_transaction_gets_a_factory_of_ours(bare: AnvilChain, path: Path) -> None:
    with node_before(bare, wants_replay_protection) as node:
        found = deployed(node, path)
        book = load_book(path)

        assert [(each.contract, each.stage) for each in found[:2]] == [
            (FACTORY, DeploymentStage.SENT),
            (FACTORY, DeploymentStage.DEPLOYED),
        ]
        assert book.factory == found[0].address != CUSTOMARY_FACTORY
        assert node.balance(PRESIGNER) == 0, "nothing is paid for what is refused"
        assert is_genuine(node, book)
        adjudicator = adjudicator_artifact()
        assert book.adjudicator == derived_address(adjudicator, book.factory) != derived_address(adjudicator)
        assert {each.stage for each in deployed(node, path, OTHER_KEY)} == {DeploymentStage.KEPT}, "the book names it"
        assert load_book(path) == book


def test_an_account_that_cannot_pay_for_the_factory_is_told(bare: AnvilChain, path: Path) -> None:
    with pytest.raises(InsufficientFunds) as caught:
        deploy(bare, POOR, path)

    assert caught.value.account == POOR.address
    assert bare.balance(PRESIGNER) == 0


@pytest.mark.parametrize(("name", "stage"), [(FUNDS, DeploymentStage.SENT), (FACTORY, DeploymentStage.DEPLOYED)])
def test_a_deployment_killed_at_the_factory_goes_on(
    bare: AnvilChain, path: Path, name: str, stage: DeploymentStage
) -> None:
    kill_at(bare, path, name, stage)
    sent = sent_by(bare, KEY)

    deployed(bare, path)

    assert sent_by(bare, KEY) == sent + len(CONTRACTS)
    assert load_book(path).factory == CUSTOMARY_FACTORY
    assert is_genuine(bare, load_book(path))


@pytest.mark.parametrize("stage", [DeploymentStage.SENT, DeploymentStage.DEPLOYED])
def test_a_deployment_killed_at_our_own_factory_goes_on(bare: AnvilChain, path: Path, stage: DeploymentStage) -> None:
    with node_before(bare, wants_replay_protection) as node:
        address = contract_address(KEY.address, sent_by(node, KEY))
        kill_at(node, path, FACTORY, stage)
        sent = sent_by(node, KEY)

        deployed(node, path)

        assert sent_by(node, KEY) == sent + len(CONTRACTS)
        assert load_book(path).factory == address
        assert is_genuine(node, load_book(path))


def test_a_factory_of_ours_that_is_gone_is_replaced(bare: AnvilChain, path: Path) -> None:
    """A test chain that began anew."""
    before = bare.rpc.ask("evm_snapshot")
    with node_before(bare, wants_replay_protection) as node:
        deployed(node, path)
    assert bare.rpc.ask("evm_revert", before)

    deployed(bare, path)

    assert load_book(path).factory == CUSTOMARY_FACTORY
    assert is_genuine(bare, load_book(path))


def test_what_is_no_factory_is_sent_nothing(embedded: EmbeddedChain, path: Path) -> None:
    book = deploy(embedded, KEY, path)
    save_book(replace(book, factory=place(embedded, b"\0")), path)
    block = embedded.block_number()

    with pytest.raises(NotAFactory):
        deploy(embedded, KEY, path)

    assert embedded.block_number() == block


def test_a_contract_is_deployed_beside_a_deployment(embedded: EmbeddedChain, path: Path) -> None:
    deploy(embedded, KEY, path)

    contract = artifact("CountingApp")
    address = deploy_artifact(embedded, KEY, contract)

    assert embedded.code(address) == artifact("CountingApp").runtime_bytecode
    block = embedded.block_number()
    assert deploy_artifact(embedded, OTHER_KEY, contract) == address == derived_address(contract)
    assert embedded.block_number() == block


def test_a_factory_that_makes_nothing_is_told(embedded: EmbeddedChain) -> None:
    with pytest.raises(NoContract):
        deploy_artifact(embedded, KEY, artifact("CountingApp"), place(embedded, b"\0"))


# ------------------------------------------------------------------------------------------------ what others deployed


def test_what_somebody_else_has_deployed_is_taken_over(embedded: EmbeddedChain, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first = deploy(embedded, KEY, tmp_path / "a" / "book.json")
    pass_time(embedded, 5)
    block = embedded.block_number()

    found = deployed(embedded, tmp_path / "b" / "book.json", OTHER_KEY)

    assert [(each.contract, each.stage, each.is_certain) for each in found] == [
        (name, DeploymentStage.FOUND, True) for name in CONTRACTS
    ]
    assert load_book(tmp_path / "b" / "book.json") == first
    assert embedded.block_number() == block


@pytest.mark.parametrize("admits_it", [True, False], ids=["an error", "nothing"])
def test_a_node_without_old_states_gives_an_early_block(anvil: AnvilChain, path: Path, admits_it: bool) -> None:
    deploy(anvil, KEY, path)
    path.unlink()
    pass_time(anvil, 3)
    oldest = anvil.block_number()
    with node_before(anvil, forgets(oldest, admits_it=admits_it)) as node:
        found = deployed(node, path, OTHER_KEY)

    assert {(each.stage, each.block_number, each.is_certain) for each in found} == {(DeploymentStage.FOUND, 0, False)}
    assert load_book(path).deployment_block == 0


@pytest.mark.parametrize("admits_it", [True, False], ids=["an error", "nothing"])
def test_a_block_whose_state_is_still_kept_is_found(anvil: AnvilChain, admits_it: bool) -> None:
    pass_time(anvil, 3)
    before, factory = anvil.block_number(), CUSTOMARY_FACTORY
    address = anvil.call(Call(factory, bytes(31) + bytes((before % 256,)) + _ANY_CODE), MINER.address)
    anvil.send(Call(factory, bytes(31) + bytes((before % 256,)) + _ANY_CODE), MINER)
    pass_time(anvil, 3)

    with node_before(anvil, forgets(before, admits_it=admits_it)) as node:
        assert deployment_block(node, address, factory) == (before + 1, True)
    with node_before(anvil, forgets(before + 1, admits_it=admits_it)) as node:
        assert deployment_block(node, address, factory) == (0, False)
        assert deployment_block(node, address, factory, empty_at=before - 1) == (before, False)
        assert deployment_block(node, address, factory, empty_at=before) == (before + 1, True)


_ANY_CODE = bytes.fromhex("60fe60005360016000f3")


@pytest.mark.parametrize("later", [True, False])
def test_a_book_from_before_a_chain_began_anew_gets_the_new_blocks(path: Path, later: bool) -> None:
    """The addresses are the same there; a block behind the contract's own would hide its first logs."""
    old, new = EmbeddedChain(), EmbeddedChain()
    pass_time(old if later else new, 5)
    deploy(old, KEY, path)
    fresh = deploy(new, OTHER_KEY, path.with_name("other.json"))
    pass_time(new, 10)

    book = deploy(new, KEY, path)

    assert book.deployment_block <= fresh.deployment_block
    assert not later or book.deployment_block == fresh.deployment_block


def test_the_block_of_another_versions_contract_is_not_taken(embedded: EmbeddedChain, path: Path) -> None:
    """Of a chain that began anew: nothing is at that address any more."""
    book = deploy(embedded, KEY, path)
    pass_time(embedded, 5)
    other = replace(book.find("Adjudicator"), address=b"\x55" * 20, block_number=embedded.block_number())
    save_book(replace(book, contracts={**book.contracts, "Adjudicator": other}), path)

    assert deploy(embedded, OTHER_KEY, path) == book


# ------------------------------------------------------------------------------------------------------- two at once


class _Overtaken(EmbeddedChain):
    """Somebody else deploys just before one of our transactions is signed, or is sent."""

    at = "nowhere"

    def overtake(self, at: str, path: Path) -> None:
        self.at, self._path = at, path

    def sign(
        self, call: Call, key: Key, errors: ErrorTable = NO_ERRORS, *, fees: Fees | None = None
    ) -> SignedTransaction:
        self._step_in("signing", key)
        return super().sign(call, key, errors, fees=fees)

    @asking
    def broadcast(self, signed: SignedTransaction) -> Steps[None]:
        if signed.sender == KEY.address:
            self._step_in("sending", KEY)
        return super().broadcast.steps(signed)

    def _step_in(self, at: str, key: Key) -> None:
        if self.at == at and key == KEY:
            self.at = "nowhere"
            deploy(self, OTHER_KEY, self._path)


def test_a_factory_that_is_brought_while_it_is_looked_for_is_used(tmp_path: Path) -> None:
    class Late(EmbeddedChain):
        """Somebody else brings the factory as soon as it was looked for."""

        @asking
        def code(self, address: bytes, *, block: int | str = "latest") -> Steps[bytes]:
            found = yield from super().code.steps(address, block=block)
            if address == CUSTOMARY_FACTORY and not found:
                bring_factory(self)
            return found

    deploy(Late(), KEY, tmp_path / "book.json")
    assert load_book(tmp_path / "book.json").factory == CUSTOMARY_FACTORY


@pytest.mark.parametrize(
    ("at", "stages"), [("signing", [DeploymentStage.FOUND]), ("sending", [DeploymentStage.SENT, DeploymentStage.FOUND])]
)
def test_to_be_overtaken_is_success(tmp_path: Path, at: str, stages: list[DeploymentStage]) -> None:
    chain = _Overtaken()
    bring_factory(chain)
    for folder in ("ours", "theirs"):
        (tmp_path / folder).mkdir()
    chain.overtake(at, tmp_path / "theirs" / "book.json")

    found = deployed(chain, tmp_path / "ours" / "book.json")

    assert [each.stage for each in found if each.contract == "Adjudicator"] == stages
    assert {each.stage for each in found if each.contract != "Adjudicator"} == {DeploymentStage.FOUND}
    assert load_book(tmp_path / "ours" / "book.json") == load_book(tmp_path / "theirs" / "book.json")


class _Observed(Chain):
    """Tells when somebody looks at what waits for a block."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(connect(endpoint).transport, endpoint)
        self.looked = Event()

    @asking
    def code(self, address: bytes, *, block: int | str = "latest") -> Steps[bytes]:
        found = yield from super().code.steps(address, block=block)
        if block == "pending":
            self.looked.set()
        return found


def test_what_waits_for_a_block_is_waited_for(path: Path) -> None:
    """Another's transaction: the node refuses ours as soon as it tries it behind that one."""
    with AnvilChain() as anvil, ThreadPoolExecutor(1) as pool:
        anvil.rpc.ask("evm_setAutomine", False)
        anvil.broadcast(
            anvil.sign(Call(CUSTOMARY_FACTORY, deploying_calldata(artifact("Adjudicator").bytecode)), MINER)
        )
        ours = _Observed(anvil.endpoint)
        deployment = pool.submit(deployed, ours, path)
        while not (ours.looked.wait(0.1) or deployment.done()):
            pass
        anvil.rpc.ask("evm_mine")
        anvil.rpc.ask("evm_setAutomine", True)

        assert [each.stage for each in deployment.result() if each.contract == "Adjudicator"] == [DeploymentStage.FOUND]
        assert is_genuine(anvil, load_book(path))


class _Meeting(Chain):
    """Sends nothing before the other has something to send, too."""

    def __init__(self, endpoint: str, barrier: Barrier | None) -> None:
        super().__init__(connect(endpoint).transport, endpoint)
        self._barrier = barrier

    @asking
    def broadcast(self, signed: SignedTransaction) -> Steps[None]:
        if self._barrier is not None:
            self._barrier.wait(timeout=60)
        return super().broadcast.steps(signed)


@pytest.mark.parametrize(
    ("collide", "options"),
    [(True, ()), (False, ()), (False, ("--disable-default-create2-deployer",))],
    ids=["in each block", "as it comes", "without a factory"],
)
def test_two_at_once_with_two_keys_both_end_well(tmp_path: Path, collide: bool, options: tuple[str, ...]) -> None:
    """Where they collide, both have signed before either sends, and each block has the transactions of both: one of
    them fails. Else the second may see the first's while it waits for a block."""
    barrier = Barrier(2) if collide else None
    with AnvilChain(*options) as anvil:
        anvil.rpc.ask("evm_setAutomine", False)
        with ThreadPoolExecutor(2) as pool:
            deployments = [
                pool.submit(_deploy_to, _Meeting(anvil.endpoint, barrier), key, tmp_path) for key in (KEY, OTHER_KEY)
            ]
            failed = _mine(anvil, deployments, at_once=2 if collide else 1)

        first, second = (deployment.result() for deployment in deployments)
        assert first == second
        assert is_genuine(anvil, first)
        assert failed == len(CONTRACTS) or not collide


def _deploy_to(chain: Chain, key: Key, folder: Path) -> AddressBook:
    own = folder / key.address.hex()
    own.mkdir()
    return deploy(chain, key, own / "book.json", timeout=60)


def _mine(anvil: AnvilChain, deployments: list[Future[AddressBook]], *, at_once: int) -> int:
    """Mine whenever this many wait, until both deployments have ended; how many transactions failed."""
    failed = 0
    while not all(each.done() for each in deployments):
        waiting = int(anvil.rpc.ask("txpool_status")["pending"], 16)
        if waiting < at_once and not any(each.done() for each in deployments):
            continue
        anvil.rpc.ask("evm_mine")
        block = anvil.rpc.ask("eth_getBlockByNumber", "latest", False)
        receipts = [anvil.rpc.ask("eth_getTransactionReceipt", hash_) for hash_ in block["transactions"]]
        failed += sum(int(receipt["status"], 16) == 0 for receipt in receipts)
    return failed
