// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../../contracts/interfaces/IAdjudicator.sol";
import {Allocation, FixedPart, VariablePart} from "../../contracts/types/Channel.sol";

/// @title What a proof may change about the chain
interface Vm {
    function assume(bool condition) external pure;
    function deal(address account, uint256 balance) external;
    function getCode(string calldata path) external view returns (bytes memory creationCode);
    function prank(address sender) external;
    function load(address account, bytes32 slot) external view returns (bytes32 value);
    function store(address account, bytes32 slot, bytes32 value) external;
    function warp(uint256 time) external;
}

/// @title Values that stand for all values
interface Svm {
    function createAddress(string calldata name) external pure returns (address);
    function createBool(string calldata name) external pure returns (bool);
    function createBytes32(string calldata name) external pure returns (bytes32);
    function createUint(uint256 bits, string calldata name) external pure returns (uint256);
    function createUint256(string calldata name) external pure returns (uint256);
}

/// @title An app that answers anything
/// @dev It is not said to be an `IForceMoveApp`, whose answers follow from its arguments alone.
contract AnyApp {
    bool private immutable _ANSWER;

    constructor(bool answer) {
        _ANSWER = answer;
    }

    function validTransition(bytes32, VariablePart calldata, VariablePart calldata, uint256)
        external
        view
        returns (bool)
    {
        return _ANSWER;
    }
}

// Logic without jumps: each jump would double the paths of a proof.

function both(bool one, bool other) pure returns (bool result) {
    assembly ("memory-safe") {
        result := and(one, other)
    }
}

function either(bool one, bool other) pure returns (bool result) {
    assembly ("memory-safe") {
        result := or(one, other)
    }
}

function implies(bool one, bool other) pure returns (bool result) {
    assembly ("memory-safe") {
        result := or(iszero(one), other)
    }
}

function select(bool condition, uint256 one, uint256 other) pure returns (uint256 result) {
    assembly ("memory-safe") {
        result := xor(other, and(xor(one, other), sub(0, condition)))
    }
}

