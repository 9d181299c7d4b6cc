"""The one way functions are compiled: lazily, cached on disk, without Python objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

OPTIONS: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract"},
}
"""`contract` lets the compiler fuse a multiplication with an addition (one rounding less); nothing
is reordered, so results do not depend on the batch size or the number of threads."""

WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

WITHOUT_COUNTING: dict[str, Any] = {"_nrt": False}
"""Whoever makes no arrays need not count the references to those it is given: counting for every
leg takes a third of the time of the dynamics."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile, at its first call, a function that Python calls."""
    return _jitted(function, OPTIONS)


def device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only other compiled functions call, that makes and returns no arrays.

    Without the wrappers for Python a machine compiles in three quarters of the time.
    """
    return _jitted(function, {**OPTIONS, **WITHOUT_WRAPPERS, **WITHOUT_COUNTING})


def by_kind(
    stub: Callable[..., Any], *, counting: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of what chooses the implementation of `stub` by types, when compiled.

    The implementations are cached with the kernels that call them. They only pass on what they
    are given, and are put in place of the call: another call for every leg takes a quarter of the
    time of the dynamics. One that returns an array, or a part of one, needs `counting`.
    """
    options = {key: OPTIONS[key] for key in ("error_model", "fastmath", "nogil")}
    options |= {"forceinline": True} | ({} if counting else WITHOUT_COUNTING)
    decorator: Any = overload(stub, jit_options=options)  # type: ignore[arg-type]
    return decorator  # type: ignore[no-any-return]


def _jitted(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    kernel: Callable[..., Any]
    try:
        kernel = numba.njit(**options)(function)
    except RuntimeError:
        # No folder can be written to, as in a read-only container: compile in every process.
        kernel = numba.njit(**{**options, "cache": False})(function)
        return kernel
    _renew_when_any_kernel_changes(kernel, function.__module__)
    return kernel


IMPORT = re.compile(r"^from (twin\.[\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@cache
def called_modules(module: str) -> frozenset[str]:
    """Return a kernel's module and all modules of kernels that it imports, directly or not."""
    found, waiting = {module}, [module]
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
    place = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


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
        index._load_index = partial(_load_what_is_known, index._load_index)


def _load_what_is_known(load_index: Callable[[], Any]) -> Any:
    """Return a kernel's index; an empty one where it names types that have moved since."""
    try:
        return load_index()
    except (AttributeError, ImportError):
        return {}
