// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title The smallest app: appData is one word that counts up by one each turn; any outcome goes
contract CountingApp is IForceMoveApp {
    /// @notice appData is not exactly one word.
    error MalformedCount(uint256 length);
    /// @notice The count does not rise by exactly one.
    error WrongCount(uint256 expected, uint256 submitted);

    /// @inheritdoc IForceMoveApp
    function validTransition(
        bytes32,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256
    ) external pure returns (bool)
    {
        uint256 expected = _count(from.appData) + 1;
        uint256 submitted = _count(to.appData);
        if (submitted != expected) revert WrongCount(expected, submitted);
        return true;
    }

    function _count(bytes calldata appData) private pure returns (uint256) {
        if (appData.length != 32) revert MalformedCount(appData.length);
        return uint256(bytes32(appData));
    }
}
