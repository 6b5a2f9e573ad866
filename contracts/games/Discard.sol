// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {CardProofs} from "../libraries/CardProofs.sol";
import {TwoPlayer} from "../libraries/TwoPlayer.sol";
import {Allocation, VariablePart} from "../types/Channel.sol";

/// @title Discard with hands of masked cards for a stake; the twin of `games/forcemove_games/discard`
/// @notice Two players mask and shuffle 24 cards, deal five to each, and in turn lay a card that fits on the top card,
/// draw, or say that they can't move. An empty hand wins. From the deal on, who is to move has lost the stake so far.
/// @dev appData begins with 19 words, the core. What follows depends on the type of the position; see the twin. Words
/// are read where they stand in the calldata: a struct would cost 20,000 gas more. What a type does not use is zero.
/// Deck and proof of a shuffle are not looked at: players check them before they answer. Nothing overflows: each number
/// that is added to was bounded as a part of a position.
contract Discard is IForceMoveApp {
    /// @notice The position is of another channel.
    error OtherChannel(bytes32 expected, bytes32 submitted);
    /// @notice After this move word `word` of appData is another one.
    error UnexpectedWord(uint256 word, uint256 expected, uint256 submitted);
    /// @notice The card with this index is not in the mover's hand.
    error CardNotHeld(uint256 index);
    /// @notice The card has neither the suit nor the value of the top card.
    error CardDoesNotFit(uint256 card, uint256 top);
    /// @notice The mover has said that it does not have this card: it could not move then.
    error CardDenied(uint256 card);
    /// @notice All cards are drawn.
    error NothingToDraw(uint256 drawn);
    /// @notice Nobody is unable to move while cards are left to draw.
    error CouldDraw(uint256 drawn);
    /// @notice The masked card with this index is not that of the deck: its path does not lead to the root.
    error CardNotInDeck(uint256 index);

    // 1 and 3 are those of A, before B's 2 and 4.
    uint256 private constant READY = 0;
    uint256 private constant KEYED = 2;
    uint256 private constant SHUFFLED = 4;
    uint256 private constant DEALT_FIRST = 5;
    uint256 private constant DEALT = 6;
    uint256 private constant PLAYING = 7;
    uint256 private constant OVER = 8;
    uint256 private constant SHOWING = 9;
    uint256 private constant TIED = 10;

    // The places of words in the core; of pairs, that of participant 0.
    uint256 private constant STAKE = 1;
    uint256 private constant CHANNEL_ID = 2;
    uint256 private constant HAND = 3;
    uint256 private constant KEYS = 4;
    uint256 private constant ROOT = 8;
    uint256 private constant HELD = 9;
    uint256 private constant DRAWN = 11;
    uint256 private constant TOP = 12;
    uint256 private constant DENIED = 13;
    uint256 private constant PENDING = 15;
    uint256 private constant PASSES = 16;
    uint256 private constant SHARED = 17;
    uint256 private constant LAID = 18;
    uint256 private constant CORE_WORDS = 19;

    // What follows the core, in words: c and s; the deck; a card with its share and path. In bytes: a shuffle's proof.
    uint256 private constant PAIR_WORDS = 2;
    uint256 private constant DECK_WORDS = 49;
    uint256 private constant TOUCHED_WORDS = 17;
    uint256 private constant ITEM_AT = 3;
    uint256 private constant PATH_AT = 12;
    uint256 private constant SHUFFLE_PROOF = 3280;

    uint256 private constant SIZE = 24;
    uint256 private constant ALL_CARDS = (1 << SIZE) - 1;
    uint256 private constant ALL_PARITIES = (1 << (2 * SIZE)) - 1;
    uint256 private constant HAND_SIZE = 5;
    uint256 private constant FIRST_HAND = (1 << HAND_SIZE) - 1;
    uint256 private constant TOP_INDEX = 10;
    uint256 private constant DEAL_ITEMS = 6;
    uint256 private constant SHOWN_AT_ONCE = 4;
    uint256 private constant STUCK = 2;
    // 9 to ace in four suits: card / 6 is the suit, card % 6 the value.
    uint256 private constant VALUES = 6;
    uint256 private constant ONE_SUIT = 0x3f;
    uint256 private constant ONE_VALUE = 0x41041;

    /// @inheritdoc IForceMoveApp
    function validTransition(
        bytes32 channelId,
        VariablePart calldata from,
        VariablePart calldata to,
        uint256 numParticipants
    ) external pure returns (bool)
    {
        Allocation[] calldata oldOutcome = from.outcome;
        Allocation[] calldata nextOutcome = to.outcome;
        TwoPlayer.requireTwoPlayers(oldOutcome, nextOutcome, numParticipants);
        TwoPlayer.requireNoEvidence(to.evidence);
        bytes calldata old = from.appData;
        bytes calldata next = to.appData;
        uint256 fromType = _requirePosition(old);
        uint256 toType = _requirePosition(next);
        uint256 stake = _word(old, STAKE);
        TwoPlayer.requireSameStake(stake, _word(next, STAKE));
        if (!_isRow(fromType, toType, _word(old, PASSES))) revert TwoPlayer.NoSuchTransition(fromType, toType);
        bytes32 submitted = bytes32(_word(old, CHANNEL_ID));
        if (submitted != channelId) revert OtherChannel(channelId, submitted);
        uint256 turnNum = to.turnNum;
        _requireMove(toType, turnNum, old, next);
        if (fromType == READY) TwoPlayer.requireBothAfford(oldOutcome, stake);
        TwoPlayer.requirePaid(oldOutcome, nextOutcome, turnNum % TwoPlayer.PLAYERS, _stakesTaken(toType), stake);
        return true;
    }

    // ----------------------------------------------------------------------------------------------------- positions

    /// @dev Refuses what is not a position; returns its type.
    function _requirePosition(bytes calldata position) private pure returns (uint256 positionType) {
        unchecked {
            if (position.length < 32 * CORE_WORDS) {
                revert TwoPlayer.WrongPositionLength(32 * CORE_WORDS, position.length);
            }
            positionType = _word(position, 0);
            if (positionType > TIED) revert TwoPlayer.MalformedPosition(0, positionType);
            _requireLimits(position, positionType);
            uint256 expected = 32 * CORE_WORDS + _lengthAfterCore(position, positionType);
            if (position.length != expected) revert TwoPlayer.WrongPositionLength(expected, position.length);
        }
    }

    /// @dev Refuses the first word that is higher than it can be in a position of this type.
    function _requireLimits(bytes calldata position, uint256 positionType) private pure {
        unchecked {
            _requireAtMost(position, HAND, type(uint48).max);
            if (positionType >= DEALT) {
                _requireAtMost(position, HELD, ALL_CARDS);
                _requireAtMost(position, HELD + 1, ALL_CARDS);
                _requireAtMost(position, DRAWN, SIZE);
                _requireAtMost(position, TOP, SIZE - 1);
            }
            if (positionType >= PLAYING) {
                uint256 size = positionType <= OVER ? SIZE : 0;
                _requireAtMost(position, DENIED, ALL_CARDS);
                _requireAtMost(position, DENIED + 1, ALL_CARDS);
                _requireAtMost(position, PENDING, positionType == PLAYING ? SIZE : 0);
                _requireAtMost(position, PASSES, STUCK);
                _requireAtMost(position, SHARED, size);
                _requireAtMost(position, LAID, size == 0 ? SHOWN_AT_ONCE : size);
            } else {
                uint256 place = positionType == READY ? KEYS : positionType < DEALT ? ROOT : DENIED;
                for (; place < CORE_WORDS; ++place) {
                    _requireAtMost(position, place, 0);
                }
            }
        }
    }

    function _requireAtMost(bytes calldata position, uint256 place, uint256 limit) private pure {
        uint256 value = _word(position, place);
        if (value > limit) revert TwoPlayer.MalformedPosition(place, value);
    }

    function _lengthAfterCore(bytes calldata position, uint256 positionType) private pure returns (uint256) {
        unchecked {
            uint256 laid = _word(position, LAID);
            if (positionType >= SHOWING) return laid == 0 ? 0 : 32 * (PAIR_WORDS + laid * (TOUCHED_WORDS + 1));
            if (positionType >= PLAYING) {
                uint256 touched = (_word(position, SHARED) == 0 ? 0 : 1) + (laid == 0 ? 0 : 1);
                return touched == 0 ? 0 : 32 * (PAIR_WORDS + touched * TOUCHED_WORDS);
            }
            if (positionType == READY) return 0;
            if (positionType <= KEYED) return 32 * PAIR_WORDS;
            if (positionType <= SHUFFLED) return 32 * DECK_WORDS + SHUFFLE_PROOF;
            uint256 shares = PAIR_WORDS + DEAL_ITEMS * CardProofs.ITEM_WORDS;
            return 32 * (positionType == DEALT_FIRST ? DECK_WORDS + shares : shares);
        }
    }

    // --------------------------------------------------------------------------------------------------------- moves

    /// @dev The rows of the game's table. After two can't-moves cards are shown, and not before.
    function _isRow(uint256 fromType, uint256 toType, uint256 passes) private pure returns (bool) {
        if (toType == READY) return fromType == OVER || fromType == TIED;
        if (toType <= DEALT) return fromType + 1 == toType;
        if (toType == TIED) return fromType == SHOWING;
        if (fromType == PLAYING) return (toType == SHOWING) == (passes == STUCK);
        return (fromType == DEALT && toType == PLAYING) || (fromType == SHOWING && toType == SHOWING);
    }

    function _stakesTaken(uint256 toType) private pure returns (uint256) {
        if (toType < DEALT_FIRST) return 0;
        return toType == DEALT_FIRST || toType == TIED ? 1 : 2;
    }

    function _requireMove(uint256 toType, uint256 turnNum, bytes calldata old, bytes calldata next) private pure {
        if (toType == READY) {
            _requireNextHand(old, next);
        } else if (toType <= KEYED) {
            _requireKeyed(turnNum, old, next);
        } else if (toType <= SHUFFLED) {
            _requireSame(old, next, CHANNEL_ID, ROOT);
        } else if (toType == DEALT_FIRST) {
            _requireDealtFirst(turnNum, old, next);
        } else if (toType == DEALT) {
            _requireDealt(turnNum, old, next);
        } else if (toType <= OVER) {
            _requirePlayed(turnNum, old, next);
        } else {
            _requireShown(turnNum, old, next);
        }
    }

    function _requireNextHand(bytes calldata old, bytes calldata next) private pure {
        uint256 hand = _word(old, HAND) + 1;
        if (hand > type(uint48).max) revert TwoPlayer.MalformedPosition(HAND, hand);
        _requireSame(old, next, CHANNEL_ID, HAND);
        _requireWord(next, HAND, hand);
    }

    function _requireKeyed(uint256 turnNum, bytes calldata old, bytes calldata next) private pure {
        uint256 mover = turnNum % TwoPlayer.PLAYERS;
        _requireSame(old, next, CHANNEL_ID, KEYS);
        uint256 others = KEYS + 2 * (1 - mover);
        _requireSame(old, next, others, others + 2);
        CardProofs.requireKey(_prover(turnNum, next, next, CORE_WORDS));
    }

    function _requireDealtFirst(uint256 turnNum, bytes calldata old, bytes calldata next) private pure {
        unchecked {
            _requireSame(old, next, CHANNEL_ID, ROOT);
            CardProofs.Card[] memory cards = new CardProofs.Card[](DEAL_ITEMS);
            for (uint256 i = 0; i < DEAL_ITEMS; ++i) {
                cards[i] = _cardOfDeck(old, HAND_SIZE + i);
            }
            uint256 proof = CORE_WORDS + DECK_WORDS;
            _takeShares(turnNum, old, next, cards, proof, CardProofs.ITEM_WORDS);
            uint256 parities = _word(old, CORE_WORDS) & ALL_PARITIES;
            for (uint256 i = 0; i < DEAL_ITEMS; ++i) {
                uint256 shift = 2 * (HAND_SIZE + i);
                parities = (parities & ~(3 << shift)) | (cards[i].parities << shift);
            }
            _requireWord(next, CORE_WORDS, parities);
            for (uint256 i = 0; i < SIZE; ++i) {
                uint256 place = CORE_WORDS + 1 + 2 * i;
                _requireSame(old, next, place, place + 1);
                bool isTouched = i >= HAND_SIZE && i < HAND_SIZE + DEAL_ITEMS;
                _requireWord(next, place + 1, isTouched ? cards[i - HAND_SIZE].c2x : _word(old, place + 1));
            }
        }
    }

    function _requireDealt(uint256 turnNum, bytes calldata old, bytes calldata next) private pure {
        unchecked {
            uint256 mover = turnNum % TwoPlayer.PLAYERS;
            _requireSame(old, next, CHANNEL_ID, ROOT);
            _requireWord(next, HELD, mover == 1 ? FIRST_HAND : FIRST_HAND << HAND_SIZE);
            _requireWord(next, HELD + 1, mover == 1 ? FIRST_HAND << HAND_SIZE : FIRST_HAND);
            _requireWord(next, DRAWN, TOP_INDEX + 1);
            CardProofs.Card[] memory cards = new CardProofs.Card[](DEAL_ITEMS);
            for (uint256 i = 0; i < HAND_SIZE; ++i) {
                cards[i] = _cardOfDeck(old, i);
            }
            cards[HAND_SIZE] = _cardOfDeck(old, TOP_INDEX);
            _takeShares(turnNum, old, next, cards, CORE_WORDS, CardProofs.ITEM_WORDS);
            bytes32[] memory leaves = CardProofs.leavesOf(old[32 * CORE_WORDS:32 * (CORE_WORDS + DECK_WORDS)]);
            for (uint256 i = 0; i < HAND_SIZE; ++i) {
                leaves[i] = _leaf(i, cards[i]);
            }
            leaves[TOP_INDEX] = _leaf(TOP_INDEX, cards[HAND_SIZE]);
            _requireWord(next, ROOT, uint256(CardProofs.rootOf(leaves)));
            _requireOpens(cards[HAND_SIZE], _word(next, TOP));
        }
    }

    function _requirePlayed(uint256 turnNum, bytes calldata old, bytes calldata next) private pure {
        unchecked {
            uint256 mover = turnNum % TwoPlayer.PLAYERS;
            uint256 toType = PLAYING;
            uint256 held = _word(old, HELD + mover);
            uint256 drawn = _word(old, DRAWN);
            uint256 top = _word(old, TOP);
            uint256 denied = _word(old, DENIED + mover);
            uint256 pending = 0;
            uint256 passes = 0;
            uint256 laid = _word(next, LAID);
            if (laid != 0) {
                if ((held >> (laid - 1)) & 1 == 0) revert CardNotHeld(laid - 1);
                uint256 card = _word(next, TOP);
                if ((_fitting(top) >> card) & 1 == 0) revert CardDoesNotFit(card, top);
                _requireNotDenied(denied, card);
                held ^= 1 << (laid - 1);
                if (held == 0) toType = OVER;
                top = card;
            } else if (_word(next, PENDING) != 0) {
                if (drawn == SIZE) revert NothingToDraw(drawn);
                held |= 1 << drawn;
                pending = ++drawn;
            } else {
                if (drawn != SIZE) revert CouldDraw(drawn);
                denied |= _fitting(top);
                passes = _word(old, PASSES) + 1;
            }
            uint256 shared = _word(old, PENDING);
            _requireWord(next, 0, toType);
            _requireSame(old, next, CHANNEL_ID, shared == 0 ? HELD : ROOT);
            _requirePair(old, next, HELD, mover, held);
            _requireWord(next, DRAWN, drawn);
            _requireWord(next, TOP, top);
            _requirePair(old, next, DENIED, mover, denied);
            _requireWord(next, PENDING, pending);
            _requireWord(next, PASSES, passes);
            _requireWord(next, SHARED, shared);
            _requirePlayShares(turnNum, old, next, shared, laid);
        }
    }

    /// @dev `shared` and `laid`: one more than the index of the card in the deck, or 0.
    function _requirePlayShares(uint256 turnNum, bytes calldata old, bytes calldata next, uint256 shared, uint256 laid)
        private
        pure
    {
        unchecked {
            uint256 count = (shared == 0 ? 0 : 1) + (laid == 0 ? 0 : 1);
            if (count == 0) return;
            uint256[] memory indices = new uint256[](count);
            if (shared != 0) indices[0] = shared - 1;
            if (laid != 0) indices[count - 1] = laid - 1;
            uint256 first = CORE_WORDS + PAIR_WORDS;
            CardProofs.Card[] memory cards = _takeTouched(turnNum, old, next, indices, first, TOUCHED_WORDS);
            if (shared != 0) {
                bytes32 root = CardProofs.rootFrom(shared - 1, _leaf(shared - 1, cards[0]), next, first + PATH_AT);
                _requireWord(next, ROOT, uint256(root));
            }
            if (laid != 0) _requireOpens(cards[count - 1], _word(next, TOP));
        }
    }

    function _requireShown(uint256 turnNum, bytes calldata old, bytes calldata next) private pure {
        unchecked {
            uint256 mover = turnNum % TwoPlayer.PLAYERS;
            uint256 held = _word(old, HELD + mover);
            uint256[] memory indices = _shownIndices(held);
            uint256 count = indices.length;
            for (uint256 i = 0; i < count; ++i) {
                held ^= 1 << indices[i];
            }
            _requireWord(next, 0, held | _word(old, HELD + 1 - mover) == 0 ? TIED : SHOWING);
            _requireSame(old, next, CHANNEL_ID, HELD);
            _requirePair(old, next, HELD, mover, held);
            _requireSame(old, next, DRAWN, PENDING);
            _requireSame(old, next, PASSES, SHARED);
            _requireWord(next, LAID, count);
            if (count == 0) return;
            uint256 number = CORE_WORDS + PAIR_WORDS;
            uint256 denied = _word(old, DENIED + mover);
            for (uint256 i = 0; i < count; ++i) {
                uint256 card = _word(next, number + i * (TOUCHED_WORDS + 1));
                if (card >= SIZE) revert CardProofs.CardUnknown(card);
                _requireNotDenied(denied, card);
            }
            CardProofs.Card[] memory cards = _takeTouched(turnNum, old, next, indices, number + 1, TOUCHED_WORDS + 1);
            for (uint256 i = 0; i < count; ++i) {
                _requireOpens(cards[i], _word(next, number + i * (TOUCHED_WORDS + 1)));
            }
        }
    }

    /// @dev The lowest four bits, or all.
    function _shownIndices(uint256 held) private pure returns (uint256[] memory indices) {
        unchecked {
            uint256 count = 0;
            for (uint256 rest = held; rest != 0 && count < SHOWN_AT_ONCE; rest &= rest - 1) {
                ++count;
            }
            indices = new uint256[](count);
            uint256 index = 0;
            for (uint256 i = 0; i < count; ++index) {
                if ((held >> index) & 1 != 0) indices[i++] = index;
            }
        }
    }

    /// @dev The cards of the same suit or value, as bits.
    function _fitting(uint256 top) private pure returns (uint256) {
        return (ONE_SUIT << (top - top % VALUES)) | (ONE_VALUE << (top % VALUES));
    }

    function _requireNotDenied(uint256 denied, uint256 card) private pure {
        if ((denied >> card) & 1 != 0) revert CardDenied(card);
    }

    // -------------------------------------------------------------------------------------------------------- shares

    /// @dev The touched cards without the mover's shares. They are in the deck of the position before. `first`: the
    /// word at which the first one begins; the others follow at equal distances of `stride` words.
    function _takeTouched(
        uint256 turnNum,
        bytes calldata old,
        bytes calldata next,
        uint256[] memory indices,
        uint256 first,
        uint256 stride
    ) private pure returns (CardProofs.Card[] memory cards)
    {
        unchecked {
            uint256 root = _word(old, ROOT);
            cards = new CardProofs.Card[](indices.length);
            for (uint256 i = 0; i < indices.length; ++i) {
                uint256 place = first + i * stride;
                CardProofs.Card memory card =
                    CardProofs.Card(_word(next, place), _word(next, place + 1), _word(next, place + 2), 0);
                uint256 index = indices[i];
                if (uint256(CardProofs.rootFrom(index, _leaf(index, card), next, place + PATH_AT)) != root) {
                    revert CardNotInDeck(index);
                }
                cards[i] = card;
            }
            CardProofs.Prover memory prover = _prover(turnNum, old, next, CORE_WORDS);
            CardProofs.requirePoint(prover.keyX, prover.keyY);
            CardProofs.takeShares(prover, cards, next, first + ITEM_AT, stride);
        }
    }

    /// @dev `proof`: the word at which c and s begin; the items follow.
    function _takeShares(
        uint256 turnNum,
        bytes calldata old,
        bytes calldata next,
        CardProofs.Card[] memory cards,
        uint256 proof,
        uint256 stride
    ) private pure {
        CardProofs.Prover memory prover = _prover(turnNum, old, next, proof);
        CardProofs.requirePoint(prover.keyX, prover.keyY);
        CardProofs.takeShares(prover, cards, next, proof + PAIR_WORDS, stride);
    }

    /// @dev `keys`: the position that has the mover's key. `proof`: the word of `next` at which c and s begin. The
    /// channel of both positions was compared.
    function _prover(uint256 turnNum, bytes calldata keys, bytes calldata next, uint256 proof)
        private
        pure
        returns (CardProofs.Prover memory)
    {
        unchecked {
            uint256 key = KEYS + 2 * (turnNum % TwoPlayer.PLAYERS);
            return CardProofs.Prover(
                bytes32(_word(next, CHANNEL_ID)),
                turnNum,
                _word(keys, key),
                _word(keys, key + 1),
                _word(next, proof),
                _word(next, proof + 1)
            );
        }
    }

    /// @dev A card of the deck that follows the core.
    function _cardOfDeck(bytes calldata position, uint256 index) private pure returns (CardProofs.Card memory) {
        unchecked {
            uint256 place = CORE_WORDS + 1 + 2 * index;
            uint256 parities = (_word(position, CORE_WORDS) >> (2 * index)) & 3;
            return CardProofs.Card(_word(position, place), _word(position, place + 1), parities, 0);
        }
    }

    function _leaf(uint256 index, CardProofs.Card memory card) private pure returns (bytes32) {
        return CardProofs.leaf(index, card.c1x, card.c2x, card.parities);
    }

    function _requireOpens(CardProofs.Card memory card, uint256 number) private pure {
        CardProofs.requireOpens(card.c2x, card.c2y, number);
    }

    // --------------------------------------------------------------------------------------------------------- words

    function _word(bytes calldata position, uint256 place) private pure returns (uint256) {
        return CardProofs.wordAt(position, place);
    }

    function _requireWord(bytes calldata next, uint256 place, uint256 expected) private pure {
        uint256 submitted = _word(next, place);
        if (submitted != expected) revert UnexpectedWord(place, expected, submitted);
    }

    /// @dev The words from `first` on and before `end` stay as they are.
    function _requireSame(bytes calldata old, bytes calldata next, uint256 first, uint256 end) private pure {
        unchecked {
            for (uint256 place = first; place < end; ++place) {
                _requireWord(next, place, _word(old, place));
            }
        }
    }

    /// @dev Of a pair of words the mover's is `expected`, and the other's stays as it is.
    function _requirePair(bytes calldata old, bytes calldata next, uint256 first, uint256 mover, uint256 expected)
        private
        pure
    {
        unchecked {
            _requireWord(next, first, mover == 0 ? expected : _word(old, first));
            _requireWord(next, first + 1, mover == 0 ? _word(old, first + 1) : expected);
        }
    }
}
