// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {AppCalls} from "./AppCalls.sol";
import {Channel} from "./Channels.sol";
import {Hashing} from "./Hashing.sol";
import {Outcomes} from "./Outcomes.sol";
import {Proof, Reader} from "./Reader.sol";
import {Signatures} from "./Signatures.sol";
import {GivenState} from "./States.sol";
import {Word} from "./Words.sol";

/// @title The protocol's rules about states, pairs of states and support proofs
/// @dev Each function returns when its rule holds and reverts with an error of IAdjudicator when it does not.
library Rules {
    uint256 internal constant MAX_APP_DATA = 8_192;

    /// @dev Refuses a malformed state and returns the hashes of a good one: what states are compared and recorded by.
    /// @param validOutcome The hash of an outcome that is known to be valid in this channel, or zero.
    function requireValidState(bytes32 channelId, Channel channel, GivenState state, bytes32 validOutcome)
        internal
        view
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        (stateHash, outcomeHash) = state.hashes(channelId, validOutcome);
        if (outcomeHash != validOutcome) {
            Outcomes.requireValid(state.outcome(), channelId, channel.asset(), channel.total());
        }
        uint256 length = state.dataLength();
        if (length > MAX_APP_DATA) revert IAdjudicator.AppDataTooLong(length);
        if (state.isFinal() && length != 0) revert IAdjudicator.FinalStateWithAppData(length);
    }

    /// @dev Both states are valid in themselves and of one channel; whether their outcomes are the same, their hashes
    /// tell.
    function requireValidTransition(
        bytes32 channelId,
        Channel channel,
        GivenState from,
        GivenState to,
        bool sameOutcome
    ) internal view {
        uint256 turnNum = to.turnNum();
        if (uint256(from.turnNum()) + 1 != turnNum) {
            revert IAdjudicator.TurnNumberNotConsecutive(from.turnNum(), to.turnNum());
        }
        if (!sameOutcome) Outcomes.requireSameTotals(from.outcome(), to.outcome());

        uint256 count = channel.count();
        if (to.isFinal()) {
            if (!sameOutcome) revert IAdjudicator.OutcomeChanged();
        } else if (from.isFinal()) {
            revert IAdjudicator.FinalStateRequired();
        } else if (turnNum < 2 * count) {
            if (!sameOutcome) revert IAdjudicator.OutcomeChanged();
            if (from.appDataHash() != to.appDataHash()) revert IAdjudicator.AppDataChanged();
            if (from.evidenceHash() != to.evidenceHash()) revert IAdjudicator.AppDataChanged();
        } else {
            AppCalls.requireValidMove(channel.appDefinition(), channelId, from, to, count);
        }
    }

    /// @dev Refuses a row of states of which one is not a valid transition from the one before, or the first is not the
    /// recorded one where it has to be. Returns the states' hashes, and the hash of the last one's outcome.
    function requireValidChain(bytes32 channelId, Word word, Channel channel, Proof memory proof)
        internal
        view
        returns (bytes32[] memory hashes, bytes32 outcomeHash)
    {
        uint256 count = proof.states.length;
        hashes = new bytes32[](count);
        GivenState from = proof.states[0];
        if (proof.isFromRecord) {
            (hashes[0], outcomeHash) = from.hashes(channelId, 0);
            word.requireFingerprint(hashes[0], outcomeHash);
        } else {
            (hashes[0], outcomeHash) = requireValidState(channelId, channel, from, 0);
        }
        for (uint256 i = 1; i < count; ++i) {
            GivenState to = proof.states[i];
            bytes32 previousOutcome = outcomeHash;
            (hashes[i], outcomeHash) = requireValidState(channelId, channel, to, previousOutcome);
            requireValidTransition(channelId, channel, from, to, outcomeHash == previousOutcome);
            from = to;
        }
    }

    /// @dev Each participant has signed the one digest. `cursor`: where in calldata the signatures begin.
    function requireSignedByAll(bytes32 digest, Channel channel, uint256 cursor) internal pure {
        uint256 count = channel.count();
        for (uint256 i = 0; i < count; ++i) {
            Signatures.requireSigner(digest, cursor, channel.participant(i));
            cursor += Reader.SIGNATURE_SIZE;
        }
    }

    /// @dev Each state but the first, the recorded one, is signed by its own mover. `hashes` are those of the states.
    function requireSignedByMovers(bytes32 domainSeparator, bytes32[] memory hashes, Channel channel, Proof memory proof)
        internal
        pure
    {
        uint256 cursor = proof.signaturesStart;
        for (uint256 i = 1; i < hashes.length; ++i) {
            address mover = channel.mover(proof.states[i].turnNum());
            Signatures.requireSigner(Hashing.digest(domainSeparator, hashes[i]), cursor, mover);
            cursor += Reader.SIGNATURE_SIZE;
        }
    }

    /// @dev Each participant has signed the state of its own turn or a later one; where its own turn lies before the
    /// proof, any of it. `hashes` are those of the states.
    function requireSignedInTurn(bytes32 domainSeparator, bytes32[] memory hashes, Channel channel, Proof memory proof)
        internal
        pure
    {
        uint256 count = channel.count();
        uint256 last = hashes.length - 1;
        uint256 lastMover = proof.states[last].turnNum() % count;
        uint256 cursor = proof.signaturesStart;
        for (uint256 i = 0; i < count; ++i) {
            uint256 signed = Reader.number(proof.signedStart + i, 1);
            unchecked {
                // How many turns before the last one participant i moved, at the latest.
                uint256 turnsAgo = lastMover < i ? lastMover + count - i : lastMover - i;
                if (signed > last || signed + turnsAgo < last) revert IAdjudicator.SignedStateOutOfRange(i, signed);
            }
            bytes32 digest = Hashing.digest(domainSeparator, hashes[signed]);
            Signatures.requireSigner(digest, cursor, channel.participant(i));
            cursor += Reader.SIGNATURE_SIZE;
        }
    }
}
