// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Allocation} from "../types/Channel.sol";

/// @notice An outcome in memory, as the ABI encodes `Allocation[]`: how many allocations there are, and of each asset,
/// destination and amount, one word each. The value is the address of the first word.
type Outcome is uint256;

/// @notice One allocation of an outcome in memory: the address of its first word.
type Entry is uint256;

using Outcomes for Outcome global;
using Entries for Entry global;

/// @title Outcomes: grouped lists of allocations
library Outcomes {
    uint256 internal constant MAX_ALLOCATIONS = 32;
    uint256 internal constant MAX_ASSETS = 4;
    uint256 private constant ENTRY_SIZE = 0x60;

    /// @dev Refuses what is not a well-formed outcome of the channel, or allocates another total of its home asset than the
    /// channel is funded with (`homeTotal`; zero: any).
    function requireValid(Outcome outcome, bytes32 channelId, address home, uint256 homeTotal) internal view {
        uint256 count = outcome.length();
        address asset;
        uint256 assets = 1;
        uint256 total = 0;
        uint256 ofHome = 0;
        unchecked {
            // Where there is none the difference wraps.
            if (count - 1 >= MAX_ALLOCATIONS) revert IAdjudicator.AllocationCountOutOfRange(count);
            for (uint256 i = 0; i < count; ++i) {
                Entry each = outcome.entry(i);
                address next = each.asset();
                if (next != asset) {
                    if (next < asset) revert IAdjudicator.AssetsNotSorted(i);
                    if (i != 0 && ++assets > MAX_ASSETS) revert IAdjudicator.TooManyAssets(assets);
                    asset = next;
                    total = 0;
                }
                bytes32 destination = each.destination();
                if (_isForbidden(destination, channelId)) revert IAdjudicator.ForbiddenDestination(i, destination);
                uint256 amount = each.amount();
                total += amount;
                if (total < amount) revert IAdjudicator.OutcomeTotalOverflow(asset);
                if (asset == home) ofHome = total;
            }
        }
        if (ofHome != homeTotal) {
            if (homeTotal != 0) revert IAdjudicator.WrongTotal(homeTotal, ofHome);
        }
    }

    function _isForbidden(bytes32 destination, bytes32 channelId) private view returns (bool) {
        if (destination == channelId) return true;
        if (destination == 0) return true;
        return destination == addressDestination(address(this));
    }

    /// @dev Refuses two well-formed outcomes that name other assets or, of one asset, another total.
    function requireSameTotals(Outcome from, Outcome to) internal pure {
        uint256 i = 0;
        uint256 j = 0;
        while (i < from.length() && j < to.length()) {
            address asset = from.entry(i).asset();
            if (to.entry(j).asset() != asset) revert IAdjudicator.AssetsChanged();
            uint256 totalFrom;
            uint256 totalTo;
            (i, totalFrom) = groupTotal(from, i);
            (j, totalTo) = groupTotal(to, j);
            if (totalFrom != totalTo) revert IAdjudicator.TotalChanged(asset, totalFrom, totalTo);
        }
        if (i != from.length() || j != to.length()) revert IAdjudicator.AssetsChanged();
    }

    /// @dev Where the asset group that starts at `start` ends, and its total, which in a valid outcome does not overflow.
    function groupTotal(Outcome outcome, uint256 start) internal pure returns (uint256 end, uint256 total) {
        end = start;
        unchecked {
            do {
                total += outcome.entry(end).amount();
                ++end;
            } while (!outcome.isEnd(end));
        }
    }

    /// @dev Whether an asset's group ends before this place, which is not the first.
    function isEnd(Outcome outcome, uint256 i) internal pure returns (bool) {
        return i == outcome.length() || outcome.entry(i).asset() != outcome.entry(i - 1).asset();
    }

    /// @dev A destination whose 12 high bytes are zero is an address; any other is a channel's id.
    function isAddress(bytes32 destination) internal pure returns (bool) {
        return uint256(destination) >> 160 == 0;
    }

    function addressDestination(address account) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    // ------------------------------------------------------------------------------------------------------- memory

    function length(Outcome outcome) internal pure returns (uint256 count) {
        assembly ("memory-safe") {
            count := mload(outcome)
        }
    }

    /// @dev The caller knows that there is such an allocation.
    function entry(Outcome outcome, uint256 i) internal pure returns (Entry) {
        unchecked {
            return Entry.wrap(Outcome.unwrap(outcome) + 0x20 + i * ENTRY_SIZE);
        }
    }

    /// @dev The same as a list.
    function toList(Outcome outcome) internal pure returns (Allocation[] memory list) {
        list = new Allocation[](outcome.length());
        for (uint256 i = 0; i < list.length; ++i) {
            Entry from = outcome.entry(i);
            list[i] = Allocation(from.asset(), from.destination(), from.amount());
        }
    }
}

/// @title Allocations in memory
library Entries {
    function asset(Entry self) internal pure returns (address result) {
        assembly ("memory-safe") {
            result := mload(self)
        }
    }

    function destination(Entry self) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := mload(add(self, 0x20))
        }
    }

    function amount(Entry self) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(add(self, 0x40))
        }
    }

    /// @dev Changes the outcome itself.
    function setAmount(Entry self, uint256 value) internal pure {
        assembly ("memory-safe") {
            mstore(add(self, 0x40), value)
        }
    }
}
