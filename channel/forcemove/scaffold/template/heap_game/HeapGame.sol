// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "forcemove/contracts/interfaces/IForceMoveApp.sol";
import {Allocation, VariablePart} from "forcemove/contracts/types/Channel.sol";

/// @title Heap game: take one to three from a heap of ten; the last one wins
/// @notice The twin of `rules.py`: the same checks in the same order, with the same errors.
///
/// appData: three words, 96 bytes: `positionType, stake, heap`. positionType: Waiting 0, Taking 1. `heap`: how many are
/// left, none while a round is waited for. Participant `turnNum % n` moves, and allocation i is participant i's.
///
/// The last mover of a round holds a stake of each other participant: the first mover takes one stake from each, and
/// each mover after it takes from the mover before what that one holds of it, n stakes. So a participant that walks
/// away has lost its stake already.
contract HeapGame is IForceMoveApp {
    /// @notice Each participant has one allocation.
    error NotOneAllocationEach(uint256 count);
    /// @notice All allocations are of one asset.
    error NotOneAsset(address first, address another);
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
    /// @notice A move takes one to three.
    error WrongTake(uint256 heap, uint256 left);
    /// @notice Allocation `index` cannot give `stakes` times `stake`.
    error BalanceTooLow(uint256 index, uint256 balance, uint256 stakes, uint256 stake);
    /// @notice After this move allocation `index` holds `expected`.
    error WrongAmount(uint256 index, uint256 expected, uint256 submitted);

    uint256 private constant SIZE = 10;
    uint256 private constant MOST = 3;
    uint256 private constant WAITING = 0;
    uint256 private constant TAKING = 1;

    struct Position {
        uint256 positionType;
        uint256 stake;
        uint256 heap;
    }

    /// @inheritdoc IForceMoveApp
    function validTransition(
        bytes32,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256 numParticipants
    ) external pure returns (bool) {
        _requireSeats(from.outcome, to.outcome, numParticipants);
        if (to.evidence.length != 0) revert UnwantedEvidence(to.evidence.length);
        Position memory before = _decode(from.appData);
        Position memory next = _decode(to.appData);
        if (next.stake != before.stake) revert StakeChanged(before.stake, next.stake);

        bool isFirst = before.positionType == WAITING;
        uint256 heap = isFirst ? SIZE : before.heap;
        if (next.heap >= heap || heap - next.heap > MOST) revert WrongTake(heap, next.heap);

        _requirePaid(from, to, isFirst, before.stake);
        return true;
    }

    /// @dev Refuses anything but one allocation for each participant, of one asset, to destinations that stay.
    function _requireSeats(Allocation[] calldata from, Allocation[] calldata to, uint256 seats) private pure {
        if (from.length != seats) revert NotOneAllocationEach(from.length);
        if (to.length != seats) revert NotOneAllocationEach(to.length);
        for (uint256 i = 0; i < seats; i++) {
            if (from[i].asset != from[0].asset) revert NotOneAsset(from[0].asset, from[i].asset);
            if (to[i].destination != from[i].destination) {
                revert DestinationChanged(i, from[i].destination, to[i].destination);
            }
        }
    }

    function _decode(bytes calldata appData) private pure returns (Position memory position) {
        if (appData.length != 96) revert WrongPositionLength(96, appData.length);
        position = abi.decode(appData, (Position));
        if (position.positionType > TAKING) revert MalformedPosition(0, position.positionType);
        bool isEmpty = position.heap == 0;
        if (position.heap >= SIZE || isEmpty != (position.positionType == WAITING)) {
            revert MalformedPosition(2, position.heap);
        }
    }

    /// @dev The mover takes a stake from each other participant with the first move of a round, for which all must have
    /// one, and after that n stakes from the last mover. That no total overflows, the adjudicator has checked.
    function _requirePaid(VariablePart calldata from, VariablePart calldata to, bool isFirst, uint256 stake)
        private
        pure
    {
        uint256 seats = from.outcome.length;
        uint256 mover = to.turnNum % seats;
        uint256 taken = 0;
        for (uint256 i = 0; i < seats; i++) {
            uint256 balance = from.outcome[i].amount;
            uint256 stakes = isFirst ? 1 : i == from.turnNum % seats ? seats : 0;
            if (stakes != 0 && balance / stakes < stake) revert BalanceTooLow(i, balance, stakes, stake);
            if (i == mover) continue;
            _requireAmount(to.outcome, i, balance - stakes * stake);
            taken += stakes * stake;
        }
        _requireAmount(to.outcome, mover, from.outcome[mover].amount + taken);
    }

    function _requireAmount(Allocation[] calldata outcome, uint256 index, uint256 expected) private pure {
        uint256 amount = outcome[index].amount;
        if (amount != expected) revert WrongAmount(index, expected, amount);
    }
}
