"""Docstrings tell the truth: their arguments and errors exist, and raised errors are named."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from typing import NamedTuple

import pytest
from package_walk import MODULES, tree

pytestmark = pytest.mark.quick

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Documented(NamedTuple):
    """A public function with its docstring, and that of the class around it."""

    name: str
    node: Function
    text: str
    around: str


def functions(module):
    """Yield the public functions, methods and constructors of a module."""
    yield from _functions(tree(module).body, "", "")


def _functions(body, prefix, around):
    for node in body:
        name = getattr(node, "name", "_")
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{name}.", ast.get_docstring(node) or "")
        elif isinstance(node, Function):
            yield Documented(f"{prefix}{name}", node, ast.get_docstring(node) or "", around)


def section(text, title):
    """Return the entries of a section of a Google-style docstring: name -> first line."""
    match = re.search(rf"^{title}:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    return dict(re.findall(r"^    (\w+): (.*)$", match[1], re.MULTILINE)) if match else {}


def arguments(node):
    """Return the names of a function's arguments without the object itself."""
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {argument.arg for argument in every if argument} - {"self", "cls"}


def raised(node):
    """Return the names of the errors that leave a function's own `raise` statements."""
    names = set()
    for part in ast.iter_child_nodes(node):
        names |= raised(part)
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        names.add(ast.unparse(node.exc.func))
    if isinstance(node, ast.Try):
        inside = set().union(*map(raised, node.body))
        outside = set().union(*map(raised, [*node.handlers, *node.orelse, *node.finalbody]))
        caught = {ast.unparse(handler.type) for handler in node.handlers if handler.type}
        names = outside | {name for name in inside if not any(name in text for text in caught)}
    return {name for name in names if name.endswith("Error")}


def is_error(name, module):
    """Return whether a name is an exception that a user of the module can catch."""
    places = (importlib.import_module(module), importlib.import_module("twin.errors"), builtins)
    found = next((getattr(place, name) for place in places if hasattr(place, name)), None)
    return isinstance(found, type) and issubclass(found, Exception)


@pytest.mark.seconds
def test_arguments_and_errors_are_documented():
    for module in MODULES:
        for function in functions(module):
            documented = set(section(function.text, "Args"))
            if documented:
                assert documented == arguments(function.node), function.name
            for name in section(function.text, "Raises"):
                assert is_error(name, module), f"{function.name}: {name}"
            for name in raised(function.node):
                assert name in function.text + function.around, f"{function.name} raises {name}"


def test_the_walk_above_sees_methods_and_sections():
    found = {function.name: function for function in functions("twin.model.machine_model")}
    lengths = found["MachineModel.forward_kinematics"]
    names = {"lengths", "guess", "tolerance"}
    assert set(section(lengths.text, "Args")) == names == arguments(lengths.node)
    assert set(section(lengths.text, "Raises")) == {"InputError", "ForwardKinematicsError"}
    assert raised(found["as_model"].node) == {"InputError"}
