// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title An app in which a mover gives what it likes, and takes nothing from anybody: allocation i is participant i's
contract GivingApp is IForceMoveApp {
    /// @notice Somebody else than the mover would have less.
    error TakenFromSomebody(uint256 index);

    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32, VariablePart calldata from, VariablePart calldata to, uint256 numParticipants)
        external
        pure
        returns (bool)
    {
        for (uint256 i = 0; i < numParticipants; ++i) {
            bool isMover = i == to.turnNum % numParticipants;
            if (!isMover && to.outcome[i].amount < from.outcome[i].amount) revert TakenFromSomebody(i);
        }
        return true;
    }
}
