"""The table of all proofs, with the bounds of each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PROOFS", "Proof"]


@dataclass(frozen=True, slots=True)
class Proof:
    """A function of a contract of proofs.

    - `contract`, `name`: where it is, and its name.
    - `loop`: how often a loop is followed; where that is not enough, nothing is proved.
    - `branching`: milliseconds that the solver may take to see that a branch cannot be reached; a branch about which it
      is not sure then is followed.
    - `limit`: seconds after which it is given up.
    """

    contract: str
    name: str
    loop: int = 4
    branching: int = 1
    limit: float = 1800

    @property
    def source(self) -> str:
        """The file that the contract is in."""
        return f"{self.contract}.sol"

    @property
    def twin(self) -> str:
        """The name of the function that claims something false about the same events: it must be refuted, or else the
        proof is about no event at all."""
        return f"{self.name}_twin"


PROOFS = (
    Proof("HashProofs", "check_slots"),
    Proof("HashProofs", "check_state_hash"),
    Proof("HashProofs", "check_channel_id"),
    Proof("DepositProofs", "check_deposit"),
    Proof("DepositProofs", "check_deposit_of_a_token", branching=100),
    Proof("DepositProofs", "check_deposit_into_a_full_channel"),
    Proof("RecordProofs", "check_checkpoint"),
    Proof("RecordProofs", "check_checkpoint_of_three"),
    Proof("RecordProofs", "check_checkpoint_of_two_states"),
    Proof("RecordProofs", "check_challenge_even"),
    Proof("RecordProofs", "check_challenge_odd"),
    Proof("RecordProofs", "check_respond_even"),
    Proof("RecordProofs", "check_respond_odd"),
    Proof("ReaderProofs", "check_checkpoint_is_read_to_its_end"),
    Proof("ReaderProofs", "check_conclusion_is_read_to_its_end", branching=100),
    Proof("ReaderProofs", "check_flags_say_one_thing"),
    Proof("TransferProofs", "check_transfer", branching=100),
    Proof("TransferProofs", "check_transfer_keeps_what_is_owed", branching=100),
    Proof("TransferProofs", "check_transfer_of_the_first", branching=100),
    Proof("TransferProofs", "check_transfer_of_the_second", branching=100),
    Proof("TransferProofs", "check_transfer_of_each", branching=100),
    Proof("TransferProofs", "check_transfer_refuses_indices", branching=100),
    Proof("TransferProofs", "check_transfer_needs_a_record", branching=100),
    Proof("TransferProofs", "check_transfer_leaves_all_else", branching=100),
    Proof("TokenProofs", "check_transfer_of_a_token", branching=100),
    Proof("TokenProofs", "check_conclude_in_a_token", branching=100),
    Proof("TokenProofs", "check_transfer_of_two_assets", branching=100),
    Proof("TokenProofs", "check_transfer_of_one_of_two_assets", branching=100),
    Proof("ChannelProofs", "check_transfer_to_a_channel", branching=100),
    Proof("SurplusProofs", "check_transfer_to_a_channel_in_the_end", branching=100),
    Proof("ConcludeProofs", "check_conclude_paid", branching=100),
    Proof("ConcludeProofs", "check_conclude_short_of_the_first", branching=100),
    Proof("ConcludeProofs", "check_conclude_short_of_the_second", branching=100),
    Proof("GameProofs", "check_tic_tac_toe_keeps_the_sum_even", loop=8),
    Proof("GameProofs", "check_tic_tac_toe_keeps_the_sum_odd", loop=8),
    Proof("GameProofs", "check_tic_tac_toe_keeps_marks_and_stake", loop=8),
    Proof("GameProofs", "check_rock_paper_scissors_keeps_the_sum_even", loop=8),
    Proof("GameProofs", "check_rock_paper_scissors_keeps_the_sum_odd", loop=8),
)
