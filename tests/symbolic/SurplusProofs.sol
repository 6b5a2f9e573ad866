// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ChannelPayouts} from "./ChannelPayouts.sol";
import {both, either, implies} from "./World.sol";

/// @title What is held beyond the outcome goes with the last payment, also where that goes to another channel
contract SurplusProofs is ChannelPayouts {
    /// @dev What is over goes to it, too, or is stuck where it takes no more: nothing is lost.
    function check_transfer_to_a_channel_in_the_end() public {
        (Payout memory payout, Payee memory payee) = _transferToChannel(1);
        if (!payout.done) return;
        uint256 arrived = _requireArrived(payee);
        unchecked {
            assert(payout.paid[0] == _least(payout.amounts[0], payout.held));
            assert(payout.held == payout.paid[0] + arrived + payout.left);
            uint256 due = _least(payout.amounts[1], payout.held - payout.paid[0]);
            assert(either(arrived >= due, _isShut(payee, due)));
            bool closed = payout.laterWord & CLOSED != 0;
            bool over = both(closed, payout.left != 0);
            assert(implies(closed, both(payout.laterWord == CLOSED | payout.left, payout.laterLate == 0)));
            assert(implies(over, _isShut(payee, arrived + payout.left)));
        }
    }

    function check_transfer_to_a_channel_in_the_end_twin() public {
        (Payout memory payout,) = _transferToChannel(1);
        if (payout.done) assert(payout.laterWord & CLOSED == 0 || payout.left == 0);
    }
}
