// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CardProofs} from "../libraries/CardProofs.sol";

/// @title The library of card proofs, callable
contract CardHarness {
    function requireKey(CardProofs.Prover calldata prover) external pure {
        CardProofs.requireKey(prover);
    }

    function takeShares(CardProofs.Prover calldata prover, CardProofs.Card[] memory cards, bytes calldata items)
        external
        pure
        returns (CardProofs.Card[] memory)
    {
        CardProofs.takeShares(prover, cards, items, 0, CardProofs.ITEM_WORDS);
        return cards;
    }

    /// @return The gas that the library alone uses.
    function gasOfShares(CardProofs.Prover memory prover, CardProofs.Card[] memory cards, bytes calldata items)
        external
        view
        returns (uint256)
    {
        uint256 before = gasleft();
        CardProofs.takeShares(prover, cards, items, 0, CardProofs.ITEM_WORDS);
        return before - gasleft();
    }

    /// @return The gas that the library alone uses.
    function gasOfKey(CardProofs.Prover memory prover) external view returns (uint256) {
        uint256 before = gasleft();
        CardProofs.requireKey(prover);
        return before - gasleft();
    }

    /// @return The gas that the library alone uses.
    function gasOfOpening(uint256 x, uint256 y, uint256 card) external view returns (uint256) {
        uint256 before = gasleft();
        CardProofs.requireOpens(x, y, card);
        return before - gasleft();
    }

    function requireOpens(uint256 x, uint256 y, uint256 card) external pure {
        CardProofs.requireOpens(x, y, card);
    }

    function deckRoot(bytes calldata deck) external pure returns (bytes32) {
        return CardProofs.rootOf(CardProofs.leavesOf(deck));
    }

    function rootFrom(uint256 index, bytes32 node, bytes calldata path) external pure returns (bytes32) {
        return CardProofs.rootFrom(index, node, path, 0);
    }

    function leaf(uint256 index, uint256 c1x, uint256 c2x, uint256 parities) external pure returns (bytes32) {
        return CardProofs.leaf(index, c1x, c2x, parities);
    }

    function hashPair(bytes32 first, bytes32 second) external pure returns (bytes32) {
        return CardProofs.hashPair(first, second);
    }

    /// @return The same without assembly.
    function plainHashPair(bytes32 first, bytes32 second) external pure returns (bytes32) {
        return keccak256(abi.encode(first, second));
    }

    /// @param data Has the word.
    function wordAt(bytes calldata data, uint256 index) external pure returns (uint256) {
        return CardProofs.wordAt(data, index);
    }

    /// @return The same without assembly.
    function plainWordAt(bytes calldata data, uint256 index) external pure returns (uint256) {
        return uint256(bytes32(data[32 * index:32 * index + 32]));
    }
}
