// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Words} from "./Words.sol";

/// @notice The fixed part of a channel in memory, as its id is made of it: one word each of chain id, adjudicator,
/// channelNonce, appDefinition, challengeDuration, asset, total and the participants; before them, how many bytes these
/// are. The value is the address of that first word.
type Channel is uint256;

using Channels for Channel global;

/// @title Fixed parts
library Channels {
    uint256 internal constant MIN_PARTICIPANTS = 2;
    uint256 internal constant MAX_PARTICIPANTS = 8;
    uint256 internal constant MIN_CHALLENGE_DURATION = 60 seconds;
    uint256 internal constant MAX_CHALLENGE_DURATION = 365 days;

    // The places of words. A participant's is PARTICIPANTS and its index.
    uint256 private constant APP_DEFINITION = 4;
    uint256 private constant CHALLENGE_DURATION = 5;
    uint256 private constant ASSET = 6;
    uint256 private constant TOTAL = 7;
    uint256 private constant PARTICIPANTS = 8;

    /// @dev Refuses a fixed part that no channel can have.
    function requireValid(Channel channel) internal pure {
        uint256 participants = channel.count();
        if (_isOutside(participants, MIN_PARTICIPANTS, MAX_PARTICIPANTS)) {
            revert IAdjudicator.ParticipantCountOutOfRange(participants);
        }
        for (uint256 i = 0; i < participants; ++i) {
            uint256 each = _participant(channel, i);
            if (each == 0) revert IAdjudicator.ZeroParticipant(i);
            for (uint256 j = 0; j < i; ++j) {
                if (_participant(channel, j) == each) revert IAdjudicator.DuplicateParticipant(j, i);
            }
        }
        uint256 duration = channel.challengeDuration();
        if (_isOutside(duration, MIN_CHALLENGE_DURATION, MAX_CHALLENGE_DURATION)) {
            revert IAdjudicator.ChallengeDurationOutOfRange(uint48(duration));
        }
        if (channel.total() > Words.MAX_AMOUNT) revert IAdjudicator.TotalTooHigh(channel.total());
    }

    /// @dev In one comparison: below `least` the difference wraps.
    function _isOutside(uint256 value, uint256 least, uint256 most) private pure returns (bool) {
        unchecked {
            return value - least > most - least;
        }
    }

    function id(Channel channel) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(add(channel, 0x20), mload(channel))
        }
    }

    /// @dev How many participants there are.
    function count(Channel channel) internal pure returns (uint256) {
        unchecked {
            return (_word(channel, 0) >> 5) + 1 - PARTICIPANTS;
        }
    }

    /// @dev The caller knows that there is such a participant.
    function participant(Channel channel, uint256 i) internal pure returns (address) {
        return address(uint160(_participant(channel, i)));
    }

    function _participant(Channel channel, uint256 i) private pure returns (uint256) {
        unchecked {
            return _word(channel, PARTICIPANTS + i);
        }
    }

    /// @dev Who moves, and signs the state, in this turn.
    function mover(Channel channel, uint256 turnNum) internal pure returns (address) {
        return channel.participant(turnNum % channel.count());
    }

    function has(Channel channel, address account) internal pure returns (bool) {
        uint256 participants = channel.count();
        for (uint256 i = 0; i < participants; ++i) {
            if (_participant(channel, i) == uint160(account)) return true;
        }
        return false;
    }

    function appDefinition(Channel channel) internal pure returns (address) {
        return address(uint160(_word(channel, APP_DEFINITION)));
    }

    function challengeDuration(Channel channel) internal pure returns (uint256) {
        return _word(channel, CHALLENGE_DURATION);
    }

    function asset(Channel channel) internal pure returns (address) {
        return address(uint160(_word(channel, ASSET)));
    }

    function total(Channel channel) internal pure returns (uint256) {
        return _word(channel, TOTAL);
    }

    function _word(Channel channel, uint256 place) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(channel, shl(5, place)))
        }
    }
}
