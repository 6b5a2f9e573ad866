// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// The data that participants sign and that the adjudicator reads. Nothing here is stored: callers supply it again.

/// @notice What never changes in a channel. The channel's id commits to all of it, to the chain and to the adjudicator.
/// @param participants 2 to 8 distinct addresses, none zero; participant `turnNum % participants.length` moves.
/// @param channelNonce Tells channels of the same participants apart.
/// @param appDefinition The contract whose `validTransition` rules the moves.
/// @param challengeDuration Seconds that a challenge leaves for an answer, 60 to 31,536,000 (365 days).
/// @param asset The home asset, in whose storage word the record stands: the zero address for ether, else an ERC-20.
/// @param total What the channel is funded with in its home asset, at most 2**253 - 1: every outcome's amounts of it add
/// up to exactly this. Zero: they may add up to anything.
struct FixedPart {
    address[] participants;
    uint64 channelNonce;
    address appDefinition;
    uint48 challengeDuration;
    address asset;
    uint256 total;
}

/// @notice One entry of an outcome.
/// @param asset The zero address for ether, else an ERC-20.
/// @param destination An address when its 12 high bytes are zero, else the id of another channel.
/// @param amount In the asset's smallest unit (wei for ether).
struct Allocation {
    address asset;
    bytes32 destination;
    uint256 amount;
}

/// @notice What changes with each turn.
/// @param outcome 1 to 32 allocations, grouped by asset in rising order, at most 4 assets: what the state would pay.
/// @param appData The position of the game: what the next move needs. Opaque to the adjudicator; empty in a final state.
/// @param evidence What shows that the move to this state was right, and nobody needs after it. Empty in a final state;
/// with appData at most 8,192 bytes.
/// @param turnNum The place of the state in the channel's sequence, from 0.
/// @param isFinal Whether only concluding may follow.
struct VariablePart {
    Allocation[] outcome;
    bytes appData;
    bytes evidence;
    uint48 turnNum;
    bool isFinal;
}

/// @notice A state as it is signed (EIP-712): what changes with each turn, bound to its channel.
/// @param channelId The channel.
/// @param outcome As in VariablePart.
/// @param appData As in VariablePart.
/// @param evidence As in VariablePart.
/// @param turnNum As in VariablePart.
/// @param isFinal As in VariablePart.
struct State {
    bytes32 channelId;
    Allocation[] outcome;
    bytes appData;
    bytes evidence;
    uint48 turnNum;
    bool isFinal;
}
