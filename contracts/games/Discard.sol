// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IForceMoveApp} from "../interfaces/IForceMoveApp.sol";
import {CardProofs} from "../libraries/CardProofs.sol";
import {TwoPlayer} from "../libraries/TwoPlayer.sol";
import {Allocation, VariablePart} from "../types/Channel.sol";

/// @title Discard with hands of masked cards for a stake; the twin of `games/forcemove_games/discard`
/// @notice Two players mask and shuffle 24 cards, deal five to each, and in turn lay a card that fits on the top card,
/// draw, or say that they can't move. An empty hand wins. From the deal on, who is to move has lost the stake so far.
/// @dev appData is 19 words, the core, and in the types from ShuffledFirst to DealtFirst the deck's 49 words behind
/// them. Evidence is what shows that the move was right: proofs, shares, and cards with their paths, by the type of the
/// position; see the twin. Words are read where they stand in the calldata, but for a copy of the core: a struct would
/// cost 20,000 gas more. What a type does not use is zero. Deck and proof of a shuffle are not looked at: players check
/// them before they answer. Nothing overflows: each number that is added to was bounded as a part of a position.
contract Discard is IForceMoveApp {
    /// @notice Evidence has exactly the length that the position asks for, in bytes.
    error WrongEvidenceLength(uint256 expected, uint256 submitted);
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

    // 1 is that of A, before B's 2.
    uint256 private constant READY = 0;
    uint256 private constant KEYED = 2;
    uint256 private constant SHUFFLED_FIRST = 3;
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

    uint256 private constant DECK_WORDS = 49;

    // Words of evidence: c and s; a card with its share and path. In bytes: a shuffle's proof.
    uint256 private constant PAIR_WORDS = 2;
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
        bytes calldata old = from.appData;
        bytes calldata next = to.appData;
        bytes calldata evidence = to.evidence;
        uint256 turnNum = to.turnNum;
        Allocation[] calldata oldOutcome = from.outcome;
        Allocation[] calldata nextOutcome = to.outcome;
        TwoPlayer.requireTwoPlayers(oldOutcome, nextOutcome, numParticipants);
        uint256 fromType = _requirePosition(old);
        uint256 toType = _requirePosition(next);
        _requireEvidenceLength(next, toType, evidence.length);
        uint256 stake = _word(old, STAKE);
        TwoPlayer.requireSameStake(stake, _word(next, STAKE));
        if (!_isRow(fromType, toType, _word(old, PASSES))) revert TwoPlayer.NoSuchTransition(fromType, toType);
        bytes32 submitted = bytes32(_word(old, CHANNEL_ID));
        if (submitted != channelId) revert OtherChannel(channelId, submitted);
        if (fromType == READY) TwoPlayer.requireBothAfford(oldOutcome, stake);
        uint256 mover = turnNum % TwoPlayer.PLAYERS;
        TwoPlayer.requirePaid(oldOutcome, nextOutcome, mover, _stakesTaken(toType), stake);
        uint256[CORE_WORDS] memory core = _coreOf(old);
        _move(toType, mover, core, next);
        _requireCore(core, next);
        _requireShown(toType, turnNum, core, old, next, evidence);
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
            bool hasDeck = positionType >= SHUFFLED_FIRST && positionType <= DEALT_FIRST;
            uint256 expected = 32 * (hasDeck ? CORE_WORDS + DECK_WORDS : CORE_WORDS);
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

    function _requireEvidenceLength(bytes calldata next, uint256 toType, uint256 submitted) private pure {
        uint256 expected = _evidenceLength(toType, _word(next, SHARED), _word(next, LAID));
        if (submitted != expected) revert WrongEvidenceLength(expected, submitted);
    }

    /// @dev `shared` and `laid`: those words of the position.
    function _evidenceLength(uint256 toType, uint256 shared, uint256 laid) private pure returns (uint256) {
        unchecked {
            if (toType >= SHOWING) return laid == 0 ? 0 : 32 * (PAIR_WORDS + laid * (TOUCHED_WORDS + 1));
            if (toType >= PLAYING) {
                uint256 touched = (shared == 0 ? 0 : 1) + (laid == 0 ? 0 : 1);
                return touched == 0 ? 0 : 32 * (PAIR_WORDS + touched * TOUCHED_WORDS);
            }
            if (toType == READY) return 0;
            if (toType <= KEYED) return 32 * PAIR_WORDS;
            return toType <= SHUFFLED ? SHUFFLE_PROOF : 32 * (PAIR_WORDS + DEAL_ITEMS * CardProofs.ITEM_WORDS);
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

    /// @dev Makes of the core before what it is after the mover's move. What the mover is free to choose comes from
    /// `next`.
    function _move(uint256 toType, uint256 mover, uint256[CORE_WORDS] memory core, bytes calldata next) private pure {
        unchecked {
            if (toType == READY) {
                _beginHand(core);
            } else if (toType <= KEYED) {
                core[KEYS + 2 * mover] = _word(next, KEYS + 2 * mover);
                core[KEYS + 2 * mover + 1] = _word(next, KEYS + 2 * mover + 1);
            } else if (toType == DEALT) {
                core[ROOT] = _word(next, ROOT);
                core[HELD + mover] = FIRST_HAND << HAND_SIZE;
                core[HELD + 1 - mover] = FIRST_HAND;
                core[DRAWN] = TOP_INDEX + 1;
                core[TOP] = _word(next, TOP);
            } else if (toType == PLAYING || toType == OVER) {
                toType = _play(mover, core, next);
            } else if (toType >= SHOWING) {
                toType = _show(mover, core);
            }
            core[0] = toType;
        }
    }

    function _beginHand(uint256[CORE_WORDS] memory core) private pure {
        unchecked {
            uint256 hand = core[HAND] + 1;
            if (hand > type(uint48).max) revert TwoPlayer.MalformedPosition(HAND, hand);
            core[HAND] = hand;
            for (uint256 place = KEYS; place < CORE_WORDS; ++place) {
                core[place] = 0;
            }
        }
    }

    /// @dev A card is laid or drawn, or the mover can't move. Returns the type of the position after it.
    function _play(uint256 mover, uint256[CORE_WORDS] memory core, bytes calldata next)
        private
        pure
        returns (uint256 toType)
    {
        unchecked {
            uint256 top = core[TOP];
            uint256 held = core[HELD + mover];
            uint256 drawn = core[DRAWN];
            uint256 laid = _word(next, LAID);
            uint256 passes = core[PASSES];
            toType = PLAYING;
            core[PASSES] = 0;
            core[SHARED] = core[PENDING];
            core[PENDING] = 0;
            core[LAID] = laid;
            if (core[SHARED] != 0) core[ROOT] = _word(next, ROOT);
            if (laid != 0) {
                if ((held >> (laid - 1)) & 1 == 0) revert CardNotHeld(laid - 1);
                uint256 card = _word(next, TOP);
                if ((_fitting(top) >> card) & 1 == 0) revert CardDoesNotFit(card, top);
                _requireNotDenied(core[DENIED + mover], card);
                held ^= 1 << (laid - 1);
                core[TOP] = card;
                if (held == 0) toType = OVER;
            } else if (_word(next, PENDING) != 0) {
                if (drawn == SIZE) revert NothingToDraw(drawn);
                held |= 1 << drawn;
                core[DRAWN] = core[PENDING] = drawn + 1;
            } else {
                if (drawn != SIZE) revert CouldDraw(drawn);
                core[DENIED + mover] |= _fitting(top);
                core[PASSES] = passes + 1;
            }
            core[HELD + mover] = held;
        }
    }

    /// @dev The mover's lowest four cards are shown, or all. Returns the type of the position after it.
    function _show(uint256 mover, uint256[CORE_WORDS] memory core) private pure returns (uint256) {
        unchecked {
            uint256 held = core[HELD + mover];
            uint256 count = 0;
            for (; held != 0 && count < SHOWN_AT_ONCE; ++count) {
                held &= held - 1;
            }
            core[HELD + mover] = held;
            core[PENDING] = 0;
            core[SHARED] = 0;
            core[LAID] = count;
            return held | core[HELD + 1 - mover] == 0 ? TIED : SHOWING;
        }
    }

    // ------------------------------------------------------------------------------------------------------ evidence

    /// @dev The evidence shows that the move is right. `core`: of `next`.
    function _requireShown(
        uint256 toType,
        uint256 turnNum,
        uint256[CORE_WORDS] memory core,
        bytes calldata old,
        bytes calldata next,
        bytes calldata evidence
    ) private pure {
        unchecked {
            if (toType == READY || toType == SHUFFLED_FIRST || toType == SHUFFLED) return;
            CardProofs.Prover memory prover = _prover(turnNum, core, evidence);
            if (toType <= KEYED) {
                CardProofs.requireKey(prover);
            } else if (toType == DEALT_FIRST) {
                _requireDealtFirst(prover, old, next, evidence);
            } else if (toType == DEALT) {
                _requireDealt(prover, core, old, evidence);
            } else if (toType <= OVER) {
                _requirePlayed(prover, core, _word(old, ROOT), evidence);
            } else {
                uint256 seat = turnNum % TwoPlayer.PLAYERS;
                _requireCardsShown(prover, core, _word(old, HELD + seat) ^ core[HELD + seat], seat, evidence);
            }
        }
    }

    function _requireDealtFirst(
        CardProofs.Prover memory prover,
        bytes calldata old,
        bytes calldata next,
        bytes calldata evidence
    ) private pure {
        unchecked {
            CardProofs.Card[] memory cards = new CardProofs.Card[](DEAL_ITEMS);
            for (uint256 i = 0; i < DEAL_ITEMS; ++i) {
                cards[i] = _cardOfDeck(old, HAND_SIZE + i);
            }
            _takeShares(prover, evidence, cards, PAIR_WORDS, CardProofs.ITEM_WORDS);
            uint256 parities = _word(old, CORE_WORDS) & ALL_PARITIES;
            for (uint256 i = 0; i < DEAL_ITEMS; ++i) {
                uint256 shift = 2 * (HAND_SIZE + i);
                parities = (parities & ~(3 << shift)) | (cards[i].parities << shift);
            }
            _requireWord(next, CORE_WORDS, parities);
            for (uint256 i = 0; i < SIZE; ++i) {
                uint256 place = CORE_WORDS + 1 + 2 * i;
                _requireWord(next, place, _word(old, place));
                bool isTouched = i >= HAND_SIZE && i < HAND_SIZE + DEAL_ITEMS;
                _requireWord(next, place + 1, isTouched ? cards[i - HAND_SIZE].c2x : _word(old, place + 1));
            }
        }
    }

    function _requireDealt(
        CardProofs.Prover memory prover,
        uint256[CORE_WORDS] memory core,
        bytes calldata old,
        bytes calldata evidence
    ) private pure {
        unchecked {
            CardProofs.Card[] memory cards = new CardProofs.Card[](DEAL_ITEMS);
            for (uint256 i = 0; i < HAND_SIZE; ++i) {
                cards[i] = _cardOfDeck(old, i);
            }
            cards[HAND_SIZE] = _cardOfDeck(old, TOP_INDEX);
            _takeShares(prover, evidence, cards, PAIR_WORDS, CardProofs.ITEM_WORDS);
            bytes32[] memory leaves = CardProofs.leavesOf(old[32 * CORE_WORDS:]);
            for (uint256 i = 0; i < HAND_SIZE; ++i) {
                leaves[i] = _leaf(i, cards[i]);
            }
            leaves[TOP_INDEX] = _leaf(TOP_INDEX, cards[HAND_SIZE]);
            _requireRoot(CardProofs.rootOf(leaves), core);
            _requireOpens(cards[HAND_SIZE], core[TOP]);
        }
    }

    /// @dev `root`: of the deck before.
    function _requirePlayed(
        CardProofs.Prover memory prover,
        uint256[CORE_WORDS] memory core,
        uint256 root,
        bytes calldata evidence
    ) private pure {
        unchecked {
            uint256 shared = core[SHARED];
            uint256 laid = core[LAID];
            uint256 count = (shared == 0 ? 0 : 1) + (laid == 0 ? 0 : 1);
            if (count == 0) return;
            uint256[] memory indices = new uint256[](count);
            if (shared != 0) indices[0] = shared - 1;
            if (laid != 0) indices[count - 1] = laid - 1;
            CardProofs.Card[] memory cards = _takeTouched(prover, root, evidence, indices, PAIR_WORDS, TOUCHED_WORDS);
            if (shared != 0) {
                bytes32 leaf = _leaf(shared - 1, cards[0]);
                _requireRoot(CardProofs.rootFrom(shared - 1, leaf, evidence, PAIR_WORDS + PATH_AT), core);
            }
            if (laid != 0) _requireOpens(cards[count - 1], core[TOP]);
        }
    }

    /// @dev `shown`: the indices of the cards, as bits. `seat`: of the mover.
    function _requireCardsShown(
        CardProofs.Prover memory prover,
        uint256[CORE_WORDS] memory core,
        uint256 shown,
        uint256 seat,
        bytes calldata evidence
    ) private pure {
        unchecked {
            uint256 count = core[LAID];
            if (count == 0) return;
            uint256[] memory indices = new uint256[](count);
            uint256 stride = TOUCHED_WORDS + 1;
            uint256 index = 0;
            for (uint256 i = 0; i < count; ++index) {
                if ((shown >> index) & 1 == 0) continue;
                uint256 card = _word(evidence, PAIR_WORDS + i * stride);
                if (card >= SIZE) revert CardProofs.CardUnknown(card);
                _requireNotDenied(core[DENIED + seat], card);
                indices[i++] = index;
            }
            CardProofs.Card[] memory cards =
                _takeTouched(prover, core[ROOT], evidence, indices, PAIR_WORDS + 1, stride);
            for (uint256 i = 0; i < count; ++i) {
                _requireOpens(cards[i], _word(evidence, PAIR_WORDS + i * stride));
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

    /// @dev The touched cards without the mover's shares. `root`: of the deck that they are in. `first`: the word of
    /// evidence at which the first one begins; each next one begins `stride` words later.
    function _takeTouched(
        CardProofs.Prover memory prover,
        uint256 root,
        bytes calldata evidence,
        uint256[] memory indices,
        uint256 first,
        uint256 stride
    ) private pure returns (CardProofs.Card[] memory cards)
    {
        unchecked {
            cards = new CardProofs.Card[](indices.length);
            for (uint256 i = 0; i < indices.length; ++i) {
                uint256 place = first + i * stride;
                CardProofs.Card memory card =
                    CardProofs.Card(_word(evidence, place), _word(evidence, place + 1), _word(evidence, place + 2), 0);
                uint256 index = indices[i];
                if (uint256(CardProofs.rootFrom(index, _leaf(index, card), evidence, place + PATH_AT)) != root) {
                    revert CardNotInDeck(index);
                }
                cards[i] = card;
            }
            _takeShares(prover, evidence, cards, first + ITEM_AT, stride);
        }
    }

    /// @dev Takes the mover's shares off the cards. `first` and `stride`: as of the items of `CardProofs.takeShares`.
    function _takeShares(
        CardProofs.Prover memory prover,
        bytes calldata evidence,
        CardProofs.Card[] memory cards,
        uint256 first,
        uint256 stride
    ) private pure {
        CardProofs.requirePoint(prover.keyX, prover.keyY);
        CardProofs.takeShares(prover, cards, evidence, first, stride);
    }

    /// @dev The mover with its key in this core. Evidence begins with c and s; where there is none, nobody reads them.
    function _prover(uint256 turnNum, uint256[CORE_WORDS] memory core, bytes calldata evidence)
        private
        pure
        returns (CardProofs.Prover memory)
    {
        unchecked {
            uint256 key = KEYS + 2 * (turnNum % TwoPlayer.PLAYERS);
            return CardProofs.Prover(
                bytes32(core[CHANNEL_ID]), turnNum, core[key], core[key + 1], _word(evidence, 0), _word(evidence, 1)
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

    function _requireRoot(bytes32 root, uint256[CORE_WORDS] memory core) private pure {
        if (uint256(root) != core[ROOT]) revert UnexpectedWord(ROOT, uint256(root), core[ROOT]);
    }

    function _requireOpens(CardProofs.Card memory card, uint256 number) private pure {
        CardProofs.requireOpens(card.c2x, card.c2y, number);
    }

    // --------------------------------------------------------------------------------------------------------- words

    function _word(bytes calldata data, uint256 place) private pure returns (uint256) {
        return CardProofs.wordAt(data, place);
    }

    function _requireWord(bytes calldata next, uint256 place, uint256 expected) private pure {
        uint256 submitted = _word(next, place);
        if (submitted != expected) revert UnexpectedWord(place, expected, submitted);
    }

    /// @dev The words of the core, to write a move's changes into.
    function _coreOf(bytes calldata position) private pure returns (uint256[CORE_WORDS] memory core) {
        assembly ("memory-safe") {
            calldatacopy(core, position.offset, mul(32, CORE_WORDS))
        }
    }

    /// @dev The core of `next` is this one. By its hash, which is cheaper: words are only compared to name the one that
    /// differs.
    function _requireCore(uint256[CORE_WORDS] memory core, bytes calldata next) private pure {
        bytes32 hash;
        assembly ("memory-safe") {
            hash := keccak256(core, mul(32, CORE_WORDS))
        }
        if (keccak256(next[:32 * CORE_WORDS]) == hash) return;
        unchecked {
            for (uint256 place = 0; place < CORE_WORDS; ++place) {
                _requireWord(next, place, core[place]);
            }
        }
    }
}
