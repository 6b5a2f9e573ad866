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
        uint256 status;
        uint256 holdings;
        uint256 holdingsOfAsset;
        uint256 credit;
        uint256 creditOfPayee;
    }

    function check_transfer() public {
        Payout memory payout = _transferEther(new uint256[](0));
        if (!payout.done) return;
        assert(_isFinalized(payout.status));
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
        if (payout.done) assert(payout.later == 0);
    }

    /// @dev Only the first is asked for: what is due to the second stays there.
    function check_transfer_of_the_first() public {
        Payout memory payout = _transferEther(_one(0));
        if (!payout.done) return;
        _requireOnePaid(payout, 0, _least(payout.amounts[0], payout.held));
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
            _requireOnePaid(payout, 1, _least(payout.amounts[1], available));
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
        uint256 index = SVM.createUint256("index");
        VM.assume(index > 1);
        assert(!_transferEther(_one(index)).done);
        assert(!_transferEther(_two(1, 0)).done);
        assert(!_transferEther(_two(1, 1)).done);
    }

    function check_transfer_refuses_indices_twin() public {
        assert(!_transferEther(_two(0, 1)).done);
    }

    /// @dev The record and the holdings of another channel, what this one holds of another asset, the credit of somebody
    /// else, and the payees' credits in another asset.
    function check_transfer_leaves_all_else() public {
        Bystanders memory others = _anyBystanders();
        Payout memory payout = _transferBeside(others);
        bool credits = both(
            _credit(others.account, ETHER) == others.credit,
            _credit(_payee(payout, 0), others.asset) == others.creditOfPayee
        );
        bool holdings = both(
            _holdings(others.channelId, ETHER) == others.holdings,
            _holdings(payout.channelId, others.asset) == others.holdingsOfAsset
        );
        assert(both(both(credits, holdings), _status(others.channelId) == others.status));
    }

    function check_transfer_leaves_all_else_twin() public {
        Bystanders memory others = _anyBystanders();
        Payout memory payout = _transferBeside(others);
        if (payout.done) assert(_credit(_payee(payout, 0), ETHER) == 0);
    }

    // ------------------------------------------------------------------------------------------------------ events

    function _anyBystanders() private pure returns (Bystanders memory others) {
        others.channelId = SVM.createBytes32("other channel");
        others.asset = SVM.createAddress("other asset");
        others.account = SVM.createAddress("other account");
        VM.assume(others.asset != ETHER);
    }

    function _transferBeside(Bystanders memory others) private returns (Payout memory payout) {
        _anyPayments(payout, true);
        bytes32 channelId = SVM.createBytes32("channel");
        VM.assume(channelId != others.channelId);
        VM.assume(both(others.account != _payee(payout, 0), others.account != _payee(payout, 1)));
        others.status = _anyStatus(others.channelId);
        others.holdings = _anyHoldings(others.channelId, ETHER);
        others.holdingsOfAsset = _anyHoldings(channelId, others.asset);
        others.credit = _anyCredit(others.account, ETHER);
        others.creditOfPayee = _anyCredit(_payee(payout, 0), others.asset);
        _before(payout, channelId);
        _transfer(payout, new uint256[](0));
    }

    function _payee(Payout memory payout, uint256 i) private pure returns (address) {
        return address(uint160(uint256(payout.outcome[i].destination)));
    }

    function _transferEther(uint256[] memory indices) private returns (Payout memory payout) {
        _anyPayments(payout, true);
        _before(payout, SVM.createBytes32("channel"));
        _transfer(payout, indices);
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

    /// @dev The one is paid what is due to it, and the other nothing.
    function _requireOnePaid(Payout memory payout, uint256 i, uint256 due) private pure {
        bool paid = both(payout.paid[1 - i] == 0, payout.paid[i] == due);
        unchecked {
            assert(both(paid, payout.left & MAX_HELD == payout.held - due));
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
            bool owed = uint160(payout.later) == _fingerprint(payout.stateHash, outcome);
            bool sameEnd = payout.later >> 160 == payout.status >> 160;
            assert(both(both(owed, sameEnd), _isBegun(payout)));
        }
    }
}
