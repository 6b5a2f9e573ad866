"""A channel in ether and a token: nodes pay both in and both out."""

from __future__ import annotations

from forcemove import ETHER, ChooseMove, ConcludeWanted, Domain, FixedPart, LocalTable, Phase, agree
from forcemove.arena.participant import LocalParticipant
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.local import LOCAL_BALANCE, EmbeddedChain, deploy_locally, local_keys
from forcemove.chain.token import Token
from forcemove.flow.channel import Line
from forcemove.node.assemble import begin
from forcemove.protocol.types import address_destination
from tests.chain.world import deploy_contract
from tests.viem.table import Counting

KEYS, ADMIN = local_keys()[:2], local_keys()[-1]
PEOPLE = tuple(key.address for key in KEYS)


def leave(question: ChooseMove) -> ConcludeWanted:
    return ConcludeWanted()


def table_in(chain: EmbeddedChain, token: bytes) -> LocalTable:
    book = deploy_locally(chain, [Counting()])
    agreement = agree(
        Domain(chain.chain_id, book.adjudicator),
        FixedPart(PEOPLE, 1, book.find("CountingApp").address, 3600),
        Counting(),
        10,
        ((ETHER, (10, 20)), (token, (30, 10))),
        tuple(map(address_destination, PEOPLE)),
    )
    assembly = begin(chain, agreement, Counting(), factory=book.factory)
    errors, lines = list[Exception](), (Line(), Line())
    seated = [LocalParticipant("", key, errors.append) for key in KEYS]
    channels = tuple(
        each.join(assembly, line, leave, max_cost=LOCAL_BALANCE, block_time=0)
        for each, line in zip(seated, lines, strict=True)
    )
    return LocalTable(chain, assembly.adjudicator, tuple(each.node for each in seated), channels, lines, errors)


def test_both_assets_are_paid_in_and_both_paid_out() -> None:
    chain = EmbeddedChain()
    token = deploy_contract(chain, "TestToken")
    for person in PEOPLE:
        chain.send(Call(token, function("mint", "TestToken").encode(person, 30)), ADMIN)
    table = table_in(chain, token)

    table.play()

    assert [channel.phase for channel in table.channels] == [Phase.CLOSED] * 2
    channel_id = table.channels[0].channel.agreement.channel_id
    assert all(table.adjudicator.holdings_of(channel_id, asset, 0).closed for asset in (ETHER, token))
    assert [Token(chain, token).balance_of(person) for person in PEOPLE] == [30, 30]
