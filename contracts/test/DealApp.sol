// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {CardProofs} from "../libraries/CardProofs.sol";
import {VariablePart} from "../types/Channel.sol";

/// @title Three players show a key each, shuffle twelve cards, and deal three cards to each
/// @notice A position has two moves: its own, and the one before. So who has seen neither, because the other two have
/// brought the second to the chain and only that is logged, has all that was done since its own last move.
/// @dev appData: the number of moves so far; the keys, x and y of each participant; the move before; the newest move.
/// A key: c and s of its proof. A shuffle: the deck, and its proof, which players check. A deal: the deck without the
/// mover's shares of the others' cards; c and s; the shares, by rising index of their cards. Participant i is dealt
/// cards 3i to 3i + 2.
contract DealApp is IForceMoveApp {
    /// @notice appData has another length than that of a position after this many moves.
    error WrongLength(uint256 moves, uint256 length);
    /// @notice The position is not one move later.
    error WrongMoveCount(uint256 expected, uint256 submitted);
    /// @notice The key of a participant has changed that is not the mover's, or after keys were shown.
    error KeyChanged(uint256 participant);
    /// @notice The position does not repeat the move before.
    error MoveForgotten();
    /// @notice The deck is not the one before without these shares.
    error WrongDeck();
    /// @notice No money moves here.
    error OutcomeChanged();

    uint256 private constant PLAYERS = 3;
    uint256 private constant KEYED = 3;
    uint256 private constant SHUFFLED = 6;
    uint256 private constant DEALT = 9;
    uint256 private constant CARDS = 12;
    uint256 private constant HAND = 3;
    uint256 private constant GIVEN = (PLAYERS - 1) * HAND;
    uint256 private constant PAIR = 64;
    uint256 private constant CORE = 32 + PLAYERS * PAIR;
    uint256 private constant DECK = 32 + CARDS * 64;
    uint256 private constant SHUFFLE = DECK + 160 + CARDS * 130;
    uint256 private constant DEAL = DECK + PAIR + GIVEN * 32 * CardProofs.ITEM_WORDS;

    /// @inheritdoc IForceMoveApp
    function validTransition(bytes32 channelId, VariablePart calldata from, VariablePart calldata to, uint256)
        external
        pure
        returns (bool)
    {
        (bytes calldata old, bytes calldata next) = (from.appData, to.appData);
        uint256 moves = _movesOf(old) + 1;
        uint256 submitted = _movesOf(next);
        if (submitted != moves) revert WrongMoveCount(moves, submitted);
        if (keccak256(abi.encode(from.outcome)) != keccak256(abi.encode(to.outcome))) revert OutcomeChanged();
        uint256 mover = to.turnNum % PLAYERS;
        for (uint256 i = 0; i < PLAYERS; ++i) {
            if ((moves > KEYED || i != mover) && _keyHash(old, i) != _keyHash(next, i)) revert KeyChanged(i);
        }
        bytes calldata before = _newest(old, moves - 1);
        if (keccak256(next[CORE:CORE + before.length]) != keccak256(before)) revert MoveForgotten();
        bytes calldata move = _newest(next, moves);
        if (moves <= KEYED) CardProofs.requireKey(_prover(channelId, to.turnNum, next, move, 0));
        else if (moves > SHUFFLED) _requireDeal(_prover(channelId, to.turnNum, next, move, DECK), before, move, mover);
        return true;
    }

    /// @dev The number of moves; reverts on another length than the position's.
    function _movesOf(bytes calldata position) private pure returns (uint256 moves) {
        if (position.length < CORE) revert WrongLength(0, position.length);
        moves = CardProofs.wordAt(position, 0);
        if (moves > DEALT || position.length != CORE + _length(moves) + (moves == 0 ? 0 : _length(moves - 1))) {
            revert WrongLength(moves, position.length);
        }
    }

    /// @dev The length of the move with this number, counted from 1; of 0, nothing.
    function _length(uint256 move) private pure returns (uint256) {
        if (move == 0) return 0;
        return move <= KEYED ? PAIR : move <= SHUFFLED ? SHUFFLE : DEAL;
    }

    function _newest(bytes calldata position, uint256 moves) private pure returns (bytes calldata) {
        return position[position.length - _length(moves):];
    }

    function _keyHash(bytes calldata position, uint256 participant) private pure returns (bytes32) {
        return keccak256(position[32 + PAIR * participant:][:PAIR]);
    }

    /// @dev The mover with the c and s that stand at `place` in its move.
    function _prover(bytes32 channelId, uint256 turnNum, bytes calldata position, bytes calldata move, uint256 place)
        private
        pure
        returns (CardProofs.Prover memory)
    {
        uint256 key = 1 + 2 * (turnNum % PLAYERS);
        return CardProofs.Prover({
            channelId: channelId,
            turnNum: turnNum,
            keyX: CardProofs.wordAt(position, key),
            keyY: CardProofs.wordAt(position, key + 1),
            challenge: CardProofs.wordAt(move, place / 32),
            response: CardProofs.wordAt(move, place / 32 + 1)
        });
    }

    /// @dev Reverts unless the deck of `move` is that of `before` without the shares of all cards dealt but the mover's.
    function _requireDeal(
        CardProofs.Prover memory prover,
        bytes calldata before,
        bytes calldata move,
        uint256 mover
    ) private pure
    {
        CardProofs.Card[] memory given = new CardProofs.Card[](GIVEN);
        for (uint256 i = 0; i < GIVEN; ++i) {
            given[i] = _card(before, _place(i, mover));
        }
        // It was checked when it was shown; where these states were never played, it may be none.
        CardProofs.requirePoint(prover.keyX, prover.keyY);
        CardProofs.takeShares(prover, given, move[DECK + PAIR:], 0, CardProofs.ITEM_WORDS);
        CardProofs.Card[] memory expected = new CardProofs.Card[](CARDS);
        for (uint256 i = 0; i < CARDS; ++i) {
            expected[i] = _card(before, i);
        }
        for (uint256 i = 0; i < GIVEN; ++i) {
            expected[_place(i, mover)] = given[i];
        }
        uint256 parities = 0;
        for (uint256 i = 0; i < CARDS; ++i) {
            CardProofs.Card memory card = expected[i];
            if (card.c1x != CardProofs.wordAt(move, 1 + 2 * i)) revert WrongDeck();
            if (card.c2x != CardProofs.wordAt(move, 2 + 2 * i)) revert WrongDeck();
            parities |= card.parities << (2 * i);
        }
        if (parities != CardProofs.wordAt(move, 0)) revert WrongDeck();
    }

    /// @dev The index of the card whose share stands at place `i` of the mover's deal.
    function _place(uint256 i, uint256 mover) private pure returns (uint256) {
        return i < HAND * mover ? i : i + HAND;
    }

    function _card(bytes calldata deck, uint256 index) private pure returns (CardProofs.Card memory) {
        return CardProofs.Card({
            c1x: CardProofs.wordAt(deck, 1 + 2 * index),
            c2x: CardProofs.wordAt(deck, 2 + 2 * index),
            parities: (CardProofs.wordAt(deck, 0) >> (2 * index)) & 3,
            c2y: 0
        });
    }
}
