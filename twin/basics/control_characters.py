"""Characters that are no text: they move a terminal's cursor, turn a line round, or break XML."""

from __future__ import annotations

import re

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufffe\uffff]"
)
"""Control characters but for tabs and ends of lines, marks of direction, and what is no Unicode."""


def visible(text: str) -> str:
    r"""Return a text whose control characters are written as escapes, such as `\x1b`."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
