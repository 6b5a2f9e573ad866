// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Adjudicator} from "../Adjudicator.sol";
import {Hashing} from "../libraries/Hashing.sol";
import {Word} from "../libraries/Words.sol";
import {FixedPart, Signature, VariablePart} from "../types/Channel.sol";

/// @title The adjudicator with its check of proofs callable, whatever is recorded
contract ProofHarness is Adjudicator {
    /// @param word The word of the home asset: a proof may begin with its recorded state.
    /// @return The hashes of the last state and of its outcome.
    function requireSupported(
        uint256 word,
        FixedPart calldata fixedPart,
        Signature[] calldata signatures,
        VariablePart[] calldata states,
        uint256 signedStates
    ) external view returns (bytes32, bytes32) {
        address[] calldata participants = fixedPart.participants;
        return _requireSupported(
            Hashing.channelId(fixedPart, participants),
            Word.wrap(word),
            fixedPart,
            participants,
            states,
            states[states.length - 1],
            signatures,
            signedStates
        );
    }
}
