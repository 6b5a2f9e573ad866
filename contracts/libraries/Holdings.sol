// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";

/// @notice What a channel holds of one asset, in one storage word: the amount in the 254 low bits, above it whether
/// the channel has begun to pay out, and in the highest bit whether it is closed forever (its tombstone).
type Holdings is uint256;

using HoldingsLibrary for Holdings global;

/// @title The packed holdings word
library HoldingsLibrary {
    uint256 private constant CLOSED = 1 << 255;
    uint256 private constant PAYOUT_BEGUN = 1 << 254;
    /// @dev The most that a channel can hold of an asset.
    uint256 internal constant MAX = PAYOUT_BEGUN - 1;

    /// @dev What a channel holds that has paid nothing out.
    function wrap(uint256 amount_) internal pure returns (Holdings) {
        return Holdings.wrap(amount_);
    }

    function amount(Holdings holdings) internal pure returns (uint256) {
        return Holdings.unwrap(holdings) & MAX;
    }

    function isClosed(Holdings holdings) internal pure returns (bool) {
        return Holdings.unwrap(holdings) & CLOSED != 0;
    }

    function hasPayoutBegun(Holdings holdings) internal pure returns (bool) {
        return Holdings.unwrap(holdings) & PAYOUT_BEGUN != 0;
    }

    /// @dev The amount, where nothing has been paid out; the error tells whether anything more can come of the channel.
    function requireNoPayout(Holdings holdings, bytes32 channelId) internal pure returns (uint256) {
        if (Holdings.unwrap(holdings) > MAX) {
            if (holdings.isClosed()) revert IAdjudicator.ChannelClosed(channelId);
            revert IAdjudicator.PayoutBegun(channelId);
        }
        return Holdings.unwrap(holdings);
    }

    /// @dev Whether `more` can be added without exceeding MAX.
    function fits(Holdings holdings, uint256 more) internal pure returns (bool) {
        return more <= MAX - holdings.amount();
    }

    /// @dev The caller has checked that it `fits`; the flags stay.
    function plus(Holdings holdings, uint256 more) internal pure returns (Holdings) {
        unchecked {
            return Holdings.wrap(Holdings.unwrap(holdings) + more);
        }
    }

    /// @dev The caller has checked that so much is held; the flags stay.
    function minus(Holdings holdings, uint256 less) internal pure returns (Holdings) {
        unchecked {
            return Holdings.wrap(Holdings.unwrap(holdings) - less);
        }
    }

    function withPayoutBegun(Holdings holdings) internal pure returns (Holdings) {
        return Holdings.wrap(Holdings.unwrap(holdings) | PAYOUT_BEGUN);
    }

    /// @dev A closed channel has begun to pay, too.
    function withTombstone(Holdings holdings) internal pure returns (Holdings) {
        return Holdings.wrap(Holdings.unwrap(holdings) | CLOSED | PAYOUT_BEGUN);
    }
}
