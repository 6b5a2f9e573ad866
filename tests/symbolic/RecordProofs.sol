// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, VariablePart} from "../../contracts/types/Channel.sol";
import {World} from "./World.sol";

/// @title What is recorded never falls back, and what is final stays
contract RecordProofs is World {
    struct Change {
        bytes32 channelId;
        uint256 before;
        bool done;
        uint256 later;
    }

    function check_checkpoint() public {
        _requireNoFallingBack(_checkpoint());
    }

    function check_checkpoint_twin() public {
        Change memory change = _checkpoint();
        assert(_turnOf(change.later) != _turnOf(change.before) + 1);
    }

    function _checkpoint() private returns (Change memory change) {
        FixedPart memory fixedPart = _anyFixedPart();
        VariablePart[] memory states = new VariablePart[](1);
        states[0] = _anyState(uint48(SVM.createUint(48, "turn")));
        change.channelId = adjudicator.channelIdOf(fixedPart);
        _anyTime();
        change.before = _anyStatus(change.channelId);
        (change.done,) = address(adjudicator)
            .call(abi.encodeCall(adjudicator.checkpoint, (fixedPart, _anySignatures(2), states, 0)));
        change.later = adjudicator.statusOf(change.channelId);
    }

    function _requireNoFallingBack(Change memory change) private view {
        assert(_turnOf(change.later) >= _turnOf(change.before));
        if (!change.done || _isFinalized(change.before)) assert(change.later == change.before);
    }
}
