"""Faults that the contracts might have, each with the proof that finds it.

A fault is a change of the source text; what it is compiled to is not our code, so that the proofs are told to take
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forcemove.contracts import compiler
from scripts.compile_contracts import CONTRACTS, standard_json
from tests.symbolic.building import committed_codes

__all__ = ["FAULTS", "Fault", "FaultMisplaced", "changed_sources", "faulty_codes"]


@dataclass(frozen=True, slots=True)
class Fault:
    """In the file `path` of the contracts `find` becomes `replace`, and `proof` no longer holds about `contract`."""

    name: str
    proof: str
    contract: str
    path: str
    find: str
    replace: str


@dataclass(eq=False)
class FaultMisplaced(Exception):
    """What a fault changes does not occur exactly once in the source, but this many times."""

    fault: str
    times: int


FAULTS = (
    Fault(
        "a turn is recorded again",
        "check_checkpoint",
        "Adjudicator",
        "Adjudicator.sol",
        "if (turnNum <= word.turnNumRecord() && word.isRecorded()) {",
        "if (turnNum < word.turnNumRecord() && word.isRecorded()) {",
    ),
    Fault(
        "of a chain the first state is recorded",
        "check_checkpoint_of_two_states",
        "Adjudicator",
        "libraries/Rules.sol",
        "(stateHash, outcomeHash) = requireValidState(channelId, channel, to, previousOutcome);",
        "(, outcomeHash) = requireValidState(channelId, channel, to, previousOutcome);",
    ),
    Fault(
        "what a payee refuses is credited to the sender",
        "check_transfer_leaves_all_else",
        "Adjudicator",
        "Adjudicator.sol",
        "_credits[to][asset] = amount >",
        "_credits[msg.sender][asset] = amount >",
    ),
    Fault(
        "a conclusion leaves the channel open",
        "check_conclude_in_a_token",
        "Adjudicator",
        "Adjudicator.sol",
        "Words.slotOf(channelId, asset), Words.closed(stuck)",
        "Words.slotOf(channelId, asset), Words.wrap(stuck)",
    ),
    Fault(
        "a checkpoint goes on behind what was read",
        "check_checkpoint_is_read_to_its_end",
        "Adjudicator",
        "libraries/Reader.sol",
        "if (end != msg.data.length) revert",
        "if (false) revert",
    ),
    Fault(
        "a conclusion may end before its push",
        "check_conclusion_is_read_to_its_end",
        "Adjudicator",
        "Adjudicator.sol",
        "Reader.requireEnd(pushAt + 1);",
        "Reader.requireEnd(msg.data.length > pushAt ? pushAt + 1 : pushAt);",
    ),
    Fault(
        "a state has spare flags",
        "check_flags_say_one_thing",
        "Adjudicator",
        "libraries/Reader.sol",
        "if (flags & ~allowed != 0) revert",
        "if (false) revert",
    ),
    Fault(
        "all or nothing",
        "check_transfer",
        "Adjudicator",
        "Adjudicator.sol",
        "outcome.entry(i).amount() < available ? outcome.entry(i).amount() : available;",
        "outcome.entry(i).amount() <= available ? outcome.entry(i).amount() : 0;",
    ),
    Fault(
        "what is due before is not kept back",
        "check_transfer_of_the_second",
        "Adjudicator",
        "Adjudicator.sol",
        """                available -= worth;
                if (worth == 0 || (payout.chosen >> i) & 1 == 0) continue;
""",
        """                if (worth == 0 || (payout.chosen >> i) & 1 == 0) continue;
                available -= worth;
