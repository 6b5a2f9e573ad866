// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, VariablePart} from "../../contracts/types/Channel.sol";
import {World} from "./World.sol";

/// @title A call that is accepted is read to its end, and says nothing else
contract ReaderProofs is World {
    // ------------------------------------------------------------------------------------- more or less than is read

    /// @dev A checkpoint with one more byte, with one less, and with none of the last signature.
    function check_checkpoint_is_read_to_its_end() public {
        bytes memory call = _checkpoint(SVM.createBool("is final") ? 1 : 0);
        bytes memory more = bytes.concat(call, bytes1(uint8(SVM.createUint(8, "more"))));
        assert(!_accepted(more));
        assert(!_accepted(_cut(call, 1)));
        assert(!_accepted(_cut(call, 64)));
    }

    function check_checkpoint_is_read_to_its_end_twin() public {
        assert(!_accepted(_checkpoint(SVM.createBool("is final") ? 1 : 0)));
    }

    function check_conclusion_is_read_to_its_end() public {
        bytes memory call = _conclusion();
        bytes memory more = bytes.concat(call, bytes1(uint8(SVM.createUint(8, "more"))));
        assert(!_accepted(more));
        assert(!_accepted(_cut(call, 1)));
        assert(!_accepted(_cut(call, 65)));
    }

    function check_conclusion_is_read_to_its_end_twin() public {
        assert(!_accepted(_conclusion()));
    }

    // ---------------------------------------------------------------------------------------------------------- flags

    /// @dev Of a state without appData and evidence: whether it is final, and nothing else.
    function check_flags_say_one_thing() public {
        uint8 flags = _anyFlags();
        if (_accepted(_checkpoint(flags))) assert(flags < 2);
    }

    function check_flags_say_one_thing_twin() public {
        uint8 flags = _anyFlags();
        if (_accepted(_checkpoint(flags))) assert(flags == 0);
    }

    /// @dev Where evidence follows, its length would be in the signatures: nothing is said of that.
    function _anyFlags() private pure returns (uint8 flags) {
        flags = uint8(SVM.createUint(8, "flags"));
        VM.assume(flags & 16 == 0);
    }

    // --------------------------------------------------------------------------------------------------------- events

    /// @dev With one state of a channel of two that any word is stored of.
    function _checkpoint(uint8 flags) private returns (bytes memory) {
        FixedPart memory fixedPart = _any();
        VariablePart memory state = _anyState(_anyTurn());
        bytes memory given = _packed(state);
        given[0] = bytes1(flags);
        bytes memory proof = abi.encodePacked(state.turnNum, uint8(1), given, _anySignatures(2));
        return abi.encodePacked(adjudicator.checkpoint.selector, _packed(fixedPart), proof);
    }

    function _conclusion() private returns (bytes memory) {
        FixedPart memory fixedPart = _any();
        bytes memory signed = abi.encodePacked(_anyTurn(), _packed(_anyOutcome(ETHER)), _anySignatures(2));
        return abi.encodePacked(adjudicator.conclude.selector, _packed(fixedPart), signed, uint8(7));
    }

    function _any() private returns (FixedPart memory fixedPart) {
        fixedPart = _anyFixedPart(_anyApp());
        _anyTime();
        _anyWord(adjudicator.channelIdOf(fixedPart), ETHER);
    }

    function _accepted(bytes memory call) private returns (bool done) {
        (done,) = address(adjudicator).call(call);
    }

    function _cut(bytes memory call, uint256 count) private pure returns (bytes memory shorter) {
        shorter = bytes.concat(call);
        assembly ("memory-safe") {
            mstore(shorter, sub(mload(shorter), count))
        }
    }
}
