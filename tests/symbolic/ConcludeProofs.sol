// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FixedPart, State} from "../../contracts/types/Channel.sol";
import {both, either} from "./World.sol";
import {Payouts} from "./Payouts.sol";

/// @title A conclusion pays each what is due as far as the holdings reach, and records what is owed
/// @dev In three cases, which are all there are: the holdings reach for both, for the first and not for both, and not for
/// the first. As one the solver takes too long.
contract ConcludeProofs is Payouts {
    /// @dev The holdings reach for both: the channel is closed.
    function check_conclude_paid() public {
        (Payout memory payout,) = _concludePaid();
        _requireConcluded(payout);
        if (payout.done) assert(_isClosedForGood(payout));
    }

    function check_conclude_paid_twin() public {
        (Payout memory payout,) = _concludePaid();
        if (payout.done) assert(payout.paid[0] == 0);
    }

    /// @dev The holdings reach for the first and not for both: the second gets what is left, and is owed the rest.
    function check_conclude_short_of_the_second() public {
        (Payout memory payout, uint48 turnNum) = _concludeShortOfTheSecond();
        _requireConcluded(payout);
        if (payout.done) _requireOwedFromNow(payout, turnNum);
    }

    function check_conclude_short_of_the_second_twin() public {
        (Payout memory payout,) = _concludeShortOfTheSecond();
        if (payout.done) assert(payout.paid[1] == 0);
    }

    /// @dev The holdings do not reach for the first: it gets all of them, and both are owed the rest.
    function check_conclude_short_of_the_first() public {
        (Payout memory payout, uint48 turnNum) = _concludeShortOfTheFirst();
        _requireConcluded(payout);
        if (payout.done) _requireOwedFromNow(payout, turnNum);
    }

    function check_conclude_short_of_the_first_twin() public {
        (Payout memory payout,) = _concludeShortOfTheFirst();
        if (payout.done) assert(payout.paid[0] == 0);
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _concludePaid() private returns (Payout memory payout, uint48 turnNum) {
        FixedPart memory fixedPart = _anyConclusion(payout, true);
        unchecked {
            uint256 total = payout.amounts[0] + payout.amounts[1];
            VM.assume(total >= payout.amounts[0]);
            VM.assume(total <= payout.held);
        }
        turnNum = _conclude(payout, fixedPart);
    }

    function _concludeShortOfTheSecond() private returns (Payout memory payout, uint48 turnNum) {
        FixedPart memory fixedPart = _anyConclusion(payout, false);
        VM.assume(payout.amounts[0] <= payout.held);
        unchecked {
            VM.assume(payout.amounts[1] > payout.held - payout.amounts[0]);
        }
        VM.assume(payout.amounts[0] <= type(uint256).max - payout.amounts[1]);
        turnNum = _conclude(payout, fixedPart);
    }

    function _concludeShortOfTheFirst() private returns (Payout memory payout, uint48 turnNum) {
        FixedPart memory fixedPart = _anyConclusion(payout, false);
        VM.assume(payout.amounts[0] > payout.held);
        VM.assume(payout.amounts[0] <= type(uint256).max - payout.amounts[1]);
        turnNum = _conclude(payout, fixedPart);
    }

    /// @dev A channel is full whose holdings reach for both; any other may be funded with what is not there yet.
    function _anyConclusion(Payout memory payout, bool mayBeFull) private returns (FixedPart memory fixedPart) {
        fixedPart = _anyFixedPart(SVM.createAddress("app"));
        _anyPayments(payout, false);
        _anyHeld(payout, fixedPart, mayBeFull);
    }

    function _conclude(Payout memory payout, FixedPart memory fixedPart) private returns (uint48 turnNum) {
        turnNum = _anyTurn();
        payout.stateHash = adjudicator.stateHashOf(State(payout.channelId, payout.outcome, "", "", turnNum, true));
        _pay(payout, _conclusion(fixedPart, payout, turnNum));
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requireConcluded(Payout memory payout) private view {
        if (!payout.done) return;
        assert(!_isFinalized(payout.word));
        _requirePaidInOrder(payout);
    }

    function _requireOwedFromNow(Payout memory payout, uint48 turnNum) private view {
        uint48 recorded = _turnOf(payout.word);
        bool turn = either(_turnOf(payout.laterWord) == turnNum, _turnOf(payout.laterWord) == recorded);
        bool never = both(_turnOf(payout.laterWord) >= turnNum, _turnOf(payout.laterWord) >= recorded);
        for (uint256 i = 0; i < 2; ++i) {
            payout.outcome[i].amount -= payout.paid[i];
        }
        bool owed = _fingerprintIn(payout.laterWord) == _fingerprint(payout.stateHash, payout.outcome);
        bool fromNow = both(_endOf(payout.laterWord) == uint48(block.timestamp), _isBegun(payout));
        assert(both(both(turn, never), both(owed, fromNow)));
    }
}
