// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Hashing} from "./Hashing.sol";

/// @notice What the adjudicator remembers of a channel, in one storage word: `turnNumRecord` 48 bits, `finalizesAt`
/// 48 bits, `fingerprint` 160 bits, from the highest to the lowest.
type Status is uint256;

using StatusLibrary for Status global;

/// @title The packed status word
/// @dev The mode is derived from the clock and never stored: Open has no `finalizesAt`, Challenge one that is to come,
/// Finalized one that is not.
library StatusLibrary {
    /// @dev Nothing recorded.
    Status internal constant EMPTY = Status.wrap(0);

    function pack(uint48 turnNumRecord_, uint48 finalizesAt_, uint160 fingerprint_) internal pure returns (Status) {
        return Status.wrap((uint256(turnNumRecord_) << 208) | (uint256(finalizesAt_) << 160) | fingerprint_);
    }

    function isEmpty(Status status) internal pure returns (bool) {
        return Status.unwrap(status) == 0;
    }

    function turnNumRecord(Status status) internal pure returns (uint48) {
        return uint48(Status.unwrap(status) >> 208);
    }

    function finalizesAt(Status status) internal pure returns (uint48) {
        return uint48(Status.unwrap(status) >> 160);
    }

    function fingerprint(Status status) internal pure returns (uint160) {
        return uint160(Status.unwrap(status));
    }

    function isOpen(Status status) internal pure returns (bool) {
        return status.finalizesAt() == 0;
    }

    /// @dev At exactly `finalizesAt` it is too late to answer and time to pay.
    function isFinalized(Status status) internal view returns (bool) {
        return !status.isOpen() && block.timestamp >= status.finalizesAt();
    }

    /// @dev Refuses a state, given by its hashes, that is not the recorded one.
    function requireFingerprint(Status status, bytes32 stateHash, bytes32 outcomeHash) internal pure {
        uint160 submitted = fingerprintOf(stateHash, outcomeHash);
        if (status.fingerprint() != submitted) {
            revert IAdjudicator.FingerprintMismatch(status.fingerprint(), submitted);
        }
    }

    /// @dev The low 160 bits of keccak256(stateHash, outcomeHash). After a payout the outcome is what is left.
    function fingerprintOf(bytes32 stateHash, bytes32 outcomeHash) internal pure returns (uint160) {
        return uint160(uint256(Hashing.pairHash(stateHash, outcomeHash)));
    }
}
