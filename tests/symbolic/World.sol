// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../../contracts/interfaces/IAdjudicator.sol";
import {Allocation, FixedPart, Signature, VariablePart} from "../../contracts/types/Channel.sol";

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

/// @title A channel of two about which nothing is known
/// @dev The adjudicator is what the committed creation code deploys.
abstract contract World {
    Vm internal constant VM = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    Svm internal constant SVM = Svm(0xF3993A62377BCd56AE39D773740A5390411E8BC9);
    address internal constant ETHER = address(0);

    bytes32 private constant _ALLOCATION = keccak256("Allocation(address asset,bytes32 destination,uint256 amount)");

    // Where the adjudicator stores what: `check_slots` proves it. Its views would make paths of their own.
    uint256 private constant _STATUSES = 0;
    uint256 private constant _HOLDINGS = 1;
    uint256 private constant _CREDITS = 2;
    uint256 internal constant CLOSED = 1 << 255;
    uint256 internal constant PAYOUT_BEGUN = 1 << 254;
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
        fixedPart.challengeDuration = uint48(SVM.createUint(48, "duration"));
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

    function _anyStatus(bytes32 channelId) internal returns (uint256 status) {
        status = SVM.createUint256("status");
        _store(_statusSlot(channelId), status);
    }

    function _anyHoldings(bytes32 channelId, address asset) internal returns (uint256 holdings) {
        holdings = SVM.createUint256("holdings");
        _store(_holdingsSlot(channelId, asset), holdings);
    }

    /// @dev What is held is there, so that it is below ALL_ETHER. Its bits and the flags are given one by one: the solver
    /// has less to do than with one word about which something is assumed.
    function _someHoldings(bytes32 channelId, address asset) internal returns (uint256 holdings, uint256 held) {
        held = SVM.createUint(96, "held");
        holdings = held | (SVM.createUint(2, "flags") << 254);
        _store(_holdingsSlot(channelId, asset), holdings);
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

    function _anySignatures(uint256 count) internal pure returns (Signature[] memory signatures) {
        signatures = new Signature[](count);
        for (uint256 i = 0; i < count; ++i) {
            signatures[i] = _anySignature();
        }
    }

    function _anySignature() internal pure returns (Signature memory) {
        return Signature(SVM.createBytes32("r"), SVM.createBytes32("vs"));
    }

    // ------------------------------------------------------------------------------------------------------- after

    function _status(bytes32 channelId) internal view returns (uint256) {
        return _load(_statusSlot(channelId));
    }

    /// @dev The word as it is stored.
    function _holdings(bytes32 channelId, address asset) internal view returns (uint256) {
        return _load(_holdingsSlot(channelId, asset));
    }

    function _credit(address account, address asset) internal view returns (uint256) {
        return _load(_creditSlot(account, asset));
    }

    function _turnOf(uint256 status) internal pure returns (uint48) {
        return uint48(status >> 208);
    }

    function _endOf(uint256 status) internal pure returns (uint48) {
        return uint48(status >> 160);
    }

    function _isFinalized(uint256 status) internal view returns (bool) {
        return both(_endOf(status) != 0, block.timestamp >= _endOf(status));
    }

    function _fingerprint(bytes32 stateHash, Allocation[] memory outcome) internal pure returns (uint160) {
        bytes memory hashes;
        for (uint256 i = 0; i < outcome.length; ++i) {
            hashes = bytes.concat(hashes, keccak256(abi.encode(_ALLOCATION, outcome[i])));
        }
        return uint160(uint256(keccak256(abi.encode(stateHash, keccak256(hashes)))));
    }

    // ----------------------------------------------------------------------------------------------------- storage

    function _statusSlot(bytes32 channelId) private pure returns (bytes32) {
        return keccak256(abi.encode(channelId, _STATUSES));
    }

    function _holdingsSlot(bytes32 channelId, address asset) private pure returns (bytes32) {
        return keccak256(abi.encode(asset, keccak256(abi.encode(channelId, _HOLDINGS))));
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
