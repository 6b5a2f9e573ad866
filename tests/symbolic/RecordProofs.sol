// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, State, VariablePart} from "../../contracts/types/Channel.sol";
import {World, both, either, implies} from "./World.sol";

/// @title What is recorded never falls back, what is final stays, and nothing else is touched
contract RecordProofs is World {
    /// @param word The word of the home asset before, and `late` the late one.
    /// @param later The word afterwards, and `laterLate` the late one.
    /// @param given What a successful call has to record.
    struct Change {
        bytes32 channelId;
        uint48 duration;
        uint256 total;
        uint256 word;
        uint256 late;
        bool done;
        uint256 later;
        uint256 laterLate;
        VariablePart given;
    }

    // -------------------------------------------------------------------------------------------------- checkpoint

    function check_checkpoint() public {
        _requireCheckpoint(_checkpoint(2, 1, _anyTurn(), ""));
    }

    function check_checkpoint_twin() public {
        Change memory change = _checkpoint(2, 1, _anyTurn(), "");
        assert(_turnOf(change.later) != _turnOf(change.word) + 1);
    }

    function check_checkpoint_of_three() public {
        _requireCheckpoint(_checkpoint(3, 1, _anyTurn(), ""));
    }

    function check_checkpoint_of_three_twin() public {
        Change memory change = _checkpoint(3, 1, _anyTurn(), "");
        assert(_turnOf(change.later) != _turnOf(change.word) + 1);
    }

    /// @dev Each has signed the state of its own turn: participant 0 the first, participant 1 the last.
    function check_checkpoint_of_two_states() public {
        _requireCheckpoint(_checkpoint(2, 2, 7, hex"0001"));
    }

    function check_checkpoint_of_two_states_twin() public {
        Change memory change = _checkpoint(2, 2, 7, hex"0001");
        assert(_turnOf(change.later) != _turnOf(change.word) + 1);
    }

    function _requireCheckpoint(Change memory change) private view {
        _requireNoFallingBack(change);
        if (!change.done) return;
        assert(_endOf(change.later) == 0);
        _requireRecorded(change);
    }

    // --------------------------------------------------------------------------------------------------- challenge

    function check_challenge_even() public {
        _requireChallenge(_challenge(0));
    }

    function check_challenge_even_twin() public {
        _refuteChallenge(_challenge(0));
    }

    function check_challenge_odd() public {
        _requireChallenge(_challenge(1));
    }

    function check_challenge_odd_twin() public {
        _refuteChallenge(_challenge(1));
    }

    function _requireChallenge(Change memory change) private view {
        _requireNoFallingBack(change);
        if (!change.done) return;
        assert(_endOf(change.later) == block.timestamp + change.duration);
        _requireRecorded(change);
    }

    function _refuteChallenge(Change memory change) private pure {
        bool sameTurn = both(_isRecorded(change.word), _turnOf(change.later) == _turnOf(change.word));
        assert(implies(sameTurn, change.later == change.word));
    }

    // ----------------------------------------------------------------------------------------------------- respond

    function check_respond_even() public {
        _requireAnswer(_respond(6));
    }

    function check_respond_even_twin() public {
        Change memory change = _respond(6);
        assert(change.later == change.word);
    }

    function check_respond_odd() public {
        _requireAnswer(_respond(7));
    }

    function check_respond_odd_twin() public {
        Change memory change = _respond(7);
        assert(change.later == change.word);
    }

    function _requireAnswer(Change memory change) private view {
        _requireNoFallingBack(change);
        if (!change.done) return;
        assert(_endOf(change.word) != 0 && _endOf(change.later) == 0);
        _requireRecorded(change);
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @param turnNum Of the last state.
    /// @param signed The index of the state that each participant has signed, where there are several.
    function _checkpoint(uint256 participants, uint256 count, uint48 turnNum, bytes memory signed)
        private
        returns (Change memory change)
    {
        FixedPart memory fixedPart = _anyFixedPartOf(participants, _anyApp());
        bytes memory states;
        VariablePart memory state;
        for (uint256 i = 0; i < count; ++i) {
            state = _anyState(uint48(turnNum + i + 1 - count));
            states = bytes.concat(states, _packed(state));
        }
        change = _before(fixedPart, state);
        bytes memory proof = abi.encodePacked(turnNum, uint8(count), states, signed, _anySignatures(participants));
        bytes memory call = abi.encodePacked(adjudicator.checkpoint.selector, _packed(fixedPart), proof);
        (change.done,) = address(adjudicator).call(call);
        _after(change);
    }

    /// @param seat Who moves at the turn of the state.
    function _challenge(uint48 seat) private returns (Change memory change) {
        FixedPart memory fixedPart = _anyFixedPart(_anyApp());
        VariablePart memory state = _anyState((uint48(SVM.createUint(47, "half of the turn")) << 1) | seat);
        change = _before(fixedPart, state);
        bytes memory proof = abi.encodePacked(state.turnNum, uint8(1), _packed(state), _anySignatures(2));
        bytes memory call =
            abi.encodePacked(adjudicator.challenge.selector, _packed(fixedPart), proof, _anySignatures(1));
        VM.prank(SVM.createAddress("sender"));
        (change.done,) = address(adjudicator).call(call);
        _after(change);
    }

    /// @dev A fingerprint is recorded with the turn of its state, as the proofs about records say. By the turn the
    /// adjudicator finds who moves: it is not part of what is unknown.
    function _respond(uint48 turnNum) private returns (Change memory change) {
        FixedPart memory fixedPart = _anyFixedPart(_anyApp());
        VariablePart memory challenged = _anyState(turnNum - 1);
        VariablePart memory response = _anyState(turnNum);
        change = _before(fixedPart, response, _anyWordOf(challenged.turnNum));
        bytes memory states = bytes.concat(_packed(challenged), _packed(response));
        bytes memory call = abi.encodePacked(
            adjudicator.respond.selector, _packed(fixedPart), states, _anySignatures(1)
        );
        (change.done,) = address(adjudicator).call(call);
        _after(change);
    }

    function _before(FixedPart memory fixedPart, VariablePart memory given) private returns (Change memory) {
        return _before(fixedPart, given, _anyWord());
    }

    function _before(FixedPart memory fixedPart, VariablePart memory given, uint256 word)
        private
        returns (Change memory change)
    {
        change.channelId = adjudicator.channelIdOf(fixedPart);
        change.duration = fixedPart.challengeDuration;
        _anyTime();
        change.total = fixedPart.total;
        change.word = word;
        _storeWord(change.channelId, ETHER, word);
        change.late = _anyLate(change.channelId, ETHER);
        VM.assume(_isPossible(change));
        change.given = given;
    }

    /// @dev Without a record the late word is empty and nothing has been paid. A full channel holds its total, and in the
    /// late word what is over; both fit into a word.
    function _isPossible(Change memory change) private pure returns (bool) {
        uint256 word = change.word;
        bool unpaid = both(change.late == 0, either(word & CLOSED != 0, word & PAYOUT_BEGUN == 0));
        bool over = (word & SURPLUS != 0) == (change.late != 0);
        unchecked {
            bool fits = both(change.total - 1 < MAX_HELD, change.late <= MAX_HELD - change.total);
            return both(either(_isRecorded(word), unpaid), implies(_isFull(word), both(over, fits)));
        }
    }

    function _after(Change memory change) private view {
        change.later = _word(change.channelId, ETHER);
        change.laterLate = _late(change.channelId, ETHER);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requireNoFallingBack(Change memory change) private view {
        uint48 turn = _turnOf(change.word);
        bool recorded = _isRecorded(change.word);
        bool sameTurn = both(recorded, _turnOf(change.later) == turn);
        bool unchanged = both(change.later == change.word, change.laterLate == change.late);
        bool mustStay = either(!change.done, either(_isFinalized(change.word), change.word & CLOSED != 0));
        bool good = both(_turnOf(change.later) >= turn, implies(mustStay, unchanged));
        assert(both(good, implies(sameTurn, _fingerprintIn(change.later) == _fingerprintIn(change.word))));
        _requireHeldKept(change, recorded);
    }

    /// @dev The channel holds what it held. What it holds beside the record when it is first recorded is full or not.
    function _requireHeldKept(Change memory change, bool recorded) private pure {
        uint256 held = _heldOf(change.word, change.late, change.total);
        bool kept = _heldOf(change.later, change.laterLate, change.total) == held;
        bool sameFlags = (change.later ^ change.word) & (FULL | SURPLUS) == 0;
        assert(both(kept, implies(recorded, both(sameFlags, change.laterLate == change.late))));
        bool full = both(change.total != 0, held >= change.total);
        bool first = both(change.done, !recorded);
        bool over = (change.later & SURPLUS != 0) == both(full, held != change.total);
        assert(implies(first, both(_isFull(change.later) == full, both(over, change.laterLate <= MAX_HELD))));
    }

    function _requireRecorded(Change memory change) private view {
        VariablePart memory given = change.given;
        bytes32 stateHash = adjudicator.stateHashOf(
            State(change.channelId, given.outcome, given.appData, given.evidence, given.turnNum, given.isFinal)
        );
        bool sameState = _fingerprintIn(change.later) == _fingerprint(stateHash, given.outcome);
        assert(both(_turnOf(change.later) == given.turnNum, sameState));
    }
}
