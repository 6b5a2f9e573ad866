// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A token that pays what it says, with recipients whom it may refuse
/// @dev What it says may be true, false, or, as old tokens have it, nothing.
contract Token {
    bool private immutable _SILENT;
    mapping(address account => uint256) public balanceOf;
    uint256 public delivered;
    mapping(address account => bool) private _refused;

    constructor(bool silent) {
        _SILENT = silent;
    }

    function mint(address account, uint256 amount) external {
        balanceOf[account] = amount;
    }

    function deliver(uint256 amount) external {
        delivered = amount;
    }

    function refuse(address account, bool refused) external {
        _refused[account] = refused;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (_refused[to]) return false;
        unchecked {
            // The proofs give it no more than one word can hold in all.
            balanceOf[msg.sender] -= amount;
            balanceOf[to] += amount;
        }
        return _answer();
    }

    /// @dev Takes `amount` and delivers what `deliver` has said: a token may keep a fee, or multiply.
    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        unchecked {
            balanceOf[from] -= amount;
            balanceOf[to] += delivered;
        }
        return _answer();
    }

    function _answer() private view returns (bool) {
        if (!_SILENT) return true;
        assembly ("memory-safe") {
            return(0, 0)
        }
    }
}
