"""Pages of the interface: one for each package, made from the docstrings of its modules."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import twin

WITHOUT = ("assets", "cli", "commands", "compiled", "__main__")
"""Parts of the package that are not an interface: data, the command line, parts of kernels."""

VALIDATION = ("case", "published", "report", "results", "runner")
"""Modules of the validation that others may use; the rest are its cases."""


class Part(NamedTuple):
    """One page of the interface."""

    name: str
    """of a package, or of the whole for modules that are in none"""
    modules: tuple[str, ...]
    """of the page, the package itself first"""


def parts() -> list[Part]:
    """Return the pages in alphabetic order, after the one of the modules at the top."""
    top, packages = [], []
    for found in pkgutil.iter_modules(twin.__path__, "twin."):
        name = found.name
        if name.removeprefix("twin.") in WITHOUT:
            continue
        if found.ispkg:
            packages.append(name)
        else:
            top.append(name)
    packages = sorted({*packages, "twin.envs", "twin.validation"})
    inside = [Part(name, (name, *_modules(name))) for name in packages]
    return [Part("twin", ("twin", *sorted(top))), *inside]


def _modules(package: str) -> Iterator[str]:
    """Yield the modules below a package that define something documented."""
    found = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
    for name in sorted(module.name for module in found):
        inner = package == "twin.validation" and name.split(".")[2] not in VALIDATION
        if not inner and documented(import_module(name)):
            yield name


def documented(module: ModuleType) -> list[str]:
    """Return the names of public classes and functions that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def page(part: Part) -> str:
    """Return the page of a part in MyST Markdown."""
    package = import_module(part.name)
    own = documented(package)
    lines = [f"# {part.name}", "", *_directive(part.name, members=bool(own))]
    exported = [name for name in getattr(package, "__all__", []) if not name.startswith("__")]
    if exported:
        lines += ["", f"Names that `{part.name}` itself has:", ""]
        lines += [", ".join(_link(package, name) for name in exported) + ".", ""]
    for module in part.modules[1:]:
        lines += ["", f"## {module}", "", *_directive(module, members=True)]
    return "\n".join(lines) + "\n"


def _link(package: ModuleType, name: str) -> str:
    value = getattr(package, name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return f"`{name}`"
    return f"{{py:obj}}`{name} <{value.__module__}.{value.__qualname__}>`"


def _directive(module: str, *, members: bool) -> list[str]:
    options = [":members:", ":member-order: bysource"] if members else [":no-members:"]
    inside = [f".. automodule:: {module}", *(f"   {option}" for option in options)]
    return ["```{eval-rst}", *inside, "```"]
