// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";
import {World, both} from "./World.sol";

/// @title A deposit adds exactly what arrives, and never to what has begun to pay
contract DepositProofs is World {
    /// @param arrived What the adjudicator has afterwards and had not before.
    struct Deposit {
        bytes32 channelId;
        uint256 before;
        uint256 expectedHeld;
        uint256 amount;
        bool done;
        uint256 later;
        uint256 arrived;
    }

    function check_deposit() public {
        Deposit memory deposit = _deposit();
        if (deposit.done) {
            assert(both(deposit.before <= MAX_HELD, deposit.later <= MAX_HELD));
            assert(both(deposit.arrived != 0, deposit.later == deposit.before + deposit.arrived));
            assert(both(deposit.before >= deposit.expectedHeld, deposit.arrived <= deposit.amount));
        } else {
            assert(both(deposit.later == deposit.before, deposit.arrived == 0));
        }
    }

    function check_deposit_twin() public {
        Deposit memory deposit = _deposit();
        if (deposit.done) assert(deposit.arrived == deposit.amount);
    }

    function check_deposit_of_a_token() public {
        Deposit memory deposit = _depositToken();
        if (!deposit.done) return;
        assert(both(deposit.before <= MAX_HELD, deposit.later <= MAX_HELD));
        unchecked {
            assert(both(deposit.later >= deposit.before, deposit.later - deposit.before == deposit.arrived));
        }
        assert(deposit.before >= deposit.expectedHeld);
    }

    function check_deposit_of_a_token_twin() public {
        Deposit memory deposit = _depositToken();
        if (deposit.done) assert(deposit.arrived <= deposit.amount);
    }

    /// @dev What the adjudicator has of the token before is no more than fits with what arrives.
    function _depositToken() private returns (Deposit memory deposit) {
        Token token = new Token(SVM.createBool("silent"));
        deposit.arrived = SVM.createUint256("delivered");
        token.deliver(deposit.arrived);
        uint256 balance = SVM.createUint256("balance");
        VM.assume(balance <= type(uint256).max - deposit.arrived);
        token.mint(address(adjudicator), balance);
        deposit.channelId = SVM.createBytes32("channel");
        deposit.before = _anyHoldings(deposit.channelId, address(token));
        deposit.expectedHeld = SVM.createUint256("expected");
        deposit.amount = SVM.createUint256("amount");
        bytes memory call = abi.encodeCall(
            adjudicator.deposit, (deposit.channelId, address(token), deposit.expectedHeld, deposit.amount)
        );
        (deposit.done,) = address(adjudicator).call(call);
        deposit.later = _holdings(deposit.channelId, address(token));
    }

    function _deposit() private returns (Deposit memory deposit) {
        deposit.channelId = SVM.createBytes32("channel");
        deposit.before = _anyHoldings(deposit.channelId, ETHER);
        deposit.expectedHeld = SVM.createUint256("expected");
        deposit.amount = SVM.createUint256("amount");
        uint256 balance = SVM.createUint(96, "balance");
        VM.deal(address(adjudicator), balance);
        // What is held is there; an amount with more bits than all ether has would reach the flags.
        VM.assume(deposit.before & MAX_HELD <= balance);
        _send(deposit);
        deposit.later = _holdings(deposit.channelId, ETHER);
        deposit.arrived = address(adjudicator).balance - balance;
    }

    function _send(Deposit memory deposit) private {
        uint256 value = SVM.createUint(96, "value");
        VM.deal(address(this), value);
        bytes memory call =
            abi.encodeCall(adjudicator.deposit, (deposit.channelId, ETHER, deposit.expectedHeld, deposit.amount));
        (deposit.done,) = address(adjudicator).call{value: value}(call);
    }

    /// @dev Takes back what somebody else has paid in already.
    receive() external payable {}
}
