"""Stands in for typing_extensions: in the page's version of Python all that SQLAlchemy takes of it is in typing."""

from __future__ import annotations

from typing import *  # noqa: F403  # whatever it is
