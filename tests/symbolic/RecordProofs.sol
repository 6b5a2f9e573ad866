// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, Signature, State, VariablePart} from "../../contracts/types/Channel.sol";
import {World, both, either, implies} from "./World.sol";

/// @title What is recorded never falls back, what is final stays, and nothing else is touched
contract RecordProofs is World {
    /// @param later The status afterwards.
    /// @param given What a successful call has to record.
    struct Change {
        bytes32 channelId;
        uint48 duration;
        uint256 before;
        uint256 holdings;
        bool done;
        uint256 later;
        VariablePart given;
    }

    // -------------------------------------------------------------------------------------------------- checkpoint

    function check_checkpoint() public {
        _requireCheckpoint(_checkpoint(2, 1, _anyTurn(), 0));
    }

    function check_checkpoint_twin() public {
        Change memory change = _checkpoint(2, 1, _anyTurn(), 0);
        assert(_turnOf(change.later) != _turnOf(change.before) + 1);
    }

    function check_checkpoint_of_three() public {
        _requireCheckpoint(_checkpoint(3, 1, _anyTurn(), 0));
    }

    function check_checkpoint_of_three_twin() public {
        Change memory change = _checkpoint(3, 1, _anyTurn(), 0);
        assert(_turnOf(change.later) != _turnOf(change.before) + 1);
    }

    /// @dev Each has signed the state of its own turn: participant 0 the first, participant 1 the last.
    function check_checkpoint_of_two_states() public {
        _requireCheckpoint(_checkpoint(2, 2, 7, 0x0100));
    }

    function check_checkpoint_of_two_states_twin() public {
        Change memory change = _checkpoint(2, 2, 7, 0x0100);
        assert(_turnOf(change.later) != _turnOf(change.before) + 1);
    }

    function _requireCheckpoint(Change memory change) private view {
        _requireNoFallingBack(change);
        if (!change.done) return;
        assert(_endOf(change.later) == 0);
        _requireRecorded(change);
    }

    // --------------------------------------------------------------------------------------------------- challenge

    function check_challenge() public {
        Change memory change = _challenge();
        _requireNoFallingBack(change);
        if (!change.done) return;
        assert(_endOf(change.later) == block.timestamp + change.duration);
        _requireRecorded(change);
    }

    function check_challenge_twin() public {
        Change memory change = _challenge();
        bool sameTurn = both(change.before != 0, _turnOf(change.later) == _turnOf(change.before));
        assert(implies(sameTurn, change.later == change.before));
    }

    // ----------------------------------------------------------------------------------------------------- respond

    function check_respond_even() public {
        _requireAnswer(_respond(6));
    }

    function check_respond_even_twin() public {
        Change memory change = _respond(6);
        assert(change.later == change.before);
    }

    function check_respond_odd() public {
        _requireAnswer(_respond(7));
    }

    function check_respond_odd_twin() public {
        Change memory change = _respond(7);
        assert(change.later == change.before);
    }

    function _requireAnswer(Change memory change) private view {
        _requireNoFallingBack(change);
        if (!change.done) return;
        assert(_endOf(change.before) != 0 && _endOf(change.later) == 0);
        _requireRecorded(change);
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @param turnNum Of the last state.
    function _checkpoint(uint256 participants, uint256 count, uint48 turnNum, uint256 signedStates)
        private
        returns (Change memory change)
    {
        FixedPart memory fixedPart = _anyFixedPartOf(participants, _anyApp());
        VariablePart[] memory states = new VariablePart[](count);
        for (uint256 i = 0; i < count; ++i) {
            states[i] = _anyState(uint48(turnNum + i + 1 - count));
        }
        change = _before(fixedPart, states[count - 1]);
        bytes memory call =
            abi.encodeCall(adjudicator.checkpoint, (fixedPart, _anySignatures(participants), states, signedStates));
        (change.done,) = address(adjudicator).call(call);
        _after(change);
    }

    function _challenge() private returns (Change memory change) {
        FixedPart memory fixedPart = _anyFixedPart(_anyApp());
        VariablePart[] memory states = new VariablePart[](1);
        states[0] = _anyState(_anyTurn());
        change = _before(fixedPart, states[0]);
        bytes memory call = abi.encodeCall(
            adjudicator.challenge, (fixedPart, _anySignatures(2), states, 0, _anySignature())
        );
        VM.prank(SVM.createAddress("sender"));
        (change.done,) = address(adjudicator).call(call);
        _after(change);
    }

    /// @dev A fingerprint is recorded with the turn of its state, as the proofs about records say.
    function _respond(uint48 turnNum) private returns (Change memory change) {
        FixedPart memory fixedPart = _anyFixedPart(_anyApp());
        VariablePart memory challenged = _anyState(turnNum - 1);
        VariablePart memory response = _anyState(turnNum);
        change = _before(fixedPart, response);
        VM.assume(_turnOf(change.before) == challenged.turnNum);
        bytes memory call = abi.encodeCall(adjudicator.respond, (fixedPart, challenged, response, _anySignature()));
        (change.done,) = address(adjudicator).call(call);
        _after(change);
    }

    function _before(FixedPart memory fixedPart, VariablePart memory given) private returns (Change memory change) {
        change.channelId = adjudicator.channelIdOf(fixedPart);
        change.duration = fixedPart.challengeDuration;
        _anyTime();
        change.before = _anyStatus(change.channelId);
        change.holdings = _anyHoldings(change.channelId, ETHER);
        change.given = given;
    }

    function _after(Change memory change) private view {
        change.later = _status(change.channelId);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requireNoFallingBack(Change memory change) private view {
        uint48 turn = _turnOf(change.before);
        bool sameTurn = both(change.before != 0, _turnOf(change.later) == turn);
        bool unchanged = change.later == change.before;
        bool mustStay = either(!change.done, _isFinalized(change.before));
        bool good = both(_turnOf(change.later) >= turn, implies(mustStay, unchanged));
        good = both(good, implies(sameTurn, uint160(change.later) == uint160(change.before)));
        assert(both(good, _holdings(change.channelId, ETHER) == change.holdings));
    }

    function _requireRecorded(Change memory change) private view {
        VariablePart memory given = change.given;
        bytes32 stateHash =
            adjudicator.stateHashOf(State(change.channelId, given.outcome, given.appData, given.turnNum, given.isFinal));
        bool sameState = uint160(change.later) == _fingerprint(stateHash, given.outcome);
        assert(both(_turnOf(change.later) == given.turnNum, sameState));
    }
}
