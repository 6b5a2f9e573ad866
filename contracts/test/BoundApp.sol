// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title An app whose moves carry a proof that is good in one channel and one turn: keccak256(channelId, turnNum)
contract BoundApp is IForceMoveApp {
    /// @notice The proof is of another channel or turn.
    error WrongProof(bytes32 expected, bytes32 submitted);

    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32 channelId, VariablePart calldata, VariablePart calldata to, uint256)
        external
        pure
        returns (bool)
    {
        bytes32 expected = keccak256(abi.encode(channelId, to.turnNum));
        if (bytes32(to.appData) != expected) revert WrongProof(expected, bytes32(to.appData));
        return true;
    }
}
