"""Endpoints over TLS: which certificates are trusted, and what is said where there is no connection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove.chain.errors import TlsFailed, Unreachable
from forcemove.chain.local import connect
from forcemove.cli.endpoints import open_nodes
from tests.certificate import serving_context
from tests.chain.server import CHAIN_ID, answer_chain_id, serving


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A node with a certificate that it has signed itself."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(answer_chain_id, serving_context(tmp_path)) as address:
        yield address


@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_a_certificate_that_nobody_vouches_for_is_not_trusted(endpoint: str, scheme: str) -> None:
    with pytest.raises(TlsFailed) as caught:
        connect(endpoint.replace("https", scheme))
    assert "secret" not in str(caught.value)
    assert caught.value.reason.startswith("its certificate is not trusted (self-signed certificate); SSL_CERT_FILE")


def test_one_variable_names_the_certificates_that_are_trusted(
    endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    with pytest.raises(TlsFailed):
        connect(endpoint)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with connect(endpoint) as chain:
        assert chain.chain_id == CHAIN_ID


@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_no_tls_and_a_bad_certificate_are_not_the_same_error(scheme: str) -> None:
    with serving(answer_chain_id) as plain, pytest.raises(TlsFailed) as caught:
        connect(plain.replace("http", scheme))
    assert caught.value.reason.startswith("it does not speak TLS (")


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_who_speaks_only_tls_ends_the_connection(endpoint: str, scheme: str) -> None:
    with pytest.raises(Unreachable) as caught:
        connect(endpoint.replace("https", scheme))
    assert caught.value.reason == "it ended the connection before it answered"


def test_a_command_does_not_wait_for_an_endpoint_that_is_not_trusted(endpoint: str) -> None:
    """It would wait forever: nothing changes by itself."""
    notified = list[str]()
    with pytest.raises(TlsFailed):
        open_nodes([endpoint], notify=notified.append)
    assert notified == []


def test_why_an_endpoint_of_a_known_chain_is_away_is_said(endpoint: str) -> None:
    with serving(answer_chain_id) as plain:
        for _ in range(50):  # who has not been heard soon after the first one is away, for whatever reason
            notified = list[str]()
            open_nodes([plain, endpoint, "http://127.0.0.1:1"], expected={CHAIN_ID}, notify=notified.append)
            if "not trusted" in notified[0]:
                break
    assert ["its certificate is not trusted (self-signed certificate)" in each for each in notified] == [True, False]
    assert notified[1] == "The node at 127.0.0.1:1 does not answer: Connection refused. It is asked again meanwhile."
