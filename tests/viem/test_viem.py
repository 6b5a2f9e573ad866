"""A client in JavaScript, written from contracts/README.md alone, plays and disputes with Python on a real anvil."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from forcemove import ETHER, Adjudicator, ChooseMove, Key
from forcemove.chain.chain import RawLog
from forcemove.chain.local import AnvilChain
from forcemove.chain.reverts import app_errors
from forcemove.protocol.codec.wire import decode_message, encode_message
from forcemove.protocol.encoding import Domain, channel_id, digest, hash_state, word
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen, StateReceived
from forcemove.protocol.rule_errors import WrongSigner
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from forcemove_games.tic_tac_toe import GAME
from tests.chain.world import deploy_contract
from tests.expected import known
from tests.protocol.builders import count_data, proof
from tests.sampled import sampled
from tests.scenarios.story import Playground
from tests.viem.line import NodeLine
from tests.viem.table import (
    COUNTING,
    DEPOSIT,
    OTHER,
    PYTHON,
    THROW_AWAY,
    WALLET,
    Table,
    agree_with_wallet,
    fixed_part,
    task,
)

Open = Callable[..., NodeLine]


@pytest.fixture(scope="module")
def playground(anvil: AnvilChain) -> Playground:
    return Playground.on(anvil)


@pytest.fixture
def node() -> Iterator[NodeLine]:
    with NodeLine("player.mjs") as line:
        yield line


def chooser(leave_after: int = 20, silent_at: int | None = None) -> Callable[[ChooseMove], Any]:
    """The game's own player; silent once after a turn, until the chain reminds it."""
    bot = GAME.bot(1)

    def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        turn = question.state.turn_num
        if turn == silent_at and question.answer_by is None:
            return None
        move = bot.move(question.state, another_round=turn < leave_after)
        return ConcludeWanted() if move is None else MoveChosen(*move)

    return choose


def tic_tac_toe(playground: Playground, node: NodeLine, scenario: str, **choices: Any) -> Table:
    """A channel for tic-tac-toe that is funded with both deposits, JavaScript in the first seat; the task is told."""
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator, app_errors(GAME.artifact, GAME.errors))
    fixed = fixed_part(playground.book.find(GAME.artifact.name).address, PYTHON, total=2 * DEPOSIT)
    agreement = agree_with_wallet(adjudicator, fixed, GAME)
    first_block = playground.chain.block_number()
    node.tell(**task(scenario, playground.chain, agreement, GAME.artifact.name, first_block, playground.book.factory))
    return Table(node, agreement, GAME, adjudicator, chooser(**choices), first_block)


def wallet_gains(table: Table, before: int, ended: dict[str, Any]) -> int:
    """What the wallet has won or lost, without the price of gas."""
    return table.adjudicator.chain.balance(WALLET.address) - before + int(ended["spent"]) - DEPOSIT


# -------------------------------------------------------------------------------------------------------------- playing


def test_a_round_is_played_and_the_wallet_is_paid(playground: Playground, node: NodeLine) -> None:
    before = playground.chain.balance(WALLET.address)
    table = tic_tac_toe(playground, node, "play", leave_after=4)
    ended = table.play()

    final = known(table.client.channel.newest)
    assert final.state.is_final
    assert final.state.turn_num > 7
    assert table.is_closed
    assert table.faults == []
    assert ended["done"] == ["EtherDeposited", "EtherDeposited", "Closed"]
    assert ended["turn"] == final.state.turn_num
    assert wallet_gains(table, before, ended) == final.state.outcome[0].amount - DEPOSIT


def test_it_challenges_answers_from_the_record_and_responds(playground: Playground, node: NodeLine) -> None:
    before = playground.chain.balance(WALLET.address)
    table = tic_tac_toe(playground, node, "dispute", silent_at=6)
    ended = table.play()

    assert ended["done"] == [
        "EtherDeposited",
        "EtherDeposited",
        "ChallengeRegistered",
        "Responded",
        "ChallengeRegistered",
        "Checkpointed",
        "ChallengeRegistered",
        "Responded",
        "Closed",
    ]
    assert table.is_closed
    assert table.faults == []
    assert table.mined[:4] == ["SubmitDeposit", "SubmitRespond", "SubmitChallenge", "SubmitChallenge"]
    newest = known(table.client.channel.newest)
    assert wallet_gains(table, before, ended) == newest.state.outcome[0].amount - DEPOSIT


# ------------------------------------------------------------------------------------------------------- three players


