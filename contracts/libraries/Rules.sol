// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Allocation, FixedPart, Signature, VariablePart} from "../types/Channel.sol";
import {AppCalls} from "./AppCalls.sol";
import {Hashing} from "./Hashing.sol";
import {Outcomes} from "./Outcomes.sol";
import {Signatures} from "./Signatures.sol";

/// @title The protocol's rules about fixed parts, states, pairs of states and support proofs
/// @dev Each function returns when its rule holds and reverts with an error of IAdjudicator when it does not.
library Rules {
    uint256 internal constant MIN_PARTICIPANTS = 2;
    uint256 internal constant MAX_PARTICIPANTS = 32;
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
    }

    /// @dev Refuses a malformed state and returns the hashes of a good one: what states are compared and recorded by.
    /// @param validOutcome The hash of an outcome that is known to be valid in this channel, or zero.
    function requireValidState(bytes32 channelId, VariablePart calldata state, bytes32 validOutcome)
        internal
        view
        returns (bytes32 stateHash, bytes32 outcomeHash, bytes32 appDataHash)
    {
        Allocation[] calldata outcome = state.outcome;
        bytes calldata appData = state.appData;
        bool isFinal = state.isFinal;
        outcomeHash = Hashing.outcomeHash(outcome);
        if (outcomeHash != validOutcome) Outcomes.requireValid(outcome, channelId);
        if (appData.length > MAX_APP_DATA) revert IAdjudicator.AppDataTooLong(appData.length);
        if (isFinal && appData.length != 0) revert IAdjudicator.FinalStateWithAppData(appData.length);
        appDataHash = Hashing.bytesHash(appData);
        stateHash = Hashing.stateHash(channelId, outcomeHash, appDataHash, state.turnNum, isFinal);
    }

    /// @dev The same hashes of a state that is compared by them to one that was found valid.
    function hashState(bytes32 channelId, VariablePart calldata state)
        internal
        pure
        returns (bytes32 stateHash, bytes32 outcomeHash, bytes32 appDataHash)
    {
        outcomeHash = Hashing.outcomeHash(state.outcome);
        appDataHash = Hashing.bytesHash(state.appData);
        stateHash = Hashing.stateHash(channelId, outcomeHash, appDataHash, state.turnNum, state.isFinal);
    }

    /// @dev Both states are valid in themselves and of one channel of `count` participants; whether their outcomes and
    /// appData are the same, their hashes tell.
    function requireValidTransition(
        FixedPart calldata fixedPart,
        uint256 count,
        VariablePart calldata from,
        VariablePart calldata to,
        bool sameOutcome,
        bool sameAppData
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
            if (!sameAppData) revert IAdjudicator.AppDataChanged();
        } else {
            AppCalls.requireValidMove(fixedPart.appDefinition, from, to, count);
        }
    }

    /// @dev Refuses a proof that does not support its last state, `state`, and returns that state's hashes.
    function requireSupported(
        bytes32 domainSeparator,
        bytes32 channelId,
        FixedPart calldata fixedPart,
        address[] calldata participants,
        VariablePart[] calldata states,
        VariablePart calldata state,
        Signature[] calldata signatures,
        uint256 signedStates
    ) internal view returns (bytes32 stateHash, bytes32 outcomeHash) {
        if (states.length == 1) {
            if (signedStates != 0) revert IAdjudicator.SignedStatesNotCanonical(signedStates);
            (stateHash, outcomeHash,) = requireValidState(channelId, state, 0);
            requireSignedByAll(Hashing.digest(domainSeparator, stateHash), participants, signatures);
        } else {
            bytes32[] memory digests;
            (digests, stateHash, outcomeHash) =
                requireValidChain(domainSeparator, channelId, fixedPart, participants.length, states);
            requireSignedInTurn(digests, state.turnNum, participants, signatures, signedStates);
        }
    }

    /// @dev 2 to `count` consecutive states, each a valid transition from the one before. Returns what the signers of
    /// each state signed, and the last one's hashes.
    function requireValidChain(
        bytes32 domainSeparator,
        bytes32 channelId,
        FixedPart calldata fixedPart,
        uint256 count,
        VariablePart[] calldata states
    ) internal view returns (bytes32[] memory digests, bytes32 stateHash, bytes32 outcomeHash) {
        if (states.length > count) revert IAdjudicator.StateCountOutOfRange(states.length);
        digests = new bytes32[](states.length);
        VariablePart calldata from = states[0];
        bytes32 appDataHash;
        (stateHash, outcomeHash, appDataHash) = requireValidState(channelId, from, 0);
        digests[0] = Hashing.digest(domainSeparator, stateHash);
        for (uint256 i = 1; i < states.length; ++i) {
            VariablePart calldata to = states[i];
            bytes32 previousOutcome = outcomeHash;
            bytes32 previousAppData = appDataHash;
            (stateHash, outcomeHash, appDataHash) = requireValidState(channelId, to, previousOutcome);
            requireValidTransition(
                fixedPart, count, from, to, outcomeHash == previousOutcome, appDataHash == previousAppData
            );
            digests[i] = Hashing.digest(domainSeparator, stateHash);
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

    /// @dev Each participant has signed the state of its own turn or a later one; where its own turn lies before the
    /// proof, any of it. `digests` are those of the proof's states, which end in `lastTurn`.
    function requireSignedInTurn(
        bytes32[] memory digests,
        uint256 lastTurn,
        address[] calldata participants,
        Signature[] calldata signatures,
        uint256 signedStates
    ) internal pure {
        uint256 count = participants.length;
        if (signatures.length != count) revert IAdjudicator.SignatureCountMismatch(count, signatures.length);
        uint256 last = digests.length - 1;
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
            Signatures.requireSigner(digests[signed], signatures[i], participants[i]);
        }
        if (rest != 0) revert IAdjudicator.SignedStatesNotCanonical(signedStates);
    }
}
