// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Adjudicator} from "../Adjudicator.sol";
import {Channel} from "../libraries/Channels.sol";
import {Proof} from "../libraries/Proofs.sol";
import {Reader} from "../libraries/Reader.sol";
import {Word} from "../libraries/Words.sol";

/// @title The adjudicator with its reader and its check of proofs callable, whatever is recorded
contract ProofHarness is Adjudicator {
    /// @dev Arguments: those of `checkpoint`.
    /// @return channelId The channel's id.
    /// @return isFromRecord Whether the first state is said to be the recorded one.
    /// @return hashes Those of the states.
    /// @return signed The indices of the states that the participants are said to have signed.
    /// @return signatures One after the other.
    function read()
        external
        view
        returns (
            bytes32 channelId,
            bool isFromRecord,
            bytes32[] memory hashes,
            bytes memory signed,
            bytes memory signatures
        )
    {
        (Channel channel, uint256 cursor) = Reader.channel(Reader.START);
        Proof proof = Reader.proof(cursor, channel);
        Reader.requireEnd(proof.end());
        channelId = channel.id();
        isFromRecord = proof.isFromRecord();
        hashes = new bytes32[](proof.count());
        bytes32 outcomeHash;
        for (uint256 i = 0; i < hashes.length; ++i) {
            (hashes[i], outcomeHash) = proof.state(i).hashes(channelId, outcomeHash);
        }
        signed = msg.data[proof.signedStart():proof.signaturesStart()];
        signatures = msg.data[proof.signaturesStart():proof.end()];
    }

    /// @dev Arguments: the word of the home asset (32 bytes), since a proof may begin with its recorded state; then those
    /// of `checkpoint`.
    /// @return The hashes of the last state and of its outcome.
    function requireSupported() external view returns (bytes32, bytes32) {
        (Channel channel, uint256 cursor) = Reader.channel(Reader.START + 32);
        Proof proof = Reader.proof(cursor, channel);
        Reader.requireEnd(proof.end());
        return _requireSupported(channel.id(), Word.wrap(uint256(Reader.word(Reader.START))), channel, proof);
    }
}
