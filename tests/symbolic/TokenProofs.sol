// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, FixedPart} from "../../contracts/types/Channel.sol";
import {Payouts} from "./Payouts.sol";
import {Token} from "./Token.sol";
import {both, select} from "./World.sol";

/// @title A transfer pays in a token as in ether, and in two assets each by itself
contract TokenProofs is Payouts {
    /// @dev The first of the assets, ether, is the home asset.
    /// @param record What happens in the home asset alone.
    /// @param held What is held of each, and `paid` what each has been paid: what arrived and what was credited.
    /// @param left What is held of each afterwards.
    /// @param laterWord What is stored of the other asset afterwards.
    struct Split {
        Payout record;
        uint256[2] held;
        uint256[2] paid;
        uint256[2] left;
        uint256 laterWord;
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function check_transfer_of_a_token() public {
        Payout memory payout = _transferToken();
        if (!payout.done) return;
        assert(_isFinalized(payout.word));
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
        assert(_isClosedForGood(payout));
    }

    function check_conclude_in_a_token_twin() public {
        Payout memory payout = _concludeToken();
        if (payout.done) assert(payout.paid[0] == 0);
    }

    /// @dev What is held of one asset pays nothing that is owed in the other.
    function check_transfer_of_two_assets() public {
        Split memory split = _transferSplit(new uint256[](0));
        if (!split.record.done) return;
        assert(_isFinalized(split.record.word));
        _requireEachPaid(split, _due(split, 0), _due(split, 1));
    }

    function check_transfer_of_two_assets_twin() public {
        Split memory split = _transferSplit(new uint256[](0));
        if (split.record.done) assert(split.paid[1] == split.record.outcome[1].amount);
    }

    /// @dev Only the token is asked for: the ether stays.
    function check_transfer_of_one_of_two_assets() public {
        uint256[] memory second = new uint256[](1);
        second[0] = 1;
        Split memory split = _transferSplit(second);
        if (split.record.done) _requireEachPaid(split, 0, _due(split, 1));
    }

    function check_transfer_of_one_of_two_assets_twin() public {
        uint256[] memory second = new uint256[](1);
        second[0] = 1;
        Split memory split = _transferSplit(second);
        if (split.record.done) assert(split.left[0] == split.held[0]);
    }

    function _due(Split memory split, uint256 i) private pure returns (uint256) {
        return _least(split.record.outcome[i].amount, split.held[i]);
    }

    /// @dev What is still owed stays on record, and the channel is closed in both assets as soon as nothing is; what is
    /// over of each goes with it.
    function _requireEachPaid(Split memory split, uint256 first, uint256 second) private pure {
        Payout memory record = split.record;
        (record.outcome[0].amount, record.outcome[1].amount) =
            (record.outcome[0].amount - first, record.outcome[1].amount - second);
        bool settled = both(record.outcome[0].amount == 0, record.outcome[1].amount == 0);
        _requireOnePaid(split, 0, first, settled);
        _requireOnePaid(split, 1, second, settled);
        if (settled) {
            assert(both(_isClosedForGood(record), split.laterWord == CLOSED));
        } else {
            bool open = both(_isBegun(record), split.laterWord & CLOSED == 0);
            bool owed = _fingerprintIn(record.laterWord) == _fingerprint(record.stateHash, record.outcome);
            assert(both(owed, both(open, _isSameEnd(record.word, record.laterWord))));
        }
    }

    function _requireOnePaid(Split memory split, uint256 i, uint256 due, bool settled) private pure {
        unchecked {
            uint256 rest = split.held[i] - due;
            uint256 over = select(settled, rest, 0);
            assert(both(split.paid[i] == due + over, split.left[i] == rest - over));
        }
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _transferToken() private returns (Payout memory payout) {
        _anyTokenPayments(payout);
        _before(payout, SVM.createBytes32("channel"));
        _someRecord(payout);
        Token(payout.asset).mint(address(adjudicator), ALL_ETHER);
        _transfer(payout, new uint256[](0));
    }

    function _concludeToken() private returns (Payout memory payout) {
        FixedPart memory fixedPart = _anyFixedPart(SVM.createAddress("app"));
        _anyTokenPayments(payout);
        fixedPart.asset = payout.asset;
        _anyHeld(payout, fixedPart, true);
        Token(payout.asset).mint(address(adjudicator), ALL_ETHER);
        unchecked {
            uint256 total = payout.amounts[0] + payout.amounts[1];
            VM.assume(total >= payout.amounts[0]);
            VM.assume(total <= payout.held);
        }
        _pay(payout, _conclusion(fixedPart, payout, _anyTurn()));
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
        (Payout memory record, Token token) = (split.record, new Token(false));
        record.outcome = _anyOutcome(ETHER);
        record.outcome[1].asset = address(token);
        address[2] memory recipients = [_etherRecipient(true), _tokenRecipient(token, 1)];
        for (uint256 i = 0; i < 2; ++i) {
            record.outcome[i].destination = bytes32(uint256(uint160(recipients[i])));
        }
        record.amounts[0] = record.outcome[0].amount;
        _before(record, SVM.createBytes32("channel"));
        _someRecordOf(record, 1);
        uint256 word;
        (word, split.held[1]) = _someHeld();
        split.held[0] = record.held;
        _storeWord(record.channelId, address(token), word);
        token.mint(address(adjudicator), ALL_ETHER);
        _transfer(record, indices);
        if (!record.done) return split;
        split.laterWord = _word(record.channelId, address(token));
        split.left = [record.left, split.laterWord & MAX_HELD];
        split.paid = [record.paid[0], _paid(recipients[1], address(token))];
    }

    function _tokenRecipient(Token token, uint256 i) private returns (address recipient) {
        recipient = address(uint160(0xc0ffee + i));
        token.refuse(recipient, SVM.createBool("refused"));
    }
}
