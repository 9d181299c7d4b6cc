"""The one way functions are compiled: lazily, cached on disk, without Python objects."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numba
from numba.extending import overload

from twin.kernels.linking import LinkedCompiler, cache_linked

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
    return _jitted(function, OPTIONS | {"no_cfunc_wrapper": True})


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
    if "pipeline_class" in options:
        cache_linked(kernel, function)
    _renew_when_any_kernel_changes(kernel, function.__module__)
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
    options = {key: OPTIONS[key] for key in ("error_model", "fastmath", "nogil")}
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


NUMBERS = [
    f"{__package__}.numbers.{file.stem}"
    for file in sorted(Path(__file__).with_name("numbers").glob("*.py"))
]
"""Modules of the numbers that any kernel may be compiled for: it does not import them."""

IMPORT = re.compile(r"^from (twin\.[\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@cache
def called_modules(module: str) -> frozenset[str]:
    """Return a kernel's module, those of numbers, and all kernels that these import."""
    found, waiting = {module, *NUMBERS}, [module, *NUMBERS]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def _imported(module: str) -> frozenset[str]:
    """Return the modules in packages called `kernels` that a module imports."""
    source = _file(module).read_text(encoding="utf-8")
    names = set()
    for package, imported in IMPORT.findall(source):
        if "kernels" in package.split("."):
            names.add(package)
            names |= {f"{package}.{name}" for name in re.findall(r"\w+", imported)}
    return frozenset(name for name in names if _file(name).is_file())


def _file(module: str) -> Path:
    """Return the source file of a module of this package."""
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


@cache
def _stamps(module: str) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of all source files whose kernels those of a module may call."""
    names = sorted(called_modules(module) | {__name__})
    stats = [(name, _file(name).stat()) for name in names]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def _renew_when_any_kernel_changes(kernel: Any, module: str) -> None:
    """Make a cached kernel depend on the sources of all kernels it may call.

    Numba compares a cached function with its own file alone, and would go on using it after a
    function that it calls has changed in another file.
    """
    index: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, _stamps(module))
        index._load_index = partial(_load_known_types, index._load_index)


def _load_known_types(load_index: Callable[[], Any]) -> Any:
    """Return a kernel's index; an empty one where it names types that have moved since."""
    try:
        return load_index()
    except (AttributeError, ImportError):
        return {}
