// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";

/// @title Payments that cannot hurt the payer
/// @dev Low-level calls, because neither a recipient nor an asset is trusted: whatever it does, the outcome is one bool.
/// The calls are assembly so that at most 32 bytes of what they return are copied.
library Payments {
    /// @dev The unit in which senders say how much gas a pushed payment may use.
    uint256 internal constant PUSH_STEP = 16_384;
    /// @dev A payee may need this much gas beside two new storage slots before a refusal is its own fault.
    uint256 internal constant PUSH_FLOOR = 60_000;
    /// @dev Written and cleared, with the slot after it, to measure what two cost: keccak256("forcemove.scratch").
    uint256 private constant SCRATCH = 0x687a89945d28dd03d09d738a3fb128909da40fe4c025614f44ab00e14c22056c;

    /// @dev The gas for the next payment: `steps`, or what the sender's gas reaches for where that is less. A 32nd and a
    /// step stay behind, so that EIP-150, which keeps a 64th back once the call itself is paid, never lowers it further.
    function allowance(uint256 steps) internal view returns (uint256 gasAllowance) {
        unchecked {
            uint256 left = gasleft();
            gasAllowance = Math.min(steps * PUSH_STEP, Math.saturatingSub(left - left / 32, PUSH_STEP));
        }
    }

    /// @dev Refuses to call a failed payment the payee's fault unless it was allowed what two new storage slots cost
    /// now, under whatever prices are in force, and PUSH_FLOOR. Only failures pay for the measuring.
    function requireEnough(uint256 gasAllowance) internal {
        uint256 required = PUSH_FLOOR + _twoNewSlotsCost();
        if (gasAllowance < required) revert IAdjudicator.NotEnoughGasToPush(required, gasAllowance);
    }

    /// @dev Makes two storage slots and unmakes them. Both, because the price of the first says nothing of the second where
    /// new state is paid for out of what a transaction has beyond a limit (EIP-8037), and that is enough for one. The call
    /// of nothing between keeps the optimizer from dropping the first writes.
    function _twoNewSlotsCost() private returns (uint256 cost) {
        assembly ("memory-safe") {
            let before := gas()
            sstore(SCRATCH, 1)
            sstore(add(SCRATCH, 1), 1)
            cost := sub(before, gas())
            pop(call(0, 0, 0, 0, 0, 0, 0))
            sstore(SCRATCH, 0)
            sstore(add(SCRATCH, 1), 0)
        }
    }

    /// @dev Pays with at most `gasAllowance`; false when the recipient or the asset refuses.
    function tryPay(address asset, address to, uint256 amount, uint256 gasAllowance) internal returns (bool) {
        return asset == address(0) ? _tryPayEther(to, amount, gasAllowance) : _tryPayToken(asset, to, amount, gasAllowance);
    }

    function _tryPayEther(address to, uint256 amount, uint256 gasAllowance) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasAllowance, to, amount, 0, 0, 0, 0)
        }
    }

    /// @dev A token has paid when it returns true, or when it is a contract and returns nothing. Its arguments are where the
    /// free memory begins, and stay free.
    function _tryPayToken(address asset, address to, uint256 amount, uint256 gasAllowance) private returns (bool) {
        bytes4 selector = IERC20.transfer.selector;
        bool success;
        uint256 size;
        uint256 answer;
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, selector)
            mstore(add(data, 0x04), and(to, shr(96, not(0))))
            mstore(add(data, 0x24), amount)
            success := call(gasAllowance, asset, 0, data, 0x44, 0, 0x20)
            size := returndatasize()
            answer := mload(0)
        }
        if (!success) return false;
        return size == 0 ? asset.code.length != 0 : size >= 32 && answer == 1;
    }
}