class Colluders:
    """Participants 0 and 1 of three, who keep their states from the third."""

    keys = (PYTHON, OTHER, THROW_AWAY)

    def __init__(self, chain: AnvilChain, node: NodeLine) -> None:
        self.adjudicator = Adjudicator(chain, deploy_contract(chain, "Adjudicator"))
        self.fixed = fixed_part(deploy_contract(chain, "CountingApp"), PYTHON, OTHER, seat=2)
        self.agreement = agree_with_wallet(self.adjudicator, self.fixed, COUNTING)
        self.first_block = chain.block_number()
        self.node = node
        self.states: dict[int, SignedState] = {}
        node.tell(**task("hidden", chain, self.agreement, "CountingApp", self.first_block))

    @property
    def id(self) -> bytes:
        return self.agreement.channel_id

    def state(self, turn: int) -> VariablePart:
        """The two give evidence with their moves, the third does not."""
        evidence = b"" if turn < 6 or turn % 3 == 2 else b"why %d" % turn
        return VariablePart(self.agreement.outcome, count_data(turn, 3), turn, evidence=evidence)

    def sign(self, turn: int) -> SignedState:
        """The state of this turn by its mover, who is one of the two."""
        state = self.state(turn)
        signature = self.keys[turn % 3].sign(digest(self.agreement.domain, hash_state(self.id, state).state))
        self.states[turn] = SignedState(state, {turn % 3: signature})
        return self.states[turn]

    def say(self, *turns: int) -> None:
        for turn in turns:
            self.node.send(encode_message(self.id, self.sign(turn)))

    def hear(self, turn: int) -> None:
        """Wait for the third's state of this turn."""
        while turn not in self.states:
            self.node.wait()
            for message in self.node.receive():
                channel, said = decode_message(message)
                assert channel == self.id
                assert isinstance(said, StateReceived)
                self.states[said.signed.state.turn_num] = said.signed

    def hear_note(self, note: str) -> None:
        while (said := self.node.wait()) != {"note": note}:
            assert "refused" not in said, said

    def deposit(self) -> None:
        for index, key in enumerate((PYTHON, OTHER)):
            self.adjudicator.send(self.adjudicator.deposit(self.id, ETHER, index * DEPOSIT, DEPOSIT), key)

    def last_log(self) -> Any:
        return self.adjudicator.logs(self.id, self.first_block)[-1].log


def test_what_two_of_three_have_hidden_is_read_from_the_log_and_built_upon(anvil: AnvilChain, node: NodeLine) -> None:
    two = Colluders(anvil, node)
    two.say(0, 1)
    two.hear(2)
    two.deposit()
    two.say(3, 4)
    two.hear(5)
    two.say(6, 7)
    two.hear(8)

    two.sign(9)
    two.sign(10)  # neither is sent
    signatures = (two.states[9].signatures[0], two.states[10].signatures[1], two.states[8].signatures[2])
    states = tuple(two.states[turn].state for turn in (8, 9, 10))
    hidden = SupportProof(states, signatures, 0x000201)
    two.adjudicator.send(two.adjudicator.checkpoint(two.fixed, hidden), PYTHON)
    node.tell(note="checkpoint")

    two.hear_note("challenge")
    challenged = two.last_log()
    assert isinstance(challenged, ChallengeRegistered)
    assert challenged.state == two.state(11)
    assert len(challenged.signatures) == 1

    two.say(12, 13)
    two.hear_note("checkpoint")
    recorded = two.last_log()
    assert isinstance(recorded, Checkpointed)
    assert recorded.state == two.state(13)
    assert recorded.signatures == (two.states[12].signatures[0], two.states[13].signatures[1])

    two.hear_note("time")
    before = anvil.balance(WALLET.address)
    anvil.travel_to(two.adjudicator.status_of(two.id, ETHER).finalizes_at + 1)
    node.tell(note="time")
    two.hear_note("transfer")
    ended = node.wait()
    assert ended["turn"] == 14
    assert ended["done"][-4:] == ["ChallengeRegistered", "Checkpointed", "ChallengeRegistered", "Closed"]
    assert two.adjudicator.holdings_of(two.id, ETHER, 0).closed
    assert anvil.balance(WALLET.address) - before > DEPOSIT // 2  # its deposit, less some gas


# ------------------------------------------------------------------------------------------------- what it must refuse


def test_another_chain_than_agreed_is_told(playground: Playground, node: NodeLine) -> None:
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator)
    agreement = agree_with_wallet(adjudicator, fixed_part(bytes(20), PYTHON), GAME)
    elsewhere = task("play", playground.chain, agreement, GAME.artifact.name, 0) | {"chainId": "31338"}
    node.tell(**elsewhere)

    told = node.wait()
    assert told == {"refused": "WrongChain", "message": "this is chain 31337, and the channel is of chain 31338"}


@pytest.mark.parametrize("seen", ["adjudicator", "app"])
def test_a_look_alike_is_told(playground: Playground, node: NodeLine, seen: str) -> None:
    """The very same code, deployed by somebody in another way."""
    chain, book = playground.chain, playground.book
    address, app = book.adjudicator, book.find(GAME.artifact.name).address
    if seen == "adjudicator":
        address = deploy_contract(chain, "Adjudicator")
    else:
        app = deploy_contract(chain, GAME.artifact.name)
    agreement = agree_with_wallet(Adjudicator(chain, address), fixed_part(app, PYTHON), GAME)
    node.tell(**task("play", chain, agreement, GAME.artifact.name, 0, book.factory))

    told = node.wait()
    assert told["refused"] == "NotGenuine"
    name, looks_alike = ("Adjudicator", address) if seen == "adjudicator" else (GAME.artifact.name, app)
    genuine = book.find(name).address
    assert told["message"] == f"0x{looks_alike.hex()} is not a genuine {name}, which stands at 0x{genuine.hex()}"


