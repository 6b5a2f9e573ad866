// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, FixedPart} from "../../contracts/types/Channel.sol";
import {Payouts} from "./Payouts.sol";
import {Token} from "./Token.sol";
import {both} from "./World.sol";

/// @title A transfer pays in a token as in ether, and in two assets each by itself
contract TokenProofs is Payouts {
    /// @param paid What each has been paid of its asset: what arrived and what was credited.
    /// @param left The holdings of each asset afterwards, as they are stored.
    struct Split {
        bytes32 channelId;
        bytes32 stateHash;
        Allocation[] outcome;
        uint256 status;
        uint256[2] holdings;
        uint256[2] held;
        bool done;
        uint256[2] paid;
        uint256[2] left;
        uint256 later;
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function check_transfer_of_a_token() public {
        Payout memory payout = _transferToken();
        if (!payout.done) return;
        assert(_isFinalized(payout.status));
        _requirePaidInOrder(payout);
    }

    function check_transfer_of_a_token_twin() public {
        Payout memory payout = _transferToken();
        if (payout.done) assert(payout.paid[1] == payout.amounts[1]);
    }

    /// @dev The holdings reach for both.
    function check_conclude_in_a_token() public {
        Payout memory payout = _concludeToken();
        if (!payout.done) return;
        _requirePaidInOrder(payout);
        assert(both(payout.later == 0, payout.left & CLOSED != 0));
    }

    function check_conclude_in_a_token_twin() public {
        Payout memory payout = _concludeToken();
        if (payout.done) assert(payout.paid[0] == 0);
    }

    /// @dev What is held of one asset pays nothing that is owed in the other.
    function check_transfer_of_two_assets() public {
        Split memory split = _transferSplit(new uint256[](0));
        if (!split.done) return;
        assert(_isFinalized(split.status));
        _requireEachPaid(split, _due(split, 0), _due(split, 1));
    }

    function check_transfer_of_two_assets_twin() public {
        Split memory split = _transferSplit(new uint256[](0));
        if (split.done) assert(split.paid[1] == split.outcome[1].amount);
    }

    /// @dev Only the token is asked for: the ether stays.
    function check_transfer_of_one_of_two_assets() public {
        uint256[] memory second = new uint256[](1);
        second[0] = 1;
        Split memory split = _transferSplit(second);
        if (split.done) _requireEachPaid(split, 0, _due(split, 1));
    }

    function check_transfer_of_one_of_two_assets_twin() public {
        uint256[] memory second = new uint256[](1);
        second[0] = 1;
        Split memory split = _transferSplit(second);
        if (split.done) assert(split.left[0] == split.holdings[0]);
    }

    function _due(Split memory split, uint256 i) private pure returns (uint256) {
        return _least(split.outcome[i].amount, split.held[i]);
    }

    /// @dev What is still owed stays on record, and the channel is closed in both assets as soon as nothing is.
    function _requireEachPaid(Split memory split, uint256 first, uint256 second) private pure {
        Allocation[] memory outcome = split.outcome;
        unchecked {
            bool one = both(split.paid[0] == first, split.left[0] & MAX_HELD == split.held[0] - first);
            bool other = both(split.paid[1] == second, split.left[1] & MAX_HELD == split.held[1] - second);
            assert(both(one, other));
        }
        (outcome[0].amount, outcome[1].amount) = (outcome[0].amount - first, outcome[1].amount - second);
        if (both(outcome[0].amount == 0, outcome[1].amount == 0)) {
            assert(split.later == 0 && split.left[0] & split.left[1] & CLOSED != 0);
        } else {
            bool open = (split.left[0] | split.left[1]) & CLOSED == 0;
            bool sameEnd = split.later >> 160 == split.status >> 160;
            bool owed = uint160(split.later) == _fingerprint(split.stateHash, outcome);
            assert(both(owed, both(open, sameEnd)));
        }
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _transferToken() private returns (Payout memory payout) {
        _anyTokenPayments(payout);
        _before(payout, SVM.createBytes32("channel"));
        Token(payout.asset).mint(address(adjudicator), ALL_ETHER);
        _transfer(payout, new uint256[](0));
    }

    function _concludeToken() private returns (Payout memory payout) {
        FixedPart memory fixedPart = _anyFixedPart(SVM.createAddress("app"));
        _anyTokenPayments(payout);
        _before(payout, adjudicator.channelIdOf(fixedPart));
        Token(payout.asset).mint(address(adjudicator), ALL_ETHER);
        unchecked {
            uint256 total = payout.amounts[0] + payout.amounts[1];
            VM.assume(total >= payout.amounts[0]);
            VM.assume(total <= payout.held);
        }
        bytes memory call =
            abi.encodeCall(adjudicator.conclude, (fixedPart, payout.outcome, _anyTurn(), _anySignatures(2)));
        _pay(payout, call);
    }

    function _anyTokenPayments(Payout memory payout) private {
        Token token = new Token(SVM.createBool("silent"));
        payout.asset = address(token);
        payout.outcome = _anyOutcome(payout.asset);
        for (uint256 i = 0; i < 2; ++i) {
            payout.outcome[i].destination = bytes32(uint256(uint160(_tokenRecipient(token, i))));
            payout.amounts[i] = payout.outcome[i].amount;
        }
    }

    function _transferSplit(uint256[] memory indices) private returns (Split memory split) {
        Token token = new Token(false);
        split.outcome = _anyOutcome(ETHER);
        split.outcome[1].asset = address(token);
        address[2] memory recipients = [_etherRecipient(true), _tokenRecipient(token, 1)];
        split.channelId = SVM.createBytes32("channel");
        split.stateHash = SVM.createBytes32("state");
        _anyTime();
        split.status = _anyStatus(split.channelId);
        for (uint256 i = 0; i < 2; ++i) {
            split.outcome[i].destination = bytes32(uint256(uint160(recipients[i])));
            (split.holdings[i], split.held[i]) = _someHoldings(split.channelId, split.outcome[i].asset);
        }
        VM.deal(address(adjudicator), ALL_ETHER);
        token.mint(address(adjudicator), ALL_ETHER);
        bytes memory call =
            abi.encodeCall(adjudicator.transfer, (split.channelId, split.stateHash, split.outcome, indices));
        (split.done,) = address(adjudicator).call(call);
        if (!split.done) return split;
        split.later = _status(split.channelId);
        for (uint256 i = 0; i < 2; ++i) {
            split.left[i] = _holdings(split.channelId, split.outcome[i].asset);
            split.paid[i] = _paid(recipients[i], split.outcome[i].asset);
        }
    }

    function _tokenRecipient(Token token, uint256 i) private returns (address recipient) {
        recipient = address(uint160(0xc0ffee + i));
        token.refuse(recipient, SVM.createBool("refused"));
    }
}
