// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "forcemove/contracts/interfaces/IForceMoveApp.sol";
import {Allocation, VariablePart} from "forcemove/contracts/types/Channel.sol";

/// @title Connect four: seven columns of six; the first line of four wins
/// @notice The twin of `rules.py`: the same checks in the same order, with the same errors.
///
/// appData: four words, 128 bytes: `positionType, stake, last, next`. positionType: Waiting 0, Playing 1. `last`,
/// `next`: the discs of the last mover and of the next, bit `7 * c + r` for column c from the left and row r from below.
/// While a round is waited for they are those of the round before.
///
/// The last mover of a round holds a stake of the other: the first mover takes one, and each mover after it two, its
/// own and another. Who fills the board without a line takes its own. So who walks away has lost its stake already.
contract ConnectFour is IForceMoveApp {
    /// @notice Two play, and each has one allocation.
    error NotTwoParticipants(uint256 participants, uint256 allocations);
    /// @notice All allocations are of one asset.
    error NotOneAsset(address first, address another);
    /// @notice Allocation `index` must keep its destination.
    error DestinationChanged(uint256 index, bytes32 from, bytes32 to);
    /// @notice appData has exactly the length of a position, in bytes.
    error WrongPositionLength(uint256 expected, uint256 submitted);
    /// @notice Word `word` of the position holds a value that it cannot have there.
    error MalformedPosition(uint256 word, uint256 value);
    /// @notice The stake stays as it is as long as the channel lives.
    error StakeChanged(uint256 from, uint256 to);
    /// @notice A move leaves the other's discs as they are.
    error OtherDiscsChanged(uint256 from, uint256 to);
    /// @notice A move adds one disc to the mover's, in the lowest free cell of a column.
    error NotOneNewDisc(uint256 from, uint256 to);
    /// @notice A line of four and a full board end the round, and nothing else does.
    error WrongType(uint256 expected, uint256 submitted);
    /// @notice Allocation `index` cannot give `stakes` times `stake`.
    error BalanceTooLow(uint256 index, uint256 balance, uint256 stakes, uint256 stake);
    /// @notice After this move allocation `index` holds `expected`.
    error WrongAmount(uint256 index, uint256 expected, uint256 submitted);

    uint256 private constant WAITING = 0;
    uint256 private constant PLAYING = 1;
    /// @dev The lowest cell of each column, and all cells.
    uint256 private constant BOTTOM = 0x40810204081;
    uint256 private constant BOARD = BOTTOM * 63;

    struct Position {
        uint256 positionType;
        uint256 stake;
        uint256 last;
        uint256 next;
    }

    /// @inheritdoc IForceMoveApp
    function validTransition(
        bytes32,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256 numParticipants
    ) external pure returns (bool) {
        _requireSeats(from.outcome, to.outcome, numParticipants);
        Position memory before = _decode(from.appData);
        Position memory next = _decode(to.appData);
        if (next.stake != before.stake) revert StakeChanged(before.stake, next.stake);

        bool isFirst = before.positionType == WAITING;
        if (isFirst) (before.last, before.next) = (0, 0);
        if (next.next != before.last) revert OtherDiscsChanged(before.last, next.next);
        _requireOneNewDisc(before.next, next.last, before.last | before.next);

        bool isWon = _hasFour(next.last);
        bool isOver = isWon || next.last | next.next == BOARD;
        uint256 expected = isOver ? WAITING : PLAYING;
        if (next.positionType != expected) revert WrongType(expected, next.positionType);

        _requirePaid(from, to, isFirst, isFirst || (isOver && !isWon) ? 1 : 2, before.stake);
        return true;
    }

    /// @dev Refuses anything but one allocation for each of two, of one asset, to destinations that stay.
    function _requireSeats(Allocation[] calldata from, Allocation[] calldata to, uint256 seats) private pure {
        if (seats != 2 || from.length != 2) revert NotTwoParticipants(seats, from.length);
        if (to.length != 2) revert NotTwoParticipants(seats, to.length);
        for (uint256 i = 0; i < 2; i++) {
            if (from[i].asset != from[0].asset) revert NotOneAsset(from[0].asset, from[i].asset);
            if (to[i].destination != from[i].destination) {
                revert DestinationChanged(i, from[i].destination, to[i].destination);
            }
        }
    }

    function _decode(bytes calldata appData) private pure returns (Position memory position) {
        if (appData.length != 128) revert WrongPositionLength(128, appData.length);
        position = abi.decode(appData, (Position));
        if (position.positionType > PLAYING) revert MalformedPosition(0, position.positionType);
        if (position.last & ~BOARD != 0) revert MalformedPosition(2, position.last);
        if (position.next & ~BOARD != 0 || position.next & position.last != 0) {
            revert MalformedPosition(3, position.next);
        }
    }

    function _requireOneNewDisc(uint256 mine, uint256 mineAfter, uint256 filled) private pure {
        uint256 added = mineAfter ^ mine;
        uint256 free = (filled + BOTTOM) & BOARD & ~filled;
        if (added & free == 0 || added & (added - 1) != 0) revert NotOneNewDisc(mine, mineAfter);
    }

    /// @dev Up, right, right and down, right and up; the empty bit above each column keeps lines within the board.
    function _hasFour(uint256 discs) private pure returns (bool) {
        return _hasFourAlong(discs, 1) || _hasFourAlong(discs, 7) || _hasFourAlong(discs, 6) || _hasFourAlong(discs, 8);
    }

    function _hasFourAlong(uint256 discs, uint256 step) private pure returns (bool) {
        uint256 pairs = discs & (discs >> step);
        return pairs & (pairs >> (2 * step)) != 0;
    }

    /// @dev The mover takes `stakes` from the other; to begin a round both must have one. That no total overflows, the
    /// adjudicator has checked.
    function _requirePaid(
        VariablePart calldata from,
        VariablePart calldata to,
        bool isFirst,
        uint256 stakes,
        uint256 stake
    ) private pure {
        uint256 mover = to.turnNum % 2;
        for (uint256 i = 0; i < 2; i++) {
            uint256 given = i != mover ? stakes : isFirst ? 1 : 0;
            uint256 balance = from.outcome[i].amount;
            if (given != 0 && balance / given < stake) revert BalanceTooLow(i, balance, given, stake);
        }
        uint256 taken = stakes * stake;
        _requireAmount(to.outcome, 1 - mover, from.outcome[1 - mover].amount - taken);
        _requireAmount(to.outcome, mover, from.outcome[mover].amount + taken);
    }

    function _requireAmount(Allocation[] calldata outcome, uint256 index, uint256 expected) private pure {
        uint256 amount = outcome[index].amount;
        if (amount != expected) revert WrongAmount(index, expected, amount);
    }
}