def setup_of(table: Table, key: Key, to_sign: bytes) -> SignedState:
    return SignedState(table.agreement.setup_state(0), {0: key.sign(to_sign)})


def listener(playground: Playground, node: NodeLine) -> Table:
    """JavaScript in the second seat takes in one message."""
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator, app_errors(GAME.artifact, GAME.errors))
    fixed = fixed_part(playground.book.find(GAME.artifact.name).address, PYTHON, seat=1)
    agreement = agree_with_wallet(adjudicator, fixed, GAME)
    node.tell(**task("listen", playground.chain, agreement, GAME.artifact.name, 0))
    return Table(node, agreement, GAME, adjudicator, chooser(), 0)


def test_a_good_message_is_taken(playground: Playground, node: NodeLine) -> None:
    table = listener(playground, node)
    state = table.agreement.setup_state(0)
    to_sign = digest(table.agreement.domain, hash_state(table.agreement.channel_id, state).state)
    node.send(encode_message(table.agreement.channel_id, setup_of(table, PYTHON, to_sign)))
    assert node.wait()["turn"] == 0


def test_a_signature_for_another_chain_is_told(playground: Playground, node: NodeLine) -> None:
    table = listener(playground, node)
    domain = table.agreement.domain
    elsewhere = Domain(domain.chain_id + 1, domain.adjudicator)
    id_ = channel_id(table.agreement.fixed_part, domain)
    to_sign = digest(elsewhere, hash_state(id_, table.agreement.setup_state(0)).state)
    node.send(encode_message(table.agreement.channel_id, setup_of(table, PYTHON, to_sign)))
    told = node.wait()
    assert told["refused"] == "WrongSigner"
    assert told["message"].endswith(f"has signed, not 0x{PYTHON.address.hex()}")


def test_a_state_that_is_signed_as_another_type_is_told(playground: Playground, node: NodeLine) -> None:
    table = tic_tac_toe(playground, node, "wrongType")
    while not table.faults:
        table.client.poll() or node.wait()
    (fault,) = table.faults
    assert isinstance(fault, MessageRefused)
    assert isinstance(fault.reason, WrongSigner)


@pytest.mark.parametrize(
    ("cut", "why"),
    [
        (1, "message: record is not hex"),
        (2, "record: it has 383 bytes, which do not fit its head"),
        (2 * 336, "record: it has 48 bytes, and no room for an allocation"),
    ],
)
def test_a_message_with_a_cut_record_is_told(playground: Playground, node: NodeLine, cut: int, why: str) -> None:
    table = listener(playground, node)
    message = encode_message(table.agreement.channel_id, setup_of(table, PYTHON, word(1)))
    node.send(re.sub(rb'"record":"(0x\w+)"', lambda found: b'"record":"%s"' % found[1][:-cut], message))
    assert node.wait() == {"refused": "MalformedBytes", "message": why}


def challenge_log(playground: Playground) -> RawLog:
    """A log of a challenge, as a node gives it."""
    chain = playground.chain
    adjudicator = Adjudicator(chain, deploy_contract(chain, "Adjudicator"))
    fixed = fixed_part(deploy_contract(chain, "CountingApp"), PYTHON)
    keys = (THROW_AWAY, PYTHON)
    states = tuple(
        VariablePart(agree_with_wallet(adjudicator, fixed, COUNTING).outcome, count_data(t), t) for t in (10, 11)
    )
    given = proof(*states, keys=keys, fixed=fixed, domain=adjudicator.domain)
    block = adjudicator.send(adjudicator.challenge(fixed, given), PYTHON).block_number
    (log,) = chain.logs(adjudicator.address, (), block, block)
    return log


@pytest.mark.parametrize("kept", sampled([0, 31, 32, 200, -1], every=3))
def test_a_cut_log_is_told(playground: Playground, node: NodeLine, kept: int) -> None:
    """From nothing of its data to all of it."""
    log = challenge_log(playground)
    adjudicator = Adjudicator(playground.chain, playground.book.adjudicator)
    agreement = agree_with_wallet(adjudicator, fixed_part(bytes(20), PYTHON), GAME)
    node.tell(**task("log", playground.chain, agreement, GAME.artifact.name, 0))
    data = log.data if kept == -1 else log.data[:kept]
    node.tell(log={"topics": ["0x" + topic.hex() for topic in log.topics], "data": "0x" + data.hex()})
    told = node.wait()
    if kept == -1:
        assert told["done"] == []
    else:
        assert told["refused"] == "MalformedBytes"
        assert told["message"].startswith("log: ")
