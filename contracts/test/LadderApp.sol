// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title A game in which what was paid says how it was played: appData is the list of all moves, two to choose from each
/// time, and the first participant has won the number with these digits in base three, each counted from one
contract LadderApp is IForceMoveApp {
    /// @notice appData is not what it was and one byte more, zero or one.
    error NotOneMove();
    /// @notice The outcome does not pay what was won.
    error WrongOutcome(uint256 won);

    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32, VariablePart calldata from, VariablePart calldata to, uint256)
        external
        pure
        returns (bool)
    {
        uint256 length = from.appData.length;
        if (to.appData.length != length + 1 || uint8(to.appData[length]) > 1) revert NotOneMove();
        if (keccak256(to.appData[:length]) != keccak256(from.appData)) revert NotOneMove();
        uint256 won = _won(to.appData) - _won(from.appData);
        if (to.outcome[0].amount != from.outcome[0].amount + won) revert WrongOutcome(won);
        return true;
    }

    function _won(bytes calldata position) private pure returns (uint256 won) {
        for (uint256 i = 0; i < position.length; ++i) won = won * 3 + uint8(position[i]) + 1;
    }
}
