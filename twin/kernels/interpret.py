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
    names = {name: function.__globals__.get(name) for name in _names(function.__code__)}
    found = {name: _python(value, names) for name, value in names.items() if value is not None}
    cells = tuple(CellType(_python(cell.cell_contents, ())) for cell in function.__closure__ or ())
    scope = {**function.__globals__, **found}
    return FunctionType(function.__code__, scope, closure=cells, argdefs=function.__defaults__)


def _names(code: CodeType) -> set[str]:
    """Return the names that a function uses, those of functions inside it too."""
    inside = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inside)


def _python(value: Any, names: Any) -> Any:
    """Return what stands for a global value where kernels are interpreted."""
    if hasattr(value, "py_func"):
        return interpreted(value)
    if isinstance(value, FunctionType) and value in IMPLEMENTATIONS:
        return _chosen(value)
    if isinstance(value, ModuleType) and "kernels" in value.__name__.split("."):
        used = {name: getattr(value, name) for name in names if hasattr(value, name)}
        return SimpleNamespace(**{name: _python(part, names) for name, part in used.items()})
    return value


def _chosen(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the implementation of `stub` for the type of the constants."""

    @cache
    def implementation(kind: type) -> Callable[..., Any]:
        choose: Any = IMPLEMENTATIONS[stub]
        others = [None] * (choose.__code__.co_argcount - 1)
        return _rebuilt(choose(SimpleNamespace(instance_class=kind), *others))

    return lambda legs, *arguments: implementation(type(legs))(legs, *arguments)
