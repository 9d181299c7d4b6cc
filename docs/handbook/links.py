"""Links of the Markdown files, rewritten for the site."""

from __future__ import annotations

import re

CHANGES = (
    (re.compile(r"\]\(\.\./validation/(errata|mutations)\.md"), r"](_generated/\1.md"),
    (re.compile(r"\]\(\.\./assets/(\w+)/README\.md"), r"](_generated/machines/\1.md"),
    (re.compile(r"\]\(\.\./examples/(?:\w+/)?README\.md"), "](_generated/examples.md"),
    (re.compile(r"\]\(\.\./examples/(\w+)\.py"), r"](_generated/examples.md#\1py"),
    (re.compile(r"\]\(\.\./\.\./examples/(\w+)\.py"), r"](../_generated/examples.md#\1py"),
    (re.compile(r"\]\(\.\./README\.md"), "](index.md"),
    (re.compile(r"\]\(\.\./envs/\)"), "](_generated/environments.md)"),
    (re.compile(r"\]\(\.\./twin/training/policies/\)"), "](_generated/policies.md)"),
)
"""Links to files outside the site lead to the pages made from them."""


PAGE = re.compile(r"(?<![\w`/(\[])docs/(\w+)\.md\b(?!`)")
"""A page of the handbook, named by its file."""


def inside_the_site(text: str, name: str = "") -> str:
    """Return the text of a page of that `name` as the site has it."""
    for pattern, replacement in CHANGES:
        text = pattern.sub(replacement, text)
    return PAGE.sub(r"[](/\1.md)", text) if name.startswith("_generated/") else text
