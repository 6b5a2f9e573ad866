"""The library's errors as texts for people: what happened, whose fault it is, what to do next."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

from forcemove.errors import (
    AppError,
    ChainError,
    CounterpartyError,
    ForcemoveError,
    InvalidValue,
    JournalError,
    LocalError,
    MalformedBytes,
    RuleError,
    UnknownVersion,
)
from forcemove.program import as_called, has_shell
from forcemove.protocol.errors import MessageRefused
from forcemove.text.amounts import exact_amount, format_amount
from forcemove.text.durations import show_time
from forcemove.text.harmless import harmless

EXPLANATIONS: dict[str, tuple[str, str]] = {
    "Unreachable": (
        "Nobody answers at {endpoint}: {reason}.",
        "The node may be down, or the address mistyped. Check --chain; a local node starts with `anvil`.",
    ),
    "TlsFailed": (
        "There is no secure connection to {endpoint}: {reason}.",
        "Where a node speaks no TLS, its address begins with http:// or ws://. Check --chain.",
    ),
    "NotAnEthereumEndpoint": (
        "What answers at {endpoint} does not answer as an Ethereum node does: {reason}.",
        "What is wanted is the JSON-RPC address of a node, with its key where it needs one. Check --chain.",
    ),
    "WrongChain": (
        "The node at {endpoint} is of chain {found}, not of chain {expected}; nothing was changed.",
        "Give the node of chain {expected} with --chain, or the book of chain {found}.",
    ),
    "EndpointFailed": (
        "The node refused {method}: {reason}.",
        "The fault is the node's. Try again; if it happens again, try another node.",
    ),
    "NodeBusy": (
        "The node at {endpoint} asks us to wait {seconds:.0f} s.",
        "It is not asked until then. If this goes on, use another node, or one that may be asked more often.",
    ),
    "AnvilMissing": (
        "anvil is not installed (looked in: {looked_in}).",
        "Install it with `npm install --prefix contracts`, or from https://getfoundry.sh; or use --chain eth-tester.",
    ),
    "AnvilFailed": ("anvil did not start: {reason}.", "Run `anvil` by itself to see why, or use --chain eth-tester."),
    "InsufficientFunds": (
        "The account {account} cannot pay for the transaction: {reason}.",
        "Send it some of the chain's ether and run the same command again.",
    ),
    "TransactionRefused": (
        "The node did not take transaction {transaction_hash}: {reason}.",
        "Another transaction of this account may be waiting; run the same command again in a while.",
    ),
    "NotMined": (
        "Transaction {transaction_hash} was sent, but no block took it within {seconds:.0f} seconds.",
        "The chain is busy or makes no blocks. Run the same command again: it goes on from there.",
    ),
    "NotWorthItsDisputes": (
        "Our deposit of {deposit} wei is less than {multiple} times what gas may cost in disputes, {gas} wei.",
        "Nothing was signed. Play for more, or accept the risk with a smaller multiple.",
    ),
    "DurationTooShort": (
        "A challenge of {duration} seconds could not be answered in time on this chain: at least {needed} are needed.",
        "Nothing was signed. Agree on a longer one.",
    ),
    "GasTooDear": (
        "The gas of a transaction would cost {cost} wei now, more than the {max_cost} wei that it is worth to us.",
        "Nothing was sent. Wait until gas is cheaper, or play for more.",
    ),
    "LogsLeftOut": (
        "The node at {endpoint} tells of channel {channel_id} something else in its logs than in the contract's own "
        "answers at block {block_number}.",
        "Its logs are not believed, and are asked for again. If this goes on, use another node.",
    ),
    "AnotherChain": (
        "The chain at {endpoint} has the right chain id, but channel {channel_id} did not begin on it: block "
        "{block_number} is another one, or is not there, and the contract knows nothing of the channel.",
        "Nothing was signed or sent. If the chain was started anew, or put back to an earlier state, what the channel "
        "held was on the old one: give a node of that with --chain. A node that lags behind must catch up first.",
    ),
    "EndpointContradicted": (
        "Only the node at {endpoint} says of channel {channel_id}: {reason}",
        "One of the nodes is wrong. Challenges are answered whichever node shows them; other actions may wait. Leave "
        "out the wrong node.",
    ),
    "EndpointLeftOut": (
        "The node at {endpoint} has sent no valid answer for {seconds:.0f} seconds.",
        "It is down, out of reach, or broken. The other nodes count without it until it is back; if this goes on, give "
        "another one with --chain.",
    ),
    "EndpointStuck": (
        "The node at {endpoint} has shown no block after {block_number} for minutes, and another one is at "
        "{seen_elsewhere}.",
        "One of the two is wrong. Challenges are answered whichever node shows them; other actions wait for both. "
        "Leave out the node that stands still, or that runs ahead.",
    ),
    "HeadTooFar": (
        "The node at {endpoint} shows block {block_number} as its newest, so far after {read_up_to}, the last one that "
        "was read, that no chain can have made that many.",
        "The node is wrong, and is not believed. It is asked again; if this goes on, use another node.",
    ),
    "TimeInDoubt": (
        "The newest block of the node at {endpoint} has the time {block_time}, and this machine's clock says "
        "{own_time}.",
        "One of the two is wrong. Set this machine's clock; if it is right, use another node.",
    ),
    "LookFailed": (
        "A query of a node has failed in an unexpected way: {reason}",
        "The query is made again; challenges that other nodes show are answered meanwhile. If this goes on, use "
        "another node, and report this.",
    ),
    "EndpointHangs": (
        "A query of the node at {endpoint} has not ended after {seconds:.0f} seconds, though each has a time limit.",
        "It is made again; challenges on the chain are answered meanwhile. If this goes on, use another node.",
    ),
    "NotTaken": (
        "No node has taken the transaction {transaction_hash}; the first one says: {reason}.",
        "It is sent to all of them again. If this goes on, check that the account has enough for the gas, or give "
        "another node with --chain.",
    ),
    "CannotPay": (
        "The account {account} has {balance:short}, and the transaction may take {needed:least} with its gas.",
        "Nothing was sent. Send it some of the chain's ether; what a channel asks for is tried again.",
    ),
    "CannotPayAnswer": (
        "The account {account} has {balance:short}, and may need {needed:least} for the answer to a challenge, which "
        "must be on the chain by {deadline:time}.",
        "Send it some of the chain's ether before then: the answer is offered again and again, and what is at stake is "
        "lost without it.",
    ),
    "StillToSend": (
        "{reason}. For {seconds} seconds nothing could be sent; waiting: {waiting}.",
        "It is sent as soon as a node takes it. If this goes on, give another node with --chain.",
    ),
    "AllowanceStays": (
        "The token {token} has confirmed {times} approvals, and {spender} may still take only {allowed} of the "
        "{amount} that the deposit needs.",
        "The token does not do what it says. After the third approval no more are sent, and nothing is paid in: play "
        "for another token.",
    ),
    "NonceBlocked": (
        "Another program has sent a transaction from the account {account} with the nonce {nonce}, and no block takes "
        "it: ours wait behind it.",
        "An answer to a challenge replaces it by an empty one that offers more; anything else waits until it is mined "
        "or replaced. Pay for channels from an account that nothing else uses.",
    ),
    "OpinionsDiffer": (
        "The nodes disagree about the {what} of account {account}: {said}.",
        "One of them lags or is wrong. Deposits wait until they agree; answers to challenges do not. If this goes on, "
        "leave the wrong one out.",
    ),
    "Overtaken": (
        "The counterparty was faster: our transaction {transaction_hash} came too late, in block {block_number}.",
        "Nothing is lost; it cost {cost} wei.",
    ),
    "RevertsAgain": (
        "Transaction {transaction_hash} was mined in block {block_number} and has failed, {times} times in a row, "
        "also with more gas: {reason}. It cost {cost} wei.",
        "The contract refuses it. It is sent again, after longer and longer pauses, as long as it is needed: look at "
        "the channel with `forcemove channel show`, and at the contract's reason.",
    ),
    "EndpointsDisagree": (
        "The nodes at {endpoint} and {other} disagree about channel {channel_id} up to block {block_number}.",
        "Challenges are answered whichever shows them; nothing is signed or paid in until they agree. If this goes on, "
        "one of them is wrong: look at the channel on a node that you trust, and leave the other out.",
    ),
    "BehindItself": (
        "The node at {endpoint} shows block {block_number} as its newest, and has shown {seen_before} before.",
        "It lags behind. It is asked again; if this goes on, use another node.",
    ),
    "ChannelInUse": (
        "Another process plays channel {channel_id} from the same journal.",
        "Stop it, or wait: if it has died, the channel is free in a minute.",
    ),
    "AccountInUse": (
        "Another process sends the transactions of account {account} from the same journal, and has not taken up ours.",
        "Ours wait for that process. Stop it, or wait: if it has died, the account is free in a minute.",
    ),
    "LeaseLost": (
        "Another process has taken over channel {channel_id} while this one was away.",
        "This process has stopped; it has sent nothing since.",
    ),
    "NotOursToDrive": (
        "Channel {channel_id} was moved from this journal to another one, or put away.",
        "What was moved is played from there. What was put away is over: play another game.",
    ),
    "GameMissing": (
        "The channel plays the contract {contract}, and no game that is installed has it.",
        "Install the distribution of that game.",
    ),
    "WrongPhase": (
        "You cannot {action} in a channel that is {phase}.",
        "`forcemove channel show` says where the channel is, and what can be done.",
    ),
    "MoneyMissing": (
        "A deposit is missing on the chain in channel {channel_id}: a reorganisation has removed it.",
        "No move is made before it is there again, unless it answers a challenge; leaving is possible.",
    ),
    "EndpointsDiffer": (
        "A node denies something that the others show of channel {channel_id}, or has not shown it yet.",
        "No move is made before they agree, unless it answers a challenge; leaving is possible. If this goes on, look "
        "at the channel on a node that you trust, and leave the other out.",
    ),
    "OutOfTurn": (
        "Turn {turn_num} is for participant {mover} to make.",
        "A challenge makes others move. Where it is our turn, there is nobody to challenge.",
    ),
    "FinalStateSigned": (
        "We have signed an end, but the others have recorded other moves on the chain: nothing of turn {turn_num} is "
        "signed.",
        "Challenge: when the clock has run out, the chain pays what is recorded.",
    ),
    "NotSupported": (
        "The newest state, of turn {turn_num}, is not signed by all participants: nothing can be proved with it.",
        "Wait for the counterparties' signatures.",
    ),
    "SignsNothing": (
        "Nothing is signed in channel {channel_id}: this journal has it from a backup, and does not know what was "
        "signed since.",
        "The states of the backup answer challenges and collect. Where the original journal still exists, play "
        "from there.",
    ),
    "TransactionReverted": (
        "Transaction {transaction_hash} failed in block {block_number}, though its simulation had succeeded: {reason}.",
        "Another transaction came before it. Run the same command again.",
    ),
    "CallRefused": (
        "The contract at {to} refused the call without a reason.",
        "It is another contract than expected, or the calldata is malformed.",
    ),
    "NoContract": (
        "There is no {contract} at {address}: there is no code at that address.",
        "The chain may have been restarted since the deployment; `forcemove deploy` deploys again.",
    ),
    "NotGenuine": (
        "{address} is not {contract}: the address that follows from its creation code is {expected}.",
        "Do not sign anything for it: it may be a look-alike, whatever its code. If it is of another version of "
        "Forcemove, or of another factory, use that version, or the address book that names the factory.",
    ),
    "NoTransientStorage": (
        "The chain at {endpoint} has no transient storage (EIP-1153), without which no contract can pay out.",
        "Nothing was sent. Use a chain that follows Cancun or a later upgrade of Ethereum.",
    ),
    "NotConfirmed": (
        "{contract}, at {address}, is less than {confirmations} blocks deep.",
        "It is new. Wait for a few blocks and try again.",
    ),
    "CompilerMissing": (
        "There is no Solidity compiler {version}: {reason}.",
        "Install Node and run `npm install solc@{version}` in the project, or run this where the internet is open.",
    ),
    "SourceMissing": (
        "There is no source {name}; it is imported by {importer}.",
        "Check the import: it names a file of the project, one of forcemove/contracts/, or an npm package.",
    ),
    "SourceRefused": ("The compiler refuses the sources.\n{messages}", "Fix that and compile again."),
    "NothingToCompile": (
        "The folder {folder} has no Solidity source (.sol).",
        "Run this in the project of a game, or name its folder. `forcemove new` begins one.",
    ),
    "NoSuchContract": (
        "{source} has no contract {contract} that could be deployed.",
        "It may be abstract: implement all functions of its interfaces.",
    ),
    "UnknownArtifact": ("This version has no contract {name}.", "It has {known}."),
    "BookMissing": (
        "There is no address book at {path}.",
        "`forcemove deploy` writes one, and the person you play with has a copy for you; --book says where it is.",
    ),
    "BookOfOlderProgram": (
        "The address book {path} has format {version}, of an older version of Forcemove (this one: format {known}). "
        "Its contracts cannot be told from poisoned ones, so this version signs nothing for them.",
        "Deploy again: `forcemove deploy` with another --out, or with that file moved away. The old contracts stay "
        "where they are; money in their channels is brought home by the version that wrote the book.",
    ),
    "BookOfNewerProgram": (
        "The address book {path} has format {version}, of a newer version of Forcemove (this one knows {known}).",
        "Update Forcemove; nothing was changed.",
    ),
    "BookUnwritable": ("The address book {path} cannot be written: {reason}.", "Choose another place with --out."),
    "BookOfOtherContracts": (
        "The address book {path} is of another version of Forcemove: its {contract} is at {address}.",
        "It was left as it is, since channels may live there. Deploy with another --out.",
    ),
    "NotAFactory": (
        "The address book {path} names the factory {factory}, but there is other code; nothing was sent.",
        "The book was changed, or is of another chain with the same id. Deploy with another --out.",
    ),
    "FolderInUse": (
        "There is something at {path} already; nothing was written.",
        "Choose another name, or another place with --in.",
    ),
    "NotInBook": ("The address book has no {contract}.", "Finish the deployment with `forcemove deploy`."),
    "KeyFileMissing": ("There is no key file at {path}.", "`forcemove key new {path}` makes one."),
    "KeyFileExists": (
        "There is a file at {path} already; keys are never overwritten.",
        "Choose another name, or move that file away.",
    ),
    "KeyFileUnusable": ("The key file {path} cannot be used: {reason}.", "Check the path and its permissions."),
    "MalformedKeyFile": (
        "{path} is not a usable key file: {reason}.",
        "It was damaged or is something else. Restore it from a copy, or import its key again.",
    ),
    "WrongPassphrase": (
        "The passphrase does not open {path}.",
        "Try again; FORCEMOVE_PASSPHRASE, where it is set, is used instead of asking.",
    ),
    "CopyTooLong": ("Your open games are too long for one file.", "End one of them first."),
    "NothingToCopy": (
        "No game for a stake is open, so there is nothing to copy.",
        "Save a copy while you play for one.",
    ),
    "EmptyPassphrase": ("An empty passphrase protects nothing; no file was written.", "Choose a passphrase."),
    "MalformedPrivateKey": (
        "That is not a private key: 64 hex digits are wanted, with or without 0x, of a number above 0 and below the "
        "curve's order.",
        "It came from FORCEMOVE_PRIVATE_KEY where that is set, else from what was typed or piped in.",
    ),
    "JournalUnusable": (
        "No journal can be opened or made at {where}: {reason}.",
        "Check the path or URL, who may read and write there, and whether the disk is full; nothing was changed.",
    ),
    "NotAJournal": (
        "{where} is not a journal of Forcemove: {reason}.",
        "It was left as it is. Choose another place. A journal that was emptied or overwritten comes back from a "
        "backup.",
    ),
    "JournalDamaged": (
        "The journal {where} is damaged: {reason}.",
        "The disk failed, or the file is an incomplete copy. The journal was left as it is. Keep it, and import your "
        "newest backup into a new journal: imported channels sign nothing, but answer and collect.",
    ),
    "JournalOfNewerProgram": (
        "A newer version of Forcemove has written the journal {where}: it has format {version}, and this one knows "
        "{known}.",
        "Update Forcemove; nothing was changed.",
    ),
    "ChannelOfOlderContracts": (
        "The channel is of an older version of the contracts, which this version of Forcemove does not know.",
        "Forcemove {release} brings its money home; the journal was left as it is.",
    ),
    "PostgresqlMissing": (
        "The journal is on PostgreSQL, but Python's driver for it cannot be loaded: {reason}.",
        "Install it with `pip install 'forcemove[postgresql]'`.",
    ),
    "JournalUnreachable": (
        "The database server of the journal {where} does not answer: {reason}.",
        "Check that it runs, and the URL. Nothing is half-written.",
    ),
    "JournalBusy": (
        "Another process has been writing to the journal {where} for too long: {reason}.",
        "Try again. If that does not help, look for a process that has stopped while it was writing, and end it: its "
        "unfinished changes are undone.",
    ),
    "JournalUnwritable": (
        "The journal {where} cannot be written: {reason}.",
        "Make room on the disk, or make it writable, and try again. Nothing is half-written.",
    ),
    "JournalFileLost": (
        "The file {file}, which belongs to the journal {where}, was removed or replaced while it was in use.",
        "Nothing more is signed or sent. Start the command again: it continues with what the journal has. Leave the "
        "files beside a journal alone; docs/operators/node.md says how to copy one.",
    ),
    "ChannelNotStored": (
        "The journal has no channel {channel_id}.",
        "`forcemove inspect` asks a chain about a channel.",
    ),
    "AlreadyMoved": (
        "Channel {channel_id} was moved to another journal.",
        "Play it from there; this journal signs nothing more in it.",
    ),
    "RelayUnreachable": (
        "No relay answers at {url}: {reason}.",
        "It may be down, or the address mistyped. `forcemove relay` runs one; a NATS server needs JetStream.",
    ),
    "RelayFaulty": (
        "The server at {url} has sent nothing useful for {seconds:.0f} seconds: {reason}.",
        "It is broken, of another version, or not a relay. Try again later, or with another relay.",
    ),
    "NatsMissing": (
        "The relay is a NATS server, but Python's client for those cannot be loaded: {reason}.",
        "Install it with `pip install 'forcemove[nats]'`.",
    ),
    "TwoSeatsOnly": (
        "The relay is a NATS server, whose lobby takes no game for {seats} players: nothing there notices that a guest "
        "who waits has gone.",
        "Offer it at a relay of Forcemove (`forcemove relay`), whose address begins with ws:// or wss://.",
    ),
    "StreamUnsuitable": (
        "The NATS server at {url} has a stream {stream} already, whose {setting} is {found}; tables need {wanted}.",
        "It was not changed. Its operator has to change or delete it, or give Forcemove an account of its own there.",
    ),
    "RelayRefused": (
        "The relay refused: {detail} ({reason}).",
        "Nothing was changed on your side. {advice}",
    ),
    "LogReplaced": (
        "The relay shows another log of table {table} than before, from entry {position} on or earlier.",
        "The relay has lost data, or cheats. The game cannot go on there; no money is lost by that.",
    ),
    "LinkCut": (
        "The link was cut: {present} of its {expected} characters are here.",
        "Copy all of it, to its end. It is one word of letters and digits, which begins with forcemove.",
    ),
    "OfferDiffers": (
        "The offer is for another {what}: {offered}, and not {ours}.",
        "Nothing was signed. Check game, stake, --asset and --book, or ask the host for another offer.",
    ),
    "GameNotInBook": (
        "Your address book of chain {chain_id} has no {contract}, which this game needs.",
        "Nothing was signed. Ask the host for a copy of theirs: it goes into your folder as "
        "forcemove-{chain_id}.json, or is named with --book. Or add the game to yours with `forcemove deploy`: what "
        "the host has deployed is taken over, and costs nothing.",
    ),
    "OfferOfAnotherChain": (
        "The offer is for chain {offered}, and we play on chain {ours}; chain 0 means a friendly game, without one.",
        "Nothing was signed. Join with --chain and a node of the offer's chain, or without --chain if it is 0.",
    ),
    "OfferForAnother": (
        "The offer is for {guest} alone, and you are {other}.",
        "Nothing was signed. Ask the host for an offer of your own, or join with the key of that address.",
    ),
    "OtherOfferShown": (
        "The relay shows the offer {hash} differently from how its host signed it.",
        "Nothing was signed. The fault is the relay's: agree on another offer with the host.",
    ),
    "OfferOver": (
        "The offer {offer} is over: nobody joined in time, or it was withdrawn.",
        "Nothing was signed. Run the same command again to make a new one.",
    ),
    "HostMissing": (
        "The host of the offer {offer} did not come to the table in time.",
        "Nothing was paid in. Run the same command again when the host is there.",
    ),
    "NeverFunded": (
        "Not all have paid into channel {channel_id}: the chain has ended it, and gave back what was there.",
        "Nothing is lost but gas. Offer or join another game.",
    ),
    "JournalOfOtherPlayer": (
        "The journal {where} has another player of this game already, and has room for one.",
        "Give each player a journal: name another one with --store, such as --store bob.journal.",
    ),
    "GuestMissing": (
        "Nothing has happened in channel {channel_id} for {seconds:.0f} seconds, and nobody has paid in.",
        "The other player may have gone, or the relay may be away. Run the same command again to keep waiting, "
        "or with --fresh to begin another channel.",
    ),
    "OtherSilent": (
        "Nothing has been heard from the other player for {seconds:,.0f} seconds.",
        "The game waits. Run the same command again to keep waiting, or with --fresh to begin another one.",
    ),
    "FaultAtTable": (
        "{fault}.",
        "The game ends here and counts for nobody. What was said stays on the table's log: the same command says this "
        "again, and with --fresh it begins another game.",
    ),
    "StakeTooLow": (
        "At the present price of gas a stake below {least:exact} is not worth its disputes; nothing was signed.",
        "Offer at least --stake '{least:exact}', ask for an offer with that stake, or wait until gas is cheaper.",
    ),
    "ChallengeTooShort": (
        "A challenge of {duration:,} seconds could not be answered in time on this chain; nothing was signed.",
        "At least {needed} seconds are needed. Offer --duration so, or ask for such an offer.",
    ),
    "MoveTimeTooShort": (
        "Nobody could keep a time of {move_time:,} seconds for a move on this chain; nothing was signed.",
        "At least {needed} seconds are needed. Offer --move-time so, or leave it out; or ask for such an offer.",
    ),
    "DepositsOverLimit": (
        "With {deposit:exact} for this game, and {others:exact} in channels that are not closed, more than your limit "
        "of {most:exact} would lie in channels; nothing was signed.",
        "Play for less, wait until another game is paid out, or type a higher limit where you have set it.",
    ),
    "StakesRefused": ("No game for a stake may begin here: {reason}.", "Nothing was signed."),
    "CannotPayIn": (
        "The account {account} has {balance:short}, and needs {needed:least} for deposits and gas.",
        "Nothing was signed. Send it some of the chain's ether, or play for less.",
    ),
    "TooFewTokens": (
        "The account {account} has {balance:,} of the token {asset}, and needs {needed:,} for its deposit, both in the "
        "smallest unit.",
        "Nothing was signed. Send it some of the token, or play for less.",
    ),
    "NoSuchToken": (
        "There is no contract at {asset} on this chain.",
        "Nothing was signed. Check the address of --asset, and that --chain is the token's chain.",
    ),
    "TokenUnclear": (
        "The nodes disagree about the token {asset}.",
        "Nothing was signed. One of them lies, or lags behind: leave it out, or try again.",
    ),
    "AddressUnusable": (
        "Nothing can listen at {host}, port {port}: {reason}.",
        "Another program may be there. Choose another port (with --listen, or --port for a page), or 0 for any that is "
        "free.",
    ),
    "TowerUnreachable": (
        "No watchtower answers at {url}: {reason}.",
        "It may be down, or the address mistyped. `forcemove watch` runs one.",
    ),
    "TowerBusy": (
        "The watchtower at {url} takes no appointments right now: {detail} ({reason}).",
        "Send it again in {seconds:.0f} seconds. Until a watchtower has it, do not stay away.",
    ),
    "TowerRefused": (
        "The watchtower at {url} does not take the appointment: {detail} ({reason}).",
        "Ask its operator whether it serves this address and this chain. Until a watchtower has it, do not stay away.",
    ),
    "NotServed": (
        "The watchtower does not serve {client}.",
        "Its operator names the addresses that it works for with --for; the appointment must name this watchtower.",
    ),
    "NotAParticipant": (
        "{client} takes no part in channel {channel_id}.",
        "Only a participant can make an appointment for a channel, signed with its own key.",
    ),
    "NotWatched": (
        "The watchtower does not watch the adjudicator {adjudicator} on chain {chain_id}, or cannot read it yet.",
        "Use a watchtower of that chain and deployment.",
    ),
    "AppNotKnown": (
        "The watchtower does not have the rules of the app {app}, and cannot check its moves.",
        "Its operator must install the game, and have it in the address book.",
    ),
    "NotProved": (
        "The states of the appointment do not prove the state of turn {turn_num}.",
        "Send the appointment that the channel's client makes; nothing was changed.",
    ),
    "NothingNewer": (
        "The watchtower has states that answer up to turn {held}; turn {turn_num} is not newer.",
        "It keeps its own. If this program was restored from a backup, the watchtower knows later states than it does.",
    ),
    "ChannelOver": ("Channel {channel_id} is finalized or closed.", "There is nothing left to defend."),
    "TooManyChannels": (
        "The watchtower keeps {most} channels for each participant, and has as many of {client}.",
        "Its operator can allow more with --max-channels.",
    ),
    "OtherReceipt": (
        "The watchtower's receipt differs from the appointment ({field}).",
        "Do not rely on this watchtower. Use another one.",
    ),
    "BudgetExhausted": (
        "The budget of {client} is used up: {left} wei are left, and {needed} wei are needed.",
        "The watchtower's operator can raise it with --for.",
    ),
    "StandingBy": (
        "Another process drives the watchtower {account} on chain {chain_id}.",
        "Send the appointment to that one; this one takes its place when its lease has ended.",
    ),
    "RelayStoreInUse": (
        "Another relay is running on the store {where}.",
        "Stop it, or choose another file with --store.",
    ),
    "NotARelayStore": (
        "{where} is not a relay's store: {reason}.",
        "It was left as it is. Choose another file with --store.",
    ),
    "RelayStoreUnusable": (
        "The relay's store {where} cannot be used: {reason}.",
        "It was left as it is. Check the path, the disk and the version of Forcemove, or begin a new one with --store.",
    ),
    "PagesUnusable": (
        "The folder {where} has no page as it was built: {reason}.",
        "Build it again with `scripts/link_page {where}`, or leave --pages out.",
    ),
    "ImportRefused": (
        "The journal has channel {channel_id} in version {ours} already, and the file has version {theirs}; nothing of "
        "the file was taken.",
        "The journal's version is as new or newer. To look at the file, import it into a new journal.",
    ),
    "BookOfAnotherChain": (
        "The address book {path} is of chain {found}, but this is about chain {expected}.",
        "Name another with --book.",
    ),
    "NodeOfAnotherChain": (
        "The state is of chain {expected}, but {endpoint} is chain {found}.",
        "Give the node of the state's chain with --chain.",
    ),
    "NotThisAdjudicator": (
        "The state names the adjudicator {named}, not the one given.",
        "Leave --adjudicator out.",
    ),
    "PlayerFailed": ("{reason}.", "This is a bug in Forcemove, or the machine is very slow."),
    "AdjudicatorNotNamed": (
        "Which adjudicator? There is no address book at forcemove-{chain_id}.json.",
        "Name a book with --book, or the contract with --adjudicator ADDRESS.",
    ),
    "NotThisKindOfId": ("{data} is not a channel's id: its 12 high bytes are zero, as in an address.", ""),
    "ChannelUnknown": (
        "The adjudicator {adjudicator} knows nothing of channel {channel_id}.",
        "Nothing was ever paid in or recorded: the id, the chain or the adjudicator may be another.",
    ),
    "RecordIncomplete": (
        "The game cannot be told from its beginning: the state of turn {turn_num} is missing.",
        "A journal that was pruned, or a game of more than 10,000 turns, has no record.",
    ),
    "RecordRefused": (
        "Turn {turn_num} of the game record is not what was played: {reason}.",
        "Believe nothing of this file.",
    ),
    "RecordChanged": (
        "The game record was changed after it was written: its {member} does not follow from the rest.",
        "Ask for it again.",
    ),
}
"""What happened, and what to do next, by the name of the error; the facts of the error fill the braces."""

_LOBBY = "`forcemove lobby` shows the open games."
_ADVICE = {
    "expired": "Set this machine's clock.",
    "unknown-offer": f"It was taken back, or is over, or was played already. {_LOBBY}",
    "offer-taken": _LOBBY,
}
"""What helps against a relay's refusal, by its reason: `{advice}` in a text."""

