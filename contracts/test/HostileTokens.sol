// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Reentry} from "./HostileRecipients.sol";
import {TestToken} from "./TestToken.sol";

// Each can be deposited; each misbehaves when it is to be paid out, or in between.

/// @title Moves nothing and says so
contract FalseToken is TestToken {
    function transfer(address, uint256) public pure override returns (bool) {
        return false;
    }
}

/// @title Cannot even be pulled in, and says so
contract UnpullableToken is TestToken {
    function transferFrom(address, address, uint256) public pure override returns (bool) {
        return false;
    }
}

/// @title Moves, and returns nothing, as old tokens do
contract SilentToken {
    mapping(address account => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address, uint256) external {}

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

/// @title Refuses to change what is allowed to anything but zero, as USDT does
contract StubbornToken is TestToken {
    error AllowanceLeft(uint256 allowance);

    function approve(address spender, uint256 value) public override returns (bool) {
        uint256 left = allowance(msg.sender, spender);
        if (value != 0 && left != 0) revert AllowanceLeft(left);
        return super.approve(spender, value);
    }
}

/// @title Keeps one percent of every transfer
contract FeeToken is TestToken {
    function _update(address from, address to, uint256 amount) internal override {
        uint256 fee = from == address(0) || to == address(0) ? 0 : amount / 100;
        super._update(from, to, amount - fee);
        if (fee != 0) super._update(from, address(0), fee);
    }
}

/// @title Makes two slots for each new holder, as tokens with votes or interest do: not hostile, but dear
contract NotingToken is TestToken {
    mapping(address account => uint256) public firstPaidAt;

    function _update(address from, address to, uint256 amount) internal override {
        if (firstPaidAt[to] == 0) firstPaidAt[to] = block.timestamp;
        super._update(from, to, amount);
    }
}

/// @title Refuses to move anything to anyone on its list
contract BlacklistToken is TestToken {
    error Blacklisted(address account);

    mapping(address account => bool) public isBlacklisted;

    function blacklist(address account, bool listed) external {
        isBlacklisted[account] = listed;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (isBlacklisted[to]) revert Blacklisted(to);
        super._update(from, to, amount);
    }
}

/// @title Answers a transfer with whatever it was told to, and moves nothing
contract RubbishToken is TestToken {
    bytes private _answer;

    function setAnswer(bytes calldata answer) external {
        _answer = answer;
    }

    function transfer(address, uint256) public view override returns (bool) {
        bytes memory answer = _answer;
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}

/// @title Returns, or reverts with, as much memory as its gas buys
contract BombToken is TestToken {
    bool private _reverts;

    function setReverts(bool reverts) external {
        _reverts = reverts;
    }

    function transfer(address, uint256) public view override returns (bool) {
        bool reverts = _reverts;
        assembly ("memory-safe") {
            if reverts { revert(0, 190000) }
            return(0, 190000)
        }
    }
}

/// @title Tells anyone listed of each transfer, before it, as ERC-777 does its senders
contract HookToken is TestToken {
    mapping(address account => Reentry) private _hooks;

    function setHook(address account, Reentry hook) external {
        _hooks[account] = hook;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (address(_hooks[from]) != address(0)) _hooks[from].enter();
        if (address(_hooks[to]) != address(0)) _hooks[to].enter();
        super._update(from, to, amount);
    }
}

/// @title Has more than there can be: everything can be pulled in, and a transfer loses everything and says so
contract EndlessToken {
    mapping(address account => uint256) public balanceOf;

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public virtual returns (bool) {
        unchecked {
            balanceOf[from] -= amount;
            balanceOf[to] += amount;
        }
        return true;
    }

    function transfer(address, uint256) external returns (bool) {
        delete balanceOf[msg.sender];
        return false;
    }
}

/// @title Brings twice what it was asked for
contract GenerousToken is EndlessToken {
    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        unchecked {
            balanceOf[to] += amount;
        }
        return super.transferFrom(from, to, amount);
    }
}
