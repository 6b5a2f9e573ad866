// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {AppCalls} from "../libraries/AppCalls.sol";
import {Hashing} from "../libraries/Hashing.sol";
import {Outcomes} from "../libraries/Outcomes.sol";
import {Rules} from "../libraries/Rules.sol";
import {Signatures} from "../libraries/Signatures.sol";
import {Words} from "../libraries/Words.sol";
import {Allocation, FixedPart, Signature, VariablePart} from "../types/Channel.sol";

/// @title The internal libraries, callable: what the adjudicator inlines is tested through here
/// @dev Each hash comes twice, as the library makes it and as plain Solidity would.
contract Harness {
    bytes private constant ALLOCATION_TYPE = "Allocation(address asset,bytes32 destination,uint256 amount)";
    bytes private constant STATE_TYPE =
        "State(bytes32 channelId,Allocation[] outcome,bytes appData,bytes evidence,uint48 turnNum,bool isFinal)";
    bytes private constant CHALLENGE_TYPE = "Challenge(bytes32 channelId,uint48 turnNum,bytes32 stateHash)";
    bytes private constant DOMAIN_TYPE =
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

    // ------------------------------------------------------------------------------------------------------- hashes

    function channelId(FixedPart calldata fixedPart) external view returns (bytes32 hash, bytes32 plain) {
        hash = Hashing.channelId(fixedPart, fixedPart.participants);
        plain = keccak256(
            abi.encodePacked(
                block.chainid,
                uint256(uint160(address(this))),
                uint256(fixedPart.channelNonce),
                uint256(uint160(fixedPart.appDefinition)),
                uint256(fixedPart.challengeDuration),
                uint256(uint160(fixedPart.asset)),
                fixedPart.total,
                fixedPart.participants
            )
        );
    }

    function outcomeHash(Allocation[] calldata outcome) external pure returns (bytes32 hash, bytes32 plain) {
        hash = Hashing.outcomeHash(outcome);
        plain = _plainOutcomeHash(outcome);
    }

    /// @dev The hash of an outcome in memory, which is what is left after a payout.
    function remainingOutcomeHash(Allocation[] calldata outcome) external pure returns (bytes32 hash, bytes32 plain) {
        hash = Hashing.remainingOutcomeHash(outcome);
        plain = _plainOutcomeHash(outcome);
    }

    function bytesHash(bytes calldata data) external pure returns (bytes32 hash, bytes32 plain) {
        return (Hashing.bytesHash(data), keccak256(data));
    }

    /// @dev The typed hash of a whole state.
    function stateHash(bytes32 id, VariablePart calldata state) external pure returns (bytes32 hash, bytes32 plain) {
        hash = Hashing.stateHash(
            id,
            Hashing.outcomeHash(state.outcome),
            Hashing.bytesHash(state.appData),
            Hashing.bytesHash(state.evidence),
            state.turnNum,
            state.isFinal
        );
        plain = keccak256(
            abi.encode(
                keccak256(abi.encodePacked(STATE_TYPE, ALLOCATION_TYPE)),
                id,
                _plainOutcomeHash(state.outcome),
                keccak256(state.appData),
                keccak256(state.evidence),
                state.turnNum,
                state.isFinal
            )
        );
    }

    function challengeHash(bytes32 id, uint48 turnNum, bytes32 stateHash_)
        external
        pure
        returns (bytes32 hash, bytes32 plain)
    {
        hash = Hashing.challengeHash(id, turnNum, stateHash_);
        plain = keccak256(abi.encode(keccak256(CHALLENGE_TYPE), id, turnNum, stateHash_));
    }

    function digest(bytes32 domainSeparator_, bytes32 structHash) external pure returns (bytes32 hash, bytes32 plain) {
        hash = Hashing.digest(domainSeparator_, structHash);
        plain = keccak256(abi.encodePacked(hex"1901", domainSeparator_, structHash));
    }

    function domainSeparator() external view returns (bytes32 hash, bytes32 plain) {
        hash = Hashing.domainSeparator();
        plain = keccak256(
            abi.encode(keccak256(DOMAIN_TYPE), keccak256("Forcemove"), keccak256("2"), block.chainid, address(this))
        );
    }

    function fingerprint(bytes32 stateHash_, bytes32 outcomeHash_) external pure returns (uint256) {
        return Words.fingerprintOf(stateHash_, outcomeHash_);
    }

    // --------------------------------------------------------------------------------------------- questions to apps

    /// @dev All fields are read first, as the rules do.
    function moveCall(bytes32 id, VariablePart calldata from, VariablePart calldata to, uint256 count)
        external
        pure
        returns (bytes memory data, bytes memory plain)
    {
        VariablePart memory bare = from;
        bare.evidence = "";
        plain = abi.encodeCall(IForceMoveApp.validTransition, (id, bare, to, count));
        data = AppCalls.encode(id, from, to, count);
    }

    // -------------------------------------------------------------------------------------------------------- rules

    function recover(bytes32 digest_, Signature calldata signature) external pure returns (address) {
        return Signatures.recover(digest_, signature);
    }

    function requireSigner(bytes32 digest_, Signature calldata signature, address expected) external pure {
        Signatures.requireSigner(digest_, signature, expected);
    }

    function requireValidFixedPart(FixedPart calldata fixedPart) external pure {
        Rules.requireValidFixedPart(fixedPart, fixedPart.participants);
    }

    /// @param home The home asset, and `total` what the channel is funded with in it.
    function requireValidOutcome(bytes32 id, Allocation[] calldata outcome, address home, uint256 total) external view {
        Outcomes.requireValid(outcome, id, home, total);
    }

    /// @return The hashes of state and outcome.
    function requireValidState(bytes32 id, FixedPart calldata fixedPart, VariablePart calldata state)
        external
        view
        returns (bytes32, bytes32)
    {
        return Rules.requireValidState(id, fixedPart, state, 0);
    }

    /// @dev Both states are checked in themselves first, the earlier one before the later one.
    function requireValidTransition(FixedPart calldata fixedPart, VariablePart calldata from, VariablePart calldata to)
        external
        view
    {
        bytes32 id = Hashing.channelId(fixedPart, fixedPart.participants);
        (, bytes32 fromOutcome) = Rules.requireValidState(id, fixedPart, from, 0);
        (, bytes32 toOutcome) = Rules.requireValidState(id, fixedPart, to, fromOutcome);
        Rules.requireValidTransition(
            id, fixedPart, fixedPart.participants.length, from, to, fromOutcome == toOutcome
        );
    }

    function _plainOutcomeHash(Allocation[] calldata outcome) private pure returns (bytes32) {
        bytes memory hashes;
        for (uint256 i = 0; i < outcome.length; ++i) {
            bytes memory entry = abi.encode(
                keccak256(ALLOCATION_TYPE), outcome[i].asset, outcome[i].destination, outcome[i].amount
            );
            hashes = bytes.concat(hashes, keccak256(entry));
        }
        return keccak256(hashes);
    }
}
