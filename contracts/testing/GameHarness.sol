// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Asks a game about many variations of one call, in one call
/// @dev For parity tests: entering the EVM costs more time than what a game does there. Assembly, because two million
/// variations are asked about and the loop would cost as much as the game.
contract GameHarness {
    /// @notice The results of the variations, one after the other: 0xff for a call that returned the one word 1, else a
    /// byte with the length of the revert data, and the revert data. Reverts on any other result.
    /// @param game Whom to ask.
    /// @param template The calldata that is varied.
    /// @param variations One after the other: one byte with the number of patches, then for each patch two bytes with
    /// the offset in `template` and the 32 bytes that stand there instead.
    function ask(address game, bytes calldata template, bytes calldata variations)
        external
        view
        returns (bytes memory results)
    {
        bytes memory varied = template;
        assembly ("memory-safe") {
            // Behind all else, so that the results may become as long as they like.
            results := mload(0x40)
            let writer := add(results, 32)
            let reader := variations.offset
            let end := add(reader, variations.length)
            for {} lt(reader, end) {} {
                let patches := byte(0, calldataload(reader))
                reader := add(reader, 1)
                calldatacopy(add(varied, 32), template.offset, template.length)
                for {} patches { patches := sub(patches, 1) } {
                    let offset := shr(240, calldataload(reader))
                    mstore(add(add(varied, 32), offset), calldataload(add(reader, 2)))
                    reader := add(reader, 34)
                }

                let returned := staticcall(gas(), game, add(varied, 32), template.length, 0, 32)
                let size := returndatasize()
                if or(gt(size, 254), and(returned, iszero(and(eq(size, 32), eq(mload(0), 1))))) { revert(0, 0) }
                switch returned
                case 0 {
                    mstore8(writer, size)
                    returndatacopy(add(writer, 1), 0, size)
                    writer := add(writer, add(size, 1))
                }
                default {
                    mstore8(writer, 0xff)
                    writer := add(writer, 1)
                }
            }
            mstore(results, sub(sub(writer, results), 32))
            mstore(0x40, and(add(writer, 31), not(31)))
        }
    }
}
