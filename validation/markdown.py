"""Markdown inside a line as HTML for the report; raw HTML is shown as text."""

from __future__ import annotations

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
