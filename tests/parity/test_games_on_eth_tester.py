"""A part of the games' parity on a chain with blocks and transactions: eth-tester through web3."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice

import pytest
from eth_tester.exceptions import TransactionFailed
from eth_typing import ChecksumAddress
from web3 import EthereumTesterProvider, Web3
from web3.types import TxParams

from forcemove.chain.reverts import revert_data
from forcemove.errors import AppError
from forcemove.protocol.app import Rules
from forcemove.testing.calls import ID, TransitionCall, Variation
from forcemove.testing.properties import neighbours
from forcemove_games.discard import GAME as DISCARD
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.evm import RevertName, artifact, decode_error, function_selector
from tests.expected import known
from tests.parity import discard_space, rock_paper_scissors_space, tic_tac_toe_space

SAMPLE = 250
OF_A_MOVE = 2
"""Of Discard, whose calls take ten times as long: changed calls of a move of each form."""


@pytest.fixture(scope="module")
def web3() -> Web3:
    return Web3(EthereumTesterProvider(), middleware=[])


def deploy(web3: Web3, contract: str) -> ChecksumAddress:
    creation: TxParams = {"from": web3.eth.accounts[0], "data": artifact(contract)["bytecode"], "gas": 5_000_000}
    return known(web3.eth.wait_for_transaction_receipt(web3.eth.send_transaction(creation))["contractAddress"])


def verdict_on_chain(web3: Web3, contract: str, address: ChecksumAddress, variation: Variation) -> RevertName | None:
    """The error of a deployed game, or None where it accepts."""
    calldata = function_selector(contract, "validTransition") + TransitionCall(variation.from_, variation.to).calldata
    try:
        assert int.from_bytes(web3.eth.call({"to": address, "data": calldata}), "big") == 1
    except TransactionFailed as failure:
        data = known(revert_data(failure))
        return decode_error(contract, data)
    return None


def verdict_of_twin(rules: Rules, variation: Variation) -> RevertName | None:
    try:
        rules.valid_transition(ID, variation.from_, variation.to, 2)
    except AppError as error:
        return RevertName(type(error).__name__, tuple(error.values().values()))
    return None


def sample(variations: Sequence[Variation]) -> list[Variation]:
    return random.Random(1).sample(variations, SAMPLE)


def test_tic_tac_toe_on_eth_tester(web3: Web3) -> None:
    questions = islice(tic_tac_toe_space.questions(), 0, None, 997)
    variations = [variation for question in questions for variation in question.variations()[1]]
    address = deploy(web3, TIC_TAC_TOE.artifact.name)
    for variation in sample(variations):
        on_chain = verdict_on_chain(web3, TIC_TAC_TOE.artifact.name, address, variation)
        assert on_chain == verdict_of_twin(TIC_TAC_TOE, variation)


def test_rock_paper_scissors_on_eth_tester(web3: Web3) -> None:
    calls = islice(rock_paper_scissors_space.pairs(), 0, None, 29)
    variations = [variation for call in calls for variation in rock_paper_scissors_space.neighbours(call)]
    address = deploy(web3, ROCK_PAPER_SCISSORS.artifact.name)
    for variation in sample(variations):
        on_chain = verdict_on_chain(web3, ROCK_PAPER_SCISSORS.artifact.name, address, variation)
        assert on_chain == verdict_of_twin(ROCK_PAPER_SCISSORS, variation)


def test_discard_on_eth_tester(web3: Web3) -> None:
    """An honest move of each form, and some that differ from it."""
    address, chance = deploy(web3, DISCARD.artifact.name), random.Random(1)
    errors = set[str]()
    for from_, to in discard_space.moves_of_each_form(1):
        call = TransitionCall(from_, to)
        changed = chance.sample(neighbours(call, chance), OF_A_MOVE)
        for variation in (call.unchanged(), *changed):
            on_chain = verdict_on_chain(web3, DISCARD.artifact.name, address, variation)
            assert on_chain == verdict_of_twin(DISCARD, variation)
            errors.add("" if on_chain is None else on_chain.name)
    assert len(errors) > 5
