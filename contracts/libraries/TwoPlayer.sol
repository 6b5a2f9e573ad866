// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation} from "../types/Channel.sol";

/// @title What games of two players for a stake share; the twin of `games/forcemove_games/two_player.py`
/// @dev The mover of a state, who signs it, is participant `turnNum % 2`, and allocation i is participant i's. Each
/// function returns when its rule holds and reverts with one of the errors when it does not.
library TwoPlayer {
    /// @notice The game is for two.
    error NotTwoParticipants(uint256 numParticipants);
    /// @notice Each of the two has one allocation.
    error NotTwoAllocations(uint256 count);
    /// @notice Both allocations are of one asset.
    error NotOneAsset(address first, address second);
    /// @notice Allocation `index` must keep its destination.
    error DestinationChanged(uint256 index, bytes32 from, bytes32 to);
    /// @notice The game needs no evidence; what nobody needs would only make a dispute dear.
    error UnwantedEvidence(uint256 length);
    /// @notice appData has exactly the length of a position, in bytes.
    error WrongPositionLength(uint256 expected, uint256 submitted);
    /// @notice Word `word` of the position holds a value that it cannot have there.
    error MalformedPosition(uint256 word, uint256 value);
    /// @notice The stake stays as it is as long as the channel lives.
    error StakeChanged(uint256 from, uint256 to);
    /// @notice No row of the game's table leads from one position type to the other.
    error NoSuchTransition(uint256 fromType, uint256 toType);
    /// @notice Allocation `index` cannot give `stakes` times `stake`.
    error BalanceTooLow(uint256 index, uint256 balance, uint256 stakes, uint256 stake);
    /// @notice Allocation `index` cannot take `payment` as well.
    error BalanceOverflow(uint256 index, uint256 balance, uint256 payment);
    /// @notice After this move allocation `index` holds `expected`.
    error WrongAmount(uint256 index, uint256 expected, uint256 submitted);

    uint256 internal constant PLAYERS = 2;

    /// @dev Refuses anything but two participants with one allocation each, of one asset, to destinations that stay.
    /// That both outcomes name the same assets, the adjudicator has checked.
    function requireTwoPlayers(Allocation[] calldata from, Allocation[] calldata to, uint256 numParticipants)
        internal
        pure
    {
        if (numParticipants != PLAYERS) revert NotTwoParticipants(numParticipants);
        if (from.length != PLAYERS) revert NotTwoAllocations(from.length);
        if (to.length != PLAYERS) revert NotTwoAllocations(to.length);
        if (from[0].asset != from[1].asset) revert NotOneAsset(from[0].asset, from[1].asset);
        requireSameDestination(from, to, 0);
        requireSameDestination(from, to, 1);
    }

    /// @dev Refuses evidence.
    function requireNoEvidence(bytes calldata evidence) internal pure {
        if (evidence.length != 0) revert UnwantedEvidence(evidence.length);
    }

    function requireSameDestination(Allocation[] calldata from, Allocation[] calldata to, uint256 index) internal pure {
        bytes32 destination = from[index].destination;
        if (to[index].destination != destination) revert DestinationChanged(index, destination, to[index].destination);
    }

    /// @dev Refuses appData that is not this many words long.
    function requireWords(bytes calldata appData, uint256 words) internal pure {
        if (appData.length != words * 32) revert WrongPositionLength(words * 32, appData.length);
    }

    /// @dev Refuses a stake that changes.
    function requireSameStake(uint256 from, uint256 to) internal pure {
        if (from != to) revert StakeChanged(from, to);
    }

    /// @dev Refuses the start of a round that one of the two could not pay for.
    function requireBothAfford(Allocation[] calldata outcome, uint256 stake) internal pure {
        requireAffords(outcome, 0, 1, stake);
        requireAffords(outcome, 1, 1, stake);
    }

    /// @dev Refuses allocation `index` if it is below `stakes * stake`; `stakes` is not zero. Dividing cannot overflow.
    function requireAffords(Allocation[] calldata outcome, uint256 index, uint256 stakes, uint256 stake) internal pure {
        uint256 balance = outcome[index].amount;
        if (balance / stakes < stake) revert BalanceTooLow(index, balance, stakes, stake);
    }

    /// @dev Refuses any outcome but that in which the mover has taken `stakes` times `stake` from the other.
    function requirePaid(
        Allocation[] calldata from,
        Allocation[] calldata to,
        uint256 mover,
        uint256 stakes,
        uint256 stake
    ) internal pure {
        uint256 other = 1 - mover;
        if (stakes != 0) requireAffords(from, other, stakes, stake);
        unchecked {
            uint256 payment = stakes * stake;
            uint256 balance = from[mover].amount;
            if (payment > type(uint256).max - balance) revert BalanceOverflow(mover, balance, payment);
            requireAmount(to, mover, balance + payment);
            requireAmount(to, other, from[other].amount - payment);
        }
    }

    function requireAmount(Allocation[] calldata outcome, uint256 index, uint256 expected) internal pure {
        uint256 amount = outcome[index].amount;
        if (amount != expected) revert WrongAmount(index, expected, amount);
    }
}
