"""The one way functions are compiled: lazily, cached on disk, without Python objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numba
from numba.extending import overload

from twin.kernels.cache_files import keep_by_types
from twin.kernels.linking import KernelCompiler, LinkedCompiler, cache_linked

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract"},
}
"""`contract` lets the compiler fuse a multiplication with an addition (one rounding less); nothing
is reordered, so results do not depend on the batch size or the number of threads."""

LINKED: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LinkedCompiler,
}
"""Of a function that only other compiled functions call."""

WITHOUT_COUNTING: dict[str, Any] = {"_nrt": False}
"""A function that makes no arrays need not count references to its arguments: counting for every
leg takes a third of the time of the dynamics."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile, at its first call, a function that Python calls."""
    return _jitted(function, OPTIONS | {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler})


def device(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that only other compiled functions call, and that makes no arrays."""
    return _jitted(function, OPTIONS | LINKED | WITHOUT_COUNTING)


def allocating(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like `device` that makes arrays, or views of arrays."""
    return _jitted(function, OPTIONS | LINKED)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like `device`, put in place of every call.

    For functions of many arrays, whose calls would take longer than their work.
    """
    return _jitted(function, OPTIONS | LINKED | WITHOUT_COUNTING | {"forceinline": True})


IMPLEMENTATIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Functions without a body, and the functions that choose their implementation by types."""


def by_kind(
    stub: Callable[..., Any], *, counting: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of a function that chooses, by types, the implementation of `stub`.

    The choice is made when a kernel is compiled. The implementations are cached with the kernels
    that call them. They only pass their arguments on, and are inlined: another call for every leg
    takes a quarter of the time of the dynamics. One that returns an array, or a part of one, needs
    `counting`.
    """
    options = {key: OPTIONS[key] for key in ("error_model", "fastmath", "nogil")}
    options |= {"forceinline": True} | LINKED | ({} if counting else WITHOUT_COUNTING)
    decorator: Any = overload(stub, jit_options=options)  # type: ignore[arg-type]

    def decorate(choose: Callable[..., Any]) -> Callable[..., Any]:
        choose.__annotations__.clear()  # numba compares them with those of the implementations
        decorator(choose)
        IMPLEMENTATIONS[stub] = choose
        return choose

    return decorate


def _jitted(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    kernel: Callable[P, R]
    try:
        kernel = numba.njit(**options)(function)
    except RuntimeError:
        # No folder can be written to, as in a read-only container: compile in every process.
        kernel = numba.njit(**{**options, "cache": False})(function)
        return kernel
    if options["pipeline_class"] is LinkedCompiler:
        cache_linked(kernel, function)
    keep_by_types(kernel, function)
    return kernel


REPLACEMENTS: dict[Callable[..., Any], list[tuple[Callable[..., bool], Callable[..., Any]]]] = {}
"""Functions that some types of arguments replace -> tests of the types, and the replacements."""


def replaceable(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that types of numbers may replace by one of their own; see `replacing`."""
    plain = FunctionType(function.__code__, function.__globals__, function.__name__)
    REPLACEMENTS[function] = []

    def choose(*arguments: Any) -> Callable[..., Any]:
        fitting = (other for test, other in REPLACEMENTS[function] if test(*arguments))
        return next(fitting, plain)

    choose.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    options = {key: OPTIONS[key] for key in ("error_model", "fastmath", "nogil")} | LINKED
    overload(function, jit_options=options)(choose)  # type: ignore[arg-type]
    return function


def replacing(
    function: Callable[..., Any], test: Callable[..., bool]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator of what a `replaceable` function does where `test(*types)` holds."""

    def decorate(other: Callable[P, R]) -> Callable[P, R]:
        plain = FunctionType(other.__code__, other.__globals__, other.__name__)
        REPLACEMENTS[function].append((test, plain))
        return other

    return decorate
