// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation} from "../../contracts/types/Channel.sol";
import {both} from "./World.sol";
import {Payouts} from "./Payouts.sol";

/// @title A transfer pays each what is due as far as the holdings reach, and nobody else
contract TransferProofs is Payouts {
    /// @dev What a transfer has nothing to do with, and what is stored of it before.
    struct Bystanders {
        bytes32 channelId;
        address asset;
        address account;
        uint256 word;
        uint256 late;
        uint256 wordOfAsset;
        uint256 credit;
        uint256 creditOfPayee;
    }

    function check_transfer() public {
        Payout memory payout = _transferEther(new uint256[](0));
        if (!payout.done) return;
        assert(_isFinalized(payout.word));
        _requirePaidInOrder(payout);
    }

    function check_transfer_twin() public {
        Payout memory payout = _transferEther(new uint256[](0));
        if (payout.done) assert(payout.paid[0] == payout.amounts[0]);
    }

    /// @dev What is owed stays on record, with the turn and the end; what is settled is closed.
    function check_transfer_keeps_what_is_owed() public {
        Payout memory payout = _transferEther(new uint256[](0));
        if (payout.done) _requireOwedKept(payout);
    }

    function check_transfer_keeps_what_is_owed_twin() public {
        Payout memory payout = _transferEther(new uint256[](0));
        if (payout.done) assert(payout.laterWord == CLOSED);
    }

    /// @dev Only the first is asked for: what is due to the second stays there.
    function check_transfer_of_the_first() public {
        Payout memory payout = _transferEther(_one(0));
        if (!payout.done) return;
        _requirePaid(payout, _least(payout.amounts[0], payout.held), 0);
        _requireOwedKept(payout);
    }

    function check_transfer_of_the_first_twin() public {
        Payout memory payout = _transferEther(_one(0));
        if (payout.done) assert(payout.paid[0] == payout.amounts[0]);
    }

    /// @dev Only the second is asked for: what is due to the first before stays there for the first.
    function check_transfer_of_the_second() public {
        Payout memory payout = _transferEther(_one(1));
        if (!payout.done) return;
        unchecked {
            uint256 available = payout.held - _least(payout.amounts[0], payout.held);
            _requirePaid(payout, 0, _least(payout.amounts[1], available));
        }
        _requireOwedKept(payout);
    }

    function check_transfer_of_the_second_twin() public {
        Payout memory payout = _transferEther(_one(1));
        if (payout.done) assert(payout.paid[1] == payout.amounts[1]);
    }

    /// @dev To ask for each is to ask for all.
    function check_transfer_of_each() public {
        Payout memory payout = _transferEther(_two(0, 1));
        if (!payout.done) return;
        _requirePaidInOrder(payout);
        _requireOwedKept(payout);
    }

    function check_transfer_of_each_twin() public {
        Payout memory payout = _transferEther(_two(0, 1));
        if (payout.done) assert(payout.paid[0] == payout.amounts[0]);
    }

    /// @dev One that is not there is refused, and so is one that does not rise.
    function check_transfer_refuses_indices() public {
        uint256 index = SVM.createUint(8, "index");
        VM.assume(index > 1);
        assert(!_transferEther(_one(index)).done);
        assert(!_transferEther(_two(1, 0)).done);
        assert(!_transferEther(_two(1, 1)).done);
    }

    function check_transfer_refuses_indices_twin() public {
        assert(!_transferEther(_two(0, 1)).done);
    }

    /// @dev Without a record that has an end nothing is paid, whatever is held.
    function check_transfer_needs_a_record() public {
        uint256 word = SVM.createUint256("word");
        VM.assume(_endOf(word) == 0);
        assert(!_transferWith(word).done);
    }

    function check_transfer_needs_a_record_twin() public {
        uint256 word = SVM.createUint256("word");
        VM.assume(_turnOf(word) == 0);
        assert(!_transferWith(word).done);
    }

    /// @dev The words of another channel, what this one holds of another asset, the credit of somebody
    /// else, and the payees' credits in another asset.
    function check_transfer_leaves_all_else() public {
        Bystanders memory others = _anyBystanders();
        Payout memory payout = _transferBeside(others);
        bool credits = both(
            _credit(others.account, ETHER) == others.credit,
            _credit(_payee(payout, 0), others.asset) == others.creditOfPayee
        );
        bool words = both(
            _word(others.channelId, ETHER) == others.word,
            _word(payout.channelId, others.asset) == others.wordOfAsset
        );
        assert(both(both(credits, words), _late(others.channelId, ETHER) == others.late));
    }

    function check_transfer_leaves_all_else_twin() public {
        Bystanders memory others = _anyBystanders();
        Payout memory payout = _transferBeside(others);
        if (payout.done) assert(_credit(_payee(payout, 0), ETHER) == 0);
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _anyBystanders() private pure returns (Bystanders memory others) {
        others.channelId = SVM.createBytes32("other channel");
        others.asset = address(0xa55e7);
        others.account = SVM.createAddress("other account");
    }

    function _transferBeside(Bystanders memory others) private returns (Payout memory payout) {
        _anyPayments(payout, true);
        bytes32 channelId = SVM.createBytes32("channel");
        VM.assume(channelId != others.channelId);
        VM.assume(both(others.account != _payee(payout, 0), others.account != _payee(payout, 1)));
        others.word = _anyWord(others.channelId, ETHER);
        others.late = _anyLate(others.channelId, ETHER);
        others.wordOfAsset = _anyWord(channelId, others.asset);
        others.credit = _anyCredit(others.account, ETHER);
        others.creditOfPayee = _anyCredit(_payee(payout, 0), others.asset);
        _before(payout, channelId);
        _someRecord(payout);
        _transfer(payout, new uint256[](0));
    }

    function _payee(Payout memory payout, uint256 i) private pure returns (address) {
        return address(uint160(uint256(payout.outcome[i].destination)));
    }

    function _transferEther(uint256[] memory indices) private returns (Payout memory payout) {
        _anyPayments(payout, true);
        _before(payout, SVM.createBytes32("channel"));
        _someRecord(payout);
        _transfer(payout, indices);
    }

    function _transferWith(uint256 word) private returns (Payout memory payout) {
        _anyPayments(payout, false);
        _before(payout, SVM.createBytes32("channel"));
        _storeWord(payout.channelId, ETHER, word);
        _anyLate(payout.channelId, ETHER);
        _transfer(payout, new uint256[](0));
    }

    function _one(uint256 index) private pure returns (uint256[] memory indices) {
        indices = new uint256[](1);
        indices[0] = index;
    }

    function _two(uint256 first, uint256 second) private pure returns (uint256[] memory indices) {
        indices = new uint256[](2);
        (indices[0], indices[1]) = (first, second);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requireOwedKept(Payout memory payout) private pure {
        Allocation[] memory outcome = payout.outcome;
        assert(_fingerprintIn(payout.word) == _fingerprint(payout.stateHash, outcome));
        if (_isClosed(payout)) {
            assert(both(payout.paid[0] == outcome[0].amount, payout.paid[1] >= outcome[1].amount));
            assert(_isClosedForGood(payout));
        } else {
            unchecked {
                for (uint256 i = 0; i < 2; ++i) {
                    outcome[i].amount -= payout.paid[i];
                }
            }
            assert(outcome[0].amount | outcome[1].amount != 0);
            bool owed = _fingerprintIn(payout.laterWord) == _fingerprint(payout.stateHash, outcome);
            assert(both(both(owed, _isSameEnd(payout.word, payout.laterWord)), _isBegun(payout)));
        }
    }
}
