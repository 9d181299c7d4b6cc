"""What the theme leaves: lists of pages and marks that nobody sees, powers of ten on two lines."""

from __future__ import annotations

import re
from pathlib import Path

FOLDED = re.compile(
    r'<li class="toctree-l[2-9] has-children">(<a(?:(?!</a>).)*</a>)'
    r"<input(?:(?!</?ul>).)*<ul>(?:(?!</?ul>).)*</ul>\s*</li>",
    re.DOTALL,
)
"""A list of the contents, deeper than the first, that does not lead to the page itself."""

STYLE_OF_CELLS = re.compile(r"\s*<link[^>]*/mystnb\.[^>]*>")
"""The style of notebooks, which MyST-NB adds to every page: 43 kB."""

MARKS = re.compile(r'<span class="(?:pre|n|p|w)">([^<]*)</span>')
"""Words and blanks of code that have the style of the whole: half of a page of the interface."""

NUMBER = re.compile(
    r"(?P<kept><(pre|script|style|title|math|svg)\b.*?</\2>|<span class=whole>.*?</span>|<[^>]*>)"
    r"|-?\d[\d.]*e-\d+",
    re.DOTALL,
)
"""What is no text, or a power of ten, which browsers break behind its sign."""


def slim(html: str) -> str:
    """Return a page without lists that are not its own and idle marks, its numbers whole.

    The theme writes the names of all pages on each, which would be most of a page of the
    interface. A page that has been made so stays as it is.
    """
    if 'class="cell ' not in html:
        html = STYLE_OF_CELLS.sub("", html)
    return NUMBER.sub(
        lambda found: found["kept"] or f"<span class=whole>{found[0]}</span>",
        FOLDED.sub(r"<li>\1</li>", MARKS.sub(r"\1", html)),
    )


def slim_pages(site: Path) -> None:
    """Make all pages of a site slim."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if (short := slim(text)) != text:
            page.write_text(short, encoding="utf-8")
