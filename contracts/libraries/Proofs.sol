// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GivenState} from "./States.sol";

/// @notice A proof, in memory, that every participant can be held to the last of its states, which are consecutive. The
/// value is the address of its words: how many states there are; whether the first is the recorded one; where in calldata
/// the proof begins, where the indices of the states that the participants have signed begin (there are none where the
/// proof has one state, or is from the record), where the signatures begin, and where the proof ends; then each state.
type Proof is uint256;

using Proofs for Proof global;

/// @title Proofs in memory
library Proofs {
    /// @dev A proof with room for its states; where it ends is set when that is known.
    function create(uint256 count_, bool isFromRecord_, uint256 start_) internal pure returns (Proof proof) {
        assembly ("memory-safe") {
            proof := mload(0x40)
            mstore(proof, count_)
            mstore(add(proof, 0x20), isFromRecord_)
            mstore(add(proof, 0x40), start_)
            mstore(0x40, add(add(proof, 0xc0), shl(5, count_)))
        }
    }

    function setEnds(Proof proof, uint256 signedStart_, uint256 signaturesStart_, uint256 end_) internal pure {
        assembly ("memory-safe") {
            mstore(add(proof, 0x60), signedStart_)
            mstore(add(proof, 0x80), signaturesStart_)
            mstore(add(proof, 0xa0), end_)
        }
    }

    /// @dev The caller knows that there is room.
    function setState(Proof proof, uint256 i, GivenState value) internal pure {
        assembly ("memory-safe") {
            mstore(add(add(proof, 0xc0), shl(5, i)), value)
        }
    }

    function count(Proof proof) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(proof)
        }
    }

    function isFromRecord(Proof proof) internal pure returns (bool result) {
        assembly ("memory-safe") {
            result := mload(add(proof, 0x20))
        }
    }

    function start(Proof proof) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(proof, 0x40))
        }
    }

    function signedStart(Proof proof) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(proof, 0x60))
        }
    }

    function signaturesStart(Proof proof) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(proof, 0x80))
        }
    }

    function end(Proof proof) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(proof, 0xa0))
        }
    }

    /// @dev The caller knows that there is such a state.
    function state(Proof proof, uint256 i) internal pure returns (GivenState result) {
        assembly ("memory-safe") {
            result := mload(add(add(proof, 0xc0), shl(5, i)))
        }
    }

    /// @dev The state that is proved.
    function last(Proof proof) internal pure returns (GivenState result) {
        assembly ("memory-safe") {
            result := mload(add(add(proof, 0xa0), shl(5, mload(proof))))
        }
    }
}