""",
    ),
    Fault(
        "a conclusion leaves what it pays in the holdings",
        "check_conclude_paid",
        "Adjudicator",
        "Adjudicator.sol",
        "_close(channelId, asset, word, 0);",
        "_close(channelId, asset, word, held);",
    ),
    Fault(
        "a conclusion lets the record fall",
        "check_conclude_short_of_the_first",
        "Adjudicator",
        "Adjudicator.sol",
        "turnNum > recorded ? turnNum : recorded,",
        "turnNum,",
    ),
    Fault(
        "a part of a payment leaves the whole owed",
        "check_conclude_short_of_the_second",
        "Adjudicator",
        "Adjudicator.sol",
        "entry.setAmount(rest);",
        "entry.setAmount(rest == 0 ? 0 : rest + payments[i]);",
    ),
    Fault(
        "what has begun to pay takes deposits",
        "check_transfer_keeps_what_is_owed",
        "Adjudicator",
        "Adjudicator.sol",
        "payout.asset), Words.afterPayout(held));",
        "payout.asset), Words.wrap(held));",
    ),
    Fault(
        "the indices are not looked at",
        "check_transfer_of_the_first",
        "Adjudicator",
        "Adjudicator.sol",
        "if (chosen == ALL && _payAll(",
        "if (_payAll(",
    ),
    Fault(
        "what is paid stays in the holdings",
        "check_transfer_of_each",
        "Adjudicator",
        "Adjudicator.sol",
        "                held -= worth;\n",
        "",
    ),
    Fault(
        "an index may come twice",
        "check_transfer_refuses_indices",
        "Adjudicator",
        "Adjudicator.sol",
        "if (i != 0 && index <= Reader.",
        "if (i != 0 && index < Reader.",
    ),
    Fault(
        "a token that says no has paid",
        "check_transfer_of_a_token",
        "Adjudicator",
        "libraries/Payments.sol",
        "size >= 32 && answer == 1",
        "size >= 32",
    ),
    Fault(
        "one asset pays for the other",
        "check_transfer_of_two_assets",
        "Adjudicator",
        "Adjudicator.sol",
        "uint256 available = held;",
        "uint256 available = _heldOf(payout, outcome.entry(0).asset(), total);",
    ),
    Fault(
        "an asset that is not asked for is paid, too",
        "check_transfer_of_one_of_two_assets",
        "Adjudicator",
        "Adjudicator.sol",
        "                if (worth == 0 || (payout.chosen >> i) & 1 == 0) continue;\n",
        "                if (worth == 0) continue;\n",
    ),
    Fault(
        "a closed channel is paid",
        "check_transfer_to_a_channel",
        "Adjudicator",
        "Adjudicator.sol",
        "if (word.isRecorded() || word.isClosed() || !word.fits(amount)) return false;",
        "if (word.isRecorded() || !word.fits(amount)) return false;",
    ),
    Fault(
        "what a closed channel does not take is lost",
        "check_transfer_to_a_channel_in_the_end",
        "Adjudicator",
        "Adjudicator.sol",
        "if (asset == payout.asset) ofHome = stuck;",
        "if (asset == payout.asset) ofHome = 0;",
    ),
    Fault(
        "what is over is not paid",
        "check_conclude_paid",
        "Adjudicator",
        "Adjudicator.sol",
        "last.setAmount(last.amount() + (held - total));",
        "last.setAmount(last.amount());",
    ),
    Fault(
        "the late word outlives the channel",
        "check_transfer_keeps_what_is_owed",
        "Adjudicator",
        "Adjudicator.sol",
        "if (word.isRecorded() && word.hasLate()) Words.store(",
        "if (word.isRecorded() && word.isFull()) Words.store(",
    ),
    Fault(
        "a full channel is filled",
        "check_deposit_into_a_full_channel",
        "Adjudicator",
        "Adjudicator.sol",
        "if (word.isRecorded() && !word.isFull()) {",
        "if (word.isRecorded()) {",
    ),
    Fault(
        "a channel with less than its total is full",
        "check_checkpoint",
        "Adjudicator",
        "Adjudicator.sol",
        "                if (total - 1 < late) {\n                    late -= total;\n",
        "                if (total != 0) {\n                    late = late < total ? 0 : late - total;\n",
    ),
    Fault(
        "an answer forgets that the channel is full",
        "check_respond_even",
        "Adjudicator",
        "libraries/Words.sol",
        "Word.unwrap(before) & (FULL | SURPLUS)",
        "Word.unwrap(before) & SURPLUS",
    ),
    Fault(
        "what was asked for counts, and not what arrives",
        "check_deposit_of_a_token",
        "Adjudicator",
        "Adjudicator.sol",
        "arrived = IERC20(asset).balanceOf(address(this)) - before;",
        "arrived = amount;",
    ),
    Fault(
        "the loser's side is not checked",
        "check_tic_tac_toe_keeps_the_sum_even",
        "TicTacToe",
        "libraries/TwoPlayer.sol",
        "            requireAmount(to, other, from[other].amount - payment);\n",
        "",
    ),
)


def faulty_codes(fault: Fault) -> dict[str, bytes]:
    """The committed creation codes, but of one contract that of the changed source, by our compiler. Raises
    `FaultMisplaced`, and what the compiler raises."""
    name, given = changed_sources(fault)
    output = compiler.compile_standard_json(given, CONTRACTS).contracts[name][fault.contract]
    return committed_codes() | {fault.contract: bytes.fromhex(output["evm"]["bytecode"]["object"])}


def changed_sources(fault: Fault) -> tuple[str, dict[str, Any]]:
    """The file of the contract, and what the compiler is given: the sources with the fault. Raises `FaultMisplaced`."""
    folder = "games/" if fault.contract != "Adjudicator" else ""
    name = f"contracts/{folder}{fault.contract}.sol"
    given = standard_json([CONTRACTS.parent / name])
    source = given["sources"][f"contracts/{fault.path}"]
    if (times := source["content"].count(fault.find)) != 1:
        raise FaultMisplaced(fault.name, times)
    source["content"] = source["content"].replace(fault.find, fault.replace)
    return name, given
