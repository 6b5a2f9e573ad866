// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A well-behaved ERC-20 that anybody can mint
contract TestToken is ERC20("Test", "TEST") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
