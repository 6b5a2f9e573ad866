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

/// @title A channel of two about which nothing is known
/// @dev The adjudicator is what the committed creation code deploys.
abstract contract World {
    Vm internal constant VM = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    Svm internal constant SVM = Svm(0xF3993A62377BCd56AE39D773740A5390411E8BC9);
    address internal constant ETHER = address(0);

    // Where the adjudicator stores what. `_setStatus` and `_setHoldings` look whether it is so.
    uint256 private constant STATUSES = 0;
    uint256 private constant HOLDINGS = 1;
    uint256 internal constant MAX_HELD = (1 << 254) - 1;

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

    function _anyFixedPart() internal returns (FixedPart memory fixedPart) {
        fixedPart.participants = new address[](2);
        fixedPart.participants[0] = SVM.createAddress("participant 0");
        fixedPart.participants[1] = SVM.createAddress("participant 1");
        fixedPart.channelNonce = uint64(SVM.createUint(64, "nonce"));
        fixedPart.appDefinition = address(new AnyApp(SVM.createBool("answer")));
        fixedPart.challengeDuration = uint48(SVM.createUint(48, "duration"));
    }

    function _anyTime() internal {
        VM.warp(SVM.createUint(48, "now"));
    }

    function _anyStatus(bytes32 channelId) internal returns (uint256 status) {
        status = SVM.createUint256("status");
        _setStatus(channelId, status);
    }

    function _setStatus(bytes32 channelId, uint256 status) internal {
        VM.store(address(adjudicator), keccak256(abi.encode(channelId, STATUSES)), bytes32(status));
        assert(adjudicator.statusOf(channelId) == status);
    }

    function _anyHoldings(bytes32 channelId, address asset) internal returns (uint256 holdings) {
        holdings = SVM.createUint256("holdings");
        bytes32 ofChannel = keccak256(abi.encode(channelId, HOLDINGS));
        VM.store(address(adjudicator), keccak256(abi.encode(asset, ofChannel)), bytes32(holdings));
        assert(_holdings(channelId, asset) == holdings);
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

    /// @dev The word as it is stored.
    function _holdings(bytes32 channelId, address asset) internal view returns (uint256) {
        (uint256 held, bool payoutBegun, bool closed) = adjudicator.holdingsOf(channelId, asset);
        return held | (payoutBegun ? 1 << 254 : 0) | (closed ? 1 << 255 : 0);
    }

    function _turnOf(uint256 status) internal pure returns (uint48) {
        return uint48(status >> 208);
    }

    function _endOf(uint256 status) internal pure returns (uint48) {
        return uint48(status >> 160);
    }

    function _isFinalized(uint256 status) internal view returns (bool) {
        return _endOf(status) != 0 && block.timestamp >= _endOf(status);
    }
}
