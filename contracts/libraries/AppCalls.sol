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
    function requireValidMove(
        address app,
        bytes32 channelId,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256 count
    ) internal view {
        (bool success, bytes32 answer,) =
            LowLevelCall.staticcallReturn64Bytes(app, encode(channelId, from, to, count));
        if (!success) LowLevelCall.bubbleRevert();
        if (LowLevelCall.returnDataSize() < 32 || uint256(answer) != 1) revert IAdjudicator.TransitionRefused();
    }

    /// @dev abi.encodeCall(IForceMoveApp.validTransition, (channelId, from, to, count)), with no evidence in `from`. Every
    /// field of both states has been read before, so their numbers and offsets are known to be good.
    function encode(bytes32 channelId, VariablePart calldata from, VariablePart calldata to, uint256 count)
        internal
        pure
        returns (bytes memory data)
    {
        bytes4 selector = IForceMoveApp.validTransition.selector;
        assembly ("memory-safe") {
            // Writes bytes from calldata to memory at p. The last word is zeroed before it is written.
            function appendBytes(p, source) -> end {
                let size := calldataload(source)
                end := add(p, and(add(size, 0x3f), not(0x1f)))
                mstore(sub(end, 0x20), 0)
                calldatacopy(p, source, add(size, 0x20))
            }
            // Writes the encoding of a state, but for its evidence, to memory at p.
            function append(p, state) -> end {
                let outcome := add(state, calldataload(state))
                let size := add(0x20, mul(calldataload(outcome), 0x60))
                mstore(p, 0xa0)
                mstore(add(p, 0x20), add(0xa0, size))
                calldatacopy(add(p, 0x60), add(state, 0x60), 0x40)
                calldatacopy(add(p, 0xa0), outcome, size)
                end := appendBytes(add(p, add(0xa0, size)), add(state, calldataload(add(state, 0x20))))
                mstore(add(p, 0x40), sub(end, p))
            }
            data := mload(0x40)
            mstore(add(data, 0x20), selector)
            let head := add(data, 0x24)
            mstore(head, channelId)
            mstore(add(head, 0x20), 0x80)
            mstore(add(head, 0x60), count)
            let end := append(add(head, 0x80), from)
            mstore(end, 0)
            end := add(end, 0x20)
            mstore(add(head, 0x40), sub(end, head))
            end := appendBytes(append(end, to), add(to, calldataload(add(to, 0x40))))
            mstore(data, sub(sub(end, data), 0x20))
            mstore(0x40, and(add(end, 0x1f), not(0x1f)))
        }
    }
}
