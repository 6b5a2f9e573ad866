// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Hashing} from "./Hashing.sol";
import {Outcome} from "./Outcomes.sol";

/// @notice A state in memory, as the ABI encodes a `VariablePart`, so that an app is asked with a copy. Evidence that was
/// given by its hash is empty. Three words stand before it: the hash of the state, once it is known; the hash of the
/// evidence; and whether the outcome was given as that of the state before. The value is the address of the encoding.
type GivenState is uint256;

using States for GivenState global;

/// @title States in memory
library States {
    /// @dev The hashes of a state. `outcomeBefore`: that of the outcome of the state before, if there is one.
    function hashes(GivenState state, bytes32 channelId, bytes32 outcomeBefore)
        internal
        pure
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        outcomeHash = state.keepsOutcome() ? outcomeBefore : Hashing.outcomeHash(state.outcome());
        bytes32 typehash = Hashing.STATE_TYPEHASH;
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, typehash)
            mstore(add(p, 0x20), channelId)
            mstore(add(p, 0x40), outcomeHash)
            let appData := add(state, mload(add(state, 0x20)))
            mstore(add(p, 0x60), keccak256(add(appData, 0x20), mload(appData)))
            mstore(add(p, 0x80), mload(sub(state, 0x40)))
            mcopy(add(p, 0xa0), add(state, 0x60), 0x40)
            stateHash := keccak256(p, 0xe0)
            mstore(sub(state, 0x60), stateHash)
        }
    }

    /// @dev The hash of a state that was hashed before.
    function hash(GivenState state) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := mload(sub(state, 0x60))
        }
    }

    function outcome(GivenState state) internal pure returns (Outcome result) {
        assembly ("memory-safe") {
            result := add(state, mload(state))
        }
    }

    function appDataHash(GivenState state) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let data := add(state, mload(add(state, 0x20)))
            result := keccak256(add(data, 0x20), mload(data))
        }
    }

    /// @dev How many bytes appData and evidence have, the latter as far as it was given.
    function dataLength(GivenState state) internal pure returns (uint256 length) {
        assembly ("memory-safe") {
            length := add(mload(add(state, mload(add(state, 0x20)))), mload(add(state, mload(add(state, 0x40)))))
        }
    }

    function turnNum(GivenState state) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(state, 0x60))
        }
    }

    function setTurnNum(GivenState state, uint256 value) internal pure {
        assembly ("memory-safe") {
            mstore(add(state, 0x60), value)
        }
    }

    function isFinal(GivenState state) internal pure returns (bool result) {
        assembly ("memory-safe") {
            result := mload(add(state, 0x80))
        }
    }

    function evidenceHash(GivenState state) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := mload(sub(state, 0x40))
        }
    }

    function keepsOutcome(GivenState state) internal pure returns (bool result) {
        assembly ("memory-safe") {
            result := mload(sub(state, 0x20))
        }
    }
}
