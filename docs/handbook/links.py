"""Links of the written pages to files outside the site lead to the pages made from them."""

from __future__ import annotations

import re

PLACES = (
    (re.compile(r"\]\(\.\./validation/errata\.md"), "](_generated/errata.md"),
    (re.compile(r"\]\(\.\./assets/(\w+)/README\.md"), r"](_generated/machines/\1.md"),
)


def inside_the_site(text: str) -> str:
    """Return a page's text with its links turned."""
    for pattern, replacement in PLACES:
        text = pattern.sub(replacement, text)
    return text
