"""Addresses as people write them on a command line."""

from __future__ import annotations

import click

from forcemove.errors import MalformedBytes

__all__ = ["ADDRESS"]


class _Address(click.ParamType[bytes]):
    """`0x` and 40 hexadecimal digits, as 20 bytes."""

    name = "ADDRESS"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """See `click.ParamType.convert`."""
        from forcemove.chain.addresses import parse_address

        if isinstance(value, bytes):
            return value
        try:
            return parse_address(str(value).strip())
        except MalformedBytes as error:
            self.fail(error.reason, param, ctx)


ADDRESS = _Address()
