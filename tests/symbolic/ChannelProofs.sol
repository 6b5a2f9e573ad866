// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ChannelPayouts} from "./ChannelPayouts.sol";
import {select} from "./World.sol";

/// @title A transfer to another channel adds to what that one holds, or leaves the payment owed
contract ChannelProofs is ChannelPayouts {
    function check_transfer_to_a_channel() public {
        (Payout memory payout, Payee memory payee) = _transferToChannel(0);
        if (!payout.done) return;
        payout.paid[0] = _requireArrived(payee);
        _requirePaidUnlessShut(payout, payee);
    }

    function check_transfer_to_a_channel_twin() public {
        (Payout memory payout, Payee memory payee) = _transferToChannel(0);
        if (payout.done) assert(_requireArrived(payee) == 0);
    }

    /// @dev Nothing is added to a channel that is closed or full; what is due to it is kept back all the same.
    function _requirePaidUnlessShut(Payout memory payout, Payee memory payee) private pure {
        uint256 due = _least(payout.amounts[0], payout.held);
        unchecked {
            uint256 second = _least(payout.amounts[1], payout.held - due);
            _requirePaid(payout, select(_isShut(payee, due), 0, due), second);
        }
    }
}
