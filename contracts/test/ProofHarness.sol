// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Adjudicator} from "../Adjudicator.sol";
import {Channel} from "../libraries/Channels.sol";
import {Proof} from "../libraries/Proofs.sol";
import {Reader} from "../libraries/Reader.sol";
import {Word} from "../libraries/Words.sol";

/// @title The adjudicator with its check of proofs callable, whatever is recorded
contract ProofHarness is Adjudicator {
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
