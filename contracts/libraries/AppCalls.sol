// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {GivenState} from "./States.sol";

/// @title The question that an app is asked
/// @dev Written in assembly because states are in memory as the ABI encodes them, and only need to be copied. Proved equal to
/// `abi.encodeCall` by test.
library AppCalls {
    /// @dev Refuses the move unless the app answers exactly true. What the app reverts with is passed on.
    function requireValidMove(address app, bytes32 channelId, GivenState from, GivenState to, uint256 count)
        internal
        view
    {
        (bool success, bytes32 answer,) =
            LowLevelCall.staticcallReturn64Bytes(app, encode(channelId, from, to, count));
        if (!success) LowLevelCall.bubbleRevert();
        if (LowLevelCall.returnDataSize() < 32 || uint256(answer) != 1) revert IAdjudicator.TransitionRefused();
    }

    /// @dev abi.encodeCall(IForceMoveApp.validTransition, (channelId, from, to, count)), with no evidence in `from`.
    function encode(bytes32 channelId, GivenState from, GivenState to, uint256 count)
        internal
        pure
        returns (bytes memory data)
    {
        bytes4 selector = IForceMoveApp.validTransition.selector;
        assembly ("memory-safe") {
            data := mload(0x40)
            mstore(add(data, 0x20), selector)
            let head := add(data, 0x24)
            mstore(head, channelId)
            mstore(add(head, 0x20), 0x80)
            mstore(add(head, 0x60), count)
            let end := add(head, 0x80)
            // Evidence is a state's last member: only its length is written of that of `from`.
            let size := mload(add(from, 0x40))
            mcopy(end, from, size)
            mstore(add(end, size), 0)
            end := add(add(end, size), 0x20)
            mstore(add(head, 0x40), sub(end, head))
            size := mload(add(to, 0x40))
            size := add(size, and(add(mload(add(to, size)), 0x3f), not(0x1f)))
            mcopy(end, to, size)
            end := add(end, size)
            mstore(data, sub(sub(end, data), 0x20))
            mstore(0x40, and(add(end, 0x1f), not(0x1f)))
        }
    }
}