_COMMAND = re.compile(r"`|--\w|\bcommand\b")
"""In a sentence of an advice: it wants something typed at a terminal."""

_NEWER_VERSION = (
    "The {what} is of version {version}; this program knows version {known}.",
    "Update this program; nothing was changed.",
)
_OLDER_VERSION = (
    "The {what} is of version {version}, which is older than this program's, {known}.",
    "The program that wrote it must be updated, and write it again; nothing was changed.",
)

_PAGES = frozenset({"SourceRefused"})
"""Errors with a text of several lines, from another program on this machine."""

_FAMILIES: tuple[tuple[type[ForcemoveError], str, str], ...] = (
    (AppError, "The rules of the game forbid it: {error}.", "The move was ours; nothing was changed."),
    (RuleError, "The adjudicator refused: {error}.", "The request broke a rule of the protocol; nothing was changed."),
    (MessageRefused, "The counterparty broke a rule: {reason}.", "Nothing was changed; its message is evidence."),
    (CounterpartyError, "The counterparty is at fault: {error}.", "Nothing was changed."),
    (MalformedBytes, "This is not a well-formed {what}: {reason}.", "Check what was given; nothing was changed."),
    (InvalidValue, "{field} cannot be {value}: it wants {reason}.", "Check what was given; nothing was changed."),
    (LocalError, "That cannot be done: {error}.", "Nothing was changed."),
    (ChainError, "The chain failed: {error}.", "Try again; if it happens again, try another node."),
    (JournalError, "The journal failed: {error}.", "Nothing is half-written."),
    (ForcemoveError, "{error}.", ""),
)


