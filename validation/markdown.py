"""Markdown as HTML for the report: tables allowed, raw HTML shown as text."""

from __future__ import annotations

from twin.viewer.extra import report_library

DEEPEST = 6


def markdown_html(text: str, lower: int = 0) -> str:
    """Return the HTML of a Markdown text, its headings lowered by so many levels.

    Raises:
        MissingDependencyError: markdown-it-py is not installed.
    """
    parser = report_library("markdown_it", "The report").MarkdownIt("commonmark", {"html": False})
    # Images would be fetched when the page is opened.
    parser.enable("table").disable("image")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(DEEPEST, int(token.tag[1]) + lower)}"
    return str(parser.renderer.render(tokens, parser.options, {}))
