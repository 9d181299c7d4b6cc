"""Texts on the page: Markdown as safe HTML, and large texts compressed.

Raw HTML in Markdown is shown as text; the page's script unpacks what is compressed.
"""

from __future__ import annotations

import base64
import gzip

from twin.basics.optional import optional


def inline_html(text: str) -> str:
    """Return the HTML of a line of Markdown: emphasis, code and links.

    Raises:
        MissingDependencyError: markdown-it-py is not installed.
    """
    parser = optional("markdown_it").MarkdownIt("commonmark", {"html": False})
    # Images would be fetched when the page is opened.
    parser.disable("image")
    return str(parser.renderInline(text))


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; the same text always gives the same result."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def unpacked(text: str) -> str:
    """Return the text that `packed` compressed."""
    return gzip.decompress(base64.b64decode(text)).decode()
