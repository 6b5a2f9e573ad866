// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {TwoPlayer} from "../libraries/TwoPlayer.sol";
import {Allocation, VariablePart} from "../types/Channel.sol";

/// @title Tic-tac-toe in rounds for a stake; the twin of `games/forcemove_games/tic_tac_toe`
/// @notice Each mark takes the stake, so that who leaves a running round forfeits it; a round that nobody wins gives
/// both theirs back. A mark that completes a line is declared Victory and nothing else.
/// @dev appData is four words: a `Position`. Cells are numbered 0 to 8 by rows; cell i is bit `8 - i` of a set of marks.
contract TicTacToe is IForceMoveApp {
    /// @param positionType X_PLAYING to PLAY_AGAIN_ME_SECOND: what the mover has done.
    /// @param stake What a round is played for.
    /// @param noughts The cells marked by O.
    /// @param crosses The cells marked by X, who starts the round.
    struct Position {
        uint256 positionType;
        uint256 stake;
        uint256 noughts;
        uint256 crosses;
    }

    /// @notice A cell is marked twice.
    error MarksOverlap(uint256 noughts, uint256 crosses);
    /// @notice The numbers of marks do not fit the type of the position.
    error WrongMarkCount(uint256 positionType, uint256 noughts, uint256 crosses);
    /// @notice X says that play goes on where no cell is left.
    error BoardFull(uint256 noughts, uint256 crosses);
    /// @notice A position of this type holds no such line.
    error UnexpectedLine(uint256 positionType, uint256 marks);
    /// @notice Victory is declared without a line.
    error LineMissing(uint256 marks);
    /// @notice A move adds exactly one mark to the mover's.
    error NotOneNewMark(uint256 from, uint256 to);
    /// @notice A move leaves the other's marks as they are.
    error OtherMarksChanged(uint256 from, uint256 to);

    uint256 private constant X_PLAYING = 0;
    uint256 private constant O_PLAYING = 1;
    uint256 private constant VICTORY = 2;
    uint256 private constant DRAW = 3;
    uint256 private constant PLAY_AGAIN_ME_FIRST = 4;
    uint256 private constant PLAY_AGAIN_ME_SECOND = 5;

    uint256 private constant FULL_BOARD = 0x1ff;
    uint256 private constant LEFT_COLUMN = 0x124;
    uint256 private constant TOP_ROW = 0x1c0;
    uint256 private constant TOP_LEFT = 0x100;
    uint256 private constant TOP_RIGHT = 0x040;

    uint256 private constant WORDS = 4;

    /// @inheritdoc IForceMoveApp
    function validTransition(
        bytes32,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256 numParticipants
    ) external pure returns (bool)
    {
        Allocation[] calldata oldOutcome = from.outcome;
        Allocation[] calldata nextOutcome = to.outcome;
        TwoPlayer.requireTwoPlayers(oldOutcome, nextOutcome, numParticipants);
        TwoPlayer.requireNoEvidence(to.evidence);
        Position memory old = _read(from.appData);
        Position memory next = _read(to.appData);
        TwoPlayer.requireSameStake(old.stake, next.stake);
        uint256 stakes = _requireMove(old, next);
        if (old.positionType == PLAY_AGAIN_ME_SECOND) TwoPlayer.requireBothAfford(oldOutcome, old.stake);
        TwoPlayer.requirePaid(oldOutcome, nextOutcome, to.turnNum % TwoPlayer.PLAYERS, stakes, old.stake);
        return true;
    }

    function _read(bytes calldata appData) private pure returns (Position memory position) {
        TwoPlayer.requireWords(appData, WORDS);
        // Word by word, because a struct would be copied through memory.
        (position.positionType, position.stake, position.noughts, position.crosses) =
            abi.decode(appData, (uint256, uint256, uint256, uint256));

        (uint256 noughts, uint256 crosses) = (position.noughts, position.crosses);
        if (position.positionType > PLAY_AGAIN_ME_SECOND) {
            revert TwoPlayer.MalformedPosition(0, position.positionType);
        }
        if (noughts > FULL_BOARD) revert TwoPlayer.MalformedPosition(2, noughts);
        if (crosses > FULL_BOARD) revert TwoPlayer.MalformedPosition(3, crosses);
        if (noughts & crosses != 0) revert MarksOverlap(noughts, crosses);
        _requireMarksFit(position.positionType, noughts, crosses);
    }

    /// @dev Refuses marks that a position of this type does not show: by their numbers, then by their lines.
    function _requireMarksFit(uint256 positionType, uint256 noughts, uint256 crosses) private pure {
        if (positionType >= PLAY_AGAIN_ME_FIRST) {
            if (noughts | crosses != 0) revert WrongMarkCount(positionType, noughts, crosses);
            return;
        }
        // As many of both mean that O has made the last mark.
        bool lastIsO = _requireCount(positionType, noughts, crosses);
        if (positionType == X_PLAYING && noughts | crosses == FULL_BOARD) revert BoardFull(noughts, crosses);
        if (positionType == VICTORY) {
            (uint256 winner, uint256 loser) = lastIsO ? (noughts, crosses) : (crosses, noughts);
            if (!_hasLine(winner)) revert LineMissing(winner);
            if (_hasLine(loser)) revert UnexpectedLine(VICTORY, loser);
        } else {
            if (_hasLine(noughts)) revert UnexpectedLine(positionType, noughts);
            if (_hasLine(crosses)) revert UnexpectedLine(positionType, crosses);
        }
    }

    /// @dev Refuses numbers of marks that do not fit the type; tells whether there are as many noughts as crosses.
    function _requireCount(uint256 positionType, uint256 noughts, uint256 crosses) private pure returns (bool asMany) {
        uint256 count = _countMarks(noughts);
        uint256 crossCount = _countMarks(crosses);
        asMany = crossCount == count;
        bool oneMore = crossCount == count + 1;
        bool fits;
        if (positionType == X_PLAYING) fits = oneMore;
        else if (positionType == O_PLAYING) fits = asMany;
        else if (positionType == VICTORY) fits = asMany || oneMore;
        else fits = oneMore && noughts | crosses == FULL_BOARD;
        if (!fits) revert WrongMarkCount(positionType, noughts, crosses);
    }

    /// @dev The rows of the game's table; returns how many stakes the mover takes from the other.
    function _requireMove(Position memory from, Position memory to) private pure returns (uint256 stakes) {
        uint256 fromType = from.positionType;
        uint256 toType = to.positionType;
        if (fromType == X_PLAYING && (toType == O_PLAYING || toType == VICTORY)) {
            _requireMark(from.noughts, to.noughts, from.crosses, to.crosses);
            return 2;
        }
        if (fromType == O_PLAYING && (toType == X_PLAYING || toType == VICTORY || toType == DRAW)) {
            _requireMark(from.crosses, to.crosses, from.noughts, to.noughts);
            return toType == DRAW ? 1 : 2;
        }
        if (fromType == PLAY_AGAIN_ME_SECOND && toType == X_PLAYING) {
            _requireMark(from.crosses, to.crosses, from.noughts, to.noughts);
            return 1;
        }
        if ((fromType == VICTORY || fromType == DRAW) && toType == PLAY_AGAIN_ME_FIRST) return 0;
        if (fromType == PLAY_AGAIN_ME_FIRST && toType == PLAY_AGAIN_ME_SECOND) return 0;
        revert TwoPlayer.NoSuchTransition(fromType, toType);
    }

    /// @dev That the mover's marks have become one more and not one fewer, their numbers have shown: they fit the types.
    function _requireMark(uint256 mine, uint256 mineAfter, uint256 others, uint256 othersAfter) private pure {
        if (othersAfter != others) revert OtherMarksChanged(others, othersAfter);
        uint256 changed = mine ^ mineAfter;
        if (changed == 0 || changed & (changed - 1) != 0) revert NotOneNewMark(mine, mineAfter);
    }

    /// @dev A line is three cells at equal steps, 1 in rows, 3 in columns, 4 and 2 in diagonals: its first cell is
    /// marked in the set and in two copies of it that are moved towards that cell.
    function _hasLine(uint256 marks) private pure returns (bool) {
        uint256 row = marks & (marks << 1) & (marks << 2) & LEFT_COLUMN;
        uint256 column = marks & (marks << 3) & (marks << 6) & TOP_ROW;
        uint256 diagonal = marks & (marks << 4) & (marks << 8) & TOP_LEFT;
        uint256 antidiagonal = marks & (marks << 2) & (marks << 4) & TOP_RIGHT;
        return row | column | diagonal | antidiagonal != 0;
    }

    /// @dev Adds neighbouring bits, then pairs, then fours, then the two halves: right for up to 16 bits.
    function _countMarks(uint256 marks) private pure returns (uint256 count) {
        unchecked {
            count = marks - ((marks >> 1) & 0x5555);
            count = (count & 0x3333) + ((count >> 2) & 0x3333);
            count = (count + (count >> 4)) & 0x0f0f;
            count = (count + (count >> 8)) & 0x1f;
        }
    }
}
