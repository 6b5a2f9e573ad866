// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// The data that participants sign and that the adjudicator reads. Nothing here is stored: callers supply it again.

/// @notice What never changes in a channel. The channel's id commits to all of it, to the chain and to the adjudicator.
/// @param participants 2 to 8 distinct addresses, none zero; participant `turnNum % participants.length` moves.
/// @param channelNonce Tells channels of the same participants apart.
/// @param appDefinition The contract whose `validTransition` rules the moves.
/// @param challengeDuration Seconds that a challenge leaves for an answer, 60 to 31,536,000 (365 days).
struct FixedPart {
    address[] participants;
    uint64 channelNonce;
    address appDefinition;
    uint48 challengeDuration;
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
/// @param appData The position of the game, opaque to the adjudicator, at most 8,192 bytes; empty in a final state.
/// @param turnNum The place of the state in the channel's sequence, from 0.
/// @param isFinal Whether only concluding may follow.
struct VariablePart {
    Allocation[] outcome;
    bytes appData;
    uint48 turnNum;
    bool isFinal;
}

/// @notice A state as it is signed (EIP-712): what changes with each turn, bound to its channel.
/// @param channelId The channel.
/// @param outcome As in VariablePart.
/// @param appData As in VariablePart.
/// @param turnNum As in VariablePart.
/// @param isFinal As in VariablePart.
struct State {
    bytes32 channelId;
    Allocation[] outcome;
    bytes appData;
    uint48 turnNum;
    bool isFinal;
}

/// @notice A compact ECDSA signature (EIP-2098).
/// @param r The x coordinate of the ephemeral point, modulo the group order.
/// @param vs The parity of its y in the highest bit, `s` (at most half the group order) in the others.
struct Signature {
    bytes32 r;
    bytes32 vs;
}

/// @notice One asset of one channel, to ask for its holdings.
/// @param channelId The channel.
/// @param asset The zero address for ether, else an ERC-20.
struct HoldingsKey {
    bytes32 channelId;
    address asset;
}

/// @notice What a channel holds of one asset.
/// @param held In the asset's smallest unit.
/// @param payoutBegun Whether the channel has begun to pay out: deposits are refused.
/// @param closed Whether the channel is closed forever.
struct HoldingsEntry {
    uint256 held;
    bool payoutBegun;
    bool closed;
}
