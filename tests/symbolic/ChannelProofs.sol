// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Payouts} from "./Payouts.sol";
import {both, either} from "./World.sol";

/// @title A transfer to another channel adds to what that one holds, or leaves the payment owed
contract ChannelProofs is Payouts {
    function check_transfer_to_a_channel() public {
        (Payout memory payout, uint256 before) = _transferToChannel();
        if (payout.done) _requireArrived(payout, before);
    }

    function check_transfer_to_a_channel_twin() public {
        (Payout memory payout, uint256 before) = _transferToChannel();
        if (payout.done) assert(payout.paid[0] == before);
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @dev The first destination is another channel, the second somebody who may refuse. What the other channel held is
    /// any word; `paid[0]` is its word afterwards.
    function _transferToChannel() private returns (Payout memory payout, uint256 before) {
        _anyPayments(payout, true);
        bytes32 other = SVM.createBytes32("other channel");
        bytes32 channelId = SVM.createBytes32("channel");
        VM.assume(both(uint256(other) >> 160 != 0, other != channelId));
        payout.outcome[0].destination = other;
        _before(payout, channelId);
        before = _anyHoldings(other, ETHER);
        _transfer(payout, new uint256[](0));
        if (payout.done) payout.paid[0] = _holdings(other, ETHER);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    /// @dev Nothing is added to a channel that is closed or full; what is due to it is kept back all the same.
    function _requireArrived(Payout memory payout, uint256 before) private pure {
        uint256 due = _least(payout.amounts[0], payout.held);
        unchecked {
            uint256 rest = payout.held - due;
            bool shut = either(before & CLOSED != 0, (before & MAX_HELD) + due > MAX_HELD);
            uint256 arrived = shut ? 0 : due;
            uint256 second = _least(payout.amounts[1], rest);
            bool paid = both(payout.paid[0] == before + arrived, payout.paid[1] == second);
            bool taken = payout.left & MAX_HELD == payout.held - arrived - second;
            assert(both(both(paid, taken), payout.spent <= second));
        }
    }
}
