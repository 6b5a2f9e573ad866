// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, FixedPart, State} from "../../contracts/types/Channel.sol";
import {World, both, either} from "./World.sol";

/// @title Somebody who takes ether or refuses it
contract Recipient {
    bool private immutable _REFUSES;

    constructor(bool refuses) {
        _REFUSES = refuses;
    }

    receive() external payable {
        if (_REFUSES) revert();
    }
}

/// @title Each is paid what is due as far as the holdings reach, and nobody else is
contract PaymentProofs is World {
    /// @param amounts What each is owed by `outcome`.
    /// @param paid What each has been paid: what arrived and what was credited.
    /// @param left The holdings afterwards, as they are stored.
    /// @param spent What has left the adjudicator.
    /// @param later The status afterwards.
    /// @param turnNum What is concluded with.
    struct Payout {
        bytes32 channelId;
        bytes32 stateHash;
        Allocation[] outcome;
        uint256 status;
        uint256 holdings;
        uint256[2] amounts;
        bool done;
        uint256[2] paid;
        uint256 left;
        uint256 spent;
        uint256 later;
        uint48 turnNum;
    }

    // ---------------------------------------------------------------------------------------------------- transfer

    function check_transfer() public {
        Payout memory payout = _transfer(new uint256[](0));
        if (!payout.done) return;
        assert(_isFinalized(payout.status));
        _requirePaidInOrder(payout);
    }

    function check_transfer_twin() public {
        Payout memory payout = _transfer(new uint256[](0));
        if (payout.done) assert(payout.paid[0] == payout.amounts[0]);
    }

    /// @dev What is owed stays on record, with the turn and the end; what is settled is closed.
    function check_transfer_keeps_what_is_owed() public {
        Payout memory payout = _transfer(new uint256[](0));
        if (payout.done) _requireOwedKept(payout);
    }

    function check_transfer_keeps_what_is_owed_twin() public {
        Payout memory payout = _transfer(new uint256[](0));
        if (payout.done) assert(payout.later == 0);
    }

    /// @dev Only the second is asked for: what is due to the first before stays there for the first.
    function check_transfer_of_the_second() public {
        uint256[] memory second = new uint256[](1);
        second[0] = 1;
        Payout memory payout = _transfer(second);
        if (payout.done) _requireSecondPaid(payout);
    }

    function check_transfer_of_the_second_twin() public {
        uint256[] memory second = new uint256[](1);
        second[0] = 1;
        Payout memory payout = _transfer(second);
        if (payout.done) assert(payout.paid[1] == payout.amounts[1]);
    }

    function _transfer(uint256[] memory indices) private returns (Payout memory payout) {
        _anyPayments(payout, true);
        payout.stateHash = SVM.createBytes32("state");
        // What is recorded was found valid.
        VM.assume(payout.amounts[0] <= type(uint256).max - payout.amounts[1]);
        _before(payout, SVM.createBytes32("channel"));
        _pay(payout, abi.encodeCall(adjudicator.transfer, (payout.channelId, payout.stateHash, payout.outcome, indices)));
    }

    // ---------------------------------------------------------------------------------------------------- conclude

    /// @dev Where the holdings reach for all and both take what they are paid. Where they reach for the first and not for
    /// both the solver takes too long; that, and what is refused, is proved of `transfer`.
    function check_conclude_paid() public {
        _requireConcluded(_conclude());
    }

    function check_conclude_paid_twin() public {
        Payout memory payout = _conclude();
        if (payout.done) assert(payout.paid[0] == 0);
    }

    function _requireConcluded(Payout memory payout) private view {
        if (!payout.done) return;
        assert(!_isFinalized(payout.status));
        _requirePaidInOrder(payout);
    }

    function _conclude() private returns (Payout memory payout) {
        FixedPart memory fixedPart = _anyConclusion(payout);
        unchecked {
            uint256 total = payout.amounts[0] + payout.amounts[1];
            VM.assume(total >= payout.amounts[0]);
            VM.assume(total <= payout.holdings & MAX_HELD);
        }
        _pay(payout, abi.encodeCall(adjudicator.conclude, (fixedPart, payout.outcome, _anyTurn(), _anySignatures(2))));
    }

    // -------------------------------------------------------------------------------------------- conclude, in part

    /// @dev The holdings do not reach for the first: it gets all of them, and both are owed the rest.
    function check_conclude_short_of_the_first() public {
        Payout memory payout = _concludeInPart();
        _requireConcluded(payout);
        if (payout.done) _requireOwedFromNow(payout);
    }

    function check_conclude_short_of_the_first_twin() public {
        Payout memory payout = _concludeInPart();
        if (payout.done) assert(payout.paid[0] == 0);
    }

    function _concludeInPart() private returns (Payout memory payout) {
        FixedPart memory fixedPart = _anyConclusion(payout);
        VM.assume(payout.amounts[0] > payout.holdings & MAX_HELD);
        VM.assume(payout.amounts[0] <= type(uint256).max - payout.amounts[1]);
        uint48 turnNum = _anyTurn();
        payout.stateHash = adjudicator.stateHashOf(State(payout.channelId, payout.outcome, "", turnNum, true));
        _pay(payout, abi.encodeCall(adjudicator.conclude, (fixedPart, payout.outcome, turnNum, _anySignatures(2))));
        payout.turnNum = turnNum;
    }

    function _requireOwedFromNow(Payout memory payout) private view {
        uint48 recorded = _turnOf(payout.status);
        uint48 turnNum = payout.turnNum;
        bool turn = either(_turnOf(payout.later) == turnNum, _turnOf(payout.later) == recorded);
        bool never = both(_turnOf(payout.later) >= turnNum, _turnOf(payout.later) >= recorded);
        assert(both(both(turn, never), _endOf(payout.later) == uint48(block.timestamp)));
        assert(payout.left & CLOSED == 0);
        for (uint256 i = 0; i < 2; ++i) {
            payout.outcome[i].amount -= payout.paid[i];
        }
        assert(uint160(payout.later) == _fingerprint(payout.stateHash, payout.outcome));
    }

    function _anyConclusion(Payout memory payout) private returns (FixedPart memory fixedPart) {
        fixedPart = _anyFixedPart(SVM.createAddress("app"));
        _anyPayments(payout, false);
        _before(payout, adjudicator.channelIdOf(fixedPart));
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _anyPayments(Payout memory payout, bool mayRefuse) private {
        payout.outcome = _anyOutcome(ETHER);
        for (uint256 i = 0; i < 2; ++i) {
            Recipient recipient = new Recipient(mayRefuse ? SVM.createBool("refuses") : false);
            payout.outcome[i].destination = bytes32(uint256(uint160(address(recipient))));
            payout.amounts[i] = payout.outcome[i].amount;
        }
    }

    function _before(Payout memory payout, bytes32 channelId) private {
        payout.channelId = channelId;
        _anyTime();
        payout.status = _anyStatus(channelId);
        payout.holdings = _anyHoldings(channelId, ETHER);
        payout.spent = SVM.createUint(96, "balance");
        VM.deal(address(adjudicator), payout.spent);
        // What is held is there.
        VM.assume(payout.holdings & MAX_HELD <= payout.spent);
    }

    function _pay(Payout memory payout, bytes memory call) private {
        (payout.done,) = address(adjudicator).call(call);
        payout.spent -= address(adjudicator).balance;
        payout.left = _holdings(payout.channelId, ETHER);
        payout.later = _status(payout.channelId);
        for (uint256 i = 0; i < 2; ++i) {
            address recipient = address(uint160(uint256(payout.outcome[i].destination)));
            payout.paid[i] = recipient.balance + _credit(recipient, ETHER);
        }
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requirePaidInOrder(Payout memory payout) private pure {
        uint256 held = payout.holdings & MAX_HELD;
        unchecked {
            bool first = payout.paid[0] == _least(payout.amounts[0], held);
            bool second = payout.paid[1] == _least(payout.amounts[1], held - payout.paid[0]);
            bool taken = payout.left & MAX_HELD == held - payout.paid[0] - payout.paid[1];
            bool open = payout.holdings & CLOSED == 0;
            bool noMoreSpent = payout.spent <= payout.paid[0] + payout.paid[1];
            assert(both(both(first, second), both(both(taken, open), noMoreSpent)));
        }
    }

    function _requireSecondPaid(Payout memory payout) private pure {
        uint256 held = payout.holdings & MAX_HELD;
        unchecked {
            uint256 due = _least(payout.amounts[1], held - _least(payout.amounts[0], held));
            bool paid = both(payout.paid[0] == 0, payout.paid[1] == due);
            assert(both(paid, payout.left & MAX_HELD == held - due));
        }
    }

    /// @dev Without a jump.
    function _least(uint256 one, uint256 other) private pure returns (uint256 least) {
        assembly ("memory-safe") {
            least := xor(other, and(xor(one, other), sub(0, lt(one, other))))
        }
    }

    function _requireOwedKept(Payout memory payout) private pure {
        Allocation[] memory outcome = payout.outcome;
        assert(uint160(payout.status) == _fingerprint(payout.stateHash, outcome));
        bool settled = true;
        for (uint256 i = 0; i < 2; ++i) {
            outcome[i].amount -= payout.paid[i];
            settled = both(settled, outcome[i].amount == 0);
        }
        if (settled) {
            assert(both(payout.later == 0, payout.left & CLOSED != 0));
        } else {
            assert(both(payout.later >> 160 == payout.status >> 160, payout.left & CLOSED == 0));
            assert(uint160(payout.later) == _fingerprint(payout.stateHash, outcome));
        }
    }
}
