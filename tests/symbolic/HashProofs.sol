// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, State, VariablePart} from "../../contracts/types/Channel.sol";
import {World, both, select} from "./World.sol";

/// @title Ids and hashes name one thing, and words are where the other proofs read and write them
contract HashProofs is World {
    function check_slots() public {
        _requireSlots(ETHER);
        _requireSlots(address(0xa55e7));
    }

    function check_slots_twin() public {
        bytes32 channelId = SVM.createBytes32("channel");
        uint256 word = _anyWord(channelId, ETHER);
        assert(adjudicator.statusOf(channelId, ETHER) != word);
    }

    /// @dev The asset is a number: an asset that stands for all would be a place in the storage that does.
    function _requireSlots(address asset) private {
        bytes32 channelId = SVM.createBytes32("channel");
        address account = SVM.createAddress("account");
        uint256 total = SVM.createUint(253, "total");
        uint256 word = _anyWord(channelId, asset);
        uint256 late = _anyLate(channelId, asset);
        uint256 credit = _anyCredit(account, asset);
        assert(adjudicator.creditOf(account, asset) == credit);
        assert(adjudicator.statusOf(channelId, asset) == select(_isRecorded(word), word, 0));
        (uint256 held, bool payoutBegun, bool closed) = adjudicator.holdingsOf(channelId, asset, total);
        bool begun = select(_isRecorded(word), late, word) & (CLOSED | PAYOUT_BEGUN) != 0;
        assert(both(held == _heldOf(word, late, total), both(payoutBegun == begun, closed == (word & CLOSED != 0))));
    }

    function check_state_hash() public view {
        (State memory one, State memory other, bool same) = _twoStates();
        if (!same) return;
        assert(one.channelId == other.channelId && one.turnNum == other.turnNum && one.isFinal == other.isFinal);
        assert(keccak256(one.appData) == keccak256(other.appData));
        assert(keccak256(one.evidence) == keccak256(other.evidence));
        for (uint256 i = 0; i < 2; ++i) {
            assert(one.outcome[i].asset == other.outcome[i].asset);
            assert(one.outcome[i].destination == other.outcome[i].destination);
            assert(one.outcome[i].amount == other.outcome[i].amount);
        }
    }

    function check_state_hash_twin() public view {
        (,, bool same) = _twoStates();
        assert(!same);
    }

    function check_channel_id() public view {
        (FixedPart memory one, FixedPart memory other, bool same) = _twoFixedParts();
        if (!same) return;
        assert(one.channelNonce == other.channelNonce && one.appDefinition == other.appDefinition);
        assert(one.challengeDuration == other.challengeDuration);
        assert(one.asset == other.asset && one.total == other.total);
        assert(one.participants[0] == other.participants[0] && one.participants[1] == other.participants[1]);
    }

    function check_channel_id_twin() public view {
        (,, bool same) = _twoFixedParts();
        assert(!same);
    }

    function _twoStates() private view returns (State memory one, State memory other, bool same) {
        one = _anyWholeState();
        other = _anyWholeState();
        same = adjudicator.stateHashOf(one) == adjudicator.stateHashOf(other);
    }

    function _twoFixedParts() private view returns (FixedPart memory one, FixedPart memory other, bool same) {
        one = _anyFixedPart(SVM.createAddress("app"));
        other = _anyFixedPart(SVM.createAddress("app"));
        (one.asset, other.asset) = (SVM.createAddress("home"), SVM.createAddress("home"));
        same = adjudicator.channelIdOf(one) == adjudicator.channelIdOf(other);
    }

    function _anyWholeState() private pure returns (State memory) {
        VariablePart memory state = _anyState(_anyTurn());
        bytes memory appData = abi.encode(SVM.createUint256("appData"));
        bytes memory evidence = abi.encode(SVM.createUint256("evidence"));
        return State(SVM.createBytes32("channel"), state.outcome, appData, evidence, state.turnNum, state.isFinal);
    }
}
