"""A certificate for this machine, which nobody else has vouched for, and who trusts it."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

__all__ = ["ANY_CERTIFICATE", "make_certificate", "serving_context", "tls_options", "trusting"]

ANY_CERTIFICATE = ssl.create_default_context()
"""For clients that ask nobody whether a certificate is to be trusted."""
ANY_CERTIFICATE.check_hostname, ANY_CERTIFICATE.verify_mode = False, ssl.CERT_NONE
_CERTIFICATE = "certificate.pem"


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """For 127.0.0.1, signed by itself, and its key."""
    certificate, key = folder / _CERTIFICATE, folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = ["openssl", "req", "-x509", *curve, *subject, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # nothing of a stranger's is in it
    return certificate, key


def tls_options(folder: Path) -> tuple[str, ...]:
    """A relay's options, for a certificate that is made in the folder."""
    certificate, key = make_certificate(folder)
    return "--tls-cert", str(certificate), "--tls-key", str(key)


def serving_context(folder: Path) -> ssl.SSLContext:
    """For a server in this process, with a certificate that is made in the folder."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*make_certificate(folder))
    return context


def trusting(folder: Path) -> ssl.SSLContext:
    """For clients that trust the folder's certificate, and no other."""
    return ssl.create_default_context(cafile=folder / _CERTIFICATE)
