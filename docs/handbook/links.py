"""Links of the Markdown files, rewritten for the site."""

from __future__ import annotations

import re

CHANGES = (
    (re.compile(r"\]\(\.\./validation/errata\.md"), "](_generated/errata.md"),
    (re.compile(r"\]\(\.\./assets/(\w+)/README\.md"), r"](_generated/machines/\1.md"),
    (re.compile(r"\]\(\.\./examples/(?:\w+/)?README\.md"), "](_generated/examples.md"),
    (re.compile(r"\]\(\.\./examples/(\w+)\.py"), r"](_generated/examples.md#\1py"),
    (re.compile(r"\]\(\.\./\.\./examples/(\w+)\.py"), r"](../_generated/examples.md#\1py"),
    (re.compile(r"\]\(\.\./README\.md"), "](index.md"),
    (re.compile(r"^```mermaid$", re.MULTILINE), "```text"),
)
"""Links to files outside the site lead to the pages made from them; diagrams stay text."""


def inside_the_site(text: str) -> str:
    """Return a page's text as the site has it."""
    for pattern, replacement in CHANGES:
        text = pattern.sub(replacement, text)
    return text
