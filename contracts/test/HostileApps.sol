// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title An app that allows everything: what it lets through must be safe all the same
contract PermissiveApp is IForceMoveApp {
    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32, VariablePart calldata, VariablePart calldata, uint256)
        external
        pure
        returns (bool) {
        return true;
    }
}

/// @title An app that refuses without reverting
contract RefusingApp is IForceMoveApp {
    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32, VariablePart calldata, VariablePart calldata, uint256)
        external
        pure
        returns (bool) {
        return false;
    }
}

/// @title An app whose answer is not a bool
contract GarbageApp {
    fallback(bytes calldata) external returns (bytes memory) {
        return abi.encode(uint256(2));
    }
}

/// @title An app that answers too little
contract ShortApp {
    fallback(bytes calldata) external returns (bytes memory) {
        return hex"01";
    }
}

/// @title An app that never answers
contract LoopApp is IForceMoveApp {
    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32, VariablePart calldata, VariablePart calldata, uint256)
        external
        pure
        returns (bool) {
        uint256 turns = 0;
        while (turns < type(uint256).max) ++turns;
        return true;
    }
}
