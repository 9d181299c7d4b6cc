"""Kernels compiled anew while one of the functions that they call is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import CodeType, ModuleType
from typing import Any
from unittest.mock import patch

import numba

import twin


@cache
def import_all_modules() -> None:
    """Import the package: a module imported later would keep a wrong function for good."""
    for package in (twin, import_module("twin.envs"), import_module("twin.validation")):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if ".cuda" not in module.name and not module.name.endswith("__main__"):
                try:
                    import_module(module.name)
                except (ImportError, twin.TwinError):
                    continue  # needs an extra that is not installed


@contextmanager
def compiled_anew(name: str, original: Any) -> Iterator[None]:
    """Compile all kernels that use a global `name` of this value again, at their next call.

    Kernels that reach it only through the choice of a leg kind keep their machine code.
    """
    known: dict[Any, bool] = {}
    again: dict[Any, Any] = {}
    with ExitStack() as stack:
        for holder, key, kernel in list(_held_kernels()):
            if _uses(kernel, name, original, known):
                if kernel not in again:
                    again[kernel] = _compiled_later(kernel)
                put = staticmethod(again[kernel]) if isinstance(holder, type) else again[kernel]
                stack.enter_context(patch.object(holder, key, put))
        yield


def clear_caches() -> None:
    """Forget what functions of the package keep of machines, files and kernels."""
    for module in list(_modules()):
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if clear is not None and value.__module__ == module.__name__:
                clear()


def _held_kernels() -> Iterator[tuple[Any, str, Any]]:
    """Yield every module and class of the package that holds a kernel, its name and the kernel."""
    for module in _modules():
        for key, value in vars(module).items():
            if hasattr(value, "py_func"):
                yield module, key, value
            if isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, held in vars(value).items():
                    if isinstance(held, staticmethod) and hasattr(held.__func__, "py_func"):
                        yield value, attribute, held.__func__


def _compiled_later(kernel: Any) -> Any:
    """Return a kernel that is compiled at its first call, in the same way, but not kept on disk."""
    options = dict(kernel.targetoptions) | {"pipeline_class": kernel._compiler.pipeline_class}
    return numba.jit(**options)(kernel.py_func)


def _modules() -> Iterator[ModuleType]:
    for path, module in sys.modules.items():
        if path == "twin" or path.startswith("twin."):
            yield module


def _uses(kernel: Any, name: str, original: Any, known: dict[Any, bool]) -> bool:
    """Return whether a kernel, or one that it calls, uses a global of this name and value."""
    if kernel not in known:
        known[kernel] = False
        known[kernel] = any(
            (key == name and value is original)
            or (hasattr(value, "py_func") and _uses(value, name, original, known))
            for key, value in _globals_of(kernel.py_func)
        )
    return known[kernel]


def _globals_of(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield names and values of the globals that a function uses, those of its modules too."""
    names = _names(function.__code__)
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, ModuleType):
            yield from ((key, vars(value)[key]) for key in names & vars(value).keys())
    for cell in function.__closure__ or ():
        yield "", cell.cell_contents


def _names(code: CodeType) -> set[str]:
    inside = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inside)
