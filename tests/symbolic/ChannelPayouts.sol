// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Payouts} from "./Payouts.sol";
import {both, either, select} from "./World.sol";

/// @title A payout of which one payment goes to another channel
abstract contract ChannelPayouts is Payouts {
    /// @param word The word of the asset of the channel that is paid, before, and `late` the late one.
    struct Payee {
        bytes32 channelId;
        uint256 word;
        uint256 late;
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @dev One destination is another channel, the other somebody who may refuse.
    function _transferToChannel(uint256 index) internal returns (Payout memory payout, Payee memory payee) {
        _anyPayments(payout, true);
        payee.channelId = SVM.createBytes32("other channel");
        bytes32 channelId = SVM.createBytes32("channel");
        VM.assume(both(uint256(payee.channelId) >> 160 != 0, payee.channelId != channelId));
        payout.outcome[index].destination = payee.channelId;
        _before(payout, channelId);
        _someRecord(payout);
        payee.word = _anyWord(payee.channelId, ETHER);
        payee.late = _anyLate(payee.channelId, ETHER);
        _transfer(payout, new uint256[](0));
    }

    // ------------------------------------------------------------------------------------------------------ claims

    /// @dev What has been added to one of the words of the channel that is paid; the other one stays.
    function _requireArrived(Payee memory payee) internal view returns (uint256 arrived) {
        (uint256 word, uint256 late) = (_word(payee.channelId, ETHER), _late(payee.channelId, ETHER));
        bool recorded = _isRecorded(payee.word);
        assert(either(word == payee.word, both(!recorded, late == payee.late)));
        assert(either(late == payee.late, both(recorded, word == payee.word)));
        unchecked {
            arrived = select(recorded, late - payee.late, word - payee.word);
        }
    }

    /// @dev Whether a channel takes no such amount.
    function _isShut(Payee memory payee, uint256 amount) internal pure returns (bool) {
        uint256 held = select(_isRecorded(payee.word), payee.late, payee.word) & MAX_HELD;
        return either(either(payee.word & CLOSED != 0, _isFull(payee.word)), held + amount > MAX_HELD);
    }
}
