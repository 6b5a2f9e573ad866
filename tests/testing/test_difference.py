"""What is said where bytecode and twin differ."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from forcemove import AppError, VariablePart, word
from forcemove.contracts import artifact
from forcemove.testing import difference, evm, walk
from forcemove.testing.calls import TO, Bench, TransitionCall, outcome
from forcemove_games.tic_tac_toe import GAME, game, rules
from tests.protocol.builders import CountingRules

COUNTING = artifact("CountingApp")
WRONG_COUNT = evm.selector("WrongCount(uint256,uint256)")
BEGIN = walk.first_state(GAME.initial_app_data(walk.terms_of((3, 3), 1)), (3, 3))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "no error: the ABI decoder refuses the calldata, or it reverts without a reason"),
        (
            evm.selector("WrongCount(uint256,uint256)") + word(2) + word(2**64),
            f"WrongCount(expected=2, submitted={2**64:#x})",
        ),
        (evm.selector("Panic(uint256)") + word(0x11), "Panic(0x11): arithmetic overflow"),
        (evm.selector("Panic(uint256)") + word(0x99), "Panic(0x99): see the Solidity manual"),
        (evm.selector("Error(string)") + word(32) + word(2) + b"no".ljust(32, b"\0"), "Error('no')"),
        (b"\x01\x02\x03\x04\x05", "an error that its ABI does not declare: 0x0102030405"),
    ],
)
def test_every_revert_has_words(data: bytes, text: str) -> None:
    assert difference.bytecode_verdict(COUNTING, bytes((len(data),)) + data) == f"refuses it with {text}"


def test_other_answers_have_words() -> None:
    assert difference.bytecode_verdict(COUNTING, b"\xff") == difference.twin_verdict(None) == "accepts it"
    assert difference.bytecode_verdict(COUNTING, None).startswith("neither accepts it with true nor refuses it")


@dataclass(eq=False)
class Named(AppError):
    from_: int
    to: bytes


def test_an_error_of_the_twin_has_the_names_of_the_contract() -> None:
    assert difference.twin_verdict(Named(7, b"\x01\x02")) == "refuses it with Named(from=7, to=0x0102)"


class Lenient(CountingRules):
    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        return True


def counting(number: int, turn: int) -> VariablePart:
    return VariablePart(outcome(5, 5), word(number), turn)


def test_the_change_that_made_a_difference_is_said() -> None:
    call = TransitionCall(counting(3, 3), counting(4, 4))
    with pytest.raises(difference.TwinsDiffer) as found:
        Bench(COUNTING, Lenient()).compare(call, [call.unchanged(), call.amounts(TO, 4, 6), call.word(TO, 0, 9)])
    assert str(found.value) == (
        "CountingApp and its twin differ about the move of participant 0 on turn 4:\n"
        "    CountingApp refuses it with WrongCount(expected=4, submitted=9)\n"
        "    the twin accepts it\n"
        "before (turn 3; amounts 5, 5):\n"
        "    appData: 0x3\n"
        "after (turn 4; amounts 5, 5):\n"
        "    appData: 0x9\n"
        "It was made of a legal move, or of what was asked about, by a change:\n"
        "    after: word 0 of appData is 0x9 instead of 0x4"
    )


def test_other_changes_are_said_too() -> None:
    call = TransitionCall(counting(3, 3), counting(4, 4))
    bench = Bench(COUNTING, Lenient())
    for variation, line in (
        (call.both(call.word(TO, 0, 9), call.amounts(TO, 4, 6)), "after: participant 1 has 6 instead of 5"),
        (call.length(TO, 31), "after: appData of 31 bytes instead of 32"),
    ):
        with pytest.raises(difference.TwinsDiffer, match=line):
            bench.compare(call, [variation])


def test_a_position_that_cannot_be_drawn_hides_nothing() -> None:
    class Crooked(game.TicTacToe):
        @staticmethod
        def valid_transition(*_: object, **__: object) -> bool:
            return True

    to = rules.legal_moves(BEGIN)[0].after(BEGIN)
    call = TransitionCall(BEGIN, to)
    with pytest.raises(difference.TwinsDiffer) as found:
        Bench(GAME.artifact, Crooked()).compare(call, [call.word(TO, 0, 77)])
    assert "no position: the twin refuses it with " in str(found.value)
    assert GAME.board(BEGIN).splitlines()[0] in str(found.value)


def test_an_error_of_python_says_about_which_move() -> None:
    class Failing(CountingRules):
        def valid_transition(self, *_: object) -> bool:
            raise ZeroDivisionError

    call = TransitionCall(counting(3, 3), counting(4, 4))
    with pytest.raises(ZeroDivisionError) as found:
        Bench(COUNTING, Failing()).compare(call, [call.unchanged()])
    (note,) = found.value.__notes__
    assert "    CountingApp accepts it\n    the twin fails: ZeroDivisionError()" in note


def test_an_answer_that_is_neither_true_nor_an_error_is_a_difference() -> None:
    call = TransitionCall(counting(3, 3), counting(4, 4))
    with pytest.raises(difference.TwinsDiffer, match="neither accepts it with true nor refuses it with an error"):
        Bench(artifact("RefusingApp"), CountingRules()).compare(call, [call.unchanged()])
