"""What of an endpoint's address may be shown: paths, queries and user names of URLs hold the secrets of node
providers."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

MOST_WORDS = 500
"""Characters of a node's own text that are kept."""
_LEAST_SECRET = 4
"""Characters: a shorter part of a URL is not a secret, and would be found in every text."""


def shown_endpoint(endpoint: str) -> str:
    """An endpoint as it may be shown."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:  # half an IPv6 address
        return f"{endpoint.partition('://')[0]}://"
    if not parts.netloc:
        return endpoint
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


class EndpointName:
    """An endpoint's name. `shown`: as errors have it."""

    def __init__(self, endpoint: str) -> None:
        """`endpoint`: its address, or a name for a chain in this process."""
        self.shown, self._secrets = shown_endpoint(endpoint), _secrets(endpoint)

    def hidden_in(self, said: str) -> str:
        """A node's own words without the secrets of its URL, which it may repeat in any encoding."""
        return self._secrets.sub("…", unquote(said[: 8 * MOST_WORDS]))[:MOST_WORDS]


def _secrets(endpoint: str) -> re.Pattern[str]:
    """Finds in a text what `shown_endpoint` hides."""
    hidden = endpoint.partition("://")[2].replace(shown_endpoint(endpoint).partition("://")[2], "/", 1)
    parts = sorted(map(unquote, re.split("[/?&=#@:+]", hidden)), key=len, reverse=True)
    secrets = "|".join(re.escape(each) for each in parts if len(each) >= _LEAST_SECRET)
    return re.compile(secrets or "(?!)", re.IGNORECASE)
