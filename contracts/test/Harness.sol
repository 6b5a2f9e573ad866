// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {AppCalls} from "../libraries/AppCalls.sol";
import {Channel} from "../libraries/Channels.sol";
import {Hashing} from "../libraries/Hashing.sol";
import {Outcome, Outcomes} from "../libraries/Outcomes.sol";
import {Rules} from "../libraries/Rules.sol";
import {Signatures} from "../libraries/Signatures.sol";
import {GivenState} from "../libraries/States.sol";
import {Words} from "../libraries/Words.sol";
import {Allocation, FixedPart, VariablePart} from "../types/Channel.sol";

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
        hash = _channel(fixedPart).id();
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
        hash = Hashing.outcomeHash(_outcome(outcome));
        plain = _plainOutcomeHash(outcome);
    }

    /// @dev The typed hash of a whole state.
    function stateHash(bytes32 id, VariablePart calldata state) external pure returns (bytes32 hash, bytes32 plain) {
        (hash,) = _given(state).hashes(id, 0);
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

    function finalStateHash(bytes32 id, bytes32 outcomeHash_, uint48 turnNum)
        external
        pure
        returns (bytes32 hash, bytes32 plain)
    {
        hash = Hashing.finalStateHash(id, outcomeHash_, turnNum);
        bytes32 typehash = keccak256(abi.encodePacked(STATE_TYPE, ALLOCATION_TYPE));
        plain = keccak256(abi.encode(typehash, id, outcomeHash_, keccak256(""), keccak256(""), turnNum, true));
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

    function moveCall(bytes32 id, VariablePart calldata from, VariablePart calldata to, uint256 count)
        external
        pure
        returns (bytes memory data, bytes memory plain)
    {
        VariablePart memory bare = from;
        bare.evidence = "";
        plain = abi.encodeCall(IForceMoveApp.validTransition, (id, bare, to, count));
        data = AppCalls.encode(id, _given(from), _given(to), count);
    }

    // -------------------------------------------------------------------------------------------------------- rules

    /// @param signature 64 bytes.
    function recover(bytes32 digest_, bytes calldata signature) external pure returns (address) {
        return Signatures.recover(digest_, _placeOf(signature));
    }

    function requireSigner(bytes32 digest_, bytes calldata signature, address expected) external pure {
        Signatures.requireSigner(digest_, _placeOf(signature), expected);
    }

    function _placeOf(bytes calldata data) private pure returns (uint256 cursor) {
        assembly ("memory-safe") {
            cursor := data.offset
        }
    }

    function requireValidFixedPart(FixedPart calldata fixedPart) external view {
        _channel(fixedPart).requireValid();
    }

    /// @param home The home asset, and `total` what the channel is funded with in it.
    function requireValidOutcome(bytes32 id, Allocation[] calldata outcome, address home, uint256 total) external view {
        Outcomes.requireValid(_outcome(outcome), id, home, total);
    }

    /// @return The hashes of state and outcome.
    function requireValidState(bytes32 id, FixedPart calldata fixedPart, VariablePart calldata state)
        external
        view
        returns (bytes32, bytes32)
    {
        return Rules.requireValidState(id, _channel(fixedPart), _given(state), 0);
    }

    /// @dev Both states are checked in themselves first, the earlier one before the later one.
    function requireValidTransition(FixedPart calldata fixedPart, VariablePart calldata from, VariablePart calldata to)
        external
        view
    {
        Channel channel = _channel(fixedPart);
        bytes32 id = channel.id();
        (, bytes32 fromOutcome) = Rules.requireValidState(id, channel, _given(from), 0);
        (, bytes32 toOutcome) = Rules.requireValidState(id, channel, _given(to), fromOutcome);
        Rules.requireValidTransition(id, channel, _given(from), _given(to), fromOutcome == toOutcome);
    }

    // ------------------------------------------------------------------------------------ what the reader would make

    function _channel(FixedPart memory fixedPart) private view returns (Channel channel) {
        bytes memory words = abi.encodePacked(
            block.chainid,
            uint256(uint160(address(this))),
            uint256(fixedPart.channelNonce),
            uint256(uint160(fixedPart.appDefinition)),
            uint256(fixedPart.challengeDuration),
            uint256(uint160(fixedPart.asset)),
            fixedPart.total,
            fixedPart.participants
        );
        assembly ("memory-safe") {
            channel := words
        }
    }

    function _outcome(Allocation[] memory list) private pure returns (Outcome outcome) {
        bytes memory encoded = abi.encode(list);
        assembly ("memory-safe") {
            outcome := add(encoded, 0x40)
        }
    }

    function _given(VariablePart memory part) private pure returns (GivenState state) {
        bytes memory encoded = bytes.concat(keccak256(part.evidence), abi.encode(part));
        assembly ("memory-safe") {
            state := add(encoded, 0x60)
            mstore(sub(state, 0x20), 0)
        }
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
