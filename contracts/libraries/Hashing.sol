// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, State} from "../types/Channel.sol";
import {Outcome} from "./Outcomes.sol";

/// @title Ids and typed hashes (EIP-712)
/// @dev The one place where a few lines of assembly earn their keep: they hash at the free memory pointer instead of
/// allocating. Each is proved equal to plain Solidity and to the Python twin by test.
library Hashing {
    /// @dev keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
    bytes32 internal constant DOMAIN_TYPEHASH = 0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f;
    /// @dev keccak256("Forcemove")
    bytes32 internal constant NAME_HASH = 0xa65c2d156cef2740f3a8bbd7752e46ece2703d35bf229f9f73a6ab6468afcf3c;
    /// @dev keccak256("2")
    bytes32 internal constant VERSION_HASH = 0xad7c5bef027816a800da1736444fb58a807ef4c9603b7848673f7e3a68eb14a5;
    /// @dev keccak256("Allocation(address asset,bytes32 destination,uint256 amount)")
    bytes32 internal constant ALLOCATION_TYPEHASH = 0x034cbb37f0436bea345d59a88edc5cfa6aee7fa9abaa94f054bbdd6b73cc9301;
    /// @dev keccak256("State(bytes32 channelId,Allocation[] outcome,bytes appData,bytes evidence,uint48 turnNum,"
    /// "bool isFinal)Allocation(address asset,bytes32 destination,uint256 amount)")
    bytes32 internal constant STATE_TYPEHASH = 0xb54ee5db73013c8f0bf49d505eae9b8239847b3648769f8d6df1611ce12ab751;
    /// @dev keccak256("Challenge(bytes32 channelId,uint48 turnNum,bytes32 stateHash)")
    bytes32 internal constant CHALLENGE_TYPEHASH = 0x41a91fd3b8b3ea7557fbc89f5dcac24bc17f10d9f181f92405d6cf0d962fa6e2;
    /// @dev keccak256(""): the hash of a final state's empty appData and evidence.
    bytes32 internal constant EMPTY_HASH = 0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470;

    /// @dev The EIP-712 hash of a list of allocations, which outcomes are also compared by.
    function outcomeHash(Outcome outcome) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, ALLOCATION_TYPEHASH)
            let hashes := add(p, 0x80)
            let size := shl(5, mload(outcome))
            let source := add(outcome, 0x20)
            for { let i := 0 } lt(i, size) { i := add(i, 0x20) } {
                mcopy(add(p, 0x20), source, 0x60)
                mstore(add(hashes, i), keccak256(p, 0x80))
                source := add(source, 0x60)
            }
            result := keccak256(hashes, size)
        }
    }

    /// @dev The hash of bytes in memory, whose length stands at `data`.
    function bytesHash(uint256 data) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(add(data, 0x20), mload(data))
        }
    }

    /// @dev The EIP-712 struct hash of a state; its outcome, appData and evidence come hashed.
    function stateHash(
        bytes32 id,
        bytes32 outcomeHash_,
        bytes32 appDataHash,
        bytes32 evidenceHash,
        uint256 turnNum,
        bool isFinal
    ) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, STATE_TYPEHASH)
            mstore(add(p, 0x20), id)
            mstore(add(p, 0x40), outcomeHash_)
            mstore(add(p, 0x60), appDataHash)
            mstore(add(p, 0x80), evidenceHash)
            mstore(add(p, 0xa0), turnNum)
            mstore(add(p, 0xc0), isFinal)
            result := keccak256(p, 0xe0)
        }
    }

    /// @dev The same of a final state, which has neither appData nor evidence.
    function finalStateHash(bytes32 id, bytes32 outcomeHash_, uint256 turnNum) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, STATE_TYPEHASH)
            mstore(add(p, 0x20), id)
            mstore(add(p, 0x40), outcomeHash_)
            mstore(add(p, 0x60), EMPTY_HASH)
            mcopy(add(p, 0x80), add(p, 0x60), 0x20)
            mstore(add(p, 0xa0), turnNum)
            mstore(add(p, 0xc0), 1)
            result := keccak256(p, 0xe0)
        }
    }

    /// @dev The EIP-712 struct hash of a challenge with the state whose struct hash is given.
    function challengeHash(bytes32 id, uint256 turnNum, bytes32 stateHash_) internal pure returns (bytes32) {
        return keccak256(abi.encode(CHALLENGE_TYPEHASH, id, turnNum, stateHash_));
    }

    /// @dev keccak256(abi.encode(first, second)).
    function pairHash(bytes32 first, bytes32 second) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            mstore(0x00, first)
            mstore(0x20, second)
            result := keccak256(0x00, 0x40)
        }
    }

    /// @dev The EIP-712 digest, which is what gets signed.
    function digest(bytes32 domainSeparator_, bytes32 structHash) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let p := mload(0x40)
            mstore(p, shl(240, 0x1901))
            mstore(add(p, 0x02), domainSeparator_)
            mstore(add(p, 0x22), structHash)
            result := keccak256(p, 0x42)
        }
    }

    /// @dev A channel's id in plain Solidity: views have ABI arguments.
    function channelId(FixedPart calldata fixedPart) internal view returns (bytes32) {
        return keccak256(
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

    /// @dev The typed hash of a whole state, likewise.
    function stateHash(State calldata state) internal pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](state.outcome.length);
        for (uint256 i = 0; i < hashes.length; ++i) {
            hashes[i] = keccak256(abi.encode(ALLOCATION_TYPEHASH, state.outcome[i]));
        }
        return stateHash(
            state.channelId,
            keccak256(abi.encodePacked(hashes)),
            keccak256(state.appData),
            keccak256(state.evidence),
            state.turnNum,
            state.isFinal
        );
    }

    /// @dev The EIP-712 domain of this contract on this chain.
    function domainSeparator() internal view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
    }
}
