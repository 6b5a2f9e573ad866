// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {VariablePart} from "../types/Channel.sol";

/// @title The rules of one game, or of any protocol with turns
/// @notice A channel names such a contract once and for all; the adjudicator asks it about every app move of a dispute.
interface IForceMoveApp {
    /// @notice Whether `to` may follow `from`.
    /// @dev The adjudicator has already checked, and an implementation may rely on it: both states are of one channel;
    /// `to.turnNum` is `from.turnNum + 1` and at least `2 * numParticipants`; neither state is final; both outcomes are
    /// well formed, with the same assets and per asset the same total, which does not overflow. The mover, who signs
    /// `to`, is participant `to.turnNum % numParticipants`. It is not checked that `from` was ever reached.
    /// @param channelId The channel: what a proof or a commitment must be bound to, lest it serve in another one. It
    /// commits to chain, adjudicator, participants, nonce, app, duration, asset and total.
    /// @param from The state before the move; its evidence is empty, whatever was signed.
    /// @param to The state that the mover has made of it. An app that needs no evidence refuses it: its bytes make
    /// a dispute dear.
    /// @param numParticipants How many participants the channel has, 2 to 8.
    /// @return True when the move is legal. An illegal move reverts with a custom error; false is refused too.
    function validTransition(
        bytes32 channelId,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256 numParticipants
    ) external pure returns (bool);
}