def explain(error: ForcemoveError) -> str:
    """What happened, and what to do next, in a line each; without commands where nobody can type them."""
    what, then = _explanation(error)
    keep = "\n" if type(error).__name__ in _PAGES else ""
    facts = {name: show_value(value, keep) for name, value in error.values().items()} | {"error": describe(error)}
    facts["advice"] = _typeable(_ADVICE.get(str(facts.get("reason")), ""))
    then = _typeable(then)
    return as_called("\n".join(_sentence(text, text.format_map(facts)).rstrip() for text in (what, then) if text))


def _typeable(advice: str) -> str:
    """An advice without the sentences that want something typed at a terminal, where there is none."""
    sentences = re.split(r"(?<=\.) ", advice)
    return advice if has_shell() else " ".join(each for each in sentences if not _COMMAND.search(each))


def _sentence(text: str, filled: str) -> str:
    """A text that begins with a fact's name, with a capital letter; paths and names stay as they are."""
    return filled[:1].upper() + filled[1:] if text.startswith("{field}") else filled


def headline(error: ForcemoveError) -> str:
    """What happened, without what to do next."""
    return explain(error).partition("\n")[0]


def _explanation(error: ForcemoveError) -> tuple[str, str]:
    known = EXPLANATIONS.get(type(error).__name__)
    if known is not None:
        return known
    if isinstance(error, UnknownVersion):
        return _NEWER_VERSION if error.is_newer else _OLDER_VERSION
    return next((what, then) for family, what, then in _FAMILIES if isinstance(error, family))


