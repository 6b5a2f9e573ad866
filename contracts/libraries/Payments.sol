// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title Payments that cannot hurt the payer
/// @dev Low-level calls, because neither a recipient nor an asset is trusted: whatever it does, the outcome is one bool.
/// The calls are assembly so that at most 32 bytes of what they return are copied.
library Payments {
    /// @dev The gas that a pushed payment may use.
    uint256 internal constant PUSH_ALLOWANCE = 100_000;
    /// @dev The gas at which the whole allowance can be forwarded (EIP-150 keeps 1/64 back) after the costs of a call
    /// with value to a new account (36,600) and of writing down a credit.
    uint256 internal constant PUSH_REQUIRED = 170_000;

    /// @dev Pays with at most `gasAllowance`; false when the recipient or the asset refuses.
    function tryPay(address asset, address to, uint256 amount, uint256 gasAllowance) internal returns (bool) {
        return asset == address(0) ? _tryPayEther(to, amount, gasAllowance) : _tryPayToken(asset, to, amount, gasAllowance);
    }

    function _tryPayEther(address to, uint256 amount, uint256 gasAllowance) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasAllowance, to, amount, 0, 0, 0, 0)
        }
    }

    /// @dev A token has paid when it returns true, or when it is a contract and returns nothing.
    function _tryPayToken(address asset, address to, uint256 amount, uint256 gasAllowance) private returns (bool) {
        bytes memory data = abi.encodeCall(IERC20.transfer, (to, amount));
        bool success;
        uint256 size;
        uint256 answer;
        assembly ("memory-safe") {
            success := call(gasAllowance, asset, 0, add(data, 0x20), mload(data), 0, 0x20)
            size := returndatasize()
            answer := mload(0)
        }
        if (!success) return false;
        return size == 0 ? asset.code.length != 0 : size >= 32 && answer == 1;
    }
}
