"""Kernels run by Python itself: for one state, sooner done than compiling them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from twin.kernels.jit import IMPLEMENTATIONS


@cache
def interpreted(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of Python that computes what a kernel computes, to rounding.

    It is the kernel's source with everything that it calls interpreted as well. A division by
    zero and the root of a negative number are errors here, where kernels go on with inf and NaN.
    """
    return _rebuilt(getattr(kernel, "py_func", kernel))


def _rebuilt(function: Any) -> Callable[..., Any]:
    """Return a function with interpreted functions in place of the kernels that it uses."""
    used = _names(function.__code__) & function.__globals__.keys()
    found = {name: _python(function.__globals__[name]) for name in used}
    cells = tuple(CellType(_python(cell.cell_contents)) for cell in function.__closure__ or ())
    scope = {**function.__globals__, **found}
    return FunctionType(function.__code__, scope, closure=cells, argdefs=function.__defaults__)


def _names(code: CodeType) -> set[str]:
    """Return the names that a function uses, those of functions inside it too."""
    inside = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inside)


class _Module:
    """A module of kernels with interpreted functions, made as they are used."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _python(getattr(self._module, name))


def _python(value: Any) -> Any:
    """Return the replacement of a global value where kernels are interpreted."""
    if hasattr(value, "py_func"):
        return lambda *arguments: interpreted(value)(*arguments)
    if isinstance(value, FunctionType) and value in IMPLEMENTATIONS:
        return _chosen(value)
    if isinstance(value, ModuleType) and "kernels" in value.__name__.split("."):
        return _Module(value)
    return value


def _chosen(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the implementation of `stub` for the type of the constants."""

    @cache
    def implementation(kind: type) -> Callable[..., Any]:
        choose: Any = IMPLEMENTATIONS[stub]
        others = [None] * (choose.__code__.co_argcount - 1)
        return _rebuilt(choose(SimpleNamespace(instance_class=kind), *others))

    def call(legs: Any, *arguments: Any) -> Any:
        kind: Any = type(legs)
        return implementation(kind)(legs, *arguments)

    return call
