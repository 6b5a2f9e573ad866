// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title The question that an app is asked
/// @dev Written in assembly because Solidity decodes and encodes a state field by field, for ten times the gas of copying
/// it. Proved equal to `abi.encodeCall` by test, also for calldata that no encoder would make.
library AppCalls {
    /// @dev Refuses the move unless the app answers exactly true. What the app reverts with is passed on.
    function requireValidMove(address app, VariablePart calldata from, VariablePart calldata to, uint256 count)
        internal
        view
    {
        (bool success, bytes32 answer,) = LowLevelCall.staticcallReturn64Bytes(app, encode(from, to, count));
        if (!success) LowLevelCall.bubbleRevert();
        if (LowLevelCall.returnDataSize() < 32 || uint256(answer) != 1) revert IAdjudicator.TransitionRefused();
    }

    /// @dev abi.encodeCall(IForceMoveApp.validTransition, (from, to, count)). Every field of both states has been read
    /// before, so their numbers and offsets are known to be good.
    function encode(VariablePart calldata from, VariablePart calldata to, uint256 count)
        internal
        pure
        returns (bytes memory data)
    {
        bytes4 selector = IForceMoveApp.validTransition.selector;
        uint256 head;
        uint256 tail;
        assembly ("memory-safe") {
            data := mload(0x40)
            mstore(add(data, 0x20), selector)
            head := add(data, 0x24)
            mstore(head, 0x60)
            mstore(add(head, 0x40), count)
            tail := add(head, 0x60)
        }
        tail = _append(tail, from);
        assembly ("memory-safe") {
            mstore(add(head, 0x20), sub(tail, head))
        }
        tail = _append(tail, to);
        assembly ("memory-safe") {
            mstore(data, sub(sub(tail, data), 0x20))
            mstore(0x40, and(add(tail, 0x1f), not(0x1f)))
        }
    }

    /// @dev Writes the encoding of `state` to memory at `start`, and returns where it ends.
    function _append(uint256 start, VariablePart calldata state) private pure returns (uint256 end) {
        assembly ("memory-safe") {
            let outcome := add(state, calldataload(state))
            let appData := add(state, calldataload(add(state, 0x20)))
            let size := add(0x20, mul(calldataload(outcome), 0x60))
            mstore(start, 0x80)
            mstore(add(start, 0x20), add(0x80, size))
            calldatacopy(add(start, 0x40), add(state, 0x40), 0x40)
            end := add(start, 0x80)
            calldatacopy(end, outcome, size)
            end := add(end, size)
            size := calldataload(appData)
            mstore(end, size)
            end := add(end, 0x20)
            // Zeroes come after the bytes, up to a whole word.
            mstore(add(end, size), 0)
            calldatacopy(end, add(appData, 0x20), size)
            end := add(end, and(add(size, 0x1f), not(0x1f)))
        }
    }
}
