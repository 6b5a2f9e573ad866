"""Why a connection does not come about, or has ended, in words, whichever library has tried it."""

from __future__ import annotations

import os
from ssl import SSLCertVerificationError, SSLError

CERTIFICATES_VARIABLE = "SSL_CERT_FILE"
"""The environment variable that names a file with the certificates that are trusted, in place of the system's."""


def connection_words(error: OSError) -> str:
    """What is wrong: with the certificate, with what speaks there, or what the system says. Names no address."""
    match error:
        case SSLCertVerificationError(verify_message=why):
            hint = f"{CERTIFICATES_VARIABLE} can name a file with those that are"
            return f"its certificate is not trusted ({why.rstrip('.')}); {hint}"
        case SSLError(reason=reason):
            return f"it does not speak TLS ({(reason or 'no reason given').replace('_', ' ').lower()})"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return error.strerror or type(error).__name__
