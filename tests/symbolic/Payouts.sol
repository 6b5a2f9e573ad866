// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation} from "../../contracts/types/Channel.sol";
import {Token} from "./Token.sol";
import {World, both, implies} from "./World.sol";

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

/// @title A payout of one channel in one asset to two addresses, and what is claimed of each
abstract contract Payouts is World {
    /// @param asset What it pays in.
    /// @param held The amount in the holdings before.
    /// @param amounts What each is owed by `outcome`.
    /// @param done Whether the call was not refused; if it was, nothing below is set.
    /// @param paid What each has been paid: what arrived and what was credited, if it is an address.
    /// @param left The holdings afterwards, as they are stored.
    /// @param spent What has left the adjudicator.
    /// @param later The status afterwards.
    struct Payout {
        address asset;
        bytes32 channelId;
        bytes32 stateHash;
        Allocation[] outcome;
        uint256 status;
        uint256 holdings;
        uint256 held;
        uint256[2] amounts;
        bool done;
        uint256[2] paid;
        uint256 left;
        uint256 spent;
        uint256 later;
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @dev What is owed in ether to two who may refuse it, where `mayRefuse` says so.
    function _anyPayments(Payout memory payout, bool mayRefuse) internal {
        payout.outcome = _anyOutcome(ETHER);
        for (uint256 i = 0; i < 2; ++i) {
            payout.outcome[i].destination = bytes32(uint256(uint160(_etherRecipient(mayRefuse))));
            payout.amounts[i] = payout.outcome[i].amount;
        }
    }

    function _etherRecipient(bool mayRefuse) internal returns (address) {
        return address(new Recipient(mayRefuse ? SVM.createBool("refuses") : false));
    }

    function _before(Payout memory payout, bytes32 channelId) internal {
        payout.channelId = channelId;
        _anyTime();
        payout.status = _anyStatus(channelId);
        (payout.holdings, payout.held) = _someHoldings(channelId, payout.asset);
        VM.deal(address(adjudicator), ALL_ETHER);
    }

    function _transfer(Payout memory payout, uint256[] memory indices) internal {
        payout.stateHash = SVM.createBytes32("state");
        // What is recorded was found valid.
        VM.assume(payout.amounts[0] <= type(uint256).max - payout.amounts[1]);
        _pay(payout, abi.encodeCall(adjudicator.transfer, (payout.channelId, payout.stateHash, payout.outcome, indices)));
    }

    function _pay(Payout memory payout, bytes memory call) internal {
        (payout.done,) = address(adjudicator).call(call);
        if (!payout.done) return;
        payout.spent = ALL_ETHER - _balance(address(adjudicator), payout.asset);
        payout.left = _holdings(payout.channelId, payout.asset);
        payout.later = _status(payout.channelId);
        for (uint256 i = 0; i < 2; ++i) {
            uint256 destination = uint256(payout.outcome[i].destination);
            if (destination >> 160 == 0) payout.paid[i] = _paid(address(uint160(destination)), payout.asset);
        }
    }

    /// @dev What somebody who had nothing before was paid.
    function _paid(address account, address asset) internal view returns (uint256) {
        return _balance(account, asset) + _credit(account, asset);
    }

    function _balance(address account, address asset) private view returns (uint256) {
        return asset == ETHER ? account.balance : Token(asset).balanceOf(account);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    function _requirePaidInOrder(Payout memory payout) internal pure {
        uint256 held = payout.held;
        unchecked {
            bool first = payout.paid[0] == _least(payout.amounts[0], held);
            bool second = payout.paid[1] == _least(payout.amounts[1], held - payout.paid[0]);
            bool taken = payout.left & MAX_HELD == held - payout.paid[0] - payout.paid[1];
            bool open = payout.holdings & CLOSED == 0;
            bool noMoreSpent = payout.spent <= payout.paid[0] + payout.paid[1];
            assert(both(both(first, second), both(both(taken, open), noMoreSpent)));
        }
    }

    /// @dev The channel is not closed, and takes no more deposits if it has paid anything.
    function _isBegun(Payout memory payout) internal pure returns (bool) {
        bool begun = implies(payout.paid[0] | payout.paid[1] != 0, payout.left & PAYOUT_BEGUN != 0);
        return both(begun, payout.left & CLOSED == 0);
    }

    /// @dev Without a jump.
    function _least(uint256 one, uint256 other) internal pure returns (uint256 least) {
        assembly ("memory-safe") {
            least := xor(other, and(xor(one, other), sub(0, lt(one, other))))
        }
    }
}
