// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../../contracts/interfaces/IForceMoveApp.sol";
import {Allocation, VariablePart} from "../../contracts/types/Channel.sol";
import {World, both, either} from "./World.sol";

/// @title A move of a game moves money between the two, and makes and loses none
contract GameProofs is World {
    /// @param from The words of the position before.
    /// @param to The words of the position after.
    struct Move {
        Allocation[] before;
        Allocation[] later;
        uint256[] from;
        uint256[] to;
        bool done;
    }

    function check_tic_tac_toe_keeps_the_sum_even() public {
        _requireSumKept(_ticTacToe(6));
    }

    function check_tic_tac_toe_keeps_the_sum_even_twin() public {
        _requireNothingMoved(_ticTacToe(6));
    }

    function check_tic_tac_toe_keeps_the_sum_odd() public {
        _requireSumKept(_ticTacToe(7));
    }

    function check_tic_tac_toe_keeps_the_sum_odd_twin() public {
        _requireNothingMoved(_ticTacToe(7));
    }

    function check_rock_paper_scissors_keeps_the_sum_even() public {
        _requireSumKept(_rockPaperScissors(6));
    }

    function check_rock_paper_scissors_keeps_the_sum_even_twin() public {
        _requireNothingMoved(_rockPaperScissors(6));
    }

    function check_rock_paper_scissors_keeps_the_sum_odd() public {
        _requireSumKept(_rockPaperScissors(7));
    }

    function check_rock_paper_scissors_keeps_the_sum_odd_twin() public {
        _requireNothingMoved(_rockPaperScissors(7));
    }

    /// @dev The stake stays. No mark goes or changes hands while a round is played, and at most one comes.
    function check_tic_tac_toe_keeps_marks_and_stake() public {
        Move memory move = _ticTacToe(6);
        if (!move.done) return;
        (uint256 noughts, uint256 crosses) = (move.to[2], move.to[3]);
        bool cleared = noughts | crosses == 0;
        bool kept = both(noughts & move.from[2] == move.from[2], crosses & move.from[3] == move.from[3]);
        uint256 changed = (noughts ^ move.from[2]) | (crosses ^ move.from[3]);
        bool oneMore = both(kept, changed & (changed - 1) == 0);
        assert(both(move.to[1] == move.from[1], both(noughts & crosses == 0, either(cleared, oneMore))));
    }

    function check_tic_tac_toe_keeps_marks_and_stake_twin() public {
        Move memory move = _ticTacToe(6);
        if (move.done) assert(move.to[3] == move.from[3]);
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _ticTacToe(uint48 turnNum) private returns (Move memory) {
        return _play("TicTacToe", 4, turnNum);
    }

    function _rockPaperScissors(uint48 turnNum) private returns (Move memory) {
        return _play("RockPaperScissors", 9, turnNum);
    }

    /// @dev The adjudicator asks a game about valid outcomes alone: what is before does not overflow.
    function _play(string memory game, uint256 words, uint48 turnNum) private returns (Move memory move) {
        address app = _deploy(game);
        VariablePart memory from = _anyState(turnNum - 1);
        VariablePart memory to = _anyState(turnNum);
        (move.before, move.later) = (from.outcome, to.outcome);
        VM.assume(move.before[0].amount <= type(uint256).max - move.before[1].amount);
        (move.from, from.appData) = _anyWords(words);
        (move.to, to.appData) = _anyWords(words);
        bytes32 channelId = SVM.createBytes32("channel");
        (move.done,) = app.call(abi.encodeCall(IForceMoveApp.validTransition, (channelId, from, to, 2)));
    }

    function _anyWords(uint256 count) private pure returns (uint256[] memory words, bytes memory data) {
        words = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            words[i] = SVM.createUint256("word");
        }
        data = abi.encodePacked(words);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requireSumKept(Move memory move) private pure {
        if (!move.done) return;
        (Allocation[] memory before, Allocation[] memory later) = (move.before, move.later);
        unchecked {
            uint256 total = later[0].amount + later[1].amount;
            bool kept = both(total == before[0].amount + before[1].amount, total >= later[0].amount);
            bool same = both(later[0].destination == before[0].destination, later[1].destination == before[1].destination);
            assert(both(kept, same));
        }
    }

    function _requireNothingMoved(Move memory move) private pure {
        if (move.done) assert(move.later[0].amount == move.before[0].amount);
    }
}
