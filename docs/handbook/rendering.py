"""Hooks that Sphinx calls for each docstring, and for each page of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sphinx import addnodes
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

from handbook.docstrings import as_restructured
from twin.machine.quantity import field_unit

VALUES = ("attribute", "data")
"""Objects whose docstrings have no sections: text before a colon is not a type there."""

SETTINGS: Any = Config(napoleon_use_ivar=True, napoleon_custom_sections=["Reference"])


def restructure(app: Any, what: Any, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the `lines` of a docstring in place."""
    text = as_restructured([*lines, *_fields(value)])
    if what not in VALUES:
        # Of a property, napoleon would take text before a colon for its type.
        kind: Any = "method" if what == "property" else what
        text = GoogleDocstring(text, SETTINGS, app, kind, name, value, options).lines()
    lines[:] = text


def _fields(value: Any) -> list[str]:
    """Return a section on the fields of a validated class, whose meanings are not in docstrings."""
    if not (isinstance(value, type) and issubclass(value, BaseModel)):
        return []
    fields = {name: field for name, field in value.model_fields.items() if field.description}
    rows = [f"    {name}: {field_meaning(field)}" for name, field in fields.items()]
    return ["", "Args:", *rows] if rows else []


def field_meaning(field: FieldInfo) -> str:
    """Return what a field of a validated class means, with its unit."""
    unit, text = field_unit(field), field.description or ""
    return f"{text} [{unit}]" if unit and f"[{unit}]" not in text else text


def short_contents(app: Any, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Leave fields and methods out of the contents of a page, in place."""
    if kind not in ("class", "exception", "function"):
        for signature in content.parent.findall(addnodes.desc_signature):
            signature["_toc_name"] = ""
