// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Accounts that one should not have to trust with a payment.

/// @title An account that sends what it is told to
abstract contract Puppet {
    /// @notice Calls `target` in this account's name, with what ether comes along, and passes errors on.
    function act(address target, bytes calldata data) external payable {
        (bool success, bytes memory output) = target.call{value: msg.value}(data);
        if (success) return;
        assembly ("memory-safe") {
            revert(add(output, 0x20), mload(output))
        }
    }
}

/// @title Refuses ether
contract RevertingRecipient is Puppet {
    error NoThankYou();

    receive() external payable {
        revert NoThankYou();
    }
}

/// @title Burns all the gas that it is given
contract BurningRecipient is Puppet {
    receive() external payable {
        assembly ("memory-safe") {
            invalid()
        }
    }
}

/// @title Takes ether and returns as much memory as its gas buys
contract BombRecipient is Puppet {
    receive() external payable {
        assembly ("memory-safe") {
            return(0, 190000)
        }
    }
}

/// @title Takes ether where it is allowed some 185,000 gas
contract HungryRecipient is Puppet {
    receive() external payable {
        assembly ("memory-safe") {
            return(0, 288000)
        }
    }
}

/// @title Refuses ether with as much memory as its gas buys
contract RevertingBombRecipient is Puppet {
    receive() external payable {
        assembly ("memory-safe") {
            revert(0, 190000)
        }
    }
}

/// @title Calls back, with whatever it was armed with, and remembers what came of it
contract Reentry is Puppet {
    /// @dev In one word with what is remembered: a payment's gas is for the call.
    address private _target;
    /// @notice How often it called back.
    uint32 public calls;
    /// @notice How often the call succeeded.
    uint32 public successes;
    /// @notice The selector of the error that the last failed call reverted with.
    bytes4 public failure;
    /// @dev The calldata is the code of this account, because storage is dear to read. A zero stands before it, since no
    /// code may begin with 0xef (EIP-3541), as a selector may.
    address private _memo;
    bool private _insists;

    /// @param target Whom to call back.
    /// @param data The calldata.
    /// @param insists Whether to refuse the payment when the call fails.
    function arm(address target, bytes calldata data, bool insists) external {
        (_target, _insists) = (target, insists);
        // PUSH2 size, DUP1, PUSH1 offset 12, PUSH1 0, CODECOPY, PUSH1 0, RETURN: deploys what follows it.
        bytes memory creation =
            bytes.concat(hex"61", bytes2(uint16(data.length + 1)), hex"80600c6000396000f300", data);
        address memo;
        assembly ("memory-safe") {
            memo := create(0, add(creation, 0x20), mload(creation))
        }
        _memo = memo;
    }

    /// @notice The hook: of a token that moves, or of ether that arrives.
    function enter() public {
        if (_target == address(0)) return;
        bytes memory data = _memo.code;
        assembly ("memory-safe") {
            let size := mload(data)
            data := add(data, 1)
            mstore(data, sub(size, 1))
        }
        (bool success, bytes memory output) = _target.call(data);
        ++calls;
        if (success) ++successes;
        else failure = bytes4(output);
        require(success || !_insists);
    }

    receive() external payable {
        enter();
    }
}
