// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Allocation, FixedPart, Signature, VariablePart} from "../types/Channel.sol";
import {AppCalls} from "./AppCalls.sol";
import {Hashing} from "./Hashing.sol";
import {Outcomes} from "./Outcomes.sol";
import {Signatures} from "./Signatures.sol";
import {Word, Words} from "./Words.sol";

/// @title The protocol's rules about fixed parts, states, pairs of states and support proofs
/// @dev Each function returns when its rule holds and reverts with an error of IAdjudicator when it does not.
library Rules {
    uint256 internal constant MIN_PARTICIPANTS = 2;
    uint256 internal constant MAX_PARTICIPANTS = 8;
    uint256 internal constant MIN_CHALLENGE_DURATION = 60 seconds;
    uint256 internal constant MAX_CHALLENGE_DURATION = 365 days;
    uint256 internal constant MAX_APP_DATA = 8_192;

    function requireValidFixedPart(FixedPart calldata fixedPart, address[] calldata participants) internal pure {
        uint256 count = participants.length;
        if (count < MIN_PARTICIPANTS || count > MAX_PARTICIPANTS) {
            revert IAdjudicator.ParticipantCountOutOfRange(count);
        }
        for (uint256 i = 0; i < count; ++i) {
            address participant = participants[i];
            if (participant == address(0)) revert IAdjudicator.ZeroParticipant(i);
            for (uint256 j = 0; j < i; ++j) {
                if (participants[j] == participant) revert IAdjudicator.DuplicateParticipant(j, i);
            }
        }
        uint48 duration = fixedPart.challengeDuration;
        if (duration < MIN_CHALLENGE_DURATION || duration > MAX_CHALLENGE_DURATION) {
            revert IAdjudicator.ChallengeDurationOutOfRange(duration);
        }
        if (fixedPart.total > Words.MAX_AMOUNT) revert IAdjudicator.TotalTooHigh(fixedPart.total);
    }

    /// @dev Refuses a malformed state and returns the hashes of a good one: what states are compared and recorded by.
    /// @param validOutcome The hash of an outcome that is known to be valid in this channel, or zero.
    function requireValidState(
        bytes32 channelId,
        FixedPart calldata fixedPart,
        VariablePart calldata state,
        bytes32 validOutcome
    ) internal view returns (bytes32 stateHash, bytes32 outcomeHash) {
        Allocation[] calldata outcome = state.outcome;
        bytes calldata appData = state.appData;
        bytes calldata evidence = state.evidence;
        bool isFinal = state.isFinal;
        outcomeHash = Hashing.outcomeHash(outcome);
        if (outcomeHash != validOutcome) Outcomes.requireValid(outcome, channelId, fixedPart.asset, fixedPart.total);
        uint256 length = appData.length + evidence.length;
        if (length > MAX_APP_DATA) revert IAdjudicator.AppDataTooLong(length);
        if (isFinal && length != 0) revert IAdjudicator.FinalStateWithAppData(length);
        stateHash = Hashing.stateHash(
            channelId, outcomeHash, Hashing.bytesHash(appData), Hashing.bytesHash(evidence), state.turnNum, isFinal
        );
    }

    /// @dev The same hashes of a state that is compared by them to one that was found valid.
    function hashState(bytes32 channelId, VariablePart calldata state)
        internal
        pure
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        outcomeHash = Hashing.outcomeHash(state.outcome);
        bytes32 appDataHash = Hashing.bytesHash(state.appData);
        bytes32 evidenceHash = Hashing.bytesHash(state.evidence);
        stateHash = Hashing.stateHash(channelId, outcomeHash, appDataHash, evidenceHash, state.turnNum, state.isFinal);
    }

    /// @dev Both states are valid in themselves and of one channel of `count` participants; whether their outcomes
    /// are the same, their hashes tell.
    function requireValidTransition(
        bytes32 channelId,
        FixedPart calldata fixedPart,
        uint256 count,
        VariablePart calldata from,
        VariablePart calldata to,
        bool sameOutcome
    ) internal view {
        uint256 turnNum = to.turnNum;
        if (uint256(from.turnNum) + 1 != turnNum) {
            revert IAdjudicator.TurnNumberNotConsecutive(from.turnNum, to.turnNum);
        }
        if (!sameOutcome) Outcomes.requireSameTotals(from.outcome, to.outcome);

        if (to.isFinal) {
            if (!sameOutcome) revert IAdjudicator.OutcomeChanged();
        } else if (from.isFinal) {
            revert IAdjudicator.FinalStateRequired();
        } else if (turnNum < 2 * count) {
            if (!sameOutcome) revert IAdjudicator.OutcomeChanged();
            if (Hashing.bytesHash(from.appData) != Hashing.bytesHash(to.appData)) revert IAdjudicator.AppDataChanged();
            if (Hashing.bytesHash(from.evidence) != Hashing.bytesHash(to.evidence)) revert IAdjudicator.AppDataChanged();
        } else {
            AppCalls.requireValidMove(fixedPart.appDefinition, channelId, from, to, count);
        }
    }

    /// @dev Refuses what is not a chain of 2 to `count` consecutive states, each a valid transition from the one before; the
    /// first one is the recorded one where `fromRecord`. Returns the states' hashes, and the hash of the last one's outcome.
    function requireValidChain(
        bytes32 channelId,
        Word word,
        FixedPart calldata fixedPart,
        uint256 count,
        VariablePart[] calldata states,
        bool fromRecord
    ) internal view returns (bytes32[] memory hashes, bytes32 outcomeHash) {
        uint256 length = states.length;
        if (length > count) revert IAdjudicator.StateCountOutOfRange(length);
        hashes = new bytes32[](length);
        VariablePart calldata from = states[0];
        if (fromRecord) {
            (hashes[0], outcomeHash) = hashState(channelId, from);
            word.requireFingerprint(hashes[0], outcomeHash);
        } else {
            (hashes[0], outcomeHash) = requireValidState(channelId, fixedPart, from, 0);
        }
        for (uint256 i = 1; i < length; ++i) {
            VariablePart calldata to = states[i];
            bytes32 previousOutcome = outcomeHash;
            (hashes[i], outcomeHash) = requireValidState(channelId, fixedPart, to, previousOutcome);
            requireValidTransition(channelId, fixedPart, count, from, to, outcomeHash == previousOutcome);
            from = to;
        }
    }

    /// @dev Each participant has signed the one digest.
    function requireSignedByAll(bytes32 digest, address[] calldata participants, Signature[] calldata signatures)
        internal
        pure
    {
        uint256 count = participants.length;
        if (signatures.length != count) revert IAdjudicator.SignatureCountMismatch(count, signatures.length);
        for (uint256 i = 0; i < count; ++i) {
            Signatures.requireSigner(digest, signatures[i], participants[i]);
        }
    }

    /// @dev Each state but the first, the recorded one, is signed by its own mover. `hashes` are those of the proof's
    /// states, which end in `lastTurn`.
    function requireSignedByMovers(
        bytes32 domainSeparator,
        bytes32[] memory hashes,
        uint256 lastTurn,
        address[] calldata participants,
        Signature[] calldata signatures
    ) internal pure {
        uint256 count = signatures.length;
        for (uint256 i = 0; i < count; ++i) {
            unchecked {
                // The states are consecutive, so there were as many turns before the last one.
                address mover = participants[(lastTurn + i + 1 - count) % participants.length];
                Signatures.requireSigner(Hashing.digest(domainSeparator, hashes[i + 1]), signatures[i], mover);
            }
        }
    }

    /// @dev Each participant has signed the state of its own turn or a later one; where its own turn lies before the
    /// proof, any of it. `hashes` are those of the proof's states, which end in `lastTurn`.
    function requireSignedInTurn(
        bytes32 domainSeparator,
        bytes32[] memory hashes,
        uint256 lastTurn,
        address[] calldata participants,
        Signature[] calldata signatures,
        uint256 signedStates
    ) internal pure {
        uint256 count = participants.length;
        if (signatures.length != count) revert IAdjudicator.SignatureCountMismatch(count, signatures.length);
        uint256 last = hashes.length - 1;
        uint256 lastMover = lastTurn % count;
        uint256 rest = signedStates;
        for (uint256 i = 0; i < count; ++i) {
            uint256 signed = rest & 0xff;
            rest >>= 8;
            unchecked {
                // How many turns before the last one participant i moved, at the latest.
                uint256 turnsAgo = lastMover < i ? lastMover + count - i : lastMover - i;
                if (signed > last || signed + turnsAgo < last) revert IAdjudicator.SignedStateOutOfRange(i, signed);
            }
            Signatures.requireSigner(Hashing.digest(domainSeparator, hashes[signed]), signatures[i], participants[i]);
        }
        if (rest != 0) revert IAdjudicator.SignedStatesNotCanonical(signedStates);
    }
}
