"""The adjudicator's events: each one of the compiled ABI is decoded to the log that the contract meant."""

from __future__ import annotations

from typing import get_args

import pytest

from forcemove.chain.answers import LogPlace, RawLog
from forcemove.chain.codec import decode_log
from forcemove.contracts import artifact
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.logs import Deposited, Log
from tests.evm import signature_of
from tests.parity.core_logs import as_chain_log
from tests.protocol.builders import DOMAIN, TOKEN
from tests.protocol.test_msgpack_codec import ID, LOGGED

LOGS = [*LOGGED, Deposited(ID, TOKEN, 7)]
"""One log at least of each event."""
OF_A_BATCH = "BatchFailed(uint256,bytes4)"
"""Of no channel and no account, and so no log of theirs."""
PLACE = LogPlace(1, bytes(32), bytes(32), 0)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: type(log).__name__)
def test_a_log_that_is_encoded_comes_back(log: Log) -> None:
    address, topics, data = as_chain_log(DOMAIN.adjudicator, log)
    assert decode_log(RawLog(address, topics, data, PLACE)) == log


def test_every_event_of_the_abi_is_among_these_logs() -> None:
    declared = {signature_of(each) for each in artifact("Adjudicator").abi if each["type"] == "event"} - {OF_A_BATCH}
    topics = {as_chain_log(DOMAIN.adjudicator, log).topics[0] for log in LOGS}
    assert {signature for signature in declared if keccak256(signature.encode()) not in topics} == set()
    assert {type(log) for log in LOGS} == set(get_args(Log))
