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
        unchecked {
            for (uint256 index = 0; cursor < msg.data.length; ++index) {
                uint256 gasAllowance = Reader.number(cursor, 3);
                uint256 size = Reader.number(cursor + 3, 2);
                cursor += HEAD;
                if (cursor + size > msg.data.length) {
                    revert IAdjudicator.LengthMismatch(cursor + size, msg.data.length);
                }
                uint32 selector = size < 4 ? 0 : uint32(Reader.number(cursor, 4));
                if (!_isAllowed(selector)) revert IAdjudicator.NotInABatch(bytes4(selector));
                (bool success, bytes4 failure) = _tryCall(gasAllowance, cursor, size);
                if (!success) emit IAdjudicator.BatchFailed(index, failure);
                cursor += size;
            }
        }
    }

    /// @dev A deposit or a claim would take the contract for its sender.
    function _isAllowed(uint32 selector) private pure returns (bool) {
        if (selector == uint32(IAdjudicator.conclude.selector)) return true;
        if (selector == uint32(IAdjudicator.checkpoint.selector)) return true;
        if (selector == uint32(IAdjudicator.respond.selector)) return true;
        if (selector == uint32(IAdjudicator.transfer.selector)) return true;
        return selector == uint32(IAdjudicator.challenge.selector);
    }

    /// @dev Calls with `size` bytes of calldata, in memory that the next item writes over. Four bytes of what an item fails
    /// with: all of it would be paid by the others.
    function _tryCall(uint256 gasAllowance, uint256 cursor, uint256 size)
        private
        returns (bool success, bytes4 failure)
    {
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, cursor, size)
            mstore(0, 0)
            success := call(gasAllowance, address(), 0, data, size, 0, 4)
            failure := mload(0)
        }
    }
}
