// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {FixedPart, SupportProof, VariablePart} from "../types/Channel.sol";
import {Hashing} from "./Hashing.sol";
import {Outcomes} from "./Outcomes.sol";
import {Signatures} from "./Signatures.sol";

/// @dev The hashes of one state: what states are compared and recorded by.
struct StateHashes {
    bytes32 outcome;
    bytes32 appData;
    bytes32 state;
}

/// @title The protocol's rules about fixed parts, states, pairs of states and support proofs
/// @dev Each function returns when its rule holds and reverts with an error of IAdjudicator when it does not.
library Rules {
    uint256 internal constant MIN_PARTICIPANTS = 2;
    uint256 internal constant MAX_PARTICIPANTS = 32;
    uint256 internal constant MIN_CHALLENGE_DURATION = 60 seconds;
    uint256 internal constant MAX_CHALLENGE_DURATION = 365 days;
    uint256 internal constant MAX_APP_DATA = 8_192;

    function requireValidFixedPart(FixedPart calldata fixedPart) internal pure {
        address[] calldata participants = fixedPart.participants;
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

    /// @dev Refuses a malformed state and returns the hashes of a good one.
    function requireValidState(bytes32 channelId, VariablePart calldata state)
        internal
        view
        returns (StateHashes memory hashes)
    {
        Outcomes.requireValid(state.outcome, channelId);
        bytes calldata appData = state.appData;
        if (appData.length > MAX_APP_DATA) revert IAdjudicator.AppDataTooLong(appData.length);
        bool isFinal = state.isFinal;
        if (isFinal && appData.length != 0) revert IAdjudicator.FinalStateWithAppData(appData.length);
        hashes.outcome = Hashing.outcomeHash(state.outcome);
        hashes.appData = Hashing.bytesHash(appData);
        hashes.state = Hashing.stateHash(channelId, hashes.outcome, hashes.appData, state.turnNum, isFinal);
    }

    /// @dev Both states are valid in themselves and of one channel.
    function requireValidTransition(
        FixedPart calldata fixedPart,
        VariablePart calldata from,
        StateHashes memory fromHashes,
        VariablePart calldata to,
        StateHashes memory toHashes
    ) internal pure {
        if (uint256(from.turnNum) + 1 != to.turnNum) {
            revert IAdjudicator.TurnNumberNotConsecutive(from.turnNum, to.turnNum);
        }
        bool sameOutcome = fromHashes.outcome == toHashes.outcome;
        if (!sameOutcome) Outcomes.requireSameTotals(from.outcome, to.outcome);

        uint256 count = fixedPart.participants.length;
        if (to.isFinal) {
            if (!sameOutcome) revert IAdjudicator.OutcomeChanged();
        } else if (from.isFinal) {
            revert IAdjudicator.FinalStateRequired();
        } else if (to.turnNum < 2 * count) {
            if (!sameOutcome) revert IAdjudicator.OutcomeChanged();
            if (fromHashes.appData != toHashes.appData) revert IAdjudicator.AppDataChanged();
        } else if (!IForceMoveApp(fixedPart.appDefinition).validTransition(from, to, count)) {
            revert IAdjudicator.TransitionRefused();
        }
    }

    /// @dev Refuses a proof that does not support its last state, and returns that state's hashes.
    function requireSupported(
        bytes32 domainSeparator,
        bytes32 channelId,
        FixedPart calldata fixedPart,
        SupportProof calldata proof
    ) internal view returns (StateHashes memory last) {
        VariablePart[] calldata states = proof.states;
        uint256 count = fixedPart.participants.length;
        if (states.length == 0 || states.length > count) revert IAdjudicator.StateCountOutOfRange(states.length);

        bytes32[] memory digests = new bytes32[](states.length);
        for (uint256 i = 0; i < states.length; ++i) {
            StateHashes memory hashes = requireValidState(channelId, states[i]);
            if (i != 0) requireValidTransition(fixedPart, states[i - 1], last, states[i], hashes);
            digests[i] = Hashing.digest(domainSeparator, hashes.state);
            last = hashes;
        }
        requireSignedByAll(fixedPart, proof, digests);
    }

    /// @dev Each participant has signed the state of its own turn or a later one; where its own turn lies before the
    /// proof, any of it.
    function requireSignedByAll(FixedPart calldata fixedPart, SupportProof calldata proof, bytes32[] memory digests)
        internal
        pure
    {
        address[] calldata participants = fixedPart.participants;
        uint256 count = participants.length;
        if (proof.signatures.length != count) {
            revert IAdjudicator.SignatureCountMismatch(count, proof.signatures.length);
        }
        uint256 signedStates = proof.signedStates;
        uint256 last = digests.length - 1;
        uint256 lastTurn = proof.states[last].turnNum;
        for (uint256 i = 0; i < count; ++i) {
            uint256 signed = signedStates & 0xff;
            signedStates >>= 8;
            // How many turns before the last one participant i moved, at the latest.
            uint256 turnsAgo = (lastTurn % count + count - i) % count;
            if (signed > last || signed + turnsAgo < last) revert IAdjudicator.SignedStateOutOfRange(i, signed);
            Signatures.requireSigner(digests[signed], proof.signatures[i], participants[i]);
        }
        if (signedStates != 0) revert IAdjudicator.SignedStatesNotCanonical(proof.signedStates);
    }
}
