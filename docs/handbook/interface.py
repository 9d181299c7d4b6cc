"""Pages of the interface, from the docstrings: one for each package and for each of its parts."""

from __future__ import annotations

import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import twin
from handbook.markdown import plain, table

WITHOUT = {
    *("__main__", "assets", "basics", "charts", "cli", "kernels", "page", "papers", "validation")
}
"""Parts of the package that are not an interface: data, commands, the live page, internals."""

LARGEST = 70_000
"""Characters of source on a page (300 kB of HTML); a larger folder has a page for each module."""


class Part(NamedTuple):
    """One page of the interface."""

    name: str
    """of a package, a module, or of the whole for modules that are in none"""
    modules: tuple[str, ...]
    """of the page, the one that it is named after first"""
    below: tuple[Part, ...] = ()
    """pages of the parts of a package, those first that the package itself names"""

    @property
    def file(self) -> str:
        """Path of the page."""
        package, inner = _upper(self.name, 2), self.name.split(".")[2:]
        return f"interface/{package}/{'.'.join(inner)}.md" if inner else f"interface/{package}.md"


def parts() -> list[Part]:
    """Return the pages of packages in alphabetic order, after the one of the modules at the top."""
    top: list[str] = []
    packages: list[str] = []
    for found in pkgutil.iter_modules(twin.__path__, "twin."):
        if found.name.removeprefix("twin.") not in WITHOUT:
            (packages if found.ispkg else top).append(found.name)
    packages = sorted({*packages, "twin.envs"})
    return [Part("twin", ("twin", *sorted(top))), *map(_package, packages)]


def pages() -> dict[str, str]:
    """Return all pages in MyST Markdown, by path."""
    return {each.file: page(each) for part in parts() for each in (part, *part.below)}


def _first_line(value: object) -> str:
    return (inspect.getdoc(value) or "").split("\n\n")[0]


def _package(name: str) -> Part:
    """Return the page of a package, with one below for each of its folders and modules."""
    modules = list(_modules(name))
    sizes = Counter[str]()
    for module in modules:
        sizes[_upper(module, 3)] += len(inspect.getsource(import_module(module)))
    below: dict[str, list[str]] = {}
    for module in modules:
        depth = 3 if sizes[_upper(module, 3)] <= LARGEST else 4
        below.setdefault(_upper(module, depth), []).append(module)
    package = import_module(name)
    values = [getattr(package, each) for each in getattr(package, "__all__", [])]
    named = [getattr(value, "__module__", "") for value in values]

    def rank(part: str) -> tuple[int, str]:
        found = [i for i, each in enumerate(named) if f"{each}.".startswith(f"{part}.")]
        return (0 if found else 1, part)

    inner = (Part(part, (part, *(m for m in below[part] if m != part))) for part in below)
    return Part(name, (name,), tuple(sorted(inner, key=lambda part: rank(part.name))))


def _upper(module: str, depth: int) -> str:
    return ".".join(module.split(".")[:depth])


def _modules(package: str) -> Iterator[str]:
    """Yield the modules below a package that define something documented."""
    found = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
    for name in sorted(module.name for module in found):
        if documented(import_module(name)):
            yield name


def documented(module: ModuleType) -> list[str]:
    """Return the names of public classes and functions that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(getattr(value, "py_func", value)))
        and value.__module__ == module.__name__
    ]


def page(part: Part) -> str:
    """Return the page of a part in MyST Markdown."""
    package = import_module(part.name)
    own = documented(package)
    lines = [f"# {part.name}", "", *_directive(part.name, members=bool(own))]
    exported = [
        name
        for name in getattr(package, "__all__", [])
        if not name.startswith("__") and name not in own
    ]
    if exported:
        lines += ["", f"Names that `{part.name}` itself has:", ""]
        lines += [", ".join(_link(package, name) for name in exported) + ".", ""]
    for module in part.modules[1:]:
        lines += ["", f"## {module}", "", *_directive(module, members=True)]
    if part.below:
        files = [each.file.split("/", 1)[1].removesuffix(".md") for each in part.below]
        rows = [
            (f"[{each.name}]({file}.md)", plain(_first_line(import_module(each.name))))
            for each, file in zip(part.below, files, strict=True)
        ]
        lines += ["", table(("Part", "What it is"), rows)]
        lines += ["```{toctree}", ":hidden:", ":titlesonly:", "", *files, "```"]
    return "\n".join(lines) + "\n"


def _link(package: ModuleType, name: str) -> str:
    value = getattr(package, name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return f"`{name}`"
    return f"{{py:obj}}`{name} <{value.__module__}.{value.__qualname__}>`"


def _directive(module: str, *, members: bool) -> list[str]:
    shown = [":members:", ":ignore-module-all:", ":member-order: bysource"]
    options = shown if members else [":no-members:"]
    inside = [f".. automodule:: {module}", *(f"   {option}" for option in options)]
    return ["```{eval-rst}", *inside, "```"]
