// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Signature, VariablePart} from "../types/Channel.sol";

/// @title Records: a state and its signatures, packed for a log
/// @dev Layout: the allocations, 96 bytes each (asset, destination and amount as words); appData; evidence; the signatures, 64
/// bytes each. The 12 bytes before the first asset, which are zero in a word, hold the head: turnNum 6 bytes, isFinal 1,
/// number of allocations 1, length of appData 2, length of evidence 2. The ABI encoding of the same
/// values would be a third longer and costs ten times the gas to make, which is why this is assembly: three copies.
library Records {
    /// @dev The state's turn number is `turnNum`.
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

    /// @dev All fields of `state` have been read before, so their numbers and offsets are known to be good.
    /// @param start Where in calldata the signatures are.
    /// @param size How many bytes they have.
    function _pack(VariablePart calldata state, uint48 turnNum, uint256 start, uint256 size)
        private
        pure
        returns (bytes memory record)
    {
        assembly ("memory-safe") {
            let outcome := add(state, calldataload(state))
            let appData := add(state, calldataload(add(state, 0x20)))
            let evidence := add(state, calldataload(add(state, 0x40)))
            let isFinal := calldataload(add(state, 0x80))
            let count := calldataload(outcome)
            let length := calldataload(appData)
            let head := or(or(shl(208, turnNum), shl(200, isFinal)), or(shl(192, count), shl(176, length)))
            head := or(head, shl(160, calldataload(evidence)))
            record := mload(0x40)
            let p := add(record, 0x20)
            let allocations := mul(count, 0x60)
            calldatacopy(p, add(outcome, 0x20), allocations)
            mstore(p, or(head, mload(p)))
            p := add(p, allocations)
            calldatacopy(p, add(appData, 0x20), length)
            p := add(p, length)
            length := calldataload(evidence)
            calldatacopy(p, add(evidence, 0x20), length)
            p := add(p, length)
            calldatacopy(p, start, size)
            p := add(p, size)
            mstore(record, sub(sub(p, record), 0x20))
            mstore(0x40, and(add(p, 0x1f), not(0x1f)))
        }
    }
}
