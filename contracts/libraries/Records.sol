// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, Signature, VariablePart} from "../types/Channel.sol";

/// @title Records: a state and its signatures, packed for a log
/// @dev Layout: the allocations, 96 bytes each (asset, destination and amount as words); appData; the signatures, 64
/// bytes each. The 12 bytes before the first asset, which are zero in a word, hold the head: turnNum 6 bytes, isFinal 1,
/// number of allocations 1, length of appData 2, and 2 of zero. The ABI encoding of the same
/// values would be a third longer and costs ten times the gas to make, which is why this is assembly: three copies.
library Records {
    /// @dev The state, whose turn number is `turnNum`, has been found valid, so its numbers fit.
    function pack(VariablePart calldata state, uint48 turnNum, Signature[] calldata signatures)
        internal
        pure
        returns (bytes memory)
    {
        uint256 start;
        assembly ("memory-safe") {
            start := signatures.offset
        }
        return _pack(state, turnNum, start, signatures.length * 64);
    }

    /// @dev With one signature.
    function pack(VariablePart calldata state, uint48 turnNum, Signature calldata signature)
        internal
        pure
        returns (bytes memory)
    {
        uint256 start;
        assembly ("memory-safe") {
            start := signature
        }
        return _pack(state, turnNum, start, 64);
    }

    /// @param start Where in calldata the signatures are.
    /// @param size How many bytes they have.
    function _pack(VariablePart calldata state, uint48 turnNum, uint256 start, uint256 size)
        private
        pure
        returns (bytes memory record)
    {
        Allocation[] calldata outcome = state.outcome;
        bytes calldata appData = state.appData;
        uint256 header =
            (uint256(turnNum) << 32) | (state.isFinal ? 1 << 24 : 0) | (outcome.length << 16) | appData.length;
        assembly ("memory-safe") {
            record := mload(0x40)
            let p := add(record, 0x20)
            let allocations := mul(outcome.length, 0x60)
            calldatacopy(p, outcome.offset, allocations)
            mstore(p, or(shl(176, header), mload(p)))
            p := add(p, allocations)
            calldatacopy(p, appData.offset, appData.length)
            p := add(p, appData.length)
            calldatacopy(p, start, size)
            p := add(p, size)
            mstore(record, sub(sub(p, record), 0x20))
            mstore(0x40, and(add(p, 0x1f), not(0x1f)))
        }
    }
}
