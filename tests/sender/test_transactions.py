"""What a journal keeps of transactions: the bytes stay as they are, and what cannot be read is passed on as it is."""

from __future__ import annotations

import pytest

from forcemove.errors import MalformedBytes
from forcemove.protocol.machine.effects import SubmitDeposit
from forcemove.sender import transactions, tx_codec

_TO = b"\x03" * 20
_CHANNEL_TX = transactions.ChannelTx(b"\x01" * 32, SubmitDeposit(bytes(20), 0, 10**20))
_CLIENT_TX = transactions.ClientTx(b"\x02" * 20, _CHANNEL_TX.channel_id, _CHANNEL_TX.submission)
_SUBMISSION = (
    "920184a474797065ad5375626d69744465706f736974a56173736574c4140000000000000000000000000000000000000000"
    "ad65787065637465645f68656c6400a6616d6f756e74c70901056bc75e2d63100000"
)
_OWN = "01" * 32 + _SUBMISSION
_CALL = f"a2746fc414{_TO.hex()}a464617461c40464617461a576616c756505a46d6f7374c70901056bc75e2d63100000"
_NO_MORE = "a8646561646c696e65c0a9616c6c6f77616e6365c0"
_TX = (
    f"920185a677616e74656488a7707572706f7365c474{_OWN}{_CALL}a8646561646c696e657ba9616c6c6f77616e636583"
    f"a5746f6b656ec414{'05' * 20}a77370656e646572c414{'06' * 20}a6616d6f756e7409a3676173cd5208"
    f"a56e6f6e636503a3676173cd5208a8626567756e5f617463a876657273696f6e739186a468617368c420{'04' * 32}a3726177c403726177"
    "a76d61785f66656507a374697001a969735f6c6567616379c2a97369676e65645f6174ce6553f100"
)
REQUEST_IDS: tuple[tuple[transactions.RequestId, str], ...] = (
    (_CHANNEL_TX, f"c474{_OWN}"),
    (_CLIENT_TX, f"c488{'02' * 20}{_OWN}"),
    (transactions.Approval(_CHANNEL_TX), f"c480{b'approval of '.hex()}{_OWN}"),
    (transactions.GapFiller(17), f"c409{b'gap at 17'.hex()}"),
    (b"another program's", f"c411{b'another program{}s'.hex().replace('7b7d', '27')}"),
    (b"gap at noon", f"c40b{b'gap at noon'.hex()}"),
)


@pytest.mark.parametrize(("request_id", "stored"), REQUEST_IDS)
def test_a_request_has_the_bytes_that_journals_have(request_id: transactions.RequestId, stored: str) -> None:
    request = transactions.TxRequest(request_id, _TO, b"data", 5, 10**20)
    data = bytes.fromhex(f"920187a7707572706f7365{stored}{_CALL}{_NO_MORE}")
    assert tx_codec.encode_request(request) == data
    assert tx_codec.decode_request(data) == request


def test_a_transaction_has_the_bytes_that_journals_have() -> None:
    allowance, version = (
        transactions.Allowance(b"\x05" * 20, b"\x06" * 20, 9),
        transactions.Version(b"\x04" * 32, b"raw", 7, 1, False, 1_700_000_000),
    )
    pending = transactions.PendingTx(
        transactions.TxRequest(_CHANNEL_TX, _TO, b"data", 5, 10**20, 123, allowance, 21_000), 3, 21_000, 99, (version,)
    )
    assert tx_codec.encode_tx(pending).hex() == _TX
    assert tx_codec.decode_tx(bytes.fromhex(_TX)) == pending


def test_what_is_no_request_or_transaction_is_malformed() -> None:
    short = f"920187a7707572706f7365c40161{_CALL.replace('c414' + '03' * 20, 'c413' + '03' * 19)}{_NO_MORE}"
    with pytest.raises(MalformedBytes, match="to"):
        tx_codec.decode_request(bytes.fromhex(short))
    unsigned = _TX[: _TX.index("9186a468617368")] + "90"
    with pytest.raises(MalformedBytes, match="versions"):
        tx_codec.decode_tx(bytes.fromhex(unsigned))
