// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";
import {World, both, either, select} from "./World.sol";

/// @title A deposit adds exactly what arrives, and never to what has begun to pay
contract DepositProofs is World {
    /// @param word The word of the asset before, and `late` the late one.
    /// @param arrived What the adjudicator has afterwards and had not before.
    struct Deposit {
        bytes32 channelId;
        address asset;
        uint256 word;
        uint256 late;
        uint256 expectedHeld;
        uint256 amount;
        bool done;
        uint256 laterWord;
        uint256 laterLate;
        uint256 arrived;
    }

    function check_deposit() public {
        Deposit memory deposit = _deposit();
        _requireAdded(deposit);
        if (deposit.done) assert(both(deposit.arrived != 0, deposit.arrived <= deposit.amount));
        else assert(deposit.arrived == 0);
    }

    function check_deposit_twin() public {
        Deposit memory deposit = _deposit();
        if (deposit.done) assert(deposit.arrived == deposit.amount);
    }

    function check_deposit_of_a_token() public {
        _requireAdded(_depositToken());
    }

    function check_deposit_of_a_token_twin() public {
        Deposit memory deposit = _depositToken();
        if (deposit.done) assert(deposit.arrived <= deposit.amount);
    }

    /// @dev A channel that is full takes nothing.
    function check_deposit_into_a_full_channel() public {
        Deposit memory deposit = _deposit();
        if (_isFull(deposit.word)) assert(!deposit.done);
    }

    function check_deposit_into_a_full_channel_twin() public {
        Deposit memory deposit = _deposit();
        if (_isRecorded(deposit.word)) assert(!deposit.done);
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @dev What the adjudicator has of the token before is no more than fits with what arrives.
    function _depositToken() private returns (Deposit memory deposit) {
        Token token = new Token(SVM.createBool("silent"));
        deposit.arrived = SVM.createUint256("delivered");
        token.deliver(deposit.arrived);
        uint256 balance = SVM.createUint256("balance");
        VM.assume(balance <= type(uint256).max - deposit.arrived);
        token.mint(address(adjudicator), balance);
        deposit.channelId = SVM.createBytes32("channel");
        deposit.asset = address(token);
        _before(deposit);
        deposit.expectedHeld = SVM.createUint256("expected");
        deposit.amount = SVM.createUint256("amount");
        bytes memory call = abi.encodeCall(
            adjudicator.deposit, (deposit.channelId, address(token), deposit.expectedHeld, deposit.amount)
        );
        (deposit.done,) = address(adjudicator).call(call);
        _after(deposit);
    }

    function _deposit() private returns (Deposit memory deposit) {
        deposit.channelId = SVM.createBytes32("channel");
        _before(deposit);
        deposit.expectedHeld = SVM.createUint256("expected");
        deposit.amount = SVM.createUint256("amount");
        uint256 balance = SVM.createUint(96, "balance");
        VM.deal(address(adjudicator), balance);
        // What is held is there; an amount with more bits than all ether has would reach the flags.
        VM.assume(_received(deposit.word, deposit.late) & MAX_HELD <= balance);
        _send(deposit);
        _after(deposit);
        deposit.arrived = address(adjudicator).balance - balance;
    }

    function _send(Deposit memory deposit) private {
        uint256 value = SVM.createUint(96, "value");
        VM.deal(address(this), value);
        bytes memory call =
            abi.encodeCall(adjudicator.deposit, (deposit.channelId, ETHER, deposit.expectedHeld, deposit.amount));
        (deposit.done,) = address(adjudicator).call{value: value}(call);
    }

    function _before(Deposit memory deposit) private {
        deposit.word = _anyWord(deposit.channelId, deposit.asset);
        deposit.late = _anyLate(deposit.channelId, deposit.asset);
    }

    function _after(Deposit memory deposit) private view {
        deposit.laterWord = _word(deposit.channelId, deposit.asset);
        deposit.laterLate = _late(deposit.channelId, deposit.asset);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    /// @dev What arrives is added to one of the words, and the other one stays: beside a record, the record.
    function _requireAdded(Deposit memory deposit) private pure {
        uint256 before = _received(deposit.word, deposit.late);
        uint256 later = select(_isRecorded(deposit.word), deposit.laterLate, deposit.laterWord);
        bool same = both(deposit.laterWord == deposit.word, deposit.laterLate == deposit.late);
        bool recordStays = either(!_isRecorded(deposit.word), deposit.laterWord == deposit.word);
        bool lateStays = either(_isRecorded(deposit.word), deposit.laterLate == deposit.late);
        assert(both(recordStays, lateStays));
        if (deposit.done) {
            assert(both(!_isFull(deposit.word), deposit.word & CLOSED == 0));
            assert(both(before <= MAX_HELD, later <= MAX_HELD));
            unchecked {
                assert(both(later >= before, later - before == deposit.arrived));
            }
            assert(before >= deposit.expectedHeld);
        } else {
            assert(same);
        }
    }

    /// @dev The word that a deposit goes to.
    function _received(uint256 word, uint256 late) private pure returns (uint256) {
        return select(_isRecorded(word), late, word);
    }

    /// @dev Takes back what somebody else has paid in already.
    receive() external payable {}
}