/// @title A channel of two about which nothing is known
/// @dev The adjudicator is what the committed creation code deploys.
abstract contract World {
    Vm internal constant VM = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    Svm internal constant SVM = Svm(0xF3993A62377BCd56AE39D773740A5390411E8BC9);
    address internal constant ETHER = address(0);

    bytes32 private constant _ALLOCATION = keccak256("Allocation(address asset,bytes32 destination,uint256 amount)");

    // Where the adjudicator stores what: `check_slots` proves it. Its views would make paths of their own.
    uint256 private constant _CREDITS = 0;
    uint256 private constant _LATE = 1 << 160;
    uint256 internal constant CLOSED = 1 << 255;
    uint256 internal constant RECORDED = 1 << 254;
    uint256 internal constant PAYOUT_BEGUN = 1 << 253;
    uint256 internal constant FULL = 1 << 253;
    uint256 internal constant SURPLUS = 1 << 252;
    uint256 internal constant MAX_HELD = PAYOUT_BEGUN - 1;

    /// @dev More wei than there are.
    uint256 internal constant ALL_ETHER = 1 << 96;

    IAdjudicator internal adjudicator;

    function setUp() public {
        adjudicator = IAdjudicator(_deploy("Adjudicator"));
    }

    function _deploy(string memory name) internal returns (address deployed) {
        bytes memory code = VM.getCode(string.concat("codes/", name, ".json"));
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        assert(deployed != address(0));
    }

    // ------------------------------------------------------------------------------------------------------ before

    function _anyFixedPart(address app) internal pure returns (FixedPart memory fixedPart) {
        return _anyFixedPartOf(2, app);
    }

    function _anyFixedPartOf(uint256 count, address app) internal pure returns (FixedPart memory fixedPart) {
        fixedPart.participants = new address[](count);
        for (uint256 i = 0; i < count; ++i) {
            fixedPart.participants[i] = SVM.createAddress("participant");
        }
        fixedPart.channelNonce = uint64(SVM.createUint(64, "nonce"));
        fixedPart.appDefinition = app;
        fixedPart.challengeDuration = uint48(SVM.createUint(32, "duration"));
        fixedPart.total = SVM.createUint256("total");
    }

    function _anyApp() internal returns (address) {
        return address(new AnyApp(SVM.createBool("answer")));
    }

    function _anyTurn() internal pure returns (uint48) {
        return uint48(SVM.createUint(48, "turn"));
    }

    function _anyTime() internal {
        VM.warp(SVM.createUint(48, "now"));
    }

    /// @dev The word of an asset: of the home asset it may be a record, unless the channel is closed.
    function _anyWord(bytes32 channelId, address asset) internal returns (uint256 word) {
        word = _anyWord();
        _storeWord(channelId, asset, word);
    }

    function _anyWord() internal pure returns (uint256 word) {
        word = SVM.createUint256("word");
        VM.assume(word & (CLOSED | RECORDED) != CLOSED | RECORDED);
    }

    /// @dev A record of this turn, or no record.
    function _anyWordOf(uint48 turnNum) internal pure returns (uint256) {
        if (!SVM.createBool("is recorded")) return SVM.createUint256("word") & ~RECORDED;
        uint256 flags = SVM.createUint(2, "flags") << 252;
        return RECORDED | flags | (uint256(turnNum) << 220) | SVM.createUint(220, "end and fingerprint");
    }

    /// @dev The late word of the home asset: an amount, and whether the channel has begun to pay.
    function _anyLate(bytes32 channelId, address asset) internal returns (uint256 late) {
        late = SVM.createUint(254, "late");
        _storeLate(channelId, asset, late);
    }

    /// @dev What is held is there, so that it is below ALL_ETHER. Its bits and the flag are given one by one: the solver
    /// has less to do than with one word about which something is assumed.
    function _someHeld() internal pure returns (uint256 word, uint256 held) {
        held = SVM.createUint(96, "held");
        word = held | (SVM.createUint(1, "begun") << 253);
    }

    function _anyCredit(address account, address asset) internal returns (uint256 credit) {
        credit = SVM.createUint256("credit");
        _store(_creditSlot(account, asset), credit);
    }

    function _anyOutcome(address asset) internal pure returns (Allocation[] memory outcome) {
        outcome = new Allocation[](2);
        outcome[0] = Allocation(asset, SVM.createBytes32("destination 0"), SVM.createUint256("amount 0"));
        outcome[1] = Allocation(asset, SVM.createBytes32("destination 1"), SVM.createUint256("amount 1"));
    }

    function _anyState(uint48 turnNum) internal pure returns (VariablePart memory state) {
        state.outcome = _anyOutcome(ETHER);
        state.turnNum = turnNum;
        state.isFinal = SVM.createBool("is final");
    }

    function _anySignatures(uint256 count) internal pure returns (bytes memory signatures) {
        for (uint256 i = 0; i < count; ++i) {
            signatures = bytes.concat(signatures, SVM.createBytes32("r"), SVM.createBytes32("vs"));
        }
    }

    // ------------------------------------------------------------------------------------------------------- calls

    function _packed(FixedPart memory fixedPart) internal pure returns (bytes memory packed) {
        packed = abi.encodePacked(
            uint8(fixedPart.participants.length),
            fixedPart.channelNonce,
            fixedPart.appDefinition,
            uint32(fixedPart.challengeDuration),
            fixedPart.asset,
            uint8(32),
            fixedPart.total
        );
        for (uint256 i = 0; i < fixedPart.participants.length; ++i) {
            packed = bytes.concat(packed, bytes20(fixedPart.participants[i]));
        }
    }

    /// @dev Every allocation names its asset, and has a whole word for its destination and one for its amount.
    function _packed(Allocation[] memory outcome) internal pure returns (bytes memory packed) {
        packed = abi.encodePacked(uint8(outcome.length));
        for (uint256 i = 0; i < outcome.length; ++i) {
            Allocation memory entry = outcome[i];
            packed = abi.encodePacked(packed, uint8(62), entry.asset, uint8(0xa0), entry.destination, entry.amount);
        }
    }

    /// @dev Of a state without appData and evidence.
    function _packed(VariablePart memory state) internal pure returns (bytes memory) {
        return abi.encodePacked(state.isFinal, _packed(state.outcome), uint16(0));
    }

    // ------------------------------------------------------------------------------------------------------- after

    function _word(bytes32 channelId, address asset) internal view returns (uint256) {
        return _load(_wordSlot(channelId, uint160(asset)));
    }

    function _late(bytes32 channelId, address asset) internal view returns (uint256) {
        return _load(_wordSlot(channelId, uint160(asset) | _LATE));
    }

    function _credit(address account, address asset) internal view returns (uint256) {
        return _load(_creditSlot(account, asset));
    }

    function _isRecorded(uint256 word) internal pure returns (bool) {
        return word & RECORDED != 0;
    }

    function _isFull(uint256 word) internal pure returns (bool) {
        return both(_isRecorded(word), word & FULL != 0);
    }

    /// @dev What is held of the home asset. `total`: what the channel is funded with.
    function _heldOf(uint256 word, uint256 late, uint256 total) internal pure returns (uint256 held) {
        uint256 full = select(word & FULL != 0, total, 0);
        uint256 more = select(word & (FULL | SURPLUS) == FULL, 0, late & MAX_HELD);
        unchecked {
            held = select(_isRecorded(word), full + more, word & MAX_HELD);
        }
    }

    function _turnOf(uint256 word) internal pure returns (uint48) {
        return uint48(select(_isRecorded(word), uint32(word >> 220), 0));
    }

    function _endOf(uint256 word) internal pure returns (uint48) {
        return uint48(select(_isRecorded(word), (word >> 186) & ((1 << 34) - 1), 0));
    }

    /// @dev Whether two records have one turn and one end.
    function _isSameEnd(uint256 one, uint256 other) internal pure returns (bool) {
        return ((one ^ other) & (SURPLUS - 1)) >> 186 == 0;
    }

    function _fingerprintIn(uint256 word) internal pure returns (uint256) {
        return word & ((1 << 186) - 1);
    }

    function _isFinalized(uint256 word) internal view returns (bool) {
        return both(_endOf(word) != 0, block.timestamp >= _endOf(word));
    }

    function _fingerprint(bytes32 stateHash, Allocation[] memory outcome) internal pure returns (uint256) {
        bytes memory hashes;
        for (uint256 i = 0; i < outcome.length; ++i) {
            hashes = bytes.concat(hashes, keccak256(abi.encode(_ALLOCATION, outcome[i])));
        }
        return _fingerprintIn(uint256(keccak256(abi.encode(stateHash, keccak256(hashes)))));
    }

    // ----------------------------------------------------------------------------------------------------- storage

    function _storeWord(bytes32 channelId, address asset, uint256 word) internal {
        _store(_wordSlot(channelId, uint160(asset)), word);
    }

    function _storeLate(bytes32 channelId, address asset, uint256 late) internal {
        _store(_wordSlot(channelId, uint160(asset) | _LATE), late);
    }

    function _wordSlot(bytes32 channelId, uint256 place) private pure returns (bytes32) {
        return keccak256(abi.encode(channelId, place));
    }

    function _creditSlot(address account, address asset) private pure returns (bytes32) {
        return keccak256(abi.encode(asset, keccak256(abi.encode(account, _CREDITS))));
    }

    function _load(bytes32 slot) private view returns (uint256) {
        return uint256(VM.load(address(adjudicator), slot));
    }

    function _store(bytes32 slot, uint256 word) private {
        VM.store(address(adjudicator), slot, bytes32(word));
    }
}
