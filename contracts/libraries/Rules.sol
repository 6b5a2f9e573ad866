// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {AppCalls} from "./AppCalls.sol";
import {Channel} from "./Channels.sol";
import {Hashing} from "./Hashing.sol";
import {Outcomes} from "./Outcomes.sol";
import {Proof} from "./Proofs.sol";
import {Reader} from "./Reader.sol";
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
        unchecked {
            if (from.turnNum() + 1 != turnNum) {
                revert IAdjudicator.TurnNumberNotConsecutive(uint48(from.turnNum()), uint48(turnNum));
            }
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
    /// recorded one where it has to be. Returns the hashes of the last one; each state keeps its own.
    function requireValidChain(bytes32 channelId, Word word, Channel channel, Proof proof)
        internal
        view
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        GivenState from = proof.state(0);
        if (proof.isFromRecord()) {
            (stateHash, outcomeHash) = from.hashes(channelId, 0);
            word.requireFingerprint(stateHash, outcomeHash);
        } else {
            (stateHash, outcomeHash) = requireValidState(channelId, channel, from, 0);
        }
        uint256 count = proof.count();
        for (uint256 i = 1; i < count; ++i) {
            GivenState to = proof.state(i);
            bytes32 previousOutcome = outcomeHash;
            (stateHash, outcomeHash) = requireValidState(channelId, channel, to, previousOutcome);
            requireValidTransition(channelId, channel, from, to, outcomeHash == previousOutcome);
            from = to;
        }
    }

    /// @dev Each participant has signed the one digest. `cursor`: where in calldata the signatures begin.
    function requireSignedByAll(bytes32 digest, Channel channel, uint256 cursor) internal pure {
        uint256 count = channel.count();
        unchecked {
            for (uint256 i = 0; i < count; ++i) {
                Signatures.requireSigner(digest, cursor, channel.participant(i));
                cursor += Reader.SIGNATURE_SIZE;
            }
        }
    }

    /// @dev Each state but the first, the recorded one, is signed by its own mover.
    function requireSignedByMovers(bytes32 domainSeparator, Channel channel, Proof proof) internal pure {
        uint256 cursor = proof.signaturesStart();
        uint256 count = proof.count();
        unchecked {
            for (uint256 i = 1; i < count; ++i) {
                GivenState state = proof.state(i);
                bytes32 digest = Hashing.digest(domainSeparator, state.hash());
                Signatures.requireSigner(digest, cursor, channel.mover(state.turnNum()));
                cursor += Reader.SIGNATURE_SIZE;
            }
        }
    }

    /// @dev Each participant has signed the state of its own turn or a later one; where its own turn lies before the
    /// proof, any of it.
    function requireSignedInTurn(bytes32 domainSeparator, Channel channel, Proof proof) internal pure {
        unchecked {
            uint256 count = channel.count();
            uint256 last = proof.count() - 1;
            uint256 lastMover = proof.last().turnNum() % count;
            for (uint256 i = 0; i < count; ++i) {
                uint256 signed = Reader.number(proof.signedStart() + i, 1);
                // How many turns before the last one participant i moved, at the latest.
                uint256 turnsAgo = (lastMover + count - i) % count;
                // Beyond the last state the difference wraps.
                if (last - signed > turnsAgo) revert IAdjudicator.SignedStateOutOfRange(i, signed);
                bytes32 digest = Hashing.digest(domainSeparator, proof.state(signed).hash());
                uint256 cursor = proof.signaturesStart() + i * Reader.SIGNATURE_SIZE;
                Signatures.requireSigner(digest, cursor, channel.participant(i));
            }
        }
    }
}
