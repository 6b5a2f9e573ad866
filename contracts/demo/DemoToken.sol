// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A worthless token, for demonstrations: everybody may make as much of it as they like
contract DemoToken is ERC20("Forcemove demo token", "DEMO") {
    /// @notice Makes `amount` for `to`.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
