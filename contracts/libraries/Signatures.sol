// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Reader} from "./Reader.sol";

/// @title Recovery of compact signatures (EIP-2098)
library Signatures {
    /// @dev Half the order of secp256k1.
    uint256 internal constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;
    uint256 private constant S_MASK = type(uint256).max >> 1;

    /// @dev The signer of `digest`, whose signature stands in calldata at `cursor`; reverts with SignatureMalleable or
    /// SignatureUnrecoverable, and never returns zero.
    function recover(bytes32 digest, uint256 cursor) internal pure returns (address signer) {
        unchecked {
            uint256 vs = uint256(Reader.word(cursor + 32));
            uint256 s = vs & S_MASK;
            if (s > HALF_ORDER) revert IAdjudicator.SignatureMalleable(bytes32(s));
            signer = ecrecover(digest, uint8(27 + (vs >> 255)), Reader.word(cursor), bytes32(s));
        }
        if (signer == address(0)) revert IAdjudicator.SignatureUnrecoverable();
    }

    function requireSigner(bytes32 digest, uint256 cursor, address expected) internal pure {
        address recovered = recover(digest, cursor);
        if (recovered != expected) revert IAdjudicator.WrongSigner(expected, recovered);
    }
}