def describe(error: ForcemoveError) -> str:
    """What went wrong in a clause, with the error's name and facts: `the record only rises (TurnNumberNotIncreased:
    recorded 5, submitted 4)`."""
    name = type(error).__name__
    facts = ", ".join(f"{_words(fact)} {show_value(value)}" for fact, value in error.values().items())
    named = f"{name}: {facts}" if facts else name
    clause = _clause(error)
    return f"{clause} ({named})" if clause else named


def _clause(error: ForcemoveError) -> str:
    """The first sentence of the class's own docstring, with the facts in place of their names; empty where there is
    none (`python -OO` leaves them out)."""
    text = " ".join((type(error).__dict__.get("__doc__") or "").split())
    if text.startswith(f"{type(error).__name__}("):  # what a dataclass without a docstring is given
        return ""
    sentence = re.split(r"[.;:](?: |$)", text, maxsplit=1)[0]
    facts = {name.strip("_"): str(show_value(value)) for name, value in error.values().items()}
    said = re.sub(r"`(\w+)`", lambda quoted: facts.get(quoted[1], quoted[1]), sentence).replace("`", "")
    return said if said[1:2].isupper() else said[:1].lower() + said[1:]


def _words(name: str) -> str:
    """A field's name: `turn_num` is `turn num`, and `from_`, which Python wants so, is `from`."""
    return name.strip("_").replace("_", " ")


def show_value(value: Any, keep: str = "") -> Any:
    """A fact of an error as people write it; a value without a short form is shown by its kind alone. `keep`: see
    `harmless`."""
    match value:
        case None:
            return "for no reason that can still be seen"
        case bytes():
            return _address(value) if len(value) == 20 else "0x" + value.hex()
        case ForcemoveError():
            return headline(value).rstrip(".")
        case Enum():
            return show_value(value.value)
        case tuple() | list() | set() | frozenset():
            return ", ".join(str(show_value(each)) for each in value) or "none"
        case str():
            return harmless(value, keep)
        case bool() | float():
            return value
        case int():
            return _Number(value)
        case _:
            return f"of the kind {type(value).__name__}"


class _Number(int):
    """A number that a text may have as ether: `exact`, `short`, or `least`, which is rounded up; or as a `time`."""

    def __format__(self, form: str) -> str:
        match form:
            case "exact":
                return exact_amount(self)
            case "time":
                return show_time(self)
            case "short" | "least":
                return format_amount(self, is_needed=form == "least")
            case _:
                return super().__format__(form)


def _address(address: bytes) -> str:
    from forcemove.chain.addresses import show_address

    return show_address(address)
