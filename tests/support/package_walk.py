"""All modules of the package, and what each of them makes public."""

import ast
import inspect
from functools import cache
from pathlib import Path

import twin

ROOT = Path(twin.__file__).resolve().parent.parent
FOLDERS = {
    "twin": "twin",
    "twin.assets": "assets",
    "twin.envs": "envs",
    "twin.validation": "validation",
}


def modules():
    """Return all modules of the package by name."""
    found = {}
    for package, folder in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join((package, *parts))] = file
    return found


MODULES = modules()
assert len(MODULES) > 50


@cache
def tree(module):
    """Return the syntax tree of a module, read once for all tests of a process."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def public(module):
    """Yield the public functions, classes and methods a module defines."""
    for name, value in vars(module).items():
        own = getattr(value, "__module__", None) == module.__name__
        if name.startswith("_") or not own or not callable(value):
            continue
        yield name, value
        if not inspect.isclass(value):
            continue
        for method, member in list(vars(value).items()):  # tables build themselves when looked at
            function = getattr(member, "fget", getattr(member, "__func__", member))
            if not method.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{method}", function
