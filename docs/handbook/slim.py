"""Lists of pages in the sidebar, cut to the page's own: the theme writes all on each page."""

from __future__ import annotations

import re
from pathlib import Path

FOLDED = re.compile(
    r'<li class="toctree-l[2-9] has-children">(<a(?:(?!</a>).)*</a>)'
    r"<input(?:(?!</?ul>).)*<ul>(?:(?!</?ul>).)*</ul>\s*</li>",
    re.DOTALL,
)
"""A list of the contents, deeper than the first, that does not lead to the page itself."""


def slim(html: str) -> str:
    """Return a page without the lists of packages that are not its own; a slim page stays as it is.

    The interface has hundreds of pages: their names would be most of every page.
    """
    return FOLDED.sub(r"<li>\1</li>", html)


def slim_pages(site: Path) -> None:
    """Make all pages of a site slim."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if (short := slim(text)) != text:
            page.write_text(short, encoding="utf-8")
