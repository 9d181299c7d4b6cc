"""Hooks that Sphinx calls for each docstring."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

from handbook.docstrings import as_restructured

VALUES = ("attribute", "data", "property")
"""Objects whose docstrings have no sections: text before a colon is not a type there."""

SETTINGS: Any = Config(napoleon_use_ivar=True, napoleon_custom_sections=["Reference"])


def restructure(app: Any, what: Any, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the `lines` of a docstring in place."""
    text = as_restructured(lines)
    if what not in VALUES:
        text = GoogleDocstring(text, SETTINGS, app, what, name, value, options).lines()
    lines[:] = text


def dash_fields(app: Any, doctree: nodes.document, name: str) -> None:
    """Put a dash of a sentence between a parameter and its meaning, in place."""
    for node in list(doctree.findall(nodes.Text)):
        if node.astext() == " -- ":
            node.parent.replace(node, nodes.Text(" \u2013 "))
