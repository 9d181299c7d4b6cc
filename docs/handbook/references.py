"""Names in docstrings and signatures, linked to the classes, functions and modules they mean."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module, util
from typing import Any

from docutils import nodes
from sphinx import addnodes

NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?=$|\()")

TYPES = ("class", "exc", "obj")
"""Kinds of references that Sphinx makes of types."""


def resolve_types(app: Any, doctree: nodes.document) -> None:
    """Let types mean what their names mean in the module that writes them, in place.

    Sphinx alone takes any class of that short name, of whatever module.
    """
    for node in doctree.findall(addnodes.pending_xref):
        if node.get("refdomain") == "py" and node["reftype"] in TYPES and node.get("py:module"):
            target = meaning(node["py:module"], node["reftarget"])
            if target is None and node["reftype"] == "exc":
                target = meaning("twin.errors", node["reftarget"])
            if target is None and "." in node["reftarget"]:
                continue
            node["reftarget"] = target or f"{node['py:module']}.{node['reftarget']}"
            # Sphinx asks whether the attribute is there, not what it is.
            node.attributes.pop("refspecific", None)


def link_names(app: Any, doctree: nodes.document) -> None:
    """Make links of names written as code in docstrings, in place."""
    for node in list(doctree.findall(nodes.literal)):
        found = NAME.match(node.astext())
        if found is None or isinstance(node.parent, (addnodes.pending_xref, nodes.reference)):
            continue
        module, own = _around(node)
        if found[0] in own or not (module or found[0].startswith("twin.")):
            continue
        if (target := meaning(module or "twin", found[0])) and target.startswith("twin."):
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True
            )
            node.replace_self(link)
            link += node


def meaning(module: str, name: str) -> str | None:
    """Return the full name of a class, a function or a module that a module calls `name`."""
    value = _value(module, name)
    if inspect.ismodule(value):
        return value.__name__
    if not (inspect.isclass(value) or inspect.isfunction(getattr(value, "py_func", value))):
        return None
    return f"{value.__module__}.{value.__qualname__}"


def _value(module: str, name: str) -> Any:
    first, *rest = name.split(".")
    if first == "twin" and rest:
        value, parts = None, name.split(".")
        for k in range(len(parts), 0, -1):
            if _is_module(".".join(parts[:k])):
                value, rest = import_module(".".join(parts[:k])), parts[k:]
                break
    else:
        value = getattr(import_module(module), first, None)
        if value is None and first in (imported := _imported(module)):
            value = getattr(import_module(imported[first]), first, None)
    for each in rest:
        value = getattr(value, each, None)
    return value


@cache
def _is_module(name: str) -> bool:
    try:
        return util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@cache
def _imported(module: str) -> dict[str, str]:
    """Return where the names come from that a module imports for its types alone."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.asname is None
    }


def _around(node: nodes.Node) -> tuple[str | None, set[str]]:
    """Return the module whose docstring a node is in, and the names that it describes itself."""
    module, own = None, set[str]()
    while node is not None:
        if isinstance(node, addnodes.desc):
            module = module or node[0].get("module")
            for kind in (addnodes.desc_name, addnodes.desc_sig_name):
                own |= {name.astext() for name in node.findall(kind)}
        node = node.parent
    return module, own
