"""What Sphinx calls for each docstring."""

from __future__ import annotations

from typing import Any

from handbook.docstrings import as_restructured

VALUES = ("attribute", "data", "property")


def restructure(
    app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Rewrite the `lines` of a docstring in place."""
    text = as_restructured(lines)
    if what in VALUES and text:
        # Otherwise what stands before a colon would be taken for a type.
        text[0] = f": {text[0]}"
    lines[:] = text
