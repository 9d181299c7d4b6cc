"""Texts made small for the page; its script unpacks them."""

from __future__ import annotations

import base64
import gzip


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; the same text always gives the same result."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def unpacked(text: str) -> str:
    """Return what `packed` was given."""
    return gzip.decompress(base64.b64decode(text)).decode()
