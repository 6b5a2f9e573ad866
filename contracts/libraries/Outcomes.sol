// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Allocation} from "../types/Channel.sol";

/// @title Outcomes: grouped lists of allocations
library Outcomes {
    uint256 internal constant MAX_ALLOCATIONS = 32;
    uint256 internal constant MAX_ASSETS = 4;

    /// @dev Refuses what is not a well-formed outcome of the channel, or allocates another total of its home asset than the
    /// channel is funded with (`homeTotal`; zero: any). Reads every field, so that dirty bits revert too.
    function requireValid(Allocation[] calldata outcome, bytes32 channelId, address home, uint256 homeTotal)
        internal
        view
    {
        uint256 count = outcome.length;
        if (count == 0 || count > MAX_ALLOCATIONS) revert IAdjudicator.AllocationCountOutOfRange(count);
        bytes32 adjudicator = addressDestination(address(this));
        address asset;
        uint256 assets = 1;
        uint256 total = 0;
        uint256 ofHome = 0;
        for (uint256 i = 0; i < count; ++i) {
            Allocation calldata entry = outcome[i];
            address next = entry.asset;
            if (next != asset) {
                if (next < asset) revert IAdjudicator.AssetsNotSorted(i);
                if (i != 0 && ++assets > MAX_ASSETS) revert IAdjudicator.TooManyAssets(assets);
                asset = next;
                total = 0;
            }
            bytes32 destination = entry.destination;
            if (destination == channelId) revert IAdjudicator.ForbiddenDestination(i, destination);
            if (destination == adjudicator) revert IAdjudicator.ForbiddenDestination(i, destination);
            if (destination == 0) revert IAdjudicator.ForbiddenDestination(i, destination);
            uint256 amount = entry.amount;
            unchecked {
                total += amount;
            }
            if (total < amount) revert IAdjudicator.OutcomeTotalOverflow(asset);
            if (asset == home) ofHome = total;
        }
        if (homeTotal != 0 && ofHome != homeTotal) revert IAdjudicator.WrongTotal(homeTotal, ofHome);
    }

    /// @dev Refuses two well-formed outcomes that name other assets or, of one asset, another total.
    function requireSameTotals(Allocation[] calldata from, Allocation[] calldata to) internal pure {
        uint256 i = 0;
        uint256 j = 0;
        while (i < from.length && j < to.length) {
            address asset = from[i].asset;
            if (to[j].asset != asset) revert IAdjudicator.AssetsChanged();
            uint256 totalFrom;
            uint256 totalTo;
            (i, totalFrom) = groupTotal(from, i);
            (j, totalTo) = groupTotal(to, j);
            if (totalFrom != totalTo) revert IAdjudicator.TotalChanged(asset, totalFrom, totalTo);
        }
        if (i != from.length || j != to.length) revert IAdjudicator.AssetsChanged();
    }

    /// @dev Where the asset group that starts at `start` ends, and its total, which in a valid outcome does not overflow.
    function groupTotal(Allocation[] calldata outcome, uint256 start)
        internal
        pure
        returns (uint256 end, uint256 total)
    {
        address asset = outcome[start].asset;
        end = start;
        unchecked {
            do {
                total += outcome[end].amount;
                ++end;
            } while (end < outcome.length && outcome[end].asset == asset);
        }
    }

    /// @dev A destination whose 12 high bytes are zero is an address; any other is a channel's id.
    function isAddress(bytes32 destination) internal pure returns (bool) {
        return uint256(destination) >> 160 == 0;
    }

    function addressDestination(address account) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
