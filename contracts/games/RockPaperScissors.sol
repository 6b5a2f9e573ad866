// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {TwoPlayer} from "../libraries/TwoPlayer.sol";
import {Allocation, VariablePart} from "../types/Channel.sol";

/// @title Rock-paper-scissors in rounds for a stake; the twin of `games/forcemove_games/rock_paper_scissors`
/// @notice A proposes a round with a commitment to its weapon, B accepts with its own weapon in the open and takes A's
/// stake, A opens its commitment and takes what it has won. Who walks away from a lost round has already paid for it.
/// @dev appData is nine words: a `Position`. What a position type does not use is zero.
contract RockPaperScissors is IForceMoveApp {
    /// @param positionType START to REVEAL.
    /// @param stake What a round is played for.
    /// @param channelId The channel: players commit to it, and all that they go by is the position.
    /// @param preCommit From ROUND_PROPOSED on: keccak256(channelId, proposedAt, A's seat, aPlay, salt), one word each.
    /// So nobody can open it in another channel, on another turn, or from the other seat.
    /// @param proposedAt From ROUND_PROPOSED on: the turn on which A has proposed the round.
    /// @param bPlay From ROUND_ACCEPTED on: the weapon of B.
    /// @param aPlay In REVEAL: the weapon of A.
    /// @param salt In REVEAL: what made `preCommit` impossible to guess.
    /// @param roundNum Counts the rounds played out, from 0.
    struct Position {
        uint256 positionType;
        uint256 stake;
        bytes32 channelId;
        bytes32 preCommit;
        uint256 proposedAt;
        uint256 bPlay;
        uint256 aPlay;
        bytes32 salt;
        uint256 roundNum;
    }

    /// @notice The position names another channel than this one.
    error OtherChannel(bytes32 expected, bytes32 submitted);
    /// @notice A proposal names the turn on which it is made.
    error WrongProposedAt(uint256 expected, uint256 submitted);
    /// @notice The turn of the proposal stays as it is until the commitment is opened.
    error ProposedAtChanged(uint256 from, uint256 to);
    /// @notice The commitment stays as it is until it is opened.
    error PreCommitChanged(bytes32 from, bytes32 to);
    /// @notice The weapon of B stays as it is.
    error BPlayChanged(uint256 from, uint256 to);
    /// @notice What A reveals is not what it has committed to.
    error WrongReveal(bytes32 preCommit, bytes32 revealed);
    /// @notice This is not the round that must follow.
    error WrongRound(uint256 expected, uint256 submitted);
    /// @notice No round has a higher number.
    error RoundNumberOverflow(uint256 roundNum);

    uint256 private constant START = 0;
    uint256 private constant ROUND_PROPOSED = 1;
    uint256 private constant ROUND_ACCEPTED = 2;
    uint256 private constant REVEAL = 3;

    // Rock is 0 and Paper is 1.
    uint256 private constant SCISSORS = 2;
    uint256 private constant WEAPONS = 3;

    uint256 private constant WORDS = 9;

    /// @inheritdoc IForceMoveApp
    function validTransition(
        bytes32 channelId,
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
        if (next.channelId != channelId) revert OtherChannel(channelId, next.channelId);
        uint256 stakes = _requireMove(old, next, to.turnNum);
        if (old.positionType == START) TwoPlayer.requireBothAfford(oldOutcome, old.stake);
        TwoPlayer.requirePaid(oldOutcome, nextOutcome, to.turnNum % TwoPlayer.PLAYERS, stakes, old.stake);
        return true;
    }

    function _read(bytes calldata appData) private pure returns (Position memory position) {
        TwoPlayer.requireWords(appData, WORDS);
        // Word by word, because a struct would be copied through memory.
        (
            position.positionType,
            position.stake,
            position.channelId,
            position.preCommit,
            position.proposedAt,
            position.bPlay,
            position.aPlay,
            position.salt,
            position.roundNum
        ) = abi.decode(appData, (uint256, uint256, bytes32, bytes32, uint256, uint256, uint256, bytes32, uint256));

        uint256 positionType = position.positionType;
        if (positionType > REVEAL) revert TwoPlayer.MalformedPosition(0, positionType);
        if (positionType < ROUND_PROPOSED && position.preCommit != 0) {
            revert TwoPlayer.MalformedPosition(3, uint256(position.preCommit));
        }
        if (positionType < ROUND_PROPOSED && position.proposedAt != 0) {
            revert TwoPlayer.MalformedPosition(4, position.proposedAt);
        }
        if (position.bPlay > (positionType < ROUND_ACCEPTED ? 0 : SCISSORS)) {
            revert TwoPlayer.MalformedPosition(5, position.bPlay);
        }
        if (position.aPlay > (positionType < REVEAL ? 0 : SCISSORS)) {
            revert TwoPlayer.MalformedPosition(6, position.aPlay);
        }
        if (positionType < REVEAL && position.salt != 0) {
            revert TwoPlayer.MalformedPosition(7, uint256(position.salt));
        }
    }

    /// @dev The rows of the game's table; returns how many stakes the mover takes from the other.
    function _requireMove(Position memory from, Position memory to, uint256 turnNum)
        private
        pure
        returns (uint256 stakes)
    {
        uint256 fromType = from.positionType;
        uint256 toType = to.positionType;
        if (fromType == REVEAL && toType == START) {
            if (from.roundNum == type(uint256).max) revert RoundNumberOverflow(from.roundNum);
            _requireRound(from.roundNum + 1, to.roundNum);
        } else if (fromType == START && toType == ROUND_PROPOSED) {
            _requireRound(from.roundNum, to.roundNum);
            if (to.proposedAt != turnNum) revert WrongProposedAt(turnNum, to.proposedAt);
        } else if (fromType == ROUND_PROPOSED && toType == START) {
            _requireRound(from.roundNum, to.roundNum);
        } else if (fromType == ROUND_PROPOSED && toType == ROUND_ACCEPTED) {
            _requireRound(from.roundNum, to.roundNum);
            _requireSameProposal(from, to);
            stakes = 1;
        } else if (fromType == ROUND_ACCEPTED && toType == REVEAL) {
            _requireRound(from.roundNum, to.roundNum);
            _requireSameProposal(from, to);
            if (to.bPlay != from.bPlay) revert BPlayChanged(from.bPlay, to.bPlay);
            _requireOpening(to);
            stakes = _stakesTakenByA(to.aPlay, to.bPlay);
        } else {
            revert TwoPlayer.NoSuchTransition(fromType, toType);
        }
    }

    function _requireRound(uint256 expected, uint256 submitted) private pure {
        if (submitted != expected) revert WrongRound(expected, submitted);
    }

    function _requireSameProposal(Position memory from, Position memory to) private pure {
        if (to.preCommit != from.preCommit) revert PreCommitChanged(from.preCommit, to.preCommit);
        if (to.proposedAt != from.proposedAt) revert ProposedAtChanged(from.proposedAt, to.proposedAt);
    }

    function _requireOpening(Position memory position) private pure {
        uint256 seat = position.proposedAt % TwoPlayer.PLAYERS;
        bytes32 revealed =
            keccak256(abi.encode(position.channelId, position.proposedAt, seat, position.aPlay, position.salt));
        if (revealed != position.preCommit) revert WrongReveal(position.preCommit, revealed);
    }

    /// @dev B took A's stake when it accepted: A takes it back in a tie, and B's with it when A wins. Each weapon beats
    /// the one before it, in a circle.
    function _stakesTakenByA(uint256 aPlay, uint256 bPlay) private pure returns (uint256) {
        if (aPlay == bPlay) return 1;
        return (aPlay + WEAPONS - bPlay) % WEAPONS == 1 ? 2 : 0;
    }
}
