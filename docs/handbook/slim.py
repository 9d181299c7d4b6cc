"""Pages without what nobody sees: a site of hundreds of pages is read over slow lines, too."""

from __future__ import annotations

import re
from pathlib import Path

from handbook.titles import titled
from handbook.unbroken import unbroken

STYLE_OF_CELLS = re.compile(r"\s*<link[^>]*/mystnb\.[^>]*>")

FOLDED = re.compile(
    r'<li class="toctree-l[2-9] has-children">(<a(?:(?!</a>).)*</a>)'
    r"<input(?:(?!</?ul>).)*<ul>(?:(?!</?ul>).)*</ul>\s*</li>",
    re.DOTALL,
)
"""A list of the contents, deeper than the first, that does not lead to the page itself."""

CODE = re.compile(r'<div class="highlight">.*?</div>', re.DOTALL)

PLAIN = re.compile(r'<span class="[np]">([^<]*)</span>')
"""Names and signs in a listing: they have the colour of the listing."""

UNUSED = re.compile(
    r' class="(?:row-odd|row-even|head)"|(?<=<code class=")docutils |(?<=literal) notranslate'
    r'|(?<=table-wrapper) colwidths-\w+ docutils|(?<="reference) internal'
)
"""Classes that no style speaks of."""

WORD = re.compile(r'<span class="pre">([^<]*)</span>')
"""A word of code or of a signature, whose style is that of the whole."""

CELL = re.compile(r"(<t[dh][^>]*>)<p>((?:(?!</?(?:p|td|th)>).)*)</p>(?=</t[dh]>)", re.DOTALL)
"""A cell with one paragraph."""


def slim(html: str) -> str:
    """Return a page that looks the same.

    Without the style of notebooks where there is no cell, without the lists of packages that
    are not the page's own, without marks of text that change nothing. A slim page stays as it is.
    """
    if 'class="cell ' not in html:
        html = STYLE_OF_CELLS.sub("", html)
    html = FOLDED.sub(r"<li>\1</li>", html).replace('<span class="w"> </span>', " ")
    html = CODE.sub(lambda found: PLAIN.sub(r"\1", found[0]), CELL.sub(r"\1\2", html))
    return WORD.sub(r"\1", UNUSED.sub("", html))


def slim_pages(site: Path) -> None:
    """Make all pages of a site slim, their numbers whole, their titles broken at good places."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if (short := unbroken(titled(slim(text)))) != text:
            page.write_text(short, encoding="utf-8")
