"""Titles and entries that break after dots and underscores; titles that take their link along."""

from __future__ import annotations

import re

NAME = re.compile(
    r'(?<=<h\d>)\w+(?:[._]\w+)+(?=<a class="headerlink")|(?<=">)twin(?:[._]\w+)+(?=</a>)'
)
"""A title or an entry of contents that is the name of a package or a module."""

TEST = re.compile(r'(?<=<code class="literal">)tests/[\w/.:]+(?=</code>)')
"""The name of a test."""

LINK = re.compile(
    r"(?<!<span class=whole>)(?P<last>(?<![^\s>])[^\s<>]+)"
    r'(?P<link><a class="headerlink"[^>]*>[^<]*</a>)(?=</h\d>)'
)
"""The last word of a title, with the link that shows beside it."""


def titled(html: str) -> str:
    """Return a page whose titles break at good places; one that has been made so stays."""
    html = NAME.sub(lambda found: re.sub(r"([._])(?=\w)", r"\1<wbr>", found[0]), html)
    html = TEST.sub(lambda found: re.sub(r"(/|::|_)(?=\w)", r"\1<wbr>", found[0]), html)
    return LINK.sub(r"<span class=whole>\g<last>\g<link></span>", html)
