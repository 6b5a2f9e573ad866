// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Cards that several players have masked: keys, shares, reading a card, and decks; the twin of
/// `games/forcemove_games/cards`
/// @dev Points of secp256k1 are never multiplied here. `ecrecover(z, v, R.x, q)` is the address of (qR - zG) / R.x, so
/// a multiple that is supplied is compared with it by its address; sums are checked by the slope of a line. Every
/// address is compared with one that was fixed before the challenge was known: forging means to hit 160 bits.
library CardProofs {
    /// @notice A scalar of a proof is not from 1 to the group's order less 1.
    error ScalarOutOfRange(uint256 scalar);
    /// @notice These coordinates are of no point of the curve, or of one whose x is not below the group's order.
    error PointRefused(uint256 x, uint256 y);
    /// @notice This is not the slope of the line through two points whose sum is taken.
    error SlopeRefused(uint256 slope);
    /// @notice The proof of knowing a key's secret does not hold; its challenge should be this.
    error KeyRefused(uint256 challenge);
    /// @notice A multiple of a masked card (x of its C1, or of its share) is not the one that the proof needs.
    error MaskRefused(uint256 x);
    /// @notice The proof of shares does not hold; its challenge should be this.
    error ShareRefused(uint256 challenge);
    /// @notice What is left when all masks are off is not this card.
    error CardUnknown(uint256 card);

    /// @param turnNum Of the state that the proof is in.
    /// @param keyX The x of the prover's key K.
    /// @param keyY The y of K.
    /// @param challenge c.
    /// @param response s.
    struct Prover {
        bytes32 channelId;
        uint256 turnNum;
        uint256 keyX;
        uint256 keyY;
        uint256 challenge;
        uint256 response;
    }

    /// @param c1x The x of C1.
    /// @param c2x The x of C2.
    /// @param parities Bit 0 of C1's y, bit 1 of C2's.
    /// @param c2y The y of C2; zero until a share was taken off.
    struct Card {
        uint256 c1x;
        uint256 c2x;
        uint256 parities;
        uint256 c2y;
    }

    /// @dev The prime of the coordinates.
    uint256 internal constant FIELD = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f;
    /// @dev The order of the group.
    uint256 internal constant ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;
    /// @dev The x of the generator, whose y is even.
    uint256 private constant GENERATOR_X = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798;
    /// @dev keccak256("forcemove/cards/1/key")
    bytes32 internal constant KEY_TAG = 0x6299ce267432b64aba6e190a990dc1e232c49132f7b14be27ca19ce9d1651784;
    /// @dev keccak256("forcemove/cards/1/share")
    bytes32 internal constant SHARE_TAG = 0x1bda1857fec06ec56dce49e49e7bed42bb1446aad7212dae2e248c1b3448630e;
    /// @dev Words of an item: D, W1 and W2 with two coordinates each, a slope, C2.y, and another slope.
    uint256 internal constant ITEM_WORDS = 9;
    /// @dev The leaves of a deck's tree, and its height.
    uint256 internal constant LEAVES = 32;
    uint256 internal constant HEIGHT = 5;

    uint256 private constant HASHED_BEFORE = 4;
    uint256 private constant HASHED_OF_A_CARD = 6;

    // ------------------------------------------------------------------------------------------------------- proofs

    /// @dev Reverts unless the prover knows the key's secret.
    function requireKey(Prover memory prover) internal pure {
        uint256 x = prover.keyX;
        uint256 y = prover.keyY;
        requirePoint(x, y);
        _requireScalars(prover);
        uint256 committed = uint256(uint160(_commitment(prover)));
        if (committed == 0) revert KeyRefused(0);
        bytes32 about = keccak256(abi.encode(KEY_TAG, prover.channelId, prover.turnNum));
        uint256 expected = uint256(keccak256(abi.encode(about, x, y, committed))) % ORDER;
        if (expected != prover.challenge) revert KeyRefused(expected);
    }

    /// @dev Reverts unless these are the coordinates of a point of the curve with an x that `ecrecover` takes.
    function requirePoint(uint256 x, uint256 y) internal pure {
        _requireCurve(x, y);
        // `ecrecover` takes no other x.
        if (x == 0 || x >= ORDER) revert PointRefused(x, y);
    }

    /// @dev Takes the prover's shares off the cards, in their place, if the proof holds. `items`: has nine words for
    /// each card: D; W1 = sC1; W2 = cD; the slope of the line through W1 and -W2; C2.y; the slope of that through C2
    /// and -D. Those of the first card begin at word `first`, those of each next one `stride` words later. The prover's
    /// key is a point. The caller has checked the length of `items`.
    function takeShares(Prover memory prover, Card[] memory cards, bytes calldata items, uint256 first, uint256 stride)
        internal
        pure
    {
        _requireScalars(prover);
        uint256 committed = uint256(uint160(_commitment(prover)));
        if (committed == 0) revert ShareRefused(0);
        bytes32 about = keccak256(abi.encode(SHARE_TAG, prover.channelId, prover.turnNum));
        bytes memory hashed = abi.encode(about, prover.keyX, prover.keyY, committed);
        uint256 count = cards.length;
        unchecked {
            for (uint256 i = 0; i < count; ++i) {
                Card memory card = cards[i];
                uint256 item = first + stride * i;
                hashed = bytes.concat(hashed, _checked(prover, card, items, item));
                _takeOff(card, items, item);
            }
        }
        uint256 expected = uint256(keccak256(hashed)) % ORDER;
        if (expected != prover.challenge) revert ShareRefused(expected);
    }

    /// @dev Reverts unless (x, y) is the point of this card, (card + 1)G. `x` and `y` are of a point.
    function requireOpens(uint256 x, uint256 y, uint256 card) internal pure {
        uint256 q = mulmod(card + 1, GENERATOR_X, ORDER);
        if (ecrecover(0, 27, bytes32(GENERATOR_X), bytes32(q)) != _address(x, y)) revert CardUnknown(card);
    }

    // --------------------------------------------------------------------------------------------------------- decks

    /// @dev The leaf of a card in its deck's tree.
    function leaf(uint256 index, uint256 c1x, uint256 c2x, uint256 parities) internal pure returns (bytes32) {
        return keccak256(abi.encode(index, c1x, c2x, parities));
    }

    /// @dev The leaves of a deck of at most 32 cards. `deck`: its words: the parities, then x of C1 and C2 of each
    /// card.
    function leavesOf(bytes calldata deck) internal pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](LEAVES);
        uint256 parities = wordAt(deck, 0);
        unchecked {
            uint256 count = (deck.length - 32) / 64;
            for (uint256 i = 0; i < count; ++i) {
                leaves[i] = leaf(i, wordAt(deck, 1 + 2 * i), wordAt(deck, 2 + 2 * i), (parities >> (2 * i)) & 3);
            }
        }
    }

    /// @dev The root over 32 leaves, which are written over.
    function rootOf(bytes32[] memory leaves) internal pure returns (bytes32) {
        unchecked {
            for (uint256 width = LEAVES / 2; width > 0; width >>= 1) {
                for (uint256 i = 0; i < width; ++i) {
                    leaves[i] = hashPair(leaves[2 * i], leaves[2 * i + 1]);
                }
            }
        }
        return leaves[0];
    }

    /// @dev The root that a leaf leads to. `path`: five words from `first` on, the lowest first.
    function rootFrom(uint256 index, bytes32 node, bytes calldata path, uint256 first) internal pure returns (bytes32) {
        unchecked {
            for (uint256 i = 0; i < HEIGHT; ++i) {
                bytes32 other = bytes32(wordAt(path, first + i));
                node = index & 1 == 0 ? hashPair(node, other) : hashPair(other, node);
                index >>= 1;
            }
        }
        return node;
    }

    // --------------------------------------------------------------------------------------------------------- words

    /// @dev keccak256 of two words.
    function hashPair(bytes32 first, bytes32 second) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore(0x00, first)
            mstore(0x20, second)
            hash := keccak256(0x00, 0x40)
        }
    }

    /// @dev The word with this index; the caller has checked the length of `data`.
    function wordAt(bytes calldata data, uint256 index) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(data.offset, shl(5, index)))
        }
    }

    // --------------------------------------------------------------------------------------------------------- parts

    function _requireScalars(Prover memory prover) private pure {
        _requireScalar(prover.challenge);
        _requireScalar(prover.response);
    }

    function _requireScalar(uint256 scalar) private pure {
        if (scalar == 0 || scalar >= ORDER) revert ScalarOutOfRange(scalar);
    }

    /// @dev The address of sG - cK; zero where that is infinity.
    function _commitment(Prover memory prover) private pure returns (address) {
        uint256 x = prover.keyX;
        unchecked {
            // Both scalars are below the order.
            uint256 z = ORDER - mulmod(prover.response, x, ORDER);
            uint256 q = mulmod(ORDER - prover.challenge, x, ORDER);
            return ecrecover(bytes32(z), _v(prover.keyY), bytes32(x), bytes32(q));
        }
    }

    /// @dev Checks D, W1, W2 and their slope; what is hashed of the card: C1.x, the parity of C1.y, D, W1 - W2.
    function _checked(Prover memory prover, Card memory card, bytes calldata items, uint256 first)
        private
        pure
        returns (bytes memory)
    {
        uint256 x = wordAt(items, first);
        uint256 y = wordAt(items, first + 1);
        requirePoint(x, y);
        uint256 w1x = wordAt(items, first + 2);
        uint256 w1y = wordAt(items, first + 3);
        _requireMultiple(card.c1x, card.parities, prover.response, w1x, w1y);
        uint256 w2x = wordAt(items, first + 4);
        uint256 w2y = wordAt(items, first + 5);
        _requireMultiple(x, y, prover.challenge, w2x, w2y);
        (w1x, w1y) = _difference(w1x, w1y, w2x, w2y, wordAt(items, first + 6));
        return abi.encode(card.c1x, card.parities & 1, x, y, w1x, w1y);
    }

    function _takeOff(Card memory card, bytes calldata items, uint256 first) private pure {
        uint256 x = card.c2x;
        uint256 y = wordAt(items, first + 7);
        _requireCurve(x, y);
        if (y & 1 != card.parities >> 1) revert PointRefused(x, y);
        (x, y) = _difference(x, y, wordAt(items, first), wordAt(items, first + 1), wordAt(items, first + 8));
        card.c2x = x;
        card.c2y = y;
        card.parities = (card.parities & 1) | ((y & 1) << 1);
    }

    function _requireCurve(uint256 x, uint256 y) private pure {
        uint256 right = addmod(mulmod(mulmod(x, x, FIELD), x, FIELD), 7, FIELD);
        if (x >= FIELD || y >= FIELD || mulmod(y, y, FIELD) != right) revert PointRefused(x, y);
    }

    /// @dev Reverts unless (wx, wy) is `scalar` times the point with this x. `y`: its y, or any number of its parity.
    function _requireMultiple(uint256 x, uint256 y, uint256 scalar, uint256 wx, uint256 wy) private pure {
        if (wx >= FIELD || wy >= FIELD) revert PointRefused(wx, wy);
        address multiple = ecrecover(0, _v(y), bytes32(x), bytes32(mulmod(scalar, x, ORDER)));
        // Zero, of a point that is none, is nobody's address.
        if (multiple != _address(wx, wy)) revert MaskRefused(x);
    }

    /// @dev (x1, y1) - (x2, y2), by the slope of the line through the first and the second's negative.
    function _difference(uint256 x1, uint256 y1, uint256 x2, uint256 y2, uint256 slope)
        private
        pure
        returns (uint256 x, uint256 y)
    {
        unchecked {
            // All are below the prime, so nothing wraps.
            if (x1 == x2 || slope >= FIELD) revert SlopeRefused(slope);
            if (mulmod(slope, addmod(x2, FIELD - x1, FIELD), FIELD) != addmod(FIELD - y2, FIELD - y1, FIELD)) {
                revert SlopeRefused(slope);
            }
            x = addmod(mulmod(slope, slope, FIELD), addmod(FIELD - x1, FIELD - x2, FIELD), FIELD);
            y = addmod(mulmod(slope, addmod(x1, FIELD - x, FIELD), FIELD), FIELD - y1, FIELD);
        }
    }

    function _v(uint256 y) private pure returns (uint8) {
        unchecked {
            return uint8(27 + (y & 1));
        }
    }

    function _address(uint256 x, uint256 y) private pure returns (address) {
        return address(uint160(uint256(hashPair(bytes32(x), bytes32(y)))));
    }
}
