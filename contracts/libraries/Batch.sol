// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Reader} from "./Reader.sol";

/// @title Several operations in one transaction, of which one that fails stops no other
library Batch {
    /// @dev Gas (3), size of the call (2).
    uint256 private constant HEAD = 5;

    /// @dev Runs the items of calldata one by one, each with its own gas.
    function run() internal {
        uint256 cursor = Reader.START;
        for (uint256 index = 0; cursor < msg.data.length; ++index) {
            uint256 gasAllowance = Reader.number(cursor, 3);
            uint256 size = Reader.number(cursor + 3, 2);
            cursor += HEAD;
            if (cursor + size > msg.data.length) revert IAdjudicator.LengthMismatch(cursor + size, msg.data.length);
            bytes4 selector = size < 4 ? bytes4(0) : bytes4(uint32(Reader.number(cursor, 4)));
            if (!_isAllowed(selector)) revert IAdjudicator.NotInABatch(selector);
            (bool success, bytes4 failure) = _tryCall(gasAllowance, msg.data[cursor:cursor + size]);
            if (!success) emit IAdjudicator.BatchFailed(index, failure);
            cursor += size;
        }
    }

    /// @dev A deposit or a claim would take the contract for its sender.
    function _isAllowed(bytes4 selector) private pure returns (bool) {
        return selector == IAdjudicator.respond.selector || selector == IAdjudicator.checkpoint.selector
            || selector == IAdjudicator.conclude.selector || selector == IAdjudicator.transfer.selector
            || selector == IAdjudicator.challenge.selector;
    }

    /// @dev Four bytes of what an item fails with: all of it would be paid by the others.
    function _tryCall(uint256 gasAllowance, bytes memory data) private returns (bool success, bytes4 failure) {
        assembly ("memory-safe") {
            mstore(0, 0)
            success := call(gasAllowance, address(), 0, add(data, 0x20), mload(data), 0, 4)
            failure := mload(0)
        }
    }
}
