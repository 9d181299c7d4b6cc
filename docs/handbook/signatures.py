"""Signatures of the interface with types and defaults as the source writes them."""

from __future__ import annotations

import inspect
import re
from typing import Any, ForwardRef

from docutils import nodes
from pydantic import BaseModel
from sphinx import addnodes
from sphinx.util.inspect import stringify_signature

LONGEST_VALUE = 100
"""Characters of a value or a type that are shown; longer ones are left out."""


def signature_as_written(*event: Any) -> tuple[str, str] | None:
    """Return arguments and result as Sphinx asks for them with `autodoc-process-signature`.

    Evaluated types would have the checks of their values: `Annotated[float, Ge(0.0)]`.
    """
    _, kind, _, value, *_ = event
    if getattr(value, "_is_protocol", False):
        return "", ""
    if kind not in ("function", "method", "class", "exception"):
        return None
    if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel:
        value.model_rebuild()
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    fields = _field_types(value) if isinstance(value, type) else {}
    parameters = [
        parameter.replace(annotation=_written(fields.get(name, parameter.annotation)))
        for name, parameter in found.parameters.items()
        if not (kind == "method" and name in ("self", "cls"))
    ]
    result = None if isinstance(value, type) else _written(found.return_annotation)
    shown = found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    text = stringify_signature(shown, unqualified_typehints=True)
    return text, result if isinstance(result, str) else ""


def _field_types(value: type) -> dict[str, Any]:
    """Return the types of a class's fields as its source and those of its parents write them."""
    return {
        name: annotation
        for base in reversed(value.__mro__)
        for name, annotation in vars(base).get("__annotations__", {}).items()
    }


def _written(annotation: Any) -> Any:
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation


def remove_long_values(app: Any, doctree: nodes.document, name: str) -> None:
    """Remove values of constants, and what types stand for, where they are long, in place."""
    for node in list(doctree.findall(addnodes.desc_annotation)):
        if node.astext().strip().startswith("=") and len(node.astext()) > LONGEST_VALUE:
            node.parent.remove(node)
    for paragraph in list(doctree.findall(nodes.paragraph)):
        text = re.sub(r"\s+", " ", paragraph.astext())
        if text.startswith("alias of ") and (len(text) > LONGEST_VALUE or "Annotated" in text):
            paragraph.parent.remove(paragraph)
